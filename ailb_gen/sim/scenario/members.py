"""Hosts and links of a fabric by the names of a scenario, the ranks of its jobs, and which of them share a server."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from fnmatch import fnmatchcase

import numpy as np

from ailb_gen.errors import UsageError
from ailb_gen.sim.fabric import FabricArrays, Int32, Int64
from ailb_gen.sim.scenario.traffic import CollectivePart, TrainingPart
from ailb_gen.wording import did_you_mean


def links_of(fabric: FabricArrays, pattern: str, what: str) -> list[int]:
    """Return the directed links whose names match a name or glob. Raises UsageError."""
    return _matching(fabric.link_names, pattern, what, "link")


def hosts_of(fabric: FabricArrays, patterns: tuple[str, ...], what: str) -> list[int]:
    """Return the hosts that names and globs say, in their order, each once; all without any. Raises UsageError."""
    names = fabric.names[: fabric.host_count]
    if not patterns:
        return list(range(len(names)))
    return list(dict.fromkeys(number for pattern in patterns for number in _matching(names, pattern, what, "host")))


def _matching(names: Sequence[str], pattern: str, what: str, kind: str) -> list[int]:
    found = [number for number, name in enumerate(names) if fnmatchcase(name, pattern)]
    if not found:
        known = f"names are such as {names[0]!r}" if names else f"the fabric has no {kind}s"
        raise UsageError(f"{what}: no {kind} is called {pattern!r}; {did_you_mean(pattern, names) or known}")
    return found


def ranks_of(patterns: tuple[str, ...], fabric: FabricArrays) -> Int32:
    """Return the hosts that a job's `hosts` say, in the order of its ranks. Raises UsageError."""
    return np.array(hosts_of(fabric, patterns, "hosts"), dtype=np.int32)


def per_server(part: CollectivePart, fabric: FabricArrays, ranks: Int32) -> int:
    """Return how many ranks in a row are GPUs of one server: as the scenario says, else as the names of hosts do."""
    if part.per_server is not None:
        return part.per_server
    return 1 if part.kind in ("incast", "permutation") else _together(fabric, ranks.tolist())


def servers_of(part: TrainingPart, fabric: FabricArrays, placed: Int32) -> Int64:
    """Return the numbers of the servers of ranks: as the scenario says, else as the names of hosts do."""
    if part.per_server is not None:
        return np.arange(len(placed), dtype=np.int64) // part.per_server
    names = [fabric.names[host].partition(":")[0] for host in placed.tolist()]
    numbers = {name: number for number, name in enumerate(dict.fromkeys(names))}
    return np.array([numbers[name] for name in names], dtype=np.int64)


def _together(fabric: FabricArrays, ranks: Sequence[int]) -> int:
    """Return how many ranks in a row are NICs of one server (`SERVER:NIC`), if it is the same number everywhere."""
    servers = [fabric.names[rank].partition(":")[0] for rank in ranks]
    counts = Counter(servers)
    together = [name for name, count in counts.items() for _ in range(count)] == servers
    return next(iter(counts.values())) if together and len(set(counts.values())) == 1 else 1


def addresses(fabric: FabricArrays) -> int:
    """Return how many addresses hosts have, the most that all of them have."""
    return max(1, int(min(np.diff(fabric.first_destination), default=1)))
