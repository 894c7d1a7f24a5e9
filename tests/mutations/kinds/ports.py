"""Damage to ports."""

from __future__ import annotations

from tests.mutations.edits import add, deactivate, delete, in_turn, insert, per_file, replace, swap
from tests.mutations.kind import kind
from tests.mutations.spots import leaf, spine, switch

UPLINK, HOST_PORT = "facing_", r"description to\."
PORT = "interfaces > et-*"
TRUNK = f"{PORT} > unit 0 > family ethernet-switching"
UPLINKS = (
    kind("uplink-removed", delete(leaf(PORT, UPLINK)), "AILB108 AILB201"),
    kind("downlink-removed", delete(spine(PORT, UPLINK)), "AILB108 AILB201"),
    kind("uplink-inactive", deactivate(switch(PORT, UPLINK)), "AILB108 AILB201"),
    kind("uplink-disabled", insert(leaf(PORT, UPLINK), "disable;"), "AILB108 AILB201"),
    kind("downlink-disabled", insert(spine(PORT, UPLINK), "disable;"), "AILB108 AILB201"),
    kind("uplink-unit-disabled", insert(switch(f"{PORT} > unit 0", "family inet6;"), "disable;"), "AILB108 AILB201"),
    kind("uplink-no-unit", delete(switch(f"{PORT} > unit 0", "family inet6;")), "AILB108 AILB201"),
    kind(
        "uplink-unit-number", replace(switch(f"{PORT} > unit 0", "family inet6;"), r"unit (0)", "1"), "AILB108 AILB201"
    ),
    kind("uplink-no-inet6", delete(switch(f"{PORT} > unit 0 > family inet6")), "AILB108 AILB201"),
    kind("uplink-inet", replace(switch(f"{PORT} > unit 0 > family inet6"), r"inet6", "inet"), "AILB108 AILB201"),
    kind("uplink-second-unit", insert(switch(PORT, UPLINK), "unit 7 {\nfamily inet6;\n}"), "AILB108"),
    kind(
        "uplink-ipv4-too",
        insert(switch(f"{PORT} > unit 0", "family inet6;"), "family inet {\naddress 192.0.2.1/31;\n}"),
        "AILB108",
    ),
    kind(
        "uplink-description-useless",
        replace(switch(f"{PORT} > description facing_*"), r"facing_.+;", "uplink;"),
        "AILB007",
    ),
    kind("uplink-no-description", delete(switch(f"{PORT} > description facing_*")), "AILB007"),
    kind("uplink-descriptions-swapped", swap(switch(f"{PORT} > description facing_*"), r"facing_(.+);"), "AILB007"),
    kind(
        "uplink-description-port",
        replace(switch(f"{PORT} > description facing_*"), r"0/0/(\d+)[:\d]*;", add(1)),
        "AILB007",
    ),
    kind(
        "uplink-description-stranger",
        replace(switch(f"{PORT} > description facing_*"), r"facing_([\w-]+):", "old-switch"),
        "AILB007",
    ),
    kind("leaf-uplink-mtu-small", replace(leaf(f"{PORT} > mtu *", ""), r"\d+", "1500"), "AILB709 AILB710"),
    kind("spine-mtu-small", replace(spine(f"{PORT} > mtu *"), r"\d+", "1500"), "AILB709 AILB710"),
    kind("port-mtu-off-by-some", replace(switch(f"{PORT} > mtu *"), r"\d+", add(-16)), "AILB709 AILB710"),
    kind("port-mtu-missing", delete(switch(f"{PORT} > mtu *")), "AILB709 AILB710"),
    kind("spine-mtu-all", per_file(spine(f"{PORT} > mtu *"), r"\d+", "9000"), "AILB709 AILB710"),
    kind(
        "uplink-address",
        replace(
            switch(f"{PORT} > unit 0 > family inet6"),
            r"inet6(;)",
            " {\n                address fc00:99:9:9::1/64;\n            }",
        ),
        "AILB101 AILB102 AILB108",
    ),
    kind("breakout-missing", delete(switch(PORT, "number-of-sub-ports")), "AILB109", ("jvd",)),
    kind("breakout-count", replace(switch(f"{PORT} > number-of-sub-ports *"), r"\d", "4"), "AILB109", ("jvd",)),
    kind("breakout-no-description", delete(switch(f"{PORT} > description *")), "AILB007", ("jvd",)),
    kind(
        "breakout-description",
        replace(switch(f"{PORT} > description *Breakout*"), r"0/0/(\d+)", add(1)),
        "AILB007",
        ("jvd",),
    ),
    kind(
        "description-of-the-intent",
        replace(switch(f"{PORT} > description *spare*"), r"spare link", "uplink"),
        "AILB007",
        ("brownfield",),
    ),
    kind("breakout-no-count", delete(switch(f"{PORT} > number-of-sub-ports *")), "AILB109", ("jvd",)),
    kind("breakout-speed", replace(switch(f"{PORT} > speed *"), "400g", "100g"), "AILB109", ("jvd",)),
    kind("breakout-no-speed", delete(switch(f"{PORT} > speed *")), "AILB109", ("jvd",)),
)


HOST_PORTS = (
    kind("host-port-removed", delete(leaf(PORT, HOST_PORT)), "AILB108 AILB106 AILB007"),
    kind("host-port-disabled", insert(leaf(PORT, HOST_PORT), "disable;"), "AILB108 AILB106 AILB007"),
    kind("host-port-inactive", deactivate(leaf(PORT, HOST_PORT)), "AILB108 AILB106 AILB007"),
    kind("host-port-no-description", delete(leaf(f"{PORT} > description to.*")), "AILB007"),
    kind("host-port-descriptions-swapped", swap(leaf(f"{PORT} > description to.*"), r"to\.(.+);"), "AILB007"),
    kind(
        "host-port-description-nic",
        replace(leaf(f"{PORT} > description to.*"), r":gpu(\d)_eth", lambda old: "1" if old == "0" else "0"),
        "AILB007",
    ),
    kind("host-port-no-native-vlan", delete(leaf(f"{PORT} > native-vlan-id *")), "AILB106"),
    kind("host-port-native-vlan", replace(leaf(f"{PORT} > native-vlan-id *"), r"\d+", add(1)), "AILB106"),
    kind("host-port-vlan-of-another-rail", replace(leaf(f"{TRUNK} > vlan > members *"), r"vn(\d+)", add(1)), "AILB106"),
    kind(
        "host-port-both-vlans-of-another-rail",
        in_turn(
            replace(leaf(f"{PORT} > native-vlan-id *"), r"\d+", add(1)),
            replace(leaf(f"{TRUNK} > vlan > members *"), r"vn(\d+)", add(1)),
        ),
        "AILB106",
    ),
    kind("host-port-inet6", insert(leaf(f"{PORT} > unit 0", "ethernet-switching"), "family inet6;"), "AILB106"),
    kind("host-port-no-vlan", delete(leaf(f"{TRUNK} > vlan > members *")), "AILB106"),
    kind("host-port-second-vlan", insert(leaf(f"{TRUNK} > vlan > members *"), "members 100;"), "AILB106"),
    kind("host-port-access", replace(leaf(f"{TRUNK} > interface-mode trunk"), "trunk", "access"), "AILB106"),
    kind("host-port-no-mode", delete(leaf(f"{TRUNK} > interface-mode trunk")), "AILB106"),
    kind("host-port-not-switched", delete(leaf(TRUNK)), "AILB108 AILB106 AILB007"),
    kind(
        "host-port-unit",
        replace(leaf(f"{PORT} > unit 0", "ethernet-switching"), r"unit (0)", "5"),
        "AILB108 AILB106 AILB007",
    ),
    kind("host-port-mtu", replace(leaf(PORT, HOST_PORT), r"mtu (\d+)", "1500"), "AILB710 AILB613"),
    kind("host-port-no-mtu", replace(leaf(PORT, HOST_PORT), r" *mtu \d+;\n", ""), "AILB710 AILB613"),
)

KINDS = (*UPLINKS, *HOST_PORTS)
