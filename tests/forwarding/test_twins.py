"""Twins: who can be exchanged, who cannot, and where exchanges lead."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from functools import cache

import numpy as np
import pytest

from ailb_gen.forwarding.baseline import Baseline
from ailb_gen.forwarding.failures import Failure
from ailb_gen.forwarding.twins import Twins
from ailb_gen.network.fabric import Network
from ailb_gen.network.model import Switch
from ailb_gen.routing.rib import Routing
from tests.checks.variants import VARIANTS
from tests.forwarding.examples import advertised, generated, network

LEAF = "stripe1-leaf2"
SHARED_COLORS = VARIANTS["fewer-colors-than-spines"]


def twins_of(found: Network) -> Twins:
    routing = Routing(found)
    return Twins(Baseline(routing, advertised(routing)))


@cache
def example(name: str) -> Twins:
    return twins_of(network(name))


def sizes(twins: Twins) -> list[int]:
    """The numbers of twins, of switches with any."""
    return sorted(count for count in Counter(twins.first).values() if count > 1)


def links(twins: Twins) -> list[Failure]:
    return [Failure("", frozenset({session})) for session in range(len(twins.graph.sessions.up))]


@pytest.mark.parametrize(
    ("name", "expected"),
    [("lab", [4]), ("jvd", [16]), ("jvd-8-uplinks", [16])],
)
def test_leaves_that_differ_by_numbers_are_twins(name: str, expected: list[int]) -> None:
    twins = example(name)
    assert sizes(twins) == expected
    kinds = Counter(twins.representative(failure)[0] for failure in links(twins))
    assert set(kinds.values()) == set(expected)
    # A spine of a color of its own has no twin.
    dead = Failure("", dead=frozenset({twins.graph.index["spine2"]}))
    assert twins.representative(dead) == (replace(dead, name="spine2"), ())


def changed(found: Network, name: str, change: Callable[[Switch], Switch]) -> Network:
    return replace(found, switches={**found.switches, name: change(found.switches[name])})


def one_path(switch: Switch) -> Switch:
    return replace(switch, balancing=replace(switch.balancing, maximum_ecmp=1))


def no_routes(switch: Switch) -> Switch:
    return replace(switch, routes=switch.routes[1:])


def all_exported(switch: Switch) -> Switch:
    return replace(switch, groups=tuple(replace(group, exports=()) for group in switch.groups))


def other_color(switch: Switch) -> Switch:
    return replace(switch, routes=tuple(replace(route, color=route.backup) for route in switch.routes))


@pytest.mark.parametrize("change", [one_path, no_routes, other_color])
def test_a_switch_that_differs_has_no_twin(change: Callable[[Switch], Switch]) -> None:
    twins = twins_of(changed(network("lab"), LEAF, change))
    assert sizes(twins) == [3]
    assert twins.first.count(twins.graph.index[LEAF]) == 1


def test_where_a_leaf_passes_routes_on_nobody_has_a_twin() -> None:
    """Which routes there are may then depend on who speaks first."""
    assert sizes(twins_of(changed(network("lab"), LEAF, all_exported))) == []


def test_who_breaks_ties_between_spines_keeps_these_from_being_twins() -> None:
    """Spines of one color are twins while every leaf takes all paths; the leaves are twins all the same."""
    found = generated(SHARED_COLORS)
    assert sizes(twins_of(found)) == [2, 2, 4]
    assert sizes(twins_of(changed(found, LEAF, one_path))) == [3]


def test_exchanges_lead_back() -> None:
    twins = example("jvd")
    every = np.arange(twins.links.count)
    for failure in links(twins):
        representative, exchanges = twins.representative(failure)
        (session,), (first,) = failure.sessions, representative.sessions
        back = twins.back(every, exchanges)
        assert back[2 * first : 2 * first + 2].tolist() == [2 * session, 2 * session + 1]
        assert sorted(back.tolist()) == every.tolist()
        assert twins.representative(representative) == (representative, ())
