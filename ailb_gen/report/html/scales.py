"""Axes of charts: from a value to a place, and ticks at round numbers."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TypeVar

from ailb_gen.wording import shown

Item = TypeVar("Item")
# Steps between ticks, per power of ten.
STEPS = (1, 2, 2.5, 5, 10)
# Digits of the ticks of a logarithmic axis, from few decades to many.
DIGITS = ((1, 2, 5), (1, 3), (1,))
DECADES = (2.0, 4.0)
# Ticks at most, and decimals of their texts.
TICKS = 6
DECIMALS = 16


@dataclass(frozen=True, slots=True)
class Axis:
    """The title of an axis with its unit; `log`: logarithmic; `top`: its end, None: the largest value."""

    title: str
    log: bool = False
    top: float | None = None


@dataclass(frozen=True, slots=True)
class Scale:
    """From values between `least` and `most` to places between `start` and `end`, in pixels."""

    least: float
    most: float
    start: float
    end: float
    log: bool = False

    def place(self, value: float) -> float:
        """Return where a value is; values beyond the axis are at its ends."""
        least, most = self.least, self.most
        value = min(max(value, least), most)
        if self.log:
            least, most, value = math.log10(least), math.log10(most), math.log10(value)
        share = (value - least) / (most - least) if most > least else 0.5
        return self.start + share * (self.end - self.start)

    def ticks(self) -> list[float]:
        """Return round values on the axis, in rising order."""
        return _log_ticks(self.least, self.most) if self.log else _ticks(self.least, self.most)


def scale_of(values: Iterable[float], axis: Axis, start: float, end: float, *, zero: bool) -> Scale:
    """Return the scale of an axis over values; with `zero` it starts there, and ends at a round number.

    Values of a logarithmic axis that are not positive stand at its least.
    """
    found = [value for value in values if math.isfinite(value) and (value > 0 or not axis.log)]
    if axis.log:
        least, most = (min(found), max(found)) if found else (1.0, 10.0)
        least = min(10 ** math.floor(math.log10(least)), least) if zero else least
        return Scale(least, max(axis.top or most, least * 1.5), start, end, log=True)
    least, most = (min(found), max(found)) if found else (0.0, 1.0)
    least = min(least, 0.0) if zero else least
    if axis.top is not None:
        return Scale(least, max(axis.top, least), start, end)
    if most <= least:
        most = least + (abs(least) or 1.0)
    if zero:
        step = _step(most - least)
        most = math.ceil(round(most / step, 6)) * step
    return Scale(least, most, start, end)


def _step(width: float) -> float:
    """Return the distance of ticks on an axis of some width."""
    power = 10.0 ** math.floor(math.log10(width / TICKS))
    return next(step * power for step in STEPS if step * power * TICKS >= width * (1 - 1e-9))


def _ticks(least: float, most: float) -> list[float]:
    if most <= least:
        return [least]
    step = _step(most - least)
    first, last = math.ceil(round(least / step, 6)), math.floor(round(most / step, 6))
    # Rounded, so that 3 x 0.1 is 0.3.
    return [float(f"{number * step:.12g}") for number in range(first, last + 1)]


def _log_ticks(least: float, most: float) -> list[float]:
    decades = math.log10(most / least)
    digits = DIGITS[sum(decades > limit for limit in DECADES)]
    powers = range(math.floor(math.log10(least)), math.ceil(math.log10(most)) + 1)
    found = [float(f"{digit * 10.0**power:.12g}") for power in powers for digit in digits]
    inside = [tick for tick in found if least * (1 - 1e-9) <= tick <= most * (1 + 1e-9)]
    every = math.ceil(len(inside) / (2 * TICKS))
    return inside[::every] if len(inside) > 1 else [least, most]


def tick_texts(ticks: Sequence[float]) -> list[str]:
    """Return the texts of ticks: short ones, or as many decimals as it takes to tell neighbors apart."""
    texts = list(map(shown, ticks))
    if len(set(texts)) == len(texts):
        return texts
    near = min(after - before for before, after in pairwise(ticks)) * 1e-6
    decimals = next(some for some in range(DECIMALS) if all(abs(round(tick, some) - tick) < near for tick in ticks))
    return [f"{tick:,.{decimals}f}" for tick in ticks]


def thinned(items: Sequence[Item], most: int) -> list[Item]:
    """Return at most so many of some items at even distances, the first and the last among them."""
    if len(items) <= most:
        return list(items)
    last = len(items) - 1
    return [items[round(number * last / (most - 1))] for number in range(most)]
