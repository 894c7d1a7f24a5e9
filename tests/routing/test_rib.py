"""RIBs and FIBs as an operator looks at them: the reference fabric, failures, leaks, no convergence."""

import random

import pytest

from ailb_gen.addresses import Prefix
from ailb_gen.junos.reader import read
from ailb_gen.network.fabric import Cable, End, Network
from ailb_gen.network.switch import switch
from ailb_gen.routing.graph import Graph
from ailb_gen.routing.rib import Path, Routing
from tests.network.lab import LEAF, SPINE, TEXTS, network
from tests.routing.fabrics import prefix
from tests.routing.naive import Fabric, NoRestError

OWN = "stripe1-leaf1"
OTHERS = ("stripe1-leaf2", "stripe2-leaf1", "stripe2-leaf2")
SECOND = prefix("fc00:1:1:2::/64")


def lab(*changes: tuple[str, str, str]) -> Network:
    texts = dict(TEXTS)
    for file, old, new in changes:
        assert old in texts[file], old
        texts[file] = texts[file].replace(old, new)
    return network(texts)


def routing(found: Network, *failed: tuple[str, str]) -> Routing:
    graph = Graph(found)
    pairs = [(session.a.device, session.b.device) for session in graph.sessions.up]
    return Routing(found, frozenset(pairs.index(pair) for pair in failed), graph)


def hops(found: Routing, device: str, which: Prefix = SECOND) -> list[str]:
    return [hop.peer for hop in found.next_hops(found.graph.index[device], which)]


def paths(found: Routing, device: str, which: Prefix = SECOND) -> dict[str, Path]:
    return {path.peer: path for path in found.paths(found.graph.index[device], which)}


def test_prefix_k_is_reached_through_spine_k() -> None:
    found = routing(lab())
    assert len(found.prefixes) == 16
    for k in range(1, 5):
        which = prefix(f"fc00:1:1:{k}::/64")
        assert {tuple(hops(found, name, which)) for name in OTHERS} == {(f"spine{k}",)}
        assert [hops(found, f"spine{n}", which) for n in range(1, 5)] == [[OWN]] * 4
        assert hops(found, OWN, which) == []


def test_the_other_spines_are_the_backup() -> None:
    found = paths(routing(lab()), "stripe2-leaf1")
    assert {peer: (path.status, path.reason) for peer, path in found.items()} == {
        "spine2": ("active", ""),
        "spine1": ("inactive", "AIGP"),
        "spine3": ("inactive", "AIGP"),
        "spine4": ("inactive", "AIGP"),
    }
    active = found["spine2"].route
    assert (active.as_path, active.aigp) == ((65002, 65101), 0)
    assert active.communities == {"color:0:2", "0:15"}
    assert found["spine3"].route.communities == {"color:0:3", "0:15"}
    assert (found["spine2"].interface, found["spine2"].group) == ("et-0/0/1.0", "fabric-blue")


def test_paths_are_listed_best_first() -> None:
    found = routing(lab())
    listed = found.paths(found.graph.index["stripe2-leaf1"], SECOND)
    assert [path.status for path in listed] == ["active", "inactive", "inactive", "inactive"]


def test_a_direct_route_is_active_where_it_is() -> None:
    found = routing(lab())
    (path,) = found.paths(found.graph.index[OWN], SECOND)
    assert (path.status, path.peer, path.route.protocol) == ("active", "", "direct")


@pytest.mark.parametrize("end", [OWN, "stripe2-leaf1"])
def test_a_failure_at_either_end_moves_the_affected_pairs_only(end: str) -> None:
    found = routing(lab(), (end, "spine2"))
    rest = ["spine1", "spine3", "spine4"]
    moved = OTHERS if end == OWN else ("stripe2-leaf1",)
    for name in OTHERS:
        assert hops(found, name) == (rest if name in moved else ["spine2"])
        assert hops(found, name, prefix("fc00:1:1:3::/64")) == ["spine3"]
    assert found.states[SECOND].stable


def test_two_failures_that_leave_different_spines() -> None:
    found = routing(lab(), (OWN, "spine2"), ("stripe2-leaf1", "spine1"))
    assert hops(found, "stripe2-leaf1") == ["spine3", "spine4"]
    assert hops(found, "stripe2-leaf2") == ["spine1", "spine3", "spine4"]


@pytest.mark.parametrize(
    "failed", [(), (("stripe1-leaf1", "spine2"), ("stripe2-leaf2", "spine4")), (("stripe1-leaf1", "spine1"),)]
)
def test_what_a_switch_sends_is_what_its_peers_hold(failed: tuple[tuple[str, str], ...]) -> None:
    found = routing(lab(), *failed)
    graph = found.graph
    for which in found.prefixes:
        sent = {
            (name, one.peer): (one.route.as_path, one.route.communities, one.route.aigp)
            for name, device in graph.index.items()
            for one in found.sent(device, which)
        }
        held = {
            (path.peer, name): (path.route.as_path, path.route.communities, path.route.aigp)
            for name, device in graph.index.items()
            for path in found.paths(device, which)
            if path.peer
        }
        assert sent == held
        assert sent


def test_without_any_session_there_is_no_route() -> None:
    found = routing(lab(), *((OWN, f"spine{k}") for k in range(1, 5)))
    assert hops(found, "stripe2-leaf1") == []
    assert not found.paths(found.graph.index["stripe2-leaf1"], SECOND)


def test_without_backup_a_failure_is_an_outage() -> None:
    found = routing(lab((LEAF, "                backup-color all-colors;\n", "")), (OWN, "spine2"))
    assert [hops(found, name) for name in OTHERS] == [[]] * 3


def test_without_load_balancing_one_way_is_used() -> None:
    other = ("switches/stripe2-leaf1.conf", "load-balance per-packet;", "accept;")
    found = routing(lab(other), (OWN, "spine2"))
    assert hops(found, "stripe2-leaf1") == ["spine1"]
    assert hops(found, "stripe2-leaf2") == ["spine1", "spine3", "spine4"]
    assert [path.status for path in found.paths(found.graph.index["stripe2-leaf1"], SECOND)] == [
        "active",
        "multipath",
        "multipath",
    ]


@pytest.mark.parametrize(
    ("old", "new"),
    [("                multiple-as;\n", ""), ("multipath {\n                multiple-as;\n            }", "")],
)
def test_without_multipath_over_several_as_one_way_is_used(old: str, new: str) -> None:
    found = routing(lab(("switches/stripe2-leaf1.conf", old, new)), (OWN, "spine2"))
    assert hops(found, "stripe2-leaf1") == ["spine1"]
    assert paths(found, "stripe2-leaf1")["spine3"].reason == "Not Best in its group - Router ID"


def test_router_ids_break_ties() -> None:
    texts = [
        ("switches/stripe2-leaf1.conf", "                multiple-as;\n", ""),
        (SPINE, "router-id 10.255.0.1;", "router-id 10.255.9.9;"),
    ]
    assert hops(routing(lab(*texts), (OWN, "spine2")), "stripe2-leaf1") == ["spine3"]


def test_a_maximum_of_ways() -> None:
    other = ("switches/stripe2-leaf1.conf", "system {", "chassis { maximum-ecmp 2; }\nsystem {")
    assert hops(routing(lab(other), (OWN, "spine2")), "stripe2-leaf1") == ["spine1", "spine3"]


LEAK = (
    "term no-valley {\n            from {\n",
    "term no-valley {\n            from {\n                protocol direct;\n",
)
OPEN = ("        term others {\n            then reject;\n        }\n", "")


FIRST = prefix("fc00:1:1:1::/64")


def test_colors_stop_what_a_leaf_would_leak() -> None:
    """Without its no-valley terms a leaf may pass routes on, but only over sessions of their color: to no other."""
    name = "switches/stripe2-leaf1.conf"
    found = routing(lab((name, *LEAK), (name, *OPEN)))
    for spine in ("spine1", "spine2", "spine3", "spine4"):
        assert "stripe2-leaf1" not in paths(found, spine, FIRST)


def test_what_a_leaf_leaks_over_one_color_is_rejected_by_the_tag() -> None:
    """Two spines of one color: the leak reaches the second one, which knows it by the tag of the first."""
    leaf = "switches/stripe2-leaf1.conf"
    files = [file for file in TEXTS if file.startswith("switches/")]
    one_color = [(file, "community blue members color:0:2;", "community blue members color:0:1;") for file in files]
    found = routing(
        lab((leaf, *LEAK), (leaf, *OPEN), *(change for change in one_color if change[1] in TEXTS[change[0]]))
    )
    leaked = paths(found, "spine2", FIRST)["stripe2-leaf1"]
    assert (leaked.status, leaked.reason) == ("hidden", "rejected by FABRIC-IN term leaked")
    assert leaked.route.as_path == (65103, 65001, 65101)
    assert paths(found, "spine2", FIRST)[OWN].status == "active"
    # It is not sent back to where it came from.
    assert "stripe2-leaf1" not in paths(found, "spine1", FIRST)


def test_a_class_that_leaks_is_taken_apart_where_it_has_to_be() -> None:
    """All leaves leak and none tags: what comes back to a leaf through another one is a loop only for that one."""
    changes = [(f"switches/{name}.conf", *change) for name in (OWN, *OTHERS) for change in (LEAK, OPEN)]
    for k in range(1, 5):
        file = f"switches/spine{k}.conf"
        changes += [(file, "community add local;\n", ""), (file, "    community green members color:0:1;\n", "")]
        changes += [(file, f"fabric-color {color};", "") for color in ("green", "blue", "red", "orange")[k - 1 : k]]
    for name in (OWN, *OTHERS):
        changes += [
            (f"switches/{name}.conf", f"fabric-color {color};", "") for color in ("green", "blue", "red", "orange")
        ]
        changes += [(f"switches/{name}.conf", "                color", "                inactive-color")]
    found = lab(*[(file, old, new) for file, old, new in changes if old in TEXTS[file]])
    plain = routing(found)
    fabric = Fabric(found)
    for which in plain.prefixes:
        expected = fabric.run(which)
        for device, name in enumerate(plain.graph.names):
            listed = plain.paths(device, which)
            assert {path.interface: (path.status, path.route.as_path) for path in listed} == {
                interface: (seen.status, seen.route.path) for interface, seen in expected[name].items()
            }


NODE = """
set system host-name n{n}
set routing-options autonomous-system {asn}
set routing-options router-id 10.0.0.{n}
set policy-options community straight members 0:1
set policy-options as-list any members 1-65535
set policy-options policy-statement FROM-O then community add straight
set policy-options policy-statement ASIDE then local-preference 200
set policy-options policy-statement TO-SIDE term a from community straight
set policy-options policy-statement TO-SIDE term a then community delete straight
set policy-options policy-statement TO-SIDE term a then accept
set policy-options policy-statement TO-SIDE term b then reject
set policy-options policy-statement NOTHING then reject
"""
GROUPS = {"up": ("FROM-O", "NOTHING"), "next": ("ASIDE", "NOTHING"), "before": ("NOTHING", "TO-SIDE")}


def ring(size: int) -> Network:
    """Give a ring around an origin where each prefers the way through the next one to the straight way.

    With an odd number there are no stable routes (the "bad gadget" of Griffin, Shepherd and Wilfong, 2002), with an
    even number there are two solutions.
    """
    origin = "\n".join(
        f"set interfaces et-0/0/{n} unit 0 family inet6\nset protocols router-advertisement interface et-0/0/{n}.0\n"
        f"set protocols bgp group all dynamic-neighbor x peer-auto-discovery interface et-0/0/{n}.0"
        for n in range(1, size + 1)
    )
    origin += """
set routing-options autonomous-system 65000
set policy-options as-list any members 1-65535
set interfaces irb unit 1 family inet6 address fc00:1::1/64
set vlans v1 vlan-id 1
set vlans v1 l3-interface irb.1
set protocols bgp fabric-advertise route fc00:1::/64
set protocols bgp group all family inet6 unicast
set protocols bgp group all peer-as-list any
set protocols bgp group all dynamic-neighbor x peer-auto-discovery family inet6 ipv6-nd
"""
    texts = {"origin": origin}
    links = []
    for n in range(1, size + 1):
        text = NODE.format(n=n, asn=65000 + n)
        for port, (group, (imports, exports)) in enumerate(GROUPS.items()):
            bgp = f"set protocols bgp group {group}"
            text += f"set interfaces et-0/0/{port} unit 0 family inet6\n"
            text += f"set protocols router-advertisement interface et-0/0/{port}.0\n"
            text += (
                f"{bgp} family inet6 unicast\n{bgp} peer-as-list any\n{bgp} import {imports}\n{bgp} export {exports}\n"
            )
            text += f"{bgp} dynamic-neighbor x peer-auto-discovery interface et-0/0/{port}.0\n"
            text += f"{bgp} dynamic-neighbor x peer-auto-discovery family inet6 ipv6-nd\n"
        texts[f"n{n}"] = text
        links.append(Cable(End("origin", f"et-0/0/{n}"), End(f"n{n}", "et-0/0/0")))
        links.append(Cable(End(f"n{n}", "et-0/0/1"), End(f"n{n % size + 1}", "et-0/0/2")))
    switches = {name: switch(name, f"{name}.conf", read(text, name)) for name, text in texts.items()}
    return Network(switches, {}, dict.fromkeys(switches, "leaf"), tuple(links), {}, ())


@pytest.mark.parametrize("size", [3, 5])
def test_a_ring_that_never_comes_to_rest(size: int) -> None:
    found = ring(size)
    plain = Routing(found)
    assert len(plain.graph.sessions.up) == 2 * size
    (only,) = plain.prefixes
    assert not plain.states[only].stable
    with pytest.raises(NoRestError):
        Fabric(found).run(only)


def test_a_ring_with_two_solutions_is_no_stable_one_either() -> None:
    """Which of the two it is depends on who is faster; those who decide at the same time go on forever."""
    found = ring(4)
    plain = Routing(found)
    (only,) = plain.prefixes
    assert not plain.states[only].stable
    solutions = set()
    for seed in range(20):
        seen = Fabric(found).run(only, random.Random(seed))
        solutions.add(tuple(seen[f"n{n}"]["et-0/0/0.0"].status == "active" for n in range(1, 5)))
    assert solutions == {(True, False, True, False), (False, True, False, True)}
