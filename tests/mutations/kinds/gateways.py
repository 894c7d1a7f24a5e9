"""Damage to IRBs, VLANs and router advertisements."""

from __future__ import annotations

from tests.mutations.edits import add, borrow, deactivate, delete, insert, replace, trade
from tests.mutations.kind import kind
from tests.mutations.spots import leaf, spine, switch, switches

IRB = "interfaces > irb > unit *"
MANAGEMENT = "interfaces > re0:mgmt-0"
ADDRESS = f"{IRB} > family inet6 > address *"
RA = "protocols > router-advertisement > interface"
IRBS = (
    kind("irb-removed", "a leaf has no IRB", delete(leaf("interfaces > irb")), "AILB102 AILB108"),
    kind("irb-disabled", "the IRB is shut down", insert(leaf(IRB), "            disable;"), "AILB102 AILB108 AILB304"),
    kind("irb-inactive", "the IRB's unit is inactive", deactivate(leaf(IRB)), "AILB102 AILB108"),
    kind("irb-no-inet6", "the IRB's IPv6 is inactive", deactivate(leaf(f"{IRB} > family inet6")), "AILB102 AILB108"),
    kind(
        "irb-unit",
        "the addresses are on another IRB unit",
        replace(leaf(IRB), r"unit (\d+)", add(1)),
        "AILB102 AILB108",
    ),
    kind(
        "irb-mtu-small",
        "the gateway's IPv6 MTU is smaller than the hosts'",
        replace(leaf(f"{IRB} > family inet6 > mtu *"), r"\d+", "8000"),
        "AILB710 AILB613",
    ),
    kind(
        "irb-mtu-missing",
        "the gateway's IPv6 MTU is left out",
        delete(leaf(f"{IRB} > family inet6 > mtu *")),
        "AILB710 AILB613",
    ),
    kind(
        "irb-device-mtu-small",
        "the IRB's MTU is smaller than its IPv6 MTU",
        replace(leaf("interfaces > irb > mtu *"), r"\d+", "1600"),
        "AILB710 AILB613",
    ),
    kind(
        "irb-device-mtu-missing",
        "the IRB has the default MTU",
        delete(leaf("interfaces > irb > mtu *")),
        "AILB710 AILB613",
    ),
    kind("gateway-missing", "the gateway of a prefix is missing", delete(leaf(ADDRESS)), "AILB102"),
    kind("gateway-inactive", "the gateway of a prefix is inactive", deactivate(leaf(ADDRESS)), "AILB102"),
    kind("gateway-2", "a gateway is ::2, the hosts use ::1", replace(leaf(ADDRESS), r"::(1)/", "2"), "AILB102"),
    kind("gateway-is-prefix", "a gateway is the prefix itself", replace(leaf(ADDRESS), r"::(1)/", ""), "AILB102"),
    kind("gateway-longer-prefix", "a gateway has /65", replace(leaf(ADDRESS), r"/(64)", "65"), "AILB102"),
    kind("gateway-shorter-prefix", "a gateway has /48", replace(leaf(ADDRESS), r"/(64)", "48"), "AILB102"),
    kind("gateway-host", "a gateway has /128", replace(leaf(ADDRESS), r"/(64)", "128"), "AILB102"),
    kind(
        "gateway-off-by-one",
        "the prefix of a gateway is off by one",
        replace(leaf(ADDRESS), r"(\d+)::1", add(1)),
        "AILB102",
    ),
    kind(
        "gateway-of-another-leaf",
        "two leaves have the same prefix",
        borrow(leaf(ADDRESS), across=True),
        "AILB101 AILB102",
    ),
    kind(
        "gateway-beside-the-plan",
        "a leaf has a prefix of the pool that is nobody's",
        replace(leaf(ADDRESS), r"fc00:(\d+)", add(100)),
        "AILB102",
    ),
    kind("gateway-outside-pool", "a prefix is outside the pool", replace(leaf(ADDRESS), r"(fc00):", "fd00"), "AILB102"),
    kind(
        "gateway-extra",
        "an IRB has a prefix that is not in the pool",
        insert(leaf(f"{IRB} > family inet6 > mtu *"), "                address 2001:db8:5::1/64;"),
        "AILB102",
    ),
    kind(
        "gateway-extra-in-pool",
        "an IRB has one prefix more than colors",
        insert(leaf(f"{IRB} > family inet6 > mtu *"), "                address fc00:77:1:1::1/64;"),
        "AILB102",
    ),
    kind(
        "irb-ipv4",
        "an IRB has IPv4",
        insert(leaf(IRB), "            family inet {\n                address 192.0.2.1/24;\n            }"),
        "AILB102",
    ),
    kind(
        "loopback6",
        "a switch has another IPv6 loopback",
        replace(switch("interfaces > lo0 > unit 0 > family inet6 > address *"), r"::(\w+)/", "77"),
        "AILB110",
        ("brownfield",),
    ),
    kind(
        "management-address",
        "a switch has another management address",
        replace(switch(f"{MANAGEMENT} > unit 0 > family inet > address *"), r"\.(\d+)/", add(100)),
        "AILB110",
        ("brownfield",),
    ),
    kind("management-port", "a switch has no management port", delete(switch(MANAGEMENT)), "AILB110", ("brownfield",)),
    kind(
        "management-gateway",
        "management packets go elsewhere",
        replace(switch("routing-instances > * > * > static > route *"), r"hop [\d.]+\.(\d+)", add(-1)),
        "AILB110",
        ("brownfield",),
    ),
    kind(
        "management-instance",
        "the management port is in no routing instance",
        delete(switch("system > management-instance")),
        "AILB110",
        ("brownfield",),
    ),
    kind("ssh-removed", "nobody can log in", delete(switch("system > services > ssh")), "AILB111"),
    kind("netconf-removed", "nothing can be pushed", delete(switch("system > services > netconf")), "AILB111"),
    kind(
        "netconf-port",
        "NETCONF listens on another port",
        insert(switch("system > services > netconf"), "            ssh { port 2222; }"),
        "AILB112",
    ),
    kind("services-removed", "a switch has no services", delete(switch("system > services")), "AILB111"),
    kind(
        "leaf-prefixes-swapped",
        "two leaves have each other's prefixes",
        trade(lambda tree: switches(tree, "leaf"), r"address (fc00:\d+:\d+):"),
        "AILB102",
    ),
    kind(
        "loopback-of-another",
        "two switches have the same loopback",
        borrow(switch("interfaces > lo0 > unit 0 > family inet > address *"), across=True),
        "AILB107",
    ),
    kind(
        "loopback-not-router-id",
        "the loopback is not the router-id",
        replace(switch("interfaces > lo0 > unit 0 > family inet > address *"), r"\.(\d+)/", add(100)),
        "AILB107",
    ),
    kind("loopback-missing", "a switch has no loopback", delete(switch("interfaces > lo0")), "AILB107"),
)


VLANS = (
    kind(
        "vlan-description",
        "a VLAN says that it is another leaf's",
        borrow(leaf("vlans > vn* > description *"), across=True),
        "AILB007 AILB105",
    ),
    kind("vlan-no-description", "a VLAN is nobody's", delete(leaf("vlans > vn* > description *")), "AILB007"),
    kind(
        "vlan-rail",
        "a VLAN says another rail",
        replace(leaf("vlans > vn* > description *"), r"rail (\d+)", add(1)),
        "AILB007",
    ),
    kind("vlan-removed", "a leaf's VLAN is not defined", delete(leaf("vlans > vn*")), "AILB105"),
    kind("vlans-removed", "a leaf has no VLANs", delete(leaf("vlans")), "AILB105"),
    kind("vlan-inactive", "a leaf's VLAN is inactive", deactivate(leaf("vlans > vn*")), "AILB105"),
    kind(
        "vlan-renamed",
        "the VLAN has another name than its members use",
        replace(leaf("vlans > vn*"), r"vn(\d+)", add(40)),
        "AILB105 AILB106 AILB208",
    ),
    kind(
        "vlan-id-wrong", "the VLAN has another id", replace(leaf("vlans > vn* > vlan-id *"), r"\d+", add(1)), "AILB105"
    ),
    kind("vlan-id-missing", "the VLAN has no id", delete(leaf("vlans > vn* > vlan-id *")), "AILB105"),
    kind("vlan-irb-missing", "the VLAN has no IRB", delete(leaf("vlans > vn* > l3-interface *")), "AILB105"),
    kind(
        "vlan-irb-wrong",
        "the VLAN has the IRB of another rail",
        replace(leaf("vlans > vn* > l3-interface *"), r"irb\.(\d+)", add(1)),
        "AILB105",
    ),
)


ADVERTISEMENTS = (
    kind("ra-irb-missing", "a leaf sends its hosts no router advertisements", delete(leaf(f"{RA} irb.*")), "AILB103"),
    kind(
        "ra-irb-inactive", "router advertisements to the hosts are inactive", deactivate(leaf(f"{RA} irb.*")), "AILB103"
    ),
    kind(
        "ra-irb-unit",
        "router advertisements are on another IRB unit",
        replace(leaf(f"{RA} irb.*"), r"irb\.(\d+)", add(1)),
        "AILB103",
    ),
    kind(
        "ra-prefix-missing",
        "a prefix is not advertised to the hosts",
        delete(leaf(f"{RA} irb.* > prefix *")),
        "AILB103",
    ),
    kind(
        "ra-prefix-inactive",
        "a prefix's advertisement is inactive",
        deactivate(leaf(f"{RA} irb.* > prefix *")),
        "AILB103",
    ),
    kind(
        "ra-prefix-off-by-one",
        "an advertised prefix is off by one",
        replace(leaf(f"{RA} irb.* > prefix *"), r"(\d+)::/64", add(1)),
        "AILB103",
    ),
    kind(
        "ra-prefix-of-another-leaf",
        "hosts get the prefix of another leaf",
        borrow(leaf(f"{RA} irb.* > prefix *"), across=True),
        "AILB103",
    ),
    kind(
        "ra-prefix-extra",
        "hosts get a prefix that the IRB does not have",
        insert(leaf(f"{RA} irb.* > prefix *"), "            prefix fc00:66:6:6::/64;"),
        "AILB103",
    ),
    kind(
        "ra-prefix-long",
        "an advertised prefix is a /65: no autoconfiguration",
        replace(leaf(f"{RA} irb.* > prefix *"), r"/(64)", "65"),
        "AILB103",
    ),
    kind(
        "ra-no-autonomous",
        "hosts form no address in a prefix",
        replace(leaf(f"{RA} irb.* > prefix *"), r"/64(;)", " {\n                no-autonomous;\n            }"),
        "AILB103",
    ),
    kind(
        "ra-no-onlink",
        "a prefix is not on-link",
        replace(leaf(f"{RA} irb.* > prefix *"), r"/64(;)", " {\n                no-on-link;\n            }"),
        "AILB103",
    ),
    kind(
        "ra-lifetime-zero",
        "addresses of a prefix expire at once",
        replace(
            leaf(f"{RA} irb.* > prefix *"),
            r"/64(;)",
            " {\n                valid-lifetime 0;\n                preferred-lifetime 0;\n            }",
        ),
        "AILB104",
    ),
    kind(
        "ra-prefix-short-lived",
        "addresses of a prefix live ten seconds",
        replace(
            leaf(f"{RA} irb.* > prefix *"),
            r"/64(;)",
            " {\n                valid-lifetime 10;\n                preferred-lifetime 10;\n            }",
        ),
        "AILB104",
    ),
    kind(
        "ra-router-lifetime",
        "the leaf is no default router",
        replace(leaf(f"{RA} irb.* > default-lifetime *"), r"\d+", "0"),
        "AILB104",
    ),
    kind(
        "ra-interval-backwards",
        "the least interval is longer than the greatest",
        replace(switch(f"{RA} * > min-advertisement-interval *"), r"\d+", "300"),
        "AILB104",
    ),
    kind(
        "ra-managed",
        "hosts are told to use DHCPv6",
        insert(leaf(f"{RA} irb.*"), "            managed-configuration;"),
        "AILB104",
    ),
    kind("ra-link-mtu", "hosts are told another MTU", insert(leaf(f"{RA} irb.*"), "            link-mtu;"), "AILB104"),
    kind(
        "ra-hop-limit",
        "hosts are told to send packets that end at the first router",
        insert(leaf(f"{RA} irb.*"), "            current-hop-limit 1;"),
        "AILB104",
    ),
    kind(
        "ra-uplink-prefix",
        "a prefix is advertised to a switch",
        insert(leaf(f"{RA} et-*"), "            prefix 2001:db8::/64;"),
        "AILB104",
    ),
    kind("ra-uplink-missing-leaf", "no router advertisements on an uplink", delete(leaf(f"{RA} et-*")), "AILB201"),
    kind(
        "ra-uplink-missing-spine", "no router advertisements on a spine's port", delete(spine(f"{RA} et-*")), "AILB201"
    ),
    kind(
        "ra-uplink-inactive",
        "router advertisements on a fabric port are inactive",
        deactivate(switch(f"{RA} et-*")),
        "AILB201",
    ),
    kind(
        "ra-uplink-unit",
        "router advertisements are on unit 1 of a fabric port",
        replace(switch(f"{RA} et-*"), r"\.(0) ", "1"),
        "AILB201",
    ),
    kind(
        "ra-uplinks-swapped-with-host",
        "router advertisements on a server's port, not the uplink",
        replace(leaf(f"{RA} et-*"), r"et-0/0/(\d+)", "63"),
        "AILB201",
    ),
    kind(
        "ra-removed",
        "a switch sends no router advertisements",
        delete(switch("protocols > router-advertisement")),
        "AILB201",
    ),
)

KINDS = (*IRBS, *VLANS, *ADVERTISEMENTS)
