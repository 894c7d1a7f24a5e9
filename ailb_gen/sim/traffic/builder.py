"""Building the graph of a workload: blocks of tasks, messages over queue pairs, dependencies, jobs and their steps.

A dependency costs 12 bytes, so what waits for many tasks waits for a barrier (a computation of 0 ps): m tasks that
all wait for k others take m + k dependencies instead of m * k.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from math import prod
from typing import Literal
from zlib import crc32

import numpy as np
import numpy.typing as npt

from ailb_gen.errors import UsageError
from ailb_gen.sim.fabric import Int32, Int64
from ailb_gen.sim.workload import COMPUTATION, LeastTraffic, Workload

# Instead of a task: there is none to wait for.
NO_TASK = -1
# RoCEv2 senders take their UDP source ports from 0xC000 ... 0xFFFF (the dynamic range of RFC 6335).
FIRST_PORT, PORTS = 0xC000, 0x4000
MAX_TASKS = 2**31 - 1

Split = Literal["split", "round-robin"]
Numbers = int | npt.NDArray[np.integer]
# Tasks that messages wait for, as `wait` has them, and the numbers of the messages; None: all.
Waits = tuple[Int64, npt.NDArray[np.integer] | None]
# Sources, targets and sizes of messages; and what they wait for, from what they wait for at once and from their ends.
MessagesOf = Callable[[], tuple[Numbers, Numbers, Numbers]]
WaitsOf = Callable[[Int64, Int64], Iterator[Waits]]


@dataclass(frozen=True, slots=True)
class QueuePairs:
    """Number of queue pairs per connection (NCCL_IB_QPS_PER_CONNECTION), and how messages use them.

    "split": every message is spread over all of them (NCCL_IB_SPLIT_DATA_ON_QPS=1); "round-robin": the messages of a
    connection take one after the other (NCCL_IB_SPLIT_DATA_ON_QPS=0).
    """

    count: int = 1
    split: Split = "split"

    def __post_init__(self) -> None:
        if not 1 <= self.count <= 128:
            raise UsageError(f"{self.count} queue pairs per connection: must be 1 to 128")


@dataclass(frozen=True, slots=True)
class Job:
    """A job that a builder knows: its number in `Workload.jobs` and how it sends."""

    number: int
    queue_pairs: QueuePairs


@dataclass(frozen=True, slots=True)
class Messages:
    """Messages that were appended: message i is the tasks first[i] ... first[i] + count[i] - 1, and ends with end[i].

    A message of one flow ends with the flow; one of several flows with a barrier of its own.
    """

    first: Int64
    count: Int64
    end: Int64


def spread(total: Numbers, parts: int) -> Int64:
    """Return `total` as `parts` whole numbers that differ by at most 1, larger ones first; shape (..., parts)."""
    whole, rest = np.divmod(np.asarray(total, dtype=np.int64)[..., None], parts)
    shares: Int64 = whole + (np.arange(parts) < rest)
    return shares


def mixed(*parts: Numbers) -> npt.NDArray[np.uint64]:
    """Return a 64-bit hash of integers, element by element, shape (m,): the finalizer of SplitMix64 (Steele 2014)."""
    value = np.zeros(np.broadcast_shapes((1,), *map(np.shape, parts)), dtype=np.uint64)
    for part in parts:
        value = value + np.asarray(part, dtype=np.int64).astype(np.uint64) + np.uint64(0x9E3779B97F4A7C15)
        value = (value ^ (value >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        value = (value ^ (value >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        value = value ^ (value >> np.uint64(31))
    return value


def stream(seed: int, purpose: str) -> np.random.Generator:
    """Return a generator of random numbers, independent of those of other seeds and purposes, the same everywhere."""
    return np.random.Generator(np.random.PCG64([seed, crc32(purpose.encode())]))


def _turns(source: Int32, target: Int32) -> Int64:
    """Return for every message how many of its connection come before it."""
    connection = source.astype(np.int64) << 32 | target
    order = np.argsort(connection, kind="stable")
    begins = np.flatnonzero(np.diff(connection[order], prepend=-1))
    turns = np.empty(len(order), dtype=np.int64)
    turns[order] = np.arange(len(order)) - np.repeat(begins, np.diff(begins, append=len(order)))
    return turns


def _rows(after: Numbers, count: int) -> Int64:
    """Return the tasks that each of `count` tasks waits for as rows, shape (count, k)."""
    before = np.asarray(after, dtype=np.int64)
    if before.ndim < 2:
        before = np.broadcast_to(before, (count,))[:, None]
    return before


class TaskBuilder:
    """A workload under construction. Tasks are numbered in the order in which they are appended."""

    def __init__(self, seed: int = 0) -> None:
        """Begin an empty workload; UDP source ports depend on `seed`."""
        self._seed = seed
        self._count = 0
        self._columns: dict[str, list[npt.NDArray[np.integer]]] = {
            name: [] for name in ("source", "target", "queue_pair", "port", "amount", "start_ps", "job", "label")
        }
        self._before: list[Int32] = []
        self._after: list[Int32] = []
        self._jobs: list[str] = []
        self._labels: dict[str, int] = {}
        self._steps: list[list[int]] = []
        # Flows whose queue pair depends on how many messages of their connection came before them.
        self._dealt: dict[Job, list[Int64]] = {}

    def job(self, name: str, queue_pairs: QueuePairs = QueuePairs()) -> Job:
        """Add a job."""
        self._jobs.append(name)
        self._steps.append([])
        return Job(len(self._jobs) - 1, queue_pairs)

    def step(self, job: Job, end: int) -> None:
        """Say that the job's next step ends with a task."""
        self._steps[job.number].append(int(end))

    def computations(
        self, count: int, ps: Numbers, after: Numbers = NO_TASK, job: Job | None = None, label: str = "computation"
    ) -> Int64:
        """Append computations of `ps` each, and return their tasks, shape (count,); `after` is as for `wait`."""
        number = -1 if job is None else job.number
        tasks = self._append(count, source=COMPUTATION, target=COMPUTATION, amount=ps, job=number, label=label)
        self.wait(tasks, after)
        return tasks

    def flows(
        self,
        source: Numbers,
        target: Numbers,
        amount: Numbers,
        port: Numbers,
        start_ps: Numbers = 0,
        label: str = "flow",
    ) -> Int64:
        """Append flows that belong to no job, each a connection of its own with one queue pair; return their tasks."""
        (count,) = np.broadcast_shapes((1,), *map(np.shape, (source, target, amount, port, start_ps)))
        return self._append(
            count, source=source, target=target, port=port, amount=amount, start_ps=start_ps, job=-1, label=label
        )

    def send(
        self,
        job: Job,
        source: npt.NDArray[np.integer],
        target: npt.NDArray[np.integer],
        size: Numbers,
        after: Numbers = NO_TASK,
        label: str = "message",
    ) -> Messages:
        """Append messages of a job: source and target shape (m,), `size` bytes each, `after` as for `wait`.

        A message takes the queue pairs of its connection as the job says, none with zero bytes. A message of zero
        bytes is a barrier.
        """
        size = np.broadcast_to(np.asarray(size, dtype=np.int64), source.shape)
        dealt = job.queue_pairs.split == "round-robin"
        shares = spread(size, 1 if dealt else job.queue_pairs.count)
        keep = shares > 0
        keep[:, 0] = True
        message, queue_pair = np.nonzero(keep)
        real = size[message] > 0
        flows = self._append(
            len(message),
            source=np.where(real, source[message], COMPUTATION),
            target=np.where(real, target[message], COMPUTATION),
            queue_pair=queue_pair,
            amount=shares[keep],
            job=job.number,
            label=label,
        )
        if dealt and len(flows):
            self._dealt.setdefault(job, []).append(flows)
        count: Int64 = keep.sum(axis=1)
        first = flows[0] + np.cumsum(count) - count if len(flows) else flows
        end = first.copy()
        several = count > 1
        if several.any():
            end[several] = self.computations(int(several.sum()), 0, job=job, label=label)
            inside = several[message]
            self.depend(flows[inside], end[message[inside]])
        messages = Messages(first, count, end)
        self.wait_for(messages, after)
        return messages

    def exchange(
        self,
        job: Job,
        label: str,
        shape: Sequence[int],
        least: int,
        messages: MessagesOf,
        after: Numbers,
        waits: WaitsOf | None = None,
    ) -> Int64:
        """Append messages of G groups, `shape` (G, ...), and return the tasks that end the groups, shape (G,).

        `messages` gives sources, targets and sizes, which broadcast to the shape; `least` is the smallest size. Without
        `waits` all are sent when `after`, one task or one per group, has ended; with it they wait for the tasks that it
        gives from what would be these, and the ends of the messages, both of the shape.
        """
        source, target, amount = (np.broadcast_to(part, shape).ravel() for part in messages())
        sent = self.send(job, source, target, amount, label=label)
        begin = np.broadcast_to(np.reshape(after, (-1, *(1 for _ in shape[1:]))), shape).astype(np.int64)
        end = sent.end.reshape(shape)
        for awaited, which in [(begin.ravel(), None)] if waits is None else waits(begin, end):
            self.wait_for(sent, awaited, which)
        return self.barriers(end.reshape(shape[0], -1), job, label)

    @contextmanager
    def repeated(self, count: int) -> Iterator[int]:
        """Give how many of some equal rounds are to be appended: all of them."""
        yield count

    def wait(self, tasks: npt.NDArray[np.integer], after: Numbers) -> None:
        """Let every task wait for another one.

        `after` has one row per task with the tasks that it waits for, shape (m,) or (m, k), or is one task that all
        wait for; NO_TASK is left out.
        """
        before = _rows(after, len(tasks))
        chosen = before >= 0
        self.depend(before[chosen], np.broadcast_to(np.asarray(tasks)[:, None], before.shape)[chosen])

    def wait_for(self, messages: Messages, after: Numbers, which: npt.NDArray[np.integer] | None = None) -> None:
        """Let all flows of messages[which[i]], without `which` of messages[i], wait for tasks as `wait` has them."""
        first, count = messages.first, messages.count
        if which is not None:
            first, count = first[which], count[which]
        row = np.repeat(np.arange(len(count)), count)
        tasks = first[row] + np.arange(len(row)) - (np.cumsum(count) - count)[row]
        self.wait(tasks, _rows(after, len(count))[row])

    def depend(self, before: npt.NDArray[np.integer], after: npt.NDArray[np.integer]) -> None:
        """Let task after[i] wait for task before[i]."""
        if len(before):
            self._before.append(np.asarray(before, dtype=np.int32))
            self._after.append(np.asarray(after, dtype=np.int32))

    def barrier(self, tasks: npt.NDArray[np.integer], job: Job | None = None, label: str = "barrier") -> int:
        """Return a task that ends when all of `tasks` have: a barrier, or the task itself if it is the only one."""
        return int(self.barriers(np.asarray(tasks).reshape(1, -1), job, label)[0])

    def barriers(self, tasks: npt.NDArray[np.integer], job: Job | None = None, label: str = "barrier") -> Int64:
        """Return for every row of tasks, shape (m, k), a task that ends when all of the row have; shape (m,)."""
        rows = np.asarray(tasks, dtype=np.int64)
        if rows.shape[1] == 1:
            return rows[:, 0]
        return self.computations(len(rows), 0, rows, job, label)

    def finish(self) -> Workload:
        """Return the workload."""
        columns = {
            name: np.concatenate([np.empty(0, dtype=np.int32), *blocks]) for name, blocks in self._columns.items()
        }
        queue_pair = columns["queue_pair"].astype(np.int32)
        source, target, port = (columns[name].astype(np.int32) for name in ("source", "target", "port"))
        for job, blocks in self._dealt.items():
            flows = np.concatenate(blocks)
            flows = flows[source[flows] >= 0]
            queue_pair[flows] = _turns(source[flows], target[flows]) % job.queue_pairs.count
        sent = np.flatnonzero((columns["job"] >= 0) & (source >= 0))
        connection = (columns["job"][sent], source[sent], target[sent], queue_pair[sent])
        port[sent] = FIRST_PORT + (mixed(self._seed % 2**63, *connection) % np.uint64(PORTS)).astype(np.int32)
        before = np.concatenate([np.empty(0, dtype=np.int32), *self._before])
        after = np.concatenate([np.empty(0, dtype=np.int32), *self._after])
        successors = after[np.argsort(before, kind="stable")]
        first_successor = np.zeros(self._count + 1, dtype=np.int64)
        np.cumsum(np.bincount(before, minlength=self._count), out=first_successor[1:])
        return Workload(
            source=source,
            target=target,
            queue_pair=queue_pair,
            port=port,
            amount=columns["amount"].astype(np.int64),
            start_ps=columns["start_ps"].astype(np.int64),
            waits=np.bincount(after, minlength=self._count).astype(np.int32),
            first_successor=first_successor,
            successors=successors,
            job=columns["job"].astype(np.int32),
            label=columns["label"].astype(np.int32),
            jobs=tuple(self._jobs),
            labels=tuple(self._labels),
            steps=tuple(np.array(steps, dtype=np.int32) for steps in self._steps),
        )

    def _append(self, count: int, label: str, **columns: Numbers) -> Int64:
        """Append tasks, and return them; columns that are not given are 0."""
        if self._count + count > MAX_TASKS:
            raise UsageError(f"the traffic has more than {MAX_TASKS:,} flows: simulate fewer steps or hosts")
        columns["label"] = self._labels.setdefault(label, len(self._labels))
        for name, blocks in self._columns.items():
            wide = np.int64 if name in ("amount", "start_ps") else np.int32
            blocks.append(np.broadcast_to(np.asarray(columns.get(name, 0)).astype(wide), (count,)))
        tasks: Int64 = np.arange(self._count, self._count + count, dtype=np.int64)
        self._count += count
        return tasks


class TaskCounter(TaskBuilder):
    """A builder that counts what it would append, and makes no messages; of equal rounds it gets one.

    Where rounds differ by a byte it counts no more than there are.
    """

    def __init__(self) -> None:
        super().__init__()
        self._weight = 1
        self._tasks = 0
        self._at_once = LeastTraffic(0)

    def exchange(
        self,
        job: Job,
        label: str,
        shape: Sequence[int],
        least: int,
        messages: MessagesOf,
        after: Numbers,
        waits: WaitsOf | None = None,
    ) -> Int64:
        """Count messages, each with the queue pairs that the smallest one takes, and the barriers of the groups."""
        count = prod(shape)
        flows = min(job.queue_pairs.count, max(least, 1)) if job.queue_pairs.split == "split" else 1
        self._tasks += self._weight * count * (flows + (flows > 1))
        if waits is None and least and count * flows > self._at_once.flows:
            self._at_once = LeastTraffic(0, count * flows, max(1, least // flows))
        groups = shape[0]
        return self.computations(groups, 0) if count > groups else np.zeros(groups, dtype=np.int64)

    @contextmanager
    def repeated(self, count: int) -> Iterator[int]:
        """Give one round, which counts as all."""
        self._weight *= count
        yield 1
        self._weight //= count

    def depend(self, before: npt.NDArray[np.integer], after: npt.NDArray[np.integer]) -> None:
        """Note nothing: dependencies are not counted."""

    def least(self) -> LeastTraffic:
        """Return the counts."""
        return LeastTraffic(self._tasks, self._at_once.flows, self._at_once.flow_bytes)

    def _append(self, count: int, label: str, **columns: Numbers) -> Int64:
        self._tasks += self._weight * count
        return np.zeros(count, dtype=np.int64)
