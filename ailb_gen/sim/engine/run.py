"""Run a simulation: the compiled event loop in slices, with progress and an orderly end in between."""

import functools
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import numpy.typing as npt

from ailb_gen.errors import UsageError
from ailb_gen.sim.engine import records as r
from ailb_gen.sim.engine.jit import is_compiled, one_compiler
from ailb_gen.sim.engine.loop import advance
from ailb_gen.sim.engine.memory import new_state
from ailb_gen.sim.engine.partition import partition
from ailb_gen.sim.engine.parts import divided, end_last, grown
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
GROWTH = frozenset((r.NEEDS_PACKETS, r.NEEDS_TIMERS))


def simulate(
    fabric: FabricArrays,
    workload: Workload,
    settings: SimulationSettings,
    seed: int,
    watch: Watch | None = None,
    sampler: Sampler | None = None,
    cores: int = 1,
) -> SimulationOutcome:
    """Run a workload on a fabric until all tasks have ended, nothing happens any more, or the time is over.

    `watch` is called several times a second; when it returns False the run stops, and the outcome is not complete.
    With a sampler the outcome is the same, and has a series. The outcome is also the same on any number of cores, of
    which a run uses those for which it can be divided. Raises UsageError for more simulated time than the keys of
    events hold: 2^61 ps over the number of links.
    """
    state = new_state(fabric, workload, settings, seed)
    if not is_compiled():
        with one_compiler():
            advance(state, 0)
    last, watched = int(state.config[0]["until"]), 0
    division = partition(fabric, workload, settings, cores)
    parts = divided(state, fabric, workload, division)
    histogram = np.zeros(state.histogram.shape, np.int64)
    with ThreadPoolExecutor(len(parts)) as threads:
        while True:
            if sampler is not None:
                state.config["until"] = min(last, sampler.next_ps)
            results = _advanced(parts, threads)
            events = _sum(parts, "events")
            if state.histogram.max(initial=0) > MANY:
                histogram += state.histogram
                state.histogram[:] = 0
            if not GROWTH.isdisjoint(results):
                parts = grown(parts, results)
                continue
            result = results[0]
            if result == r.STOPPED and sampler is not None and sampler.next_ps < last:
                sampler.take(_counters(parts))
                for part in parts:
                    part.links["peak"] = 0
                if events < watched + SLICE:
                    continue
            elif result != r.GOES_ON:
                break
            now, watched = _now(parts), events
            if watch is not None and not watch(Progress(now, events, _sum(parts, "ended"), workload.count)):
                break
    end_last(parts, workload, division)
    # Not so when it was made to end between two samples.
    if result == r.STOPPED and state.config[0]["until"] == last:
        parts[0].run["now"] = settings.until_ps
    ended, beyond = _sum(parts, "ended"), any(part.run[0]["beyond"] for part in parts)
    if settings.until_ps is None and beyond and result == r.FINISHED and ended < workload.count:
        most = (int(state.config[0]["horizon"]) >> r.ORDER_BITS) // PS_PER_S
        raise UsageError(
            f"the traffic takes more than {most} s of simulated time, the most with {fabric.link_count} links; "
            "simulate less of it, or set `until`"
        )
    histogram += state.histogram
    return _outcome(parts, workload, settings, histogram.T.copy(), sampler)


def _advanced(parts: Sequence[EngineState], threads: ThreadPoolExecutor) -> list[int]:
    """Advance all parts; return how each ended. They wait for one another, so each has a thread."""
    if len(parts) == 1:
        return [advance(parts[0], SLICE)]
    others = [threads.submit(advance, part, SLICE) for part in parts[1:]]
    return [advance(parts[0], SLICE), *(other.result() for other in others)]


def _sum(parts: Sequence[EngineState], name: str) -> int:
    return sum(int(part.run[0][name]) for part in parts)


def _now(parts: Sequence[EngineState]) -> int:
    return max(int(part.run[0]["now"]) for part in parts)


def _counters(parts: Sequence[EngineState]) -> Counters:
    return Counters(*(_of_link(parts, name).astype(np.int64) for name in ("bytes", "peak", "marks", "pauses", "drops")))


def _of_link(parts: Sequence[EngineState], name: str) -> npt.NDArray[Any]:
    """Return a count of all links, shape (L,)."""
    if name == "peak_bytes":
        return parts[0].queues[name].max(axis=0)
    found = (part.links if name in (r.LINK.names or ()) else part.ports for part in parts)
    # All but the part at an end of a link count nothing.
    return functools.reduce(np.add, (one[name] for one in found), np.zeros(len(parts[0].links), np.int64))


def _outcome(
    parts: Sequence[EngineState],
    workload: Workload,
    settings: SimulationSettings,
    histogram: Int64,
    sampler: Sampler | None,
) -> SimulationOutcome:
    state, tasks, now = parts[0], parts[0].tasks, _now(parts)
    totals = {name: _sum(parts, name) for name in COUNTS}
    totals["hops"] = int(_of_link(parts, "packets").sum())
    totals["data_hops"] = _sum(parts, "data_hops")
    paused = _of_link(parts, "paused_ps")
    for part in parts:
        paused += np.where(part.links["paused"] != 0, now - part.ports["paused_at"], 0)
    histogram[:, 0] += _of_link(parts, "packets") + state.waiting - histogram.sum(axis=1)
    marked = tasks["marked"].copy()
    for part in parts:
        used = slice(int(part.run[0]["first_flow"]), int(part.run[0]["fresh_flow"]))
        # Not the whole records, which may be most of the memory.
        task, marks = state.flows["task"][used], state.flows["marks"][used]
        marked[task[task != r.NONE]] = marks[task != r.NONE]
    complete = _sum(parts, "ended") == workload.count
    # What still happens after the last task, as timers that find nothing to do, is no part of it.
    end_ps = int(tasks["finish"].max(initial=0)) if complete else now
    series = sampler.finish(_counters(parts), end_ps) if sampler is not None else None
    return SimulationOutcome(
        start_ps=tasks["start"].copy(),
        finish_ps=tasks["finish"].copy(),
        marked=marked,
        **{name: tasks[name].copy() for name in TASK_COUNTS if name != "rerouted"},
        rerouted=functools.reduce(np.add, (part.rerouted for part in parts)),
        **{f"link_{name}": _of_link(parts, name) for name in LINK_COUNTS},
        link_peak=(_of_link(parts, "peak") if sampler is None else sampler.peak).astype(np.int32),
        link_paused_ps=paused,
        histogram=histogram,
        load=state.load,
        load_interval_ps=settings.measurement.load_interval_ps,
        totals=totals,
        end_ps=end_ps,
        complete=complete,
        series=series,
    )
