"""Traffic as a graph: flows and computations that wait for each other, so that any collective is data."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ailb_gen.sim.fabric import Int32, Int64

# Instead of a flow's source: the task is a computation, which keeps no link busy.
COMPUTATION = -1


@dataclass(frozen=True, slots=True)
class Workload:
    """T tasks, flows and computations, with E dependencies.

    A task starts when all tasks that it waits for have ended and its own `start_ps` has come. A flow ends when its
    last byte has arrived; a computation takes `amount` ps (0: a barrier).
    """

    source: Int32  # (T,) the sending host, or COMPUTATION
    target: Int32  # (T,) the receiving host
    queue_pair: Int32  # (T,) which of the addresses of the target it goes to, from 0 on; modulo their number
    port: Int32  # (T,) what hashing sees of the flow other than its ends: the UDP source port of its queue pair
    amount: Int64  # (T,) bytes of a flow, ps of a computation
    start_ps: Int64  # (T,) not before
    waits: Int32  # (T,) of how many tasks the end is awaited
    first_successor: (
        Int64  # (T + 1,) tasks that wait for task t: successors[first_successor[t] : first_successor[t + 1]]
    )
    successors: Int32  # (E,)
    job: Int32  # (T,) which of `jobs`, or -1: background, mice
    label: Int32  # (T,) which of `labels`, for statistics of groups of flows
    jobs: tuple[str, ...] = ()
    labels: tuple[str, ...] = ()
    # Per job, the tasks whose ends are the ends of its steps, in order; the job ends with the last one.
    steps: tuple[Int32, ...] = ()
    priority: Int32 | None = None  # (T,) the data class of a flow, 0 (served first when strict) on; None: all 0

    @property
    def count(self) -> int:
        """The number of tasks, T."""
        return len(self.source)

    def arrivals(self) -> Int32:
        """Return the tasks that wait for nothing, in the order of their times."""
        first = np.flatnonzero(self.waits == 0)
        return first[np.argsort(self.start_ps[first], kind="stable")].astype(np.int32)

    def flows(self) -> Int64:
        """Return the tasks that are flows."""
        return np.flatnonzero(self.source != COMPUTATION)


@dataclass(frozen=True, slots=True)
class LeastTraffic:
    """Lower bounds of a workload before it is made: tasks, and flows of some size that begin together."""

    tasks: int
    flows: int = 0
    flow_bytes: int = 1


def shared_queue_pairs(workload: Workload) -> tuple[Int32, int]:
    """Return the number of every task's queue pair, shape (T,), and how many numbers there are.

    -1: no other task has it. Messages of a job with the same ends and queue pair share one; every flow that belongs to
    no job has its own.
    """
    result = np.full(workload.count, -1, np.int32)
    sent = np.flatnonzero((workload.job >= 0) & (workload.source != COMPUTATION))
    if not len(sent):
        return result, 0
    names = np.zeros(len(sent), np.int64)
    for column in (workload.job, workload.source, workload.target, workload.queue_pair):
        values = column[sent].astype(np.int64)
        names = names * (int(values.max()) + 1) + values
    _, found, uses = np.unique(names, return_inverse=True, return_counts=True)
    shared = uses > 1
    result[sent] = np.where(shared, np.cumsum(shared) - 1, -1)[found]
    return result, int(shared.sum())


def merged(workloads: Sequence[Workload]) -> Workload:
    """Return several workloads as one; jobs and labels keep their order."""
    shifts = np.cumsum([0, *(one.count for one in workloads)])
    edges = np.cumsum([0, *(len(one.successors) for one in workloads)])
    jobs = np.cumsum([0, *(len(one.jobs) for one in workloads)])
    labels = np.cumsum([0, *(len(one.labels) for one in workloads)])

    def joined(name: str) -> Int32:
        return np.concatenate([getattr(one, name) for one in workloads]).astype(np.int32, copy=False)

    def offset(name: str, by: npt.NDArray[np.int64]) -> Int32:
        rows = [
            np.where(getattr(one, name) >= 0, getattr(one, name) + shift, -1)
            for one, shift in zip(workloads, by, strict=False)
        ]
        return np.concatenate(rows).astype(np.int32)

    ends = [one.first_successor[1:] + edge for one, edge in zip(workloads, edges, strict=False)]
    classes = [np.zeros(one.count, np.int32) if one.priority is None else one.priority for one in workloads]
    return Workload(
        source=joined("source"),
        target=joined("target"),
        queue_pair=joined("queue_pair"),
        port=joined("port"),
        amount=np.concatenate([one.amount for one in workloads]),
        start_ps=np.concatenate([one.start_ps for one in workloads]),
        waits=joined("waits"),
        first_successor=np.concatenate([[0], *ends]).astype(np.int64),
        successors=offset("successors", shifts),
        job=offset("job", jobs),
        label=offset("label", labels),
        jobs=tuple(name for one in workloads for name in one.jobs),
        labels=tuple(name for one in workloads for name in one.labels),
        steps=tuple(
            (step + shift).astype(np.int32) for one, shift in zip(workloads, shifts, strict=False) for step in one.steps
        ),
        priority=None if all(one.priority is None for one in workloads) else np.concatenate(classes),
    )
