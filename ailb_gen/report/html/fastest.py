"""Which load balancer is fastest, and what the others cost: sentences that follow from simulated points."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ailb_gen.sim.comparison import FIGURES
from ailb_gen.wording import shown

# What is compared: the first of these that all points have.
TIMES = (("job_us", "the job takes"), ("fct_mean_us", "a flow takes, on average,"))
PERCENT = 100
# Times that differ by less (a share) are called equal.
SAME = 0.001

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


def conclusions(points: Mapping[str, Sequence[Statistics]]) -> Iterator[str]:
    """Give what follows from the points of variants with the same seeds: the fastest first, the slowest last."""
    for figure, words in TIMES:
        times = [_Time(name, [FIGURES[figure](one) for one in seeds]) for name, seeds in points.items() if seeds]
        ended = [(one.mean, one) for one in times if one.mean is not None]
        if not ended:
            continue
        least, best = min(ended, key=lambda pair: pair[0])
        same = [one for mean, one in ended if mean <= least * (1 + SAME)]
        yield _fastest(same, len(times), f"{words} {shown(least)} us.")
        others = sorted((one for one in times if one not in same), key=lambda one: (one.mean is None, one.mean or 0))
        yield from (_against(one, best, least) for one in others)
        return
    if any(points.values()):
        yield "No job and no flow ended."


def _fastest(same: Sequence[_Time], all_of_them: int, took: str) -> str:
    """Return which variants are fastest; `same` are those that nobody would tell apart."""
    within = f"within {SAME * PERCENT:g} %"
    if all_of_them == 1:
        return f"{took[0].upper()}{took[1:]}"
    if len(same) == all_of_them:
        return f"All take the same time, {within}: {took}"
    if len(same) == 1:
        return f"{same[0].name} is fastest: {took}"
    *first, last = (one.name for one in same)
    return f"{', '.join(first)} and {last} are fastest, {within}: {took}"


def _against(one: _Time, best: _Time, least: float) -> str:
    if one.mean is None:
        missing = sum(value is None for value in one.seeds)
        some = "" if missing == len(one.seeds) else f" with {missing} of {len(one.seeds)} seeds"
        return f"{one.name} does not end{some}."
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
