"""The workloads "heavy" and "mixed" of Zeltser, "Adaptive Packet Routing vs. Flowlet Switching" (2026).

Hosts are whole servers, numbered leaf by leaf, 4 per leaf. All flows of a phase start at once, a phase begins when the
one before has ended, and every ring is a random one. In packets, without retransmissions: heavy 3,199,523 (x1),
6,373,923 (x2), 25,420,323 (x8) of 32,768 bytes; mixed 9,701,923 (x1), 19,378,723 (x2), 38,732,323 (x4) of 4,096 bytes.

Each of these totals has 25,123 packets of mice, since the published runs draw them with one seed: 10,001 mice;
2,422 have 1 packet, 2,531 have 2, 2,553 have 3 and 2,495 have 4. Here the seed shuffles these very sizes, so the totals
are the published ones with every seed.
"""

from dataclasses import dataclass

import numpy as np

from ailb_gen.sim.fabric import PS_PER_US, Int32
from ailb_gen.sim.traffic import arrivals
from ailb_gen.sim.traffic.algorithms import CollectiveOptions, Ranks
from ailb_gen.sim.traffic.builder import NO_TASK, Job, QueuePairs, TaskBuilder, stream
from ailb_gen.sim.traffic.collectives import append
from ailb_gen.sim.workload import Workload, merged

PS_PER_MS = 1000 * PS_PER_US
LEAVES, SERVERS_PER_LEAF = 8, 4
ONE = QueuePairs()


@dataclass(frozen=True, slots=True)
class Mice:
    """One mouse per interval, to a server under another leaf; `sizes[k]` of them have k + 1 packets."""

    interval_ps: int = PS_PER_MS
    sizes: tuple[int, ...] = (2422, 2531, 2553, 2495)


@dataclass(frozen=True, slots=True)
class Heavy:
    """One data-parallel job of all servers."""

    steps: int = 50
    compute_ps: int = 10 * PS_PER_MS
    buckets: int = 8
    bucket_bytes: int = 4 << 20
    optimizer_ps: int = 5 * PS_PER_MS
    payload_bytes: int = 32_768
    mice: Mice | None = Mice()


@dataclass(frozen=True, slots=True)
class TensorParallel:
    """The job of the first half of the servers of every leaf."""

    steps: int = 100
    compute_ps: int = 5 * PS_PER_MS
    micro_collectives: int = 16
    micro_bytes: int = 128 << 10
    micro_gap_ps: int = PS_PER_MS // 2
    sync_bytes: int = 2 << 20
    tail_ps: int = 2 * PS_PER_MS


@dataclass(frozen=True, slots=True)
class PipelineParallel:
    """The job of the second half of the servers of every leaf; a stage is these servers of consecutive leaves."""

    steps: int = 200
    stages: int = 4
    microbatches: int = 4
    activation_bytes: int = 256 << 10
    gradient_bytes: int = 256 << 10
    sync_bytes: int = 4 << 20
    tail_ps: int = 3 * PS_PER_MS


@dataclass(frozen=True, slots=True)
class Mixed:
    """Both jobs, from time 0 on."""

    tensor: TensorParallel = TensorParallel()
    pipeline: PipelineParallel = PipelineParallel()
    payload_bytes: int = 4096
    mice: Mice | None = Mice()


def heavy(seed: int, scale: int = 1, settings: Heavy = Heavy(), queue_pairs: QueuePairs = ONE) -> Workload:
    """Return the heavy workload with messages `scale` times as large; mice have one queue pair."""
    builder, servers = TaskBuilder(seed), np.arange(LEAVES * SERVERS_PER_LEAF)
    job = _Phases(builder, builder.job("heavy", queue_pairs), servers, scale, stream(seed, "rings"))
    for _ in range(settings.steps):
        job.compute(settings.compute_ps)
        for _ in range(settings.buckets):
            job.synchronize(settings.bucket_bytes)
        job.end_step(settings.optimizer_ps)
    return merged([builder.finish(), *_mice(seed, settings.mice, settings.payload_bytes)])


def mixed(seed: int, scale: int = 1, settings: Mixed = Mixed(), queue_pairs: QueuePairs = ONE) -> Workload:
    """Return the mixed workload with messages `scale` times as large; mice have one queue pair."""
    builder, generator = TaskBuilder(seed), stream(seed, "rings")
    by_leaf = np.arange(LEAVES * SERVERS_PER_LEAF).reshape(LEAVES, SERVERS_PER_LEAF)
    halves = np.split(by_leaf, 2, axis=1)
    names = ("tp_heavy", "pp_dp")
    jobs = [builder.job(name, queue_pairs) for name in names]
    tensor, pipeline = (
        _Phases(builder, job, half.ravel(), scale, generator) for job, half in zip(jobs, halves, strict=True)
    )
    _tensor(tensor, settings.tensor)
    _pipeline(pipeline, settings.pipeline)
    return merged([builder.finish(), *_mice(seed, settings.mice, settings.payload_bytes)])


def leaf_of_host() -> Int32:
    """Return the leaf of every server, shape (32,)."""
    return np.repeat(np.arange(LEAVES, dtype=np.int32), SERVERS_PER_LEAF)


@dataclass(slots=True)
class _Phases:
    """Appends the phases of a job, each after the one before."""

    builder: TaskBuilder
    job: Job
    servers: Ranks
    scale: int
    generator: np.random.Generator
    end: int = NO_TASK

    def compute(self, ps: int) -> None:
        self.end = int(self.builder.computations(1, ps, self.end, self.job)[0])

    def end_step(self, ps: int) -> None:
        """Compute, and end the step."""
        self.compute(ps)
        self.builder.step(self.job, self.end)

    def ring(self, collective: str, size: int) -> int:
        """Append n - 1 ring steps, all at once: the published all-reduce, too, has no more."""
        options = CollectiveOptions(at_once=True, rounds=len(self.servers) - 1)
        ranks = self.generator.permutation(self.servers)
        ends = append(self.builder, self.job, collective, ranks, self.scale * size, options, after=self.end)
        return int(ends[0])

    def synchronize(self, size: int) -> None:
        """Append a reduce-scatter and an all-gather, both at once, along rings of their own."""
        ends = [self.ring(kind, size) for kind in ("reduce-scatter", "all-gather")]
        self.end = self.builder.barrier(np.array(ends), self.job)


def _tensor(job: _Phases, settings: TensorParallel) -> None:
    for _ in range(settings.steps):
        job.compute(settings.compute_ps)
        for _ in range(settings.micro_collectives):
            job.end = job.ring("all-reduce", settings.micro_bytes)
            job.compute(settings.micro_gap_ps)
        job.synchronize(settings.sync_bytes)
        job.end_step(settings.tail_ps)


def _pipeline(job: _Phases, settings: PipelineParallel) -> None:
    stages = job.servers.reshape(settings.stages, -1)
    here, there = stages[:-1], stages[1:]
    for _ in range(settings.steps):
        for source, target, size in (
            (here, there, settings.activation_bytes),
            (there[::-1], here[::-1], settings.gradient_bytes),
        ):
            ends = [np.tile(part.ravel(), settings.microbatches) for part in (source, target)]
            messages = job.builder.send(job.job, ends[0], ends[1], job.scale * size, job.end, "stages")
            job.end = job.builder.barrier(messages.end, job.job)
        job.synchronize(settings.sync_bytes)
        job.end_step(settings.tail_ps)


def _mice(seed: int, mice: Mice | None, payload_bytes: int) -> list[Workload]:
    if mice is None:
        return []
    packets = np.repeat(np.arange(1, len(mice.sizes) + 1), mice.sizes)
    amount = stream(seed, "mice sizes").permutation(packets) * payload_bytes
    hosts = np.arange(LEAVES * SERVERS_PER_LEAF, dtype=np.int32)
    return [arrivals.mice(hosts, amount, mice.interval_ps, seed, leaf_of_host())]
