"""Flows on small fabrics, and over which links they went."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from ailb_gen.sim.clos import clos
from ailb_gen.sim.engine.run import simulate
from ailb_gen.sim.fabric import PS_PER_US, FabricArrays
from ailb_gen.sim.outcome import SimulationOutcome
from ailb_gen.sim.settings import (
    BalancerSettings,
    CongestionSettings,
    PacketSettings,
    SimulationSettings,
    TransportSettings,
)
from ailb_gen.sim.traffic.arrivals import flows
from ailb_gen.sim.workload import Workload

GBPS = 10**9
# Source, target, bytes, start in us, UDP source port.
Flow = tuple[int, int, int, int, int]


def two_tiers(leaves: int = 2, spines: int = 2, links: int = 1, colors: int = 0) -> FabricArrays:
    """Two hosts per leaf, all links of 10 Gb/s: a host fills an uplink."""
    rates = {"host_bps": 10 * GBPS, "uplink_bps": 10 * GBPS}
    return clos(leaves, spines, 2, leaf_spine_links=links, colors=colors, **rates)


def workload(rows: Sequence[Flow]) -> Workload:
    """These flows, all of them known from the beginning."""
    source, target, amount, start, port = (np.array(column) for column in zip(*rows, strict=True))
    ends = (source.astype(np.int32), target.astype(np.int32))
    found = flows(*ends, amount.astype(np.int64), start.astype(np.int64) * PS_PER_US, 1, "flow")
    return replace(found, port=port.astype(np.int32))


def settings(balancer: str, transport: str = "raw", **parameters: float) -> SimulationSettings:
    """Packets of 1,000 bytes; DCQCN slows nobody down, as nothing is marked."""
    return SimulationSettings(
        packets=PacketSettings(1000, 48, 60),
        balancer=BalancerSettings(balancer, parameters),
        transport=TransportSettings(transport),  # type: ignore[arg-type]
        congestion=CongestionSettings("none" if transport == "raw" else "dcqcn"),
    )


def run(
    fabric: FabricArrays,
    rows: Sequence[Flow],
    balancer: str,
    seed: int = 1,
    transport: str = "raw",
    **parameters: float,
) -> SimulationOutcome:
    """Simulate flows until all have ended."""
    return simulate(fabric, workload(rows), settings(balancer, transport, **parameters), seed)


def sent(fabric: FabricArrays, outcome: SimulationOutcome, start: str) -> list[int]:
    """The packets over links whose names begin so, in the order of the links."""
    return [int(n) for name, n in zip(fabric.link_names, outcome.link_packets, strict=True) if name.startswith(start)]
