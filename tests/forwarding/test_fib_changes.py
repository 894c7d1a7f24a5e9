"""FIB changes: put on top of the FIBs without failures they give those that are computed anew."""

from __future__ import annotations

import random
from functools import cache

import pytest

from ailb_gen.forwarding.baseline import Baseline
from ailb_gen.forwarding.failures import Failure
from ailb_gen.forwarding.fib_changes import Entry, FibChanges, Row, entries, entry_of
from ailb_gen.routing.fib import node_of
from ailb_gen.routing.graph import Graph
from ailb_gen.routing.rib import Routing
from tests.checks.edited import LEAF, SPINE, edited, network
from tests.forwarding.examples import advertised, routing

BACKUP = "                backup-color all-colors;\n"
Fib = dict[int, dict[int, Entry]]


def decoded(row: Row) -> dict[int, dict[int, Entry]]:
    """The changes of a row by node and number of the prefix."""
    found: dict[int, dict[int, Entry]] = {}
    flat, _ = row
    for at in range(0, len(flat), 3):
        node, entry, steps = flat[at : at + 3]
        assert isinstance(node, int) and isinstance(steps, list) and (entry is None or isinstance(entry, tuple))
        number = 0
        for step in steps:
            number += step
            assert number not in found.setdefault(node, {})
            found[node][number] = entry
    return found


@cache
def example(name: str) -> tuple[Routing, FibChanges]:
    found = routing(name)
    return found, FibChanges(Baseline(found, advertised(found)), found.prefixes)


def compare(found: Routing, changes: FibChanges, failure: Failure) -> None:
    graph, changed = found.graph, decoded(changes.after(failure))
    sessions = failure.sessions | {entry.session for device in failure.dead for entry in graph.adjacencies[device]}
    anew = Routing(graph.network, sessions, graph)
    for number, prefix in enumerate(found.prefixes):
        before = entries(graph, found.states[prefix])
        for device in range(len(graph.names)):
            if device in failure.dead:
                continue
            alone, shared = graph.alone(device), graph.class_of[device]
            layers = (changed.get(alone, {}), before, changed.get(shared, {}), before)
            keys = (number, alone, number, shared)
            seen = next((layer[key] for layer, key in zip(layers, keys, strict=True) if key in layer), None)
            state = anew.states[prefix]
            assert seen == entry_of(graph, state, node_of(graph, state, device)), (failure, prefix, graph.names[device])


@pytest.mark.parametrize("name", ["lab", "brownfield"])
def test_every_link_and_spine(name: str) -> None:
    found, changes = example(name)
    graph = found.graph
    spines = [device for device, role in enumerate(map(graph.network.roles.get, graph.names)) if role == "spine"]
    failures = [Failure("", frozenset({at})) for at in range(len(graph.sessions.up))]
    failures += [Failure("", dead=frozenset({device})) for device in spines]
    failures += [Failure("", frozenset(entry.session for entry in graph.adjacencies[0]))]
    for failure in failures:
        compare(found, changes, failure)


def test_some_links_of_a_fabric_with_parallel_links() -> None:
    found, changes = example("jvd-8-uplinks")
    for at in random.Random(1).sample(range(len(found.graph.sessions.up)), 4):
        compare(found, changes, Failure("", frozenset({at})))


def test_a_damaged_fabric_and_prefixes_without_traffic() -> None:
    """A leaf without backups and a spine without a session, and the prefixes of one leaf that nobody sends to."""
    texts = edited((LEAF, BACKUP, ""), (SPINE, "                    interface et-0/0/0.0;\n", ""))
    found = Routing(network(texts))
    wanted = dict(list(advertised(found).items())[1:])
    changes = FibChanges(Baseline(found, wanted), found.prefixes)
    assert len(changes.others) == 4
    for at in range(len(found.graph.sessions.up)):
        compare(found, changes, Failure("", frozenset({at})))


def test_a_prefix_that_nobody_asked_for_has_no_number() -> None:
    found, _ = example("lab")
    changes = FibChanges(Baseline(found, advertised(found)), found.prefixes[:3])
    flat, doubtful = changes.after(Failure("", frozenset({0})))
    assert doubtful == []
    assert {number for row in decoded((flat, doubtful)).values() for number in row} <= {0, 1, 2}
    assert Graph(found.graph.network).names == found.graph.names
