"""Lower bounds of the traffic, from the numbers of a scenario: too much is refused before it is made.

Everything is a lower bound: what passes is made, and then its memory is estimated exactly.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from ailb_gen.sim.fabric import PS_PER_S, Fabric, Int64
from ailb_gen.sim.scenario.ranks import addresses, per_server, ranks_of, servers_of
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
from ailb_gen.sim.traffic.placement import place
from ailb_gen.sim.traffic.training import together
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
    options = Options(part.slices, part.at_once, per_server(part, fabric, ranks), part.rounds, pxn=part.pxn)
    count, size, at_once = messages_of(part.kind, len(ranks), part.bytes, options, part.algorithm)
    flows = _flows(part, fabric, size)
    return Least(part.steps * count * _tasks(flows), count * flows if at_once and size else 0, max(1, size // flows))


def _training(part: TrainingPart, fabric: Fabric, folder: Path) -> Least:
    hosts = ranks_of(part.hosts, fabric)
    ranks = part.data * part.tensor * part.pipeline
    if part.placement == "random" and len(set(servers_of(part, fabric, hosts).tolist())) < len(hosts):
        # Any ranks may share a server.
        return Least(0)
    (placed,) = place([ranks], hosts, part.placement, stride=part.stride, block=part.block)
    servers = servers_of(part, fabric, placed).reshape(part.pipeline, part.data, part.tensor)
    found = sum(_stage(part, fabric, stage) for stage in servers)
    apart = int(np.count_nonzero(servers[1:] != servers[:-1]))
    messages = apart * _tasks(_flows(part, fabric, part.activation_bytes)) + servers[1:].size - apart
    found += messages * 2 * part.microbatches * (part.activation_bytes > 0)
    return Least(part.steps * found)


def _stage(part: TrainingPart, fabric: Fabric, servers: Int64) -> int:
    """Return the least tasks of a pipeline stage in one step; servers of shape (data, tensor)."""

    def tasks(kind: str, groups: Int64, size: int, algorithm: str | None) -> int:
        """Return the tasks of a collective in one group."""
        options = Options(part.slices, per_server=together(groups), stream=part.stream)
        count, each, _ = messages_of(kind, groups.shape[1], size, options, algorithm) if size else (0, 0, False)
        return count * _tasks(_flows(part, fabric, each))

    passes = 2 * part.microbatches
    tensor = part.tensor_collectives * tasks("all-reduce", servers, part.tensor_bytes, part.algorithm)
    kinds = (
        {"all-reduce": part.algorithm}
        if part.gradients == "all-reduce"
        else {"reduce-scatter": None, "all-gather": None}
    )
    size = part.gradient_bytes // part.gradient_buckets
    gradients = sum(tasks(kind, servers.T, size, algorithm) for kind, algorithm in kinds.items())
    return passes * part.data * (1 + tensor) + part.gradient_buckets * part.tensor * gradients


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
