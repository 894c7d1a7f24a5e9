"""What the rendered files say."""

import csv
import io
import json
import re
import shlex
from concurrent.futures import ProcessPoolExecutor
from hashlib import sha256
from pathlib import Path

import pytest
import yaml

from ailb_gen.design.model import Design
from ailb_gen.render.artifacts import LINK, RenderOptions, Tree, _work, render, start_worker
from ailb_gen.render.fabric_files import add_fabric_files
from ailb_gen.render.generate import rendering
from tests.conftest import SMALL, design_of


@pytest.fixture(scope="module")
def tree(jvd: Design) -> Tree:
    files = render(jvd, RenderOptions())
    add_fabric_files(files, jvd)
    return files


def text(tree: Tree, path: str) -> str:
    return tree[path].content.decode()


LEAF, SYSCTL = "switches/stripe1-leaf1.conf", "profiles/stripe1/etc/sysctl.d/99-accept-ra.conf"


def made(more: str, path: str = LEAF, spines: int = 2) -> str:
    """Return a file of a small fabric of which more is said."""
    return text(render(design_of(SMALL.replace("spines: 2", f"spines: {spines}") + more), RenderOptions()), path)


def test_every_device_has_its_files(tree: Tree, jvd: Design) -> None:
    assert {f"switches/{switch.name}.conf" for switch in jvd.switches} <= set(tree)
    for server in jvd.servers:
        link = tree[f"servers/{server.name}"]
        assert link.mode == LINK
        assert link.content.decode() == f"../profiles/stripe{server.stripe}"


def test_links_are_described_on_both_ends(tree: Tree, jvd: Design) -> None:
    for link in jvd.links:
        leaf, spine = text(tree, f"switches/{link.leaf}.conf"), text(tree, f"switches/{link.spine}.conf")
        near = f"    {link.leaf_interface} {{\n        description facing_{link.spine}:{link.spine_interface};\n"
        far = f"    {link.spine_interface} {{\n        description facing_{link.leaf}:{link.leaf_interface};\n"
        assert near in leaf
        assert far in spine


def test_each_uplink_is_discovered_in_the_group_of_its_color(tree: Tree, jvd: Design) -> None:
    leaf = text(tree, "switches/stripe2-leaf3.conf")
    groups = re.findall(r"group (\S+) \{\n\s+fabric-color (\S+);.*?interface (\S+);.*?peer-as-list (\S+);", leaf, re.S)
    assert groups == [
        ("fabric-green", "green", "et-0/0/0:0.0", "spines-green"),
        ("fabric-blue", "blue", "et-0/0/1:0.0", "spines-blue"),
        ("fabric-red", "red", "et-0/0/2:0.0", "spines-red"),
        ("fabric-orange", "orange", "et-0/0/3:0.0", "spines-orange"),
    ]
    advertised = re.findall(r"route (\S+) \{\n\s+color (\S+);\n\s+backup-color (\S+);", leaf)
    colors = ("green", "blue", "red", "orange")
    assert advertised == [(f"fc00:2:3:{k}::/64", color, "all-colors") for k, color in enumerate(colors, 1)]


def test_switched_off_features_leave_no_trace() -> None:
    off = made("load_balancing: {dlb: off}\nroce: {enabled: off}\nbfd: {enabled: no}\ncolors: {backup: none}\n")
    for word in ("forwarding-options", "class-of-service", "bfd-liveness-detection", "backup-color"):
        assert word not in off
    assert "route fc00:1:1:1::/64 color green;\n" in off
    assert "ailb-qos" not in "".join(render(design_of(SMALL + "roce: {enabled: off}\n"), RenderOptions()))


def test_every_optional_statement() -> None:
    more = """\
load_balancing:
  dlb: {mode: assigned-flow, egress_quantization: {min: 20, max: 50, rate_weightage: 80}}
  glb: on
roce: {buffers: {}, pfc_watchdog: off}
aigp: off
links_per_spine: 2
colors: {count: 2, backup: none}
ra: {valid_lifetime_s: 86400, preferred_lifetime_s: 3600}
loopbacks: {leaves: fd00:1::/64, spines: fd00:2::/64}
management: {gateway: 192.0.2.254, leaves: 192.0.2.11/24}
uplinks: {speed: 100g}
overrides: {leaves: {stripe1-leaf1: {ports: {et-0/0/0: {disabled: on, description: out of order}}}}}
"""
    leaf = made(more)
    for wanted in (
        "            assigned-flow;\n",
        "                min 20;\n                max 50;\n                rate-weightage 80;\n",
        "            load-balancer-only;\n",
        "    shared-buffer {\n",
        "    dedicated-buffer {\n",
        "                unicast;\n",
        "prefix fc00:1:1:1::/64 {\n                valid-lifetime 86400;\n                preferred-lifetime 3600;\n",
        "    prefix-list local {\n        fd00:1::1/128;\n",
        "                address 192.0.2.11/24;\n",
        "route 0.0.0.0/0 next-hop 192.0.2.254;\n",
        '        description "out of order";\n        disable;\n        speed 100g;\n',
    ):
        assert wanted in leaf, wanted
    assert "pfc-watchdog" not in leaf
    assert "            helper-only;\n" in made(more, "switches/spine1.conf")


def test_more_than_sixteen_uplinks_need_maximum_ecmp() -> None:
    leaf = made("host_ports: {first_port: 100}\n", spines=40)
    assert "chassis {\n    maximum-ecmp 64;\n}\n" in leaf
    assert "maximum-ecmp" not in made("")


def test_topology_tells_devices_links_colors_and_prefixes(tree: Tree, jvd: Design) -> None:
    body = json.loads(text(tree, "topology.json"))
    assert [color["name"] for color in body["colors"]] == ["green", "blue", "red", "orange"]
    assert len(body["devices"]) == 16 + 4 + 4
    assert len(body["links"]) == 64
    leaf = next(device for device in body["devices"] if device["name"] == "stripe1-leaf2")
    assert leaf["prefixes"][2] == {"prefix": "fc00:1:2:3::/64", "gateway": "fc00:1:2:3::1", "color": "red"}
    server = next(device for device in body["devices"] if device["name"] == "h100-02")
    where = {"leaf": "stripe1-leaf8", "leaf_port": "et-0/0/16:1"}
    assert server["nics"][7] == {"name": "gpu7_eth", "rdma": "mlx5_11"} | where


def test_cabling_names_every_port_once(tree: Tree, jvd: Design) -> None:
    rows = list(csv.DictReader(io.StringIO(text(tree, "cabling.csv"))))
    assert len(rows) == 64 + 32
    ends = [(row[f"{end}_device"], row[f"{end}_port"]) for row in rows for end in "ab"]
    assert len(set(ends)) == len(ends)


def test_netplan_is_yaml_with_every_table(tree: Tree) -> None:
    body = yaml.safe_load(text(tree, "profiles/stripe2/etc/netplan/60-ailb-gpu.yaml"))
    nics = body["network"]["ethernets"]
    assert list(nics) == [f"gpu{i}_eth" for i in range(8)]
    nic = nics["gpu5_eth"]
    assert (nic["dhcp4"], nic["dhcp6"], nic["accept-ra"], nic["mtu"]) == (False, False, True, 9000)
    assert nic["routing-policy"][3] == {"from": "fc00:2:6:4::/64", "table": 10023, "priority": 10023}
    assert nic["routes"][7] == {"to": "::/0", "via": "fc00:2:6:4::1", "on-link": True, "table": 10023}


def test_sysctl_raises_max_addresses_only_beyond_fourteen_prefixes() -> None:
    def sysctl(colors: int) -> str:
        return made("host_ports: {first_port: 100}\n", SYSCTL, colors)

    assert "max_addresses" not in sysctl(14)
    # 15 prefixes, the link-local address, and one to spare.
    assert "net.ipv6.conf.gpu0_eth.max_addresses = 17\n" in sysctl(15)
    assert "accept_ra = 1\n" in sysctl(2)
    assert "accept_ra = 2\n" in made("hosts: {forwarding: on}\n", SYSCTL)


def test_nccl_environment(tree: Tree, jvd: Design) -> None:
    lines = text(tree, "profiles/stripe1/etc/ailb/nccl.env").splitlines()
    assert "NCCL_IB_QPS_PER_CONNECTION=4" in lines
    devices = ("mlx5_0", "mlx5_3", "mlx5_4", "mlx5_5", "mlx5_6", "mlx5_9", "mlx5_10", "mlx5_11")
    assert f"UCX_NET_DEVICES={','.join(f'{name}:1' for name in devices)}" in lines
    hostile = made("nccl: {environment: {NCCL_DEBUG: \"$(reboot); 'x' `id`\"}}\n", "profiles/stripe1/etc/ailb/nccl.env")
    (line,) = (row for row in hostile.splitlines() if row.startswith("NCCL_DEBUG"))
    assert shlex.split(line) == ["NCCL_DEBUG=$(reboot); 'x' `id`"]


def test_manifest_has_the_digest_of_every_file(jvd: Design, tmp_path: Path) -> None:
    planned = rendering(jvd, tmp_path / "out", RenderOptions())
    body = json.loads(planned.tree["manifest.json"].content)
    assert body["fabric"] == "jvd"
    assert body["input_sha256"] == jvd.digest
    assert set(body["files"]) == set(planned.tree) - {"manifest.json"}
    for path, digest in body["files"].items():
        artifact = planned.tree[path]
        if artifact.mode == LINK:
            assert digest == f"link:{artifact.content.decode()}"
        else:
            assert digest == sha256(artifact.content).hexdigest()


def test_workers_render_the_same_bytes(jvd: Design, tree: Tree) -> None:
    done: list[int] = []
    with ProcessPoolExecutor(2, initializer=start_worker, initargs=(jvd, RenderOptions())) as pool:
        got = render(jvd, RenderOptions(), None, done.append, pool)
    add_fabric_files(got, jvd)
    assert got == tree
    assert sum(done) == 24


def test_a_worker_without_a_design_is_a_mistake() -> None:
    with pytest.raises(RuntimeError, match="initializer"):
        _work([0])


def test_limit_renders_only_what_is_asked_for(jvd: Design) -> None:
    got = render(jvd, RenderOptions(), {"spine2", "h100-03"})
    assert "switches/spine2.conf" in got and "servers/h100-03" in got and "profiles/stripe2/etc/ailb/nccl.env" in got
    assert not any(path.startswith(("switches/stripe", "profiles/stripe1")) for path in got)
