"""Statistics of a simulated point: flows by label, jobs and their steps, links, and what switches and hosts counted.

They are plain data, as JSON has them. Times are in µs. Percentiles are interpolated linearly between ranks. The same
outcome gives the same digits anywhere.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from ailb_gen.sim.fabric import HOST, LEAF, PS_PER_US, SPINE, FabricArrays, Float64, Int64
from ailb_gen.sim.outcome import NEVER, SimulationOutcome
from ailb_gen.sim.settings import SimulationSettings
from ailb_gen.sim.traffic.collectives import bus_factor
from ailb_gen.sim.unloaded import PS_BITS, host_rates, slowdowns
from ailb_gen.sim.workload import Workload

QUANTILES = {"p50": 0.5, "p95": 0.95, "p99": 0.99, "p999": 0.999}
TIERS = {HOST: "host", LEAF: "leaf", SPINE: "spine"}
# What is counted of every flow, and how it is put together by label.
FLOW_COUNTS: Mapping[str, Callable[[Int64], np.int64]] = {
    "retransmitted": np.sum,
    "marked": np.sum,
    "out_of_order": np.sum,
    "distance": np.max,
    "rerouted": np.sum,
}
LINK_SUMS = ("drops", "lost", "marks", "pauses")
Record = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Collective:
    """Inputs of the bus bandwidth of a job.

    `bytes` is the size that nccl-tests prints, of one step; `compute_ps` of every step is not communication.
    """

    kind: str
    ranks: int
    bytes: int
    compute_ps: int = 0


@dataclass(frozen=True, slots=True)
class Counted:
    """The flows that count, tasks of a workload: start and end in ps, slowdown; shape (F,) each."""

    flows: Int64
    start_ps: Int64
    finish_ps: Int64
    slowdown: Float64


def statistics(
    fabric: FabricArrays,
    workload: Workload,
    outcome: SimulationOutcome,
    collectives: Mapping[str, Collective],
    counted: Counted,
) -> Record:
    """Return the statistics of a point.

    `flows` are by label, `jobs` by name, `links` by pair of tiers. `mean_node_peak` is the mean over nodes of a node's
    longest queue; `histogram` are packets by how many waited before them: 0, 1, 2-3, 4-7, ... Where NICs have several
    speeds, `to_slower_nic` counts the flows from a faster to a slower one. Where no two flows can share a link between
    switches, `no_collisions` counts those that cross any.
    """
    peaks = np.zeros(len(fabric.names), dtype=np.int64)
    np.maximum.at(peaks, fabric.link_source, outcome.link_peak)
    jobs = enumerate(workload.jobs)
    return {
        "complete": outcome.complete,
        "end_us": outcome.end_ps / PS_PER_US,
        "tasks": workload.count,
        "ended": int(np.count_nonzero(outcome.finish_ps != NEVER)),
        "flows": dict(_flows(workload, outcome, counted)),
        "jobs": {name: _job(workload, outcome, number, collectives.get(name)) for number, name in jobs},
        "links": dict(_links(fabric, outcome)),
        "peak_packets": int(outcome.link_peak.max(initial=0)),
        "peak_bytes": int(outcome.link_peak_bytes.max(initial=0)),
        "mean_node_peak": int(peaks.sum()) / max(len(peaks), 1),
        "histogram": outcome.histogram.sum(axis=0).tolist() if outcome.histogram.size else [],
        "totals": dict(sorted(outcome.totals.items())),
        **_to_slower(fabric, workload),
        **_no_collisions(fabric, workload),
    }


def _to_slower(fabric: FabricArrays, workload: Workload) -> Record:
    """Return how many flows go from a faster to a slower NIC; nothing if none does."""
    rates, flows = host_rates(fabric), workload.flows()
    slower = np.count_nonzero(rates[workload.source[flows]] > rates[workload.target[flows]])
    return {"to_slower_nic": {"flows": int(slower), "of": len(flows)}} if slower else {}


def _no_collisions(fabric: FabricArrays, workload: Workload) -> Record:
    """Return how many flows go between switches if no two queue pairs can share a link there; else nothing."""
    switches, flows = fabric.host_switches(), workload.flows()
    ends = switches[workload.source[flows]], switches[workload.target[flows]]
    crossing = ends[0] != ends[1]
    # A flow that belongs to no job has a queue pair of its own.
    job = np.where(workload.job >= 0, workload.job, -1 - np.arange(workload.count))
    names = (job, workload.source, workload.target, workload.queue_pair, workload.port)
    columns = [column[flows[crossing]] for column in names]
    for switch in ends:
        # Every switch sends flows of one queue pair at most, and receives those of one.
        _, first, number = np.unique(switch[crossing], return_index=True, return_inverse=True)
        if any((column != column[first][number]).any() for column in columns):
            return {}
    return {"no_collisions": {"flows": int(np.count_nonzero(crossing)), "of": len(flows)}} if len(flows) else {}


def distribution(values: Float64) -> Record:
    """Return count, mean, percentiles and maximum of values that are all finite; all but the count None of none."""
    if not len(values):
        return {"count": 0, **dict.fromkeys(("mean", *QUANTILES, "max"))}
    # Sums of NumPy depend on the machine's vector units in the last digit.
    mean = math.fsum(values.tolist()) / len(values)
    found = zip(QUANTILES, np.quantile(values, list(QUANTILES.values())).tolist(), strict=True)
    return {"count": len(values), "mean": mean, **dict(found), "max": float(values.max())}


def counted_flows(
    fabric: FabricArrays,
    workload: Workload,
    settings: SimulationSettings,
    outcome: SimulationOutcome,
    after_ps: int = 0,
) -> Counted:
    """Return the flows that count: those that start `after_ps` or more after the first one, or never."""
    flows = workload.flows()
    begun = outcome.start_ps[flows]
    flows = flows[(begun == NEVER) | (begun >= after_ps + first_start_ps(outcome))]
    start, finish = outcome.start_ps[flows], outcome.finish_ps[flows]
    return Counted(flows, start, finish, slowdowns(fabric, settings, workload, flows, start, finish))


def _flows(workload: Workload, outcome: SimulationOutcome, counted: Counted) -> Iterator[tuple[str, Record]]:
    """Yield the statistics of the flows of every label that are counted."""
    flows, start, finish, slow = counted.flows, counted.start_ps, counted.finish_ps, counted.slowdown
    for number, name in enumerate(workload.labels):
        ours = workload.label[flows] == number
        if not ours.any():
            continue
        ended = ours & (finish != NEVER)
        tasks = flows[ours]
        found = {
            "flows": len(tasks),
            "ended": int(np.count_nonzero(ended)),
            "bytes": int(workload.amount[tasks].sum()),
            "fct_us": distribution((finish[ended] - start[ended]) / PS_PER_US),
            "slowdown": distribution(slow[ended]),
        }
        counts = {
            name: int(total(getattr(outcome, name)[tasks].astype(np.int64))) for name, total in FLOW_COUNTS.items()
        }
        yield name, found | counts


def job_times(workload: Workload, outcome: SimulationOutcome, number: int) -> tuple[int, Int64]:
    """Return when a job began and how long each step that has ended took, in ps; steps end in order."""
    starts = outcome.start_ps[(workload.job == number) & (outcome.start_ps != NEVER)]
    begin = int(starts.min()) if len(starts) else 0
    ends = outcome.finish_ps[workload.steps[number]]
    unfinished = np.flatnonzero(ends == NEVER)
    ends = ends[: unfinished[0]] if len(unfinished) else ends
    return begin, np.diff(ends, prepend=begin)


def _job(workload: Workload, outcome: SimulationOutcome, number: int, collective: Collective | None) -> Record:
    """Return the time of a job, those of its steps, and its bus bandwidth in 10^9 bytes/s, from its mean step."""
    _, steps = job_times(workload, outcome, number)
    time_ps, done = int(steps.sum()), len(steps) == len(workload.steps[number]) > 0
    return {
        "time_us": time_ps / PS_PER_US if done else None,
        "steps": len(steps),
        "step_us": distribution(steps / PS_PER_US),
        "bus_bandwidth": bus_bandwidth(collective, time_ps, len(steps)) if collective is not None else None,
    }


def bus_bandwidth(collective: Collective, time_ps: int, steps: int) -> float | None:
    """Return NCCL's bus bandwidth in 10^9 bytes/s of a number of steps in a time; None without any."""
    busy = time_ps - steps * collective.compute_ps
    if busy <= 0:
        return None
    # 10^9 bytes/s are bytes per 1000 ps.
    return bus_factor(collective.kind, collective.ranks) * collective.bytes * steps * 1000 / busy


def first_start_ps(outcome: SimulationOutcome) -> int:
    """Return when the first task started; 0 without any."""
    begun = outcome.start_ps[outcome.start_ps != NEVER]
    return int(begun.min()) if len(begun) else 0


def link_loads(fabric: FabricArrays, outcome: SimulationOutcome) -> Float64:
    """Return the share of every link's rate that was used from the first start to the end, shape (L,)."""
    lasted = max(outcome.end_ps - first_start_ps(outcome), 1)
    loads: Float64 = outcome.link_bytes * PS_BITS / (fabric.rate_bps.astype(np.float64) * lasted)
    return loads


def links_by_tiers(fabric: FabricArrays) -> Iterator[tuple[str, npt.NDArray[np.bool_]]]:
    """Yield every pair of tiers, such as `leaf to spine`, and which links are between them, shape (L,)."""
    tiers = fabric.tier[fabric.link_source], fabric.tier[fabric.link_target]
    for a, b in sorted({*zip(tiers[0].tolist(), tiers[1].tolist(), strict=True)}):
        yield f"{TIERS[a]} to {TIERS[b]}", (tiers[0] == a) & (tiers[1] == b)


def _links(fabric: FabricArrays, outcome: SimulationOutcome) -> Iterator[tuple[str, Record]]:
    """Yield the links of every pair of tiers; load is a share of the rate from the first start to the end."""
    loads = link_loads(fabric, outcome)
    for name, ours in links_by_tiers(fabric):
        count = int(np.count_nonzero(ours))
        yield (
            name,
            {
                "links": count,
                "mean_load": math.fsum(loads[ours].tolist()) / count,
                "max_load": float(loads[ours].max()),
                "peak_packets": int(outcome.link_peak[ours].max()),
                "peak_bytes": int(outcome.link_peak_bytes[ours].max()),
                **{name: int(getattr(outcome, f"link_{name}")[ours].sum()) for name in LINK_SUMS},
                "paused_us": int(outcome.link_paused_ps[ours].sum()) / PS_PER_US,
            },
        )
