"""Plots of simulated points: what all seeds of a variant have in common as a line, and their range around it.

Variants are side by side: one line or bar each.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np

from ailb_gen.report.html.plots import Bar, Bars, HeatMap, Lines, PlotLine, cdf
from ailb_gen.report.html.scales import Axis
from ailb_gen.sim.comparison import COLUMNS
from ailb_gen.sim.fabric import Float64
from ailb_gen.sim.profile import Profile

# Per variant by its name: the profiles of its seeds.
Profiles = Mapping[str, Sequence[Profile]]
# Intervals of a chart over time, and points of a distribution.
INTERVALS, POINTS = 100, 81
# From this ratio of the largest to the smallest value on, an axis is logarithmic.
WIDE = 20
LOAD = "% of line rate"
PERCENT = 100
COUNTERS = (("marks", "ECN marks"), ("pauses", "PFC pause frames"), ("drops", "Dropped packets"))
TITLES = {
    "bus_bandwidth": ("Bus bandwidth", "GB/s"),
    "job_us": ("Job completion time", "us"),
    "fct_p99_us": ("Flow completion time, p99", "us"),
    "slowdown_p99": ("Slowdown, p99", "ratio to idle fabric"),
    "peak_packets": ("Peak queue depth", "packets"),
    "marks": ("ECN marks", "packets"),
    "pauses": ("PFC pause frames", "frames"),
    "drops": ("Dropped packets", "packets"),
    "out_of_order": ("Out-of-order packets", "packets"),
}


def metrics(groups: Mapping[str, Mapping[str, Mapping[str, Any]]]) -> Iterator[Bars]:
    """Give a chart per metric that any variant has and that is not 0 everywhere; records by group and name."""
    for _, _, figure in COLUMNS:
        title, unit = TITLES[figure]
        bars = {
            group: {name: _bar(record[figure]) for name, record in found.items()} for group, found in groups.items()
        }
        known = [bar for inside in bars.values() for bar in inside.values() if bar is not None]
        if any(bar.most for bar in known):
            log = len(bars) > 1 and _is_wide([bar.value for bar in known])
            yield Bars(title, Axis(unit, log=log), bars)


def _bar(spread: Mapping[str, float] | None) -> Bar | None:
    return None if spread is None else Bar(spread["mean"], spread["least"], spread["most"])


def _is_wide(values: Sequence[float]) -> bool:
    return bool(values) and min(values) > 0 and max(values) > WIDE * min(values)


# Distributions


def distributions(profiles: Profiles, key: str, title: str, axis: str, share: str, scale: int = 1) -> Iterator[Lines]:
    """Give a chart per label (or pair of tiers) of the distributions `key` of the profiles, times `scale`."""
    for label in _keys(profiles, key):
        found = {
            name: [[scale * value for value in one[key][label]] for one in seeds if one[key].get(label)]
            for name, seeds in profiles.items()
        }
        values = [value for seeds in found.values() for one in seeds for value in one]
        lines = [_distribution(name, seeds) for name, seeds in found.items() if seeds]
        text = f"{share}; shaded: range over seeds." if any(line.band for line in lines) else f"{share}."
        yield Lines(
            f"{title}: {label}", Axis(axis, log=_is_wide(values)), Axis("cumulative share", top=1.0), lines, text
        )


def _keys(profiles: Profiles, key: str) -> list[str]:
    return list(dict.fromkeys(label for seeds in profiles.values() for one in seeds for label in one[key]))


def _distribution(name: str, seeds: Sequence[Sequence[float]]) -> PlotLine:
    """Return the distribution of all seeds together, and the range of their shares at every value."""
    points = cdf([value for one in seeds for value in one], POINTS)
    if len(seeds) < 2:
        return PlotLine(name, points)
    shares = [(x, [bisect_right(one, x) / len(one) for one in seeds]) for x, _ in points]
    return PlotLine(name, points, [(x, min(found), max(found)) for x, found in shares])


# Over time


def over_time(profiles: Profiles) -> Iterator[Lines]:
    """Give loads between switches, longest queues and counters over time."""
    series = {name: [one for one in seeds if one["series"]] for name, seeds in profiles.items()}
    series = {name: seeds for name, seeds in series.items() if seeds}
    end = max((one["end_us"] for seeds in series.values() for one in seeds), default=0.0)
    if end <= 0:
        return
    tiers = list(dict.fromkeys(t for seeds in series.values() for one in seeds for t in one["series"]["tiers"]))
    for tier in (tier for tier in tiers if "host" not in tier):
        yield _chart(f"Mean load, {tier}", LOAD, series, end, partial(_mean, tier, end))
        yield _chart(f"Peak link load, {tier}", LOAD, series, end, partial(_most, tier, "max_load", end, PERCENT))
    queues = (
        _chart(f"Peak queue depth, {t}", "packets", series, end, partial(_most, t, "peak_packets", end, 1))
        for t in tiers
    )
    counters = (_chart(title, "cumulative", series, end, partial(_so_far, name, end)) for name, title in COUNTERS)
    yield from (plot for plot in (*queues, *counters) if _has_values(plot))


def _has_values(plot: Lines) -> bool:
    return any(y for line in plot.lines for _, y in line.points)


def _chart(title: str, unit: str, series: Profiles, end: float, of: Callable[[Profile], Float64]) -> Lines:
    """Return a chart of a quantity in INTERVALS even intervals; the mean over seeds, and their range."""
    times = np.linspace(0, end, INTERVALS + 1).tolist()
    lines = []
    for name, seeds in series.items():
        values = np.stack([of(one) for one in seeds])
        # The last value lasts until the end.
        values = np.concatenate([values, values[:, -1:]], axis=1)
        mean, least, most = (row.tolist() for row in (values.mean(axis=0), values.min(axis=0), values.max(axis=0)))
        band = list(zip(times, least, most, strict=True)) if len(seeds) > 1 else []
        lines.append(PlotLine(name, list(zip(times, mean, strict=True)), band))
    return Lines(title, Axis("time, us"), Axis(unit), lines, steps=True)


def _mean(tier: str, end: float, one: Profile) -> Float64:
    """Return the mean of a load in every interval; it is 0 after the run."""
    edges = np.array(one["series"]["edges_us"])
    row = one["series"]["tiers"].get(tier)
    if row is None:
        return np.zeros(INTERVALS)
    sent = np.concatenate([[0.0], np.cumsum(np.array(row["mean_load"]) * np.diff(edges))])
    found: Float64 = np.diff(np.interp(np.linspace(0, end, INTERVALS + 1), edges, sent)) / (end / INTERVALS) * PERCENT
    return found


def _most(tier: str, name: str, end: float, scale: int, one: Profile) -> Float64:
    """Return the largest value of the intervals of a run that overlap each interval of the chart, times `scale`."""
    row = one["series"]["tiers"].get(tier)
    if row is None:
        return np.zeros(INTERVALS)
    edges, values = one["series"]["edges_us"], [*row[name], 0.0]
    places = np.linspace(0, end, INTERVALS + 1)
    first = np.searchsorted(edges, places[:-1], side="right") - 1
    last = np.searchsorted(edges, places[1:], side="left")
    return np.array([scale * max(values[a : max(b, a + 1)], default=0.0) for a, b in zip(first, last, strict=True)])


def _so_far(name: str, end: float, one: Profile) -> Float64:
    """Return how much was counted on all links until the end of every interval."""
    edges = np.array(one["series"]["edges_us"])
    counted = np.sum([row[name] for row in one["series"]["tiers"].values()], axis=0)
    so_far = np.concatenate([[0.0], np.cumsum(counted)])
    found: Float64 = np.interp(np.linspace(0, end, INTERVALS + 1)[1:], edges, so_far)
    return found


def steps(profiles: Profiles) -> Iterator[Lines]:
    """Give the time of every step, for jobs with several."""
    for job in _keys(profiles, "steps_us"):
        found = {name: [one["steps_us"].get(job, []) for one in seeds] for name, seeds in profiles.items()}
        if max((len(one) for seeds in found.values() for one in seeds), default=0) < 3:
            continue
        lines = [_steps(name, seeds) for name, seeds in found.items() if seeds]
        yield Lines(f"Step time: {job}", Axis("step"), Axis("us"), lines)


def _steps(name: str, seeds: Sequence[Sequence[tuple[int, float]]]) -> PlotLine:
    """Return the times of the steps that every seed has: of many steps a profile has some."""
    times = [dict(one) for one in seeds]
    rows = [(step, [one[step] for one in times]) for step in times[0] if all(step in one for one in times)]
    band = [(step, min(found), max(found)) for step, found in rows] if len(seeds) > 1 else []
    return PlotLine(name, [(step, sum(found) / len(found)) for step, found in rows], band)


# Links


def heat_maps(profiles: Profiles) -> Iterator[HeatMap]:
    """Give the load between every leaf and spine, of small fabrics; all with one scale."""
    fields = []
    for name, seeds in profiles.items():
        pairs = [one["pairs"] for one in seeds if one["pairs"]]
        for way, text in (("up", "leaf to spine"), ("down", "spine to leaf")):
            if pairs:
                fields.append((f"{name}: {text}", pairs[0], _together([one[way] for one in pairs])))
    top = max((value for _, _, rows in fields for row in rows for value in row if value is not None), default=0.0)
    for title, pairs, rows in fields:
        yield HeatMap(
            title, "mean load over the run, % of line rate", pairs["leaves"], pairs["spines"], rows, top=top or 1.0
        )


def _together(fields: Sequence[Sequence[Sequence[float | None]]]) -> list[list[float | None]]:
    """Return the mean of several fields of one shape, None where any has none."""
    return [
        [
            None if None in found else _percent([value for value in found if value is not None])
            for found in zip(*rows, strict=True)
        ]
        for rows in zip(*fields, strict=True)
    ]


def _percent(values: Sequence[float]) -> float:
    return float(f"{PERCENT * sum(values) / len(values):.3g}")
