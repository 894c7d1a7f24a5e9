"""Failures a second time, slow and obvious: every route computed again, every packet followed from every device."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from ailb_gen.addresses import Prefix
from ailb_gen.forwarding.failures import Failure
from ailb_gen.routing.fib import fib_entry, held, node_of
from ailb_gen.routing.graph import Graph
from ailb_gen.routing.rib import removed_positions
from ailb_gen.routing.route import Route
from ailb_gen.routing.solve import State, solve

# (prefix, device) -> the positions that its FIB holds; nothing for a dead device.
Fibs = dict[Prefix, dict[int, tuple[int, ...]]]
Destinations = Mapping[int, tuple[Prefix, ...]]
# What needs more hops than this is in a loop.
HOPS = 64

NOTHING = Failure("nothing")


@dataclass(frozen=True)
class Compared:
    """What a failure changes; `worst` is None where packets loop, whose load depends on when they are dropped."""

    moved: int
    lost: set[tuple[int, Prefix]]
    strayed: set[tuple[int, Prefix]]
    worst: float | None


class Slow:
    """A fabric whose routes are known without failures."""

    def __init__(self, graph: Graph, destinations: Destinations) -> None:
        self.graph, self.destinations = graph, destinations
        self.prefixes = [prefix for row in destinations.values() for prefix in row]
        self.before = self.fibs(self.states(Failure("nothing")))
        self.loads_before = self.loads(self.before)

    def states(self, failure: Failure) -> dict[Prefix, State]:
        removed = removed_positions(self.graph, failure.sessions)
        return {prefix: solve(self.graph, prefix, removed, failure.dead) for prefix in self.prefixes}

    def fibs(self, states: dict[Prefix, State], dead: frozenset[int] = frozenset()) -> Fibs:
        devices = [device for device in range(len(self.graph.names)) if device not in dead]
        return {
            prefix: {device: fib_entry(self.graph, state, node_of(self.graph, state, device)) for device in devices}
            for prefix, state in states.items()
        }

    def has(self, device: int, prefix: Prefix) -> bool:
        return prefix in self.graph.direct[device]

    def sources(self, failure: Failure) -> Iterator[tuple[int, int, Prefix]]:
        """Give (source, destination, prefix) of all traffic."""
        for owner, row in self.destinations.items():
            for source in self.destinations:
                if source != owner and source not in failure.dead:
                    yield from ((source, owner, prefix) for prefix in row)

    def follow(self, fibs: Fibs, source: int, prefix: Prefix) -> tuple[bool, bool, set[tuple[int, int]]]:
        """Return whether all packets arrive, whether some loop, and the (device, position) that they pass."""
        passed: set[tuple[int, int]] = set()
        here, hops = {source}, 0
        arrives = True
        while here and hops < HOPS:
            following: set[int] = set()
            for device in here:
                if self.has(device, prefix):
                    continue
                ways = fibs[prefix].get(device, ())
                arrives = arrives and bool(ways)
                for at in ways:
                    passed.add((device, at))
                    following.add(self.graph.adjacencies[device][at].peer)
            here = following
            hops += 1
        return arrives and not here, bool(here), passed

    def loads(self, fibs: Fibs, failure: Failure = NOTHING) -> dict[tuple[int, int], float] | None:
        """Return the volume out of every position of every device; None when something loops."""
        found: dict[tuple[int, int], float] = defaultdict(float)
        others = len(self.destinations) - 1
        for source, owner, prefix in self.sources(failure):
            here = {source: 1.0 / len(self.destinations[owner]) / others}
            for _ in range(HOPS):
                following: dict[int, float] = defaultdict(float)
                for device, volume in here.items():
                    ways = () if self.has(device, prefix) else fibs[prefix].get(device, ())
                    for at in ways:
                        found[device, at] += volume / len(ways)
                        following[self.graph.adjacencies[device][at].peer] += volume / len(ways)
                here = following
            if here:
                return None
        return found

    def delivers(self) -> bool:
        """Return whether all traffic arrives while nothing fails."""
        nothing = Failure("nothing")
        return all(self.follow(self.before, source, prefix)[0] for source, _, prefix in self.sources(nothing))

    def compare(self, failure: Failure) -> Compared:
        after = self.fibs(self.states(failure), failure.dead)
        moved = sum(ways != self.before[prefix][at] for prefix, row in after.items() for at, ways in row.items())
        lost, strayed = set(), set()
        for source, _, prefix in self.sources(failure):
            if not self.follow(after, source, prefix)[0]:
                lost.add((source, prefix))
            if after[prefix][source] != self.before[prefix][source]:
                passed = self.follow(self.before, source, prefix)[2]
                if not any(self._failed(failure, device, at) for device, at in passed):
                    strayed.add((source, prefix))
        loads = self.loads(after, failure)
        worst = None
        if loads is not None and self.loads_before is not None:
            highest = max(self.loads_before.values(), default=0.0)
            worst = max(loads.values(), default=0.0) / highest if highest else 0.0
        return Compared(moved, lost, strayed, worst)

    def _failed(self, failure: Failure, device: int, at: int) -> bool:
        entry = self.graph.adjacencies[device][at]
        return entry.session in failure.sessions or entry.peer in failure.dead


def same_routes(graph: Graph, one: State, other: State) -> bool:
    """Return whether two states mean the same for every device, however devices are taken apart in them."""
    return all(
        _by_position(graph, one, device) == _by_position(graph, other, device) for device in graph.index.values()
    )


def _by_position(graph: Graph, state: State, device: int) -> dict[int, tuple[Route, str]]:
    candidates = held(graph, state, device).candidates
    return {at: (found.route, found.hidden) for found in candidates for at in found.positions}
