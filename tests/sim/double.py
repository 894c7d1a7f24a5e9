"""An engine in a few lines, in place of the compiled one: every flow has its host's links to itself."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable

import numpy as np

from ailb_gen.sim.fabric import FabricArrays
from ailb_gen.sim.outcome import NEVER, Progress, SimulationOutcome
from ailb_gen.sim.series import Counters, Sampler
from ailb_gen.sim.settings import SimulationSettings
from ailb_gen.sim.workload import COMPUTATION, Workload

# The name of this module, for `point.ENGINES`.
NAME = __name__


def outcome_of(fabric: FabricArrays, start: list[int], finish: list[int], **more: object) -> SimulationOutcome:
    """An outcome with these times and zeros else."""
    tasks, links = len(start), fabric.link_count
    none = np.zeros(tasks, dtype=np.int32)
    values: dict[str, object] = dict.fromkeys(("retransmitted", "marked", "out_of_order", "distance", "rerouted"), none)
    names = ("packets", "bytes", "peak", "peak_bytes", "drops", "lost", "marks", "pauses", "paused_ps")
    values |= {f"link_{name}": np.zeros(links, dtype=np.int64) for name in names}
    values |= {
        "start_ps": np.array(start, dtype=np.int64),
        "finish_ps": np.array(finish, dtype=np.int64),
        "histogram": np.zeros((links, 32), dtype=np.int64),
        "load": np.zeros((2, links), dtype=np.int64),
        "load_interval_ps": 1000,
        "totals": {"packets": 1},
        "end_ps": max(finish, default=0),
        "complete": NEVER not in finish,
    }
    return SimulationOutcome(**(values | more))  # type: ignore[arg-type]


def simulate(
    fabric: FabricArrays,
    workload: Workload,
    settings: SimulationSettings,
    seed: int,
    watch: Callable[[Progress], bool] | None = None,
    sampler: Sampler | None = None,
    cores: int = 1,
) -> SimulationOutcome:
    """Run all tasks in order; a flow takes 1 µs per seed more than its bytes."""
    waits, ready = workload.waits.copy(), workload.start_ps.copy()
    start, finish = [NEVER] * workload.count, [NEVER] * workload.count
    ended = 0
    todo = deque(np.flatnonzero(waits == 0).tolist())
    sent = np.zeros(fabric.link_count, dtype=np.int64)
    own = {host: link for link, host in reversed(list(enumerate(fabric.link_source.tolist())))}
    while todo:
        if watch is not None and not watch(Progress(0, ended, ended, len(finish))):
            break
        task = todo.popleft()
        ended += 1
        amount = int(workload.amount[task])
        start[task] = int(ready[task])
        if workload.source[task] == COMPUTATION:
            finish[task] = start[task] + amount
        else:
            link = own[int(workload.source[task])]
            finish[task] = start[task] + amount * 8 * 10**12 // int(fabric.rate_bps[link]) + seed * 10**6
            sent[link] += amount
        for other in workload.successors[workload.first_successor[task] : workload.first_successor[task + 1]].tolist():
            ready[other] = max(int(ready[other]), finish[task])
            waits[other] -= 1
            if not waits[other]:
                todo.append(other)
    end_ps = max(finish, default=0)
    if sampler is None:
        return outcome_of(fabric, start, finish, link_bytes=sent)
    none = np.zeros(fabric.link_count, dtype=np.int64)
    while sampler.next_ps < end_ps:
        # As if all had been sent evenly, over a queue of one packet.
        now = sent * sampler.next_ps // end_ps
        sampler.take(Counters(now, none + 1, none, none, none))
    series = sampler.finish(Counters(sent, none + 1, none, none, none), end_ps)
    return outcome_of(fabric, start, finish, link_bytes=sent, series=series)
