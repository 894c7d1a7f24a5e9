"""Times of flows on an empty fabric: shortest paths, round trips, slowdowns."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ailb_gen.sim.congestion import CONGESTION
from ailb_gen.sim.fabric import PS_PER_S, PS_PER_US, FabricArrays, Float64, Int64
from ailb_gen.sim.outcome import NEVER
from ailb_gen.sim.settings import PacketSettings, SimulationSettings
from ailb_gen.sim.workload import Workload

# Leaves whose distances are computed at a time: bounds the memory.
BLOCK = 64
# Times bytes and over bit/s this is ps. As a whole number it would overflow with arrays of bytes.
PS_BITS = 8e12
# Links of the longest path whose time a mark needs to come back.
HOPS = 8


@dataclass(frozen=True, slots=True)
class Unloaded:
    """Round trips, return paths and rates of F flows, in ps and bit/s."""

    round_trip_ps: Float64  # (F,) of one packet of full size, its return path without serialization
    return_path_ps: Float64  # (F,) of an acknowledgment, with serialization
    rate_bps: Float64  # (F,) the smaller of what source and target have in all their links


def unloaded(fabric: FabricArrays, packets: PacketSettings, source: Int64, target: Int64) -> Unloaded:
    """Compute what flows between hosts `source` and `target`, shape (F,), meet on an empty fabric.

    The shortest path counts, whatever the FIBs say.
    """
    delay = fabric.delay_ps.astype(np.float64)
    back = delay[fabric.link_reverse]
    back_rate = fabric.rate_bps[fabric.link_reverse]
    round_trip = delay + back + packets.payload_bytes * PS_BITS / fabric.rate_bps
    return_path = back + packets.control_bytes * PS_BITS / back_rate
    # As numbers: rows take many times as long to sort.
    numbers, inverse = np.unique(source * fabric.host_count + target, return_inverse=True)
    pairs = np.stack(np.divmod(numbers, fabric.host_count), axis=1)
    rates = host_rates(fabric)
    return Unloaded(
        _shortest(fabric, round_trip, pairs)[inverse],
        _shortest(fabric, return_path, pairs)[inverse],
        np.minimum(rates[source], rates[target]).astype(np.float64),
    )


def slowdowns(
    fabric: FabricArrays,
    settings: SimulationSettings,
    workload: Workload,
    flows: Int64,
    start_ps: Int64,
    finish_ps: Int64,
) -> Float64:
    """Return the slowdown of some flows, tasks of a workload, shape (F,); NaN for those that have not ended.

    A flow's time until its last acknowledgment is back, over base round trip + (bytes + headers) / rate; at least 1.
    Headers are without what switches write (INT), so that its cost counts (Li et al., SIGCOMM 2019, their simulator).
    Where flows end with their last byte's arrival, the return path without queues is added, also if nothing is
    acknowledged.
    """
    packets = settings.packets
    empty = unloaded(fabric, packets, workload.source[flows].astype(np.int64), workload.target[flows].astype(np.int64))
    size = workload.amount[flows]
    count = -(-size // packets.payload_bytes)
    ideal = empty.round_trip_ps + (size + packets.header_bytes * count) * PS_BITS / empty.rate_bps
    taken = finish_ps - start_ps + (0 if settings.transport.ends_acknowledged else empty.return_path_ps)
    return np.where((finish_ps == NEVER) | (start_ps == NEVER), np.nan, np.maximum(taken / ideal, 1.0))


def host_rates(fabric: FabricArrays) -> Int64:
    """Return the rate of every host over all its links, in bit/s, shape (H,)."""
    rates = np.zeros(fabric.host_count, dtype=np.int64)
    ours = fabric.link_source < fabric.host_count
    np.add.at(rates, fabric.link_source[ours], fabric.rate_bps[ours])
    return rates


def _access(fabric: FabricArrays, cost: Float64) -> tuple[Int64, Float64, Float64]:
    """Return the switches of every host, at most A, and what the cheapest links to and from them cost, shape (H, A).

    Where there are fewer, costs are infinite.
    """
    hosts = fabric.host_count
    up = (fabric.link_source < hosts) & (fabric.link_target >= hosts)
    host, switch = fabric.link_source[up].astype(np.int64), fabric.link_target[up].astype(np.int64)
    key, first = np.unique(host * len(fabric.names) + switch, return_inverse=True)
    going, coming = np.full(len(key), np.inf), np.full(len(key), np.inf)
    np.minimum.at(going, first, cost[up])
    np.minimum.at(coming, first, cost[fabric.link_reverse[up]])
    owner, number = key // len(fabric.names), key % len(fabric.names)
    place = np.arange(len(key)) - np.searchsorted(owner, owner)
    shape = (hosts, int(place.max(initial=0)) + 1)
    switches, to, back = np.full(shape, hosts, dtype=np.int64), np.full(shape, np.inf), np.full(shape, np.inf)
    switches[owner, place], to[owner, place], back[owner, place] = number, going, coming
    return switches, to, back


def _shortest(fabric: FabricArrays, cost: Float64, pairs: Int64) -> Float64:
    """Return the least cost of a path from host to host, shape (pairs,); infinite without one."""
    switches, up, down = _access(fabric, cost)
    best = np.full(len(pairs), np.inf)
    width = switches.shape[1]
    for a in range(width):
        leaf = switches[pairs[:, 0], a] - fabric.host_count
        known = np.unique(leaf)
        for block in (known[first : first + BLOCK] for first in range(0, len(known), BLOCK)):
            rows = np.flatnonzero(np.isin(leaf, block))
            distances = _distances(fabric, cost, block)
            at = np.searchsorted(block, leaf[rows])
            for b in range(width):
                other = switches[pairs[rows, 1], b] - fabric.host_count
                found = up[pairs[rows, 0], a] + distances[at, other] + down[pairs[rows, 1], b]
                best[rows] = np.minimum(best[rows], found)
    return best


def _distances(fabric: FabricArrays, cost: Float64, switches: Int64) -> Float64:
    """Return the least costs from some switches to all, shape (those, S), by Bellman and Ford."""
    hosts = fabric.host_count
    inner = np.flatnonzero((fabric.link_source >= hosts) & (fabric.link_target >= hosts))
    found = np.full((len(switches), fabric.switch_count), np.inf)
    found[np.arange(len(switches)), switches] = 0.0
    if not len(inner):
        return found
    # Of parallel links the cheapest counts; sorted by target for `reduceat`.
    ends = fabric.link_target[inner].astype(np.int64) * len(fabric.names) + fabric.link_source[inner]
    key, first = np.unique(ends, return_inverse=True)
    cheapest = np.full(len(key), np.inf)
    np.minimum.at(cheapest, first, cost[inner])
    target, source = key // len(fabric.names) - hosts, key % len(fabric.names) - hosts
    starts = np.flatnonzero(np.concatenate([[True], target[1:] != target[:-1]]))
    while True:
        reached = np.minimum.reduceat(found[:, source] + cheapest, starts, axis=1)
        shorter = np.minimum(found[:, target[starts]], reached)
        if np.array_equal(shorter, found[:, target[starts]]):
            return found
        found[:, target[starts]] = shorter


def echo_ticks(fabric: FabricArrays, settings: SimulationSettings) -> int:
    """Return the number of ticks of DCQCN in which marks may be under way, at most."""
    packets, given = settings.packets, CONGESTION["dcqcn"].values(settings.congestion.parameters)
    packet = (packets.payload_bytes + packets.header_bytes) * 8 * (PS_PER_S / fabric.rate_bps.min())
    longest = HOPS * (int(fabric.delay_ps.max()) + int(packet)) * 3 // 2
    return 2 + longest // round(given["cut_interval_us"] * PS_PER_US)
