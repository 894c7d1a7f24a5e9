"""The scenarios of published simulators."""

from __future__ import annotations

import gzip

import numpy as np

from ailb_gen.sim.clos import clos
from ailb_gen.sim.engine.run import simulate
from ailb_gen.sim.fabric import PS_PER_US, FabricArrays, Float64, Int64
from ailb_gen.sim.outcome import SimulationOutcome
from ailb_gen.sim.settings import (
    BalancerSettings,
    BufferSettings,
    CongestionSettings,
    PacketSettings,
    SimulationSettings,
    TransportSettings,
)
from ailb_gen.sim.traffic.algorithms import derangement
from ailb_gen.sim.traffic.scale_unit import heavy
from ailb_gen.sim.workload import Workload
from tests.conftest import need_shared
from tests.sim.engine.cases import GBPS, PACKETS, flows

MS = 1000 * PS_PER_US
LIST = "sim/alistorage-load50-128hosts-5ms.flows.gz"


def scale_unit(balancer: str, seed: int) -> tuple[Workload, SimulationOutcome]:
    """One run of Zeltser's scale unit (2026), traffic "heavy"."""
    fabric = clos(8, 4, 4, host_bps=4 * GBPS, uplink_bps=4 * GBPS, host_links=8, leaf_spine_links=8)
    parameters = {"same_seed": 1.0, "hash_start": 1.0} if balancer in ("ecmp", "flowlet") else {}
    settings = SimulationSettings(packets=PacketSettings(32_768, 0, 0), balancer=BalancerSettings(balancer, parameters))
    work = heavy(seed, 1)
    return work, simulate(fabric, work, settings, seed)


def job_seconds(work: Workload, outcome: SimulationOutcome) -> float:
    """When the only job ends."""
    return float(outcome.finish_ps[work.steps[0][-1]]) / 10**12


def flow_list() -> Workload:
    """The flows of the list; its times begin at 2 s."""
    with gzip.open(need_shared(LIST), "rt") as stream:
        rows = [line.split() for line in stream.read().splitlines()[1:]]
    start = [round((float(row[4]) - 2) * 10**9) * 1000 for row in rows if row]
    source, target, amount = ([int(row[column]) for row in rows if row] for column in (0, 1, 3))
    return flows(source, target, amount, start)


def two_to_one() -> FabricArrays:
    """128 hosts below 8 leaves, 8 spines."""
    return clos(8, 8, 16, host_bps=100 * GBPS, uplink_bps=100 * GBPS)


def flow_list_settings(fabric: FabricArrays, mode: str, balancer: str) -> SimulationSettings:
    """What conweave-ns3 is told (Song et al., SIGCOMM 2023), "lossless" or "irn"."""
    links = fabric.link_count
    lossless = mode == "lossless"
    switches = BufferSettings(
        shared_buffer_bytes=9 << 20,
        pfc=lossless,
        headroom_bytes=27_096 if lossless else 0,
        ecn_min_bytes=np.full(links, 100_000),
        ecn_max_bytes=np.full(links, 400_000),
        ecn_probability=np.full(links, 0.2),
    )
    # Only data carries CONGA's metrics there; DRILL remembers the best queue of every destination.
    own = {"conga": {"acks": 0.0}, "drill": {"by_destination": 1.0}}
    conweave = TransportSettings("go-back-n", timeout_ps=4 * MS, every_nack=True, ends_acknowledged=True)
    irn = TransportSettings(
        "selective-repeat",
        window_bytes=104_000,
        timeout_ps=320 * PS_PER_US,
        timeout_few_ps=100 * PS_PER_US,
        ends_acknowledged=True,
    )
    return SimulationSettings(
        packets=PACKETS,
        switches=switches,
        balancer=BalancerSettings(balancer, own.get(balancer, {})),
        transport=conweave if lossless else irn,
        congestion=CongestionSettings("dcqcn"),
    )


def slowdowns(work: Workload, outcome: SimulationOutcome) -> Float64:
    """FCT over that of an idle fabric, at least 1, of flows that start after 1 ms."""
    packets = -(-work.amount // 1000)
    base = np.where(work.source // 16 == work.target // 16, 4_160_000, 8_320_000)
    ideal = base + (work.amount + 48 * packets) * 80
    times = outcome.finish_ps - outcome.start_ps
    return np.asarray(np.maximum(1, times / ideal)[work.start_ps >= MS])


def permutations(count: int) -> list[Int64]:
    """Permutations of 128 hosts that leave none at its place and send 117 flows to another leaf."""
    generator = np.random.default_rng(1)
    found: list[Int64] = []
    while len(found) < count:
        targets = derangement(128, generator)
        if np.count_nonzero(np.arange(128) // 16 != targets // 16) == 117:
            found.append(targets)
    return found


def receiver_driven_settings(balancer: str, window: int | None, trim_above: int) -> SimulationSettings:
    """What csg-htsim is told for NDP and EQDS, with a window and queues of so many packets."""
    way = TransportSettings(
        "receiver-driven", window_bytes=None if window is None else 4096 * window, trim_above_packets=trim_above
    )
    return SimulationSettings(PacketSettings(4096, 64, 64), balancer=BalancerSettings(balancer), transport=way)


def htsim_settings() -> SimulationSettings:
    """What csg-htsim is told for RoCE: PFC by packets, go-back-N, no congestion control."""
    wire = 4096 + 64
    switches = BufferSettings(
        shared_buffer_bytes=1 << 30,
        pfc=True,
        pause_bytes=15 * wire,
        resume_offset_bytes=3 * wire,
        headroom_bytes=1 << 30,
    )
    return SimulationSettings(
        PacketSettings(4096, 64, 64), switches, transport=TransportSettings("go-back-n", timeout_ps=4 * MS)
    )
