"""Small fabrics, workloads and settings for the engine, by hand and at random."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import strategies as st

from ailb_gen.sim.balancers import BALANCERS
from ailb_gen.sim.clos import clos
from ailb_gen.sim.congestion import CONGESTION
from ailb_gen.sim.engine.jit import DISABLED
from ailb_gen.sim.fabric import (
    HOST,
    LEAF,
    LOCAL,
    PS_PER_US,
    UNREACHABLE,
    Degradation,
    FabricArrays,
    Forwarding,
    LinkChange,
)
from ailb_gen.sim.outcome import Progress, Watch
from ailb_gen.sim.settings import (
    BalancerSettings,
    BufferSettings,
    CongestionSettings,
    Measurement,
    NicSettings,
    PacketSettings,
    SimulationSettings,
    TransportName,
    TransportSettings,
)
from ailb_gen.sim.workload import Workload

GBPS = 10**9
TRANSPORTS: tuple[TransportName, ...] = ("raw", "go-back-n", "selective-repeat", "timeout-only", "receiver-driven")
PACKETS = PacketSettings(1000, 48, 60)
needs_compiler = pytest.mark.skipif(DISABLED, reason="millions of events: for the compiled engine")


def flows(
    source: npt.ArrayLike,
    target: npt.ArrayLike,
    amount: npt.ArrayLike,
    start_ps: npt.ArrayLike = 0,
    priority: Sequence[int] | None = None,
    queue_pair: npt.ArrayLike = 0,
) -> Workload:
    """Flows that wait for nothing; the port of each is its number."""
    senders = np.array(source, np.int32)
    count = len(senders)
    none = np.zeros(count, np.int32)
    return Workload(
        source=senders,
        target=np.array(target, np.int32),
        queue_pair=none + np.array(queue_pair, np.int32),
        port=np.arange(count, dtype=np.int32),
        amount=np.zeros(count, np.int64) + np.array(amount, np.int64),
        start_ps=np.zeros(count, np.int64) + np.array(start_ps, np.int64),
        waits=none,
        first_successor=np.zeros(count + 1, np.int64),
        successors=np.zeros(0, np.int32),
        job=none - 1,
        label=none,
        labels=("flows",),
        priority=None if priority is None else np.array(priority, np.int32),
    )


def waiting(workload: Workload, edges: Iterable[tuple[int, int]]) -> Workload:
    """The same tasks, of which the second of every pair waits for the first."""
    pairs = sorted(edges)
    after = np.array([after for _, after in pairs], dtype=np.int32)
    first = np.searchsorted([before for before, _ in pairs], np.arange(workload.count + 1))
    waits = np.bincount(after, minlength=workload.count).astype(np.int32)
    return replace(workload, waits=waits, first_successor=first.astype(np.int64), successors=after)


def in_a_row(workload: Workload) -> Workload:
    """The same tasks, each after the one before."""
    return waiting(workload, pairwise(range(workload.count)))


def leaf_spine(leaves: int = 2, spines: int = 2, hosts: int = 2, **more: int) -> FabricArrays:
    """A small fabric of 100 Gbit/s and 1 us."""
    return clos(leaves, spines, hosts, host_bps=100 * GBPS, uplink_bps=100 * GBPS, **more)


def star(hosts: int, bps: int = 100 * GBPS, delay_ps: int = PS_PER_US) -> FabricArrays:
    """Hosts around one switch."""
    return clos(1, 1, hosts, host_bps=bps, uplink_bps=bps, delay_ps=delay_ps)


def link(fabric: FabricArrays, source: str, target: str, number: int = 0) -> int:
    """The link from one node to another."""
    ends = (fabric.names.index(source), fabric.names.index(target))
    found = np.flatnonzero((fabric.link_source == ends[0]) & (fabric.link_target == ends[1]))
    return int(found[number])


def lossless(
    fabric: FabricArrays, buffer: int = 200_000, alpha: float = 1 / 4, headroom: int = 60_000
) -> BufferSettings:
    """PFC with enough headroom, and marks."""
    return replace(marking(fabric), shared_buffer_bytes=buffer, ingress_alpha=alpha, pfc=True, headroom_bytes=headroom)


def marking(fabric: FabricArrays, low: int = 5_000, high: int = 20_000) -> BufferSettings:
    """Infinite queues that mark."""
    links = fabric.link_count
    return BufferSettings(
        ecn_min_bytes=np.full(links, low), ecn_max_bytes=np.full(links, high), ecn_probability=np.full(links, 0.2)
    )


def varied(
    fabric: FabricArrays, balancer: BalancerSettings, transport: TransportSettings, turn: int
) -> SimulationSettings:
    """Settings with buffers, congestion controls, NICs and measurements in turn."""
    buffers: tuple[BufferSettings, ...] = (
        BufferSettings(),
        lossless(fabric, 30_000),
        replace(marking(fabric), shared_buffer_bytes=20_000, scheduling="round-robin"),
        replace(marking(fabric), loss_probability=np.full(fabric.link_count, 0.01)),
    )
    controls = tuple(CONGESTION)
    return SimulationSettings(
        packets=PACKETS,
        switches=buffers[turn % len(buffers)],
        balancer=balancer,
        transport=replace(transport, timeout_ps=50 * PS_PER_US),
        congestion=CongestionSettings(controls[turn % len(controls)]),
        nics=NicSettings(2, 100_000, 50_000) if turn % 3 == 0 else NicSettings(),
        measurement=Measurement(5 * PS_PER_US, 10) if turn % 3 == 1 else Measurement(),
        until_ps=400 * PS_PER_US,
    )


def stopping_after(times: int) -> tuple[list[Progress], Watch]:
    """What a watcher sees, and the watcher, which ends the run when it has seen so much."""
    seen: list[Progress] = []

    def watch(progress: Progress) -> bool:
        seen.append(progress)
        return len(seen) < times

    return seen, watch


@dataclass(frozen=True, slots=True)
class Case:
    """A run."""

    fabric: FabricArrays
    workload: Workload
    settings: SimulationSettings
    seed: int = 1


@st.composite
def random_graphs(draw: st.DrawFn) -> FabricArrays:
    """Switches in any graph, a host or two below each, any next hops: loops, dead ends and detours included."""
    switches = draw(st.integers(1, 4))
    below = draw(st.lists(st.integers(0, switches - 1), min_size=2, max_size=5))
    hosts = len(below)
    pairs = [(host, hosts + switch) for host, switch in enumerate(below)]
    ends = st.tuples(st.integers(0, switches - 1), st.integers(0, switches - 1)).filter(lambda pair: pair[0] != pair[1])
    if switches > 1:
        pairs += [(hosts + a, hosts + b) for a, b in draw(st.lists(ends, min_size=1, max_size=6))]
    source = np.array([end for pair in pairs for end in pair], np.int32)
    target = np.array([end for pair in pairs for end in pair[::-1]], np.int32)
    sets: list[list[int]] = [[2 * host] for host in range(hosts)] + [[2 * host + 1] for host in range(hosts)]
    next_hops = np.full((switches, hosts), UNREACHABLE, np.int32)
    for switch in range(switches):
        out = [number for number in range(2 * hosts, len(source)) if source[number] == hosts + switch]
        for host in range(hosts):
            if below[host] == switch:
                next_hops[switch, host] = LOCAL
            elif out:
                chosen = draw(st.lists(st.sampled_from(out), max_size=3, unique=True))
                if chosen:
                    next_hops[switch, host] = len(sets)
                    sets.append(chosen)
    return FabricArrays(
        names=tuple(f"n{number}" for number in range(hosts + switches)),
        host_count=hosts,
        tier=np.array([HOST] * hosts + [LEAF] * switches, np.int32),
        link_names=tuple(f"l{number}" for number in range(len(source))),
        link_source=source,
        link_target=target,
        link_reverse=(np.arange(len(source)) ^ 1).astype(np.int32),
        rate_bps=np.full(len(source), 100 * GBPS, np.int64),
        delay_ps=np.full(len(source), draw(st.sampled_from((0, PS_PER_US))), np.int64),
        first_destination=np.arange(hosts + 1, dtype=np.int32),
        destination_prefix=np.arange(hosts, dtype=np.int32),
        host_set=np.arange(hosts, dtype=np.int32),
        delivery_set=np.arange(hosts, 2 * hosts, dtype=np.int32),
        set_first=np.cumsum([0, *(len(one) for one in sets)]).astype(np.int32),
        set_links=np.array([number for one in sets for number in one], np.int32),
        forwarding=(Forwarding(0, next_hops),),
    )


@st.composite
def small_clos(draw: st.DrawFn) -> FabricArrays:
    """A leaf-spine fabric of a few hosts."""
    leaves = draw(st.integers(1, 3))
    return leaf_spine(
        leaves,
        draw(st.integers(1, 3)),
        draw(st.integers(1 if leaves > 1 else 2, 2)),
        host_links=draw(st.integers(1, 2)),
        leaf_spine_links=draw(st.integers(1, 2)),
    )


@st.composite
def failing(draw: st.DrawFn, fabric: FabricArrays) -> FabricArrays:
    """The fabric with cables that fail or are degraded, and perhaps come back."""
    changes: list[LinkChange] = []
    cables = sorted({min(one, int(fabric.link_reverse[one])) for one in range(fabric.link_count)})
    times = st.integers(0, 60 * PS_PER_US)
    for cable in draw(st.lists(st.sampled_from(cables), max_size=2, unique=True)):
        down, back = draw(times), draw(st.none() | times)
        both = (cable, int(fabric.link_reverse[cable]))
        less = draw(st.none() | st.builds(Degradation, st.sampled_from((0.3, 1.0)), times, st.sampled_from((0.0, 0.2))))
        begun = (False,) if less is None else (True, less)
        changes += [LinkChange(down, one, *begun) for one in both]
        if back is not None:
            changes += [LinkChange(down + back, one, True) for one in both]
    return replace(fabric, changes=tuple(changes))


def workloads(fabric: FabricArrays, most: int = 30_000) -> st.SearchStrategy[Workload]:
    """Some flows between hosts; host 0 gets most of them."""
    host = st.integers(0, fabric.host_count - 1)
    row = st.tuples(
        host,
        st.just(0) | host,
        st.integers(1, most),
        st.sampled_from((0, 0, 500, 7 * PS_PER_US, 40 * PS_PER_US)),
        st.integers(0, 1),
    ).filter(lambda one: one[0] != one[1])
    rows = st.lists(row, min_size=1, max_size=8)

    def built(some: list[tuple[int, int, int, int, int]]) -> Workload:
        source, target, amount, start, priority = zip(*some, strict=True)
        return flows(source, target, amount, start, priority)

    made = rows.map(built)
    return made | made.map(in_a_row)


@st.composite
def cases(draw: st.DrawFn) -> Case:
    """A run of every kind: transport, load balancer, buffers, failures, scheduling, NICs."""
    fabric = draw(small_clos() | random_graphs())
    fabric = draw(failing(fabric))
    buffers = draw(st.sampled_from(("infinite", "small", "marking", "lossless", "tight", "fixed")))
    switches = {
        "infinite": BufferSettings(),
        "marking": marking(fabric),
        "small": replace(marking(fabric), shared_buffer_bytes=20_000, egress_alpha=0.5),
        "lossless": lossless(fabric),
        "tight": lossless(fabric, buffer=12_000, headroom=30_000),
        "fixed": replace(lossless(fabric), pause_bytes=3_000, resume_offset_bytes=1_500),
    }[buffers]
    switches = replace(switches, scheduling=draw(st.sampled_from(("strict", "round-robin"))))
    if draw(st.booleans()):
        switches = replace(switches, loss_probability=np.full(fabric.link_count, 0.02))
    given, few = draw(st.sampled_from(((40 * PS_PER_US, 20 * PS_PER_US), (None, None))))
    transport = TransportSettings(
        draw(st.sampled_from(TRANSPORTS)),
        window_bytes=draw(st.sampled_from((None, 1_000, 8_000))),
        reordering_packets=draw(st.sampled_from((0, 3))),
        ends_acknowledged=draw(st.booleans()),
        timeout_ps=given,
        timeout_few_ps=few,
        every_nack=draw(st.booleans()),
    )
    nics = draw(st.sampled_from((NicSettings(), NicSettings(1, 300_000, 100_000))))
    settings = SimulationSettings(
        packets=PACKETS,
        switches=switches,
        balancer=BalancerSettings(draw(st.sampled_from(sorted(BALANCERS)))),
        transport=transport,
        congestion=CongestionSettings(draw(st.sampled_from(sorted(CONGESTION)))),
        nics=nics,
        until_ps=300 * PS_PER_US,
    )
    return Case(fabric, draw(workloads(fabric)), settings, draw(st.integers(0, 9)))
