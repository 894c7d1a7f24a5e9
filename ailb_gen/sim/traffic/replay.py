"""A trace as traffic: its computations, messages and collectives on the hosts of its ranks."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction

import numpy as np

from ailb_gen.errors import UsageError
from ailb_gen.sim.fabric import PS_PER_S, Int64
from ailb_gen.sim.traffic.algorithms import CollectiveOptions, Ranks
from ailb_gen.sim.traffic.builder import NO_TASK, Job, TaskBuilder
from ailb_gen.sim.traffic.collectives import append, of_job, takes_time
from ailb_gen.sim.traffic.groups import together
from ailb_gen.sim.traffic.nvlink import nvlink_ps
from ailb_gen.sim.traffic.trace import TraceStep

# Collectives whose size counts what one rank has; nccl-tests counts all parts.
BY_RANK = ("all-gather",)


@dataclass(frozen=True, slots=True)
class ReplayOptions:
    """How a trace is replayed: options and algorithm of collectives (None: the first), FLOP/s of a GPU (0: unknown)."""

    options: CollectiveOptions
    algorithm: str | None = None
    flops: int = 0


def replay(
    builder: TaskBuilder, job: Job, steps: Sequence[TraceStep], hosts: Ranks, servers: Ranks, options: ReplayOptions
) -> None:
    """Append the steps of a trace, as `ExecutionTrace.steps` has them, as one step of the job; rank i is on hosts[i].

    A GPU does one computation at a time, and so does its CPU. Raises UsageError for computations without a time when
    the rate of the GPU is not known, and as collectives do.
    """
    waves: defaultdict[int, list[int]] = defaultdict(list)
    wave = [0] * len(steps)
    for number, step in enumerate(steps):
        wave[number] = 1 + max((wave[other] for other in step.after), default=0)
        waves[wave[number]].append(number)
    run = _Replay(builder, job, steps, np.asarray(hosts), np.asarray(servers), options)
    for numbers in waves.values():
        for kind, do in run.kinds.items():
            do([number for number in numbers if steps[number].node.kind == kind])
    awaited = {other for step in steps for other in step.after}
    last = [run.end[number] for number in range(len(steps)) if number not in awaited]
    builder.step(job, builder.barrier(np.array(last, dtype=np.int64), job))


@dataclass(slots=True)
class _Replay:
    """A trace under construction; `end` is the task that ends each step."""

    builder: TaskBuilder
    job: Job
    steps: Sequence[TraceStep]
    hosts: Ranks
    servers: Ranks
    options: ReplayOptions
    end: Int64 = field(init=False)
    # The last computation of the GPU or CPU of a rank.
    busy: dict[tuple[int, bool], int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.end = np.full(len(self.steps), NO_TASK, dtype=np.int64)

    @property
    def kinds(self) -> dict[str, Callable[[list[int]], None]]:
        """What appends steps of each kind; a message is a step that sends."""
        return {"nothing": self.nothing, "compute": self.compute, "send": self.send, "collective": self.collectives}

    def begin(self, numbers: Sequence[int], also: Sequence[int] = ()) -> Int64:
        """Return for every step a task that ends when all that it waits for have, `also` one more each."""
        before = [[int(self.end[other]) for other in self.steps[number].after] for number in numbers]
        for row, more in zip(before, also, strict=False):
            row.append(more)
        before = [[task for task in row if task != NO_TASK] for row in before]
        found = np.array([row[0] if len(row) == 1 else NO_TASK for row in before], dtype=np.int64)
        several = [place for place, row in enumerate(before) if len(row) > 1]
        if several:
            found[several] = barriers = self.builder.computations(len(several), 0, job=self.job, label="barrier")
            counts = [len(before[place]) for place in several]
            tasks = [task for place in several for task in before[place]]
            self.builder.depend(np.array(tasks, dtype=np.int64), np.repeat(barriers, counts))
        return found

    def nothing(self, numbers: list[int]) -> None:
        """Note what ends steps that take no time."""
        if numbers:
            self.end[numbers] = self.begin(numbers)

    def compute(self, numbers: list[int]) -> None:
        """Append computations, those of one GPU in their order."""
        while numbers:
            later, now = [], {}
            for number in numbers:
                step = self.steps[number]
                place = step.ranks[0], step.node.cpu
                if place in now:
                    later.append(number)
                else:
                    now[place] = number
            chosen = list(now.values())
            begin = self.begin(chosen, [self.busy.get(place, NO_TASK) for place in now])
            ps = np.array([self.time(self.steps[number]) for number in chosen], dtype=np.int64)
            self.end[chosen] = self.builder.computations(len(chosen), ps, begin, self.job, "compute")
            self.busy |= {place: int(self.end[number]) for place, number in now.items()}
            numbers = later

    def time(self, step: TraceStep) -> int:
        """Return the time of a computation. Raises UsageError without one."""
        node = step.node
        if node.ps or not node.operations:
            return node.ps
        if not self.options.flops:
            raise UsageError(
                f"node {node.id} of rank {step.ranks[0]} has {node.operations:,} operations and no duration; give the "
                "rate of the GPU as 'flops'"
            )
        return -(-node.operations * PS_PER_S // self.options.flops)

    def send(self, numbers: list[int]) -> None:
        """Append messages; those inside a server take no time, or that of NVLink."""
        if not numbers:
            return
        begin = self.begin(numbers)
        ends = np.array([self.steps[number].ranks for number in numbers])
        size = np.array([self.steps[number].node.size for number in numbers], dtype=np.int64)
        inside = self.servers[ends[:, 0]] == self.servers[ends[:, 1]]
        source, target = self.hosts[ends].T
        messages = self.builder.send(self.job, source, target, np.where(inside, 0, size), begin, "send")
        self.end[numbers] = messages.end
        if (bps := self.options.options.nvlink_bps) and inside.any():
            ps = [nvlink_ps(int(one), Fraction(1), bps) for one in size[inside]]
            tasks = self.builder.computations(len(ps), np.array(ps), begin[inside], self.job, "NVLink")
            self.end[np.array(numbers)[inside]] = tasks

    def collectives(self, numbers: list[int]) -> None:
        """Append collectives, those alike at once."""
        alike: defaultdict[tuple[str, int, int, int], list[int]] = defaultdict(list)
        for number in numbers:
            step = self.steps[number]
            inside = together(self.servers[np.array([step.ranks])])
            size = step.node.size * (len(step.ranks) if step.node.collective in BY_RANK else 1)
            alike[step.node.collective, size, len(step.ranks), inside].append(number)
        for (collective, size, n, inside), same in alike.items():
            begin = self.begin(same)
            options = replace(self.options.options, per_server=inside)
            if collective == "barrier" or size == 0 or not takes_time(n, inside, options):
                self.end[same] = begin
                continue
            ranks = self.hosts[np.array([self.steps[number].ranks for number in same])]
            algorithm = of_job(self.options.algorithm, collective)
            self.end[same] = append(self.builder, self.job, collective, ranks, size, options, algorithm, begin)
