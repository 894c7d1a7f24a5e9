"""What studies measure besides statistics, on outcomes that are made up."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from ailb_gen.sim.clos import clos
from ailb_gen.sim.fabric import PS_PER_US, FabricArrays
from ailb_gen.sim.failures import without_links
from ailb_gen.sim.point import Point, SimulationRun, Traffic, run_of
from ailb_gen.sim.scenario.recipe import TrafficRecipe
from ailb_gen.sim.settings import SimulationSettings
from ailb_gen.sim.traffic.arrivals import mice
from ailb_gen.sim.traffic.builder import TaskBuilder
from ailb_gen.study.extras import EndedBy, LinkRates, LoadByRate, SlowdownBySize, StepTimes, UnusedCables
from tests.sim.double import outcome_of

FABRIC = clos(2, 2, 2, host_bps=10**10, uplink_bps=10**10)


def run_on(fabric: FabricArrays) -> SimulationRun:
    work = mice(np.arange(4, dtype=np.int32), np.full(4, 100), PS_PER_US, 1)
    return run_of(Point("one", 1, "packet", fabric, SimulationSettings(), TrafficRecipe((), Path())), Traffic(work))


def test_flows_that_end_in_time_are_counted_and_others_are_not() -> None:
    finish = [5 * PS_PER_US, 11 * PS_PER_US, 12 * PS_PER_US + 1, -1]
    outcome = outcome_of(FABRIC, [0, PS_PER_US, 2 * PS_PER_US, 3 * PS_PER_US], finish)
    found = EndedBy("mice", 12)(run_on(FABRIC), outcome)
    assert (found["count"], found["mean"], found["max"]) == (2, 7.5, 10.0)
    assert found["p95"] == pytest.approx(9.75)
    assert EndedBy("mice", 4)(run_on(FABRIC), outcome)["mean"] is None


def test_cables_that_no_set_has_are_unused() -> None:
    outcome = outcome_of(FABRIC, [], [])
    assert UnusedCables()(run_on(FABRIC), outcome) == 0
    # A cable to a host, and one between switches.
    assert UnusedCables()(run_on(without_links(FABRIC, [0, 9])), outcome) == 2


def test_rates_of_links_by_name_over_time() -> None:
    load = np.zeros((2, FABRIC.link_count), dtype=np.int64)
    uplink = next(link for link, name in enumerate(FABRIC.link_names) if name.startswith("leaf1:"))
    load[1, uplink] = 125_000
    outcome = replace(outcome_of(FABRIC, [], []), load=load, load_interval_ps=10 * PS_PER_US)
    found = LinkRates("leaf1:*")(run_on(FABRIC), outcome)
    assert set(found) == {name for name in FABRIC.link_names if name.startswith("leaf1:")}
    # 125 kB in 10 us.
    assert found[FABRIC.link_names[uplink]] == [0.0, 100.0]


def test_times_of_steps_that_ended() -> None:
    builder = TaskBuilder()
    job = builder.job("work")
    tasks = builder.computations(3, PS_PER_US, job=job)
    for task in tasks:
        builder.step(job, int(task))
    run = replace(run_on(FABRIC), workload=builder.finish())
    outcome = outcome_of(FABRIC, [PS_PER_US] * 3, [3 * PS_PER_US, 8 * PS_PER_US, -1])
    assert StepTimes("work")(run, outcome) == [[3.0, 2.0], [8.0, 5.0]]


def test_slowdowns_are_by_size_and_leave_out_what_does_not_count() -> None:
    sizes = np.array([100, 101, 5000, 5001, 9000])
    work = mice(np.arange(4, dtype=np.int32), sizes, PS_PER_US, 1)
    point = Point("one", 1, "packet", FABRIC, SimulationSettings(), TrafficRecipe((), Path()), after_ps=PS_PER_US)
    run = run_of(point, Traffic(work))
    start = [number * PS_PER_US for number in range(5)]
    finish = [50 * PS_PER_US, 1050 * PS_PER_US, 1050 * PS_PER_US, 2050 * PS_PER_US, -1]
    found = SlowdownBySize((100, 5000))(run, outcome_of(FABRIC, start, finish))
    assert [(row["edge"], row["flows"]) for row in found] == [(100, 0), (5000, 2), (None, 1)]
    assert found[0]["mean"] is None
    slow = [row["mean"] for row in found[1:]]
    assert slow[0] is not None and slow[1] is not None
    assert 1 < slow[0] < slow[1]


def test_loads_are_by_rate_and_between_two_tiers() -> None:
    fabric = clos(2, 2, 2, host_bps=10**10, uplink_bps=[10**10, 10**9])
    # 10 Gb/s are 1,250 bytes in 1 us.
    full = np.full(fabric.link_count, 1250, dtype=np.int64)
    outcome = outcome_of(fabric, [0], [PS_PER_US * 10], link_bytes=full)
    assert LoadByRate("leaf", "spine")(run_on(fabric), outcome) == {"1": 1.0, "10": 0.1}
    assert LoadByRate("host", "leaf")(run_on(fabric), outcome) == {"10": 0.1}
