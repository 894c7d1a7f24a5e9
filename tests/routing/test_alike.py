"""Routes that follow from those of an alike prefix are those that are computed for the prefix itself."""

from __future__ import annotations

from unittest.mock import patch

import pytest

from ailb_gen.addresses import Prefix
from ailb_gen.routing import rib
from ailb_gen.routing.alike import exchanged, is_symmetric
from ailb_gen.routing.graph import Graph
from ailb_gen.routing.rib import Routing
from ailb_gen.routing.solve import solve
from tests.checks.edited import LEAF, SPINE, edited, network
from tests.forwarding.examples import network as example
from tests.routing.fabrics import Case, find_in_random_fabrics


def compare(graph: Graph) -> int:
    """Compare every prefix of every kind with its own routes; return how many followed from others."""
    routing, count = Routing(graph.network, graph=graph), 0
    assert sorted(prefix for kind in routing.kinds for _, prefix in kind) == list(routing.prefixes)
    for (owner, first), *others in routing.kinds:
        state = solve(graph, first)
        for other, prefix in others if others and is_symmetric(graph, state, owner) else ():
            assert exchanged(graph, state, other, prefix) == solve(graph, prefix)
            count += 1
    found = routing.states
    assert list(found) == list(routing.prefixes) and len(found) == len(routing.prefixes)
    assert dict(found) == {prefix: solve(graph, prefix) for prefix in routing.prefixes}
    return count


@pytest.mark.parametrize("name", ["lab", "jvd", "brownfield", "jvd-8-uplinks", "mixed"])
def test_the_examples_whole_and_with_failures(name: str) -> None:
    graph = Graph(example(name))
    assert compare(graph)
    assert compare(graph.without(frozenset({0})))
    assert compare(graph.without(graph.sessions_of([0])))


@pytest.mark.parametrize(
    ("device", "old", "new"),
    [
        (LEAF, "                backup-color all-colors;\n", ""),
        (SPINE, "                    interface et-0/0/0.0;\n", ""),
        (LEAF, "            multipath {\n                multiple-as;\n            }\n", ""),
        (SPINE, "            multipath {\n                multiple-as;\n            }\n", ""),
        (SPINE, "                aigp;\n", ""),
    ],
)
def test_a_switch_that_differs(device: str, old: str, new: str) -> None:
    compare(Graph(network(edited((device, old, new)))))


@pytest.mark.long
def test_random_fabrics() -> None:
    def compare_both(case: Case) -> int:
        graph = Graph(case.network)
        return compare(graph) + compare(graph.without(case.failed_sessions(graph)))

    find_in_random_fabrics(25, compare_both)


def test_states_of_kinds_that_meet_a_condition() -> None:
    graph = Graph(example("jvd"))
    states = Routing(graph.network, graph=graph).states
    first = next(prefix for prefix in states if states.first(prefix) != prefix)
    found = [state.prefix for state in states.where(lambda state: state.prefix == states.first(first))]
    assert found == [prefix for prefix in states if states.first(prefix) == states.first(first)]
    assert len(found) > 1 and first in states and Prefix(0, 128) not in states


def test_a_kind_that_is_none_is_an_error() -> None:
    """Prefixes of different colors, taken for one kind."""
    graph = Graph(example("lab"))
    routing = Routing(graph.network, graph=graph)
    rows = [pair for kind in routing.kinds for pair in kind if len(kind) > 1]
    with (
        patch.object(rib, "kinds", lambda *_: [[rows[0], rows[-1]]]),
        pytest.raises(AssertionError, match=r"should be alike are not: .* has other routes"),
    ):
        Routing(graph.network, graph=graph).settle()
