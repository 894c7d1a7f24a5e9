"""Where packets end: on golden fabrics, in loops and black holes made by hand, and against following each device."""

from __future__ import annotations

from collections.abc import Mapping

import pytest
from hypothesis import given

from ailb_gen.forwarding import delivery
from ailb_gen.forwarding.delivery import VALLEY_FREE_HOPS, Outcome, outcomes
from ailb_gen.routing.fib import fib_entry, node_of
from ailb_gen.routing.graph import Graph
from ailb_gen.routing.rib import Routing
from ailb_gen.routing.route import Route
from ailb_gen.routing.solve import LocRib, Selection, State
from tests.forwarding.examples import LAB_LEAVES, routing
from tests.forwarding.slow import Slow
from tests.routing.fabrics import Case, cases, prefix, random_fabrics

FIRST = prefix("fc00:1:1:1::/64")
OWN, *OTHERS = LAB_LEAVES


def by_device(graph: Graph, state: State) -> dict[str, Outcome]:
    ends = outcomes(graph, state)
    return {name: ends[node_of(graph, state, device)] for device, name in enumerate(graph.names)}


def made(graph: Graph, ways: Mapping[str, tuple[str, ...]], owner: str = OWN) -> State:
    """A state in which every device forwards to the named peers, and those without ways drop what comes."""
    nodes = {}
    for device, name in enumerate(graph.names):
        row = graph.adjacencies[device]
        best = tuple(at for at, entry in enumerate(row) if graph.names[entry.peer] in ways.get(name, ()))
        selection = Selection(best, Route(), best[0]) if best else Selection()
        nodes[graph.alone(device)] = LocRib(name == owner, (), selection)
    return State(FIRST, frozenset(range(len(graph.names))), nodes)


@pytest.mark.parametrize("name", ["lab", "jvd", "jvd-8-uplinks", "mixed", "brownfield"])
def test_a_golden_fabric_delivers_everything_up_and_down(name: str) -> None:
    found = routing(name)
    leaves = {device for device, row in enumerate(found.graph.advertised) if row}
    for row in found.graph.advertised:
        for which in row:
            state = found.states[which]
            for device, end in enumerate(by_device(found.graph, state).values()):
                local = which in found.graph.direct[device]
                assert end == Outcome(0 if local else VALLEY_FREE_HOPS if device in leaves else 1)


def test_the_forwarding_table_holds_the_active_path_and_those_of_equal_cost() -> None:
    found = routing("lab", "stripe1-leaf1 spine2")
    graph = found.graph
    for which, state in found.states.items():
        for device in range(len(graph.names)):
            node = node_of(graph, state, device)
            used = {path.interface for path in found.paths(device, which) if path.status in ("active", "multipath")}
            assert {graph.adjacencies[device][at].interface for at in fib_entry(graph, state, node)} == used - {""}
            assert graph.class_of[graph.device(node)] == graph.class_of[device]


def test_a_black_hole_is_named() -> None:
    graph = routing("lab").graph
    ends = by_device(graph, made(graph, {"stripe2-leaf1": ("spine1", "spine2"), "spine1": (OWN,)}))
    assert ends[OWN] == Outcome(0)
    assert ends["spine1"] == Outcome(1)
    assert ends["spine2"].problem == ends["stripe2-leaf1"].problem == "no route at spine2"
    assert ends["stripe2-leaf2"].problem == "no route at stripe2-leaf2"


def test_a_loop_is_named_also_where_it_is_only_entered() -> None:
    ways = {
        "stripe1-leaf2": ("spine1",),
        "spine1": ("stripe2-leaf1",),
        "stripe2-leaf1": ("spine2",),
        "spine2": ("stripe1-leaf2", OWN),
        "stripe2-leaf2": ("spine1",),
        "spine3": (OWN,),
    }
    graph = routing("lab").graph
    ends = by_device(graph, made(graph, ways))
    for name in ("stripe1-leaf2", "spine1", "stripe2-leaf1", "spine2", "stripe2-leaf2"):
        first, *rest = ends[name].problem.removeprefix("forwarding loop: ").split(" > ")
        assert first == rest[-1]
        assert set(rest) == {"stripe1-leaf2", "spine1", "stripe2-leaf1", "spine2"}
    assert ends["spine3"] == Outcome(1)


def test_every_node_is_followed_once_however_many_loops_there_are(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every leaf sends to every spine and back: there are tens of thousands of ways round."""
    graph = routing("jvd").graph
    spines = tuple(name for name in graph.names if name.startswith("spine"))
    leaves = tuple(name for name in graph.names if name not in spines)
    asked: list[int] = []

    def counted(graph: Graph, state: State, node: int) -> tuple[int, ...]:
        asked.append(node)
        return fib_entry(graph, state, node)

    state = made(graph, dict.fromkeys(leaves, spines) | dict.fromkeys(spines, leaves[1:]), leaves[0])
    monkeypatch.setattr(delivery, "fib_entry", counted)
    ends = outcomes(graph, state)
    assert len(asked) == len(set(asked)) == len(graph.names) - 1
    assert [end.problem.partition(":")[0] for end in ends.values() if end != Outcome(0)] == ["forwarding loop"] * 19


@pytest.mark.long
@random_fabrics(40)
@given(cases())
def test_against_following_every_device(case: Case) -> None:
    found = Routing(case.network)
    graph = found.graph
    slow = Slow(graph, {device: tuple(row) for device, row in enumerate(graph.direct)})
    for which, state in found.states.items():
        ends = outcomes(graph, state)
        for device, name in enumerate(graph.names):
            end = ends.get(node_of(graph, state, device), Outcome(0, "no route, and no node"))
            arrives, _, _ = slow.follow(slow.before, device, which)
            assert (not end.problem) == arrives, (name, str(which))
            if arrives:
                assert end.hops == rounds(graph, slow.before[which], device), (name, str(which))


def rounds(graph: Graph, ways: dict[int, tuple[int, ...]], device: int) -> int:
    """Return how often all copies of a packet are sent on until none is left."""
    here, count = {device}, -1
    while here:
        here = {graph.adjacencies[at][position].peer for at in here for position in ways[at]}
        count += 1
    return count
