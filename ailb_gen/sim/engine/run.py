"""Run a simulation: the compiled event loop in slices, with progress and an orderly end in between."""

from typing import Any

import numpy as np
import numpy.typing as npt

from ailb_gen.errors import UsageError
from ailb_gen.sim.engine import records as r
from ailb_gen.sim.engine.jit import is_compiled, one_compiler
from ailb_gen.sim.engine.loop import advance
from ailb_gen.sim.engine.memory import grown, new_state
from ailb_gen.sim.engine.records import EngineState
from ailb_gen.sim.fabric import PS_PER_S, FabricArrays, Int64
from ailb_gen.sim.outcome import COUNTS, LINK_COUNTS, TASK_COUNTS, Progress, SimulationOutcome, Watch
from ailb_gen.sim.series import Counters, Sampler
from ailb_gen.sim.settings import SimulationSettings
from ailb_gen.sim.workload import Workload

# Several slices a second.
SLICE = 1_000_000
# Half of what a number of the histogram holds: one slice counts far less.
MANY = 1 << 30


def simulate(
    fabric: FabricArrays,
    workload: Workload,
    settings: SimulationSettings,
    seed: int,
    watch: Watch | None = None,
    sampler: Sampler | None = None,
) -> SimulationOutcome:
    """Run a workload on a fabric until all tasks have ended, nothing happens any more, or the time is over.

    `watch` is called several times a second; when it returns False the run stops, and the outcome is not complete.
    With a sampler the outcome is the same, and has a series. Raises UsageError for more simulated time than the keys
    of events hold: 2^61 ps over the number of links.
    """
    state = new_state(fabric, workload, settings, seed)
    if not is_compiled():
        with one_compiler():
            advance(state, 0)
    last, watched = int(state.config[0]["until"]), 0
    histogram = np.zeros(state.histogram.shape, np.int64)
    while True:
        if sampler is not None:
            state.config["until"] = min(last, sampler.next_ps)
        result = advance(state, SLICE)
        run = state.run[0]
        if state.histogram.max(initial=0) > MANY:
            histogram += state.histogram
            state.histogram[:] = 0
        if result == r.STOPPED and sampler is not None and sampler.next_ps < last:
            sampler.take(_counters(state))
            state.links["peak"] = 0
            if int(run["events"]) < watched + SLICE:
                continue
        elif result in (r.FINISHED, r.STOPPED):
            break
        elif result != r.GOES_ON:
            state = grown(state, result)
            continue
        ended, watched = int(run["ended"]), int(run["events"])
        if watch is not None and not watch(Progress(int(run["now"]), int(run["events"]), ended, workload.count)):
            break
    # Not so when it was made to end between two samples.
    if result == r.STOPPED and state.config[0]["until"] == last:
        run["now"] = settings.until_ps
    if settings.until_ps is None and run["beyond"] and result == r.FINISHED and run["ended"] < workload.count:
        most = (int(state.config[0]["horizon"]) >> r.ORDER_BITS) // PS_PER_S
        raise UsageError(
            f"the traffic takes more than {most} s of simulated time, the most with {fabric.link_count} links; "
            "simulate less of it, or set `until`"
        )
    histogram += state.histogram
    return _outcome(state, workload, settings, histogram.T.copy(), sampler)


def _counters(state: EngineState) -> Counters:
    return Counters(*(_of_link(state, name).astype(np.int64) for name in ("bytes", "peak", "marks", "pauses", "drops")))


def _of_link(state: EngineState, name: str) -> npt.NDArray[Any]:
    """Return a count of all links, shape (L,)."""
    if name == "peak_bytes":
        return state.queues[name].max(axis=0)
    part = state.links if name in (r.LINK.names or ()) else state.ports
    return part[name].copy()


def _outcome(
    state: EngineState, workload: Workload, settings: SimulationSettings, histogram: Int64, sampler: Sampler | None
) -> SimulationOutcome:
    run, tasks, links, ports = state.run[0], state.tasks[:-1], state.links, state.ports
    totals = {name: int(run[name]) for name in COUNTS}
    totals["hops"] = int(links["packets"].sum())
    totals["data_hops"] = int(run["data_hops"])
    paused = ports["paused_ps"] + np.where(links["paused"] != 0, run["now"] - ports["paused_at"], 0)
    histogram[:, 0] += links["packets"] + state.waiting - histogram.sum(axis=1)
    marked = tasks["marked"].copy()
    running = state.flows[: run["fresh_flow"]]
    running = running[running["task"] != r.NONE]
    marked[running["task"]] = running["marks"]
    complete = int(run["ended"]) == workload.count
    # What still happens after the last task, as timers that find nothing to do, is no part of it.
    end_ps = int(tasks["finish"].max(initial=0)) if complete else int(run["now"])
    series = sampler.finish(_counters(state), end_ps) if sampler is not None else None
    return SimulationOutcome(
        start_ps=tasks["start"].copy(),
        finish_ps=tasks["finish"].copy(),
        marked=marked,
        **{name: tasks[name].copy() for name in TASK_COUNTS},
        **{f"link_{name}": _of_link(state, name) for name in LINK_COUNTS},
        link_peak=(links["peak"] if sampler is None else sampler.peak).astype(np.int32),
        link_paused_ps=paused,
        histogram=histogram,
        load=state.load,
        load_interval_ps=settings.measurement.load_interval_ps,
        totals=totals,
        end_ps=end_ps,
        complete=complete,
        series=series,
    )
