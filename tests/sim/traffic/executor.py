"""The graph of a workload executed one task at a time: what the tests of all traffic check it with."""

from __future__ import annotations

import heapq
from collections import Counter

import numpy as np

from ailb_gen.sim.workload import COMPUTATION, Workload


def check(workload: Workload) -> None:
    """Every array has its length and range, and `waits` are the in-degrees of the graph."""
    count = workload.count
    for name in ("source", "target", "queue_pair", "port", "amount", "start_ps", "waits", "job", "label"):
        array = getattr(workload, name)
        assert len(array) == count, name
        assert array.dtype == (np.int64 if name in ("amount", "start_ps") else np.int32), name
    assert workload.first_successor.dtype == np.int64
    assert workload.successors.dtype == np.int32
    assert len(workload.first_successor) == count + 1
    assert workload.first_successor[0] == 0
    assert workload.first_successor[-1] == len(workload.successors)
    assert (np.diff(workload.first_successor) >= 0).all()
    degrees = np.bincount(workload.successors, minlength=count) if count else np.zeros(0)
    assert (degrees == workload.waits).all()
    flows = workload.source != COMPUTATION
    assert (workload.amount[flows] > 0).all()
    assert (workload.amount >= 0).all()
    assert (workload.source[flows] != workload.target[flows]).all()
    assert (workload.target[~flows] == COMPUTATION).all()
    assert (workload.job < len(workload.jobs)).all()
    assert (workload.label < len(workload.labels)).all()
    assert len(workload.steps) == len(workload.jobs)


def finish_times(workload: Workload) -> list[int]:
    """Execute the graph, a flow taking 1 ps per byte: when each task ends. Fails if one never starts."""
    return [end for _, end in times(workload, workload.amount.tolist())]


def times(workload: Workload, durations: list[int]) -> list[tuple[int, int]]:
    """Execute the graph with a duration per task: when each task starts and ends. Fails if one never starts."""
    check(workload)
    waits = workload.waits.tolist()
    starts = [-1] * workload.count
    ends = [-1] * workload.count
    heap: list[tuple[int, int]] = []

    def start(task: int, now: int) -> None:
        starts[task] = max(now, int(workload.start_ps[task]))
        heapq.heappush(heap, (starts[task] + durations[task], task))

    for task, awaited in enumerate(waits):
        if not awaited:
            start(task, 0)
    while heap:
        now, task = heapq.heappop(heap)
        assert ends[task] == -1
        ends[task] = now
        for successor in workload.successors[workload.first_successor[task] : workload.first_successor[task + 1]]:
            waits[successor] -= 1
            if waits[successor] == 0:
                start(int(successor), now)
    assert min(ends, default=0) >= 0, "a task never starts"
    return list(zip(starts, ends, strict=True))


def sent(workload: Workload) -> Counter[int]:
    """Bytes sent by host."""
    flows = workload.source != COMPUTATION
    result: Counter[int] = Counter()
    for host, amount in zip(workload.source[flows].tolist(), workload.amount[flows].tolist(), strict=True):
        result[host] += amount
    return result


def received(workload: Workload) -> Counter[int]:
    """Bytes received by host."""
    flows = workload.source != COMPUTATION
    result: Counter[int] = Counter()
    for host, amount in zip(workload.target[flows].tolist(), workload.amount[flows].tolist(), strict=True):
        result[host] += amount
    return result


def packets(workload: Workload, payload: int) -> int:
    """Packets of all flows."""
    amounts = workload.amount[workload.source != COMPUTATION]
    return int((-(-amounts // payload)).sum())
