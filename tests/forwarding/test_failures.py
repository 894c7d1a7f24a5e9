"""Failures computed by what they touch, against everything computed again: examples and random fabrics."""

from __future__ import annotations

import random
from collections import Counter
from dataclasses import replace
from functools import cache

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ailb_gen.forwarding.baseline import Baseline
from ailb_gen.forwarding.failures import Failure, Impact, assess
from ailb_gen.routing.graph import Graph
from ailb_gen.routing.rib import Routing, removed_positions
from ailb_gen.routing.solve import solve
from tests.checks.trees import GOLDEN, network_of
from tests.forwarding.examples import advertised
from tests.forwarding.slow import Compared, Destinations, Slow, same_routes
from tests.routing.fabrics import Case, cases, random_fabrics
from tests.routing.naive import Fabric, solutions

EXAMPLES = ("lab", "jvd", "jvd-8-uplinks", "mixed", "brownfield", "static")
counts: Counter[str] = Counter()


@cache
def example(name: str) -> tuple[Graph, Baseline, Slow]:
    routing = Routing(network_of(GOLDEN / name))
    wanted = advertised(routing)
    return routing.graph, Baseline(routing, wanted), Slow(routing.graph, wanted)


def differences(found: Impact, expected: Compared, delivers: bool = True) -> dict[str, object]:
    """Return in what a result differs; what is lost says nothing where not everything arrived before."""
    lost = [(device, prefix) for device, prefix, _ in found.lost]
    rows: dict[str, tuple[object, object]] = {
        "moved": (found.moved, expected.moved),
        "strayed": (sorted(found.strayed), sorted(expected.strayed)),
    }
    if delivers:
        rows["lost"] = (sorted(lost), sorted(expected.lost))
        assert all(problem for _, _, problem in found.lost)
    if expected.worst is not None:
        rows["worst"] = (round(found.worst, 9), round(expected.worst, 9))
    return {name: pair for name, pair in rows.items() if pair[0] != pair[1]}


@pytest.mark.sampled(3, 6)
@pytest.mark.parametrize("name", EXAMPLES)
def test_links_of_examples(name: str) -> None:
    graph, baseline, slow = example(name)
    links = range(len(graph.sessions.up))
    source = random.Random(name)
    many = 8 if len(links) <= 16 else 2
    chosen = [frozenset(source.sample(links, size)) for size in (1, 2, 3) for _ in range(many)]
    for sessions in chosen:
        failure = Failure("some links", sessions)
        assert not differences(assess(baseline, failure), slow.compare(failure)), sessions


@pytest.mark.parametrize("name", EXAMPLES)
def test_spines_of_examples(name: str) -> None:
    graph, baseline, slow = example(name)
    spines = [device for device in range(len(graph.names)) if device not in slow.destinations]
    links = random.Random(name).sample(range(len(graph.sessions.up)), 2)
    failures = [Failure("a spine", dead=frozenset({spine})) for spine in spines]
    failures += [Failure("two spines", dead=frozenset(spines[:2]))]
    failures += [Failure("a spine and links", frozenset(links), frozenset(spines[:1]))]
    for failure in failures:
        assert not differences(assess(baseline, failure), slow.compare(failure)), failure


@st.composite
def limited(draw: st.DrawFn) -> Case:
    """Give a random fabric whose switches hold different numbers of next hops."""
    case: Case = draw(cases())
    switches = {}
    for name, switch in case.network.switches.items():
        most = draw(st.sampled_from([16, 16, 2, 1]))
        switches[name] = replace(switch, balancing=replace(switch.balancing, maximum_ecmp=most))
    return Case(replace(case.network, switches=switches), frozenset())


@st.composite
def failures_of(draw: st.DrawFn, graph: Graph, wanted: Destinations) -> Failure:
    links = st.sets(st.sampled_from(range(len(graph.sessions.up))), max_size=3) if graph.sessions.up else st.just(set())
    spines = [device for device in range(len(graph.names)) if device not in wanted]
    dead = draw(st.sets(st.sampled_from(spines), max_size=2)) if spines and draw(st.integers(0, 3)) == 3 else set()
    return Failure("some", frozenset(draw(links)), frozenset(dead))


@pytest.mark.long
@random_fabrics(150)
@given(limited(), st.data())
def test_random_fabrics(case: Case, data: st.DataObject) -> None:
    routing = Routing(case.network)
    wanted = advertised(routing)
    failure = data.draw(failures_of(routing.graph, wanted))
    baseline, slow = Baseline(routing, wanted), Slow(routing.graph, wanted)
    delivers = slow.delivers()
    assert (baseline.lost == 0) == delivers
    counts["all"] += 1
    if not agreed(case, routing, slow, failure):
        counts["ambiguous"] += 1
        return
    counts["whole"] += delivers
    assert not differences(assess(baseline, failure), slow.compare(failure), delivers), failure


def agreed(case: Case, routing: Routing, slow: Slow, failure: Failure) -> bool:
    """Return whether starting from the routes before a failure ends with the same routes as starting from none.

    They must, unless the second control plane says that there are several stable routes or none (RFC 4264).
    """
    graph = routing.graph
    removed = removed_positions(graph, failure.sessions)
    for prefix in slow.prefixes:
        before = routing.states[prefix]
        resumed = solve(graph, prefix, removed, failure.dead, before)
        afresh = solve(graph, prefix, removed, failure.dead)
        if not (before.stable and afresh.stable and resumed.stable and same_routes(graph, resumed, afresh)):
            cut = {session.cable for number, session in enumerate(graph.sessions.up) if fails(graph, failure, number)}
            whole = [solutions(Fabric(case.network, frozenset(cables)), prefix) for cables in (set(), cut)]
            assert None in whole, (failure, str(prefix))
            return False
    return True


def fails(graph: Graph, failure: Failure, session: int) -> bool:
    ends = graph.sessions.up[session]
    return session in failure.sessions or not failure.dead.isdisjoint(
        {graph.index[ends.a.device], graph.index[ends.b.device]}
    )


def test_most_fabrics_said_something() -> None:
    assert counts["ambiguous"] <= counts["all"] * 0.02, counts
    assert counts["whole"] >= counts["all"] * 0.2, counts
