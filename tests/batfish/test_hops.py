"""Next hops: Batfish's, those of this program's own engine, and the expected ones."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from ipaddress import IPv4Address, IPv4Network

import pytest

from ailb_gen.addresses import Prefix
from ailb_gen.batfish.answers import Row
from ailb_gen.batfish.hops import batfish_hops, own_hops
from ailb_gen.batfish.numbering import Numbering
from ailb_gen.errors import BatfishError
from ailb_gen.network.fabric import Cable, End, Network
from ailb_gen.routing.rib import Routing
from tests.batfish.recorded import changed
from tests.checks.trees import GOLDEN, network_of
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
    with pytest.raises(BatfishError, match="'fc00::/64' instead of an IPv4 prefix"):
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
