"""Quantities: numbers that the statistics of a point have, named by the path to them."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

Statistics = Mapping[str, Any]
EVERY, BUT = "*", "!"


def _mean_load(tiers: Sequence[Mapping[str, Any]]) -> float | None:
    """Return the mean load of all links, a share, from that of the links between each two tiers."""
    links = sum(tier["links"] for tier in tiers)
    return math.fsum(tier["links"] * tier["mean_load"] for tier in tiers) / links if links else None


def _unevenness(rates: Sequence[Sequence[float]]) -> float | None:
    """Return the bytes of the busiest link over the mean of all, from their rates over time."""
    sent = [math.fsum(one) for one in rates]
    return max(sent) * len(sent) / math.fsum(sent) if math.fsum(sent) else None


# How the values of a path with a wildcard become one.
FOLDS: Mapping[str, Callable[[Sequence[Any]], float | None]] = {
    "sum": sum,
    "max": max,
    "first": lambda values: values[0],
    "last": lambda values: values[-1],
    "mean_load": _mean_load,
    "unevenness": _unevenness,
}


@dataclass(frozen=True, slots=True)
class Quantity:
    """A number that points have; the unit is part of its name, such as `job time, s`.

    Steps of `path` are separated by `/`: keys, places in lists, `*` for all, `!KEY` for all but one. The number is
    multiplied and divided by factors of units, and divided by the number at the path `per`. It is None where the path
    ends early or a value is None.
    """

    name: str
    path: str
    fold: str = "first"
    multiply: float = 1
    divide: float = 1
    per: str = ""

    def of(self, point: Statistics) -> float | None:
        """Return the number of a point."""
        values = list(_at(point, self.path.split("/")))
        if any(value is None for value in values):
            return None
        found = FOLDS[self.fold](values) if values or self.fold == "sum" else None
        if found is None:
            return None
        value = float(found) * self.multiply / self.divide
        return value / next(_at(point, self.per.split("/"))) if self.per else value

    def put(self, point: dict[str, Any], value: float) -> None:
        """Set the number in statistics; the path has no wildcard."""
        *steps, last = self.path.split("/")
        for step in steps:
            point = point.setdefault(step, {})
        point[last] = value * self.divide / self.multiply


def _at(value: Any, steps: Sequence[str]) -> Iterator[Any]:  # noqa: ANN401 - values of JSON
    """Yield the values at a path; none where it ends early."""
    if not steps:
        yield value
        return
    step, *rest = steps
    if isinstance(value, Mapping):
        every = step == EVERY or step.startswith(BUT)
        keys = [key for key in value if key != step[1:]] if every else [step]
        inside = [value[key] for key in keys if key in value]
    elif isinstance(value, Sequence):
        inside = list(value) if step == EVERY else [value[int(step)]] if int(step) < len(value) else []
    else:
        inside = []
    for one in inside:
        yield from _at(one, rest)
