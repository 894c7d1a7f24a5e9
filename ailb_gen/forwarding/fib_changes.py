"""FIB entries after a failure, as differences from those without one."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator

import numpy as np

from ailb_gen.addresses import Prefix
from ailb_gen.forwarding.baseline import Baseline
from ailb_gen.forwarding.failures import Assessment, Failure
from ailb_gen.routing.fib import fib_entry
from ailb_gen.routing.graph import Graph
from ailb_gen.routing.rib import removed_positions
from ailb_gen.routing.solve import EMPTY, State, solve

# Positions of the next hops; empty for a direct route, None without a route.
Entry = tuple[int, ...] | None
# Node, its new entry, and the numbers of the prefixes, each as the difference to the one before: equal steps compress
# well. As many in turn as there are changes.
Changed = list[object]
# What changes, and the numbers of the prefixes whose routes do not converge.
Row = tuple[Changed, list[int]]


def entry_of(graph: Graph, state: State, node: int) -> Entry:
    """Return the FIB entry of a node."""
    rib = state.nodes.get(node, EMPTY)
    return fib_entry(graph, state, node) if rib.local or rib.selection.best else None


def entries(graph: Graph, state: State) -> dict[int, Entry]:
    """Return the FIB entries of every node of a state; a device on its own hides the entry of its class."""
    found = {node: entry_of(graph, state, node) for node in state.nodes if not graph.is_alone(node)}
    return found | {graph.alone(device): entry_of(graph, state, graph.alone(device)) for device in state.singles}


class FibChanges:
    """Changes by failures in the FIB entries of `prefixes`, which are identified by their numbers."""

    def __init__(self, baseline: Baseline, prefixes: Iterable[Prefix]) -> None:
        self.baseline, self.graph = baseline, baseline.graph
        self.numbers = {prefix: number for number, prefix in enumerate(prefixes)}
        known = frozenset(baseline.prefixes)
        # By the baseline's number of a prefix; -1 for what nobody asked for.
        self.number_of = np.array([self.numbers.get(prefix, -1) for prefix in baseline.prefixes], dtype=np.int64)
        self.steady: dict[Prefix, dict[int, Entry]] = {}
        # The states of those that carry no traffic by the baseline.
        self.others = [baseline.routing.state(prefix) for prefix in self.numbers if prefix not in known]

    def after(self, failure: Failure) -> Row:
        """Assess a failure and return what it changes."""
        assessment = Assessment(self.baseline, failure)
        assessment.run()
        return self.of(assessment)

    def of(self, assessment: Assessment) -> Row:
        """Return what an assessed failure changes.

        What changes for a class of switches holds for those of its devices that are not on their own without failures,
        unless they have a change of their own.
        """
        baseline = self.baseline
        found: dict[tuple[int, Entry], list[int]] = defaultdict(list)
        for node, left, row in assessment.corrected:
            found[node, left or None] += self.number_of[row].tolist()
        pairs = [(baseline.states[number], state) for number, state in assessment.solved.items()]
        failure = assessment.failure
        removed = removed_positions(self.graph, failure.sessions)
        pairs += [(old, solve(self.graph, old.prefix, removed, failure.dead, old)) for old in self.others]
        pairs = [(old, new) for old, new in pairs if old.prefix in self.numbers]
        for old, new in pairs:
            for node, entry in self._changed(old, new):
                found[node, entry].append(self.numbers[old.prefix])
        doubtful = sorted(self.numbers[new.prefix] for _, new in pairs if not new.stable)
        rows = ((node, entry, _steps(numbers)) for (node, entry), numbers in found.items())
        return [value for row in rows if row[2] for value in row], doubtful

    def _changed(self, old: State, new: State) -> Iterator[tuple[int, Entry]]:
        graph = self.graph
        after = entries(graph, new)
        if old.prefix not in self.steady:
            self.steady[old.prefix] = entries(graph, old)
        before = self.steady[old.prefix]
        for node, entry in after.items():
            if not graph.is_alone(node):
                if entry != before.get(node):
                    yield node, entry
                continue
            number = graph.class_of[graph.device(node)]
            seen = before[node] if node in before else after.get(number, before.get(number))
            if entry != seen:
                yield node, entry


def _steps(numbers: list[int]) -> list[int]:
    known = sorted(number for number in numbers if number >= 0)
    return [number - before for before, number in zip([0, *known], known, strict=False)]
