"""Fabrics that ask for one thing or another: whatever is asked, the generated files have no findings."""

from tests.conftest import SMALL

PLATFORM = """
platforms:
  mine: {port_groups: [{ports: 0-31, speeds: {100g: [1, 4], 400g: [1]}, native: 400g}], management_interface: em0}
"""
VARIANTS = {
    "small": SMALL,
    # Shapes.
    "one-spine": SMALL.replace("spines: 2", "spines: 1"),
    "one-leaf": SMALL.replace("stripes: 2", "stripes: 1").replace("rails: 2", "rails: 1"),
    "no-servers": SMALL.replace("servers: 2\n", ""),
    "servers-0": SMALL.replace("servers: 2", "servers: 0"),
    "servers-of-stripes": SMALL.replace("stripes: 2", "stripes: [{servers: 3}, {}]"),
    "many-rails": SMALL.replace("rails: 2", "rails: 5").replace("spines: 2", "spines: 3"),
    "rails-of-a-stripe": SMALL + "overrides: {stripes: {1: {rails: 3}}, leaves: {stripe2-leaf1: {vlan: 77}}}\n",
    "several-links": SMALL + "links_per_spine: 2\n",
    "many-links": SMALL.replace("spines: 2", "spines: 4")
    + "links_per_spine: 8\ncolors: [left, right]\nhost_ports: {first_port: 48}\n",
    # Colors.
    "many-colors": SMALL.replace("spines: 2", "spines: 16").replace("rails: 2", "rails: 1"),
    "one-color": SMALL + "colors: [only]\n",
    "fewer-colors-than-spines": SMALL.replace("spines: 2", "spines: 4") + "colors: [left, right]\n",
    "several-links-of-a-color": SMALL.replace("spines: 2", "spines: 4") + "links_per_spine: 2\ncolors: [left, right]\n",
    "links-of-one-color": SMALL + "links_per_spine: 2\ncolors: [left, right]\n",
    "more-links-than-colors": SMALL + "links_per_spine: 3\ncolors: [a, b]\n",
    "backups": SMALL.replace("spines: 2", "spines: 3") + "colors: {names: [a, b, c], backup: [c, a]}\n",
    "each-other's-backup": SMALL + "colors: {names: [left, right], backup: [right, left]}\n",
    "backup-of-one": SMALL + "colors: {names: [a, b], backup: {a: b}}\n",
    "no-backup": SMALL + "colors: {count: 2, backup: none}\n",
    "no-aigp": SMALL + "aigp: off\ncolors: {backup: none}\n",
    # Names and numbers.
    "names": SMALL
    + 'names: {leaf: "l.{s}.{l}", spine: "s-{k}", nic: "rail-{i}"}\nhosts: {rdma: [bnxt_re0, bnxt_re7]}\n'
    + "tables: {first: 300, priority: 5}\n",
    "shared-spine-asn": SMALL + "asn: {leaves: 65101-65200, spines: 65001}\n",
    "bits": SMALL + "addressing: {pool: 'fd12:3456::/32', stripe: 32-39, leaf: 40-51, uplink: 52-63, gateway: 254}\n",
    "vlans-of-stripes": SMALL + "vlans: {first: 100, unique: stripe}\n",
    "tiny-pool": SMALL.replace("spines: 2", "spines: 1") + "router_ids: {spines: 192.0.2.7/32}\n",
    "loopbacks": SMALL + "loopbacks: {leaves: 'fd00:1::/64', spines: 'fd00:2::/126'}\n",
    "static-neighbors": SMALL + "bgp: {neighbors: static, links: 'fd12:3456:789a::/48'}\nlinks_per_spine: 2\n",
    "one-group": SMALL
    + "bgp: {neighbors: static, groups: single}\nloopbacks: {leaves: 'fd00:1::/64', spines: 'fd00:2::/64'}\n",
    "management": SMALL
    + "loopbacks: {leaves: 'fd00:1::/64', spines: 'fd00:2::/64'}\n"
    + "management: {gateway: 192.0.2.1, leaves: 192.0.2.11/24, spines: 192.0.2.2/24, servers: 192.0.2.100/24}\n"
    + "overrides: {leaves: {stripe1-leaf2: {management: 192.0.2.99/24}}}\n",
    "listed-spines": SMALL.replace("spines: 2", "spines: [{name: a, asn: 65500}, {router_id: 10.1.1.1}]"),
    # Ports.
    "own-platform": SMALL
    + f"{PLATFORM}overrides: {{leaves: {{stripe1-leaf1: {{platform: mine}}}}, stripes: {{2: {{platform: mine}}}}}}\n",
    "speeds": SMALL.replace("generic", "qfx5240-64od")
    + "uplinks: {speed: 100g, sub_ports: 4}\nhost_ports: {speed: 200g}\ndownlinks: {sub_ports: 8, packing: packed}\n",
    "speed-of-a-stripe": SMALL.replace("generic", "qfx5240-64od")
    + "overrides: {stripes: {2: {host_ports: {speed: 800g}}}}\n",
    "kinds": SMALL.replace(
        "servers: 2", "servers: [{count: 2}, {count: 1, kind: big}, {count: 1, kind: store, name: 's{s}-{i}'}]"
    ).replace("generic", "qfx5240-64od")
    + "server_kinds:\n  big: {host_ports: {speed: 800g, first_port: 24}, mtu: 4200, rdma: 'b{i}', nic: 'b{i}'}\n"
    + "  store: {rails: [1], gpus: off, host_ports: {speed: 200g, first_port: 40, packing: spread}}\n",
    "kinds-in-one-row": SMALL.replace("servers: 2", "servers: {count: 1, list: [{count: 1, kind: half}, {count: 1}]}")
    + "server_kinds: {half: {rails: [1]}}\n",
    "kinds-by-name": SMALL.replace(
        "stripes: 2", "stripes: [{servers: [{name: a, kind: store}, {name: b, nics: {0: {port: et-0/0/40}}}]}, {}]"
    )
    + "server_kinds: {store: {rails: [1, 0], gpus: off, host_ports: {first_port: 30}}}\n"
    + "overrides: {servers: {a: {mtu: 8000}}}\n",
    "spare-ports": SMALL
    + "spare_ports: {leaf: ['et-0/0/6*'], spine: [et-0/0/9]}\n"
    + "overrides: {leaves: {stripe1-leaf1: {ports: {et-0/0/60: {description: 'for storage'}}}}}\n",
    "unsplit": SMALL.replace("generic", "qfx5240-64od") + "uplinks: {sub_ports: 1}\ndownlinks: {sub_ports: 1}\n",
    "disabled": SMALL.replace("spines: 2", "spines: 3")
    + "overrides:\n  leaves: {stripe1-leaf1: {ports: {et-0/0/0: {disabled: on}, et-0/0/16: {disabled: on}}}}\n"
    + "  spines: {spine2: {ports: {et-0/0/1: {disabled: on}}}}\n",
    "described": SMALL
    + "overrides: {leaves: {stripe1-leaf1: {ports: {\n"
    + '  et-0/0/0: {description: "do not touch", disabled: on}, et-0/0/16: {mtu: 9250}}}}}\n',
    # Settings.
    "everything-off": SMALL + "roce: {enabled: off}\nbfd: {enabled: off}\nload_balancing: {dlb: off}\n",
    "no-bfd": SMALL
    + "bfd: {enabled: off}\noverrides: {leaves: {stripe1-leaf1: {bfd: {enabled: on, interval_ms: 50}}}}\n",
    "ra": SMALL
    + "ra: {max_interval_s: 90, min_interval_s: 30, router_lifetime_s: 0, valid_lifetime_s: 700000}\n"
    + "overrides:\n  leaves: {stripe1-leaf1: {ra: {preferred_lifetime_s: 600}}}\n"
    + "  spines: {spine1: {ra: {max_interval_s: 60}}}\n",
    "levels": SMALL
    + "ra: {max_interval_s: 60}\nroce: {dscp: 24, queue: 5, ecn: {min_fill: 10}}\nmtu: {host: 4200}\noverrides:\n"
    + "  stripes: {2: {bfd: {interval_ms: 50}, mtu: {host: 4000, irb: 4100}}}\n"
    + "  servers: {server-001: {mtu: 3000}}\n"
    + "  leaves:\n    stripe1-leaf2: {roce: {queue: 6, cnp_queue: 2, cnp_percent: 9, ecn: {max_fill: 50}}}\n"
    + "    stripe2-leaf1: {asn: 65999, router_id: 10.1.2.3, bfd: {multiplier: 7}}\n"
    + "  spines: {spine2: {ra: {min_interval_s: 20}}}\n",
    "buffers": SMALL + "roce: {buffers: {lossless: 60, lossy: 16}}\n",
    "per-packet": SMALL + "load_balancing: {dlb: per-packet, glb: on}\n",
    "assigned-flow": SMALL + "load_balancing: {dlb: assigned-flow}\n",
    "dlb-values": SMALL
    + "load_balancing: {dlb: {inactivity_interval_us: 16, flowset_table_size: 256, prob_threshold: 90,"
    + " quality_delta: 2, sampling_rate: 5000, egress_quantization: {min: 10, max: 40, rate_weightage: 70}}}\n"
    + "overrides: {leaves: {stripe1-leaf1: {load_balancing: {dlb: per-packet}}}}\n",
    "extra": SMALL
    + "extra_config: |\n  system { ntp { server 192.0.2.1; server 192.0.2.2; } time-zone UTC; }\n"
    + "  inactive: snmp { location away; }\n"
    + "  groups { g { system { syslog { host 192.0.2.3 { any any; } } } } }\n  apply-groups g;\n"
    + "overrides:\n  leaves: {stripe1-leaf1: {extra_config: 'system { time-zone Europe/Zurich; }'}}\n"
    + "  spines: {spine1: {extra_config: 'snmp { location here; }'}}\n",
    # Servers.
    "forwarding": SMALL + "hosts: {forwarding: on}\n",
    "jobs": SMALL
    + "nccl: {gid_index: found, socket_ifname: eno1}\nhosts: {out_of_order: on}\n"
    + "load_balancing: {dlb: {mode: flowlet, job: dlrm}}\n",
    "environment": SMALL + "nccl: {socket_nthreads: 4, gid_index: 5, environment: {NCCL_DEBUG: 'a b', MY_X: '$5'}}\n",
    "macs": SMALL.replace("servers: 2\n", "")
    + "servers: [{name: a, stripe: 1, nics: [{mac: 'a0:88:c2:00:00:01'}, {mac: A0-88-C2-00-00-02, name: x1}]},"
    + " {name: b, stripe: 2, mtu: 4000, management: 192.0.2.7/24, nics: [{rdma: bnxt}]}, {name: c, stripe: 2}]\n",
}
