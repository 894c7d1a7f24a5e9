"""RIBs and FIBs of the whole fabric, as an operator looks at them: by device and prefix."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

from ailb_gen.addresses import Prefix
from ailb_gen.network.fabric import Network
from ailb_gen.routing.alike import Kind, exchanged, is_symmetric, kinds
from ailb_gen.routing.fib import fib_entry, held, node_of
from ailb_gen.routing.graph import Adjacency, Graph
from ailb_gen.routing.route import Route, rank
from ailb_gen.routing.solve import LocRib, Removed, State, ranked, solve
from ailb_gen.routing.speaker import direct


@dataclass(frozen=True, slots=True)
class Path:
    """One path of a prefix at a device; `status` is active, multipath, inactive or hidden, `reason` says why.

    A direct route has no peer.
    """

    route: Route
    status: str
    reason: str = ""
    peer: str = ""
    interface: str = ""
    group: str = ""


class NextHop(NamedTuple):
    """A next hop: an outgoing interface, the peer's interface, and the color of the session, if any."""

    interface: str
    peer: str
    peer_interface: str = ""
    color: str = ""


@dataclass(frozen=True, slots=True)
class SentRoute:
    """A route that a device sends over one session, as the peer gets it; `color` is that of the session, if any."""

    route: Route
    peer: str
    interface: str
    group: str
    color: str = ""


class States(Mapping[Prefix, State]):
    """The RIBs of every prefix: those of one prefix of a kind are computed, those of the others follow from them."""

    def __init__(self, graph: Graph, order: tuple[Prefix, ...]) -> None:
        self.graph, self.order = graph, order
        self.known: dict[Prefix, State] = {}
        self.firsts: dict[Prefix, Prefix] = {}

    def __getitem__(self, prefix: Prefix) -> State:
        found = self.known.get(prefix)
        if found is None:
            (owner,) = self.graph.owners[prefix]
            found = self.known[prefix] = exchanged(self.graph, self.known[self.firsts[prefix]], owner, prefix)
        return found

    def __contains__(self, prefix: object) -> bool:
        return prefix in self.known or prefix in self.firsts

    def __iter__(self) -> Iterator[Prefix]:
        return iter(self.order)

    def __len__(self) -> int:
        return len(self.order)

    def first(self, prefix: Prefix) -> Prefix:
        """Return the prefix whose state was computed for all of a prefix's kind."""
        return self.firsts.get(prefix, prefix)

    def where(self, condition: Callable[[State], bool]) -> Iterator[State]:
        """Yield the states of the kinds that meet a condition, which must not tell members of a kind apart."""
        known: dict[Prefix, bool] = {}
        for prefix in self.order:
            first = self.first(prefix)
            if first not in known:
                known[first] = condition(self.known[first])
            if known[first]:
                yield self[prefix]


class Routing:
    """The routes of every prefix; `failed` are sessions (indices into Graph.sessions.up) that are down.

    Where many are down, `Graph.without` them is faster: what fails alike then stays in one class.
    """

    def __init__(self, network: Network, failed: frozenset[int] = frozenset(), graph: Graph | None = None) -> None:
        self.graph = graph or Graph(network)
        self.removed = removed_positions(self.graph, failed)
        self.solved: dict[Prefix, State] = {}

    @cached_property
    def prefixes(self) -> tuple[Prefix, ...]:
        """Every prefix that any device has an address in, in order."""
        return tuple(self.graph.owners)

    @cached_property
    def kinds(self) -> tuple[Kind, ...]:
        """The prefixes that are alike, and each of the others on its own; with the owner, the first of several."""
        rows: dict[int, list[Prefix]] = {}
        for prefix, owners in self.graph.owners.items():
            rows.setdefault(owners[0], []).append(prefix)
        return tuple(kinds(self.graph, {device: tuple(row) for device, row in rows.items()}))

    @cached_property
    def states(self) -> States:
        """The RIBs of every prefix."""
        return self.settle()

    def settle(self, advance: Callable[[int], None] = lambda count: None, seed: int = 1) -> States:
        """Compute and keep the RIBs of every prefix; `advance` is called with how many more are done.

        Where prefixes are alike, the first and another one by the seed are computed. Raises AssertionError when the
        other one has other routes than follow from the first.
        """
        found = States(self.graph, self.prefixes)
        for kind in self.kinds:
            owner, first = kind[0]
            found.known[first] = self.state(first)
            if len(kind) > 1 and not self.removed and is_symmetric(self.graph, found.known[first], owner):
                found.firsts |= dict.fromkeys((prefix for _, prefix in kind[1:]), first)
                prefix = kind[1 + seed % (len(kind) - 1)][1]
                if found[prefix] != self.state(prefix):
                    raise AssertionError(
                        f"prefixes that should be alike are not: {prefix} has other routes than others"
                    )
            else:
                found.known |= {prefix: self.state(prefix) for _, prefix in kind[1:]}
            advance(len(kind))
        self.states = found
        return found

    def after(self, failed: frozenset[int] = frozenset(), dead: frozenset[int] = frozenset()) -> dict[Prefix, State]:
        """Return the RIBs when more sessions and some devices (indices) fail; only what changes is computed."""
        removed = removed_positions(self.graph, failed)
        return {prefix: solve(self.graph, prefix, removed, dead, state) for prefix, state in self.states.items()}

    def state(self, prefix: Prefix) -> State:
        """Return the RIBs of a prefix, computed when they are asked for; none where no device has an address in it."""
        found = self.solved.get(prefix)
        if found is None and prefix in self.__dict__.get("states", ()):
            return self.states[prefix]
        if found is None:
            found = State(prefix, frozenset(), {})
            if prefix in self.graph.owners:
                found = solve(self.graph, prefix, self.removed)
            self.solved[prefix] = found
        return found

    def held(self, device: int, prefix: Prefix) -> LocRib:
        """Return what a device holds of a prefix."""
        return held(self.graph, self.state(prefix), device)

    def paths(self, device: int, prefix: Prefix) -> tuple[Path, ...]:
        """Return every path that a device has of a prefix, the best ones first, the hidden ones last."""
        return tuple(sorted(_paths(self.graph, self.state(prefix), device), key=lambda path: ORDER[path.status]))

    def sent(self, device: int, prefix: Prefix) -> tuple[SentRoute, ...]:
        """Return what a device sends of a prefix over each of its sessions; nothing to the AS that it came from."""
        graph, groups, down = self.graph, self.graph.switches[device].groups, self.removed.get(device, frozenset())
        # A device that has no route sends nothing to any group.
        by_group = dict(zip(graph.class_at(device).groups, self.held(device, prefix).sent, strict=False))
        return tuple(
            SentRoute(
                replace(route, as_path=(entry.own_asn, *route.as_path)),
                graph.names[entry.peer],
                entry.interface,
                groups[entry.own_group].name,
                groups[entry.own_group].color or "",
            )
            for at, entry in enumerate(graph.adjacencies[device])
            if at not in down
            and (route := by_group.get(entry.own_group)) is not None
            and route.as_path[:1] != (entry.peer_asn,)
        )

    def next_hops(self, device: int, prefix: Prefix) -> tuple[NextHop, ...]:
        """Return the FIB entry of a prefix; empty for a direct route or none at all."""
        graph, state = self.graph, self.state(prefix)
        row, groups = graph.adjacencies[device], graph.switches[device].groups
        found = (row[at] for at in fib_entry(graph, state, node_of(graph, state, device)))
        return tuple(
            NextHop(one.interface, graph.names[one.peer], one.peer_interface, groups[one.own_group].color or "")
            for one in found
        )

    def longest_match(self, device: int, address: int) -> Prefix | None:
        """Return the longest prefix of a device's routes that holds an address."""
        holding = (prefix for prefix in self.prefixes if prefix.holds(address))
        usable = [prefix for prefix in holding if (rib := self.held(device, prefix)).local or rib.selection.best]
        return max(usable, key=lambda prefix: prefix.length, default=None)


ORDER = {"active": 0, "multipath": 1, "inactive": 2, "hidden": 3}


def removed_positions(graph: Graph, failed: frozenset[int]) -> Removed:
    """Turn failed sessions into the positions of both ends that are down."""
    found: dict[int, set[int]] = {}
    for number in failed:
        for device, position in graph.ends[number]:
            found.setdefault(device, set()).add(position)
    return {device: frozenset(positions) for device, positions in found.items()}


def _paths(graph: Graph, state: State, device: int) -> Iterator[Path]:
    rib = held(graph, state, device)
    if rib.local:
        yield Path(direct(), "active")
    row, switch = graph.adjacencies[device], graph.switches[device]
    best, meds = frozenset(rib.selection.best), _lowest_meds(rib, row)
    for candidate in rib.candidates:
        for at in candidate.positions:
            entry = row[at]
            status = "hidden" if candidate.hidden else "multipath" if at in best else "inactive"
            if at == rib.selection.position:
                status = "active"
            route = replace(candidate.route, as_path=(entry.peer_asn, *candidate.route.as_path))
            reason = candidate.hidden or (_lost(rib, route, meds) if status == "inactive" else "")
            yield Path(
                route, status, reason, graph.names[entry.peer], entry.interface, switch.groups[entry.own_group].name
            )


def _lowest_meds(rib: LocRib, row: tuple[Adjacency, ...]) -> dict[int, int]:
    """Return the lowest MED of each neighboring AS among the paths that only MED or a tie-break sets apart."""
    active = rib.selection.active
    found: dict[int, int] = {}
    for candidate in rib.candidates:
        if active is None or candidate.hidden or ranked(candidate) != rank(active):
            continue
        for at in candidate.positions:
            med = candidate.route.med or 0
            found[row[at].peer_asn] = min(med, found.get(row[at].peer_asn, med))
    return found


def _lost(rib: LocRib, route: Route, meds: dict[int, int]) -> str:
    """Return why a path lost against the active one, in the words of `show route extensive`.

    By MED it loses against another path from its own neighboring AS; `meds` are the lowest of each.
    """
    best = rib.selection.active
    if rib.local or best is None:
        return "Route Preference"
    if route.local_preference != best.local_preference:
        return "Local Preference"
    if route.aigp != best.aigp:
        return "AIGP"
    if len(route.as_path) != len(best.as_path):
        return "AS path"
    if (route.med or 0) > meds.get(route.as_path[0], route.med or 0):
        return "Route Metric or MED comparison"
    return "Not Best in its group - Router ID"
