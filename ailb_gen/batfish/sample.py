"""The single failures that Batfish computes: all, or some of every kind."""

from __future__ import annotations

import random
import sys
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache

from ailb_gen.routing.graph import Graph
from ailb_gen.wording import counted

# Routes (switches times prefixes) that Batfish computes in about four minutes: on 64 leaves, 16 spines and 16 colors a
# single failure took 100 s.
MOST_ROUTES = 200_000
# Every failure there is.
ALL = sys.maxsize
# Links are many, and most do not differ: more are no use even where they cost little.
LINKS = 4


@dataclass(frozen=True, slots=True)
class Sample:
    """Numbers of some of `total` things; `kinds` is how many kinds they are of."""

    chosen: tuple[int, ...]
    total: int
    kinds: int

    def __str__(self) -> str:
        if len(self.chosen) == self.total:
            return f"all {self.total}"
        kinds = counted(self.kinds, "kind")
        return f"{len(self.chosen)} of {self.total}, of {kinds}; those of one kind differ only in color and neighbors"


def sizes(graph: Graph, prefixes: int, spines: int, most: int | None = None) -> tuple[int, int]:
    """Return how many spines and links fail, for a number of prefixes and spines: at least one of each, if there are.

    `most` is how many may fail, of both together: a fifth links, and more where there are fewer spines. Without
    it as many as Batfish computes in a few minutes, and few links.
    """
    total = len(graph.sessions.up)
    affordable = max(2, MOST_ROUTES // max(len(graph.names) * prefixes, 1)) if most is None else most
    links = min(LINKS if most is None else total, total, max(1, affordable // 5))
    down = min(spines, max(1, affordable - links))
    return down, links if most is None else min(total, affordable - down)


def picked(kinds: Sequence[object], size: int, seed: int) -> Sample:
    """Pick `size` things by their kinds: one of every kind first, then any others, fixed by the seed."""
    order = list(range(len(kinds)))
    random.Random(seed).shuffle(order)  # noqa: S311 - a sample, not a secret
    first = {kinds[number]: number for number in reversed(order)}
    ones = sorted(first.values(), key=order.index)[:size]
    others = [number for number in order if number not in ones][: max(0, size - len(ones))]
    return Sample(tuple(sorted((*ones, *others))), len(kinds), len(first))


def spine_sample(graph: Graph, names: Sequence[str], size: int, seed: int) -> Sample:
    """Pick spines, by name, that are configured and cabled differently but for their colors."""
    return picked([_kind(graph, graph.index[name]) for name in names], size, seed)


def link_sample(graph: Graph, size: int, seed: int) -> Sample:
    """Pick sessions between switches that are configured and cabled differently but for their colors."""
    kind = cache(lambda name: _kind(graph, graph.index[name]))
    kinds = [(kind(session.a.device), kind(session.b.device)) for session in graph.sessions.up]
    return picked(kinds, size, seed)


def _kind(graph: Graph, device: int) -> object:
    """Return a key: equal for switches that do the same to routes over as many sessions, whatever their colors."""
    rules = graph.rules[device]
    sessions = Counter(replace(rules[entry.own_group], color=None) for entry in graph.adjacencies[device])
    return frozenset(sessions.items())
