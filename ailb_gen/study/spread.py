"""Confidence intervals over seeds, and the outcomes that follow from them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cache
from statistics import stdev
from typing import Literal

Outcome = Literal["holds", "does not hold", "undecided"]
# Of intervals.
CONFIDENCE = 0.95
# No quantile is larger: that of one degree of freedom is 12.7.
LARGEST = 16.0


@cache
def student(freedom: int) -> float:
    """Return the t within which Student's distribution is with the confidence, for a positive number of degrees."""
    low, high = 0.0, LARGEST
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if _inside(middle, freedom) < CONFIDENCE else (low, middle)
    return high


def _inside(t: float, freedom: int) -> float:
    """Return the probability of an absolute value of at most t (Abramowitz and Stegun, 26.7.3 and 26.7.4)."""
    angle = math.atan(t / math.sqrt(freedom))
    odd = freedom % 2
    term = math.cos(angle) if odd else 1.0
    total = term if freedom > 1 else 0.0
    for place in range(2 + odd, freedom - 1, 2):
        term *= math.cos(angle) ** 2 * (place - 1) / place
        total += term
    return 2 / math.pi * (angle + math.sin(angle) * total) if odd else math.sin(angle) * total


def half_width(values: Sequence[float]) -> float:
    """Return half of the confidence interval of the mean of values; 0 for equal ones, and for a single one."""
    if len(values) < 2 or min(values) == max(values):
        return 0.0
    return student(len(values) - 1) * stdev(values) / math.sqrt(len(values))


def jackknife(parts: Sequence[float], freedom: int) -> float:
    """Return half of the confidence interval of a statistic, from its values without one seed each.

    For a mean it is that of Student's t; for a ratio of means over the same seeds it takes into account that they vary
    together (Efron and Stein, 1981). `freedom` is that of the case with the fewest seeds.
    """
    if len(parts) < 2 or min(parts) == max(parts):
        return 0.0
    count = len(parts)
    mean = math.fsum(parts) / count
    return student(freedom) * math.sqrt((count - 1) / count * math.fsum((part - mean) ** 2 for part in parts))


def decided(margin: float, half: float, tolerance: float, strict: bool) -> Outcome:
    """Return what follows from a margin, positive in favor of a statement, with half of its confidence interval.

    A strict statement (better, more) holds with a margin above the tolerance and an interval above zero; another one
    (at most, not worse) with an interval above minus the tolerance. It does not hold if the whole interval says so.
    """
    if strict:
        holds, fails = margin > max(tolerance, half), margin + half <= tolerance
    else:
        holds, fails = margin - half >= -tolerance, margin + half < -tolerance
    return "holds" if holds else "does not hold" if fails else "undecided"


def all_of(outcomes: Sequence[Outcome]) -> Outcome:
    """Return the outcome of the statement that all of several hold."""
    for worst in ("does not hold", "undecided"):
        if worst in outcomes:
            return worst
    return "holds"
