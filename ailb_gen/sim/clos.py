"""Leaf-spine fabrics by numbers, as those of published scenarios, and their routes after failures; no files."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product

import numpy as np
import numpy.typing as npt

from ailb_gen.sim.fabric import (
    HOST,
    LEAF,
    LOCAL,
    PS_PER_US,
    SPINE,
    UNREACHABLE,
    FabricArrays,
    Forwarding,
    Int32,
    Int64,
    NextHopSets,
)
from ailb_gen.sim.failures import Broken, Outage, scheduled

Mask = npt.NDArray[np.bool_]


def clos(
    leaves: int,
    spines: int,
    hosts_per_leaf: int,
    *,
    host_bps: int,
    uplink_bps: int | Sequence[int],
    host_links: int = 1,
    leaf_spine_links: int = 1,
    delay_ps: int = PS_PER_US,
    uplink_delay_ps: int | None = None,
    colors: int = 0,
    addresses: int = 1,
) -> FabricArrays:
    """Build a fabric in which every leaf has `leaf_spine_links` parallel links to every spine.

    `host_bps` is the rate of each of a host's `host_links` links, `uplink_bps` that of each link between leaf and
    spine, one number or one per spine. Every link has `delay_ps`, those between leaf and spine `uplink_delay_ps` if
    given. Next hops are in this order: a host's links; a leaf's uplinks by spine, then by number; a spine's links to
    the destination's leaf by number. With `colors` every host has as many destinations, and leaves send to the one of
    color c over spine c (modulo `spines`) alone; without, `addresses` destinations, which are reached over all spines.
    Hosts are numbered by leaf. All counts and rates are at least 1.
    """
    hosts, pairs, width = leaves * hosts_per_leaf, leaves * spines, colors or addresses
    access, uplinks = 2 * hosts * host_links, 2 * pairs * leaf_spine_links
    rates = np.broadcast_to(np.array(uplink_bps, dtype=np.int64), spines)
    counts = (("host", hosts), ("leaf", leaves), ("spine", spines))
    names = tuple(f"{word}{number}" for word, count in counts for number in range(1, count + 1))
    source, target, reverse = _links(leaves, spines, hosts_per_leaf, host_links, leaf_spine_links)
    # A leaf's uplinks are one set, with colors one for every spine; they are in order already.
    of_leaves = (pairs, leaf_spine_links) if colors else (leaves, leaf_spine_links * spines)
    sizes = np.repeat([host_links, of_leaves[1], leaf_spine_links], [2 * hosts, of_leaves[0], pairs])
    numbers = [*_numbers(access, host_links), *_numbers(uplinks, leaf_spine_links)]
    ends = zip(source.tolist(), target.tolist(), numbers, strict=True)
    up, down = np.tile(np.repeat(rates, leaf_spine_links), leaves), np.repeat(rates, leaves * leaf_spine_links)
    kind, prefixes = "color" if colors else "address", product(range(1, leaves + 1), range(1, width + 1))
    delays = np.array([delay_ps, delay_ps if uplink_delay_ps is None else uplink_delay_ps], dtype=np.int64)
    return FabricArrays(
        names=names,
        host_count=hosts,
        tier=np.repeat(np.array([HOST, LEAF, SPINE], dtype=np.int32), [hosts, leaves, spines]),
        link_names=tuple(f"{names[a]}:{names[b]}{number}" for a, b, number in ends),
        link_source=source,
        link_target=target,
        link_reverse=reverse,
        rate_bps=np.concatenate([np.full(access, host_bps, dtype=np.int64), up, down]),
        delay_ps=np.repeat(delays, [access, uplinks]),
        first_destination=(np.arange(hosts + 1) * width).astype(np.int32),
        destination_prefix=np.arange(leaves * width, dtype=np.int32)
        .reshape(leaves, width)
        .repeat(hosts_per_leaf, axis=0)
        .ravel(),
        host_set=np.arange(hosts, dtype=np.int32),
        delivery_set=np.repeat(np.arange(hosts, 2 * hosts, dtype=np.int32), width),
        set_first=np.cumsum([0, *sizes.tolist()]).astype(np.int32),
        set_links=np.arange(access + uplinks, dtype=np.int32),
        forwarding=(Forwarding(0, _next_hops(leaves, spines, 2 * hosts, width, colors > 0)),),
        prefix_names=tuple(f"leaf{leaf} {kind} {number}" if width > 1 else f"leaf{leaf}" for leaf, number in prefixes),
    )


def _numbers(count: int, parallel: int) -> Iterator[str]:
    """Yield the ends of the names of `count` links: a number from 0 on where several are parallel."""
    return (f"/{link % parallel}" if parallel > 1 else "" for link in range(count))


def _links(leaves: int, spines: int, per_leaf: int, host_links: int, leaf_spine_links: int) -> tuple[Int32, ...]:
    """Return sources, targets and reverses of all links: from hosts, to hosts, from leaves, from spines."""
    hosts = leaves * per_leaf
    host = np.repeat(np.arange(hosts), host_links)
    own = hosts + host // per_leaf
    leaf = hosts + np.repeat(np.arange(leaves), spines * leaf_spine_links)
    spine = hosts + leaves + np.tile(np.repeat(np.arange(spines), leaf_spine_links), leaves)
    # Links from spines are numbered by spine, so that those of one next-hop set follow each other in both directions.
    down = np.arange(len(leaf)).reshape(leaves, spines, leaf_spine_links).transpose(1, 0, 2).ravel()
    access, first = np.arange(len(host)), 2 * len(host)
    found = (
        (host, own, leaf, spine[down]),
        (own, host, spine, leaf[down]),
        (access + len(host), access, first + len(leaf) + np.argsort(down), first + down),
    )
    return tuple(np.concatenate(parts).astype(np.int32) for parts in found)


def _next_hops(leaves: int, spines: int, first: int, width: int, pinned: bool) -> Int32:
    """Return the next-hop sets of leaves, then spines; `first` is the first set of a leaf."""
    owner = np.repeat(np.arange(leaves), width)
    up: Int64 = np.arange(leaves)[:, None]
    if pinned:
        up = up * spines + np.tile(np.arange(width) % spines, leaves)
    up = np.where(owner == np.arange(leaves)[:, None], LOCAL, first + up)
    behind = first + leaves * (spines if pinned else 1)
    down = behind + np.arange(spines)[:, None] * leaves + owner
    return np.vstack([up, down]).astype(np.int32)


def with_outages(fabric: FabricArrays, outages: Sequence[Outage]) -> FabricArrays:
    """Return a fabric of `clos` in which links and switches fail and come back, and all switches route around them.

    A switch that lost its route to a prefix is avoided by all others. A leaf that lost the path of a color takes all
    that are left, as with `backup-color all-colors`. Raises UsageError.
    """
    sets = NextHopSets(fabric)
    return scheduled(fabric, outages, sets, lambda broken: _Convergence(fabric, sets, broken).run())


class _Convergence:
    """Finds the next-hop sets of a fabric while links and switches are broken, shape (switches, prefixes).

    Of every set those links stay that are up and lead to a switch from which the prefix is reached; a leaf that has
    none left takes all its uplinks that are. New sets are added to `sets`.
    """

    def __init__(self, fabric: FabricArrays, sets: NextHopSets, broken: Broken) -> None:
        self.fabric, self.sets = fabric, sets
        self.up = np.ones(fabric.link_count, dtype=bool)
        self.up[list(broken.links)] = False
        self.next_hops = fabric.forwarding[0].next_hops
        tiers = fabric.tier
        upward = (tiers[fabric.link_source] == LEAF) & (tiers[fabric.link_target] == SPINE)
        self.uplinks = np.flatnonzero(upward & self.up)
        self.uplinks_of = {
            node: self.uplinks[fabric.link_source[self.uplinks] == node].astype(np.int32)
            for node in np.flatnonzero(tiers == LEAF).tolist()
        }
        # The numbers of new sets by their links.
        self.known: dict[bytes, int] = {}

    def run(self) -> Int32:
        found = self.next_hops.copy()
        for prefix in range(found.shape[1]):
            self._route(found[:, prefix])
        return found

    def _route(self, row: Int32) -> None:
        """Correct the next-hop sets of all switches for one prefix."""
        fabric = self.fabric
        # Hosts reach nothing for others.
        reached = np.concatenate([np.zeros(fabric.host_count, dtype=bool), row == LOCAL])
        usable = self._usable(reached)
        while True:
            left = self._left(usable)
            able = (row == LOCAL) | ((row >= 0) & ((left[row] > 0) | self._rescued(usable)))
            if (able == reached[fabric.host_count :]).all():
                break
            reached[fabric.host_count :] = able
            usable = self._usable(reached)
        sizes = np.diff(fabric.set_first)
        for at in np.flatnonzero((row >= 0) & (left[row] < sizes[row])).tolist():
            row[at] = self._reduced(int(row[at]), at + fabric.host_count, usable)

    def _usable(self, reached: Mask) -> Mask:
        """Return the links that are up and lead to where the prefix is reached."""
        found: Mask = self.up & reached[self.fabric.link_target]
        return found

    def _left(self, usable: Mask) -> Int32:
        """Return how many links of every set are usable."""
        counts = np.concatenate([[0], np.cumsum(usable[self.fabric.set_links])])
        found: Int32 = np.diff(counts[self.fabric.set_first]).astype(np.int32)
        return found

    def _rescued(self, usable: Mask) -> Mask:
        """Return the switches that have any usable uplink."""
        found = np.zeros(len(self.fabric.names), dtype=bool)
        found[self.fabric.link_source[self.uplinks[usable[self.uplinks]]]] = True
        return found[self.fabric.host_count :]

    def _reduced(self, number: int, node: int, usable: Mask) -> int:
        """Return the set of what is usable of a set, else of the uplinks of the switch that it belongs to."""
        first = self.fabric.set_first
        links = self.fabric.set_links[first[number] : first[number + 1]]
        kept = links[usable[links]]
        if not len(kept):
            own = self.uplinks_of.get(node, kept)
            kept = own[usable[own]]
        key = kept.tobytes()
        if key not in self.known:
            self.known[key] = self.sets.add(kept[None, :]) if len(kept) else UNREACHABLE
        return self.known[key]
