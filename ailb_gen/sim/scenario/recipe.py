"""The traffic of a scenario, made for a fabric and a seed."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from ailb_gen.errors import UsageError
from ailb_gen.sim.fabric import PS_PER_S, FabricArrays, Int32
from ailb_gen.sim.point import Traffic
from ailb_gen.sim.scenario.convert import values
from ailb_gen.sim.scenario.members import addresses, links_of, per_server, ranks_of, servers_of
from ailb_gen.sim.scenario.traffic import (
    ArrivalsPart,
    BackgroundPart,
    CollectivePart,
    Connections,
    FlowsPart,
    MicePart,
    ScaleUnitPart,
    TrafficPart,
    TrainingPart,
)
from ailb_gen.sim.statistics import Collective
from ailb_gen.sim.traffic import scale_unit
from ailb_gen.sim.traffic.algorithms import CollectiveOptions
from ailb_gen.sim.traffic.arrivals import mice, poisson, read_size_distribution
from ailb_gen.sim.traffic.background import with_background
from ailb_gen.sim.traffic.builder import QueuePairs, TaskBuilder, TaskCounter
from ailb_gen.sim.traffic.connection_matrix import read_connection_matrix
from ailb_gen.sim.traffic.flowlist import read_flow_list
from ailb_gen.sim.traffic.placement import place
from ailb_gen.sim.traffic.scale_unit import Heavy, Mice, Mixed
from ailb_gen.sim.traffic.training import Training, repeat, train
from ailb_gen.sim.unloaded import host_rates
from ailb_gen.sim.workload import LeastTraffic, Workload, merged

Made = TypeVar("Made")
# A Poisson number is this many standard deviations below its mean once in 10^9 draws.
DEVIATIONS = 6


@dataclass(frozen=True, slots=True)
class EntryContext:
    """The context in which the traffic of an entry is made; `name` is that of its job."""

    fabric: FabricArrays
    seed: int
    folder: Path
    name: str


@dataclass(frozen=True, slots=True)
class TrafficRecipe:
    """Entries of a scenario's traffic; their files are below `folder`."""

    parts: tuple[TrafficPart, ...]
    folder: Path

    def least(self, fabric: FabricArrays, seed: int) -> list[LeastTraffic]:
        """Return the least of every entry, without making it. Raises UsageError, IntentError.

        Files of flows, background load and published workloads are no larger than their files and links; they count as
        nothing.
        """
        names = _names([part.kind for part in self.parts])
        found = []
        for number, part in enumerate(self.parts):
            context = EntryContext(fabric, seed + (number << 40), self.folder, names[number])
            count = LEAST.get(part.kind)
            found.append(_in_entry(number, part, partial(count, part.chosen, context)) if count else LeastTraffic(0))
        return found

    def build(self, fabric: FabricArrays, seed: int) -> Traffic:
        """Make the traffic. Raises UsageError, IntentError."""
        names = _names([part.kind for part in self.parts])
        made: dict[int, Traffic] = {}
        # Background load adds hosts of its own, which take part in nothing else.
        order = sorted(range(len(names)), key=lambda number: self.parts[number].kind == "background")
        for number in order:
            part = self.parts[number]
            # Entries of one kind must not draw the same numbers.
            context = EntryContext(fabric, seed + (number << 40), self.folder, names[number])
            made[number] = _in_entry(number, part, partial(MAKERS[part.kind], part.chosen, context))
            fabric = made[number].fabric or fabric
        found = [made[number] for number in range(len(names))]
        workloads = [_in_class(one.workload, part.chosen.priority) for one, part in zip(found, self.parts, strict=True)]
        workload = workloads[0] if len(found) == 1 else merged(_distinct(workloads, names))
        return Traffic(workload, {name: one for part in found for name, one in part.collectives.items()}, fabric)


def _in_entry(number: int, part: TrafficPart, make: Callable[[], Made]) -> Made:
    """Return the result for an entry; errors name it."""
    try:
        return make()
    except UsageError as error:
        raise UsageError(f"traffic[{number}].{part.kind}: {error}") from error


def _names(kinds: Sequence[str]) -> list[str]:
    """Return the names of entries: their kinds, numbered where there are several of one."""
    return [
        f"{kind} {kinds[:number].count(kind) + 1}" if kinds.count(kind) > 1 else kind
        for number, kind in enumerate(kinds)
    ]


def _in_class(workload: Workload, priority: int) -> Workload:
    """Return a workload in a data class; the first one needs no classes."""
    return replace(workload, priority=np.full(workload.count, priority, dtype=np.int32)) if priority else workload


def _distinct(workloads: Sequence[Workload], names: Sequence[str]) -> list[Workload]:
    """Return workloads whose labels differ: those that occur twice get the name of their entry."""
    every = [label for one in workloads for label in one.labels]
    return [
        replace(one, labels=tuple(f"{name}: {label}" if every.count(label) > 1 else label for label in one.labels))
        for one, name in zip(workloads, names, strict=True)
    ]


Describe = Callable[[Any, EntryContext, TaskBuilder], Mapping[str, Collective]]


def _queue_pairs(part: Connections, fabric: FabricArrays) -> QueuePairs:
    return QueuePairs(part.queue_pairs or addresses(fabric), part.split)


def _leaves(fabric: FabricArrays) -> Int32:
    """Return the switch at the first link of every host, shape (H,)."""
    found = np.full(fabric.host_count, -1, dtype=np.int32)
    ours = np.flatnonzero(fabric.link_source < fabric.host_count)[::-1]
    found[fabric.link_source[ours]] = fabric.link_target[ours]
    return found


def _delayed(workload: Workload, start_ps: int) -> Workload:
    """Return a job that begins at a time: the wait is not part of its first step."""
    return replace(workload, start_ps=np.maximum(workload.start_ps, np.int64(start_ps)))


def _describe_collective(part: CollectivePart, context: EntryContext, builder: TaskBuilder) -> Mapping[str, Collective]:
    """Append a collective; return it by the name of its job."""
    fabric = context.fabric
    ranks = ranks_of(part.hosts, context.fabric)
    # Permutations draw their pairs; options that a collective does not have must stay as they are.
    drawn = context.seed if part.kind == "permutation" else 0
    servers = per_server(part, fabric, ranks)
    options = CollectiveOptions(part.slices, part.at_once, servers, part.rounds, part.shift, drawn, pxn=part.pxn)
    name = context.name.replace("collective", part.kind)
    repeat(
        builder,
        name,
        part.kind,
        ranks,
        part.bytes,
        part.steps,
        options,
        part.algorithm,
        _queue_pairs(part, fabric),
        part.compute,
    )
    return {name: Collective(part.kind, len(ranks), part.bytes, part.compute)}


def _describe_training(part: TrainingPart, context: EntryContext, builder: TaskBuilder) -> Mapping[str, Collective]:
    """Append a training job; none of its collectives has a bandwidth of its own."""
    fabric = context.fabric
    hosts = ranks_of(part.hosts, context.fabric)
    given = values(part, Training) | {"options": CollectiveOptions(part.slices, stream=part.stream), "start_ps": 0}
    training = Training(**given | {"queue_pairs": _queue_pairs(part, fabric)})
    (placed,) = place([training.ranks], hosts, part.placement, context.seed, part.stride, part.block)
    train(builder, context.name, placed, training, servers_of(part, fabric, placed))
    return {}


def _job(describe: Describe, part: Any, context: EntryContext) -> Traffic:  # noqa: ANN401 - the part it describes
    builder = TaskBuilder(context.seed)
    collectives = describe(part, context, builder)
    return Traffic(_delayed(builder.finish(), part.start), collectives)


def _least_of_job(describe: Describe, part: Any, context: EntryContext) -> LeastTraffic:  # noqa: ANN401 - as above
    counter = TaskCounter()
    describe(part, context, counter)
    return counter.least()


def _flows(part: FlowsPart, context: EntryContext) -> Traffic:
    kind = part.format or ("cm" if part.file.removesuffix(".gz").endswith(".cm") else "flows")
    read = read_connection_matrix if kind == "cm" else read_flow_list
    return Traffic(read(context.folder / part.file, part.file, context.fabric.host_count, context.seed))


def _arrivals(part: ArrivalsPart, context: EntryContext) -> Traffic:
    sizes = read_size_distribution(context.folder / part.file, part.file, part.sizes)
    hosts = ranks_of(part.hosts, context.fabric)
    leaves = _leaves(context.fabric) if part.other_leaves else None
    rates = host_rates(context.fabric)[hosts]
    return Traffic(poisson(hosts, rates, part.load, sizes, part.duration, context.seed, leaves, part.sizes))


def _least_arrivals(part: ArrivalsPart, context: EntryContext) -> LeastTraffic:
    sizes = read_size_distribution(context.folder / part.file, part.file, part.sizes)
    rate = float(host_rates(context.fabric)[ranks_of(part.hosts, context.fabric)].sum())
    mean = part.load * rate / (8 * sizes.mean_bytes()) * part.duration / PS_PER_S
    count = max(0, int(mean - DEVIATIONS * math.sqrt(mean)))
    return LeastTraffic(count, count)


def _mice(part: MicePart, context: EntryContext) -> Traffic:
    hosts = ranks_of(part.hosts, context.fabric)
    leaves = _leaves(context.fabric) if part.other_leaves else None
    amount = np.full(part.count, part.bytes, dtype=np.int64)
    return Traffic(mice(hosts, amount, part.interval, context.seed, leaves, part.start))


def _background(part: BackgroundPart, context: EntryContext) -> Traffic:
    links = {link: None for pattern in part.links for link in links_of(context.fabric, pattern, "links")}
    found = with_background(context.fabric, list(links), part.load, part.duration, part.start, context.seed)
    return Traffic(found.workload, fabric=found.fabric)


def _scale_unit(part: ScaleUnitPart, context: EntryContext) -> Traffic:
    hosts = scale_unit.LEAVES * scale_unit.SERVERS_PER_LEAF
    if context.fabric.host_count != hosts:
        raise UsageError(f"these workloads are for {hosts} servers, and the fabric has {context.fabric.host_count}")
    small = Mice() if part.mice else None
    queue_pairs = QueuePairs(part.queue_pairs or addresses(context.fabric))
    if part.workload == "heavy":
        heavy = Heavy(mice=small) if part.steps is None else Heavy(steps=part.steps, mice=small)
        return Traffic(scale_unit.heavy(context.seed, part.scale, heavy, queue_pairs))
    mixed = Mixed(mice=small)
    if part.steps is not None:
        jobs = replace(mixed.tensor, steps=part.steps), replace(mixed.pipeline, steps=part.steps)
        mixed = replace(mixed, tensor=jobs[0], pipeline=jobs[1])
    return Traffic(scale_unit.mixed(context.seed, part.scale, mixed, queue_pairs))


MAKERS: Mapping[str, Callable[[Any, EntryContext], Traffic]] = {
    "collective": partial(_job, _describe_collective),
    "training": partial(_job, _describe_training),
    "flows": _flows,
    "arrivals": _arrivals,
    "mice": _mice,
    "background": _background,
    "scale_unit": _scale_unit,
}
LEAST: Mapping[str, Callable[[Any, EntryContext], LeastTraffic]] = {
    "collective": partial(_least_of_job, _describe_collective),
    "training": partial(_least_of_job, _describe_training),
    "arrivals": _least_arrivals,
    "mice": lambda part, context: LeastTraffic(part.count, part.count, part.bytes),
}
