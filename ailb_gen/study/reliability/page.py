"""Tables and sentences about failures over months."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from ailb_gen.study.model import BarFigure, SeedSpread, SummaryTable
from ailb_gen.study.reliability.elements import HOURS_PER_MONTH, KINDS, Elements
from ailb_gen.study.reliability.outlook import Period, PricedFabric, TimeShares, kills_per_month
from ailb_gen.study.rows import brief, number
from ailb_gen.wording import counted, some

PERCENT = 100
# Goodputs that differ by less, in percent, are called equal.
SAME = 0.1
MINUTES = 60


@dataclass(frozen=True, slots=True)
class Outlook:
    """The shares of a job's time by fabric (its spines) and load balancer, with the fabrics in order."""

    period: Period
    fabrics: Mapping[int, PricedFabric]
    shares: Mapping[tuple[int, str], TimeShares]

    def tables(self) -> Iterator[SummaryTable]:
        """Yield the tables."""
        months = counted(self.period.months, "month")
        title = f"Goodput over {months}: share of the time of a job that never waits, in percent"
        yield SummaryTable(title, [_GOODPUT, *(_row(*key, share) for key, share in self.shares.items())])
        yield SummaryTable("Failures per month", list(self._failures()))
        yield SummaryTable("Cost and power", list(self._costs()))

    def figure(self) -> BarFigure:
        """Return the goodput by number of spines as bars."""
        bars: dict[str, dict[str, SeedSpread]] = {}
        for (spines, balancer), share in self.shares.items():
            value = share.goodput * PERCENT
            bars.setdefault(counted(spines, "spine"), {})[balancer] = SeedSpread(value, value, value)
        return BarFigure("goodput", "Goodput by number of spines", "goodput, %", bars)

    def conclusions(self) -> Iterator[str]:
        """Yield what follows."""
        for spines in self.fabrics:
            if best := self._best(spines):
                balancer, share = best
                yield (
                    f"{counted(spines, 'spine')}: {_percent(share.goodput)} % goodput under {balancer}, "
                    f"{_percent(share.worst)} % on the worst day of 100."
                )
        yield from self._stops()
        yield from self._more_spines()
        yield from self._money()
        beyond = max((fabric.beyond for fabric in self.fabrics.values()), default=0.0)
        if beyond >= 0.5 / PERCENT:
            yield (
                f"During up to {beyond:.1%} of the time more is down than was simulated: those speeds are "
                "extrapolated.".replace("%", " %")
            )

    def _best(self, spines: int) -> tuple[str, TimeShares] | None:
        """Return the load balancer with the highest goodput; of equals the first."""
        known = [(balancer, share) for (number, balancer), share in self.shares.items() if number == spines]
        most = max((share.goodput for _, share in known), default=0.0)
        return next((one for one in known if one[1].goodput >= most - SAME / PERCENT), None)

    def _cost_per_goodput(self, spines: int) -> float | None:
        """Return the quotient; None without prices, and without a goodput that differs from none."""
        price, best = self.fabrics[spines].cost.price, self._best(spines)
        return None if price is None or best is None or best[1].goodput < SAME / PERCENT else price / best[1].goodput

    def _stops(self) -> Iterator[str]:
        """Yield what stops cost, by the fabric on which they cost the most: they hardly depend on the spines."""
        found = [(best[1].restarts, fabric) for spines, fabric in self.fabrics.items() if (best := self._best(spines))]
        if not found:
            return
        restarts, fabric = max(found, key=lambda one: one[0])
        every, kills = self.period.checkpoints.every_h, kills_per_month(fabric.inventory)
        shown = f"{brief(every)} h" if every >= 1 else f"{brief(every * MINUTES)} min"
        yield (
            f"The job stops {brief(kills)} times a month. With a checkpoint every {shown}, lost work, checkpoints and "
            f"restarts cost up to {brief(restarts * HOURS_PER_MONTH)} hours of work a month."
        )

    def _more_spines(self) -> Iterator[str]:
        for few, many in pairwise(sorted(self.fabrics)):
            less, more = self._best(few), self._best(many)
            if less is None or more is None:
                continue
            points = (more[1].goodput - less[1].goodput) * PERCENT
            gain = f"{points:+.1f} points of goodput" if abs(points) >= SAME else "no more goodput"
            costs = [self.fabrics[number].cost.price for number in (few, many)]
            text = f"{many} spines instead of {few}: {gain}"
            if costs[0] is not None and costs[1] is not None:
                text += f" for {costs[1] - costs[0]:+,.0f} of cost"
            yield f"{text}."

    def _money(self) -> Iterator[str]:
        costs = [fabric.cost for fabric in self.fabrics.values()]
        missing = list(dict.fromkeys(name for cost in costs for name in cost.missing))
        if missing:
            yield f"Without a number in 'prices' there is no sum: {some(missing)}."
        elif all(cost.price is None for cost in costs):
            yield "Cost and power are shown with 'prices', a table with the price and the watts of every item."
        ratios = {spines: ratio for spines in self.fabrics if (ratio := self._cost_per_goodput(spines)) is not None}
        if len(ratios) > 1:
            least = min(ratios, key=lambda spines: ratios[spines])
            yield f"The fabric costs the least per goodput with {counted(least, 'spine')}."

    def _failures(self) -> Iterator[Sequence[str]]:
        names = [counted(spines, "spine") for spines in self.fabrics]
        yield ("kind", "MTBF h", "MTTR h", *names)
        months = [fabric.inventory.failures_per_month() for fabric in self.fabrics.values()]
        known: dict[str, Elements] = {}
        for fabric in self.fabrics.values():
            known |= {one.kind: one for parts in fabric.inventory.all for one in parts.each}
        for kind in KINDS:
            if kind in known:
                one = known[kind]
                yield (kind, number(one.mtbf_h), number(one.mttr_h), *(brief(found[kind]) for found in months))

    def _costs(self) -> Iterator[Sequence[str]]:
        yield ("spines", "switches", "optics", "cables", "cost", "kW", "cost per goodput")
        for spines, fabric in self.fabrics.items():
            cost, per = fabric.cost, self._cost_per_goodput(spines)
            yield (
                str(spines),
                *(f"{cost.counts.get(name, 0):,}" for name in ("switch", "optic", "cable")),
                "-" if cost.price is None else f"{cost.price:,.0f}",
                "-" if cost.watts is None else f"{cost.watts / 1000:,.1f}",
                "-" if per is None else f"{per:,.0f}",
            )


_GOODPUT = ("spines", "balancer", "goodput", "worst days", "waiting", "slower", "restarts", "stopped")


def _row(spines: int, balancer: str, share: TimeShares) -> Sequence[str]:
    shown = (share.goodput, share.worst, share.waiting, share.slower, share.restarts, share.stopped)
    return [str(spines), balancer, *map(_percent, shown)]


def _percent(share: float) -> str:
    # Without a minus in front of 0.00.
    return f"{round(share * PERCENT, 2) + 0.0:.2f}"
