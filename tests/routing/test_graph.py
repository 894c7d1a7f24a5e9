"""Which switches are alike, and which are not."""

from collections.abc import Mapping

import pytest

from ailb_gen.network.fabric import Network
from ailb_gen.network.model import Port
from ailb_gen.network.read import read_network
from ailb_gen.routing.graph import Graph
from tests.conftest import ROOT
from tests.network.lab import LEAF, SPINE, TEXTS, changed, network

LEAVES = ["stripe1-leaf1", "stripe1-leaf2", "stripe2-leaf1", "stripe2-leaf2"]


def golden(name: str) -> Network:
    return read_network(ROOT / "tests" / "golden" / name, lambda written, tree: None).network


def classes(graph: Graph) -> list[list[str]]:
    return sorted([graph.names[device] for device in sorted(found.members)] for found in graph.classes)


def lab(*changes: tuple[str, str, str]) -> Graph:
    texts = dict(TEXTS)
    for file, old, new in changes:
        assert old in texts[file], old
        texts[file] = texts[file].replace(old, new)
    return Graph(network(texts))


@pytest.mark.parametrize(
    ("name", "spines", "leaves", "links"), [("jvd", 4, 16, 4), ("jvd-8-uplinks", 4, 16, 8), ("lab", 4, 4, 4)]
)
def test_leaves_are_one_class_and_every_spine_its_own(name: str, spines: int, leaves: int, links: int) -> None:
    graph = Graph(golden(name))
    assert sorted(len(found.members) for found in graph.classes) == [1] * spines + [leaves]
    (leaf,) = [found for found in graph.classes if len(found.members) == leaves]
    assert sum(len(bundle.positions) for bundle in leaf.bundles) == links
    assert len(graph.sessions.up) == leaves * links


def test_loopbacks_of_their_own_do_not_make_a_class() -> None:
    """The brownfield leaves announce a loopback each, by a term for direct routes in their export policies."""
    found = golden("brownfield")
    assert len({address for switch in found.switches.values() for address in _loopbacks(switch.ports)}) > 1
    assert sorted(len(group.members) for group in Graph(found).classes) == [1, 1, 8]


def _loopbacks(ports: Mapping[str, Port]) -> list[int]:
    return [address.value for unit in (ports["lo0"].units if "lo0" in ports else ()) for address in unit.addresses]


def test_rows_of_a_class_have_the_same_order() -> None:
    graph = Graph(golden("jvd-8-uplinks"))
    for found in graph.classes:
        rows = [graph.adjacencies[device] for device in found.members]
        alike = {tuple((entry.peer, entry.peer_group, entry.own_group) for entry in row) for row in rows}
        assert len(alike) == 1


APART = {
    "another policy": (LEAF, "term no-valley", "term valley"),
    "a term for BGP routes": (
        LEAF,
        "term others {",
        "term more { from protocol bgp; then accept; }\n term others {",
    ),
    "a session less": (LEAF, "                    interface et-0/0/0.0;\n", ""),
    "no multipath": (LEAF, "multipath {\n                multiple-as;\n            }\n", ""),
    "no multiple-as": (LEAF, "                multiple-as;\n", ""),
    "no AIGP": (LEAF, "                    aigp;\n", ""),
    "no import policy at the others": (LEAF, "export FABRIC-OUT;", "export FABRIC-OUT; import FABRIC-OUT;"),
    "another color": (LEAF, "community green members color:0:1;", "community green members color:0:9;"),
    "another packet spreading": (LEAF, "load-balance per-packet;", "load-balance consistent-hash;"),
}


@pytest.mark.parametrize("case", APART)
def test_what_sets_a_leaf_apart(case: str) -> None:
    graph = lab(APART[case])
    assert [LEAVES[0]] in classes(graph)
    assert LEAVES[1:] in classes(graph)


ALIKE = {
    "the name": (LEAF, "host-name stripe1-leaf1;", "host-name other;"),
    "the lines": (LEAF, "system {", "\n\n\nsystem {"),
    "the router-id": (LEAF, "router-id 10.255.16.1;", "router-id 10.9.9.9;"),
    "the prefixes": (LEAF, "fc00:1:1:1::", "fc00:9:9:9::"),
    "the fabric's routes": (LEAF, "backup-color all-colors;", "backup-color blue;"),
    "a term for direct routes": (
        LEAF,
        "term others {",
        "term own { from protocol direct; then accept; }\n term others {",
    ),
    "a community that no policy uses": (
        LEAF,
        "community green members color:0:1;",
        "community green members color:0:1; community x members 0:1;",
    ),
    "BFD": (LEAF, "minimum-interval 300;", "minimum-interval 900;"),
}


@pytest.mark.parametrize("case", ALIKE)
def test_what_does_not(case: str) -> None:
    assert LEAVES in classes(lab(ALIKE[case]))


def test_lists_count_by_what_is_in_them() -> None:
    """Leaves whose policies have one text, but another prefix list behind the name in it."""
    policy = "    policy-statement FABRIC-OUT {\n"
    term = "        term listed { from { prefix-list found; } then accept; }\n"
    changes = []
    for name in LEAVES:
        found = "fd00::/16" if name == LEAVES[0] else "fc00::/16"
        new = f"    prefix-list found {{ {found}; }}\n{policy}{term}"
        changes.append((f"switches/{name}.conf", policy, new))
    assert [[LEAVES[0]], LEAVES[1:]] == [names for names in classes(lab(*changes)) if set(names) & set(LEAVES)]


def test_direct_routes_and_what_is_advertised() -> None:
    text = changed(LEAF, "route fc00:1:1:1::/64", "route fc00:dead::/64")[LEAF]
    text = text.replace("    et-0/0/0 {\n", "    et-0/0/0 {\n        disable;\n", 1)
    graph = Graph(network({**TEXTS, LEAF: text}))
    device = graph.index[LEAVES[0]]
    assert [str(prefix) for prefix in sorted(graph.direct[device])] == [f"fc00:1:1:{k}::/64" for k in range(1, 5)]
    # A prefix that is no address of the switch is not advertised, whatever fabric-advertise says.
    assert [str(prefix) for prefix in sorted(graph.advertised[device])] == [f"fc00:1:1:{k}::/64" for k in range(2, 5)]
    assert len(graph.owners) == 16


def test_disabled_interfaces_have_no_direct_routes() -> None:
    graph = lab((LEAF, "    irb {\n", "    irb {\n        disable;\n"))
    assert not graph.direct[graph.index[LEAVES[0]]]
    graph = lab((LEAF, "        unit 2 {\n", "        unit 2 {\n            disable;\n"))
    assert not graph.direct[graph.index[LEAVES[0]]]


@pytest.mark.parametrize("text", ["router-id 10.255.0.1;", "router-id nonsense;", ""])
def test_router_ids(text: str) -> None:
    graph = lab((SPINE, "router-id 10.255.0.1;", text))
    expected = (10 << 24) + (255 << 16) + 1 if "10." in text else 1 << 32
    assert graph.router_ids[graph.index["spine1"]] == expected


def test_a_switch_with_the_as_of_a_peer_on_another_session() -> None:
    """What comes from that peer is a loop: its AS number is one of the switch's own."""
    texts = changed(LEAF, "local-as 65101;", "local-as 65002;")
    texts[SPINE] = changed(SPINE, "as-list leaves members 65101-65104;", "as-list leaves members 1-65535;")[SPINE]
    graph = Graph(network(texts))
    device = graph.index[LEAVES[0]]
    assert [graph.names[entry.peer] for entry in graph.adjacencies[device] if entry.looped] == ["spine2"]
    assert graph.asn_owners[65002] == {device, graph.index["spine2"]}
    assert not any(entry.looped for other, row in enumerate(graph.adjacencies) if other != device for entry in row)
