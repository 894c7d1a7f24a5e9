"""Figures of studies as data: bars, lines over a variable, distributions, slowdown by size, and courses over time."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Literal

from pydantic import Field

from ailb_gen.study.model import BarFigure, CaseResults, Figure, LineFigure, SeedSpread
from ailb_gen.study.numbers import full_bins
from ailb_gen.study.quantities import Quantity
from ailb_gen.study.templates import Axes, Variables, combinations, text
from ailb_gen.validation import Model

US_PER_MS = 1000
Points = list[tuple[float, float]]


@dataclass(frozen=True, slots=True)
class PlotSources:
    """Sources of figures: results, quantities by name, and published numbers by case and quantity."""

    results: CaseResults
    quantities: Mapping[str, Quantity]
    published: Mapping[tuple[str, str], float]


class _Plot(Model):
    """Figures of a template: one per combination of `figures`, in it a line or bar per combination of `each`."""

    name: str
    title: str
    x: str = ""
    y: str
    figures: Axes = {}
    each: Axes = {}
    case: str
    label: str = ""
    log: bool = Field(False, description="a logarithmic axis: x of lines, y of bars")

    def simulated(self, sources: PlotSources, given: Variables) -> Iterator[tuple[str, str, Variables]]:
        """Yield label, case and variables of every simulated case."""
        for variables in combinations(self.each, given):
            case = text(self.case, variables)
            if sources.results.points.get(case):
                yield text(self.label, variables), case, variables


class BarsOf(_Plot):
    """BarFigure of a quantity, with the range over seeds."""

    kind: Literal["bars"]
    group: str
    of: str

    def drawn(self, sources: PlotSources, given: Variables) -> Mapping[str, Mapping[str, SeedSpread]]:
        """Return spreads by group and label."""
        found: dict[str, dict[str, SeedSpread]] = {}
        for label, case, variables in self.simulated(sources, given):
            spread = sources.results.spread(case, sources.quantities[text(self.of, variables)].of)
            if spread is not None:
                found.setdefault(text(self.group, variables), {})[label] = spread
        return found


class LinesOf(_Plot):
    """LineFigure of a quantity over a variable."""

    kind: Literal["lines"]
    of: str
    over: str = Field(description="the variable on the x axis")
    unit: str = Field("", description="a variable that it is divided by")
    base: str = Field("", description="the case of all lines where the variable is one unit")

    def drawn(self, sources: PlotSources, given: Variables) -> Mapping[str, Points]:
        """Return points by label; where the variable `source` is `published`, of the published numbers."""
        found: dict[str, Points] = {}
        if self.base and self.base not in sources.results.points:
            return found
        for variables in combinations(self.each, given):
            case, of = text(self.case, variables), text(self.of, variables)
            if variables.get("source") == "published":
                y = sources.published[case, of]
            elif sources.results.points.get(case):
                y = sources.results.mean(case, sources.quantities[of].of)
            else:
                continue
            x = variables[self.over] / (variables[self.unit] if self.unit else 1)
            line = found.setdefault(text(self.label, variables), [])
            if self.base and not line:
                line.append((1.0, sources.results.mean(self.base, sources.quantities[of].of)))
            line.append((float(x), y))
        return {label: sorted(points) for label, points in found.items()}


class DistributionsOf(_Plot):
    """Distributions of completion times, in ms: the mean over seeds at every rank."""

    kind: Literal["distributions"]

    def drawn(self, sources: PlotSources, given: Variables) -> Mapping[str, Points]:
        """Return points by label."""
        return {label: _distribution(sources.results, case) for label, case, _ in self.simulated(sources, given)}


class SizesOf(_Plot):
    """Slowdown by size of flows, of the bins with enough flows in all cases."""

    kind: Literal["sizes"]
    which: str = Field(description="mean or p99")
    largest: str = Field(description="variable: bytes of the largest flow, for the last bin")

    def drawn(self, sources: PlotSources, given: Variables) -> Mapping[str, Points]:
        """Return points by label."""
        cases = {label: case for label, case, _ in self.simulated(sources, given)}
        if not cases:
            return {}
        places = full_bins(sources.results, list(cases.values()))
        first = next(iter(cases.values()))
        edges = [row["edge"] or given[self.largest] for row in _first(sources, first)["sizes"]]
        of = [Quantity("", f"extras/sizes/{place}/{text(self.which, given)}").of for place in places]
        return {
            label: [(edges[place], sources.results.mean(case, at)) for place, at in zip(places, of, strict=True)]
            for label, case in cases.items()
        }


class RatesOf(_Plot):
    """Rates of links over time in the first seed, as long as one of them sends."""

    kind: Literal["rates"]
    interval_ms: float

    def drawn(self, sources: PlotSources, given: Variables) -> Mapping[str, Points]:
        """Return points by link."""
        found: dict[str, Points] = {}
        for _, case, _ in self.simulated(sources, given):
            rates: Mapping[str, Sequence[float]] = _first(sources, case)["uplinks"]
            last = max((number for sent in rates.values() for number, rate in enumerate(sent) if rate), default=0)
            for link, sent in rates.items():
                points = [(number * self.interval_ms, rate) for number, rate in enumerate(sent[: last + 2])]
                found[link.partition(":")[2]] = points
        return found


class StepsOf(_Plot):
    """Times of the steps of a job by their end, in ms, in the first seed."""

    kind: Literal["steps"]

    def drawn(self, sources: PlotSources, given: Variables) -> Mapping[str, Points]:
        """Return points by label."""
        return {
            label: [(end / US_PER_MS, time / US_PER_MS) for end, time in _first(sources, case)["steps"]]
            for label, case, _ in self.simulated(sources, given)
        }


Plot = Annotated[
    BarsOf | LinesOf | DistributionsOf | SizesOf | RatesOf | StepsOf,
    Field(discriminator="kind"),
]


def _first(sources: PlotSources, case: str) -> Mapping[str, Any]:
    """Return the additional measurements of a case's first seed."""
    extras: Mapping[str, Any] = sources.results.of(case)[0]["extras"]
    return extras


def _distribution(results: CaseResults, case: str) -> Points:
    seeds = [point["extras"]["cdf"] for point in results.of(case)]
    ranks = min(map(len, seeds))
    return [
        (sum(one[rank] for one in seeds) / len(seeds) / US_PER_MS, rank / max(1, ranks - 1)) for rank in range(ranks)
    ]


def figures(plots: Sequence[Plot], sources: PlotSources) -> Iterator[Figure]:
    """Yield the figures of the simulated cases."""
    for plot in plots:
        for given in combinations(plot.figures, {}):
            name, title, y = (text(part, given) for part in (plot.name, plot.title, plot.y))
            if isinstance(plot, BarsOf):
                if bars := plot.drawn(sources, given):
                    yield BarFigure(name, title, y, bars, log_y=plot.log)
            elif lines := plot.drawn(sources, given):
                yield LineFigure(name, title, plot.x, y, lines, log_x=plot.log)
