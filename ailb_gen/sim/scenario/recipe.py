"""The traffic of a scenario, made for a fabric and a seed."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from ailb_gen.errors import UsageError
from ailb_gen.sim.fabric import PS_PER_S, FabricArrays, Int32
from ailb_gen.sim.point import Traffic
from ailb_gen.sim.scenario.convert import addresses, per_server, ranks_of, servers_of, values
from ailb_gen.sim.scenario.names import links_of
from ailb_gen.sim.scenario.placement import AS_LISTED, Placement, placed, read_placement
from ailb_gen.sim.scenario.traffic import (
    ArrivalsPart,
    BackgroundPart,
    CollectivePart,
    FlowsPart,
    JobPart,
    MicePart,
    ScaleUnitPart,
    TracePart,
    TrafficPart,
    TrainingPart,
)
from ailb_gen.sim.statistics import Collective
from ailb_gen.sim.traffic import scale_unit
from ailb_gen.sim.traffic.aicb import read_layers, replay_layers
from ailb_gen.sim.traffic.algorithms import CollectiveOptions
from ailb_gen.sim.traffic.arrivals import SizeDistribution, mice, poisson, read_size_distribution
from ailb_gen.sim.traffic.background import with_background
from ailb_gen.sim.traffic.builder import QueuePairs, TaskBuilder, TaskCounter
from ailb_gen.sim.traffic.connection_matrix import read_connection_matrix
from ailb_gen.sim.traffic.experts import expert_loads
from ailb_gen.sim.traffic.flowlist import read_flow_list
from ailb_gen.sim.traffic.nccl import Tuning
from ailb_gen.sim.traffic.parallelism import Training
from ailb_gen.sim.traffic.replay import ReplayOptions, replay
from ailb_gen.sim.traffic.trace import TraceStep
from ailb_gen.sim.traffic.trace_files import read_trace
from ailb_gen.sim.traffic.training import place, repeat, train
from ailb_gen.sim.unloaded import host_rates
from ailb_gen.sim.workload import LeastTraffic, Workload, merged

Made = TypeVar("Made")
OneJob = TypeVar("OneJob", bound=JobPart)
# A Poisson number is this many standard deviations below its mean once in 10^9 draws.
DEVIATIONS = 6
# How the name of a workload of AICB ends.
AICB = ".txt"


@dataclass(frozen=True, slots=True)
class EntryContext:
    """The context in which the traffic of an entry is made; `name` is that of its job."""

    fabric: FabricArrays
    seed: int
    folder: Path
    name: str
    placement: Placement
    known: dict[tuple[str | None, ...], Any]

    def once(self, read: Callable[[], Made], *names: str | None) -> Made:
        """Return what `read` does, once for the same kind and names of files."""
        if names not in self.known:
            self.known[names] = read()
        found: Made = self.known[names]
        return found


@dataclass(frozen=True, slots=True)
class TrafficRecipe:
    """Entries of a scenario's traffic; their files are below `folder`. `placement` is that of all its jobs.

    `known` is what files hold that were read. Other processes read them themselves: traces are long.
    """

    parts: tuple[TrafficPart, ...]
    folder: Path
    placement: Placement = AS_LISTED
    known: dict[tuple[str | None, ...], Any] = field(default_factory=dict, compare=False, repr=False)

    def __reduce__(self) -> tuple[type[TrafficRecipe], tuple[object, ...]]:
        """Leave out what files hold."""
        return TrafficRecipe, (self.parts, self.folder, self.placement)

    def least(self, fabric: FabricArrays, seed: int) -> list[LeastTraffic]:
        """Return the least of every entry, without making it. Raises UsageError, IntentError.

        Files of flows, background load and published workloads are no larger than their files and links; they count as
        nothing.
        """
        return [self._made(number, LEAST, fabric, seed) for number in range(len(self.parts))]

    def build(self, fabric: FabricArrays, seed: int) -> Traffic:
        """Make the traffic. Raises UsageError, IntentError."""
        made: dict[int, Traffic] = {}
        # Background load adds hosts of its own, which take part in nothing else.
        for number in sorted(range(len(self.parts)), key=lambda number: self.parts[number].kind == "background"):
            made[number] = self._made(number, MAKERS, fabric, seed)
            fabric = made[number].fabric or fabric
        found = [made[number] for number in range(len(self.parts))]
        workloads = [one.workload for one in found]
        for number, one in enumerate(workloads):
            # The first data class needs no classes.
            if priority := self.parts[number].chosen.priority:
                workloads[number] = replace(one, priority=np.full(one.count, priority, dtype=np.int32))
        workload = workloads[0] if len(found) == 1 else merged(self._distinct(workloads))
        return Traffic(workload, {name: one for part in found for name, one in part.collectives.items()}, fabric)

    def _made(self, number: int, makers: Makers[Made], fabric: FabricArrays, seed: int) -> Made:
        """Return the result of the function for the kind of an entry; errors name the entry."""
        part = self.parts[number]
        # Entries of one kind must not draw the same numbers.
        context = EntryContext(
            fabric, seed + (number << 40), self.folder, self._name(number), self.placement, self.known
        )
        try:
            return makers[part.kind](part.chosen, context)
        except UsageError as error:
            raise UsageError(f"traffic[{number}].{part.kind}: {error}") from error

    def _name(self, number: int) -> str:
        """Return the name of an entry: its kind, numbered where there are several of one."""
        kinds = [part.kind for part in self.parts]
        kind = kinds[number]
        return f"{kind} {kinds[:number].count(kind) + 1}" if kinds.count(kind) > 1 else kind

    def _distinct(self, workloads: Sequence[Workload]) -> list[Workload]:
        """Return workloads whose labels differ: those that occur twice get the name of their entry."""
        every = [label for one in workloads for label in one.labels]

        def label(number: int, name: str) -> str:
            return f"{self._name(number)}: {name}" if every.count(name) > 1 else name

        return [
            replace(one, labels=tuple(label(number, name) for name in one.labels))
            for number, one in enumerate(workloads)
        ]


Makers = Mapping[str, Callable[[Any, EntryContext], Made]]
Describe = Callable[[OneJob, EntryContext, TaskBuilder], Mapping[str, Collective]]


def _queue_pairs(part: JobPart, fabric: FabricArrays) -> QueuePairs:
    return QueuePairs(part.queue_pairs or addresses(fabric), part.split)


def _inside(part: JobPart, fabric: FabricArrays, hosts: Int32) -> dict[str, Any]:
    """Return the options of collectives about the inside of servers, and about what NCCL knows."""
    tuning = Tuning(int(host_rates(fabric)[hosts].min()), part.nvlink or 0, part.gpu, part.nvls)
    return {"nvlink_bps": part.nvlink or 0, "nvls": part.nvls, "tuning": tuning}


def _job_hosts(part: JobPart, context: EntryContext) -> Int32:
    """Return the hosts of a job in the order of the placement. Raises UsageError if the placement has none of them."""
    fabric = context.fabric
    if part.hostfile is None:
        placement = context.placement.of(part.job)
    else:
        name = part.hostfile
        placement = context.once(lambda: read_placement(name, context.folder, fabric), "hosts", name).of(part.job)
    # Servers that a file names take part even without GPUs.
    patterns = part.hosts or (("*",) if placement.servers else ())
    hosts = placed(ranks_of(patterns, fabric), placement, fabric, context.seed)
    if not len(hosts):
        raise UsageError(f"hosts: {placement.name} names no server of this job; add them there, or leave out 'hosts'")
    return hosts


def _describe_collective(part: CollectivePart, context: EntryContext, builder: TaskBuilder) -> Mapping[str, Collective]:
    """Append a collective; return it by the name of its job."""
    fabric = context.fabric
    ranks = _job_hosts(part, context)
    # Permutations draw their pairs; options that a collective does not have must stay as they are.
    drawn = context.seed if part.kind == "permutation" else 0
    servers = per_server(part, fabric, ranks)
    options = CollectiveOptions(
        part.slices, part.at_once, servers, part.rounds, part.shift, drawn, pxn=part.pxn, **_inside(part, fabric, ranks)
    )
    name = context.name.replace("collective", part.kind)
    pairs = _queue_pairs(part, fabric)
    repeat(builder, name, part.kind, ranks, part.bytes, part.steps, options, part.algorithm, pairs, part.compute)
    return {name: Collective(part.kind, len(ranks), part.bytes, part.compute)}


def _describe_training(part: TrainingPart, context: EntryContext, builder: TaskBuilder) -> Mapping[str, Collective]:
    """Append a training job; none of its collectives has a bandwidth of its own."""
    fabric = context.fabric
    hosts = _job_hosts(part, context)
    options = CollectiveOptions(part.slices, stream=part.stream, **_inside(part, fabric, hosts))
    loads = expert_loads(part.expert, part.experts, part.expert_skew, part.expert_capacity)
    given = {
        "options": options,
        "queue_pairs": _queue_pairs(part, fabric),
        "expert_weights": loads.weights,
        "expert_bytes": int(part.expert_bytes * loads.kept),
    }
    training = Training(**values(part, Training) | given)
    ranks = place(training.ranks, hosts, part.placement, context.seed, part.stride, part.block)
    train(builder, context.name, ranks, training, servers_of(part, fabric, ranks))
    return {}


def _describe_trace(part: TracePart, context: EntryContext, builder: TaskBuilder) -> Mapping[str, Collective]:
    """Append a trace; none of its collectives has a bandwidth of its own."""
    fabric, path = context.fabric, context.folder / part.file
    layers = context.once(lambda: read_layers(path, part.file), "layers", part.file) if path.suffix == AICB else None
    steps: list[TraceStep] = []
    if layers:
        count = layers.ranks
    else:
        steps, count = context.once(
            lambda: read_trace(context.folder, part.file, part.groups), "trace", part.file, part.groups
        )
    hosts = _job_hosts(part, context)
    hosts = place(count or len(hosts), hosts)
    options = ReplayOptions(
        CollectiveOptions(part.slices, **_inside(part, fabric, hosts)), part.algorithm, part.flops or 0
    )
    job = builder.job(context.name, _queue_pairs(part, fabric))
    servers = servers_of(part, fabric, hosts)
    if layers:
        replay_layers(builder, job, layers, hosts, servers, options)
    else:
        replay(builder, job, steps, hosts, servers, options)
    return {}


def _job(describe: Describe[OneJob], part: OneJob, context: EntryContext) -> Traffic:
    builder = TaskBuilder(context.seed)
    collectives = describe(part, context, builder)
    workload = builder.finish()
    # The wait for the start is not part of the first step.
    return Traffic(replace(workload, start_ps=np.maximum(workload.start_ps, np.int64(part.start))), collectives)


def _least_of_job(describe: Describe[OneJob], part: OneJob, context: EntryContext) -> LeastTraffic:
    counter = TaskCounter()
    describe(part, context, counter)
    return counter.least()


def _flows(part: FlowsPart, context: EntryContext) -> Traffic:
    kind = part.format or ("cm" if part.file.removesuffix(".gz").endswith(".cm") else "flows")
    read = read_connection_matrix if kind == "cm" else read_flow_list
    return Traffic(read(context.folder / part.file, part.file, context.fabric.host_count, context.seed))


def _sizes(part: ArrivalsPart, context: EntryContext) -> SizeDistribution:
    path = context.folder / part.file
    return context.once(lambda: read_size_distribution(path, part.file, part.sizes), "sizes", part.file, part.sizes)


def _arrivals(part: ArrivalsPart, context: EntryContext) -> Traffic:
    sizes = _sizes(part, context)
    hosts = ranks_of(part.hosts, context.fabric)
    leaves = context.fabric.host_switches() if part.other_leaves else None
    rates = host_rates(context.fabric)[hosts]
    return Traffic(poisson(hosts, rates, part.load, sizes, part.duration, context.seed, leaves, part.sizes))


def _least_arrivals(part: ArrivalsPart, context: EntryContext) -> LeastTraffic:
    sizes = _sizes(part, context)
    rate = float(host_rates(context.fabric)[ranks_of(part.hosts, context.fabric)].sum())
    mean = part.load * rate / (8 * sizes.mean_bytes()) * part.duration / PS_PER_S
    count = max(0, int(mean - DEVIATIONS * math.sqrt(mean)))
    return LeastTraffic(count, count)


def _mice(part: MicePart, context: EntryContext) -> Traffic:
    hosts = ranks_of(part.hosts, context.fabric)
    leaves = context.fabric.host_switches() if part.other_leaves else None
    amount = np.full(part.count, part.bytes, dtype=np.int64)
    return Traffic(mice(hosts, amount, part.interval, context.seed, leaves, part.start))


def _background(part: BackgroundPart, context: EntryContext) -> Traffic:
    links = {link: None for pattern in part.links for link in links_of(context.fabric, pattern)}
    fabric, workload = with_background(context.fabric, list(links), part.load, part.duration, part.start, context.seed)
    return Traffic(workload, fabric=fabric)


def _scale_unit(part: ScaleUnitPart, context: EntryContext) -> Traffic:
    hosts = scale_unit.LEAVES * scale_unit.SERVERS_PER_LEAF
    if context.fabric.host_count != hosts:
        raise UsageError(f"these workloads are for {hosts} servers, and the fabric has {context.fabric.host_count}")
    queue_pairs = QueuePairs(part.queue_pairs or addresses(context.fabric))
    make = {"heavy": scale_unit.heavy, "mixed": scale_unit.mixed}[part.workload]
    return Traffic(make(context.seed, part.scale, part.steps, part.mice, queue_pairs))


MAKERS: Makers[Traffic] = {
    "collective": partial(_job, _describe_collective),
    "training": partial(_job, _describe_training),
    "trace": partial(_job, _describe_trace),
    "flows": _flows,
    "arrivals": _arrivals,
    "mice": _mice,
    "background": _background,
    "scale_unit": _scale_unit,
}
LEAST: Makers[LeastTraffic] = {
    "collective": partial(_least_of_job, _describe_collective),
    "training": partial(_least_of_job, _describe_training),
    "trace": partial(_least_of_job, _describe_trace),
    "arrivals": _least_arrivals,
    "mice": lambda part, context: LeastTraffic(part.count, part.count, part.bytes),
    **dict.fromkeys(("flows", "background", "scale_unit"), lambda part, context: LeastTraffic(0)),
}
