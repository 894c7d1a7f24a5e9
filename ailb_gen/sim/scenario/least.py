"""What traffic has at least, from the numbers of a scenario: too much of it is refused before it is made.

Everything is a lower bound: what passes is made, and then its memory is estimated exactly.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from ailb_gen.sim.fabric import PS_PER_S, Fabric
from ailb_gen.sim.scenario.ranks import addresses, per_server, ranks_of
from ailb_gen.sim.scenario.traffic import (
    ArrivalsPart,
    CollectivePart,
    Connections,
    MicePart,
    TrainingPart,
)
from ailb_gen.sim.traffic.arrivals import read_size_distribution
from ailb_gen.sim.traffic.collectives import messages_of
from ailb_gen.sim.traffic.options import Options
from ailb_gen.sim.unloaded import host_rates
from ailb_gen.sim.workload import Least
from ailb_gen.validation import Model

# A Poisson number is smaller than its mean by so many standard deviations once in 10^9.
DEVIATIONS = 6


def least(part: Model, fabric: Fabric, folder: Path) -> Least:
    """Return what an entry of the traffic has at least. Raises UsageError, IntentError.

    Files of flows, background load and published workloads are no larger than their files and links; they count as
    nothing.
    """
    counted = COUNTED.get(type(part))
    return counted(part, fabric, folder) if counted else Least(0)


def _collective(part: CollectivePart, fabric: Fabric, folder: Path) -> Least:
    ranks = ranks_of(part.hosts, fabric)
    options = Options(part.slices, part.at_once, per_server(part, fabric, ranks), part.rounds)
    count, size, at_once = messages_of(part.kind, len(ranks), part.bytes, options, part.algorithm)
    flows = _flows(part, fabric, size)
    return Least(part.steps * count * _tasks(flows), count * flows if at_once and size else 0, max(1, size // flows))


def _training(part: TrainingPart, fabric: Fabric, folder: Path) -> Least:
    options = Options(part.slices, per_server=part.per_server or 1)

    def tasks(kind: str, ranks: int, size: int, algorithm: str | None) -> int:
        """Return the tasks of a collective in one group."""
        count, each, _ = messages_of(kind, ranks, size, options, algorithm) if ranks > 1 and size else (0, 0, False)
        return count * _tasks(_flows(part, fabric, each))

    # By step and stage.
    passes = 2 * part.microbatches
    tensor = part.tensor_collectives * tasks("all-reduce", part.tensor, part.tensor_bytes, part.algorithm)
    kinds = (
        {"all-reduce": part.algorithm}
        if part.gradients == "all-reduce"
        else {"reduce-scatter": None, "all-gather": None}
    )
    size = part.gradient_bytes // part.gradient_buckets
    gradients = sum(tasks(kind, part.data, size, algorithm) for kind, algorithm in kinds.items())
    found = passes * part.data * (1 + tensor) + part.gradient_buckets * part.tensor * gradients
    between = part.data * part.tensor * _tasks(_flows(part, fabric, part.activation_bytes))
    between *= passes * (part.pipeline - 1) * (part.activation_bytes > 0)
    return Least(part.steps * (part.pipeline * found + between))


def _flows(part: Connections, fabric: Fabric, size: int) -> int:
    """Return how many flows a message of a size is."""
    pairs = part.queue_pairs or addresses(fabric)
    return min(pairs, max(size, 1)) if part.split == "split" else 1


def _tasks(flows: int) -> int:
    """Return how many tasks a message is: several flows have a common end."""
    return flows + (flows > 1)


def _arrivals(part: ArrivalsPart, fabric: Fabric, folder: Path) -> Least:
    sizes = read_size_distribution(folder / part.file, part.file, part.sizes)
    rate = float(host_rates(fabric)[ranks_of(part.hosts, fabric)].sum())
    mean = part.load * rate / (8 * sizes.mean_bytes()) * part.duration / PS_PER_S
    count = max(0, int(mean - DEVIATIONS * math.sqrt(mean)))
    return Least(count, count)


def _mice(part: MicePart, fabric: Fabric, folder: Path) -> Least:
    return Least(part.count, part.count, part.bytes)


COUNTED: Mapping[type[Model], Callable[[Any, Fabric, Path], Least]] = {
    CollectivePart: _collective,
    TrainingPart: _training,
    ArrivalsPart: _arrivals,
    MicePart: _mice,
}
