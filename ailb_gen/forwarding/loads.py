"""Loads of a traffic matrix on every link, as a fluid: several next hops share a flow evenly.

A link is a session; its load has two directions, `2 * session` from the cable's first end (the leaf) to the second,
`2 * session + 1` back. Volumes have no unit; compare them with each other.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from ailb_gen.addresses import Prefix
from ailb_gen.routing.fib import fib_entry, node_of
from ailb_gen.routing.rib import Routing
from ailb_gen.routing.solve import EMPTY, State

Volumes = NDArray[np.float64]
Indices = NDArray[np.int64]

# A way with more hops than this is a loop; what is in it then counts as lost.
MAX_HOPS = 8


class Links:
    """Index arrays of a graph: which link every position of every device is."""

    def __init__(self, routing: Routing) -> None:
        self.graph = routing.graph
        self.count = 2 * len(self.graph.sessions.up)
        first = [self.graph.index[session.a.device] for session in self.graph.sessions.up]
        self.of: tuple[Indices, ...] = tuple(
            np.array([2 * entry.session + (first[entry.session] != device) for entry in row], dtype=np.int64)
            for device, row in enumerate(self.graph.adjacencies)
        )

    @cached_property
    def members(self) -> tuple[Indices, ...]:
        """The devices of every class, ascending."""
        return tuple(np.array(sorted(found.members), dtype=np.int64) for found in self.graph.classes)

    @cached_property
    def rows(self) -> tuple[Indices, ...]:
        """The rows of `members` and `matrix` of every class."""
        return tuple(np.arange(len(row)) for row in self.members)

    @cached_property
    def matrix(self) -> tuple[Indices, ...]:
        """The links of every class: one row per member, one column per position."""
        return tuple(np.stack([self.of[device] for device in row]) for row in self.members)

    @cached_property
    def peers(self) -> tuple[tuple[Indices, Volumes], ...]:
        """For every position of every device the peer, and the position's share among the links to that peer."""
        found = []
        for row in self.graph.adjacencies:
            peers = np.array([entry.peer for entry in row], dtype=np.int64)
            count = np.bincount(peers, minlength=len(self.graph.names)) if len(row) else np.zeros(1, dtype=np.int64)
            found.append((peers, 1.0 / count[peers] if len(row) else np.zeros(0)))
        return tuple(found)


def spread(links: Links, state: State, demand: Volumes, load: Volumes, sign: float = 1.0) -> float:
    """Add what `demand` (volume per source device) to the state's prefix puts on every link to `load`.

    Returns the volume that does not arrive.
    """
    graph = links.graph
    arriving: dict[int, float] = defaultdict(float)
    lost = 0.0
    # A class that never heard of the prefix has no node, and drops what it would send.
    unheard = [number for number in range(len(graph.classes)) if number not in state.nodes]
    for node in (*state.nodes, *unheard):
        if graph.is_alone(node):
            device = graph.device(node)
            if demand[device]:
                arriving[device] += float(demand[device])
            continue
        rows = _rows(links, state, node)
        volume = demand[links.members[node][rows]]
        total = float(volume.sum())
        if not total:
            continue
        ways = fib_entry(graph, state, node)
        if not ways:
            lost += total
            continue
        load[links.matrix[node][rows[:, None], ways]] += (sign * volume / len(ways))[:, None]
        peers = graph.adjacencies[graph.classes[node].representative]
        for at in ways:
            arriving[peers[at].peer] += total / len(ways)
    for _ in range(MAX_HOPS):
        arriving, dropped = _hop(links, state, arriving, load, sign)
        lost += dropped
        if not arriving:
            return lost
    return lost + sum(arriving.values())


def _rows(links: Links, state: State, node: int) -> Indices:
    """Return the rows of a class's members that stand for themselves in no other node."""
    members = links.members[node]
    apart = [device for device in state.singles if links.graph.class_of[device] == node]
    if not apart:
        return links.rows[node]
    keep = np.ones(len(members), dtype=bool)
    keep[np.searchsorted(members, apart)] = False
    return np.flatnonzero(keep)


def _hop(
    links: Links, state: State, arriving: Mapping[int, float], load: Volumes, sign: float
) -> tuple[dict[int, float], float]:
    graph = links.graph
    following: dict[int, float] = defaultdict(float)
    dropped = 0.0
    for device, volume in arriving.items():
        node = node_of(graph, state, device)
        if state.nodes.get(node, EMPTY).local:
            continue
        ways = fib_entry(graph, state, node)
        if not ways:
            dropped += volume
        for at in ways:
            load[links.of[device][at]] += sign * volume / len(ways)
            following[graph.adjacencies[device][at].peer] += volume / len(ways)
    return following, dropped


def loads(
    links: Links, state_of: Callable[[Prefix], State], colored: Mapping[int, tuple[Prefix, ...]], matrix: Volumes
) -> tuple[Volumes, float]:
    """Return the load of every link for a matrix of volumes between devices, and what does not arrive.

    `state_of` gives the RIBs of a prefix. `colored` are the prefixes of every destination; a flow is split over them
    evenly: one queue pair each.
    """
    load = np.zeros(links.count)
    lost = 0.0
    for device, prefixes in colored.items():
        demand = matrix[:, device] / len(prefixes)
        if demand.any():
            lost += sum(spread(links, state_of(prefix), demand, load) for prefix in prefixes)
    return load, lost


def by_device(links: Links, devices: Iterable[int], load: Volumes) -> dict[int, tuple[Volumes, Volumes]]:
    """Return the loads of every device's links: out of the device, and into it."""
    return {device: (load[links.of[device]], load[links.of[device] ^ 1]) for device in devices}
