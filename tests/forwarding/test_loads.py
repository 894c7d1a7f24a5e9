"""Loads of links: worked out by hand on the lab, conserved on random fabrics."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given

from ailb_gen.forwarding.loads import Links, by_device, loads, spread
from ailb_gen.forwarding.patterns import all_to_all, permutation, rails_and_rates, ring
from ailb_gen.routing.fib import held
from ailb_gen.routing.rib import Routing
from tests.forwarding.examples import LAB_LEAVES, advertised, all_pairs, by_name, routing
from tests.forwarding.slow import Slow
from tests.routing.fabrics import Case, cases, random_fabrics

if TYPE_CHECKING:
    from collections.abc import Callable

    from ailb_gen.addresses import Prefix
    from ailb_gen.forwarding.loads import Volumes
    from ailb_gen.forwarding.patterns import Rails
    from ailb_gen.routing.solve import State

SPINES = ("spine1", "spine2", "spine3", "spine4")
OWN, *OTHERS = LAB_LEAVES


def test_links_have_two_directions() -> None:
    """`of` maps a leaf's positions to even numbers, a spine's to the odd ones of the same cables."""
    found = routing("lab")
    links = Links(found)
    assert links.count == 2 * 16
    for device, name in enumerate(found.graph.names):
        for at, entry in enumerate(found.graph.adjacencies[device]):
            assert links.of[device][at] == 2 * entry.session + (name in SPINES)
    for number, members in enumerate(links.members):
        assert set(members) == set(found.graph.classes[number].members)
        for row, device in zip(links.matrix[number], members, strict=True):
            assert row.tolist() == links.of[device].tolist()


def test_shares_of_parallel_links() -> None:
    """Two links between each leaf and spine: each has half of what goes to the peer; jvd has one, so all of it."""
    for name, share in (("jvd-8-uplinks", 0.5), ("jvd", 1.0)):
        links = Links(routing(name))
        peers, shares = links.peers[links.graph.index["spine1"]]
        assert len(peers) == len(links.graph.adjacencies[links.graph.index["spine1"]])
        assert set(shares.tolist()) == {share}


def test_all_to_all_on_the_lab() -> None:
    """4 leaves send 1 to each of 3 others over 4 colors: 3 / 4 on every link up, and as much down."""
    found = routing("lab")
    load, lost = loads(Links(found), found.states.__getitem__, advertised(found), all_pairs(found))
    assert lost == 0
    assert set(by_name(found, load).values()) == {0.75}


def test_one_link_fails_on_the_lab() -> None:
    """Color 2 of leaf 1 moves to the 3 other spines.

    It carried 1/4 from each of the 3 other leaves and as much to them: 3/4 move to 3 links, 1/4 each, to and from
    leaf 1. Each other leaf moves 1/4, so 1/12 on each link. Color 2 between the others stays: 2 of 1/4.
    """
    found = routing("lab", f"{OWN} spine2")
    load, lost = loads(Links(found), found.states.__getitem__, advertised(found), all_pairs(found))
    assert lost == 0
    expected = {}
    for spine in SPINES:
        for leaf in LAB_LEAVES:
            own, other = (0.0, 0.5) if spine == "spine2" else (1.0, 0.75 + 1 / 12)
            expected[f"{leaf} {spine}"] = expected[f"{spine} {leaf}"] = round(own if leaf == OWN else other, 9)
    assert by_name(found, load) == expected


def test_what_has_no_way_is_lost() -> None:
    """Leaf 1 is cut off: the 3 volumes to it and its own 3 are lost, 3 times 2 arrive over 2 hops."""
    found = routing("lab", *(f"{OWN} {spine}" for spine in SPINES))
    load, lost = loads(Links(found), found.states.__getitem__, advertised(found), all_pairs(found))
    assert lost == pytest.approx(6)
    assert load.sum() == pytest.approx(12)
    assert by_name(found, load)["stripe2-leaf1 spine3"] == 0.5


def test_loads_by_device() -> None:
    """One leaf sends 8 to another one: 2 out of each of its uplinks, 2 into each of the other's."""
    found = routing("lab")
    links = Links(found)
    matrix = np.zeros((8, 8))
    one, two = found.graph.index[OWN], found.graph.index["stripe2-leaf2"]
    matrix[one, two] = 8.0
    load, _ = loads(links, found.states.__getitem__, advertised(found), matrix)
    found_by = by_device(links, [one, two], load)
    assert [out.tolist() for out, _ in found_by.values()] == [[2.0] * 4, [0.0] * 4]
    assert [into.tolist() for _, into in found_by.values()] == [[0.0] * 4, [2.0] * 4]


def test_a_load_is_taken_back_by_its_negative() -> None:
    found = routing("lab")
    links = Links(found)
    state = next(iter(found.states.values()))
    load, demand = np.zeros(links.count), np.arange(8.0)
    spread(links, state, demand, load)
    assert load.any()
    spread(links, state, demand, load, -1.0)
    assert not load.any()


@pytest.mark.parametrize("pattern", [all_to_all, ring, permutation])
@pytest.mark.parametrize("name", ["lab", "jvd", "jvd-8-uplinks"])
def test_collectives_load_a_clean_fabric_evenly(name: str, pattern: Callable[[Rails, int], Volumes]) -> None:
    """The promise of RLB: with one queue pair per color, max/mean is 1.000 in each direction of each tier."""
    found = routing(name)
    graph = found.graph
    matrix = pattern(rails_and_rates(graph.network, graph.index)[0], len(graph.names))
    load, lost = loads(Links(found), found.states.__getitem__, advertised(found), matrix)
    assert lost == 0
    assert load.sum() == pytest.approx(2 * matrix.sum())
    for tier in (load[0::2], load[1::2]):
        assert f"{tier.max() / tier.mean():.3f}" == "1.000"


@pytest.mark.long
@random_fabrics(40)
@given(cases())
def test_random_fabrics(case: Case) -> None:
    found = Routing(case.network)
    for prefix, state in found.states.items():
        check_that_volume_is_conserved(found, prefix, state)
    check_against_packets_followed_one_by_one(found)


def check_that_volume_is_conserved(found: Routing, prefix: Prefix, state: State) -> None:
    """What comes into a device and starts there leaves it, ends there, or is lost there: over all devices, `lost`."""
    graph, links = found.graph, Links(found)
    demand = np.arange(1.0, len(graph.names) + 1)
    load = np.zeros(links.count)
    lost = spread(links, state, demand, load)
    dropped = 0.0
    for device in range(len(graph.names)):
        out, into = load[links.of[device]].sum(), load[links.of[device] ^ 1].sum()
        rest = demand[device] + into - out
        local = held(graph, state, device).local
        assert abs(rest) < 1e-9 or local or not found.next_hops(device, prefix)
        dropped += 0.0 if local else rest
    assert abs(lost - dropped) < 1e-9


def check_against_packets_followed_one_by_one(found: Routing) -> None:
    links, wanted = Links(found), advertised(found)
    slow = Slow(found.graph, wanted)
    assert slow.loads_before is not None
    # The slow computation gives every device a volume of 1 for all others together.
    load, _ = loads(links, found.states.__getitem__, wanted, all_pairs(found) / max(1, len(wanted) - 1))
    for device, row in enumerate(found.graph.adjacencies):
        for at in range(len(row)):
            assert abs(load[links.of[device][at]] - slow.loads_before.get((device, at), 0.0)) < 1e-9
