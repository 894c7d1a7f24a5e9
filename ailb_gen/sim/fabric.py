"""The fabric as arrays: nodes, directed links and next hops, without any knowledge of Junos or prefixes.

Nodes are numbered, hosts first, then switches. A host is what has one set of links of its own and sends and receives:
a NIC of a GPU server, or a whole server in published scenarios. Every host has one or more destinations: addresses,
one per queue pair, which the fabric may route differently. Destinations of one prefix have the same routes everywhere
but at the switch that they are attached to.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

Int32 = npt.NDArray[np.int32]
Int64 = npt.NDArray[np.int64]
Float64 = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]

# In place of a next-hop set: packets are dropped; packets go to the destination's own `delivery_set`.
UNREACHABLE, LOCAL = -1, -2
HOST, LEAF, SPINE = 0, 1, 2
PS_PER_S = 10**12
PS_PER_US = 10**6


@dataclass(frozen=True, slots=True)
class Forwarding:
    """The FIBs of all switches from a time on.

    `next_hops` has shape (switches, prefixes): the index of a next-hop set, UNREACHABLE, or LOCAL.
    """

    at_ps: int
    next_hops: Int32


@dataclass(frozen=True, slots=True)
class Degradation:
    """A link that carries less than it could: `rate` is the share that is left, `delay_ps` is added, `loss` random."""

    rate: float = 1.0
    delay_ps: int = 0
    loss: float = 0.0

    def __or__(self, other: Degradation) -> Degradation:
        lost = 1.0 - (1.0 - self.loss) * (1.0 - other.loss)
        return Degradation(self.rate * other.rate, self.delay_ps + other.delay_ps, lost)


@dataclass(frozen=True, slots=True)
class LinkChange:
    """The state of a directed link from a time on; packets on it when it goes down, and sent meanwhile, are lost."""

    at_ps: int
    link: int
    up: bool
    degraded: Degradation = Degradation()


@dataclass(frozen=True, slots=True)
class FabricArrays:
    """A fabric of H hosts, S switches, L directed links, D destinations, P prefixes and K next-hop sets.

    Links of next-hop sets are in the order of the FIB, which is the order in which hashing counts them.
    """

    names: tuple[str, ...]  # (H + S,) of nodes
    host_count: int  # H
    tier: Int32  # (H + S,) HOST, LEAF, SPINE
    link_names: tuple[str, ...]  # (L,) the sending port, "leaf1:et-0/0/3"
    link_source: Int32  # (L,) nodes
    link_target: Int32  # (L,)
    link_reverse: Int32  # (L,) the link of the same cable in the other direction
    rate_bps: Int64  # (L,)
    delay_ps: Int64  # (L,)
    first_destination: (
        Int32  # (H + 1,) destinations of host h are first_destination[h] ... first_destination[h + 1] - 1
    )
    destination_prefix: Int32  # (D,)
    # The next-hop set of a host's own links, and, at the switch that a destination is attached to, of the links to
    # it; or UNREACHABLE.
    host_set: Int32  # (H,)
    delivery_set: Int32  # (D,)
    set_first: Int32  # (K + 1,) the links of set k are set_links[set_first[k] : set_first[k + 1]]
    set_links: Int32
    # The first one holds from time 0 on; at_ps increases.
    forwarding: tuple[Forwarding, ...]
    changes: tuple[LinkChange, ...] = ()
    prefix_names: tuple[str, ...] = field(default=())  # (P,) for messages
    # Hosts that take no part in jobs unless they are named: NICs of servers without GPUs.
    without_gpus: frozenset[int] = field(default=frozenset(), compare=False)

    @property
    def switch_count(self) -> int:
        """The number of switches, S."""
        return len(self.names) - self.host_count

    @property
    def link_count(self) -> int:
        """The number of directed links, L."""
        return len(self.link_source)

    def destination_hosts(self) -> Int32:
        """Return the host of every destination, shape (D,)."""
        counts = np.diff(self.first_destination)
        return np.repeat(np.arange(self.host_count, dtype=np.int32), counts)

    def host_switches(self) -> Int32:
        """Return the switch at the first link of every host, -1 without one, shape (H,)."""
        found = np.full(self.host_count, -1, dtype=np.int32)
        own = np.flatnonzero(self.link_source < self.host_count)[::-1]
        found[self.link_source[own]] = self.link_target[own]
        return found

    def leaf_numbers(self) -> Int32:
        """Return the number of every leaf among the leaves, -1 for other nodes, shape (H + S,)."""
        is_leaf = self.tier == LEAF
        return np.where(is_leaf, np.cumsum(is_leaf) - 1, -1).astype(np.int32)

    def uplink_numbers(self) -> Int32:
        """Return the number of every link among the links of its leaf to switches, -1 for other links, shape (L,)."""
        result = np.full(self.link_count, -1, np.int32)
        uplinks = np.flatnonzero((self.tier[self.link_source] == LEAF) & (self.link_target >= self.host_count))
        order = uplinks[np.argsort(self.link_source[uplinks], kind="stable")]
        _, first, counts = np.unique(self.link_source[order], return_index=True, return_counts=True)
        result[order] = np.arange(len(order)) - np.repeat(first, counts)
        return result


class NextHopSets:
    """Sets of links, numbered in the order in which they are added."""

    def __init__(self, fabric: FabricArrays | None = None) -> None:
        self._links: list[Int32] = [fabric.set_links] if fabric is not None else []
        self._sizes: list[Int32] = [np.diff(fabric.set_first).astype(np.int32)] if fabric is not None else []
        self.count = len(fabric.set_first) - 1 if fabric is not None else 0

    def add(self, rows: Int32) -> int:
        """Add a set for every row of links, all of one size; returns the number of the first."""
        first = self.count
        self._links.append(rows.ravel())
        self._sizes.append(np.full(len(rows), rows.shape[1], dtype=np.int32))
        self.count += len(rows)
        return first

    def arrays(self) -> tuple[Int32, Int32]:
        """Return `set_first` and `set_links` of a Fabric."""
        sizes = np.concatenate([np.zeros(1, dtype=np.int32), *self._sizes])
        links = np.concatenate([np.zeros(0, dtype=np.int32), *self._links])
        return np.cumsum(sizes).astype(np.int32), links.astype(np.int32)
