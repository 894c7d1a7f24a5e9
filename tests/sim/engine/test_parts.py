"""A run on several cores has the same outcome as on one, byte by byte."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pytest

from ailb_gen.sim.balancers import BALANCERS
from ailb_gen.sim.congestion import CONGESTION
from ailb_gen.sim.engine import memory, parts
from ailb_gen.sim.engine.partition import Partition, partition
from ailb_gen.sim.engine.run import simulate
from ailb_gen.sim.fabric import PS_PER_US, FabricArrays
from ailb_gen.sim.settings import (
    BalancerSettings,
    BufferSettings,
    CongestionSettings,
    Measurement,
    NicSettings,
    SimulationSettings,
    TransportSettings,
)
from ailb_gen.sim.workload import Workload
from tests.sim.engine.cases import PACKETS, TRANSPORTS, Case, flows, leaf_spine, lossless, marking
from tests.sim.engine.test_run_same_bytes import digest

HOSTS, FLOWS = 32, 48


def fabric() -> FabricArrays:
    return leaf_spine(4, 2, HOSTS // 4, host_links=1, leaf_spine_links=2)


def work() -> Workload:
    """Flows between random hosts, many of which begin at one time; several have one queue pair."""
    draw = np.random.default_rng(5)
    source = draw.integers(0, HOSTS, FLOWS)
    target = (source + draw.integers(1, HOSTS, FLOWS)) % HOSTS
    start = draw.integers(0, 6, FLOWS) * 2 * PS_PER_US
    return flows(source, target, draw.integers(1, 30_000, FLOWS), start, list(draw.integers(0, 2, FLOWS)))


def configurations() -> Iterator[tuple[str, Case]]:
    """Every load balancer whose runs can be divided, with transports, buffers, congestion controls and NICs in turn."""
    made, given = fabric(), work()
    buffers: tuple[BufferSettings, ...] = (
        BufferSettings(),
        lossless(made, 30_000),
        replace(marking(made), shared_buffer_bytes=20_000, scheduling="round-robin"),
        replace(marking(made), loss_probability=np.full(made.link_count, 0.01)),
    )
    for number, name in enumerate(BALANCERS):
        for place, transport in enumerate(TRANSPORTS[1:]):
            settings = SimulationSettings(
                packets=PACKETS,
                switches=buffers[(number + place) % 4],
                balancer=BalancerSettings(name),
                transport=TransportSettings(
                    transport, timeout_ps=50 * PS_PER_US, ends_acknowledged=bool((number + place) % 2)
                ),
                congestion=CongestionSettings(tuple(CONGESTION)[(number * 3 + place) % len(CONGESTION)]),
                nics=NicSettings(2, 100_000, 50_000) if number % 3 == 0 else NicSettings(),
                measurement=Measurement(5 * PS_PER_US, 10) if number % 3 == 1 else Measurement(),
                until_ps=400 * PS_PER_US,
            )
            case = Case(made, given if number % 2 else replace(given, priority=None), settings, number)
            if divided(case).parts > 1:
                yield f"{name} {transport}", case


def divided(case: Case, cores: int = 4) -> Partition:
    return partition(case.fabric, case.workload, case.settings, cores)


def test_the_outcome_is_that_of_one_core(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory, "FIRST_PACKETS", 64)
    monkeypatch.setattr(parts, "FIRST_PACKETS", 64)
    monkeypatch.setattr(parts, "FIRST_TIMERS", 16)
    names = set()
    for name, case in configurations():
        one, *others = (
            digest(simulate(case.fabric, case.workload, case.settings, case.seed, cores=cores)) for cores in (1, 2, 4)
        )
        assert others == [one, one], name
        names.add(name.split()[0])
    assert names == BALANCERS.keys() - {"glb", "spectrum-x", "conweave", "seqbalance"}
