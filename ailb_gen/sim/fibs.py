"""The FIBs of all switches as next-hop sets: a class of switches at a time."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from ailb_gen.addresses import BITS, Prefix
from ailb_gen.routing.fib import fib_entry
from ailb_gen.routing.rib import Routing, removed_positions
from ailb_gen.routing.solve import State, solve
from ailb_gen.sim.fabric import LOCAL, UNREACHABLE, Int32, Int64, NextHopSets

# What packets to an address of a leaf's match, the longest prefix first, and the leaf that has it (-1: none).
Column = tuple[tuple[Prefix, ...], int]


class Fibs:
    """Looks FIBs up for some columns: destinations that have the same routes everywhere.

    `session_links` has shape (sessions, 2): the link of every session from its first end, and the one back.
    """

    def __init__(self, routing: Routing, columns: Sequence[Column], session_links: Int32) -> None:
        self.routing, self.graph, self.columns = routing, routing.graph, columns
        graph = self.graph
        first = [graph.index[session.a.device] for session in graph.sessions.up]
        # The links of every device by position.
        self.links: tuple[Int32, ...] = tuple(
            np.array([session_links[one.session, int(first[one.session] != device)] for one in row], dtype=np.int32)
            for device, row in enumerate(graph.adjacencies)
        )
        self.members = [np.array(sorted(found.members), dtype=np.int64) for found in graph.classes]
        self.rank: Int64 = np.zeros(len(graph.names), dtype=np.int64)
        for members in self.members:
            self.rank[members] = np.arange(len(members))
        # The number of the first set of a class's members, or of a single switch, by their positions.
        self.known: dict[tuple[int, tuple[int, ...]], int] = {}

    def next_hops(self, sets: NextHopSets, states: Mapping[Prefix, State]) -> Int32:
        """Return the next-hop sets of every switch and column, shape (switches, columns); adds those that lack."""
        rows: dict[Prefix, Int32] = {}
        found = np.full((len(self.columns), len(self.graph.names)), UNREACHABLE, dtype=np.int32)
        for number, (prefixes, leaf) in enumerate(self.columns):
            for prefix in prefixes:
                if prefix not in rows:
                    rows[prefix] = self._row(sets, states[prefix])
                # What no longer prefix holds.
                found[number] = np.where(found[number] == UNREACHABLE, rows[prefix], found[number])
            # Packets that end at another switch with the prefix are not delivered.
            strays = found[number] == LOCAL
            if leaf >= 0:
                strays[leaf] = False
            found[number][strays] = UNREACHABLE
        return np.ascontiguousarray(found.T)

    def after(self, sets: NextHopSets, sessions: frozenset[int], dead: frozenset[int]) -> Int32:
        """Return the next-hop sets when sessions are down and switches are dead."""
        removed = removed_positions(self.graph, sessions)
        before = self.routing.states
        prefixes = dict.fromkeys(prefix for column, _ in self.columns for prefix in column)
        states = {prefix: solve(self.graph, prefix, removed, dead, before[prefix]) for prefix in prefixes}
        return self.next_hops(sets, states)

    def _row(self, sets: NextHopSets, state: State) -> Int32:
        """Return the next-hop set of every switch for one prefix."""
        graph = self.graph
        row = np.full(len(graph.names), UNREACHABLE, dtype=np.int32)
        for node in state.nodes:
            if graph.is_alone(node):
                continue
            hops = fib_entry(graph, state, node)
            if hops:
                members = self.members[node]
                row[members] = self._of_class(sets, node, hops) + np.arange(len(members), dtype=np.int32)
        for device in state.singles:
            row[device] = UNREACHABLE
            node = graph.alone(device)
            if node not in state.nodes:
                continue
            hops = fib_entry(graph, state, node)
            if state.nodes[node].local:
                row[device] = LOCAL
            elif hops:
                row[device] = self._of_device(sets, device, hops)
        return row

    def _of_class(self, sets: NextHopSets, number: int, hops: tuple[int, ...]) -> int:
        found = self.known.get((number, hops))
        if found is None:
            found = sets.add(np.stack([self.links[device][list(hops)] for device in self.members[number].tolist()]))
            self.known[number, hops] = found
        return found

    def _of_device(self, sets: NextHopSets, device: int, hops: tuple[int, ...]) -> int:
        """Return the set of a switch on its own: the one that it has as a member of its class, if there is one."""
        of_class = self.known.get((self.graph.class_of[device], hops))
        if of_class is not None:
            return of_class + int(self.rank[device])
        key = self.graph.alone(device), hops
        if key not in self.known:
            self.known[key] = sets.add(self.links[device][None, list(hops)])
        return self.known[key]


class Holders:
    """Finds the prefixes that hold an address."""

    def __init__(self, prefixes: Iterable[Prefix]) -> None:
        self.prefixes = sorted(set(prefixes))
        # The index of the longest other prefix that contains each one, or -1.
        self.parents: list[int] = []
        inside: list[int] = []
        for number, prefix in enumerate(self.prefixes):
            while inside and not self.prefixes[inside[-1]].contains(prefix):
                inside.pop()
            self.parents.append(inside[-1] if inside else -1)
            inside.append(number)

    def of(self, address: int) -> tuple[Prefix, ...]:
        """Return the prefixes that hold an address, the longest first."""
        # Those begin at or before it, and the last one that does is in all of them or beside them.
        at = bisect_right(self.prefixes, (address, BITS)) - 1
        found = []
        while at >= 0:
            if self.prefixes[at].holds(address):
                found.append(self.prefixes[at])
            at = self.parents[at]
        return tuple(found)
