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
    kind("topology-link-added", replace(LINKS, r"(?s).+,\n", lambda old: old + old), "AILB006 AILB008"),
    kind("topology-device-twice", replace(SWITCH, r"(?s).+,\n", lambda old: old + old), "AILB002 AILB008"),
    kind("topology-key-twice", replace(SWITCH, r'("asn": )\d+', '"asn": 1, "asn": '), "AILB002"),
    kind("topology-key-unknown", replace(SWITCH, r'("platform": )', '"model": "x", "platform": '), "AILB008"),
    kind(
        "topology-device-extra",
        replace(SERVER, r"(?s).+,\n", lambda old: old + old.replace('"name": "', '"name": "old-', 1)),
        "AILB008",
    ),
    kind("topology-prefix-missing", replace(LEAF, r'\{"prefix": [^}]*\}, ', ""), "AILB008"),
    kind("topology-server-moved", replace(SERVER, r'(, "nics": .*)\}', ""), "AILB006 AILB008"),
    kind("topology-loopback", replace(SWITCH, r'"loopback": "[^"]+::(\d+)', "77"), "AILB008", ("brownfield",)),
    kind(
        "topology-management",
        replace(text(TOPOLOGY, r'^  \{"name": .*"management": .*\n'), r'"management": "[\d.]+\.(\d+)', add(100)),
        "AILB008",
        ("brownfield",),
    ),
    kind("topology-missing", put(removed(TOPOLOGY)), "AILB002 AILB006"),
    kind("topology-empty", rewrite(TOPOLOGY, lambda _: b""), "AILB002 AILB006"),
    kind(
        "topology-not-json", rewrite(TOPOLOGY, lambda old: old.replace(b'"links": [', b'"links": ')), "AILB002 AILB006"
    ),
    kind("topology-list", rewrite(TOPOLOGY, lambda _: b"[]\n"), "AILB002 AILB006"),
    kind("topology-key-missing", replace(LINKS, r'"color": "\w+", ', ""), "AILB002 AILB006"),
    kind("topology-wrong-type", replace(SWITCH, r'"asn": (\d+)', '"many"'), "AILB002 AILB008"),
    kind("topology-device-missing", delete(text(TOPOLOGY, r'^  \{"name": .*"role": .*,\n')), "AILB008"),
    kind("topology-link-missing", delete(text(TOPOLOGY, r'^  \{"leaf": .*,\n')), "AILB006"),
    kind("topology-link-color", borrow(LINKS, value("color")), "AILB006"),
    kind("topology-link-speed", replace(LINKS, value("speed"), "800g"), "AILB006"),
    kind("topology-cables-swapped", swap(LINKS, FAR_TOPOLOGY), "AILB006"),
    kind("topology-port", replace(LINKS, r'"leaf_port": "et-0/0/(\d+)', add(5)), "AILB006"),
    kind("topology-leaf", replace(LINKS, value("leaf"), "stripe9-leaf9"), "AILB006"),
    kind("topology-link-twice", borrow(text(TOPOLOGY, r'^  \{"leaf": .*,\n')), "AILB006"),
    kind("topology-role", replace(LEAF, value("role"), "spine"), "AILB008"),
    kind("topology-asn", replace(SWITCH, value("asn"), add(7)), "AILB008"),
    kind("topology-asns-swapped", swap(SWITCH, value("asn")), "AILB008"),
    kind("topology-router-id", replace(SWITCH, r'"router_id": "[\d.]+\.(\d+)"', add(9)), "AILB008"),
    kind("topology-vlan", replace(LEAF, value("vlan"), add(1)), "AILB008"),
    kind("topology-prefix", replace(LEAF, r'"prefix": "fc00:\d+:\d+:(\d+)::', add(5)), "AILB008"),
    kind("topology-gateway", replace(LEAF, r'"gateway": "[\w:]+::(1)"', "2"), "AILB008"),
    kind("topology-prefix-color", replace(LEAF, r'"color": "(green)"', "red"), "AILB008"),
    kind("topology-rail", replace(LEAF, value("rail"), add(1)), "AILB008"),
    kind("topology-stripe", replace(LEAF, value("stripe"), add(1)), "AILB008"),
    kind("topology-community", replace(COLOR, r"0:(\d+)", add(20)), "AILB008"),
    kind("topology-backup", replace(COLOR, r'"backup": ("[^"]+")', "null"), "AILB008"),
    kind("topology-colors-swapped", swap(COLOR, value("name")), "AILB008"),
    kind("topology-pool", replace(text(TOPOLOGY, r'^ "pool": .*\n'), value("pool"), "fd00::/16"), "AILB008"),
    kind("topology-fabric", replace(text(TOPOLOGY, r'^ "fabric": .*\n'), value("fabric"), "other"), "AILB008"),
    kind("topology-server-role", replace(SERVER, value("role"), "host"), "AILB008"),
    kind("topology-server-stripe", replace(SERVER, value("stripe"), add(1)), "AILB008"),
    kind("topology-platform", replace(SWITCH, value("platform"), "other"), "AILB008"),
    kind("topology-nic-leaf", borrow(NIC, value("leaf")), "AILB006"),
    kind("topology-nic-port", replace(NIC, r'"leaf_port": "et-0/0/(\d+)', add(8)), "AILB006"),
    kind("topology-nics-swapped", swap(NIC, r'("leaf": "[^"]+", "leaf_port": "[^"]+")'), "AILB006"),
    kind("topology-nic-name", replace(NIC, value("name"), "ens5"), "AILB006"),
    kind("topology-nic-rdma", replace(NIC, value("rdma"), "mlx5_77"), "AILB008 AILB612 AILB602"),
)


CABLES = (
    kind("cabling-doubled", replace(FABRIC_CABLE, r"(?s).+", lambda old: old + old), "AILB006"),
    kind("cabling-missing", put(removed(CABLING)), "AILB002 AILB006"),
    kind("cabling-empty", rewrite(CABLING, lambda _: b""), "AILB002 AILB006"),
    kind("cabling-header", rewrite(CABLING, lambda old: old.replace(b"a_port", b"port")), "AILB002 AILB006"),
    kind("cabling-cells", replace(FABRIC_CABLE, r"(,400g)", ""), "AILB002 AILB006"),
    kind("cabling-kind", replace(FABRIC_CABLE, r",(fabric),", "uplink"), "AILB002 AILB006"),
    kind("cabling-fabric-missing", delete(FABRIC_CABLE), "AILB006"),
    kind("cabling-host-missing", delete(HOST_CABLE), "AILB006"),
    kind("cabling-twice", borrow(FABRIC_CABLE), "AILB006"),
    kind("cable-moved-in-cabling", swap(FABRIC_CABLE, FAR_END), "AILB006"),
    kind("cable-moved-in-both", together(swap(FABRIC_CABLE, FAR_END), swap(LINKS, FAR_TOPOLOGY)), "AILB009 AILB007"),
    kind("uplink-moved-everywhere", put(moved_everywhere), "AILB009"),
    kind(
        "host-cable-moved-in-both",
        together(
            swap(text(CABLING, r"^[^,]+,[^,]+,[^,]+,[^,]*0[^,]*,[^,]+,host,,0\n"), r"^[^,]+,([^,]+),"),
            swap(text(TOPOLOGY, r'^  \{"name": .*"role": "server".*\n'), r'"leaf_port": "([^"]+)"'),
        ),
        "AILB009 AILB007",
        ("lab",),
    ),
    kind("host-cable-moved", swap(HOST_CABLE, FAR_END), "AILB006"),
    kind("cabling-port", replace(FABRIC_CABLE, r",et-0/0/(\d+)[:\d]*,400g", add(30)), "AILB006"),
    kind("cabling-leaf-port", replace(FABRIC_CABLE, r"^[^,]+,et-0/0/(\d+)", add(6)), "AILB006"),
    kind("cabling-fields-empty", replace(FABRIC_CABLE, r",(400g),", ""), "AILB006 AILB009"),
    kind("cabling-link-rail", replace(FABRIC_CABLE, r",()$", "3"), "AILB009"),
    kind("cabling-color", borrow(FABRIC_CABLE, r",fabric,(\w+),"), "AILB006"),
    kind("cabling-speed", replace(FABRIC_CABLE, r",(400g),", "100g"), "AILB006"),
    kind("cabling-host-speed", replace(HOST_CABLE, r",(400g),", "100g"), "AILB006 AILB009"),
    kind("cabling-rail", replace(HOST_CABLE, r",,(\d+)$", add(1)), "AILB006 AILB008 AILB009"),
    kind("cabling-nic", replace(HOST_CABLE, r",gpu(\d)_eth", lambda old: "1" if old == "0" else "0"), "AILB006"),
    kind("cabling-stranger", replace(FABRIC_CABLE, r"^[^,]+,[^,]+,([^,]+),", "core9"), "AILB006"),
    kind(
        "cabling-extra",
        replace(FABRIC_CABLE, r"(?s)\A()", "stripe1-leaf1,et-0/0/60,spine1,et-0/0/60,400g,fabric,green,\n"),
        "AILB006",
    ),
)

KINDS = (*TOPOLOGIES, *CABLES)
