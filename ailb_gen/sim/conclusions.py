"""Which load balancer is fastest, and what the others cost: sentences that follow from simulated points."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ailb_gen.sim.comparison import FIGURES
from ailb_gen.sim.fabric import HOST
from ailb_gen.sim.results import PointRow
from ailb_gen.sim.statistics import TIERS
from ailb_gen.sim.traffic.nccl import PROTOCOLS
from ailb_gen.wording import shown

# What is compared: the first of these that all points have.
TIMES = (("job_us", "the job takes"), ("fct_mean_us", "a flow takes, on average,"))
PERCENT = 100
# Times that differ by less (a share) are called equal.
SAME = 0.001
LEAST_EQUAL = 2
# Shares of a link's rate over the whole time: from which on a link limits a job, and below which flows hardly meet.
FULL, IDLE = 0.9, 0.5
HOSTS = TIERS[HOST]
RLB = "rlb"
# All NICs begin at the same instant, with the queue pair of the first color: that the packets of a leaf's NICs wait for
# each other once takes at most so much.
BURST_US = 1.0
NCCL_LABEL = re.compile(rf"\([a-z-]+, (?:{'|'.join(PROTOCOLS)})\)$")

# Per variant by its name: the statistics of its seeds, in their order.
Statistics = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class _Time:
    """The times of a variant in us, by seed; None where it did not end."""

    name: str
    seeds: Sequence[float | None]

    @property
    def mean(self) -> float | None:
        """The mean over the seeds; None unless all ended."""
        known = [value for value in self.seeds if value is not None]
        return sum(known) / len(known) if known and len(known) == len(self.seeds) else None


@dataclass(frozen=True, slots=True)
class _Ranking:
    """Variants by their times: the fastest ones, which are practically equal, and the others, the fastest first."""

    words: str
    best: _Time
    same: Sequence[_Time]
    others: Sequence[_Time]


def _ranking(points: Mapping[str, Sequence[Statistics]]) -> _Ranking | None:
    """Rank variants by the first of TIMES that any of them has; None without any."""
    for figure, words in TIMES:
        times = [_Time(name, [FIGURES[figure](one) for one in seeds]) for name, seeds in points.items() if seeds]
        ended = [(one.mean, one) for one in times if one.mean is not None]
        if ended:
            least, best = min(ended, key=lambda pair: pair[0])
            same = [one for mean, one in ended if mean <= least * (1 + SAME)]
            others = sorted(
                (one for one in times if one not in same), key=lambda one: (one.mean is None, one.mean or 0)
            )
            return _Ranking(words, best, same, others)
    return None


def comparable(rows: Sequence[PointRow], variants: Mapping[str, str]) -> dict[str, list[Statistics]]:
    """Return the statistics of variants by name: of those seeds that all variants have that have any."""
    found: dict[str, dict[int, Statistics]] = {name: {} for name in variants}
    for name, variant in variants.items():
        for row in rows:
            if row.variant == variant and row.statistics is not None:
                found[name][row.seed] = row.statistics
    some = [seeds for seeds in found.values() if seeds]
    return {name: [seeds[seed] for seed in seeds if all(seed in one for one in some)] for name, seeds in found.items()}


def conclusions(points: Mapping[str, Sequence[Statistics]]) -> Iterator[str]:
    """Give the conclusions from the points of variants with the same seeds: the fastest first, the slowest last."""
    ranking = _ranking(points)
    if ranking is not None:
        yield _fastest(points, ranking)
        yield from (_against(one, ranking.best, ranking.best.mean or 0.0) for one in ranking.others)
        yield from _reasons(points, ranking)
    elif any(points.values()):
        yield "No job and no flow completed."


def remark(points: Mapping[str, Sequence[Statistics]]) -> str:
    """Return which variants are fastest together, and why; of one alone, what costs time without a load balancer."""
    ranking = _ranking(points)
    if ranking is None:
        return ""
    several = len(ranking.same) >= LEAST_EQUAL
    return " ".join([*([_fastest(points, ranking)] if several else []), *_reasons(points, ranking)])


def _reasons(points: Mapping[str, Sequence[Statistics]], ranking: _Ranking) -> Iterator[str]:
    """Yield why no load balancer, or not RLB, is faster; where several are equal that says why flows are slow."""
    slower = _to_slower(points[ranking.best.name])
    if slower and len(ranking.same) < LEAST_EQUAL:
        yield slower
    for one in ranking.others:
        more = (one.mean or math.inf) - (ranking.best.mean or 0.0)
        if one.name == RLB and more <= BURST_US:
            why = "all NICs begin with the first color at once. Larger messages do not make it longer."
            yield f"{RLB} takes {shown(more)} us more: {why}"


def no_collisions(points: Iterable[Statistics]) -> str:
    """Return that no flows of any point can collide between switches, and why; empty if some can, or without points."""
    counts = [one.get("no_collisions") for one in points]
    if not counts or not all(counts):
        return ""
    crossing = any(one["flows"] for one in counts if one is not None)
    why = "at most one enters or leaves a leaf" if crossing else "none crosses a spine"
    return f"No flows can collide between switches: {why}."


def nccl_choices(points: Iterable[Statistics]) -> str:
    """Return which algorithms and protocols NCCL chose, by collective; empty where it was not asked."""
    labels = {label for one in points for label in one.get("flows", {}) if NCCL_LABEL.search(label)}
    return f"NCCL chooses: {'; '.join(sorted(labels))}." if labels else ""


def _fastest(points: Mapping[str, Sequence[Statistics]], ranking: _Ranking) -> str:
    """Return which variants are fastest, and if several are, why."""
    took, within = f"{ranking.words} {shown(ranking.best.mean or 0.0)} us.", f"within {SAME * PERCENT:g} %"
    *first, last = (one.name for one in ranking.same)
    if not first:
        return f"{last} is fastest: {took}" if ranking.others else f"{took[0].upper()}{took[1:]}"
    who = f"{', '.join(first)} and {last} are fastest" if ranking.others else "All take the same time"
    return f"{who}, {within}: {took} {_why_equal(points, ranking.same)}".rstrip()


def _why_equal(points: Mapping[str, Sequence[Statistics]], same: Sequence[_Time]) -> str:
    """Return how full links are at most where several variants are equally fast: why their difference does not show.

    Where no flows can collide, that alone is why.
    """
    if alone := no_collisions(found for one in same for found in points[one.name]):
        return alone
    busiest = {True: 0.0, False: 0.0}
    for statistics in (found for one in same for found in points[one.name]):
        for kind, links in statistics.get("links", {}).items():
            of_hosts = HOSTS in kind.split()
            busiest[of_hosts] = max(busiest[of_hosts], links["max_load"])
    between = f"The peak load of a link between switches is {_percent(busiest[False] * PERCENT)} % of its rate"
    slower = _to_slower(points[same[0].name])
    if busiest[True] >= FULL:
        return f"{between}, that of a host at {_percent(busiest[True] * PERCENT)} %: hosts are the bottleneck. {slower}"
    if 0 < busiest[False] < IDLE and not slower:
        return f"{between}: too low for collisions. Larger messages or a permutation show more."
    return f"{between}. {slower}" if busiest[False] else slower


def _to_slower(seeds: Sequence[Statistics]) -> str:
    """Return how many flows find their queue at the receiver, whatever the load balancer; empty if none does."""
    counts = [found for one in seeds if (found := one.get("to_slower_nic"))]
    slower, flows = (sum(found[key] for found in counts) for key in ("flows", "of"))
    where = "go from a faster to a slower NIC: their queues build at the ports to the receivers."
    return f"{slower:,} of {flows:,} flows {where}" if slower else ""


def _against(one: _Time, best: _Time, least: float) -> str:
    if one.mean is None:
        missing = sum(value is None for value in one.seeds)
        some = "" if missing == len(one.seeds) else f" with {missing} of {len(one.seeds)} seeds"
        return f"{one.name} does not complete{some}."
    more = (one.mean / least - 1) * PERCENT
    pairs = [(a / b - 1) * PERCENT for a, b in zip(one.seeds, best.seeds, strict=False) if a is not None and b]
    text = f"{one.name} takes {_percent(more)} % more"
    if len(pairs) > 1:
        text += f" (seed by seed {_percent(min(pairs))} to {_percent(max(pairs))} %)"
        text += "; not with every seed" if min(pairs) <= 0 else ""
    return f"{text}."


def _percent(value: float) -> str:
    """Return one decimal, or two digits of what is less than 1."""
    return f"{value:.1f}" if abs(value) >= 1 else f"{value:.2g}"
