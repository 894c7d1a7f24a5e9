"""RIBs of one prefix: every class of switches is computed once, and switches that differ separately.

A node is a class of switches, or one switch on its own: those that originate the prefix, and those next to a failure.
Each node keeps the candidates it received, the best of them and what it sends; it is computed again whenever a
neighbor sends something else, until nothing changes.

The records here are named tuples: a failure makes hundreds, and a frozen dataclass takes three times as long to make.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from ailb_gen.addresses import Prefix
from ailb_gen.routing.graph import Graph
from ailb_gen.routing.route import Rank, Route, rank
from ailb_gen.routing.speaker import direct, exported, originated, received

Sent = tuple[Route | None, ...]
NOTHING: Sent = ()
# The routes of a prefix that still change after so many computations per node do not converge.
PATIENCE = 64


class Candidate(NamedTuple):
    """A route that came in over some positions; its AS path lacks the peer's own AS. Hidden if there is a reason."""

    positions: tuple[int, ...]
    group: int
    route: Route
    hidden: str = ""


class Selection(NamedTuple):
    """The positions over which packets go, the first one's route being the active route."""

    best: tuple[int, ...] = ()
    active: Route | None = None
    position: int = -1


class LocRib(NamedTuple):
    """The routes of a node for a prefix; `sent` has one entry per group of its class. `local`: a direct route."""

    local: bool = False
    candidates: tuple[Candidate, ...] = ()
    selection: Selection = Selection()
    sent: Sent = NOTHING


EMPTY = LocRib()


class State(NamedTuple):
    """The RIBs of one prefix; `singles` are the devices that have a node of their own."""

    prefix: Prefix
    singles: frozenset[int]
    nodes: Mapping[int, LocRib]
    stable: bool = True


class _MixedClassError(Exception):
    """Some members of a class, not all, have an AS number that is in a path: they must be taken apart."""

    def __init__(self, devices: frozenset[int]) -> None:
        self.devices = devices


Removed = dict[int, frozenset[int]]


def solve(
    graph: Graph,
    prefix: Prefix,
    removed: Removed | None = None,
    dead: frozenset[int] = frozenset(),
    start: State | None = None,
) -> State:
    """Compute who holds what of a prefix.

    `removed` are positions of devices whose sessions are down, `dead` devices that take part in nothing. `start` is a
    state of the same graph without failures: then only what the failures change is computed.
    """
    gone = removed or {}
    singles = frozenset(graph.owners.get(prefix, ())) | gone.keys() | dead
    if start is not None:
        singles |= start.singles
    while True:
        try:
            return _Solver(graph, prefix, singles, gone, dead).run(start)
        except _MixedClassError as mixed:
            singles |= mixed.devices


@dataclass(slots=True)
class _Solver:
    graph: Graph
    prefix: Prefix
    singles: frozenset[int]
    removed: Removed
    dead: frozenset[int]
    nodes: dict[int, LocRib] = field(default_factory=dict)

    def run(self, start: State | None) -> State:
        graph = self.graph
        queue: deque[int] = deque()
        if start is None:
            queue.extend(graph.alone(device) for device in sorted(self.singles - self.dead))
        else:
            self._resume(start, queue)
        limit = PATIENCE * (len(graph.classes) + len(self.singles))
        count = 0
        while queue and count < limit:
            count += 1
            self._compute(queue.popleft(), queue)
        return State(self.prefix, self.singles, self.nodes, not queue)

    def _resume(self, start: State, queue: deque[int]) -> None:
        """Begin with what was held before the failures; those next to them are computed first."""
        graph = self.graph
        self.nodes = dict(start.nodes)
        for device in self.singles - start.singles - self.dead:
            self.nodes[graph.alone(device)] = start.nodes.get(graph.class_of[device], EMPTY)
        for number, found in enumerate(graph.classes):
            if found.members <= self.singles:
                self.nodes.pop(number, None)
        queue.extend(graph.alone(device) for device in sorted(self.removed.keys() - self.dead))
        for device in sorted(self.dead):
            self.nodes.pop(graph.alone(device), None)
            queue.extend(node for node in self._neighbors(device) if node not in queue)

    def _compute(self, node: int, queue: deque[int]) -> None:
        """Compute a node again; if it now sends something else, its neighbors are next."""
        graph = self.graph
        device = graph.device(node)
        old = self.nodes.get(node, EMPTY)
        candidates = tuple(self._candidates(node, device))
        if candidates == old.candidates and node in self.nodes:
            return
        local = graph.is_alone(node) and self.prefix in graph.direct[device]
        selection = Selection() if local else select(graph, device, candidates)
        sent = sent_by(graph, device, self.prefix, local, selection.active)
        self.nodes[node] = LocRib(local, candidates, selection, sent)
        if sent != old.sent and (any(sent) or any(old.sent)):
            queue.extend(other for other in self._neighbors(device) if other not in queue)

    def _neighbors(self, device: int) -> Iterator[int]:
        classes = self.graph.classes
        around = {bundle.peer_class for bundle in self.graph.class_at(device).bundles}
        for single in sorted(self.singles - self.dead):
            if self.graph.class_of[single] in around:
                yield self.graph.alone(single)
        for other in sorted(around):
            if not classes[other].members <= self.singles:
                yield other

    def _candidates(self, node: int, device: int) -> Iterator[Candidate]:
        """Collect what the neighbors of a node send to it; `device` stands for it."""
        graph = self.graph
        own = graph.class_at(device)
        down = self.removed.get(device, frozenset()) if graph.is_alone(node) else frozenset()
        apart: dict[int, set[int]] = {}
        for single in sorted(self.singles):
            for bundle_number, position in own.places.get(single, ()):
                apart.setdefault(bundle_number, set()).add(position)
                held = self.nodes.get(graph.alone(single), EMPTY)
                if held.sent and position not in down:
                    bundle = own.bundles[bundle_number]
                    groups = graph.classes[bundle.peer_class].groups
                    route = held.sent[groups.index(bundle.peer_group)]
                    yield from self._delivered(node, bundle.own_group, (position,), route)
        for bundle_number, bundle in enumerate(own.bundles):
            held = self.nodes.get(bundle.peer_class, EMPTY)
            if held.sent:
                groups = graph.classes[bundle.peer_class].groups
                route = held.sent[groups.index(bundle.peer_group)]
                if route is None:
                    continue
                without = apart.get(bundle_number, set()) | down
                positions = tuple(p for p in bundle.positions if p not in without) if without else bundle.positions
                yield from self._delivered(node, bundle.own_group, positions, route)

    def _delivered(self, node: int, group: int, positions: tuple[int, ...], route: Route | None) -> Iterator[Candidate]:
        """Yield an advertisement as the receiving end stores it: nothing if it is not sent."""
        if route is None or not positions:
            return
        graph = self.graph
        device = graph.device(node)
        looped = graph.adjacencies[device][positions[0]].looped or self._in_path(node, route)
        # Junos sends nothing to a peer in the AS that the route came from.
        if looped and self._is_first(node, positions[0], route):
            return
        found = received(graph.rules[device][group], graph.lists[device], self.prefix, route, looped)
        yield Candidate(positions, group, found.route, found.hidden)

    def _in_path(self, node: int, route: Route) -> bool:
        """Return whether the receiver's AS number is in the path; _MixedClassError if that differs within a class."""
        owners = self.graph.asn_owners
        for asn in route.as_path:  # noqa: SIM110 - a generator for every route takes as long as the rest
            if asn in owners and self._all(node, owners[asn]):
                return True
        return False

    def _is_first(self, node: int, position: int, route: Route) -> bool:
        """Return whether the path starts with the AS number of the receiver's end of the session; raises as above."""
        if not route.as_path:
            return False
        graph, first = self.graph, route.as_path[0]
        owners = graph.asn_owners.get(first, frozenset()) & graph.class_at(graph.device(node)).members
        using = (device for device in owners if graph.adjacencies[device][position].own_asn == first)
        return self._all(node, frozenset(using))

    def _all(self, node: int, devices: frozenset[int]) -> bool:
        """Return whether the devices of a node are among some; _MixedClassError if only some members are."""
        graph = self.graph
        if graph.is_alone(node):
            return graph.device(node) in devices
        members = graph.classes[node].members
        if members.isdisjoint(devices):
            return False
        here = (members & devices) - self.singles
        if here and len(here) != len(members) - len(members & self.singles):
            raise _MixedClassError(here)
        return bool(here)


def sent_by(graph: Graph, device: int, prefix: Prefix, local: bool = True, active: Route | None = None) -> Sent:
    """Return what a device sends of a prefix over the sessions of each group: its direct route, or the active one."""
    if not local and active is None:
        return NOTHING
    advertised = graph.advertised[device].get(prefix) if local else None
    found: list[Route | None] = []
    for group in graph.class_at(device).groups:
        rule = graph.rules[device][group]
        route = originated(graph.switches[device], advertised, rule) if advertised is not None else None
        if route is None and (held := direct() if local else active) is not None:
            route = exported(rule, graph.lists[device], prefix, held)
        found.append(route)
    return tuple(found)


def select(graph: Graph, who: int, candidates: tuple[Candidate, ...]) -> Selection:
    """Select the best paths in Junos's order; ties are broken by router-id, `multipath` keeps them all."""
    usable = [(ranked(candidate), candidate) for candidate in candidates if not candidate.hidden]
    if not usable:
        return Selection()
    first = min(key for key, _ in usable)
    top = [candidate for key, candidate in usable if key == first]
    row, rules = graph.adjacencies[who], graph.rules[who]
    paths = _lowest_med([(position, candidate) for candidate in top for position in candidate.positions], graph, who)
    position, active = min(paths, key=lambda path: (graph.router_ids[row[path[0]].peer], row[path[0]].peer, path[0]))
    best = [position]
    if rules[active.group].multipath:
        best = sorted(
            at
            for at, candidate in paths
            if rules[candidate.group].multipath
            and (rules[active.group].multiple_as or row[at].peer_asn == row[position].peer_asn)
        )
    route = active.route
    return Selection(tuple(best), replace(route, as_path=(row[position].peer_asn, *route.as_path)), position)


def ranked(candidate: Candidate) -> Rank:
    """Return the rank of a candidate, whose AS path is still to get the peer's own AS."""
    preference, without, aigp, length = rank(candidate.route)
    return preference, without, aigp, length + 1


def _lowest_med(paths: list[tuple[int, Candidate]], graph: Graph, who: int) -> list[tuple[int, Candidate]]:
    """Drop the paths that another one from the same neighboring AS beats by MED; none counts as 0."""
    if all(candidate.route.med is None for _, candidate in paths):
        return paths
    row = graph.adjacencies[who]
    lowest: dict[int, int] = {}
    for position, candidate in paths:
        asn, med = row[position].peer_asn, candidate.route.med or 0
        lowest[asn] = min(med, lowest.get(asn, med))
    return [path for path in paths if (path[1].route.med or 0) == lowest[row[path[0]].peer_asn]]
