"""One packet's way: longest prefix first, a next hop by hash, loops and black holes."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ailb_gen.forwarding.trace import MAX_HOPS, Hop, trace
from ailb_gen.network.fabric import Network
from ailb_gen.network.model import Address
from ailb_gen.routing.rib import NextHop, Routing
from tests.forwarding.examples import address, network, routing
from tests.forwarding.test_delivery import made
from tests.routing.fabrics import Case, cases, prefix, random_fabrics

OWN, FAR = "stripe1-leaf1", "stripe2-leaf2"
THIRD = prefix("fc00:2:2:3::/64")


def way(found: Routing, start: str, target: str, flow: int = 0) -> tuple[list[str], str]:
    done = trace(found, found.graph.index[start], address(target), flow)
    return [hop.device for hop in done.hops], done.problem


def test_prefix_three_goes_over_spine_three() -> None:
    found = routing("lab")
    done = trace(found, found.graph.index[OWN], address("fc00:2:2:3::17"))
    assert done.problem == ""
    assert done.hops == (
        Hop(OWN, "", THIRD, (NextHop("et-0/0/2.0", "spine3", "et-0/0/0.0", "red"),)),
        Hop("spine3", "et-0/0/0.0", THIRD, (NextHop("et-0/0/3.0", FAR, "et-0/0/2.0", "red"),)),
        Hop(FAR, "et-0/0/2.0", THIRD),
    )


def test_a_packet_that_is_there_already() -> None:
    found = routing("lab")
    done = trace(found, found.graph.index[OWN], address("fc00:1:1:1::17"))
    assert done.hops == (Hop(OWN, "", prefix("fc00:1:1:1::/64")),)


def test_a_hash_picks_one_of_the_ways_left() -> None:
    """Color 3 of the destination has lost its spine: 3 others are left, and all of them are taken by some flow."""
    found = routing("lab", f"{OWN} spine3")
    taken = Counter(way(found, OWN, "fc00:2:2:3::17", flow)[0][1] for flow in range(300))
    assert taken.keys() == {"spine1", "spine2", "spine4"}
    # A fair choice gives 100 with a standard deviation of 8.
    assert all(60 < count < 140 for count in taken.values())
    assert way(found, OWN, "fc00:2:2:3::17", 5) == way(found, OWN, "fc00:2:2:3::17", 5)


def test_switches_hash_on_their_own() -> None:
    """With one hash for all, flows that one switch sends one way would all go the same way at the next."""
    found = routing("lab", f"{OWN} spine3", "stripe1-leaf2 spine3")
    pairs = [
        (way(found, OWN, "fc00:2:2:3::17", n)[0][1], way(found, "stripe1-leaf2", "fc00:2:2:3::17", n)[0][1])
        for n in range(200)
    ]
    assert len(set(pairs)) == 9


def test_no_route() -> None:
    found = routing("lab")
    done = trace(found, found.graph.index[OWN], address("2001:db8::1"))
    assert (done.hops, done.problem) == ((Hop(OWN, "", None),), f"no route at {OWN}")


def test_the_longest_prefix_decides() -> None:
    """One leaf has a wider prefix, too, which is not advertised."""
    found = Routing(with_address(network("lab"), FAR, "fc00:2:2::1/48"))
    wide = prefix("fc00:2:2::/48")
    start = found.graph.index[FAR]
    assert found.longest_match(start, address("fc00:2:2:3::17")) == THIRD
    assert found.longest_match(start, address("fc00:2:2:9::17")) == wide
    assert way(found, OWN, "fc00:2:2:9::17") == ([OWN], f"no route at {OWN}")


def with_address(found: Network, device: str, text: str) -> Network:
    """Give the first IRB of a switch another address."""
    value, _, length = text.partition("/")
    switch = found.switches[device]
    irb = switch.ports["irb"]
    own = address(value)
    wide = prefix(f"fc00:2:2::/{length}")
    units = (replace(irb.units[0], addresses=(*irb.units[0].addresses, Address(own, wide))), *irb.units[1:])
    changed = replace(switch, ports={**switch.ports, "irb": replace(irb, units=units)})
    return replace(found, switches={**found.switches, device: changed})


def test_a_loop_ends() -> None:
    """Two leaves that take each other's spine for the way: 16 hops, then it is a loop."""
    graph = routing("lab").graph
    ways = {OWN: ("spine1",), "spine1": (FAR,), FAR: ("spine2",), "spine2": (OWN,)}
    found = Routing(graph.network, graph=graph)
    state = made(graph, ways, owner="stripe2-leaf1")
    found.solved[state.prefix] = state
    passed, problem = way(found, OWN, "fc00:1:1:1::17")
    assert problem == f"forwarding loop: more than {MAX_HOPS} hops"
    assert passed == [OWN, "spine1", FAR, "spine2"] * 4


@pytest.mark.long
@random_fabrics(40)
@given(cases(), st.integers(0, 9))
def test_every_hop_is_in_the_forwarding_table(case: Case, flow: int) -> None:
    found = Routing(case.network)
    graph = found.graph
    for which in found.prefixes:
        for start, name in enumerate(graph.names):
            done = trace(found, start, which.value, flow)
            assert done.hops[0].device == name
            for hop, following in zip(done.hops, [*done.hops[1:], None], strict=True):
                device = graph.index[hop.device]
                assert hop.prefix == found.longest_match(device, which.value)
                if hop.prefix is None:
                    assert done.problem == f"no route at {hop.device}"
                elif following is not None:
                    assert list(hop.ways) == list(found.next_hops(device, hop.prefix))
                    assert hop.ways[hop.taken].peer == following.device
                else:
                    assert hop.ways == () and hop.prefix in graph.direct[device]
