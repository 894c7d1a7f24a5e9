"""Flows that arrive on their own: Poisson arrivals with sizes from a distribution, and mice at a fixed interval."""

import json
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from ailb_gen.errors import UsageError
from ailb_gen.sim.fabric import PS_PER_S, Float64, Int32, Int64
from ailb_gen.sim.traffic.builder import FIRST_PORT, PORTS, Numbers, TaskBuilder, mixed, stream
from ailb_gen.sim.workload import Workload
from ailb_gen.textio import parse_json, read_text, text_problem
from ailb_gen.wording import did_you_mean


@dataclass(frozen=True, slots=True)
class SizeDistribution:
    """A cumulative distribution of flow sizes, linear between its points: bytes and percent rise, up to 100 %."""

    name: str
    size_bytes: Float64
    percent: Float64

    def mean_bytes(self) -> float:
        """Return the mean size."""
        middle = (self.size_bytes[1:] + self.size_bytes[:-1]) / 2
        return float((middle * np.diff(self.percent)).sum() / 100)

    def draw(self, count: int, generator: np.random.Generator) -> Int64:
        """Return `count` sizes of at least 1 byte."""
        drawn = np.interp(generator.random(count) * 100, self.percent, self.size_bytes)
        return np.maximum(np.rint(drawn), 1).astype(np.int64)


def size_distribution(name: str, points: object) -> SizeDistribution:
    """Return the distribution of points [[bytes, percent], ...]; raises UsageError if they are none."""
    try:
        table = np.asarray(points, dtype=np.float64)
    except (TypeError, ValueError):
        table = np.empty(0)
    if table.ndim != 2 or table.shape[1] != 2 or len(table) < 2:
        raise UsageError(f"the flow sizes {name!r} must be two or more pairs of bytes and percent")
    size_bytes, percent = table[:, 0], table[:, 1]
    if percent[0] != 0 or percent[-1] != 100 or size_bytes[0] < 0 or not np.isfinite(table).all():
        raise UsageError(f"the flow sizes {name!r} must begin at 0 % with 0 bytes or more, and end at 100 %")
    if (np.diff(table, axis=0) < 0).any() or size_bytes[-1] < 1:
        raise UsageError(f"the flow sizes {name!r} must increase from point to point, in bytes and in percent")
    return SizeDistribution(name, size_bytes, percent)


def read_size_distribution(path: Path, file: str, name: str) -> SizeDistribution:
    """Read the distribution `name` from a JSON file of several, {name: [[bytes, percent], ...]}.

    Raises IntentError if the file cannot be read, UsageError if it has no such distribution.
    """
    try:
        tables = parse_json(read_text(path, file))
    except (ValueError, RecursionError) as error:
        line = error.lineno if isinstance(error, json.JSONDecodeError) else 1
        raise text_problem(file, "unreadable", f"the file is not JSON: {error}", line) from error
    if not isinstance(tables, dict) or name not in tables:
        known = list(tables) if isinstance(tables, dict) else []
        hint = did_you_mean(name, known) or f"known: {', '.join(known) or 'none'}"
        raise UsageError(f"{file} has no flow sizes {name!r}; {hint}")
    return size_distribution(name, tables[name])


def other_hosts(source: Int32, hosts: Int32, leaf_of_host: Int32 | None, generator: np.random.Generator) -> Int32:
    """Return for every flow a destination: uniform among the hosts but its source, or among those of other leaves.

    `leaf_of_host`, shape (H,), is the leaf of every host of the fabric; None allows all destinations. Raises
    UsageError if a source has no possible destination.
    """
    group = np.arange(int(hosts.max()) + 1) if leaf_of_host is None else leaf_of_host
    order = hosts[np.argsort(group[hosts], kind="stable")]
    sorted_groups = group[order]
    first = np.searchsorted(sorted_groups, group[source], side="left")
    last = np.searchsorted(sorted_groups, group[source], side="right")
    others = len(order) - (last - first)
    if (others == 0).any():
        where = "another host" if leaf_of_host is None else "a host of another leaf"
        raise UsageError(f"there is no destination for background flows: they need {where}")
    drawn = generator.integers(0, others)
    return order[np.where(drawn < first, drawn, drawn + last - first)].astype(np.int32)


def poisson(
    hosts: Int32,
    rate_bps: Numbers,
    load: float,
    sizes: SizeDistribution,
    duration_ps: int,
    seed: int,
    leaf_of_host: Int32 | None = None,
    label: str = "poisson",
) -> Workload:
    """Return Poisson arrivals at every host: flows offer `load` of its rate, sizes are drawn, destinations are uniform.

    `hosts` shape (h,), `rate_bps` a number or one per host; each flow has a queue pair of its own.
    """
    generator = stream(seed, label)
    per_second = load * np.broadcast_to(np.asarray(rate_bps, dtype=np.float64), hosts.shape) / (8 * sizes.mean_bytes())
    # Given their number, Poisson arrivals are uniform in time.
    counts = generator.poisson(per_second * duration_ps / PS_PER_S)
    source = np.repeat(hosts, counts)
    start = generator.integers(0, duration_ps, len(source))
    amount = sizes.draw(len(source), generator)
    target = other_hosts(source, hosts, leaf_of_host, generator)
    order = np.lexsort((source, start))
    return flows(source[order], target[order], amount[order], start[order], seed, label)


def mice(
    hosts: Int32,
    amount: Int64,
    interval_ps: int,
    seed: int,
    leaf_of_host: Int32 | None = None,
    first_ps: int = 0,
    label: str = "mice",
) -> Workload:
    """Return flows of `amount` bytes, shape (m,), one every `interval_ps`, between uniformly drawn hosts."""
    generator = stream(seed, label)
    source = generator.choice(hosts, len(amount)).astype(np.int32)
    target = other_hosts(source, hosts, leaf_of_host, generator)
    start = first_ps + np.arange(len(amount), dtype=np.int64) * interval_ps
    return flows(source, target, amount, start, seed, label)


def flows(
    source: npt.NDArray[np.integer],
    target: npt.NDArray[np.integer],
    amount: Int64,
    start_ps: Int64,
    seed: int,
    label: str,
) -> Workload:
    """Return flows that depend on nothing, each with a queue pair of its own."""
    builder = TaskBuilder(seed)
    builder.flows(source, target, amount, random_ports(len(source), seed), start_ps, label)
    return builder.finish()


def random_ports(count: int, seed: int) -> Int32:
    """Return the UDP source ports of `count` queue pairs."""
    return FIRST_PORT + (mixed(seed % 2**63, np.arange(count)) % np.uint64(PORTS)).astype(np.int32)
