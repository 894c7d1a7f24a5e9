"""Damage to ports."""

from __future__ import annotations

from tests.mutations.edits import add, deactivate, delete, in_turn, insert, per_file, replace, swap
from tests.mutations.kind import kind
from tests.mutations.spots import leaf, spine, switch

UPLINK, HOST_PORT = "facing_", r"description to\."
PORT = "interfaces > et-*"
TRUNK = f"{PORT} > unit 0 > family ethernet-switching"
UPLINKS = (
    kind("uplink-removed", "a leaf lost an uplink port", delete(leaf(PORT, UPLINK)), "AILB108 AILB201"),
    kind("downlink-removed", "a spine lost a port to a leaf", delete(spine(PORT, UPLINK)), "AILB108 AILB201"),
    kind("uplink-inactive", "an uplink port is inactive", deactivate(switch(PORT, UPLINK)), "AILB108 AILB201"),
    kind(
        "uplink-disabled",
        "a leaf's uplink port is shut down",
        insert(leaf(PORT, UPLINK), "        disable;"),
        "AILB108 AILB201",
    ),
    kind(
        "downlink-disabled",
        "a spine's port is shut down",
        insert(spine(PORT, UPLINK), "        disable;"),
        "AILB108 AILB201",
    ),
    kind(
        "uplink-unit-disabled",
        "unit 0 of a fabric port is shut down",
        insert(switch(f"{PORT} > unit 0", "family inet6;"), "            disable;"),
        "AILB108 AILB201",
    ),
    kind(
        "uplink-no-unit",
        "a fabric port has no unit",
        delete(switch(f"{PORT} > unit 0", "family inet6;")),
        "AILB108 AILB201",
    ),
    kind(
        "uplink-unit-number",
        "a fabric port's unit is 1, not 0",
        replace(switch(f"{PORT} > unit 0", "family inet6;"), r"unit (0)", "1"),
        "AILB108 AILB201",
    ),
    kind(
        "uplink-no-inet6",
        "a fabric port has no IPv6",
        delete(switch(f"{PORT} > unit 0 > family inet6")),
        "AILB108 AILB201",
    ),
    kind(
        "uplink-inet",
        "a fabric port speaks IPv4 instead of IPv6",
        replace(switch(f"{PORT} > unit 0 > family inet6"), r"inet6", "inet"),
        "AILB108 AILB201",
    ),
    kind(
        "uplink-second-unit",
        "a fabric port has another unit",
        insert(switch(PORT, UPLINK), "        unit 7 {\n            family inet6;\n        }"),
        "AILB108",
    ),
    kind(
        "uplink-ipv4-too",
        "a fabric port speaks IPv4, too",
        insert(
            switch(f"{PORT} > unit 0", "family inet6;"),
            "            family inet {\n                address 192.0.2.1/31;\n            }",
        ),
        "AILB108",
    ),
    kind(
        "uplink-description-useless",
        "a description names nobody",
        replace(switch(f"{PORT} > description facing_*"), r"facing_.+;", "uplink;"),
        "AILB007",
    ),
    kind(
        "uplink-no-description",
        "a fabric port does not say what it faces",
        delete(switch(f"{PORT} > description facing_*")),
        "AILB007",
    ),
    kind(
        "uplink-descriptions-swapped",
        "two fabric ports say that they face each other's neighbor",
        swap(switch(f"{PORT} > description facing_*"), r"facing_(.+);"),
        "AILB007",
    ),
    kind(
        "uplink-description-port",
        "a description names another port of the right neighbor",
        replace(switch(f"{PORT} > description facing_*"), r"0/0/(\d+)[:\d]*;", add(1)),
        "AILB007",
    ),
    kind(
        "uplink-description-stranger",
        "a description names a device that is not there",
        replace(switch(f"{PORT} > description facing_*"), r"facing_([\w-]+):", "old-switch"),
        "AILB007",
    ),
    kind(
        "leaf-uplink-mtu-small",
        "one end of a link has MTU 1500",
        replace(leaf(f"{PORT} > mtu *", ""), r"\d+", "1500"),
        "AILB709 AILB710",
    ),
    kind(
        "spine-mtu-small",
        "one end of a link has MTU 1500",
        replace(spine(f"{PORT} > mtu *"), r"\d+", "1500"),
        "AILB709 AILB710",
    ),
    kind(
        "port-mtu-off-by-some",
        "one end's MTU is a little smaller",
        replace(switch(f"{PORT} > mtu *"), r"\d+", add(-16)),
        "AILB709 AILB710",
    ),
    kind("port-mtu-missing", "one port has the default MTU", delete(switch(f"{PORT} > mtu *")), "AILB709 AILB710"),
    kind(
        "spine-mtu-all",
        "all ports of one spine have MTU 9000",
        per_file(spine(f"{PORT} > mtu *"), r"\d+", "9000"),
        "AILB709 AILB710",
    ),
    kind(
        "uplink-address",
        "a fabric port has an address of the pool",
        replace(
            switch(f"{PORT} > unit 0 > family inet6"),
            r"inet6(;)",
            " {\n                address fc00:99:9:9::1/64;\n            }",
        ),
        "AILB101 AILB102 AILB108",
    ),
    kind("breakout-missing", "a port is not split", delete(switch(PORT, "number-of-sub-ports")), "AILB109", ("jvd",)),
    kind(
        "breakout-count",
        "a port is split into another number of sub-ports",
        replace(switch(f"{PORT} > number-of-sub-ports *"), r"\d", "4"),
        "AILB109",
        ("jvd",),
    ),
    kind(
        "breakout-no-description",
        "a split port has no description",
        delete(switch(f"{PORT} > description *")),
        "AILB007",
        ("jvd",),
    ),
    kind(
        "breakout-description",
        "a split port is described as another",
        replace(switch(f"{PORT} > description *Breakout*"), r"0/0/(\d+)", add(1)),
        "AILB007",
        ("jvd",),
    ),
    kind(
        "description-of-the-intent",
        "a port is not described as the intent says",
        replace(switch(f"{PORT} > description *spare*"), r"spare link", "uplink"),
        "AILB007",
        ("brownfield",),
    ),
    kind(
        "breakout-no-count",
        "a port is not split",
        delete(switch(f"{PORT} > number-of-sub-ports *")),
        "AILB109",
        ("jvd",),
    ),
    kind(
        "breakout-speed",
        "sub-ports have another speed",
        replace(switch(f"{PORT} > speed *"), "400g", "100g"),
        "AILB109",
        ("jvd",),
    ),
    kind(
        "breakout-no-speed",
        "the speed of sub-ports is left out",
        delete(switch(f"{PORT} > speed *")),
        "AILB109",
        ("jvd",),
    ),
)


HOST_PORTS = (
    kind("host-port-removed", "a leaf lost a server's port", delete(leaf(PORT, HOST_PORT)), "AILB108 AILB106 AILB007"),
    kind(
        "host-port-disabled",
        "a server's port is shut down",
        insert(leaf(PORT, HOST_PORT), "        disable;"),
        "AILB108 AILB106 AILB007",
    ),
    kind(
        "host-port-inactive",
        "a server's port is inactive",
        deactivate(leaf(PORT, HOST_PORT)),
        "AILB108 AILB106 AILB007",
    ),
    kind(
        "host-port-no-description",
        "a port does not say which NIC is on it",
        delete(leaf(f"{PORT} > description to.*")),
        "AILB007",
    ),
    kind(
        "host-port-descriptions-swapped",
        "the descriptions of two server ports are swapped",
        swap(leaf(f"{PORT} > description to.*"), r"to\.(.+);"),
        "AILB007",
    ),
    kind(
        "host-port-description-nic",
        "a description names another NIC of the server",
        replace(leaf(f"{PORT} > description to.*"), r":gpu(\d)_eth", lambda old: "1" if old == "0" else "0"),
        "AILB007",
    ),
    kind(
        "host-port-no-native-vlan",
        "untagged frames of a server have no VLAN",
        delete(leaf(f"{PORT} > native-vlan-id *")),
        "AILB106",
    ),
    kind(
        "host-port-native-vlan",
        "untagged frames are in another VLAN",
        replace(leaf(f"{PORT} > native-vlan-id *"), r"\d+", add(1)),
        "AILB106",
    ),
    kind(
        "host-port-vlan-of-another-rail",
        "a port is in the VLAN of another rail",
        replace(leaf(f"{TRUNK} > vlan > members *"), r"vn(\d+)", add(1)),
        "AILB106",
    ),
    kind(
        "host-port-both-vlans-of-another-rail",
        "a port is consistently in the VLAN of another rail",
        in_turn(
            replace(leaf(f"{PORT} > native-vlan-id *"), r"\d+", add(1)),
            replace(leaf(f"{TRUNK} > vlan > members *"), r"vn(\d+)", add(1)),
        ),
        "AILB106",
    ),
    kind(
        "host-port-inet6",
        "a server's port routes",
        insert(leaf(f"{PORT} > unit 0", "ethernet-switching"), "            family inet6;"),
        "AILB106",
    ),
    kind("host-port-no-vlan", "a server's port is in no VLAN", delete(leaf(f"{TRUNK} > vlan > members *")), "AILB106"),
    kind(
        "host-port-second-vlan",
        "a server's port is in one VLAN more",
        insert(leaf(f"{TRUNK} > vlan > members *"), "                    members 100;"),
        "AILB106",
    ),
    kind(
        "host-port-access",
        "a trunk with a native VLAN became an access port",
        replace(leaf(f"{TRUNK} > interface-mode trunk"), "trunk", "access"),
        "AILB106",
    ),
    kind(
        "host-port-no-mode", "a port has no interface mode", delete(leaf(f"{TRUNK} > interface-mode trunk")), "AILB106"
    ),
    kind("host-port-not-switched", "a server's port has no family", delete(leaf(TRUNK)), "AILB108 AILB106 AILB007"),
    kind(
        "host-port-unit",
        "a server's port has unit 5",
        replace(leaf(f"{PORT} > unit 0", "ethernet-switching"), r"unit (0)", "5"),
        "AILB108 AILB106 AILB007",
    ),
    kind(
        "host-port-mtu",
        "a server's port drops large frames",
        replace(leaf(PORT, HOST_PORT), r"mtu (\d+)", "1500"),
        "AILB710 AILB613",
    ),
    kind(
        "host-port-no-mtu",
        "a server's port has the default MTU",
        replace(leaf(PORT, HOST_PORT), r" *mtu \d+;\n", ""),
        "AILB710 AILB613",
    ),
)

KINDS = (*UPLINKS, *HOST_PORTS)
