"""Damage to topology and cabling list."""

from __future__ import annotations

import re
from collections.abc import Callable

from tests.mutations.edits import add, borrow, delete, put, replace, rewrite, swap, together
from tests.mutations.kind import kind
from tests.mutations.spots import files, text
from tests.mutations.tree import Changes, Link, Tree, text_of

TOPOLOGY, CABLING = "topology.json", "cabling.csv"
SWITCH = text(TOPOLOGY, r'^  \{"name": .*"asn": .*\n')
SERVER = text(TOPOLOGY, r'^  \{"name": .*"role": "server".*\n')
LEAF = text(TOPOLOGY, r'^  \{"name": .*"role": "leaf".*\n')
LINKS = text(TOPOLOGY, r'^  \{"leaf": .*\n')
NIC = text(TOPOLOGY, r'\{"name": "\w+", "rdma": [^}]*\}')
COLOR = text(TOPOLOGY, r'^  \{"name": "\w+", "community": .*\n')
FABRIC_CABLE = text(CABLING, r"^.*,fabric,.*\n")
HOST_CABLE = text(CABLING, r"^.*,host,.*\n")
FAR_END = r"^[^,]+,[^,]+,([^,]+,[^,]+),"
FAR_TOPOLOGY = r'("spine": "[^"]+", "spine_port": "[^"]+")'


def value(key: str) -> str:
    """Return the pattern of a key's value in JSON."""
    return rf'"{key}": "?([^",}}]+)'


def links(tree: Tree) -> list[tuple[str, Link]]:
    """Return the symbolic links."""
    return [(path, entry) for path, entry in tree.items() if isinstance(entry, Link)]


def removed(glob: str) -> Callable[[Tree], list[Changes]]:
    """Remove one file."""
    return lambda tree: [{path: None} for path in files(tree, glob)]


def moved_everywhere(tree: Tree) -> list[Changes]:
    """Move an uplink to another port in every file that knows it: only the intent tells."""
    found: list[Changes] = []
    for leaf, base, spine in re.findall(r"^([^,]+),([^,:]+)[^,]*,([^,]+),.*,fabric,", text_of(tree, CABLING), re.M):
        new = re.sub(r"\d+$", "48", base)
        patterns = {
            f"switches/{leaf}.conf": rf"(?<![\w:]){base}(?!\d)",
            f"switches/{spine}.conf": rf"(?<=facing_{leaf}:){base}(?!\d)",
            CABLING: rf"(?m)(?<=^{leaf},){base}(?!\d)",
            TOPOLOGY: rf'(?<="leaf": "{leaf}", "leaf_port": "){base}(?!\d)',
        }
        found.append({file: re.sub(old, new, text_of(tree, file)).encode() for file, old in patterns.items()})
    return found


TOPOLOGIES = (
    kind(
        "topology-link-added",
        "a link stands once too often in the topology",
        replace(LINKS, r"(?s).+,\n", lambda old: old + old),
        "AILB006 AILB008",
    ),
    kind(
        "topology-device-twice",
        "a device stands twice in the topology",
        replace(SWITCH, r"(?s).+,\n", lambda old: old + old),
        "AILB002 AILB008",
    ),
    kind(
        "topology-key-twice",
        "a switch has two AS numbers in the topology",
        replace(SWITCH, r'("asn": )\d+', '"asn": 1, "asn": '),
        "AILB002",
    ),
    kind(
        "topology-key-unknown",
        "the topology says of a switch what nobody asked for",
        replace(SWITCH, r'("platform": )', '"model": "x", "platform": '),
        "AILB008",
    ),
    kind(
        "topology-device-extra",
        "the topology has a device that is not in the fabric",
        replace(SERVER, r"(?s).+,\n", lambda old: old + old.replace('"name": "', '"name": "old-', 1)),
        "AILB008",
    ),
    kind(
        "topology-prefix-missing",
        "a leaf lacks a prefix in the topology",
        replace(LEAF, r'\{"prefix": [^}]*\}, ', ""),
        "AILB008",
    ),
    kind(
        "topology-server-moved",
        "a server has no NICs in the topology",
        replace(SERVER, r'(, "nics": .*)\}', ""),
        "AILB006 AILB008",
    ),
    kind(
        "topology-loopback",
        "a switch has another loopback in the topology",
        replace(SWITCH, r'"loopback": "[^"]+::(\d+)', "77"),
        "AILB008",
        ("brownfield",),
    ),
    kind(
        "topology-management",
        "a device has another management address in the topology",
        replace(text(TOPOLOGY, r'^  \{"name": .*"management": .*\n'), r'"management": "[\d.]+\.(\d+)', add(100)),
        "AILB008",
        ("brownfield",),
    ),
    kind("topology-missing", "there is no topology", put(removed(TOPOLOGY)), "AILB002 AILB006"),
    kind("topology-empty", "the topology is empty", rewrite(TOPOLOGY, lambda _: b""), "AILB002 AILB006"),
    kind(
        "topology-not-json",
        "the topology is no JSON",
        rewrite(TOPOLOGY, lambda old: old.replace(b'"links": [', b'"links": ')),
        "AILB002 AILB006",
    ),
    kind("topology-list", "the topology is a list", rewrite(TOPOLOGY, lambda _: b"[]\n"), "AILB002 AILB006"),
    kind(
        "topology-key-missing",
        "a link of the topology lacks a key",
        replace(LINKS, r'"color": "\w+", ', ""),
        "AILB002 AILB006",
    ),
    kind(
        "topology-wrong-type",
        "an AS of the topology is text",
        replace(SWITCH, r'"asn": (\d+)', '"many"'),
        "AILB002 AILB008",
    ),
    kind(
        "topology-device-missing",
        "the topology lacks a device",
        delete(text(TOPOLOGY, r'^  \{"name": .*"role": .*,\n')),
        "AILB008",
    ),
    kind(
        "topology-link-missing", "the topology lacks a link", delete(text(TOPOLOGY, r'^  \{"leaf": .*,\n')), "AILB006"
    ),
    kind("topology-link-color", "a link of the topology has another color", borrow(LINKS, value("color")), "AILB006"),
    kind(
        "topology-link-speed",
        "a link of the topology has another speed",
        replace(LINKS, value("speed"), "800g"),
        "AILB006",
    ),
    kind("topology-cables-swapped", "two cables are moved in the topology", swap(LINKS, FAR_TOPOLOGY), "AILB006"),
    kind(
        "topology-port",
        "a link of the topology is on another port",
        replace(LINKS, r'"leaf_port": "et-0/0/(\d+)', add(5)),
        "AILB006",
    ),
    kind(
        "topology-leaf",
        "a link of the topology is on another leaf",
        replace(LINKS, value("leaf"), "stripe9-leaf9"),
        "AILB006",
    ),
    kind(
        "topology-link-twice",
        "a link stands twice in the topology",
        borrow(text(TOPOLOGY, r'^  \{"leaf": .*,\n')),
        "AILB006",
    ),
    kind("topology-role", "a leaf is a spine in the topology", replace(LEAF, value("role"), "spine"), "AILB008"),
    kind("topology-asn", "a switch has another AS in the topology", replace(SWITCH, value("asn"), add(7)), "AILB008"),
    kind(
        "topology-asns-swapped",
        "two switches have each other's AS in the topology",
        swap(SWITCH, value("asn")),
        "AILB008",
    ),
    kind(
        "topology-router-id",
        "a switch has another router-id in the topology",
        replace(SWITCH, r'"router_id": "[\d.]+\.(\d+)"', add(9)),
        "AILB008",
    ),
    kind("topology-vlan", "a leaf has another VLAN in the topology", replace(LEAF, value("vlan"), add(1)), "AILB008"),
    kind(
        "topology-prefix",
        "a leaf has another prefix in the topology",
        replace(LEAF, r'"prefix": "fc00:\d+:\d+:(\d+)::', add(5)),
        "AILB008",
    ),
    kind(
        "topology-gateway",
        "a leaf has another gateway in the topology",
        replace(LEAF, r'"gateway": "[\w:]+::(1)"', "2"),
        "AILB008",
    ),
    kind(
        "topology-prefix-color",
        "a prefix has another color in the topology",
        replace(LEAF, r'"color": "(green)"', "red"),
        "AILB008",
    ),
    kind("topology-rail", "a leaf has another rail in the topology", replace(LEAF, value("rail"), add(1)), "AILB008"),
    kind(
        "topology-stripe",
        "a leaf is in another stripe in the topology",
        replace(LEAF, value("stripe"), add(1)),
        "AILB008",
    ),
    kind(
        "topology-community",
        "a color has another community in the topology",
        replace(COLOR, r"0:(\d+)", add(20)),
        "AILB008",
    ),
    kind(
        "topology-backup",
        "a color has no backup in the topology",
        replace(COLOR, r'"backup": ("[^"]+")', "null"),
        "AILB008",
    ),
    kind(
        "topology-colors-swapped",
        "two colors have each other's name in the topology",
        swap(COLOR, value("name")),
        "AILB008",
    ),
    kind(
        "topology-pool",
        "the topology has another pool",
        replace(text(TOPOLOGY, r'^ "pool": .*\n'), value("pool"), "fd00::/16"),
        "AILB008",
    ),
    kind(
        "topology-fabric",
        "the topology is of another fabric",
        replace(text(TOPOLOGY, r'^ "fabric": .*\n'), value("fabric"), "other"),
        "AILB008",
    ),
    kind(
        "topology-server-role",
        "a server is something else in the topology",
        replace(SERVER, value("role"), "host"),
        "AILB008",
    ),
    kind(
        "topology-server-stripe",
        "a server is in another stripe in the topology",
        replace(SERVER, value("stripe"), add(1)),
        "AILB008",
    ),
    kind(
        "topology-platform",
        "a switch is of another platform in the topology",
        replace(SWITCH, value("platform"), "other"),
        "AILB008",
    ),
    kind("topology-nic-leaf", "a NIC is on another leaf in the topology", borrow(NIC, value("leaf")), "AILB006"),
    kind(
        "topology-nic-port",
        "a NIC is on another port in the topology",
        replace(NIC, r'"leaf_port": "et-0/0/(\d+)', add(8)),
        "AILB006",
    ),
    kind(
        "topology-nics-swapped",
        "two NICs are on each other's leaf in the topology",
        swap(NIC, r'("leaf": "[^"]+", "leaf_port": "[^"]+")'),
        "AILB006",
    ),
    kind(
        "topology-nic-name",
        "a NIC has another name in the topology",
        replace(NIC, value("name"), "ens5"),
        "AILB006",
    ),
    kind(
        "topology-nic-rdma",
        "a NIC has another RDMA device in the topology",
        replace(NIC, value("rdma"), "mlx5_77"),
        "AILB008 AILB612 AILB602",
    ),
)


CABLES = (
    kind(
        "cabling-doubled",
        "a cable stands once too often in the cabling list",
        replace(FABRIC_CABLE, r"(?s).+", lambda old: old + old),
        "AILB006",
    ),
    kind("cabling-missing", "there is no cabling list", put(removed(CABLING)), "AILB002 AILB006"),
    kind("cabling-empty", "the cabling list is empty", rewrite(CABLING, lambda _: b""), "AILB002 AILB006"),
    kind(
        "cabling-header",
        "the cabling list has other columns",
        rewrite(CABLING, lambda old: old.replace(b"a_port", b"port")),
        "AILB002 AILB006",
    ),
    kind(
        "cabling-cells",
        "a line of the cabling list lacks a cell",
        replace(FABRIC_CABLE, r"(,400g)", ""),
        "AILB002 AILB006",
    ),
    kind(
        "cabling-kind", "a cable is of no known kind", replace(FABRIC_CABLE, r",(fabric),", "uplink"), "AILB002 AILB006"
    ),
    kind("cabling-fabric-missing", "the cabling list lacks a fabric cable", delete(FABRIC_CABLE), "AILB006"),
    kind("cabling-host-missing", "the cabling list lacks a server's cable", delete(HOST_CABLE), "AILB006"),
    kind("cabling-twice", "a cable stands twice", borrow(FABRIC_CABLE), "AILB006"),
    kind(
        "cable-moved-in-cabling",
        "two fabric cables are moved in the cabling list",
        swap(FABRIC_CABLE, FAR_END),
        "AILB006",
    ),
    kind(
        "cable-moved-in-both",
        "two fabric cables are moved in cabling list and topology",
        together(swap(FABRIC_CABLE, FAR_END), swap(LINKS, FAR_TOPOLOGY)),
        "AILB009 AILB007",
    ),
    kind(
        "uplink-moved-everywhere",
        "an uplink is on another port than the intent asks, in all files",
        put(moved_everywhere),
        "AILB009",
    ),
    kind(
        "host-cable-moved-in-both",
        "two servers have each other's port in cabling list and topology",
        together(
            swap(text(CABLING, r"^[^,]+,[^,]+,[^,]+,[^,]*0[^,]*,[^,]+,host,,0\n"), r"^[^,]+,([^,]+),"),
            swap(text(TOPOLOGY, r'^  \{"name": .*"role": "server".*\n'), r'"leaf_port": "([^"]+)"'),
        ),
        "AILB009 AILB007",
        ("lab",),
    ),
    kind("host-cable-moved", "two server cables are moved in the cabling list", swap(HOST_CABLE, FAR_END), "AILB006"),
    kind(
        "cabling-port",
        "a cable is on another port of the spine",
        replace(FABRIC_CABLE, r",et-0/0/(\d+)[:\d]*,400g", add(30)),
        "AILB006",
    ),
    kind(
        "cabling-leaf-port",
        "a cable is on another port of the leaf",
        replace(FABRIC_CABLE, r"^[^,]+,et-0/0/(\d+)", add(6)),
        "AILB006",
    ),
    kind(
        "cabling-fields-empty",
        "the cabling list does not say how fast a cable is",
        replace(FABRIC_CABLE, r",(400g),", ""),
        "AILB006 AILB009",
    ),
    kind("cabling-link-rail", "a fabric cable has a rail", replace(FABRIC_CABLE, r",()$", "3"), "AILB009"),
    kind("cabling-color", "a cable has another color", borrow(FABRIC_CABLE, r",fabric,(\w+),"), "AILB006"),
    kind("cabling-speed", "a cable has another speed", replace(FABRIC_CABLE, r",(400g),", "100g"), "AILB006"),
    kind(
        "cabling-host-speed",
        "a server's cable has another speed",
        replace(HOST_CABLE, r",(400g),", "100g"),
        "AILB006 AILB009",
    ),
    kind(
        "cabling-rail",
        "a server's cable has another rail",
        replace(HOST_CABLE, r",,(\d+)$", add(1)),
        "AILB006 AILB008 AILB009",
    ),
    kind(
        "cabling-nic",
        "a cable is on another NIC",
        replace(HOST_CABLE, r",gpu(\d)_eth", lambda old: "1" if old == "0" else "0"),
        "AILB006",
    ),
    kind(
        "cabling-stranger",
        "a cable leads to a device that is not there",
        replace(FABRIC_CABLE, r"^[^,]+,[^,]+,([^,]+),", "core9"),
        "AILB006",
    ),
    kind(
        "cabling-extra",
        "there is a cable too many",
        replace(FABRIC_CABLE, r"(?s)\A()", "stripe1-leaf1,et-0/0/60,spine1,et-0/0/60,400g,fabric,green,\n"),
        "AILB006",
    ),
)

KINDS = (*TOPOLOGIES, *CABLES)
