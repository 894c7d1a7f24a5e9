"""Small fabrics and flows for tests of load balancers: over which links they went, and the last state of a run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from ailb_gen.sim.clos import clos
from ailb_gen.sim.engine import records as r
from ailb_gen.sim.engine.loop import advance
from ailb_gen.sim.engine.memory import new_state
from ailb_gen.sim.engine.parts import grown
from ailb_gen.sim.engine.records import EngineState
from ailb_gen.sim.engine.run import simulate
from ailb_gen.sim.fabric import FabricArrays
from ailb_gen.sim.outcome import SimulationOutcome
from ailb_gen.sim.settings import (
    BalancerSettings,
    BufferSettings,
    CongestionSettings,
    SimulationSettings,
    TransportName,
    TransportSettings,
)
from ailb_gen.sim.workload import Workload
from tests.sim.engine.cases import PACKETS, flows

G = 10**9
US = 10**6
# No packet waits longer than this in a small fabric.
LONG_US = 10_000.0
# Source, target, bytes, start in us, UDP source port.
Flow = tuple[int, int, int, int, int]


def two_tiers(leaves: int = 2, spines: int = 2, links: int = 1, colors: int = 0) -> FabricArrays:
    """Two hosts per leaf, all links of 10 Gb/s: a host fills an uplink."""
    rates = {"host_bps": 10 * G, "uplink_bps": 10 * G}
    return clos(leaves, spines, 2, leaf_spine_links=links, colors=colors, **rates)


def workload(rows: Sequence[Flow]) -> Workload:
    """These flows, all of them known from the beginning."""
    source, target, amount, start, port = (np.array(column) for column in zip(*rows, strict=True))
    return replace(flows(source, target, amount, start * US), port=port.astype(np.int32))


def plain(balancer: str, transport: TransportName = "raw", **parameters: float) -> SimulationSettings:
    """Infinite queues; DCQCN slows nobody down, as nothing is marked."""
    return SimulationSettings(
        packets=PACKETS,
        balancer=BalancerSettings(balancer, parameters),
        transport=TransportSettings(transport),
        congestion=CongestionSettings("none" if transport == "raw" else "dcqcn"),
    )


def run(
    fabric: FabricArrays,
    rows: Sequence[Flow],
    balancer: str,
    seed: int = 1,
    transport: TransportName = "raw",
    **parameters: float,
) -> SimulationOutcome:
    """Simulate flows until all have ended."""
    return simulate(fabric, workload(rows), plain(balancer, transport, **parameters), seed)


def sent(fabric: FabricArrays, outcome: SimulationOutcome, start: str) -> list[int]:
    """The packets over links whose names begin so, in the order of the links."""
    return [int(n) for name, n in zip(fabric.link_names, outcome.link_packets, strict=True) if name.startswith(start)]


def flow_list(rows: Sequence[tuple[int, int, int, int]]) -> Workload:
    """Return flows that wait for nothing, from rows of source, target, bytes and start in ps."""
    source, target, amount, start = zip(*rows, strict=True)
    return flows(source, target, amount, start)


def settings(
    fabric: FabricArrays,
    balancer: str,
    parameters: Mapping[str, float] | None = None,
    *,
    transport: TransportName = "selective-repeat",
    lossless: bool = False,
    buffer_bytes: int = 9 << 20,
    ecn_bytes: tuple[int, int] = (20_000, 200_000),
    loss: float = 0.0,
) -> SimulationSettings:
    """Return settings with DCQCN, ECN, a shared buffer, and PFC if the fabric is to be lossless."""
    links = fabric.link_count
    return SimulationSettings(
        packets=PACKETS,
        switches=BufferSettings(
            shared_buffer_bytes=buffer_bytes,
            pfc=lossless,
            headroom_bytes=60_000 if lossless else 0,
            ecn_min_bytes=np.full(links, ecn_bytes[0]),
            ecn_max_bytes=np.full(links, ecn_bytes[1]),
            ecn_probability=np.full(links, 0.2),
            loss_probability=np.full(links, loss) if loss else None,
        ),
        balancer=BalancerSettings(balancer, parameters or {}),
        transport=TransportSettings(
            transport,
            window_bytes=None if transport == "go-back-n" else 104_000,
            reordering_packets=30,
            timeout_ps=400 * US,
            timeout_few_ps=200 * US,
            ends_acknowledged=True,
        ),
        congestion=CongestionSettings("dcqcn"),
    )


def last_state(fabric: FabricArrays, workload: Workload, given: SimulationSettings, seed: int) -> EngineState:
    """Run until nothing happens any more and return the arrays as they are then."""
    state = new_state(fabric, workload, given, seed)
    while (result := advance(state, 100_000)) != r.FINISHED:
        if result != r.GOES_ON:
            state = grown([state], [result])[0]
    return state


def assert_conserved(state: EngineState, workload: Workload) -> None:
    """All flows have ended, all packets are free again, no buffer and no queue holds a byte."""
    assert state.run[0]["ended"] == workload.count
    assert state.run[0]["free_packets"] == len(state.packets)
    assert (state.flows["task"][: state.run[0]["fresh_flow"]] == r.NONE).all()
    assert not state.nodes["used"].any()
    assert not state.queues["bytes"].any()
    assert not state.held["ingress"].any()
    assert not state.held["headroom"].any()
    assert not state.waiting.any()
