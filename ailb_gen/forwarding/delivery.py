"""The fate of packets to a prefix, from every switch: delivered, dropped without a route, or looping."""

from __future__ import annotations

from typing import NamedTuple

from ailb_gen.routing.fib import fib_entry, node_of
from ailb_gen.routing.graph import Graph
from ailb_gen.routing.solve import EMPTY, State

# Hops from a leaf to any other: up to a spine and down again. What needs more passes a valley.
VALLEY_FREE_HOPS = 2


class Outcome(NamedTuple):
    """The fate of packets at a node: the most hops of any of its paths, and what goes wrong on any.

    Where something goes wrong, `hops` says nothing. `stranded`: the node has no route, and so has none of the devices
    that it stands for.
    """

    hops: int
    problem: str = ""
    stranded: bool = False


def stranded(graph: Graph, device: int) -> Outcome:
    """Return what happens to packets at a device without a route."""
    return Outcome(0, f"no route at {graph.names[device]}", stranded=True)


def outcome_at(graph: Graph, outcome: Outcome, device: int) -> Outcome:
    """Return what happens at one device of the node that an outcome is of."""
    return stranded(graph, device) if outcome.stranded else outcome


def outcomes(graph: Graph, state: State) -> dict[int, Outcome]:
    """Follow the FIBs from every node to the end of every way."""
    known: dict[int, Outcome] = {}
    for node in state.nodes:
        _follow(graph, state, node, known, ())
    return known


def _follow(graph: Graph, state: State, node: int, known: dict[int, Outcome], path: tuple[int, ...]) -> Outcome:
    """Recursion is bounded by the number of nodes, which is small: classes and what was taken apart.

    Every node is followed once: what leads back to `path` is a loop wherever it is entered.
    """
    if node in known:
        return known[node]
    if node in path:
        names = " > ".join(graph.names[graph.device(step)] for step in (*path[path.index(node) :], node))
        return Outcome(0, f"forwarding loop: {names}")
    known[node] = _end(graph, state, node, known, (*path, node))
    return known[node]


def _end(graph: Graph, state: State, node: int, known: dict[int, Outcome], path: tuple[int, ...]) -> Outcome:
    device = graph.device(node)
    if state.nodes.get(node, EMPTY).local:
        return Outcome(0)
    ways = fib_entry(graph, state, node)
    if not ways:
        return stranded(graph, device)
    row = graph.adjacencies[device]
    following = {node_of(graph, state, row[at].peer) for at in ways}
    ends = [_follow(graph, state, other, known, path) for other in sorted(following)]
    problem = next((end.problem for end in ends if end.problem), "")
    return Outcome(1 + max(end.hops for end in ends), problem)
