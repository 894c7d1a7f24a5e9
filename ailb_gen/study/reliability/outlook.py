"""What is left of a job's time over months, per load balancer and number of spines."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import fsum

import numpy as np

from ailb_gen.study.reliability.costs import FabricCost
from ailb_gen.study.reliability.elements import HOURS_PER_MONTH, FailingParts, Parts
from ailb_gen.study.reliability.months import HOURS_PER_DAY, Months, drawn_months, margin_h
from ailb_gen.study.reliability.states import Checkpoints, SpeedCurve, binomial, running_share

# The share of days that are worse than the one that is shown.
WORST = 0.01


@dataclass(frozen=True, slots=True)
class PricedFabric:
    """A fabric that is compared: its spines, what can fail, which numbers of failures are simulated, its cost."""

    spines: int
    inventory: FailingParts
    links_down: tuple[int, ...]
    spines_down: tuple[int, ...]
    cost: FabricCost

    @property
    def beyond(self) -> float:
        """The share of the time with more failed links, or spines, than simulated."""
        return 1 - _within(self.inventory.links, self.links_down) * _within(self.inventory.spines, self.spines_down)


@dataclass(frozen=True, slots=True)
class Period:
    """The months, how often they are drawn, and the job's checkpoints."""

    months: int
    draws: int
    checkpoints: Checkpoints

    @property
    def days(self) -> int:
        """Whole days."""
        return int(self.months * HOURS_PER_MONTH / HOURS_PER_DAY)

    @property
    def drawn_h(self) -> float:
        """Hours of all draws."""
        return self.draws * (self.days * HOURS_PER_DAY + 2 * margin_h(self.checkpoints))


@dataclass(frozen=True, slots=True)
class TimeShares:
    """Where the time of a job goes, shares that sum to 1; and the goodput of its worst days (see WORST)."""

    goodput: float
    waiting: float
    slower: float
    restarts: float
    stopped: float
    worst: float


def share_of(
    fabric: PricedFabric, period: Period, speed: float, links: SpeedCurve, spines: SpeedCurve, drawn: Sequence[Months]
) -> TimeShares:
    """Return where the time goes: means in closed form, the worst days as drawn.

    `speed` is that without failures over the job's own speed; `links` and `spines` slow down independently.
    """
    inventory = fabric.inventory
    slowed = speed * links.mean(inventory.links) * spines.mean(inventory.spines)
    running = running_share(inventory)
    kept = period.checkpoints.share(inventory.kills_per_h)
    days = np.concatenate([months.goodput(links, spines) for months in drawn])
    return TimeShares(
        goodput=slowed * running * kept,
        waiting=1 - speed,
        slower=speed - slowed,
        restarts=slowed * running * (1 - kept),
        stopped=slowed * (1 - running),
        worst=float(np.percentile(days, WORST * 100)) * speed,
    )


def drawings(inventory: FailingParts, period: Period) -> Iterator[Months]:
    """Yield the months as they are drawn again and again, which all load balancers of a fabric share."""
    for draw in range(1, period.draws + 1):
        yield drawn_months(inventory, period.checkpoints, period.days, (draw,))


def kills_per_month(inventory: FailingParts) -> float:
    """Return how often the job stops per month."""
    return inventory.kills_per_h * running_share(inventory) * HOURS_PER_MONTH


def _within(parts: Parts, numbers: Sequence[int]) -> float:
    """Return the share of the time at which at most the largest of some numbers of parts is down."""
    return fsum(binomial(parts.count, parts.unavailability)[: max(numbers, default=0) + 1])
