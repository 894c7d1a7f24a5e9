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


# Mice: one per interval, to a server under another leaf; MICE[k] of them have k + 1 packets.
MICE_INTERVAL_PS = PS_PER_MS
MICE = (2422, 2531, 2553, 2495)
# Heavy: one data-parallel job of all servers.
HEAVY_STEPS, HEAVY_PAYLOAD_BYTES = 50, 32_768
COMPUTE_PS, OPTIMIZER_PS = 10 * PS_PER_MS, 5 * PS_PER_MS
BUCKETS, BUCKET_BYTES = 8, 4 << 20
# Mixed: two jobs from time 0 on. A tensor-parallel one of the first half of the servers of every leaf;
MIXED_PAYLOAD_BYTES = 4096
TENSOR_STEPS, TENSOR_COMPUTE_PS, TENSOR_TAIL_PS = 100, 5 * PS_PER_MS, 2 * PS_PER_MS
MICRO_COLLECTIVES, MICRO_BYTES, MICRO_GAP_PS = 16, 128 << 10, PS_PER_MS // 2
TENSOR_SYNC_BYTES = 2 << 20
# and a pipeline of the second half, of which a stage is these servers of consecutive leaves.
PIPELINE_STEPS, PIPELINE_TAIL_PS = 200, 3 * PS_PER_MS
STAGES, MICROBATCHES = 4, 4
ACTIVATION_BYTES = GRADIENT_BYTES = 256 << 10
PIPELINE_SYNC_BYTES = 4 << 20


def heavy(
    seed: int, scale: int = 1, steps: int | None = None, mice: bool = True, queue_pairs: QueuePairs = ONE
) -> Workload:
    """Return the heavy workload with messages `scale` times as large, or with other steps; mice have one queue pair."""
    builder, servers = TaskBuilder(seed), np.arange(LEAVES * SERVERS_PER_LEAF)
    job = _Phases(builder, builder.job("heavy", queue_pairs), servers, scale, stream(seed, "rings"))
    for _ in range(steps or HEAVY_STEPS):
        job.compute(COMPUTE_PS)
        for _ in range(BUCKETS):
            job.synchronize(BUCKET_BYTES)
        job.end_step(OPTIMIZER_PS)
    return merged([builder.finish(), *([_mice(seed, HEAVY_PAYLOAD_BYTES)] if mice else [])])


def mixed(
    seed: int, scale: int = 1, steps: int | None = None, mice: bool = True, queue_pairs: QueuePairs = ONE
) -> Workload:
    """Return the mixed workload with messages `scale` times as large, or with other steps; mice have one queue pair."""
    builder, generator = TaskBuilder(seed), stream(seed, "rings")
    halves = np.split(np.arange(LEAVES * SERVERS_PER_LEAF).reshape(LEAVES, SERVERS_PER_LEAF), 2, axis=1)
    jobs = [builder.job(name, queue_pairs) for name in ("tp_heavy", "pp_dp")]
    tensor, pipeline = (
        _Phases(builder, job, half.ravel(), scale, generator) for job, half in zip(jobs, halves, strict=True)
    )
    _tensor(tensor, steps or TENSOR_STEPS)
    _pipeline(pipeline, steps or PIPELINE_STEPS)
    return merged([builder.finish(), *([_mice(seed, MIXED_PAYLOAD_BYTES)] if mice else [])])


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


def _tensor(job: _Phases, steps: int) -> None:
    for _ in range(steps):
        job.compute(TENSOR_COMPUTE_PS)
        for _ in range(MICRO_COLLECTIVES):
            job.end = job.ring("all-reduce", MICRO_BYTES)
            job.compute(MICRO_GAP_PS)
        job.synchronize(TENSOR_SYNC_BYTES)
        job.end_step(TENSOR_TAIL_PS)


def _pipeline(job: _Phases, steps: int) -> None:
    stages = job.servers.reshape(STAGES, -1)
    first, second = (np.tile(part.ravel(), MICROBATCHES) for part in (stages[:-1], stages[1:]))
    last, before = (np.tile(part.ravel(), MICROBATCHES) for part in (stages[:0:-1], stages[-2::-1]))
    for _ in range(steps):
        for source, target, size in ((first, second, ACTIVATION_BYTES), (last, before, GRADIENT_BYTES)):
            messages = job.builder.send(job.job, source, target, job.scale * size, job.end, "stages")
            job.end = job.builder.barrier(messages.end, job.job)
        job.synchronize(PIPELINE_SYNC_BYTES)
        job.end_step(PIPELINE_TAIL_PS)


def _mice(seed: int, payload_bytes: int) -> Workload:
    packets = np.repeat(np.arange(1, len(MICE) + 1), MICE)
    amount = stream(seed, "mice sizes").permutation(packets) * payload_bytes
    hosts = np.arange(LEAVES * SERVERS_PER_LEAF, dtype=np.int32)
    return arrivals.mice(hosts, amount, MICE_INTERVAL_PS, seed, leaf_of_host())
