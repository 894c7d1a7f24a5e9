"""Statistics against values worked out by hand, and against plain peers."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ailb_gen.sim.clos import clos
from ailb_gen.sim.fabric import FabricArrays
from ailb_gen.sim.outcome import NEVER
from ailb_gen.sim.settings import PacketSettings, SimulationSettings, TransportSettings
from ailb_gen.sim.statistics import (
    Collective,
    bus_bandwidth,
    counted_flows,
    distribution,
    link_loads,
    statistics,
)
from ailb_gen.sim.traffic.builder import TaskBuilder
from ailb_gen.sim.unloaded import slowdowns, unloaded
from ailb_gen.sim.workload import Workload
from tests.sim.double import outcome_of

G100 = 100 * 10**9
# The packets of the ConWeave paper's platform.
PACKETS = PacketSettings(payload_bytes=1000, header_bytes=48, control_bytes=60)
NO_VALUES = {"count": 0} | dict.fromkeys(("mean", "p50", "p95", "p99", "p999", "max"))


@pytest.fixture(scope="module")
def platform() -> FabricArrays:
    """128 servers, 8 leaves, 8 spines, 100 Gb/s, 1 µs."""
    return clos(8, 8, 16, host_bps=G100, uplink_bps=G100)


def flows(*ends: tuple[int, int, int]) -> Workload:
    builder = TaskBuilder()
    source, target, amount = (np.array(column) for column in zip(*ends, strict=True))
    builder.flows(source, target, amount, 0)
    return builder.finish()


@pytest.mark.parametrize(
    ("ends", "expected"),
    [
        (((0, 1), (17, 16), (1, 0)), {"flows": 0, "of": 3}),
        (((0, 16), (16, 32), (32, 0), (1, 2)), {"flows": 3, "of": 4}),
        (((0, 16), (1, 32)), None),  # from one leaf
        (((16, 0), (32, 1)), None),  # to one leaf
        (((0, 16), (0, 16)), None),  # each has a queue pair of its own
    ],
)
def test_whether_flows_can_collide_between_switches(
    platform: FabricArrays, ends: tuple[tuple[int, int], ...], expected: object
) -> None:
    work = flows(*((source, target, 1000) for source, target in ends))
    outcome = outcome_of(platform, [0] * len(ends), [1000] * len(ends))
    counted = counted_flows(platform, work, SimulationSettings(), outcome)
    assert statistics(platform, work, outcome, {}, counted).get("no_collisions") == expected


def test_base_round_trips_of_the_published_platform(platform: FabricArrays) -> None:
    found = unloaded(platform, PACKETS, np.array([0, 0, 127]), np.array([127, 1, 3]))
    # 2 x 4 links x 1 us + 4 x 80 ns; below one leaf half of it.
    assert found.round_trip_ps.tolist() == [8_320_000, 4_160_000, 8_320_000]
    assert found.return_path_ps.tolist() == [4_019_200, 2_009_600, 4_019_200]
    assert found.rate_bps.tolist() == [G100] * 3


def test_the_rate_of_a_pair_is_that_of_all_links_of_the_slower_end() -> None:
    fabric = clos(2, 1, 1, host_bps=25 * 10**9, uplink_bps=10**9, host_links=4)
    assert unloaded(fabric, PACKETS, np.array([0]), np.array([1])).rate_bps.tolist() == [G100]


@given(st.lists(st.tuples(st.integers(0, 7), st.integers(0, 7)), min_size=1), st.integers(1, 4), st.data())
def test_shortest_round_trips_are_those_of_a_plain_search(
    pairs: list[tuple[int, int]], spines: int, data: st.DataObject
) -> None:
    rates = [data.draw(st.sampled_from([10**9, 10**10, 10**11])) for _ in range(spines)]
    fabric = clos(4, spines, 2, host_bps=G100, uplink_bps=rates, host_links=2)
    found = unloaded(fabric, PACKETS, *(np.array(column) for column in zip(*pairs, strict=True)))
    cost = 2.0 * fabric.delay_ps + PACKETS.payload_bytes * 8e12 / fabric.rate_bps
    for (source, target), value in zip(pairs, found.round_trip_ps, strict=True):
        if source == target:
            continue
        best = np.full(len(fabric.names), np.inf)
        best[source] = 0
        for _ in range(4):
            # No way leads through a host.
            via = (fabric.link_source >= fabric.host_count) | (fabric.link_source == source)
            np.minimum.at(best, fabric.link_target[via], best[fabric.link_source[via]] + cost[via])
        assert value == pytest.approx(best[target])


def test_slowdowns_as_the_published_platform_defines_them(platform: FabricArrays) -> None:
    workload = flows((0, 127, 5000), (0, 127, 5001), (1, 2, 10), (3, 4, 10))
    return_path = np.array([4_019_200, 4_019_200, 2_009_600, 0])
    ideal = np.array([8_320_000 + (5000 + 5 * 48) * 80, 8_320_000 + (5001 + 6 * 48) * 80, 4_160_000 + 58 * 80, 0])
    finish = (ideal * [2, 3, 0.5, 0] - return_path).round().astype(np.int64)
    finish[3] = NEVER
    start = np.zeros(4, dtype=np.int64)
    found = slowdowns(platform, SimulationSettings(PACKETS), workload, np.arange(4), start, finish)
    assert found[:3] == pytest.approx([2, 3, 1])
    assert np.isnan(found[3])
    acknowledged = SimulationSettings(PACKETS, transport=TransportSettings("go-back-n", ends_acknowledged=True))
    again = slowdowns(platform, acknowledged, workload, np.arange(4), start, finish + return_path.astype(np.int64))
    assert again[:3] == pytest.approx([2, 3, 1])


def test_large_flows_do_not_overflow(platform: FabricArrays) -> None:
    size = 64 << 30
    workload = flows((0, 127, size))
    ideal = 8_320_000 + (size + 48 * -(-size // 1000)) * 80
    end = np.array([2 * ideal])
    settings = SimulationSettings(PACKETS, transport=TransportSettings("go-back-n", ends_acknowledged=True))
    assert slowdowns(platform, settings, workload, np.arange(1), np.zeros(1, dtype=np.int64), end) == pytest.approx([2])
    sent = np.full(platform.link_count, size)
    outcome = outcome_of(platform, [0], [10**13], link_bytes=sent, end_ps=10**13)
    assert link_loads(platform, outcome) == pytest.approx(size * 8 / 10 / G100)


def test_percentiles_are_interpolated_between_ranks() -> None:
    found = distribution(np.arange(101.0))
    assert found.pop("p999") == pytest.approx(99.9)
    assert found == {"count": 101, "mean": 50, "p50": 50, "p95": 95, "p99": 99, "max": 100}
    assert distribution(np.array([1.0, 2.0]))["p95"] == pytest.approx(1.95)
    assert distribution(np.array([])) == NO_VALUES


@pytest.mark.parametrize(
    ("kind", "ranks", "expected"),
    [("all-reduce", 4, 1.5), ("all-gather", 4, 0.75), ("reduce-scatter", 2, 0.5), ("broadcast", 7, 1.0)],
)
def test_bus_bandwidth_is_that_of_nccl_tests(kind: str, ranks: int, expected: float) -> None:
    # 10^9 bytes in 1 s, twice.
    assert bus_bandwidth(Collective(kind, ranks, 10**9), 2 * 10**12, 2) == expected
    assert bus_bandwidth(Collective(kind, ranks, 10**9), 0, 0) is None


def two_steps() -> Workload:
    builder = TaskBuilder()
    job = builder.job("train")
    end = -1
    for _ in range(2):
        end = int(builder.computations(1, 10**6, end, job)[0])
        end = builder.send(job, np.array([0]), np.array([2]), 1000, end).end.tolist()[0]
        builder.step(job, end)
    builder.flows(np.array([1]), np.array([3]), 500, 0, label="mice")
    return builder.finish()


def test_jobs_links_and_queues() -> None:
    fabric = clos(2, 1, 2, host_bps=G100, uplink_bps=G100)
    workload = two_steps()
    # Computation, flow, computation, flow; and a mouse.
    more = {
        "link_bytes": np.arange(fabric.link_count) * 100,
        "link_peak": np.arange(fabric.link_count) % 5,
        "link_marks": np.ones(fabric.link_count, dtype=np.int64),
        "end_ps": 10**6,
    }
    outcome = outcome_of(fabric, [0, 10, 30, 40, 5], [10, 30, 40, 50, NEVER], **more)
    counted = counted_flows(fabric, workload, SimulationSettings(), outcome)
    found = statistics(fabric, workload, outcome, {"train": Collective("all-reduce", 2, 1000)}, counted)
    job = found["jobs"]["train"]
    assert (job["time_us"], job["steps"], job["step_us"]["max"]) == (50e-6, 2, 30e-6)
    assert job["bus_bandwidth"] == 2 * 1000 * 1000 / 50
    assert set(found["flows"]) == {"message", "mice"}
    mice = found["flows"]["mice"]
    assert (mice["flows"], mice["ended"], mice["bytes"], mice["fct_us"]) == (1, 0, 500, NO_VALUES)
    assert found["flows"]["message"]["fct_us"]["mean"] == pytest.approx(15e-6)
    assert list(found["links"]) == ["host to leaf", "leaf to host", "leaf to spine", "spine to leaf"]
    up = found["links"]["host to leaf"]
    assert (up["links"], up["marks"]) == (4, 4)
    # The fourth link sent 300 bytes in 1 us.
    assert up["max_load"] == pytest.approx(300 * 8 / 10**5)
    assert not found["complete"]
    assert found["ended"] == 4
    peaks = [max(p for p, s in zip(outcome.link_peak, fabric.link_source, strict=True) if s == n) for n in range(7)]
    assert found["mean_node_peak"] == sum(peaks) / 7
    assert json.loads(json.dumps(found)) == found


def test_flows_to_slower_nics_are_counted_where_there_are_any() -> None:
    """Host 1 is twice as fast as the others: its flows count, neither those to it nor computations do."""
    fabric, workload = clos(2, 1, 2, host_bps=G100, uplink_bps=G100), two_steps()
    outcome = outcome_of(fabric, [0, 10, 30, 40, 5], [10, 30, 40, 50, NEVER], end_ps=10**6)
    counted = counted_flows(fabric, workload, SimulationSettings(), outcome)
    assert "to_slower_nic" not in statistics(fabric, workload, outcome, {}, counted)
    ends = (fabric.link_source == 1) | (fabric.link_target == 1)
    mixed = replace(fabric, rate_bps=np.where(ends, 2, 1) * fabric.rate_bps)
    assert statistics(mixed, workload, outcome, {}, counted)["to_slower_nic"] == {"flows": 1, "of": 3}


def test_flows_before_a_time_do_not_count() -> None:
    fabric = clos(2, 1, 2, host_bps=G100, uplink_bps=G100)
    workload = flows((0, 1, 10), (0, 1, 10), (0, 1, 10))
    outcome = outcome_of(fabric, [100, 105, NEVER], [109, 109, NEVER])
    for after_ps in (5, 0):
        counted = counted_flows(fabric, workload, SimulationSettings(), outcome, after_ps)
        found = statistics(fabric, workload, outcome, {}, counted)["flows"]["flow"]
        assert found["flows" if after_ps else "ended"] == 2


def test_a_job_that_does_not_end_has_the_steps_that_did() -> None:
    fabric = clos(2, 1, 2, host_bps=G100, uplink_bps=G100)
    outcome = outcome_of(fabric, [0, 10, 30, 40, 5], [10, 30, 40, NEVER, NEVER])
    counted = counted_flows(fabric, two_steps(), SimulationSettings(), outcome)
    job = statistics(fabric, two_steps(), outcome, {}, counted)["jobs"]["train"]
    assert (job["time_us"], job["steps"], job["step_us"]["max"], job["bus_bandwidth"]) == (None, 1, 30e-6, None)
