"""The traffic of a scenario, made for a fabric and a seed."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from ailb_gen.errors import UsageError
from ailb_gen.sim.fabric import Fabric
from ailb_gen.sim.point import Traffic
from ailb_gen.sim.scenario.convert import hosts_of
from ailb_gen.sim.scenario.traffic import CollectivePart, TrafficPart
from ailb_gen.sim.statistics import Collective
from ailb_gen.sim.traffic.builder import NOTHING, Builder, QueuePairs
from ailb_gen.sim.traffic.collectives import append
from ailb_gen.sim.traffic.options import Options
from ailb_gen.sim.workload import Workload, merged


@dataclass(frozen=True, slots=True)
class Context:
    """What the traffic of an entry is made for: `what` names the entry in messages."""

    fabric: Fabric
    seed: int
    folder: Path
    what: str
    name: str


@dataclass(frozen=True, slots=True)
class TrafficRecipe:
    """Entries of a scenario's traffic; their files are below `folder`."""

    parts: tuple[TrafficPart, ...]
    folder: Path

    def build(self, fabric: Fabric, seed: int) -> Traffic:
        """Make the traffic. Raises UsageError, IntentError."""
        names = _names([part.kind for part in self.parts])
        found: list[Traffic] = []
        for number, (part, name) in enumerate(zip(self.parts, names, strict=True)):
            # Entries of one kind must not draw the same numbers.
            context = Context(fabric, seed + (number << 32), self.folder, f"traffic[{number}].{part.kind}", name)
            try:
                found.append(MAKERS[part.kind](part.chosen, context))
            except UsageError as error:
                raise UsageError(f"{context.what}: {error}") from error
        workload = found[0].workload if len(found) == 1 else merged(_distinct([one.workload for one in found], names))
        return Traffic(workload, {name: one for part in found for name, one in part.collectives.items()})


def _names(kinds: Sequence[str]) -> list[str]:
    """Return the names of entries: their kinds, numbered where there are several of one."""
    return [
        f"{kind} {kinds[:number].count(kind) + 1}" if kinds.count(kind) > 1 else kind
        for number, kind in enumerate(kinds)
    ]


def _distinct(workloads: Sequence[Workload], names: Sequence[str]) -> list[Workload]:
    """Return workloads whose labels differ: those that occur twice get the name of their entry."""
    every = [label for one in workloads for label in one.labels]
    return [
        replace(one, labels=tuple(f"{name}: {label}" if every.count(label) > 1 else label for label in one.labels))
        for one, name in zip(workloads, names, strict=True)
    ]


def _per_server(fabric: Fabric, ranks: Sequence[int]) -> int:
    """Return how many ranks in a row are NICs of one server (`SERVER:NIC`), if it is the same number everywhere."""
    servers = [fabric.names[rank].partition(":")[0] for rank in ranks]
    counts = {name: servers.count(name) for name in dict.fromkeys(servers)}
    together = [name for name, count in counts.items() for _ in range(count)] == servers
    return next(iter(counts.values())) if together and len(set(counts.values())) == 1 and len(counts) > 1 else 1


def _addresses(fabric: Fabric) -> int:
    """Return how many addresses hosts have, the most that all of them have."""
    return max(1, int(np.diff(fabric.first_destination).min(initial=1)))


def _collective(part: CollectivePart, context: Context) -> Traffic:
    fabric = context.fabric
    ranks = hosts_of(fabric, part.hosts, "hosts")
    if part.per_server is None:
        alone = part.kind in ("incast", "permutation")
        per_server = 1 if alone else _per_server(fabric, ranks)
    else:
        per_server = part.per_server
    pairs = QueuePairs(part.queue_pairs or _addresses(fabric), part.split)
    builder = Builder(context.seed)
    name = part.kind if context.name == "collective" else context.name.replace("collective", part.kind)
    job = builder.job(name, pairs)
    drawn = context.seed if part.kind == "permutation" else 0
    options = Options(part.slices, part.at_once, per_server, part.rounds, part.shift, drawn)
    end = NOTHING
    for _ in range(part.steps):
        if part.compute:
            end = int(builder.computations(1, part.compute, end, job)[0])
        end = int(append(builder, job, part.kind, np.array(ranks), part.bytes, options, part.algorithm, end)[0])
        builder.step(job, end)
    return Traffic(builder.finish(), {name: Collective(part.kind, len(ranks), part.bytes)})


MAKERS: Mapping[str, Callable[[Any, Context], Traffic]] = {"collective": _collective}
