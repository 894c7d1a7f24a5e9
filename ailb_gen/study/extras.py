"""Additional measurements of studies: CDFs, flows by size, load of links over time."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Any

import numpy as np

from ailb_gen.sim.fabric import PS_PER_US
from ailb_gen.sim.outcome import NEVER
from ailb_gen.sim.statistics import distribution, first_start_ps, job_times, link_loads, links_by_tiers
from ailb_gen.sim.unloaded import slowdowns

if TYPE_CHECKING:
    from ailb_gen.sim.fabric import Float64
    from ailb_gen.sim.outcome import SimulationOutcome
    from ailb_gen.sim.point import ExtraMeasurement, SimulationRun

BITS_PER_GBIT = 10**9


def _times_us(run: SimulationRun, outcome: SimulationOutcome, label: str, within_ps: float = math.inf) -> Float64:
    """Return the completion times of the flows of a label that ended by a time."""
    flows = run.workload.flows()
    ours = flows[run.workload.label[flows] == run.workload.labels.index(label)]
    finish = outcome.finish_ps[ours]
    ended = ours[(finish != NEVER) & (finish <= within_ps)]
    times: Float64 = (outcome.finish_ps[ended] - outcome.start_ps[ended]) / PS_PER_US
    return times


@dataclass(frozen=True, slots=True)
class CompletionCdf:
    """The distribution of the completion times of one label's flows, in µs, at `points` even ranks from 0 to 1."""

    label: str
    points: int = 101

    def __call__(self, run: SimulationRun, outcome: SimulationOutcome) -> list[float]:
        """Return completion times in rising order; empty without flows that ended."""
        times = _times_us(run, outcome, self.label)
        found: list[float] = np.quantile(times, np.linspace(0, 1, self.points)).tolist() if len(times) else []
        return found


@dataclass(frozen=True, slots=True)
class EndedBy:
    """The completion times, in µs, of one label's flows that end within `us` of simulated time."""

    label: str
    us: int

    def __call__(self, run: SimulationRun, outcome: SimulationOutcome) -> dict[str, Any]:
        """Return their count, mean, percentiles and maximum."""
        return distribution(_times_us(run, outcome, self.label, self.us * PS_PER_US))


@dataclass(frozen=True, slots=True)
class UnusedCables:
    """Number of cables in no next-hop set: those that are down from the start and that routing ignores."""

    def __call__(self, run: SimulationRun, outcome: SimulationOutcome) -> int:
        """Return their number; both directions of a cable are one."""
        used = np.zeros(run.fabric.link_count, dtype=bool)
        used[run.fabric.set_links] = True
        return int(np.count_nonzero(~used & ~used[run.fabric.link_reverse])) // 2


@dataclass(frozen=True, slots=True)
class SlowdownBySize:
    """Slowdowns by flow size: bins up to and including each of the `edges`, in bytes, and one above the last."""

    edges: tuple[int, ...]

    def __call__(self, run: SimulationRun, outcome: SimulationOutcome) -> list[dict[str, float | None]]:
        """Return edge (None: above the last), flows, mean and p99 of every bin; None for a bin without flows.

        Flows count that count in the statistics of the point, and have ended.
        """
        flows = run.workload.flows()
        start, finish = outcome.start_ps[flows], outcome.finish_ps[flows]
        counted = (start >= run.point.after_ps + first_start_ps(outcome)) & (finish != NEVER)
        flows = flows[counted]
        slow = slowdowns(run.fabric, run.settings, run.workload, flows, start[counted], finish[counted])
        place = np.searchsorted(np.array(self.edges), run.workload.amount[flows], side="left")
        found = []
        for number, edge in enumerate((*self.edges, None)):
            about = distribution(slow[place == number])
            found.append({"edge": edge, "flows": about["count"], "mean": about["mean"], "p99": about["p99"]})
        return found


@dataclass(frozen=True, slots=True)
class LoadByRate:
    """The load of the links between two tiers by their rate: a share of it from the first start to the end."""

    source: str
    target: str

    def __call__(self, run: SimulationRun, outcome: SimulationOutcome) -> dict[str, float]:
        """Return the mean load by rate, in Gb/s as text, in both directions."""
        fabric = run.fabric
        names = (f"{self.source} to {self.target}", f"{self.target} to {self.source}")
        ours = np.any([between for name, between in links_by_tiers(fabric) if name in names], axis=0)
        loads = link_loads(fabric, outcome)
        found = {}
        for rate in sorted({*fabric.rate_bps[ours].tolist()}):
            some = loads[ours & (fabric.rate_bps == rate)].tolist()
            found[f"{rate / BITS_PER_GBIT:g}"] = math.fsum(some) / len(some)
        return found


@dataclass(frozen=True, slots=True)
class LinkRates:
    """Rate of the links of a name or glob over time, in Gb/s; the scenario measures with a `load_interval`."""

    links: str

    def __call__(self, run: SimulationRun, outcome: SimulationOutcome) -> dict[str, list[float]]:
        """Return a rate per interval by name of link."""
        # Bits per 1000 ps are Gb/s.
        scale = 8000 / outcome.load_interval_ps
        return {
            name: [round(float(sent) * scale, 1) for sent in outcome.load[:, number]]
            for number, name in enumerate(run.point.fabric.link_names)
            if fnmatchcase(name, self.links)
        }


@dataclass(frozen=True, slots=True)
class StepTimes:
    """End and duration of every step of a job, in us."""

    job: str

    def __call__(self, run: SimulationRun, outcome: SimulationOutcome) -> list[list[float]]:
        """Return [end, time] by step, for steps that ended."""
        begin, steps = job_times(run.workload, outcome, run.workload.jobs.index(self.job))
        ends = begin + np.cumsum(steps)
        return [[int(end) / PS_PER_US, int(step) / PS_PER_US] for end, step in zip(ends, steps, strict=True)]


MEASUREMENTS: Mapping[str, type[ExtraMeasurement]] = {
    "completion CDF": CompletionCdf,
    "ended by": EndedBy,
    "unused cables": UnusedCables,
    "slowdown by size": SlowdownBySize,
    "load by rate": LoadByRate,
    "link rates": LinkRates,
    "step times": StepTimes,
}
