"""Loads of prefixes that the fabric treats alike: routes are computed for one of them, and hold for all.

A fabric of 512 leaves with eight prefixes each has eight kinds of prefixes (`routing.alike`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import cached_property, partial
from typing import NamedTuple

import numpy as np

from ailb_gen.addresses import Prefix
from ailb_gen.forwarding.loads import MAX_HOPS, Indices, Links, Volumes, spread
from ailb_gen.routing.alike import Kind, is_symmetric, kinds
from ailb_gen.routing.fib import fib_entry
from ailb_gen.routing.rib import Routing
from ailb_gen.routing.solve import State, solve

# Volumes that are added up at once: some megabytes.
BLOCK = 1_000_000


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
    known: dict[object, _Demand] = {}
    for kind in kinds(graph, destinations) if groups is None else groups:
        owners = np.array([owner for owner, _ in kind], dtype=np.int64)
        shares = np.array([len(destinations[int(owner)]) for owner in owners])
        state = routing.state(kind[0][1])
        if is_symmetric(graph, state, int(owners[0])):
            # The prefixes of other colors have the same owners.
            key = owners.tobytes(), shares.tobytes()
            demand = known.get(key) or known.setdefault(key, _Demand(links, owners, matrix, shares))
            lost += _spread(links, state, demand, demand.sent, load)
            _compare(routing, kind, demand, seed % len(kind))
            continue
        for (owner, prefix), share in zip(kind, shares, strict=True):
            volumes: Volumes = matrix[:, owner] / share
            if volumes.any():
                lost += spread(links, routing.state(prefix), volumes, load)
    return load, lost


class _Sent(NamedTuple):
    """What some devices (`rows` of a class) send to the owners of a kind: by device, by owner, and each volume.

    What is sent to all owners alike needs the sums alone; a matrix of all devices takes hundreds of megabytes.
    """

    number: int
    rows: Indices
    by_device: Volumes
    by_owner: Volumes
    each: Callable[[], Volumes]


class _Demand:
    """What all devices send to the owners of a kind, none to itself; owners send `matrix` over `shares`."""

    def __init__(self, links: Links, owners: Indices, matrix: Volumes, shares: Indices) -> None:
        self.links, self.owners, self.matrix, self.shares = links, owners, matrix, shares

    @cached_property
    def places(self) -> dict[int, Indices]:
        """By class, where each owner stands among the neighbors: the n-th of its links in the n-th row."""
        owners = self.owners.tolist()
        return {
            number: np.array([[position for _, position in found.places[owner]] for owner in owners], np.int64).T
            for number, found in enumerate(self.links.graph.classes)
            if owners[0] in found.places
        }

    @cached_property
    def sent(self) -> list[_Sent]:
        """What the members of every class send."""
        found = []
        for number, members in enumerate(self.links.members):
            by_device, by_owner = np.zeros(len(members)), np.zeros(len(self.owners))
            size = max(1, BLOCK // len(self.owners))
            for start in range(0, len(members), size):
                block = self._block(members[start : start + size])
                by_device[start : start + size] = block.sum(axis=1)
                by_owner += block.sum(axis=0)
            found.append(_Sent(number, self.links.rows[number], by_device, by_owner, partial(self._block, members)))
        return found

    def _block(self, devices: Indices) -> Volumes:
        block: Volumes = self.matrix[np.ix_(devices, self.owners)] / self.shares
        block[devices[:, None] == self.owners] = 0.0
        return block

    def to(self, column: int) -> Volumes:
        """Return what every device sends to one of the owners."""
        owner = self.owners[column]
        volumes: Volumes = self.matrix[:, owner] / self.shares[column]
        volumes[owner] = 0.0
        return volumes

    def sent_to(self, column: int) -> list[_Sent]:
        """Return what the members of every class send to one of the owners alone."""
        volumes = self.to(column)
        only = np.zeros(len(self.owners))
        only[column] = 1.0
        return [
            _Sent(
                number, rows, volumes[members], volumes[members].sum() * only, partial(np.outer, volumes[members], only)
            )
            for number, (members, rows) in enumerate(zip(self.links.members, self.links.rows, strict=True))
        ]


def _compare(routing: Routing, kind: Kind, demand: _Demand, column: int) -> None:
    """Compare the loads of one prefix of a kind with those by its own routes."""
    links = demand.links
    found, expected = np.zeros(links.count), np.zeros(links.count)
    owner, prefix = kind[column]
    missing = _spread(links, routing.state(kind[0][1]), demand, demand.sent_to(column), found)
    own = solve(routing.graph, prefix, routing.removed)
    lost = spread(links, own, demand.to(column), expected)
    if not np.allclose(np.append(found, missing), np.append(expected, lost)):
        name = routing.graph.names[owner]
        raise AssertionError(f"prefixes that should be alike are not: {prefix} of {name} loads other links than others")


def _spread(links: Links, state: State, demand: _Demand, todo: list[_Sent], load: Volumes) -> float:
    """Add what is sent to the owners to `load`; return what is lost. The state is that of the first owner's prefix."""
    graph, places, at = links.graph, demand.places, np.arange(len(demand.owners))
    first, lost = int(demand.owners[0]), 0.0
    for _ in range(MAX_HOPS + 1):
        arriving: dict[int, Volumes] = {}
        for number, rows, by_device, by_owner, each in todo:
            if not by_device.any():
                continue
            ways = fib_entry(graph, state, number)
            if not ways:
                lost += float(by_device.sum())
                continue
            row = graph.adjacencies[graph.classes[number].representative]
            to_owner = [position for _, position in graph.classes[number].places.get(first, ())]
            for way in ways:
                peer = row[way].peer
                if peer == first:
                    columns = places[number][to_owner.index(way)]
                    np.add.at(load, links.matrix[number][rows[:, None], columns[at]], each() / len(ways))
                else:
                    load[links.matrix[number][rows, way]] += by_device / len(ways)
                    arriving[peer] = arriving.get(peer, 0.0) + by_owner / len(ways)
        todo = [_arrived(links, device, volume) for device, volume in arriving.items()]
        if not todo:
            return lost
    return lost + sum(float(one.by_device.sum()) for one in todo)


def _arrived(links: Links, device: int, volume: Volumes) -> _Sent:
    number = links.graph.class_of[device]
    rows = np.searchsorted(links.members[number], np.array([device]))
    return _Sent(number, rows, volume.sum(keepdims=True), volume, lambda: volume[None, :])
