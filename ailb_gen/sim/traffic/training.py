"""Jobs: a collective again and again, training steps with data, tensor and pipeline parallelism, and their hosts."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from ailb_gen.errors import UsageError
from ailb_gen.sim.fabric import Int32, Int64
from ailb_gen.sim.traffic.algorithms import CollectiveOptions, Ranks
from ailb_gen.sim.traffic.builder import NO_TASK, Job, Numbers, QueuePairs, TaskBuilder, spread, stream
from ailb_gen.sim.traffic.collectives import PLAIN, append
from ailb_gen.wording import counted

Schedule = Literal["1f1b", "gpipe"]
Placement = Literal["packed", "strided", "random"]
Operation = tuple[Literal["forward", "backward"], int]
ONE_QUEUE_PAIR = QueuePairs()


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


@dataclass(frozen=True, slots=True)
class Training:
    """A job of data * tensor * pipeline ranks, one host each; times and bytes are per rank, 0 bytes send nothing.

    Ranks of one server exchange data in no time.

    Rank t + tensor * (d + data * p) is number t of the tensor-parallel group of replica d in stage p (the order of
    Megatron-LM). A pass of a microbatch through a stage takes `forward_ps` or `backward_ps`, cut by
    `tensor_collectives` all-reduces of `tensor_bytes` in the tensor-parallel group; then `activation_bytes` go to the
    next stage, or as many gradients back. After its last backward pass a stage reduces `gradient_bytes` over the
    replicas, in `gradient_buckets` one after the other: "all-reduce", or "sharded": reduce-scatter and all-gather
    (ZeRO). The step ends `optimizer_ps` later, when all stages have.
    """

    data: int = 1
    tensor: int = 1
    pipeline: int = 1
    steps: int = 1
    microbatches: int = 1
    schedule: Schedule = "1f1b"
    forward_ps: int = 0
    backward_ps: int = 0
    optimizer_ps: int = 0
    tensor_bytes: int = 0
    tensor_collectives: int = 1
    activation_bytes: int = 0
    gradient_bytes: int = 0
    gradient_buckets: int = 1
    gradients: Literal["all-reduce", "sharded"] = "all-reduce"
    algorithm: str = "ring"
    options: CollectiveOptions = PLAIN
    queue_pairs: QueuePairs = ONE_QUEUE_PAIR

    def __post_init__(self) -> None:
        if 0 < self.gradient_bytes < self.gradient_buckets:
            raise UsageError(
                f"{self.gradient_bytes:,} bytes of gradients are too few for {self.gradient_buckets} buckets"
            )

    @property
    def ranks(self) -> int:
        """The number of hosts."""
        return self.data * self.tensor * self.pipeline


@dataclass(frozen=True, slots=True)
class Stage:
    """The hosts of a pipeline stage and their servers, shape (data, tensor)."""

    hosts: Ranks
    servers: Ranks


def together(servers: Ranks) -> int:
    """Return how many ranks in a row share a server, shape (groups, ranks), if it is the same number everywhere.

    Else 1.
    """
    n = servers.shape[1]
    same = servers[:, 1:] == servers[:, :-1]
    others = np.flatnonzero(~same[0])
    count = int(others[0]) + 1 if len(others) else n
    inside = np.arange(1, n) % count != 0
    return count if n % count == 0 and (same == inside).all() else 1


def train(builder: TaskBuilder, name: str, hosts: Ranks, training: Training, servers: Ranks | None = None) -> None:
    """Append a training job on `hosts`, one per rank.

    `servers` are numbers of their servers; None: every rank has one to itself. Raises UsageError as collectives do.
    """
    shape = training.pipeline, training.data, training.tensor
    where = np.arange(training.ranks) if servers is None else np.asarray(servers)
    stages = [Stage(*parts) for parts in zip(np.asarray(hosts).reshape(shape), where.reshape(shape), strict=True)]
    job = _TrainingJob(builder, builder.job(name, training.queue_pairs), stages, training)
    end = NO_TASK
    with builder.repeated(training.steps) as rounds:
        for _ in range(rounds):
            with builder.repeated(training.microbatches) as microbatches:
                done = job.passes(microbatches, end)
            ends = [job.synchronize(stage, last) for stage, last in zip(stages, done, strict=True)]
            end = builder.barrier(np.array(ends), job.job)
            builder.step(job.job, end)


def operations(stage: int, stages: int, microbatches: int, schedule: Schedule) -> list[Operation]:
    """Return the operations of a stage in order.

    "gpipe": all forward passes, then all backward passes (Huang et al. 2019). "1f1b": as many forward passes as
    stages follow, then one forward and one backward in turn (PipeDream-Flush; Narayanan et al. 2021).
    """
    ahead = microbatches if schedule == "gpipe" else min(stages - 1 - stage, microbatches)
    result: list[Operation] = [("forward", number) for number in range(ahead)]
    for number in range(microbatches):
        if ahead + number < microbatches:
            result.append(("forward", ahead + number))
        result.append(("backward", number))
    return result


@dataclass(frozen=True, slots=True)
class _TrainingJob:
    """Appends the parts of a training job."""

    builder: TaskBuilder
    job: Job
    stages: Sequence[Stage]
    training: Training

    def passes(self, microbatches: int, begin: int) -> list[Int64]:
        """Append all passes of a step; return the tasks that end the work of every stage, shape (data,) each.

        A pass waits for the stage's pass before it, and for what its neighbor sends.
        """
        count, data = len(self.stages), self.training.data
        waiting = [operations(stage, count, microbatches, self.training.schedule) for stage in range(count)]
        last = [np.full(data, begin, dtype=np.int64) for _ in range(count)]
        nothing = np.full(data, NO_TASK, dtype=np.int64)
        arrived: dict[tuple[int, Operation], Int64] = {}
        for number in range(microbatches):
            arrived[0, ("forward", number)] = arrived[count - 1, ("backward", number)] = nothing
        while any(waiting):
            for stage, operation in [(stage, queue[0]) for stage, queue in enumerate(waiting) if queue]:
                if (stage, operation) not in arrived:
                    continue
                waiting[stage].pop(0)
                after = np.stack([last[stage], arrived[stage, operation]], axis=1)
                last[stage] = self.one_pass(self.stages[stage], operation[0], after)
                neighbor = stage + 1 if operation[0] == "forward" else stage - 1
                if 0 <= neighbor < count:
                    arrived[neighbor, operation] = self.hand_over(stage, neighbor, last[stage])
        return last

    def one_pass(self, stage: Stage, direction: str, after: Int64) -> Int64:
        """Append one pass through a stage in all replicas; return its ends, shape (data,)."""
        builder, training, inside = self.builder, self.training, together(stage.servers)
        communicates = inside < training.tensor and training.tensor_bytes > 0
        pieces = training.tensor_collectives if communicates else 1
        time_ps = training.forward_ps if direction == "forward" else training.backward_ps
        end = after
        with builder.repeated(pieces) as rounds:
            for ps in spread(time_ps, pieces)[-rounds:]:
                end = builder.computations(training.data, int(ps), end, self.job, direction)
                if communicates:
                    end = self.collective("all-reduce", stage.hosts, training.tensor_bytes, inside, end)
        return end

    def collective(self, kind: str, ranks: Ranks, size: int, per_server: int, after: Numbers) -> Int64:
        """Append a collective in all groups; return the tasks that end them."""
        training = self.training
        options = replace(training.options, per_server=per_server)
        algorithm = training.algorithm if kind == "all-reduce" else None
        return append(self.builder, self.job, kind, ranks, size, options, algorithm, after)

    def hand_over(self, stage: int, neighbor: int, after: Int64) -> Int64:
        """Append the messages from a stage to its neighbor; return the tasks that end them, shape (data,)."""
        here, there, size = self.stages[stage], self.stages[neighbor], self.training.activation_bytes
        if size == 0:
            return after
        sizes = np.where((here.servers == there.servers).ravel(), 0, size)
        begin = np.repeat(after, here.hosts.shape[1])
        messages = self.builder.send(self.job, here.hosts.ravel(), there.hosts.ravel(), sizes, begin, "stages")
        return self.builder.barriers(messages.end.reshape(here.hosts.shape), self.job)

    def synchronize(self, stage: Stage, done: Int64) -> int:
        """Append what a stage does after its last pass; return the task that ends it."""
        builder, training, inside = self.builder, self.training, together(stage.servers.T)
        end = builder.barrier(done, self.job)
        if inside < training.data and training.gradient_bytes:
            kinds = {"all-reduce": ("all-reduce",), "sharded": ("reduce-scatter", "all-gather")}[training.gradients]
            with builder.repeated(training.gradient_buckets) as rounds:
                for size in spread(training.gradient_bytes, training.gradient_buckets)[-rounds:]:
                    for kind in kinds:
                        ends = self.collective(kind, stage.hosts.T, int(size), inside, end)
                        end = builder.barrier(ends, self.job)
        return _delay(builder, self.job, training.optimizer_ps, end)


def _delay(builder: TaskBuilder, job: Job, ps: int, after: int) -> int:
    """Append a computation, unless it takes no time; return what ends it."""
    return int(builder.computations(1, ps, after, job)[0]) if ps else after


def place(
    count: int, hosts: Int32, placement: Placement = "packed", seed: int = 0, stride: int = 1, block: int = 1
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
