"""The months of a job, drawn event by event: what fails when, when the job runs, and what is done on each day.

Times are in hours. A drawing starts in the steady state, so that its mean is that of the closed forms in `states.py`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from heapq import merge

import numpy as np
from numpy.typing import NDArray

from ailb_gen.study.reliability.elements import Elements, FailingParts, Parts
from ailb_gen.study.reliability.states import Checkpoints, SpeedCurve

Floats = NDArray[np.float64]
HOURS_PER_DAY = 24
# When a part goes down (+1) or comes back (-1), and which.
Event = tuple[float, int, int]


@dataclass(frozen=True, slots=True)
class StepFunction:
    """A quantity over time: `values[i]` from `times[i]` on; the first time is minus infinity."""

    times: Floats
    values: Floats

    def at(self, times: Floats) -> Floats:
        """Return the values at some times."""
        return self.values[np.searchsorted(self.times, times, side="right") - 1]


@dataclass(frozen=True, slots=True)
class Months:
    """What happened in a number of days: failed links and spines, work done per hour at full speed, kills of the job.

    `failures` are those by kind, `kills` the restarts, both within the days.
    """

    days: int
    links: StepFunction
    spines: StepFunction
    work: StepFunction
    kills: int
    failures: dict[str, int]

    def goodput(self, links: SpeedCurve, spines: SpeedCurve) -> Floats:
        """Return the work of every day over that at full speed without failures, shape (days,)."""
        end = self.days * HOURS_PER_DAY
        edges = np.concatenate(
            [
                self.links.times,
                self.spines.times,
                self.work.times,
                np.arange(0, end + 1, HOURS_PER_DAY, dtype=np.float64),
            ]
        )
        edges = np.unique(edges[(edges >= 0) & (edges <= end)])
        middle = (edges[:-1] + edges[1:]) / 2
        speed = self.work.at(middle)
        for steps, curve in ((self.links, links), (self.spines, spines)):
            down = steps.at(middle).astype(np.int64)
            speed = speed * np.array([curve(number) for number in range(int(down.max()) + 1)])[down]
        day = (middle // HOURS_PER_DAY).astype(np.int64)
        return np.bincount(day, speed * np.diff(edges), minlength=self.days) / HOURS_PER_DAY


def margin_h(checkpoints: Checkpoints) -> float:
    """Return the hours that are drawn before and after the days, so that the work on each is decided."""
    return max(HOURS_PER_DAY, 2 * (checkpoints.every_h + checkpoints.write_h + checkpoints.restart_h))


def drawn_months(inventory: FailingParts, checkpoints: Checkpoints, days: int, seed: Sequence[int]) -> Months:
    """Draw so many days. Fabrics that differ in spines have the same failures of leaves and servers."""
    margin, end = margin_h(checkpoints), days * HOURS_PER_DAY
    failures: dict[str, int] = {}
    links, spines, leaves, servers = (
        _events(np.random.default_rng([*seed, number]), parts, -margin, end + margin, end, failures)
        for number, parts in enumerate(inventory.all)
    )
    runs = list(_runs(inventory, leaves, servers, -margin, end + margin))
    kills = sum(0 <= run[1] < end for run in runs[:-1])
    return Months(days, _numbers(links), _numbers(spines), _work(runs, checkpoints), kills, failures)


def _events(
    generator: np.random.Generator, parts: Parts, start: float, stop: float, end: float, failures: dict[str, int]
) -> list[Event]:
    """Return in order when parts go down and come back; adds the failures of elements within the days."""
    spans: list[tuple[float, float, int]] = []
    for one in parts.each:
        found = list(_spans(generator, one, parts.count, start, stop))
        failures[one.kind] = failures.get(one.kind, 0) + sum(0 <= begin < end for begin, _, _ in found)
        spans += found
    events: list[Event] = []
    until: dict[int, float] = {}
    # A part is down while any of its elements is.
    for begin, back, part in sorted(spans):
        if begin >= until.get(part, start - 1):
            if part in until:
                events.append((until[part], -1, part))
            events.append((begin, 1, part))
        until[part] = max(until.get(part, back), back)
    events += [(back, -1, part) for part, back in until.items()]
    return sorted(events)


def _spans(
    generator: np.random.Generator, elements: Elements, parts: int, start: float, stop: float
) -> Iterator[tuple[float, float, int]]:
    """Yield from when until when an element is down, and its part; also those that are down at the start.

    All elements together fail at a constant rate, and those that are down at that time do not (thinning).
    """
    count = parts * elements.count
    first = np.flatnonzero(generator.random(count) < elements.unavailability)
    number = int(generator.poisson(count / elements.mtbf_h * (stop - start)))
    begin = np.concatenate([np.full(len(first), start), np.sort(generator.uniform(start, stop, number))])
    which = np.concatenate([first, generator.integers(0, max(count, 1), number)])
    repair = generator.exponential(elements.mttr_h, len(begin))
    until: dict[int, float] = {}
    for at, element, hours in zip(begin.tolist(), which.tolist(), repair.tolist(), strict=True):
        if at >= until.get(element, start):
            until[element] = at + hours
            yield at, at + hours, element // elements.count


def _runs(
    inventory: FailingParts, leaves: list[Event], servers: list[Event], start: float, stop: float
) -> Iterator[tuple[float, float]]:
    """Yield from when until when the job runs without a kill; the last run ends with the drawing."""
    used, free = set(range(inventory.used)), set(range(inventory.used, inventory.servers.count))
    missing = leaves_down = 0
    since: float | None = start
    tagged = merge(((*event, True) for event in leaves), ((*event, False) for event in servers))
    for at, change, part, is_leaf in tagged:
        if at >= stop:
            break
        hit = is_leaf
        if is_leaf:
            leaves_down += change
        elif change > 0 and part in used:
            hit = True
            used.discard(part)
            if free:
                used.add(free.pop())
            else:
                missing += 1
        elif change > 0:
            free.discard(part)
        elif missing:
            used.add(part)
            missing -= 1
        else:
            free.add(part)
        if change > 0 and hit and since is not None:
            if at > start:
                yield since, at
            since = None
        if since is None and not missing and not leaves_down:
            since = at
    yield (stop, stop) if since is None else (since, stop)


def _numbers(events: list[Event]) -> StepFunction:
    """Return how many parts are down over time."""
    times = np.array([-np.inf, *(at for at, _, _ in events)])
    return StepFunction(times, np.cumsum([0.0, *(change for _, change, _ in events)]))


def _work(runs: list[tuple[float, float]], checkpoints: Checkpoints) -> StepFunction:
    """Return the work per hour over time: that between checkpoints which are written is not lost."""
    whole = checkpoints.every_h + checkpoints.write_h
    times, values = [-np.inf], [0.0]
    for begin, end in runs:
        first = begin + checkpoints.restart_h
        done = int(max(0.0, end - first) // whole)
        if done:
            times += [first, first + done * whole]
            values += [checkpoints.every_h / whole, 0.0]
    return StepFunction(np.array(times), np.array(values))
