"""`routing` against the second control plane: every path of every prefix at every device of random fabrics."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import pytest
from hypothesis import given, settings

from ailb_gen.junos.reader import read
from ailb_gen.network.fabric import Cable
from ailb_gen.network.model import Group, Switch
from ailb_gen.network.switch import switch
from ailb_gen.routing.graph import Graph
from ailb_gen.routing.rib import Path, Routing
from tests.conftest import examples
from tests.routing.fabrics import Case, cases, random_fabrics
from tests.routing.naive import Fabric, Seen, solutions
from tests.routing.naive_policy import Route
from tests.routing.text import curly_text, set_text

# Kinds of reasons: the rest of the text names communities and policies.
KINDS = ("AS path loop", "color mismatch", "rejected by")
counts: Counter[str] = Counter()


def as_seen(path: Path) -> Seen:
    """Turn what `routing` says of a path into the words of the second control plane."""
    reason = next((kind for kind in KINDS if path.reason.startswith(kind)), path.reason)
    route = path.route
    attributes = (route.as_path, route.communities, route.aigp, route.local_preference, route.med, route.protocol)
    return Seen(path.peer, path.group, path.status, reason, Route(*attributes))


def compare(case: Case) -> None:
    graph = Graph(case.network)
    cables: list[Cable] = [session.cable for session in graph.sessions.up]
    fabric = Fabric(case.network, case.failed)
    assert cables == fabric.up
    failed = frozenset(number for number, cable in enumerate(cables) if cable in case.failed)
    # Failures as positions of a graph's devices, and as a graph of its own.
    for routing in (Routing(case.network, failed, graph), Routing(case.network, graph=graph.without(failed))):
        compare_routes(routing, fabric)


def compare_routes(routing: Routing, fabric: Fabric) -> None:
    for prefix in routing.prefixes:
        counts["prefixes"] += 1
        expected = solutions(fabric, prefix)
        if expected is None:
            counts["ambiguous"] += 1
            continue
        assert routing.states[prefix].stable
        for device, name in enumerate(routing.graph.names):
            paths = routing.paths(device, prefix)
            assert {path.interface: as_seen(path) for path in paths} == expected[name], (name, str(prefix))
            hops = {hop.interface for hop in routing.next_hops(device, prefix)}
            assert hops - {""} == fabric.next_hops(name, prefix, expected[name]) - {""}, (name, str(prefix))


@pytest.mark.long
@settings(max_examples=examples(60))
@given(cases())
def test_what_is_written_reads_back(case: Case) -> None:
    """The random switches are what their text says, in both notations: the text is compared with, not only the data."""
    for name, expected in case.network.switches.items():
        for text in (set_text(expected), curly_text(expected)):
            found = switch(name, expected.file, read(text, expected.file))
            assert without_places(found) == expected


def without_places(found: Switch) -> Switch:
    """Leave out what tells only where something stands."""
    groups = tuple(without_lines(group) for group in found.groups)
    return replace(found, groups=groups, sections=frozenset(), last_line=0)


def without_lines(group: Group) -> Group:
    discoveries = (
        replace(found, interfaces=tuple((name, 0) for name, _ in found.interfaces)) for found in group.discoveries
    )
    return replace(group, discoveries=tuple(discoveries))


@pytest.mark.long
@random_fabrics(250)
@given(cases())
def test_random_fabrics(case: Case) -> None:
    compare(case)


@pytest.mark.long
def test_few_were_ambiguous() -> None:
    assert counts["prefixes"] > 0
    assert counts["ambiguous"] < counts["prefixes"] * 0.02, counts
