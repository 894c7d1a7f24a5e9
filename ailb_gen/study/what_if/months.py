"""Failures over months in a what-if file: its problems, the fabrics that are compared, their cases, and the results."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path as FilePath
from statistics import fmean
from typing import Any

from ailb_gen.design.build import build
from ailb_gen.design.model import Design
from ailb_gen.errors import IntentError, Problem, UsageError
from ailb_gen.exports.optics import DIRECT
from ailb_gen.intent.load import Intent
from ailb_gen.paths import absent
from ailb_gen.progress import Progress, quiet
from ailb_gen.study.model import CaseResults
from ailb_gen.study.quantities import Statistics
from ailb_gen.study.reliability.costs import Prices, cost_of, read_prices
from ailb_gen.study.reliability.elements import KINDS, FailingParts
from ailb_gen.study.reliability.fabrics import inventory_of, with_spines
from ailb_gen.study.reliability.models import SECONDS_PER_HOUR, Reliability
from ailb_gen.study.reliability.outlook import Period, PricedFabric, drawings, share_of
from ailb_gen.study.reliability.page import Outlook
from ailb_gen.study.reliability.states import Checkpoints, SpeedCurve, best_interval_h, simulated_numbers
from ailb_gen.study.what_if.job import ranks_of
from ailb_gen.study.what_if.models import WhatIf
from ailb_gen.textio import read_text
from ailb_gen.validation import problem_at
from ailb_gen.wording import counted, some
from ailb_gen.yamlio import Path, Source

START: Path = ("reliability",)
LINKS, SPINES = "link", "spine"
# Of elements in all draws of a fabric: half a minute, and 3 GB of memory if they are in a single draw.
MOST_FAILURES = 10_000_000


@dataclass(frozen=True, slots=True)
class ComparedFabric:
    """A fabric that is compared, with the names of its spines; `intent` is None for that of the file itself."""

    fabric: PricedFabric
    names: tuple[str, ...]
    intent: Intent | None

    @property
    def states(self) -> list[tuple[str, int]]:
        """What is down in the simulations: nothing, so many links, so many spines."""
        links, spines = self.fabric.links_down, self.fabric.spines_down
        return [(LINKS, 0), *((LINKS, down) for down in links), *((SPINES, down) for down in spines)]

    def failures(self, what: str, down: int) -> list[dict[str, Any]]:
        """Return a state as scenarios have it: links are drawn by the seed, spines are evenly spread."""
        if not down:
            return []
        if what == LINKS:
            return [{"random": f"{down} links"}]
        return [{"name": self.names[number * len(self.names) // down]} for number in range(down)]


def reliability_problems(what_if: WhatIf, source: Source, folder: FilePath) -> Iterator[Problem]:
    """Yield the problems of the keys about reliability."""
    asked = what_if.reliability
    if asked is None:
        return
    for kind in KINDS:
        rates = getattr(asked.elements, kind)
        if rates.mtbf is not None and rates.afr is not None:
            yield problem_at(source, "conflict", (*START, "elements", kind, "afr"), "give either 'mtbf' or 'afr'")
        if KINDS[kind].mtbf_h is None and rates.mttr is not None and rates.mtbf is None and rates.afr is None:
            reason = f"has no effect on {kind} without 'mtbf' or 'afr'"
            yield problem_at(source, "missing-key", (*START, "elements", kind, "mttr"), reason)
    if asked.media in DIRECT and asked.elements.optics.model_fields_set:
        reason = f"{asked.media} cables have no optics"
        yield problem_at(source, "conflict", (*START, "elements", "optics"), reason)
    spines = asked.spines or ()
    for number, one in enumerate(spines):
        if one in spines[:number]:
            yield problem_at(source, "conflict", (*START, "spines", number), "duplicate number of spines")
    if asked.prices is not None and (reason := absent(folder / asked.prices, "file")):
        yield problem_at(source, "unreadable", (*START, "prices"), f"{folder / asked.prices}: {reason}")


def compared_fabrics(what_if: WhatIf, source: Source, folder: FilePath, design: Design) -> tuple[ComparedFabric, ...]:
    """Return the fabrics that are compared. Raises IntentError for numbers of spines that do not fit the fabric."""
    asked = what_if.reliability
    if asked is None:
        return ()
    prices = None if asked.prices is None else read_prices(read_text(folder / asked.prices, asked.prices), asked.prices)
    own, found = len(design.spines), []
    for number, spines in enumerate(asked.spines or (own,)):
        at = (*START, "spines", number)
        if spines != own and what_if.artifacts is not None:
            reason = f"the files in 'artifacts' have {counted(own, 'spine')}; leave 'artifacts' out"
            raise IntentError([problem_at(source, "conflict", at, reason)])
        try:
            intent = None if spines == own else with_spines(folder / what_if.fabric, spines)
            made = design if intent is None else build(intent)[0]
        except (IntentError, UsageError) as error:
            raise IntentError([problem_at(source, "conflict", at, _reason(error, spines))]) from error
        try:
            found.append(_compared(what_if, asked, made, intent, prices))
        except UsageError as error:
            raise IntentError([problem_at(source, "conflict", (*START, "media"), str(error))]) from error
        if problem := _too_many(asked, found[-1].fabric.inventory, source):
            raise IntentError([problem])
    return tuple(found)


def _too_many(asked: Reliability, inventory: FailingParts, source: Source) -> Problem | None:
    hours, rates = period_of(asked, inventory).drawn_h, inventory.rates_per_h()
    count = hours * sum(rates.values())
    if count <= MOST_FAILURES:
        return None
    kind = max(rates, key=lambda one: rates[one])
    reason = f"{count:,.0f} failures would be drawn, most of {kind}, more than {MOST_FAILURES:,}"
    hint = f"give fewer 'draws' or 'months', or check the MTBF of {kind} and the 'checkpoints'"
    return problem_at(source, "out-of-range", START, reason, hint)


def _reason(error: IntentError | UsageError, spines: int) -> str:
    if isinstance(error, UsageError):
        return str(error)
    first = next(one for one in error.problems if one.severity == "error")
    return f"with {counted(spines, 'spine')} the fabric is not valid: {first.path}: {first.reason}"


def _compared(
    what_if: WhatIf, asked: Reliability, design: Design, intent: Intent | None, prices: Prices | None
) -> ComparedFabric:
    size = max(len(server.ports) for server in design.servers)
    inventory = inventory_of(design, asked, -(-ranks_of(what_if.job) // size), what_if.job.placement == "packed")
    names = tuple(spine.name for spine in design.spines)
    links = simulated_numbers(inventory.links, len(design.links))
    spines = simulated_numbers(inventory.spines, len(names))
    fabric = PricedFabric(len(names), inventory, tuple(links), tuple(spines), cost_of(design, asked.media, prices))
    return ComparedFabric(fabric, names, intent)


def assumptions(asked: Reliability, fabrics: Sequence[ComparedFabric]) -> Iterator[str]:
    """Yield sentences about what is assumed of failures over months."""
    inventory = fabrics[0].fabric.inventory
    most = [
        counted(max((down for one in fabrics for kind, down in one.states if kind == what), default=0), what)
        for what in (LINKS, SPINES)
    ]
    yield (
        "Over months, elements fail and are repaired independently of each other, with exponential times: how many of "
        "a kind are down is binomial. A failed link between switches, or spine, slows the job down. Simulated are "
        "numbers that are powers of two, the last one exceeded less than 0.1 % of the time: here up to "
        f"{' and '.join(most)}, links drawn by the seed, spines evenly spread. In between, speeds are interpolated, "
        "beyond extrapolated; a job that is cut off waits. Links and spines slow down independently: while both are "
        "down, their shares of the speed are multiplied. The moments until FIBs follow are left out."
    )
    spare = inventory.servers.count - inventory.used
    yield (
        "A failed leaf stops the job until it is repaired. A server with a failed NIC, or link of a NIC, stops it, "
        "too, until it is repaired or another one takes its place: "
        f"{spare} of the {counted(inventory.servers.count, 'server')} are not the job's. What was done since the last "
        "checkpoint is lost (Daly 2006). Means are computed, worst days are those of "
        f"{counted(asked.draws, 'draw')} of the months, event by event."
    )
    sources: dict[str, list[str]] = {}
    for kind, about in KINDS.items():
        rates = getattr(asked.elements, kind)
        if about.source and rates.mtbf is None and rates.afr is None:
            sources.setdefault(about.source, []).append(kind)
    if sources:
        yield f"Rates from reports: {'; '.join(f'{some(kinds)}: {source}' for source, kinds in sources.items())}."


def period_of(asked: Reliability, inventory: FailingParts) -> Period:
    """Return the months with the checkpoints of the job, which depend on how often it stops."""
    part = asked.checkpoints
    write, restart = part.write / SECONDS_PER_HOUR, part.restart / SECONDS_PER_HOUR
    every = best_interval_h(write, inventory.kills_per_h) if part.every is None else part.every / SECONDS_PER_HOUR
    return Period(asked.months, asked.draws, Checkpoints(every, write, restart))


@dataclass(frozen=True, slots=True)
class MonthsReading:
    """Index of the cases about months: their names by spines, load balancer, and what is down; the speed of a point."""

    asked: Reliability
    fabrics: tuple[ComparedFabric, ...]
    balancers: Sequence[str]
    cases: Mapping[tuple[int, str, str, int], str]
    speed: Callable[[Statistics], float]
    progress: Progress = quiet

    def outlook(self, results: CaseResults) -> Outlook:
        """Return what is left of the job's time, of the fabrics and load balancers with all cases simulated."""
        fabrics = {one.fabric.spines: one.fabric for one in self.fabrics}
        period = period_of(self.asked, self.fabrics[0].fabric.inventory)
        found = {spines: list(self._curves(spines, results)) for spines in fabrics}
        shares = {}
        with self.progress("drawing months", period.draws * sum(map(bool, found.values()))) as advance:
            for spines, curves in found.items():
                drawn = []
                for months in drawings(fabrics[spines].inventory, period) if curves else ():
                    drawn.append(months)
                    advance(1)
                for balancer, sound, links, others in curves:
                    shares[spines, balancer] = share_of(fabrics[spines], period, sound, links, others, drawn)
        return Outlook(period, fabrics, shares)

    def _curves(self, spines: int, results: CaseResults) -> Iterator[tuple[str, float, SpeedCurve, SpeedCurve]]:
        """Yield the load balancers of a fabric, each with its speed, also by failed links and by failed spines."""
        for balancer in self.balancers:
            cases = {
                (what, down): case
                for (number, name, what, down), case in self.cases.items()
                if (number, name) == (spines, balancer)
            }
            if not results.points.keys() >= set(cases.values()):
                continue
            speeds = {state: fmean(map(self.speed, results.points[case])) for state, case in cases.items()}
            sound = speeds.pop((LINKS, 0))
            links, others = (
                SpeedCurve({down: speed / sound for (one, down), speed in speeds.items() if one == what and sound})
                for what in (LINKS, SPINES)
            )
            yield balancer, sound, links, others
