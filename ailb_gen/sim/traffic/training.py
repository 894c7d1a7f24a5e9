"""Jobs: a collective again and again, steps of training, and their hosts."""

import math
from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from itertools import groupby
from typing import Literal

import numpy as np

from ailb_gen.errors import UsageError
from ailb_gen.sim.fabric import Int32, Int64
from ailb_gen.sim.traffic.algorithms import CollectiveOptions, Ranks
from ailb_gen.sim.traffic.builder import NO_TASK, Job, Numbers, QueuePairs, TaskBuilder, spread, stream
from ailb_gen.sim.traffic.collectives import PLAIN, append, of_job, takes_time
from ailb_gen.sim.traffic.groups import Groups, Stage, stage_of
from ailb_gen.sim.traffic.nvlink import nvlink_ps
from ailb_gen.sim.traffic.parallelism import INSIDE, ONE_QUEUE_PAIR, Inside, Training
from ailb_gen.sim.traffic.schedule import Direction, operations
from ailb_gen.wording import counted

RankOrder = Literal["packed", "strided", "random"]


def repeat(
    builder: TaskBuilder,
    name: str,
    collective: str,
    ranks: Ranks,
    size: int,
    iterations: int = 1,
    options: CollectiveOptions = PLAIN,
    algorithm: str | None = None,
    queue_pairs: QueuePairs = ONE_QUEUE_PAIR,
    compute_ps: int = 0,
) -> None:
    """Append a job that does a collective `iterations` times; each iteration is a step.

    `ranks` as for `collectives.append`; an iteration begins when all groups have ended the one before, and
    `compute_ps` later. Raises UsageError as that does.
    """
    job, end = builder.job(name, queue_pairs), NO_TASK
    with builder.repeated(iterations) as rounds:
        for _ in range(rounds):
            end = _delay(builder, job, compute_ps, end)
            end = builder.barrier(append(builder, job, collective, ranks, size, options, algorithm, end), job)
            builder.step(job, end)


def train(builder: TaskBuilder, name: str, hosts: Ranks, training: Training, servers: Ranks | None = None) -> None:
    """Append a training job on `hosts`, one per rank.

    `servers` are numbers of their servers; None: every rank has one to itself. Raises UsageError as collectives do.
    """
    shape = training.pipeline, training.rows, training.tensor
    where = np.arange(training.ranks) if servers is None else np.asarray(servers)
    parts = zip(np.asarray(hosts).reshape(shape), where.reshape(shape), strict=True)
    stages = [stage_of(*part, training) for part in parts]
    job = _TrainingJob(builder, builder.job(name, training.queue_pairs), stages, training)
    # Virtual stages take turns after as many microbatches as there are stages.
    turn = training.pipeline if training.virtual > 1 else 1
    end = NO_TASK
    with builder.repeated(training.steps) as rounds:
        for _ in range(rounds):
            with builder.repeated(training.microbatches // turn) as turns:
                done = job.passes(turns * turn, end)
            ends = [job.synchronize(stage, last) for stage, last in zip(stages, done, strict=True)]
            end = builder.barrier(np.array(ends), job.job)
            builder.step(job.job, end)


@dataclass(slots=True)
class _Done:
    """What ends the passes of a stage so far, shape (rows,), and the share of every bucket of its gradients."""

    last: Int64
    buckets: list[Int64] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class _TrainingJob:
    """Appends the parts of a training job."""

    builder: TaskBuilder
    job: Job
    stages: Sequence[Stage]
    training: Training

    def passes(self, microbatches: int, begin: int) -> list[_Done]:
        """Append all passes of a step; return what ends the work of every stage.

        A pass waits for the stage's pass before it, and for what its neighbor sends. Parts of the model are numbered
        in the order of forward passes: number v * stages + s is part v of stage s.
        """
        training, count = self.training, len(self.stages)
        waiting = [
            deque(operations(stage, count, microbatches, training.schedule, training.virtual)) for stage in range(count)
        ]
        done = [_Done(np.full(training.rows, begin, dtype=np.int64)) for _ in range(count)]
        nothing = np.full(training.rows, NO_TASK, dtype=np.int64)
        final = count * training.virtual - 1
        arrived: dict[tuple[int, Direction, int], Int64] = {}
        for number in range(microbatches):
            arrived[0, "forward", number] = arrived[final, "backward", number] = nothing
        while any(waiting):
            for stage, (direction, number, virtual) in [(n, queue[0]) for n, queue in enumerate(waiting) if queue]:
                part = virtual * count + stage
                if (part, direction, number) not in arrived:
                    continue
                waiting[stage].popleft()
                after = np.stack([done[stage].last, arrived.pop((part, direction, number))], axis=1)
                last = number == training.microbatches - 1 and direction == "backward"
                self.one_pass(stage, direction, virtual, after, done[stage], last)
                neighbor = part + 1 if direction == "forward" else part - 1
                if 0 <= neighbor <= final:
                    arrived[neighbor, direction, number] = self.hand_over(stage, neighbor % count, done[stage].last)
        return done

    def one_pass(self, stage: int, direction: Direction, virtual: int, after: Int64, done: _Done, last: bool) -> None:
        """Append one pass through a part of the model in all replicas, and note its ends.

        The `last` backward pass of a part notes when its buckets of gradients are ready.
        """
        training = self.training
        times = {way: int(spread(training.pass_ps(way), training.virtual)[virtual]) for way in ("forward", "backward")}
        done.last = after
        if direction == "backward" and training.recompute:
            self.work(self.stages[stage], "forward", times["forward"], done)
        overlaps = last and training.gradient_overlap
        self.work(self.stages[stage], direction, times[direction], done, self.buckets_per_part if overlaps else 0)

    @property
    def buckets_per_part(self) -> int:
        """The buckets of gradients that the last backward pass of a part of the model fills."""
        return max(1, self.training.gradient_buckets // self.training.virtual)

    def work(self, stage: Stage, direction: Direction, time_ps: int, done: _Done, buckets: int = 0) -> None:
        """Append a computation and the collectives that cut it, in equal rounds; note when buckets are ready."""
        training = self.training
        # Those that belong together stay in one round.
        counts = [(inner, inner.count(training) // training.virtual) for inner in INSIDE if self.sends(stage, inner)]
        rounds = math.gcd(*(count // inner.together for inner, count in counts), buckets) or 1
        cuts: list[tuple[Fraction, Inside | None, int]] = [
            (Fraction(number + 1, count // rounds), inner, number)
            for inner, count in counts
            for number in range(count // rounds)
        ]
        # After the collectives of the same place.
        cuts += [(Fraction(number + 1, buckets // rounds), None, number) for number in range(buckets // rounds)]
        cuts.sort(key=lambda cut: cut[0])
        with self.builder.repeated(rounds) as repeated:
            for ps in spread(time_ps, rounds)[-repeated:]:
                self.round(stage, direction, int(ps), cuts, done)

    def round(
        self,
        stage: Stage,
        direction: Direction,
        time_ps: int,
        cuts: Sequence[tuple[Fraction, Inside | None, int]],
        done: _Done,
    ) -> None:
        """Append a computation, cut at parts of its time."""
        builder, spent = self.builder, 0
        for place, at_place in groupby(cuts or [(Fraction(1), None, -1)], key=lambda cut: cut[0]):
            begin, until = done.last, int(time_ps * place)
            done.last = builder.computations(self.training.rows, until - spent, begin, self.job, direction)
            spent = until
            for _, inner, number in at_place:
                if inner is not None:
                    done.last = self.exchange(stage, inner, direction, number, begin, done.last)
                elif number >= 0:
                    done.buckets.append(done.last)

    def sends(self, stage: Stage, inner: Inside) -> bool:
        """Return whether collectives of a kind take time."""
        return inner.size(self.training) > 0 and self.takes_time(stage.groups[inner.name])

    def takes_time(self, groups: Groups) -> bool:
        """Return whether a collective of groups takes time."""
        return takes_time(groups.hosts.shape[1], groups.inside, self.training.options)

    def exchange(
        self, stage: Stage, inner: Inside, direction: Direction, number: int, begin: Int64, after: Int64
    ) -> Int64:
        """Append one of the collectives of a pass in all groups; return the tasks that end it, shape (rows,).

        What is hidden waits for `begin`, the rest for `after`, tasks of the rows.
        """
        training, groups = self.training, stage.groups[inner.name]
        hidden = inner.hidden(training)
        ends = []
        for size, awaited in ((hidden, begin), (inner.size(training) - hidden, after)):
            if size == 0:
                continue
            blocks = self.builder.barriers(awaited.reshape(training.rows // groups.rows, -1), self.job)
            end = np.repeat(blocks, groups.each)
            for kind in inner.kinds(training, direction):
                end = self.collective(kind, groups, size, end, combine=bool(number % inner.together))
            ends.append(np.repeat(self.builder.barriers(end.reshape(-1, groups.each), self.job), groups.rows))
        return self.builder.barriers(np.stack([*ends, after] if hidden else ends, axis=1), self.job)

    def collective(self, kind: str, groups: Groups, size: int, after: Numbers, combine: bool = False) -> Int64:
        """Append a collective in all groups; return the tasks that end them."""
        training, options = self.training, self.training.options
        if kind == "all-to-all":
            # Even loads need no weights.
            weights = training.expert_weights if len(set(training.expert_weights)) > 1 else ()
            combine = combine and bool(weights)
            options = CollectiveOptions(nvlink_bps=options.nvlink_bps, weights=weights, combine=combine)
        options = replace(options, per_server=groups.inside)
        algorithm = of_job(training.algorithm, kind)
        return append(self.builder, self.job, kind, groups.hosts, size, options, algorithm, after)

    def hand_over(self, stage: int, neighbor: int, after: Int64) -> Int64:
        """Append the messages from a stage to its neighbor; return the tasks that end them, shape (rows,)."""
        here, there, size = self.stages[stage], self.stages[neighbor], self.training.activation_bytes
        if size == 0:
            return after
        same = here.servers == there.servers
        begin = np.repeat(after, here.hosts.shape[1])
        sizes = np.where(same.ravel(), 0, size)
        messages = self.builder.send(self.job, here.hosts.ravel(), there.hosts.ravel(), sizes, begin, "stages")
        ends = messages.end.reshape(here.hosts.shape)
        if self.training.options.nvlink_bps and same.any():
            ps = nvlink_ps(size, Fraction(1), self.training.options.nvlink_bps)
            inside = self.builder.computations(len(after), np.where(same.any(axis=1), ps, 0), after, self.job, "NVLink")
            ends = np.concatenate([ends, inside[:, None]], axis=1)
        return self.builder.barriers(ends, self.job)

    def synchronize(self, stage: Stage, done: _Done) -> int:
        """Append what a stage does after its passes, or during the last ones; return the task that ends it.

        Each bucket waits for the one before.
        """
        builder, training = self.builder, self.training
        end = builder.barrier(done.last, self.job)
        sizes = {"gradient": training.gradient_bytes, "expert_gradient": training.expert_gradient_bytes}
        sizes = {name: size for name, size in sizes.items() if size and self.takes_time(stage.groups[name])}
        ready = [builder.barrier(bucket, self.job) for bucket in done.buckets]
        first, then = {"all-reduce": ("all-reduce", None), "sharded": ("reduce-scatter", "all-gather")}[
            training.gradients
        ]
        if sizes:
            reduced = self.buckets(stage, sizes, first, ready or [end], len(ready) or training.gradient_buckets)
            end = builder.barrier(np.array([end, reduced]), self.job) if ready else reduced
        end = _delay(builder, self.job, training.optimizer_ps, end)
        if sizes and then is not None:
            end = self.buckets(stage, sizes, then, [end], len(ready) or training.gradient_buckets)
        return end

    def buckets(self, stage: Stage, sizes: Mapping[str, int], kind: str, ready: Sequence[int], count: int) -> int:
        """Append a collective for every bucket of gradients, each after what it is ready with and the one before it.

        One `ready` is that of all.
        """
        builder, end = self.builder, ready[0]
        each = {name: spread(size, count) for name, size in sizes.items()}
        with builder.repeated(count) as rounds:
            for number in range(count - rounds, count):
                if 0 < number < len(ready):
                    end = builder.barrier(np.array([end, ready[number]]), self.job)
                ends = [
                    self.collective(kind, stage.groups[name], int(parts[number]), end) for name, parts in each.items()
                ]
                end = builder.barrier(np.concatenate(ends), self.job)
        return end


def _delay(builder: TaskBuilder, job: Job, ps: int, after: int) -> int:
    """Append a computation, unless it takes no time; return what ends it."""
    return int(builder.computations(1, ps, after, job)[0]) if ps else after


def place(
    count: int, hosts: Int32, placement: RankOrder = "packed", seed: int = 0, stride: int = 1, block: int = 1
) -> Int32:
    """Return the hosts of a job, `count` of them, in the order of its ranks.

    "packed": one host after the other. "strided": first every `stride`-th host, then those next to them, and so on;
    with the NICs per server as stride, a job gets one rail of all servers before the next one. "random": drawn by
    `seed`. Each `block` hosts after another stay together, and count as one. Raises UsageError if there are too few
    hosts, or if they are not whole blocks.
    """
    if count > len(hosts):
        raise UsageError(f"the job needs {counted(count, 'host')}, and there are {len(hosts):,}")
    if len(hosts) % block:
        raise UsageError(f"{len(hosts)} hosts are not whole blocks of {block}")
    blocks = hosts.reshape(-1, block)
    if placement == "strided":
        blocks = np.concatenate([blocks[first::stride] for first in range(min(stride, len(blocks)))])
    elif placement == "random":
        blocks = stream(seed, "placement").permutation(blocks)
    return blocks.ravel()[:count]
