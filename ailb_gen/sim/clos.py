"""Leaf-spine fabrics by numbers: those of published scenarios, without files."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import product

import numpy as np

from ailb_gen.errors import UsageError
from ailb_gen.sim.fabric import HOST, LEAF, LOCAL, PS_PER_US, SPINE, FabricArrays, Forwarding, Int32, Int64


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
    Hosts are numbered by leaf. Raises UsageError.
    """
    rates = _uplink_rates(uplink_bps, spines)
    uplink_delay = delay_ps if uplink_delay_ps is None else uplink_delay_ps
    _check(
        {
            "leaves": leaves,
            "spines": spines,
            "hosts_per_leaf": hosts_per_leaf,
            "host_links": host_links,
            "leaf_spine_links": leaf_spine_links,
            "host_bps": host_bps,
            "uplink_bps": min(rates),
            "addresses": addresses,
        },
        {"delay_ps": delay_ps, "uplink_delay_ps": uplink_delay, "colors": colors},
    )
    hosts, tiers, width = leaves * hosts_per_leaf, leaves * spines, colors or addresses
    names = _names(leaves, spines, hosts)
    source, target, reverse = _links(leaves, spines, hosts_per_leaf, host_links, leaf_spine_links)
    access, uplinks = hosts * host_links, tiers * leaf_spine_links
    return FabricArrays(
        names=names,
        host_count=hosts,
        tier=np.repeat(np.array([HOST, LEAF, SPINE], dtype=np.int32), [hosts, leaves, spines]),
        link_names=_link_names(names, source, target, access, host_links, leaf_spine_links),
        link_source=source,
        link_target=target,
        link_reverse=reverse,
        rate_bps=_rates(host_bps, rates, access, leaves, leaf_spine_links),
        delay_ps=np.repeat(np.array([delay_ps, uplink_delay], dtype=np.int64), [2 * access, 2 * uplinks]),
        first_destination=(np.arange(hosts + 1) * width).astype(np.int32),
        destination_prefix=_destination_prefix(leaves, hosts_per_leaf, width),
        host_set=np.arange(hosts, dtype=np.int32),
        delivery_set=np.repeat(np.arange(hosts, 2 * hosts, dtype=np.int32), width),
        set_first=_set_first(hosts, leaves, spines, host_links, leaf_spine_links, colors > 0),
        set_links=np.arange(2 * (access + uplinks), dtype=np.int32),
        forwarding=(Forwarding(0, _next_hops(leaves, spines, 2 * hosts, width, colors > 0)),),
        prefix_names=_prefix_names(leaves, width, "color" if colors else "address"),
    )


def _check(counts: Mapping[str, int], others: Mapping[str, int]) -> None:
    """Refuse counts below 1, and others below 0. Raises UsageError."""
    for name, value in counts.items():
        if value < 1:
            raise UsageError(f"{name}: {value} is too few; at least 1 is needed")
    for name, value in others.items():
        if value < 0:
            raise UsageError(f"{name}: {value} is negative")


def _rates(host_bps: int, by_spine: Sequence[int], access: int, leaves: int, leaf_spine_links: int) -> Int64:
    """Return the rates of all links: from hosts, to hosts, from leaves, from spines."""
    rates = np.array(by_spine, dtype=np.int64)
    return np.concatenate(
        [
            np.full(2 * access, host_bps, dtype=np.int64),
            np.tile(np.repeat(rates, leaf_spine_links), leaves),
            np.repeat(rates, leaves * leaf_spine_links),
        ]
    )


def _set_first(hosts: int, leaves: int, spines: int, host_links: int, leaf_spine_links: int, pinned: bool) -> Int32:
    """Return where next-hop sets begin: from hosts, to hosts, of leaves, of spines.

    A leaf's uplinks are one set, or, `pinned`, one for every spine; they are in order already.
    """
    tiers = leaves * spines
    sizes = [host_links] * (2 * hosts)
    sizes += [leaf_spine_links] * tiers if pinned else [leaf_spine_links * spines] * leaves
    sizes += [leaf_spine_links] * tiers
    return np.cumsum([0, *sizes]).astype(np.int32)


def _prefix_names(leaves: int, width: int, what: str) -> tuple[str, ...]:
    return tuple(
        f"leaf{leaf} {what} {number}" if width > 1 else f"leaf{leaf}"
        for leaf, number in product(range(1, leaves + 1), range(1, width + 1))
    )


def _uplink_rates(uplink_bps: int | Sequence[int], spines: int) -> list[int]:
    if isinstance(uplink_bps, int):
        return [uplink_bps] * max(spines, 1)
    if len(uplink_bps) != spines:
        raise UsageError(f"uplink_bps: {len(uplink_bps)} rates for {spines} spines; give one, or one per spine")
    return list(uplink_bps) or [1]


def _names(leaves: int, spines: int, hosts: int) -> tuple[str, ...]:
    parts = (("host", hosts), ("leaf", leaves), ("spine", spines))
    return tuple(f"{word}{number}" for word, count in parts for number in range(1, count + 1))


def _links(leaves: int, spines: int, per_leaf: int, host_links: int, leaf_spine_links: int) -> tuple[Int32, ...]:
    """Return sources, targets and reverses of all links: from hosts, to hosts, from leaves, from spines."""
    hosts = leaves * per_leaf
    host = np.repeat(np.arange(hosts), host_links)
    own = hosts + host // per_leaf
    leaf = hosts + np.repeat(np.arange(leaves), spines * leaf_spine_links)
    spine = hosts + leaves + np.tile(np.repeat(np.arange(spines), leaf_spine_links), leaves)
    # Links from spines are numbered by spine, so that those of one next-hop set follow each other in both directions.
    down = np.arange(len(leaf)).reshape(leaves, spines, leaf_spine_links).transpose(1, 0, 2).ravel()
    place = np.argsort(down)
    first = 2 * len(host)
    up_back = first + len(leaf) + place
    down_back = first + down
    access = np.arange(len(host))
    found = (
        (host, own, leaf, spine[down]),
        (own, host, spine, leaf[down]),
        (access + len(host), access, up_back, down_back),
    )
    return tuple(np.concatenate(parts).astype(np.int32) for parts in found)


def _link_names(
    names: Sequence[str], source: Int32, target: Int32, access: int, host_links: int, leaf_spine_links: int
) -> tuple[str, ...]:
    """Name every link by its sender and what is at its end, with a number from 0 on if there are several."""
    number = np.arange(len(source)) % host_links
    number[2 * access :] = np.arange(len(source) - 2 * access) % leaf_spine_links
    several = np.arange(len(source)) < 2 * access if host_links > 1 else np.zeros(len(source), dtype=bool)
    if leaf_spine_links > 1:
        several[2 * access :] = True
    rows = zip(source.tolist(), target.tolist(), number.tolist(), several.tolist(), strict=True)
    return tuple(f"{names[a]}:{names[b]}/{k}" if many else f"{names[a]}:{names[b]}" for a, b, k, many in rows)


def _destination_prefix(leaves: int, per_leaf: int, width: int) -> Int32:
    prefixes = np.arange(leaves * width, dtype=np.int32).reshape(leaves, 1, width)
    return np.broadcast_to(prefixes, (leaves, per_leaf, width)).ravel().copy()


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
