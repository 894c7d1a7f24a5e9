"""BIRD and kernels against `routing` on random fabrics, with every mistake that files can have."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ailb_gen.routing.graph import Graph
from ailb_gen.routing.rib import Routing
from tests.lab.bird.compare import differences
from tests.lab.bird.twin import Twin, needs_bird
from tests.routing.fabrics import Case, cases, random_fabrics

PATIENCE_S = 15.0
# Fabrics that run at the same time: they mostly wait.
TOGETHER = 4
counts: Counter[str] = Counter()


@pytest.fixture(scope="module")
def twin() -> Iterator[Twin]:
    running = Twin()
    yield running
    running.close()


def routing_of(case: Case) -> Routing:
    graph = Graph(case.network)
    failed = frozenset(number for number, one in enumerate(graph.sessions.up) if one.cable in case.failed)
    return Routing(case.network, failed, graph)


def compare(twin: Twin, group: list[Case]) -> None:
    tags = [f"x{number}" for number in range(len(group))]
    for tag, case in zip(tags, group, strict=True):
        twin.ask("build", tag, case.network)
    try:
        translations = {tag: twin.ask("start", tag) for tag in tags}
        for tag, case in zip(tags, group, strict=True):
            for cable in case.failed:
                twin.ask("cable", tag, (cable, False))
        left = {tag: routing_of(case) for tag, case in zip(tags, group, strict=True)}
        found: dict[str, list[str]] = {}
        until = time.monotonic() + PATIENCE_S
        while left and time.monotonic() < until:
            for tag, routing in list(left.items()):
                found[tag] = differences(routing, translations[tag], twin.ask("measure", tag))
                if not found[tag]:
                    del left[tag]
            time.sleep(0.1)
        assert not left, "\n".join(line for tag in left for line in found[tag][:20])
    finally:
        for tag in tags:
            twin.ask("stop", tag)


@needs_bird
@pytest.mark.long
@given(st.lists(cases(), min_size=TOGETHER, max_size=TOGETHER))
@random_fabrics(8)
def test_random_fabrics_route_as_computed(twin: Twin, group: list[Case]) -> None:
    compare(twin, group)
