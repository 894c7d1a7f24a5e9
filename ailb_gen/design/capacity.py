"""The capacity between leaves that drains, graceful shutdowns and disabled ports leave."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import combinations_with_replacement

from ailb_gen.design.model import Design

# Gb/s of the links of a leaf by spine and color.
Uplinks = Mapping[tuple[str, str], int]


@dataclass(frozen=True, slots=True)
class CapacityLeft:
    """How much capacity as many pairs of leaves have left; `example` is one of the pairs.

    `now` and `whole` are in Gb/s, with and without what is in service.
    """

    now: int
    whole: int
    pairs: int
    example: tuple[str, str]

    @property
    def percent(self) -> str:
        """The share that is left, in percent, rounded down to a tenth."""
        return f"{math.floor(1000 * self.now / self.whole) / 10:.1f}".removesuffix(".0")

    def is_under(self, percent: float) -> bool:
        """Return whether less than a share is left."""
        return 100 * self.now < percent * self.whole


def capacity_left(design: Design) -> tuple[CapacityLeft, ...]:
    """Return the capacity that pairs of leaves have left, the least first.

    Of a pair it is the sum over spines and colors of the smaller of both leaves' links there; a link counts that is
    in service at both ends, and whose spine is not in graceful shutdown. Pairs that share no spine and color have none
    that could be left, and do not count.
    """
    off = {(one.name, port.interface) for one in design.switches for port in one.fabric_ports if port.disabled}
    shut = {spine.name for spine in design.spines if spine.graceful_shutdown}
    whole: dict[str, dict[tuple[str, str], int]] = {leaf.name: defaultdict(int) for leaf in design.leaves}
    now: dict[str, dict[tuple[str, str], int]] = {leaf.name: defaultdict(int) for leaf in design.leaves}
    for link in design.links:
        key = (link.spine, link.color.name)
        whole[link.leaf][key] += link.speed_gbps
        ends = ((link.leaf, link.leaf_interface), (link.spine, link.spine_interface))
        if link.spine not in shut and off.isdisjoint(ends):
            now[link.leaf][key] += link.speed_gbps
    alike: dict[tuple[frozenset[object], frozenset[object]], list[str]] = defaultdict(list)
    for name in whole:
        alike[frozenset(whole[name].items()), frozenset(now[name].items())].append(name)
    counts: dict[tuple[int, int], int] = defaultdict(int)
    examples: dict[tuple[int, int], tuple[str, str]] = {}
    for near, far, pairs in _kinds(list(alike.values())):
        shared = _shared(now[near], now[far]), _shared(whole[near], whole[far])
        if shared[1]:
            counts[shared] += pairs
            examples.setdefault(shared, (near, far))
    found = (CapacityLeft(*shared, pairs, examples[shared]) for shared, pairs in counts.items())
    return tuple(sorted(found, key=lambda one: (one.now / one.whole, one.example)))


def _kinds(alike: list[list[str]]) -> Iterator[tuple[str, str, int]]:
    """Give two leaves for every two kinds of them, and how many such pairs there are."""
    for near, far in combinations_with_replacement(alike, 2):
        if near is not far:
            yield near[0], far[0], len(near) * len(far)
        elif len(near) > 1:
            yield near[0], near[1], len(near) * (len(near) - 1) // 2


def _shared(near: Uplinks, far: Uplinks) -> int:
    return sum(min(speed, far.get(key, 0)) for key, speed in near.items())
