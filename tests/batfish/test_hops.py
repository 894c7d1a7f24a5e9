"""Next hops: Batfish's, those of this program's own engine, and the expected ones."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace
from functools import cache
from ipaddress import IPv4Address, IPv4Network

import pytest

from ailb_gen.addresses import Prefix
from ailb_gen.batfish.answers import Row
from ailb_gen.batfish.hops import ExpectedRoutes, batfish_hops, expected_routes, own_hops, ports_text
from ailb_gen.batfish.numbering import Numbering
from ailb_gen.checks.expected import expected_fabric
from ailb_gen.checks.expected_cabling import expected_cabling
from ailb_gen.errors import BatfishError
from ailb_gen.intent.models import Fabric
from ailb_gen.network.fabric import Cable, End, Network
from ailb_gen.routing.rib import Routing
from tests.batfish.recorded import GOOD, changed, intent, uplink
from tests.batfish.recorded import prefix as recorded_prefix
from tests.checks.trees import GOLDEN, fabric_of, network_of
from tests.conftest import SMALL
from tests.conftest import intent_of as fabric_file
from tests.routing.fabrics import prefix

# Rows of `routes`

ONE, TWO, HOST = map(prefix, ("fc00:1:1:1::/64", "fc00:1:2:1::/64", "fd00::1/128"))
CABLES = (
    Cable(End("Leaf1", "et-0/0/0"), End("spine1", "et-0/0/0")),
    Cable(End("Leaf1", "et-0/0/1:3"), End("spine1", "et-0/0/1")),
    Cable(End("leaf2", "et-0/0/0"), End("spine1", "et-0/0/2")),
)
FIRST = IPv4Address("10.128.0.0")
NUMBERING = Numbering(
    {ONE: IPv4Network("10.0.0.0/24"), TWO: IPv4Network("10.0.1.0/24"), HOST: IPv4Network("10.192.0.0/32")},
    {},
    tuple((cable, FIRST + 2 * at, FIRST + 2 * at + 1) for at, cable in enumerate(CABLES)),
)


def small() -> Network:
    """Return a network in which names alone count."""
    like = network_of(GOLDEN / "lab").switches["spine1"]
    return Network(dict.fromkeys(("Leaf1", "leaf2", "spine1"), like), {}, {}, CABLES, {}, ())


def route(node: str, network: str, next_hop: object) -> Row:
    return {"Node": node, "Network": network, "Next_Hop": next_hop, "Protocol": "bgp"}


def hops(*rows: Row) -> dict[tuple[str, Prefix], frozenset[str]]:
    return batfish_hops(small(), NUMBERING, rows)


def test_next_hops_are_the_own_ports_towards_them() -> None:
    assert hops(
        route("leaf1", "10.0.1.0/24", "ip 10.128.0.1"),
        route("leaf1", "10.0.1.0/24", "ip 10.128.0.3"),
        route("leaf1", "10.0.1.0/24", "ip 10.128.0.3"),
        route("leaf1", "10.192.0.0/32", "10.128.0.1"),
        route("leaf2", "10.0.0.0/24", "ip 10.128.0.5"),
        route("spine1", "10.0.0.0/24", "ip 10.128.0.0"),
        route("spine1", "10.0.0.0/24", "ip 10.128.0.2"),
        route("spine1", "10.0.1.0/24", "ip 10.128.0.4"),
    ) == {
        ("Leaf1", TWO): {"et-0/0/0", "et-0/0/1:3"},
        ("Leaf1", HOST): {"et-0/0/0"},
        ("leaf2", ONE): {"et-0/0/0"},
        ("spine1", ONE): {"et-0/0/0", "et-0/0/1"},
        ("spine1", TWO): {"et-0/0/2"},
    }


@pytest.mark.parametrize(
    "next_hop",
    # The far end of another leaf's cable, its own address, another address, none at all.
    ["ip 10.128.0.5", "ip 10.128.0.0", "ip 10.128.0.9", "interface et-0/0/0", "discard", "ip ", None],
)
def test_next_hops_that_are_not_at_the_end_of_an_own_cable(next_hop: object) -> None:
    rows = [route("leaf1", "10.0.1.0/24", next_hop), route("leaf1", "10.0.1.0/24", "ip 10.128.0.1")]
    assert hops(*rows) == {("Leaf1", TWO): {f"({next_hop})", "et-0/0/0"}}


@pytest.mark.parametrize(
    ("node", "network"),
    [("leaf3", "10.0.1.0/24"), ("Leaf1", "10.0.1.0/24"), ("leaf1", "10.0.1.0/25"), ("leaf1", "10.128.0.0/31")],
)
def test_routes_of_nobody_and_to_nothing(node: str, network: str) -> None:
    # Batfish writes all names in small letters.
    assert hops(route(node, network, "ip 10.128.0.1")) == {}


def test_networks_that_are_none() -> None:
    with pytest.raises(BatfishError, match="'fc00::/64' where an IPv4 prefix belongs"):
        hops(route("leaf1", "fc00::/64", "ip 10.128.0.1"))


# Our own


@cache
def routing(name: str) -> Routing:
    return Routing(network_of(GOLDEN / name))


@pytest.mark.parametrize("name", ["lab", "jvd", "brownfield"])
def test_own_hops_are_what_is_in_the_fib(name: str) -> None:
    known = routing(name)
    assert all(switch.balancing.per_packet for switch in known.graph.switches)
    expected = {
        (device, prefix): frozenset(hop.interface.removesuffix(".0") for hop in found)
        for prefix in known.prefixes
        for number, device in enumerate(known.graph.names)
        if (found := known.next_hops(number, prefix))
    }
    assert own_hops(known.graph, known.states) == expected
    assert len(expected) > len(known.prefixes)


def test_own_hops_are_those_of_the_rib_however_packets_are_spread() -> None:
    known = routing("lab")
    switches = {
        name: replace(switch, balancing=replace(switch.balancing, per_packet=False, maximum_ecmp=1))
        for name, switch in known.graph.network.switches.items()
    }
    spread, first = known, Routing(replace(known.graph.network, switches=switches))
    dead = {each: frozenset({each.graph.index["spine2"]}) for each in (spread, first)}
    found = own_hops(spread.graph, spread.after(dead=dead[spread]))
    assert found == own_hops(first.graph, first.after(dead=dead[first]))
    blue = prefix("fc00:1:2:2::/64")
    assert found["stripe1-leaf1", blue] == {"et-0/0/0", "et-0/0/2", "et-0/0/3"}
    assert found["stripe1-leaf1", prefix("fc00:1:2:1::/64")] == {"et-0/0/0"}
    assert not {device for device, _ in found} & {"spine2"}


def test_a_leaf_has_no_next_hop_to_its_own_prefix() -> None:
    found = own_hops(routing("lab").graph, routing("lab").states)
    own = prefix("fc00:1:1:1::/64")
    assert ("stripe1-leaf1", own) not in found
    assert {device: ports for (device, to), ports in found.items() if to == own} == {
        "stripe1-leaf2": {"et-0/0/0"},
        "stripe2-leaf1": {"et-0/0/0"},
        "stripe2-leaf2": {"et-0/0/0"},
        "spine1": {"et-0/0/0"},
        # Backups, over the session of each one's color.
        "spine2": {"et-0/0/0"},
        "spine3": {"et-0/0/0"},
        "spine4": {"et-0/0/0"},
    }
    assert own_hops(routing("lab").graph, {}) == {}


def test_a_switch_without_routes_or_with_one_of_its_own_has_no_next_hops() -> None:
    graph = routing("lab").graph
    lab = graph.network
    first, second = "stripe1-leaf1", "stripe1-leaf2"
    cut = frozenset(at for at, up in enumerate(graph.sessions.up) if up.cable.a.device == first)
    ours = own_hops(graph, Routing(lab, cut, graph).states)
    assert len(cut) == 4
    assert first not in {name for name, _ in ours}
    # The second leaf has a gateway of the first: it hears of the prefix and needs nobody.
    (irb,) = lab.switches[first].ports["irb"].units
    own = lab.switches[second].ports["irb"]
    both = tuple(replace(unit, addresses=(irb.addresses[0], *unit.addresses)) for unit in own.units)
    shared = changed(lab, second, ports={**lab.switches[second].ports, "irb": replace(own, units=both)})
    known = Routing(shared)
    ours = own_hops(known.graph, known.states)
    assert [name for name in lab.switches if (name, irb.addresses[0].prefix) not in ours] == [first, second]


# Expected


def test_what_is_reachable_without_a_spine_or_a_cable() -> None:
    routes = intent(GOOD)
    alone = replace(routes, allowed={known: frozenset({color}) for known, (_, color) in routes.owners.items()})
    first = recorded_prefix(2, 1)
    for spine, ends, backed, pinned in (
        ("", frozenset(), True, True),
        ("spine1", frozenset(), True, False),
        ("spine2", frozenset(), True, True),
        ("", frozenset({uplink(1, 1)}), True, False),
        ("", frozenset({uplink(2, 1)}), True, False),
        ("", frozenset({uplink(2, 2)}), True, True),
        ("spine1", frozenset({uplink(2, 2)}), False, False),
        ("", frozenset({uplink(1, 1), uplink(2, 2)}), False, False),
    ):
        assert routes.reachable("leaf1", first, spine, ends) is backed
        assert alone.reachable("leaf1", first, spine, ends) is pinned


def expected(fabric: Fabric) -> ExpectedRoutes:
    intended = expected_fabric(fabric)
    return expected_routes(intended, expected_cabling(intended))


def small_routes(more: str = "", spines: int = 2) -> ExpectedRoutes:
    return expected(fabric_file(SMALL.replace("spines: 2", f"spines: {spines}") + more).fabric)


@pytest.mark.long
@pytest.mark.parametrize("name", ["lab", "jvd", "jvd-8-uplinks"])
def test_expected_routes_are_those_the_files_of_an_example(name: str) -> None:
    """Rendered by other code from the same intent: cabling.csv, addresses and fabric-advertise on the leaves."""
    routes, network = expected(fabric_of(name)), network_of(GOLDEN / name)
    uplinks: dict[str, dict[str, set[str]]] = defaultdict(lambda: defaultdict(set))
    for cable in network.links:
        uplinks[cable.a.device][cable.color].add(cable.a.port)
    assert routes.uplinks == uplinks
    assert routes.session_ends() == {pair for one in network.links for pair in ((one.a, one.b), (one.b, one.a))}
    spines = sorted(name for name, role in network.roles.items() if role == "spine")
    assert sorted(routes.spines()) == spines
    leaves = {name: one for name, one in network.switches.items() if network.roles[name] == "leaf"}
    owners = {route.prefix: (name, route.color) for name, one in leaves.items() for route in one.routes}
    assert routes.owners == owners
    colors = frozenset(color for _, color in owners.values() if color)
    assert routes.allowed == dict.fromkeys(owners, colors)
    pinned = list(routes.pinned())
    assert len(pinned) == len(owners) * (len(leaves) - 1)
    assert {(leaf, to): ports for leaf, to, ports in pinned} == {
        (leaf, to): frozenset(uplinks[leaf][color])
        for leaf in leaves
        for to, (owner, color) in owners.items()
        if owner != leaf and color
    }
    for spine in spines:
        assert dict(routes.advertised(spine)) == {to: owner for to, (owner, _) in owners.items()}
    # Of several spines any one may be missing, of several links any one.
    assert all(routes.reachable(leaf, to, spine) for leaf in leaves for to in owners for spine in spines)
    assert all(
        routes.reachable(leaf, to, ends=frozenset({cable.a}))
        for leaf in leaves
        for to in owners
        for cable in network.links[:9]
    )


def ports(routes: ExpectedRoutes, leaf: str = "stripe1-leaf1") -> dict[str, list[str]]:
    """Return the uplinks of a leaf by color."""
    return {color: sorted(found) for color, found in routes.uplinks[leaf].items()}


@pytest.mark.parametrize(
    ("more", "spines", "expected"),
    [
        ("", 2, {"green": ["et-0/0/0"], "blue": ["et-0/0/1"]}),
        ("colors: [left, right]\n", 4, {"left": ["et-0/0/0", "et-0/0/2"], "right": ["et-0/0/1", "et-0/0/3"]}),
        # Planes of links take the colors in turn.
        (
            "links_per_spine: 2\n",
            2,
            {"green": ["et-0/0/0"], "red": ["et-0/0/1"], "blue": ["et-0/0/2"], "orange": ["et-0/0/3"]},
        ),
        (
            "links_per_spine: 2\ncolors: [left, right]\n",
            2,
            {"left": ["et-0/0/0", "et-0/0/1"], "right": ["et-0/0/2", "et-0/0/3"]},
        ),
        ("links_per_spine: 3\ncolors: [one]\n", 1, {"one": ["et-0/0/0", "et-0/0/1", "et-0/0/2"]}),
    ],
)
def test_uplinks_by_color(more: str, spines: int, expected: dict[str, list[str]]) -> None:
    routes = small_routes(more, spines)
    assert ports(routes) == expected
    mine = prefix("fc00:1:1:1::/64")
    first = next(iter(expected))
    assert routes.owners[mine] == ("stripe1-leaf1", first)
    assert {leaf: sorted(found) for leaf, to, found in routes.pinned() if to == mine} == dict.fromkeys(
        ["stripe1-leaf2", "stripe2-leaf1", "stripe2-leaf2"], expected[first]
    )
    assert routes.spines() == tuple(f"spine{number + 1}" for number in range(spines))


FOUR = "colors: {{names: [a, b, c, d], backup: {}}}\n"
A, B, C, D = (prefix(f"fc00:1:1:{number}::/64") for number in range(1, 5))


@pytest.mark.parametrize(
    ("backup", "allowed"),
    [
        ("all", ["abcd", "abcd", "abcd", "abcd"]),
        ("none", ["a", "b", "c", "d"]),
        ("{a: b, c: d}", ["ab", "b", "cd", "d"]),
        ("{a: b, b: c, c: d, d: a}", ["ab", "bc", "cd", "ad"]),
        # Handed out in turn, to others than themselves.
        ("[a]", ["a", "ab", "ac", "ad"]),
    ],
)
def test_backups_decide_which_spines_hear_of_a_prefix(backup: str, allowed: list[str]) -> None:
    routes = small_routes(FOUR.format(backup), 4)
    assert ["".join(sorted(routes.allowed[to])) for to in (A, B, C, D)] == allowed
    for spine, color in zip(routes.spines(), "abcd", strict=True):
        heard = {to for to, owner in routes.advertised(spine) if owner == "stripe1-leaf1"}
        assert heard == {to for to, colors in zip((A, B, C, D), allowed, strict=True) if color in colors}
    # Without the spine of its color a prefix is reached over its backups, or not at all.
    for to, color, colors in zip((A, B, C, D), "abcd", allowed, strict=True):
        for spine, other in zip(routes.spines(), "abcd", strict=True):
            assert routes.reachable("stripe2-leaf2", to, spine) is (other != color or len(colors) > 1)


OFF = "overrides: {{{}: {{{}: {{ports: {{{}: {{disabled: true}}}}}}}}}}\n"


@pytest.mark.parametrize(
    ("override", "gone"),
    [
        (("leaves", "stripe1-leaf1", "et-0/0/1"), (End("stripe1-leaf1", "et-0/0/1"), End("spine2", "et-0/0/0"))),
        (("spines", "spine2", "et-0/0/0"), (End("stripe1-leaf1", "et-0/0/1"), End("spine2", "et-0/0/0"))),
        (("spines", "spine1", "et-0/0/3"), (End("stripe2-leaf2", "et-0/0/0"), End("spine1", "et-0/0/3"))),
    ],
)
def test_cables_whose_ports_are_disabled_are_none(override: tuple[str, str, str], gone: tuple[End, End]) -> None:
    routes, whole = small_routes(OFF.format(*override)), small_routes()
    assert whole.session_ends() - routes.session_ends() == {gone, gone[::-1]}
    assert len(routes.cables) == len(whole.cables) - 1 == 7
    assert len(routes.session_ends()) == 14
    (leaf, port), (spine, _) = ((end.device, end.port) for end in gone)
    ((color, _),) = (pair for pair in whole.uplinks[leaf].items() if port in pair[1])
    assert color not in routes.uplinks[leaf]
    assert {to for name, to, found in routes.pinned() if name == leaf and not found} == {
        to for to, (owner, own) in routes.owners.items() if own == color and owner != leaf
    }
    # The spine hears nothing from that leaf, and everything from the others.
    assert dict(routes.advertised(spine)) == {to: owner for to, (owner, _) in routes.owners.items() if owner != leaf}
    assert all(routes.reachable(leaf, to, spine) for to in routes.owners)
    (other,) = set(routes.spines()) - {spine}
    assert not any(routes.reachable(leaf, to, other) for to, (owner, _) in routes.owners.items() if owner != leaf)


def test_a_spine_none_of_whose_cables_is_left() -> None:
    off = {f"et-0/0/{number}": "{disabled: true}" for number in range(4)}
    text = ", ".join(f"{port}: {value}" for port, value in off.items())
    routes = small_routes(f"overrides: {{spines: {{spine1: {{ports: {{{text}}}}}}}}}\n")
    assert routes.spines() == ("spine2",)
    assert list(routes.advertised("spine1")) == []
    assert ports(routes) == {"blue": ["et-0/0/1"]}


def test_up_in_one_color_is_not_down_in_another() -> None:
    """A spine sends its active route alone, green where it has that, and only over sessions of its color."""
    off = OFF.format("leaves", "stripe1-leaf1", "et-0/0/0")
    routes = small_routes(f"links_per_spine: 2\n{off}", 1)
    assert ports(routes) == {"blue": ["et-0/0/1"]}
    assert ports(routes, "stripe1-leaf2") == {"green": ["et-0/0/0"], "blue": ["et-0/0/1"]}
    far = prefix("fc00:1:2:1::/64")
    for ends, reached in (
        (set(), False),
        ({End("stripe1-leaf2", "et-0/0/0")}, True),
        ({End("stripe1-leaf2", "et-0/0/1")}, False),
        ({End("stripe1-leaf1", "et-0/0/1")}, False),
    ):
        assert routes.reachable("stripe1-leaf1", far, ends=frozenset(ends)) is reached
        assert routes.reachable("stripe2-leaf1", far, ends=frozenset(ends)) is True


# Words


@pytest.mark.parametrize(
    ("names", "text"),
    [
        ([], "none"),
        (["et-0/0/1", "et-0/0/0"], "et-0/0/0, et-0/0/1"),
        ([f"p{number}" for number in range(8)], "p0, p1, p2, p3, p4, p5, p6, p7"),
        ([f"p{number}" for number in range(9)], "p0, p1, p2, p3, p4, p5, p6, p7 …"),
    ],
)
def test_some_ports_in_words(names: list[str], text: str) -> None:
    assert ports_text(frozenset(names)) == text
