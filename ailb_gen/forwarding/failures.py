"""Effects of failed links and spines: only what the failure touches is computed again.

A prefix is solved anew when a switch next to the failure would send something else; where it would only lose some of
its next hops, the FIB entry is corrected in place: what is left of the best paths are the best paths, and only without
any is the selection made again.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np

from ailb_gen.addresses import Prefix
from ailb_gen.forwarding.baseline import NOT_ONE, Baseline, Uses, Ways
from ailb_gen.forwarding.delivery import outcome_at, outcomes, stranded
from ailb_gen.forwarding.loads import Indices, Volumes, spread
from ailb_gen.routing.fib import fib_entry, installed, members_of, node_of
from ailb_gen.routing.rib import removed_positions
from ailb_gen.routing.solve import Candidate, LocRib, Removed, State, select, solve

# Sums of the same loads in another order differ by less, as a share of the highest without failures.
SAME = 1e-9


@dataclass(frozen=True, slots=True)
class Failure:
    """Sessions (indices) whose links are down, and devices that are dead: only spines."""

    name: str
    sessions: frozenset[int] = frozenset()
    dead: frozenset[int] = frozenset()


@dataclass(frozen=True, slots=True)
class Impact:
    """The outcome of a failure.

    `lost` are (device, prefix, problem) that no longer arrive, `strayed` FIB entries that change without having used
    what failed, both of devices that send traffic; `moved` is how many entries changed, of all devices. `worst` is the
    highest load of a link over what a link carries without failures, under all-to-all traffic, `worst_link` that link.
    """

    failure: Failure
    moved: int
    lost: tuple[tuple[int, Prefix, str], ...]
    strayed: tuple[tuple[int, Prefix], ...]
    worst: float
    worst_link: int


def assess(baseline: Baseline, failure: Failure) -> Impact:
    """Compute what a failure changes, against the fabric without failures."""
    return Assessment(baseline, failure).run()


def most_loaded(baseline: Baseline, load: Volumes) -> Indices:
    """Return the links (directions) that carry the most, in order; another order of summing makes no difference."""
    return np.flatnonzero(load >= load.max(initial=0.0) - SAME * baseline.highest)


@dataclass(frozen=True, slots=True)
class _Site:
    """A node that loses the positions `down`; `uses` is where it uses what, but for the prefixes in `apart`."""

    node: int
    down: frozenset[int]
    uses: Uses | None
    apart: Indices | None

    def plain(self) -> Iterator[tuple[Ways, Indices]]:
        """Yield the prefixes whose best paths are ECMP and sent to no neighbor, by those paths; each once."""
        if self.uses is None:
            return
        for at in self.down:
            for ways, numbers in self.uses.plain.get(at, {}).items():
                if at == next(way for way in ways if way in self.down):
                    kept = numbers if self.apart is None else np.setdiff1d(numbers, self.apart, assume_unique=True)
                    if len(kept):
                        yield ways, kept

    def special(self) -> list[int]:
        """Return all other prefixes that use what is down."""
        if self.uses is None:
            return []
        used = {number for at in self.down for number in self.uses.special.get(at, ())}
        return sorted(used if self.apart is None else used - set(self.apart.tolist()))


class Assessment:
    """One failure; it takes devices out of their class, which then are nodes of their own.

    `corrected` are FIB entries replaced in place: a node, what is left, and the numbers of the prefixes; `solved` the
    states of the prefixes that were computed again, by number.
    """

    def __init__(self, baseline: Baseline, failure: Failure) -> None:
        self.baseline, self.graph, self.failure = baseline, baseline.graph, failure
        self.removed: Removed = removed_positions(self.graph, failure.sessions)
        self.load = baseline.load.copy()
        self.moved = 0
        self.corrected: list[tuple[int, Ways, Indices]] = []
        self.solved: dict[int, State] = {}
        self.lost: list[tuple[int, Prefix, str]] = []
        self.strayed: list[tuple[int, Prefix]] = []

    def run(self) -> Impact:
        """Compute what the failure changes; once."""
        baseline = self.baseline
        groups: dict[tuple[int, Ways, Ways], list[Indices]] = defaultdict(list)
        fully: set[int] = set()
        for site in self._sites():
            for ways, numbers in site.plain():
                left = tuple(at for at in ways if at not in site.down)
                if left:
                    groups[site.node, ways, left].append(numbers)
                else:
                    self._singly(site, numbers, groups)
            special = site.special()
            holders = {number: self._before_node(baseline.states[number], site.node) for number in special}
            whole = {number for number, node in holders.items() if (node, number) in baseline.whole}
            fully |= whole
            self._singly(site, [number for number in special if number not in whole], groups)
        rows = {key: self._together(found) for key, found in groups.items()}
        # What goes another way than up to a switch next to the destination is computed like everything else.
        for (node, old, new), row in rows.items():
            fully.update(self._further(node, old, new, row).tolist())
        moved = np.ones(len(baseline.states), dtype=bool)
        moved[list(fully)] = False
        for (node, old, new), row in rows.items():
            if old != new:
                self._move(node, old, new, row[moved[row]])
        for number in sorted(fully):
            self._solve(number)
        worst = int(most_loaded(baseline, self.load)[0]) if len(self.load) else 0
        ratio = float(self.load[worst]) / baseline.highest if baseline.highest else 0.0
        return Impact(self.failure, self.moved, tuple(self.lost), tuple(self.strayed), ratio, worst)

    def _together(self, found: list[Indices]) -> Indices:
        """Return prefixes of several lists, each once and in order."""
        if len(found) == 1:
            return found[0]
        here = np.zeros(len(self.baseline.states), dtype=bool)
        for numbers in found:
            here[numbers] = True
        return np.flatnonzero(here)

    def _sites(self) -> Iterator[_Site]:
        """Yield every node that loses positions: devices at failed links, classes next to dead devices."""
        baseline, graph, dead = self.baseline, self.graph, self.failure.dead
        alone = set(self.removed)
        for number, found in enumerate(graph.classes) if dead else ():
            down = self._dead_ways(number)
            if not down:
                continue
            if found.members & (alone | dead):
                alone |= found.members
                continue
            yield _Site(number, down, baseline.uses.get(number), None)
            for device in found.members:
                yield _Site(graph.alone(device), down, baseline.uses.get(graph.alone(device)), None)
        for device in sorted(alone - dead):
            number = graph.class_of[device]
            down = self.removed.get(device, frozenset()) | self._dead_ways(number)
            node = graph.alone(device)
            yield _Site(node, down, baseline.uses.get(number), baseline.apart[device])
            yield _Site(node, down, baseline.uses.get(node), None)

    def _dead_ways(self, number: int) -> frozenset[int]:
        places = self.graph.classes[number].places
        return frozenset(at for device in self.failure.dead for _, at in places.get(device, ()))

    def _singly(self, site: _Site, numbers: Iterable[int], groups: dict[tuple[int, Ways, Ways], list[Indices]]) -> None:
        for number in numbers:
            state = self.baseline.states[number]
            rib = state.nodes[self._before_node(state, site.node)]
            old = fib_entry(self.graph, state, self._before_node(state, site.node))
            new = self._selected(self.graph.device(site.node), rib, site.down)
            groups[site.node, old, new].append(np.array([number]))

    def _selected(self, device: int, rib: LocRib, down: frozenset[int]) -> Ways:
        """Select again without some positions; among candidates that rank alike only once."""
        key = (self.graph.class_of[device], tuple(map(_shape, rib.candidates)), down)
        found = self.baseline.selections.get(key)
        if found is None:
            kept = [_without(candidate, down) for candidate in rib.candidates]
            selection = select(self.graph, device, tuple(candidate for candidate in kept if candidate.positions))
            found = installed(self.graph.switches[device].balancing, selection)
            self.baseline.selections[key] = found
        return found

    def _further(self, node: int, old: Ways, new: Ways, row: Indices) -> Indices:
        """Return the prefixes of which some way before or after does not lead to a neighbor of the destination."""
        ahead = self.graph.adjacencies[self.graph.device(node)]
        far = np.zeros(len(row), dtype=bool)
        for peer in {ahead[at].peer for at in (*old, *new)}:
            far |= self.baseline.second_hops(peer)[row] == NOT_ONE
        return row[far]

    def _move(self, node: int, old: Ways, new: Ways, row: Indices) -> None:
        """Replace FIB entries of a node and shift their load; every way leads to a neighbor of the destination."""
        if not len(row):
            return
        baseline, graph = self.baseline, self.graph
        self.corrected.append((node, new, row))
        device = graph.device(node)
        alone = graph.is_alone(node)
        sources = [device] if alone else sorted(graph.classes[node].members)
        volume = np.zeros(len(graph.names))
        volume[sources] = baseline.sources[sources] * baseline.weight[row].sum()
        inflow = baseline.weight[row] * baseline.sources[sources].sum()
        self.moved += len(row) * len(sources)
        if not alone:
            # Whoever is on its own for a prefix is not moved with its class.
            for index, number in enumerate(row.tolist()):
                apart = baseline.states[number].singles & graph.classes[node].members
                self.moved -= len(apart)
                for single in apart:
                    volume[single] -= baseline.sources[single] * baseline.weight[number]
                    inflow[index] -= baseline.sources[single] * baseline.weight[number]
        if not new:
            self.lost += [
                (source, baseline.prefixes[number], stranded(graph, source).problem)
                for number in row.tolist()
                for source in sources
                if baseline.sources[source] and (alone or source not in baseline.states[number].singles)
            ]
        by_peer: dict[int, list[tuple[int, float, int]]] = defaultdict(list)
        for ways, sign in ((old, -1.0), (new, 1.0)):
            for at in ways:
                by_peer[graph.adjacencies[device][at].peer].append((at, sign, len(ways)))
        # All that concerns a link in one go: its loads are far apart in memory.
        for peer, shares in by_peer.items():
            down = baseline.second_hops(peer)[row]
            for at, sign, count in shares:
                up = baseline.links.of[device][at] if alone else baseline.links.matrix[node][:, at]
                self.load[up] += sign * volume[device if alone else sources] / count
                np.add.at(self.load, down, sign * inflow / count)

    def _solve(self, number: int) -> None:
        """Compute a prefix again and compare with what was."""
        baseline, graph = self.baseline, self.graph
        old = baseline.states[number]
        new = solve(graph, old.prefix, self.removed, self.failure.dead, old)
        self.solved[number] = new
        changed = [node for node, rib in new.nodes.items() if self._is_changed(old, new, node, rib)]
        sources = {node: senders for node in new.nodes if (senders := self._senders(new, node))}
        reached = {self._before_node(old, node) for node in sources} | {
            node_of(graph, state, graph.adjacencies[graph.device(node)][at].peer)
            for state in (old, new)
            for node in sources
            for at in fib_entry(graph, state, node if state is new else self._before_node(old, node))
        }
        touched = any(node in reached or self._before_node(old, node) in reached or node in sources for node in changed)
        if touched:
            spread(baseline.links, old, baseline.demand(number), self.load, -1.0)
            spread(baseline.links, new, baseline.demand(number), self.load)
        # Where every way is up and down, and all that is on one stays as it was, packets arrive as before.
        if touched or self.failure.dead or not baseline.arrives(number):
            ends = outcomes(graph, new)
            for node, senders in sources.items():
                end = ends[node]
                if end.problem:
                    self.lost += [(device, old.prefix, outcome_at(graph, end, device).problem) for device in senders]
        for node in changed:
            self.moved += len(members_of(graph, new, node))
            # Members of a class have the same ways, and none of them is next to what failed.
            if node in sources and not self._used(old, sources[node][0]):
                self.strayed += [(device, old.prefix) for device in sources[node]]

    def _before_node(self, old: State, node: int) -> int:
        """Return the node without failures that holds what `node` holds."""
        return node_of(self.graph, old, self.graph.device(node)) if self.graph.is_alone(node) else node

    def _is_changed(self, old: State, new: State, node: int, rib: LocRib) -> bool:
        """Return whether a node sends packets another way than before; what is computed again is another object."""
        before = self._before_node(old, node)
        return rib is not old.nodes.get(before) and fib_entry(self.graph, new, node) != fib_entry(
            self.graph, old, before
        )

    def _senders(self, state: State, node: int) -> list[int]:
        if state.nodes[node].local:
            return []
        if self.graph.is_alone(node):
            device = self.graph.device(node)
            return [device] if self.baseline.sources[device] else []
        found = self.baseline.senders[node]
        # A class has hundreds of devices, and few are on their own.
        apart = {one for one in state.singles if self.graph.class_of[one] == node}
        return [device for device in found if device not in apart] if apart else found

    def _used(self, old: State, device: int) -> bool:
        """Return whether any way from a device passed what failed."""
        graph = self.graph
        todo, seen = [device], {device}
        while todo:
            here = todo.pop()
            down = self.removed.get(here, frozenset())
            for at in fib_entry(graph, old, node_of(graph, old, here)):
                peer = graph.adjacencies[here][at].peer
                if at in down or peer in self.failure.dead:
                    return True
                if peer not in seen:
                    seen.add(peer)
                    todo.append(peer)
        return False


def _shape(candidate: Candidate) -> tuple[object, ...]:
    route = candidate.route
    ranked = (route.local_preference, route.aigp, len(route.as_path), route.med)
    return (candidate.positions, candidate.group, bool(candidate.hidden), *ranked)


def _without(candidate: Candidate, down: frozenset[int]) -> Candidate:
    return candidate._replace(positions=tuple(at for at in candidate.positions if at not in down))
