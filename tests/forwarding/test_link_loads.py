"""Loads by the names of links, worked out by hand on the lab."""

from __future__ import annotations

import pytest

from ailb_gen.forwarding.link_loads import advertised, by_link, loads_of
from ailb_gen.forwarding.loads import Links, loads
from ailb_gen.forwarding.patterns import PATTERNS, all_to_all, rails_and_rates
from tests.forwarding.examples import advertised as expected
from tests.forwarding.examples import network, routing


@pytest.mark.parametrize("pattern", PATTERNS)
def test_a_whole_fabric_is_loaded_evenly(pattern: str) -> None:
    found = loads_of(routing("lab"), pattern)
    assert list(found) == [f"{cable.a} - {cable.b}" for cable in network("lab").links]
    assert {round(load, 9) for pair in found.values() for load in pair} == {1.0}


def test_a_failed_link_moves_its_load_to_the_three_others() -> None:
    """What its leaf sent over it goes over the others, a third more each; nothing is left on the link itself."""
    graph = routing("lab").graph
    found = loads_of(routing("lab"), "all-to-all", failed=frozenset({0}))
    cable = graph.sessions.up[0].cable
    assert found[f"{cable.a} - {cable.b}"] == (0.0, 0.0)
    others = [
        pair for name, pair in found.items() if name.startswith(cable.a.device) and name != f"{cable.a} - {cable.b}"
    ]
    assert [tuple(round(load, 6) for load in pair) for pair in others] == [(1.333333, 1.333333)] * 3


def test_a_dead_spine_carries_nothing_and_a_dead_leaf_sends_nothing() -> None:
    graph = routing("lab").graph
    spine = loads_of(routing("lab"), "all-to-all", dead=frozenset({graph.index["spine1"]}))
    assert {pair for name, pair in spine.items() if " - spine1:" in name} == {(0.0, 0.0)}
    leaf = loads_of(routing("lab"), "all-to-all", dead=frozenset({graph.index["stripe1-leaf1"]}))
    assert {pair for name, pair in leaf.items() if name.startswith("stripe1-leaf1:")} == {(0.0, 0.0)}
    assert {
        round(load, 6) for name, pair in leaf.items() if not name.startswith("stripe1-leaf1:") for load in pair
    } == {0.666667}


def test_destinations_are_what_leaves_advertise() -> None:
    for name in ("lab", "brownfield"):
        found = advertised(routing(name))
        assert {device: sorted(row) for device, row in expected(routing(name)).items()} == {
            device: list(row) for device, row in found.items()
        }


def test_names_go_with_the_sessions_of_the_arrays() -> None:
    found = routing("lab")
    load, _ = loads(
        Links(found),
        found.states.__getitem__,
        advertised(found),
        all_to_all(rails_and_rates(network("lab"), found.graph.index)[0], len(found.graph.names)),
    )
    rows = by_link(found.graph, load)
    for number, session in enumerate(found.graph.sessions.up):
        assert rows[f"{session.cable.a} - {session.cable.b}"] == (load[2 * number], load[2 * number + 1])
