"""Loads of prefixes that are alike equal those that are computed prefix by prefix."""

from __future__ import annotations

import numpy as np
import pytest

from ailb_gen.forwarding.alike import loads_alike
from ailb_gen.forwarding.link_loads import advertised
from ailb_gen.forwarding.loads import Links, loads
from ailb_gen.routing.alike import is_symmetric, kinds
from ailb_gen.routing.graph import Graph
from ailb_gen.routing.rib import Routing
from tests.checks.edited import LEAF, SPINE, edited, network
from tests.forwarding.examples import all_pairs
from tests.forwarding.examples import network as example
from tests.routing.fabrics import Case, find_in_random_fabrics


def compare(graph: Graph, failed: frozenset[int]) -> int:
    """Compare both ways of adding up loads, also with the failures in place; return how many kinds were symmetric."""
    plain, alike = Routing(graph.network, failed, graph), Routing(graph.network, graph=graph.without(failed))
    destinations = advertised(Routing(graph.network, graph=graph))
    matrix = np.random.default_rng(1).random((len(graph.names), len(graph.names)))
    np.fill_diagonal(matrix, 0.0)
    load, lost = loads(Links(plain), plain.state, destinations, matrix)
    found, missing = loads_alike(alike, Links(alike), destinations, matrix)
    np.testing.assert_allclose(found, load, atol=1e-9)
    assert missing == pytest.approx(lost)
    rows = list(kinds(alike.graph, destinations))
    pairs = sorted((device, prefix) for device, prefixes in destinations.items() for prefix in prefixes)
    assert sorted(pair for row in rows for pair in row) == pairs
    return sum(len(row) > 1 and is_symmetric(alike.graph, alike.state(row[0][1]), row[0][0]) for row in rows)


@pytest.mark.parametrize("name", ["lab", "jvd", "brownfield", "jvd-8-uplinks", "mixed"])
def test_the_examples_whole_and_with_failures(name: str) -> None:
    graph = Graph(example(name))
    assert compare(graph, frozenset())
    assert compare(graph, frozenset({0}))
    spine = graph.index["spine1" if "spine1" in graph.index else graph.names[-1]]
    assert compare(graph, graph.sessions_of([spine]))
    assert compare(graph, graph.sessions_of([0]))


def test_volumes_are_added_up_in_blocks_of_any_size(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ailb_gen.forwarding.alike.BLOCK", 40)
    assert compare(Graph(example("lab")), frozenset())


def test_a_leaf_that_differs_is_of_another_kind() -> None:
    texts = edited(
        (LEAF, "                backup-color all-colors;\n", ""),
        (SPINE, "                    interface et-0/0/0.0;\n", ""),
    )
    graph = Graph(network(texts))
    for number in range(0, len(graph.sessions.up), 3):
        compare(graph, frozenset({number}))


@pytest.mark.long
def test_random_fabrics() -> None:
    def compare_failed(case: Case) -> int:
        graph = Graph(case.network)
        return compare(graph, case.failed_sessions(graph))

    find_in_random_fabrics(25, compare_failed)


def test_a_kind_that_is_none_is_an_error() -> None:
    """Prefixes of different colors, taken for one kind."""
    found = Routing(example("lab"))
    wanted = advertised(found)
    mixed = [[(device, row[device % 2]) for device, row in wanted.items()]]
    with pytest.raises(AssertionError, match=r"should be alike are not: .* loads other links"):
        loads_alike(found, Links(found), wanted, all_pairs(found), mixed)


def test_traffic_of_one_pattern_arrives_as_before() -> None:
    found = Routing(example("lab"))
    matrix = all_pairs(found)
    one, two = (
        loads(Links(found), found.state, advertised(found), matrix),
        loads_alike(found, Links(found), advertised(found), matrix),
    )
    assert np.array_equal(one[0], two[0]) and one[1] == two[1] == 0.0
