"""The profile of a point, for charts: distributions of times and loads, and what happened over time.

Plain data as JSON has it. Distributions are values at even ranks from 0 to 1.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ailb_gen.sim.fabric import LEAF, PS_PER_US, SPINE, FabricArrays, Float64
from ailb_gen.sim.outcome import NEVER, Series, SimulationOutcome
from ailb_gen.sim.statistics import Counted, job_times, link_loads, links_by_tiers
from ailb_gen.sim.workload import Workload

Profile = Mapping[str, Any]
# Ranks of a distribution.
RANKS = 101
# Steps of a job at most; of more, those at even distances.
STEPS = 200
# The most pairs of leaf and spine whose loads are kept.
PAIRS = 1024


def profile(fabric: FabricArrays, workload: Workload, outcome: SimulationOutcome, counted: Counted) -> Profile:
    """Return the profile of a point; the flows are those of its statistics that have ended."""
    ended = counted.finish_ps != NEVER
    flows, slow = counted.flows[ended], counted.slowdown[ended]
    start, finish = counted.start_ps[ended], counted.finish_ps[ended]
    loads = link_loads(fabric, outcome)
    labels = [(name, workload.label[flows] == number) for number, name in enumerate(workload.labels)]
    return {
        "end_us": outcome.end_ps / PS_PER_US,
        "fct_us": {name: _ranked((finish - start)[ours] / PS_PER_US) for name, ours in labels if ours.any()},
        "slowdown": {name: _ranked(slow[ours]) for name, ours in labels if ours.any()},
        "steps_us": {name: _steps(workload, outcome, number) for number, name in enumerate(workload.jobs)},
        "loads": {name: _ranked(loads[ours]) for name, ours in links_by_tiers(fabric)},
        "pairs": _pairs(fabric, loads),
        "series": None if outcome.series is None else _series(outcome.series),
    }


def _ranked(values: Float64) -> list[float]:
    """Return the values at even ranks; of fewer values, all of them."""
    # Sorted first, `quantile` takes half as long.
    ordered = np.sort(values)
    return _short(ordered if len(ordered) <= RANKS else np.quantile(ordered, np.linspace(0, 1, RANKS)))


def _short(values: Float64) -> list[float]:
    """Return values with six digits: charts show no more."""
    return [float(f"{value:.6g}") for value in values.tolist()]


def _steps(workload: Workload, outcome: SimulationOutcome, number: int) -> list[list[float]]:
    """Return [number, time in us] of the steps of a job that ended; the first is 1."""
    _, steps = job_times(workload, outcome, number)
    chosen = np.unique(np.linspace(0, len(steps) - 1, min(STEPS, len(steps))).astype(np.int64))
    times = _short(steps[chosen] / PS_PER_US)
    return [[step, time] for step, time in zip((chosen + 1).tolist(), times, strict=True)]


def _pairs(fabric: FabricArrays, loads: Float64) -> dict[str, Any] | None:
    """Return the load of every leaf towards every spine and back, the mean of parallel links; None of too many."""
    leaves, spines = (np.flatnonzero(fabric.tier == tier).tolist() for tier in (LEAF, SPINE))
    if not 0 < len(leaves) * len(spines) <= PAIRS:
        return None
    ends: dict[tuple[int, int], list[float]] = {}
    for source, target, load in zip(
        fabric.link_source.tolist(), fabric.link_target.tolist(), loads.tolist(), strict=True
    ):
        ends.setdefault((source, target), []).append(load)

    def mean(pair: tuple[int, int]) -> float | None:
        found = ends.get(pair)
        return float(f"{sum(found) / len(found):.4g}") if found else None

    return {
        "leaves": [fabric.names[leaf] for leaf in leaves],
        "spines": [fabric.names[spine] for spine in spines],
        "up": [[mean((leaf, spine)) for spine in spines] for leaf in leaves],
        "down": [[mean((spine, leaf)) for spine in spines] for leaf in leaves],
    }


def _series(series: Series) -> dict[str, Any]:
    rows = ("mean_load", "max_load", "peak_packets", "marks", "pauses", "drops")
    return {
        "edges_us": _short(series.edges_ps / PS_PER_US),
        "tiers": {
            tier: {name: _row(getattr(series, name)[number]) for name in rows}
            for number, tier in enumerate(series.tiers)
        },
    }


def _row(values: Any) -> Sequence[float]:  # noqa: ANN401 - an array of numbers
    return _short(values) if values.dtype.kind == "f" else values.tolist()
