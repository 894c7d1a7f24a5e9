"""The report of `simulate`: load balancers side by side, distributions, the run over time, links, provenance."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ailb_gen.report.html import charts_over_seeds as plots
from ailb_gen.report.html.charts import CHARTS, chart, charts_css, charts_of
from ailb_gen.report.html.page import Page, Section, Status, html
from ailb_gen.report.html.plots import Plot
from ailb_gen.sim.comparison import COLUMNS
from ailb_gen.sim.conclusions import comparable, conclusions
from ailb_gen.sim.profile import Profile
from ailb_gen.sim.results import PointRow
from ailb_gen.wording import shown

# Combinations of swept values with charts of their own, and rows of points; the page says what is left out.
GROUPS, POINTS = 12, 500
INCOMPARABLE = "No comparison: no seed was simulated with every variant."


@dataclass(frozen=True, slots=True)
class Simulation:
    """The contents of a page.

    `variants` are the swept values (empty: none are) and the rest of its name by variant, `records` the comparison,
    `profiles` are by digest, `settings` is the scenario as plain data.
    """

    title: str
    facts: tuple[tuple[str, str], ...]
    variants: Mapping[str, tuple[str, str]]
    rows: Sequence[PointRow]
    records: Sequence[Mapping[str, Any]]
    profiles: Mapping[str, Profile]
    settings: object
    warnings: Sequence[str] = ()

    def groups(self) -> dict[str, dict[str, str]]:
        """Return the variants by swept values, and there by the rest of their names."""
        found: dict[str, dict[str, str]] = {}
        for variant, (group, name) in self.variants.items():
            found.setdefault(group, {})[name] = variant
        return found

    def profiles_of(self, names: Mapping[str, str]) -> dict[str, list[Profile]]:
        """Return the profiles of some variants by name, those of all seeds that were simulated."""
        return {
            name: [
                self.profiles[row.digest] for row in self.rows if row.variant == variant and row.digest in self.profiles
            ]
            for name, variant in names.items()
        }


def simulated(simulation: Simulation) -> str:
    """Return the report as HTML."""
    groups = list(simulation.groups().items())
    found = {group: list(conclusions(comparable(simulation.rows, names))) for group, names in groups}
    said = next((lines for lines in found.values() if lines), [INCOMPARABLE])
    first = " ".join(dict.fromkeys((said[0], said[-1])))
    more = f" ({groups[0][0]}; {len(groups)} combinations are compared below.)" if len(groups) > 1 else ""
    profiles = {group: simulation.profiles_of(names) for group, names in groups}
    sections = [_comparison(simulation, found), *chart_sections(profiles), _setup(simulation)]
    done = sum(row.statistics is not None and not row.statistics["interrupted"] for row in simulation.rows)
    partial = f"Partial, {done} of {len(simulation.rows)} points: " if done < len(simulation.rows) else ""
    return html(
        Page(simulation.title, _status(simulation), f"{partial}{first}{more}", simulation.facts, tuple(sections))
    )


def _status(simulation: Simulation) -> Status:
    whole = all(row.statistics is not None and row.statistics["complete"] for row in simulation.rows)
    return "info" if whole and not simulation.warnings else "warn"


def _comparison(simulation: Simulation, found: Mapping[str, Sequence[str]]) -> Section:
    records = {record["variant"]: record for record in simulation.records}
    groups = {
        group: {name: records[variant] for name, variant in names.items() if variant in records}
        for group, names in simulation.groups().items()
    }
    columns = [
        (f"{title} {unit}".strip(), figure)
        for title, unit, figure in COLUMNS
        if any(record[figure] is not None for record in simulation.records)
    ]
    rows = [
        (group, name, record["seeds"], record["complete"], [_cell(record[figure]) for _, figure in columns])
        for group, inside in groups.items()
        for name, record in inside.items()
    ]
    values = {
        "conclusions": [(group, lines) for group, lines in found.items() if lines],
        "warnings": list(simulation.warnings),
        "columns": [title for title, _ in columns],
        "rows": rows,
        "grouped": len(groups) > 1,
        # All metrics are in the table.
        "charts": [
            chart(plot) for plot in plots.metrics(dict(list(groups.items())[:GROUPS])) if plot.constants() is None
        ],
    }
    return charts_section("comparison", "Comparison", values)


def _cell(spread: Mapping[str, float] | None) -> tuple[str, str]:
    if spread is None:
        return "-", ""
    least, most = shown(spread["least"]), shown(spread["most"])
    return shown(spread["mean"]), "" if least == most else f"{least} to {most}"


def charts_section(name: str, title: str, values: Mapping[str, object]) -> Section:
    """Return a section whose template shows charts."""
    return Section(name, title, values, uses=(CHARTS,), css=charts_css())


def chart_sections(profiles: Mapping[str, plots.Profiles], note: str = "") -> Iterator[Section]:
    """Give the sections with the charts of profiles, by group, such as swept values, and name; none without any."""
    left_out = f"Charts of the first {GROUPS} of {len(profiles)} combinations; the tables list all."
    notes = [note, left_out if len(profiles) > GROUPS else ""]
    parts: Sequence[tuple[str, str, Callable[[plots.Profiles], Iterable[Plot]]]] = (
        ("completion", "Completion times", lambda one: (*_times(one), *plots.steps(one))),
        ("overtime", "Queue depth and load over time", plots.over_time),
        ("links", "Link loads", lambda one: (*_spread_of_loads(one), *plots.heat_maps(one))),
    )
    for name, title, of in parts:
        groups = [(group, charts_of(of(found))) for group, found in list(profiles.items())[:GROUPS]]
        if any(charts for _, charts in groups):
            yield charts_section(name, title, {"note": " ".join(filter(None, notes)), "groups": groups})


def _times(profiles: plots.Profiles) -> Iterable[Plot]:
    share = "Cumulative share of flows (CDF)"
    yield from plots.distributions(profiles, "fct_us", "Flow completion time", "us", share)
    yield from plots.distributions(profiles, "slowdown", "Slowdown", "ratio to idle fabric", share)


def _spread_of_loads(profiles: plots.Profiles) -> Iterable[Plot]:
    share = "Cumulative share of links (CDF) by their mean load over the run; steeper is more even"
    found = plots.distributions(profiles, "loads", "Link load", plots.LOAD, share, plots.PERCENT)
    return (plot for plot in found if "host" not in plot.title)


def _setup(simulation: Simulation) -> Section:
    values = {
        "settings": json.dumps(simulation.settings, indent=2, ensure_ascii=False, default=str),
        "points": [
            (row.variant, row.seed, row.digest, _state(row), row.statistics and shown(row.statistics["end_us"]))
            for row in simulation.rows[:POINTS]
        ],
        "left_out": max(0, len(simulation.rows) - POINTS),
    }
    return Section("setup", "Settings and provenance", values)


def _state(row: PointRow) -> str:
    if row.statistics is None:
        return "not simulated"
    if row.statistics["interrupted"]:
        return "interrupted"
    return "complete" if row.statistics["complete"] else "incomplete"
