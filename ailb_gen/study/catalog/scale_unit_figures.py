"""Figures 4 to 9 of Zeltser (2026), and those of what it left for later."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from ailb_gen.study.catalog.scale_unit_later import later_figures
from ailb_gen.study.catalog.scale_unit_published import (
    BALANCERS,
    HEAVY,
    HEAVY_LOADS,
    JOB_TIME,
    LONGEST,
    MICE,
    MIXED_LOADS,
    NODE_PEAK,
    PIPELINE,
    STEP,
    TENSOR,
    Load,
    case_name,
)
from ailb_gen.study.model import Bars, Figure, Findings, Quantity, Spread


@dataclass(frozen=True, slots=True)
class _Panel:
    """A figure of the source: quantities, by what the legend adds to the load balancer."""

    name: str
    title: str
    y: str
    loads: Sequence[Load]
    quantities: Mapping[str, Quantity]


def _mean_and_tail(job: str) -> dict[str, Quantity]:
    return {"mean": STEP[job, "mean"], "p95": STEP[job, "p95"]}


_MICE = {"mean": MICE["mean"], "p95": MICE["p95"]}
_PANELS = (
    _Panel("figure-4", "Figure 4: heavy, job time", "s", HEAVY_LOADS, {"": JOB_TIME[HEAVY]}),
    _Panel("figure-5-tp", "Figure 5: mixed, job time of tp_heavy", "s", MIXED_LOADS, {"": JOB_TIME[TENSOR]}),
    _Panel("figure-5-pp", "Figure 5: mixed, job time of pp_dp", "s", MIXED_LOADS, {"": JOB_TIME[PIPELINE]}),
    _Panel("figure-6a", "Figure 6a: heavy, step time", "ms", HEAVY_LOADS, _mean_and_tail(HEAVY)),
    _Panel("figure-6b-tp", "Figure 6b: mixed, step time of tp_heavy", "ms", MIXED_LOADS, _mean_and_tail(TENSOR)),
    _Panel("figure-6b-pp", "Figure 6b: mixed, step time of pp_dp", "ms", MIXED_LOADS, _mean_and_tail(PIPELINE)),
    _Panel("figure-7a", "Figure 7a: heavy, mice FCT", "ms", HEAVY_LOADS, _MICE),
    _Panel("figure-7b", "Figure 7b: mixed, mice FCT", "ms", MIXED_LOADS, _MICE),
    _Panel("figure-8-heavy", "Figure 8: heavy, average peak queue", "packets", HEAVY_LOADS, {"": NODE_PEAK}),
    _Panel("figure-8-mixed", "Figure 8: mixed, average peak queue", "packets", MIXED_LOADS, {"": NODE_PEAK}),
    _Panel("figure-9-heavy", "Figure 9: heavy, longest queue", "packets", HEAVY_LOADS, {"": LONGEST}),
    _Panel("figure-9-mixed", "Figure 9: mixed, longest queue", "packets", MIXED_LOADS, {"": LONGEST}),
)


def figures(findings: Findings) -> list[Figure]:
    """Return the figures of what was simulated."""
    return [*_bars(findings), *later_figures(findings)]


def _bars(findings: Findings) -> Iterator[Figure]:
    for panel in _PANELS:
        bars = {load.name: _group(findings, load, panel.quantities) for load in panel.loads}
        bars = {name: group for name, group in bars.items() if group}
        if bars:
            yield Bars(panel.name, panel.title, panel.y, bars)


def _group(findings: Findings, load: Load, quantities: Mapping[str, Quantity]) -> dict[str, Spread]:
    return {
        f"{balancer} {what}".strip(): found
        for balancer in BALANCERS
        for what, quantity in quantities.items()
        if case_name(load, balancer) in findings.points
        and (found := findings.spread(case_name(load, balancer), quantity.of)) is not None
    }
