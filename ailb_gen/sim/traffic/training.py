"""Jobs: a collective again and again, and training steps with data, tensor and pipeline parallelism."""

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from typing import Literal

import numpy as np
import numpy.typing as npt

from ailb_gen.errors import UsageError
from ailb_gen.sim.fabric import Int64
from ailb_gen.sim.traffic.algorithms import CollectiveOptions, Ranks
from ailb_gen.sim.traffic.builder import NO_TASK, Job, Numbers, QueuePairs, TaskBuilder, spread
from ailb_gen.sim.traffic.collectives import PLAIN, append

Schedule = Literal["1f1b", "gpipe"]
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
    start_ps: int = 0,
) -> Job:
    """Append a job that does a collective `iterations` times; each iteration is a step.

    `ranks` as for `collectives.append`; an iteration begins when all groups have ended the one before, and
    `compute_ps` later. Raises UsageError as that does, and for less than one iteration.
    """
    if iterations < 1:
        raise UsageError(f"{iterations} iterations of {collective}: must be at least 1")
    job = builder.job(name, queue_pairs)
    end = _delay(builder, job, start_ps, NO_TASK)
    with builder.repeated(iterations) as rounds:
        for _ in range(rounds):
            end = _delay(builder, job, compute_ps, end)
            end = builder.barrier(append(builder, job, collective, ranks, size, options, algorithm, end), job)
            builder.step(job, end)
    return job


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
    start_ps: int = 0

    def __post_init__(self) -> None:
        for name in ("data", "tensor", "pipeline", "steps", "microbatches", "tensor_collectives", "gradient_buckets"):
            if getattr(self, name) < 1:
                raise UsageError(f"{name} of a training job must be at least 1, not {getattr(self, name)}")
        for one in fields(self):
            if one.name.endswith(("_ps", "_bytes")) and getattr(self, one.name) < 0:
                raise UsageError(f"{one.name} of a training job must not be negative: {getattr(self, one.name)}")
        if 0 < self.gradient_bytes < self.gradient_buckets:
            raise UsageError(
                f"{self.gradient_bytes} bytes of gradients are too few for {self.gradient_buckets} buckets"
            )
        if self.schedule not in ("1f1b", "gpipe"):
            raise UsageError(f"unknown pipeline schedule {self.schedule!r}; known: 1f1b, gpipe")
        if self.gradients not in ("all-reduce", "sharded"):
            raise UsageError(f"gradients can be reduced by 'all-reduce' or 'sharded', not {self.gradients!r}")

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


def train(builder: TaskBuilder, name: str, hosts: Ranks, training: Training, servers: Ranks | None = None) -> Job:
    """Append a training job on `hosts`, one per rank; raises UsageError for another number of them.

    `servers` are numbers of their servers; None: every rank has one to itself.
    """
    if len(hosts) != training.ranks:
        degrees = f"{training.data} (data) x {training.tensor} (tensor) x {training.pipeline} (pipeline)"
        raise UsageError(f"job {name!r} has {len(hosts)} hosts, and {degrees} needs {training.ranks}")
    job = builder.job(name, training.queue_pairs)
    shape = training.pipeline, training.data, training.tensor
    where = np.arange(training.ranks) if servers is None else np.asarray(servers)
    stages = [Stage(*parts) for parts in zip(np.asarray(hosts).reshape(shape), where.reshape(shape), strict=True)]
    end = _delay(builder, job, training.start_ps, NO_TASK)
    with builder.repeated(training.steps) as rounds:
        for _ in range(rounds):
            with builder.repeated(training.microbatches) as microbatches:
                done = _passes(builder, job, stages, replace(training, microbatches=microbatches), end)
            ends = [_synchronize(builder, job, stage, training, last) for stage, last in zip(stages, done, strict=True)]
            end = builder.barrier(np.array(ends), job)
            builder.step(job, end)
    return job


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


def _passes(builder: TaskBuilder, job: Job, ranks: Sequence[Stage], training: Training, begin: int) -> list[Int64]:
    """Append all passes of a step; return the tasks that end the work of every stage, shape (data,) each.

    A pass waits for the stage's pass before it, and for what its neighbor sends.
    """
    stages = training.pipeline
    waiting = [operations(stage, stages, training.microbatches, training.schedule) for stage in range(stages)]
    last = [np.full(training.data, begin, dtype=np.int64) for _ in range(stages)]
    nothing = np.full(training.data, NO_TASK, dtype=np.int64)
    arrived: dict[tuple[int, Operation], Int64] = {}
    for number in range(training.microbatches):
        arrived[0, ("forward", number)] = arrived[stages - 1, ("backward", number)] = nothing
    while any(waiting):
        for stage, operation in [(stage, queue[0]) for stage, queue in enumerate(waiting) if queue]:
            if (stage, operation) not in arrived:
                continue
            waiting[stage].pop(0)
            after = np.stack([last[stage], arrived[stage, operation]], axis=1)
            last[stage] = _pass(builder, job, ranks[stage], training, operation[0], after)
            neighbor = stage + 1 if operation[0] == "forward" else stage - 1
            if 0 <= neighbor < stages:
                arrived[neighbor, operation] = _hand_over(
                    builder, job, ranks[stage], ranks[neighbor], training.activation_bytes, last[stage]
                )
    return last


def _pass(
    builder: TaskBuilder, job: Job, stage: Stage, training: Training, direction: str, after: npt.NDArray[np.int64]
) -> Int64:
    """Append one pass through a stage in all replicas; return its ends, shape (data,)."""
    inside = together(stage.servers)
    communicates = inside < training.tensor and training.tensor_bytes > 0
    options = replace(training.options, per_server=inside)
    pieces = training.tensor_collectives if communicates else 1
    wait: Numbers = after
    with builder.repeated(pieces) as rounds:
        for ps in spread(training.forward_ps if direction == "forward" else training.backward_ps, pieces)[-rounds:]:
            end = builder.computations(training.data, int(ps), wait, job, direction)
            if communicates:
                end = append(
                    builder, job, "all-reduce", stage.hosts, training.tensor_bytes, options, training.algorithm, end
                )
            wait = end
    return end


def _hand_over(builder: TaskBuilder, job: Job, here: Stage, there: Stage, size: int, after: Int64) -> Int64:
    """Append the messages from a stage to its neighbor; return the tasks that end them, shape (data,)."""
    if size == 0:
        return after
    source, target = here.hosts.ravel(), there.hosts.ravel()
    sizes = np.where((here.servers == there.servers).ravel(), 0, size)
    messages = builder.send(job, source, target, sizes, np.repeat(after, here.hosts.shape[1]), "stages")
    return builder.barriers(messages.end.reshape(here.hosts.shape), job)


def _synchronize(builder: TaskBuilder, job: Job, stage: Stage, training: Training, done: Int64) -> int:
    """Append what a stage does after its last pass; return the task that ends it."""
    end = builder.barrier(done, job)
    inside = together(stage.servers.T)
    options = replace(training.options, per_server=inside)
    if inside < training.data and training.gradient_bytes:
        kinds = {"all-reduce": ("all-reduce",), "sharded": ("reduce-scatter", "all-gather")}[training.gradients]
        with builder.repeated(training.gradient_buckets) as rounds:
            for size in spread(training.gradient_bytes, training.gradient_buckets)[-rounds:]:
                for kind in kinds:
                    algorithm = training.algorithm if kind == "all-reduce" else None
                    ends = append(builder, job, kind, stage.hosts.T, int(size), options, algorithm, end)
                    end = builder.barrier(ends, job)
    return _delay(builder, job, training.optimizer_ps, end)


def _delay(builder: TaskBuilder, job: Job, ps: int, after: int) -> int:
    """Append a computation, unless it takes no time; return what ends it."""
    return int(builder.computations(1, ps, after, job)[0]) if ps else after
