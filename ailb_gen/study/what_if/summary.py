"""Results of a what-if study: a row per load balancer and failure, conclusions, and the figure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from ailb_gen.sim.fabric import PS_PER_US
from ailb_gen.study.model import BarFigure, CaseResults, Figure, SeedSpread, Summary
from ailb_gen.study.quantities import Quantity, Statistics
from ailb_gen.study.rows import ENDLESS, PERCENT

NO_FAILURE = "none"
JOB = "training"
# Times that differ by less are called equal.
SAME = 0.001
# Beside the times, of packets.
COUNTERS = (Quantity("reordered", "flows/*/out_of_order", "sum"), Quantity("pauses", "links/*/pauses", "sum"))
# Units of steps, in ps. Tenths of a second are still shown in seconds.
UNITS = {"s": 10**12, "ms": 10**9, "us": 10**6}


@dataclass(frozen=True, slots=True)
class Cost:
    """A case next to the best one: step times over the seeds that end, None without any."""

    balancer: str
    failure: str
    step: SeedSpread | None
    seeds: int
    ended: int


@dataclass(frozen=True, slots=True)
class WhatIfCosts:
    """Index of the cases of a what-if study: their names by balancer and failure, and a step without waiting."""

    cases: Mapping[tuple[str, str], str]
    scale: int
    alone_ps: int
    packets: bool

    @property
    def unit(self) -> str:
        """Return the unit of all steps: s, ms or us."""
        return next((unit for unit, ps in UNITS.items() if 10 * self.alone_ps >= ps), "us")

    def step(self, point: Statistics) -> float | None:
        """Return the mean step of a point of the job in the unit of all steps; None if the job does not end."""
        job = point["jobs"].get(JOB)
        in_us = self.scale * PS_PER_US / UNITS[self.unit]
        return None if job is None or job["time_us"] is None else job["step_us"]["mean"] * in_us

    def speed(self, point: Statistics) -> float:
        """Return a step without waiting over that of a point; 0 if the job does not end."""
        step = self.step(point)
        return self.alone_ps / UNITS[self.unit] / step if step else 0.0

    def summary(self, results: CaseResults) -> Summary:
        """Return the table and its conclusions."""
        costs = list(self._costs(results))
        best = _best(costs, NO_FAILURE)
        headings = ("balancer", "failure", f"step {self.unit}", "cost %", "waiting %", *(one.name for one in COUNTERS))
        rows = [headings, *(self._row(results, cost, best) for cost in costs)]
        return Summary(rows, list(self._conclusions(costs, best)))

    def figures(self, results: CaseResults) -> Sequence[Figure]:
        """Return the step times as bars."""
        bars: dict[str, dict[str, SeedSpread]] = {}
        for cost in self._costs(results):
            group = bars.setdefault(cost.failure, {})
            if cost.step is not None:
                group[cost.balancer] = cost.step
        return [BarFigure("step-time", "Step time by failure", f"step time, {self.unit}", bars)]

    def _costs(self, results: CaseResults) -> Iterator[Cost]:
        for (balancer, failure), case in self.cases.items():
            if case in results.points:
                step = results.spread(case, self.step)
                ended = len(results.values(case, self.step))
                yield Cost(balancer, failure, step, len(results.points[case]), ended)

    def _row(self, results: CaseResults, cost: Cost, best: Cost | None) -> Sequence[str]:
        def shown(counter: Quantity) -> str:
            return f"{results.mean(self.cases[cost.balancer, cost.failure], counter.of):,.0f}"

        step = ENDLESS if cost.step is None else _digits(cost.step)
        if 0 < cost.ended < cost.seeds:
            step += f"; {ENDLESS} with {cost.seeds - cost.ended} of {cost.seeds} seeds"
        more = waiting = "-"
        if cost.step is not None:
            waiting = f"{self._waiting(cost.step):.1f}"
            if best is not None and best.step is not None:
                # Without a minus in front of 0.0.
                more = f"{round((cost.step.mean / best.step.mean - 1) * PERCENT, 1) + 0.0:.1f}"
        counters = [shown(counter) if self.packets else "-" for counter in COUNTERS]
        return [cost.balancer, cost.failure, step, more, waiting, *counters]

    def _waiting(self, step: SeedSpread) -> float:
        return (1 - self.alone_ps / UNITS[self.unit] / step.mean) * PERCENT

    def _conclusions(self, costs: Sequence[Cost], best: Cost | None) -> Iterator[str]:
        if best is None or best.step is None:
            return
        waiting = self._waiting(best.step)
        yield (
            f"Without failures a step takes {_digits(best.step)} {self.unit} under {best.balancer}. {waiting:.1f} % of "
            "it is waiting for the fabric: the most that a faster fabric can save."
        )
        others = [one for one in costs if one.failure == NO_FAILURE and one is not best and one.step is not None]
        for other in others:
            if other.step is None or _same(other.step, best.step):
                continue
            disjoint = other.step.least > best.step.most
            doubt = "" if disjoint else f", but not with every seed: their times overlap with those of {best.balancer}"
            yield f"{other.balancer} costs {_percent(other.step, best.step.mean)} % more time{doubt}."
        same = [one.balancer for one in others if one.step is not None and _same(one.step, best.step)]
        if same:
            yield f"{', '.join(same)}: the same time as {best.balancer}, within {SAME * PERCENT:g} %."
        yield from self._failures(costs, best)

    def _failures(self, costs: Sequence[Cost], best: Cost) -> Iterator[str]:
        """Yield per failure its cost for the best load balancer, and whether another one is better then."""
        for failure in dict.fromkeys(cost.failure for cost in costs if cost.failure != NO_FAILURE):
            ours = next((one for one in costs if (one.balancer, one.failure) == (best.balancer, failure)), None)
            then = _best(costs, failure)
            if ours is None or best.step is None:
                continue
            if ours.ended < ours.seeds:
                yield f"{failure}: the job does not complete under {ours.balancer}."
            elif ours.step is not None and _same(ours.step, best.step):
                yield f"{failure}: no more time under {best.balancer}, within {SAME * PERCENT:g} %."
            elif ours.step is not None:
                yield f"{failure}: {_percent(ours.step, best.step.mean)} % more time under {best.balancer}."
            if then is not None and then.step is not None and then.balancer != best.balancer:
                slower = ours.step is None or then.step.most < ours.step.least
                if slower:
                    step = f"{_digits(then.step)} {self.unit} per step"
                    yield f"{failure}: {then.balancer} is faster, {step}."


def _best(costs: Sequence[Cost], failure: str) -> Cost | None:
    """Return the fastest load balancer under a failure with which all seeds end; of equals the first."""
    known = [one for one in costs if one.failure == failure and one.ended == one.seeds and one.step is not None]
    steps = [one.step.mean for one in known if one.step is not None]
    return next((one for one, mean in zip(known, steps, strict=True) if mean <= (1 + SAME) * min(steps)), None)


def _same(one: SeedSpread, other: SeedSpread) -> bool:
    """Return whether the difference is negligible."""
    return max(one.most, other.most) <= (1 + SAME) * min(one.least, other.least)


def _digits(found: SeedSpread) -> str:
    """Return a mean with four digits, and the range with three where seeds differ."""
    least, most = f"{found.least:#.3g}", f"{found.most:#.3g}"
    mean = f"{found.mean:#.4g}"
    return mean if f"{found.least:#.4g}" == f"{found.most:#.4g}" else f"{mean} ({least}-{most})"


def _percent(found: SeedSpread, base: float) -> str:
    """Return how much more than a base a spread is, in percent, with its range where seeds differ."""
    mean, least, most = ((value / base - 1) * PERCENT for value in (found.mean, found.least, found.most))
    text = f"{mean:.1f}"
    return text if f"{least:.1f}" == f"{most:.1f}" else f"{text} ({least:.1f} to {most:.1f})"
