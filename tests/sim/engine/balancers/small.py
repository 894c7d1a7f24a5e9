"""Small fabrics and flow lists for tests of load balancers, and their last state."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from ailb_gen.sim.engine import records as r
from ailb_gen.sim.engine.loop import advance
from ailb_gen.sim.engine.memory import grown, new_state
from ailb_gen.sim.engine.records import EngineState
from ailb_gen.sim.fabric import FabricArrays
from ailb_gen.sim.settings import (
    BalancerSettings,
    BufferSettings,
    CongestionSettings,
    PacketSettings,
    SimulationSettings,
    TransportName,
    TransportSettings,
)
from ailb_gen.sim.workload import Workload
from tests.sim.engine.cases import flows

G = 10**9
US = 10**6
# No packet waits longer than this in a small fabric.
LONG_US = 10_000.0


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
        packets=PacketSettings(payload_bytes=1000, header_bytes=48, control_bytes=60),
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
            state = grown(state, result)
    return state


def assert_conserved(state: EngineState, workload: Workload) -> None:
    """All flows have ended, all packets are free again, no buffer and no queue holds a byte."""
    assert state.run[0]["ended"] == workload.count
    assert state.run[0]["free_packets"] == len(state.packets)
    assert state.run[0]["free_flows"] == len(state.flows)
    assert not state.nodes["used"].any()
    assert not state.queues["bytes"].any()
    assert not state.queues["ingress"].any()
    assert not state.queues["headroom"].any()
    assert not state.waiting.any()
