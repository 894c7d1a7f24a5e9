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
    kind("irb-removed", delete(leaf("interfaces > irb")), "AILB102 AILB108"),
    kind("irb-disabled", insert(leaf(IRB), "disable;"), "AILB102 AILB108 AILB304"),
    kind("irb-inactive", deactivate(leaf(IRB)), "AILB102 AILB108"),
    kind("irb-no-inet6", deactivate(leaf(f"{IRB} > family inet6")), "AILB102 AILB108"),
    kind("irb-unit", replace(leaf(IRB), r"unit (\d+)", add(1)), "AILB102 AILB108"),
    kind("irb-mtu-small", replace(leaf(f"{IRB} > family inet6 > mtu *"), r"\d+", "8000"), "AILB710 AILB613"),
    kind("irb-mtu-missing", delete(leaf(f"{IRB} > family inet6 > mtu *")), "AILB710 AILB613"),
    kind("irb-device-mtu-small", replace(leaf("interfaces > irb > mtu *"), r"\d+", "1600"), "AILB710 AILB613"),
    kind("irb-device-mtu-missing", delete(leaf("interfaces > irb > mtu *")), "AILB710 AILB613"),
    kind("gateway-missing", delete(leaf(ADDRESS)), "AILB102"),
    kind("gateway-inactive", deactivate(leaf(ADDRESS)), "AILB102"),
    kind("gateway-2", replace(leaf(ADDRESS), r"::(1)/", "2"), "AILB102"),
    kind("gateway-is-prefix", replace(leaf(ADDRESS), r"::(1)/", ""), "AILB102"),
    kind("gateway-longer-prefix", replace(leaf(ADDRESS), r"/(64)", "65"), "AILB102"),
    kind("gateway-shorter-prefix", replace(leaf(ADDRESS), r"/(64)", "48"), "AILB102"),
    kind("gateway-host", replace(leaf(ADDRESS), r"/(64)", "128"), "AILB102"),
    kind("gateway-off-by-one", replace(leaf(ADDRESS), r"(\d+)::1", add(1)), "AILB102"),
    kind("gateway-of-another-leaf", borrow(leaf(ADDRESS), across=True), "AILB101 AILB102"),
    kind("gateway-beside-the-plan", replace(leaf(ADDRESS), r"fc00:(\d+)", add(100)), "AILB102"),
    kind("gateway-outside-pool", replace(leaf(ADDRESS), r"(fc00):", "fd00"), "AILB102"),
    kind("gateway-extra", insert(leaf(f"{IRB} > family inet6 > mtu *"), "address 2001:db8:5::1/64;"), "AILB102"),
    kind(
        "gateway-extra-in-pool", insert(leaf(f"{IRB} > family inet6 > mtu *"), "address fc00:77:1:1::1/64;"), "AILB102"
    ),
    kind("irb-ipv4", insert(leaf(IRB), "family inet {\naddress 192.0.2.1/24;\n}"), "AILB102"),
    kind(
        "loopback6",
        replace(switch("interfaces > lo0 > unit 0 > family inet6 > address *"), r"::(\w+)/", "77"),
        "AILB110",
        ("brownfield",),
    ),
    kind(
        "management-address",
        replace(switch(f"{MANAGEMENT} > unit 0 > family inet > address *"), r"\.(\d+)/", add(100)),
        "AILB110",
        ("brownfield",),
    ),
    kind("management-port", delete(switch(MANAGEMENT)), "AILB110", ("brownfield",)),
    kind(
        "management-gateway",
        replace(switch("routing-instances > * > * > static > route *"), r"hop [\d.]+\.(\d+)", add(-1)),
        "AILB110",
        ("brownfield",),
    ),
    kind("management-instance", delete(switch("system > management-instance")), "AILB110", ("brownfield",)),
    kind("ssh-removed", delete(switch("system > services > ssh")), "AILB111"),
    kind("netconf-removed", delete(switch("system > services > netconf")), "AILB111"),
    kind("netconf-port", insert(switch("system > services > netconf"), "ssh { port 2222; }"), "AILB112"),
    kind("services-removed", delete(switch("system > services")), "AILB111"),
    kind("leaf-prefixes-swapped", trade(lambda tree: switches(tree, "leaf"), r"address (fc00:\d+:\d+):"), "AILB102"),
    kind(
        "loopback-of-another",
        borrow(switch("interfaces > lo0 > unit 0 > family inet > address *"), across=True),
        "AILB107",
    ),
    kind(
        "loopback-not-router-id",
        replace(switch("interfaces > lo0 > unit 0 > family inet > address *"), r"\.(\d+)/", add(100)),
        "AILB107",
    ),
    kind("loopback-missing", delete(switch("interfaces > lo0")), "AILB107"),
)


VLANS = (
    kind("vlan-description", borrow(leaf("vlans > vn* > description *"), across=True), "AILB007 AILB105"),
    kind("vlan-no-description", delete(leaf("vlans > vn* > description *")), "AILB007"),
    kind("vlan-rail", replace(leaf("vlans > vn* > description *"), r"rail (\d+)", add(1)), "AILB007"),
    kind("vlan-removed", delete(leaf("vlans > vn*")), "AILB105"),
    kind("vlans-removed", delete(leaf("vlans")), "AILB105"),
    kind("vlan-inactive", deactivate(leaf("vlans > vn*")), "AILB105"),
    kind("vlan-renamed", replace(leaf("vlans > vn*"), r"vn(\d+)", add(40)), "AILB105 AILB106 AILB208"),
    kind("vlan-id-wrong", replace(leaf("vlans > vn* > vlan-id *"), r"\d+", add(1)), "AILB105"),
    kind("vlan-id-missing", delete(leaf("vlans > vn* > vlan-id *")), "AILB105"),
    kind("vlan-irb-missing", delete(leaf("vlans > vn* > l3-interface *")), "AILB105"),
    kind("vlan-irb-wrong", replace(leaf("vlans > vn* > l3-interface *"), r"irb\.(\d+)", add(1)), "AILB105"),
)


ADVERTISEMENTS = (
    kind("ra-irb-missing", delete(leaf(f"{RA} irb.*")), "AILB103"),
    kind("ra-irb-inactive", deactivate(leaf(f"{RA} irb.*")), "AILB103"),
    kind("ra-irb-unit", replace(leaf(f"{RA} irb.*"), r"irb\.(\d+)", add(1)), "AILB103"),
    kind("ra-prefix-missing", delete(leaf(f"{RA} irb.* > prefix *")), "AILB103"),
    kind("ra-prefix-inactive", deactivate(leaf(f"{RA} irb.* > prefix *")), "AILB103"),
    kind("ra-prefix-off-by-one", replace(leaf(f"{RA} irb.* > prefix *"), r"(\d+)::/64", add(1)), "AILB103"),
    kind("ra-prefix-of-another-leaf", borrow(leaf(f"{RA} irb.* > prefix *"), across=True), "AILB103"),
    kind("ra-prefix-extra", insert(leaf(f"{RA} irb.* > prefix *"), "prefix fc00:66:6:6::/64;"), "AILB103"),
    kind("ra-prefix-long", replace(leaf(f"{RA} irb.* > prefix *"), r"/(64)", "65"), "AILB103"),
    kind(
        "ra-no-autonomous",
        replace(leaf(f"{RA} irb.* > prefix *"), r"/64(;)", " {\n                no-autonomous;\n            }"),
        "AILB103",
    ),
    kind(
        "ra-no-onlink",
        replace(leaf(f"{RA} irb.* > prefix *"), r"/64(;)", " {\n                no-on-link;\n            }"),
        "AILB103",
    ),
    kind(
        "ra-lifetime-zero",
        replace(
            leaf(f"{RA} irb.* > prefix *"),
            r"/64(;)",
            " {\n                valid-lifetime 0;\n                preferred-lifetime 0;\n            }",
        ),
        "AILB104",
    ),
    kind(
        "ra-prefix-short-lived",
        replace(
            leaf(f"{RA} irb.* > prefix *"),
            r"/64(;)",
            " {\n                valid-lifetime 10;\n                preferred-lifetime 10;\n            }",
        ),
        "AILB104",
    ),
    kind("ra-router-lifetime", replace(leaf(f"{RA} irb.* > default-lifetime *"), r"\d+", "0"), "AILB104"),
    kind("ra-interval-backwards", replace(switch(f"{RA} * > min-advertisement-interval *"), r"\d+", "300"), "AILB104"),
    kind("ra-managed", insert(leaf(f"{RA} irb.*"), "managed-configuration;"), "AILB104"),
    kind("ra-link-mtu", insert(leaf(f"{RA} irb.*"), "link-mtu;"), "AILB104"),
    kind("ra-hop-limit", insert(leaf(f"{RA} irb.*"), "current-hop-limit 1;"), "AILB104"),
    kind("ra-uplink-prefix", insert(leaf(f"{RA} et-*"), "prefix 2001:db8::/64;"), "AILB104"),
    kind("ra-uplink-missing-leaf", delete(leaf(f"{RA} et-*")), "AILB201"),
    kind("ra-uplink-missing-spine", delete(spine(f"{RA} et-*")), "AILB201"),
    kind("ra-uplink-inactive", deactivate(switch(f"{RA} et-*")), "AILB201"),
    kind("ra-uplink-unit", replace(switch(f"{RA} et-*"), r"\.(0) ", "1"), "AILB201"),
    kind("ra-uplinks-swapped-with-host", replace(leaf(f"{RA} et-*"), r"et-0/0/(\d+)", "63"), "AILB201"),
    kind("ra-removed", delete(switch("protocols > router-advertisement")), "AILB201"),
)

KINDS = (*IRBS, *VLANS, *ADVERTISEMENTS)
