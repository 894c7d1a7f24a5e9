"""Loads of prefixes that the fabric treats alike: routes are computed for one of them, and hold for all.

A fabric of 512 leaves with eight prefixes each has eight kinds of prefixes (`routing.alike`).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import numpy as np

from ailb_gen.addresses import Prefix
from ailb_gen.forwarding.loads import MAX_HOPS, Indices, Links, Volumes, spread
from ailb_gen.routing.alike import Kind, is_symmetric, kinds
from ailb_gen.routing.fib import fib_entry
from ailb_gen.routing.rib import Routing
from ailb_gen.routing.solve import State, solve


def loads_alike(
    routing: Routing,
    links: Links,
    destinations: Mapping[int, tuple[Prefix, ...]],
    matrix: Volumes,
    groups: Iterable[Kind] | None = None,
    seed: int = 1,
) -> tuple[Volumes, float]:
    """Return what `loads` returns, computing the routes of one prefix of every kind, and of another by the seed.

    A flow is split evenly over the prefixes of its destination. What is not certain to be alike is computed alone.
    `groups` are the `kinds` of the destinations, where they are known. Raises AssertionError when the other prefix
    of a kind loads other links.
    """
    graph, load, lost = routing.graph, np.zeros(links.count), 0.0
    for kind in kinds(graph, destinations) if groups is None else groups:
        owners = np.array([owner for owner, _ in kind], dtype=np.int64)
        shares = np.array([len(destinations[int(owner)]) for owner in owners])
        demand: Volumes = matrix[:, owners] / shares
        state = routing.state(kind[0][1])
        if is_symmetric(graph, state, int(owners[0])):
            demand[owners, np.arange(len(owners))] = 0.0
            lost += _spread(links, state, owners, demand, load)
            _compare(routing, links, kind, demand, seed % len(kind))
            continue
        for number, (_, prefix) in enumerate(kind):
            if demand[:, number].any():
                lost += spread(links, routing.state(prefix), demand[:, number], load)
    return load, lost


def _compare(routing: Routing, links: Links, kind: Kind, demand: Volumes, number: int) -> None:
    """Compare the loads of one prefix of a kind with those by its own routes."""
    found, expected, only = np.zeros(links.count), np.zeros(links.count), np.zeros_like(demand)
    owner, prefix = kind[number]
    only[:, number] = demand[:, number]
    state = routing.state(kind[0][1])
    missing = _spread(links, state, np.array([one for one, _ in kind], dtype=np.int64), only, found)
    own = solve(routing.graph, prefix, routing.removed)
    lost = spread(links, own, demand[:, number], expected)
    if not np.allclose(np.append(found, missing), np.append(expected, lost)):
        name = routing.graph.names[owner]
        raise AssertionError(f"prefixes that should be alike are not: {prefix} of {name} loads other links than others")


def _spread(links: Links, state: State, owners: Indices, demand: Volumes, load: Volumes) -> float:
    """Add what `demand` (from every device, to every owner) puts on the links to `load`; return what is lost.

    The state is that of the first owner's prefix.
    """
    graph = links.graph
    first, at = int(owners[0]), np.arange(len(owners))
    # By class, where each owner stands among the neighbors: the n-th of its links in the n-th row.
    places = {
        number: np.array([[position for _, position in found.places[int(owner)]] for owner in owners], dtype=np.int64).T
        for number, found in enumerate(graph.classes)
        if first in found.places
    }
    todo: list[tuple[int, Indices, Volumes]] = [
        (number, members, demand[members]) for number, members in enumerate(links.members)
    ]
    lost = 0.0
    for _ in range(MAX_HOPS + 1):
        arriving: dict[int, Volumes] = {}
        for number, members, volume in todo:
            if not volume.any():
                continue
            ways = fib_entry(graph, state, number)
            if not ways:
                lost += float(volume.sum())
                continue
            rows = np.searchsorted(links.members[number], members)
            row, share = graph.adjacencies[graph.classes[number].representative], volume / len(ways)
            to_owner = [position for _, position in graph.classes[number].places.get(first, ())]
            for way in ways:
                peer = row[way].peer
                if peer == first:
                    columns = places[number][to_owner.index(way)]
                    np.add.at(load, links.matrix[number][rows[:, None], columns[at]], share)
                else:
                    load[links.matrix[number][rows, way]] += share.sum(axis=1)
                    arriving[peer] = arriving.get(peer, 0.0) + share.sum(axis=0)
        todo = [(graph.class_of[device], np.array([device]), volume[None, :]) for device, volume in arriving.items()]
        if not todo:
            return lost
    return lost + sum(float(volume.sum()) for _, _, volume in todo)
