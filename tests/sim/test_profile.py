"""The profile of a point: distributions, loads of pairs of switches, and the series of its run."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest

from ailb_gen.sim.fabric import FabricArrays
from ailb_gen.sim.outcome import SimulationOutcome
from ailb_gen.sim.profile import PAIRS, RANKS, STEPS, Profile, profile
from ailb_gen.sim.series import sampler_of
from ailb_gen.sim.settings import SimulationSettings
from ailb_gen.sim.statistics import counted_flows
from ailb_gen.sim.workload import Workload
from tests.sim import double
from tests.sim.engine.cases import flows, leaf_spine

FABRIC = leaf_spine(2, 2, 2)
WORK = flows([0, 1, 2], [2, 3, 0], [1000, 2000, 3000])


def profiled(fabric: FabricArrays, work: Workload, outcome: SimulationOutcome, after_ps: int = 0) -> Profile:
    return profile(fabric, work, outcome, counted_flows(fabric, work, SimulationSettings(), outcome, after_ps))


def test_a_profile_is_plain_data_that_comes_back_as_it_was() -> None:
    outcome = double.simulate(
        FABRIC, WORK, SimulationSettings(), 1, None, sampler_of(FABRIC, WORK, SimulationSettings())
    )
    found = profiled(FABRIC, WORK, outcome)
    assert json.loads(json.dumps(found)) == found
    (label,) = WORK.labels
    assert found["fct_us"][label] == pytest.approx([1.08, 1.16, 1.24])
    assert len(found["slowdown"][label]) == 3
    assert set(found["loads"]) == {"host to leaf", "leaf to host", "leaf to spine", "spine to leaf"}
    series = found["series"]
    assert series["edges_us"][0] == 0
    assert series["edges_us"][-1] == pytest.approx(found["end_us"])
    assert all(len(row) == len(series["edges_us"]) - 1 for tier in series["tiers"].values() for row in tier.values())


def test_flows_that_do_not_count_and_those_that_have_not_ended_are_no_part_of_a_distribution() -> None:
    late = replace(WORK, start_ps=np.array([0, 10_000_000, 20_000_000]))
    outcome = double.simulate(FABRIC, late, SimulationSettings(), 1)
    finish = outcome.finish_ps.copy()
    finish[2] = -1
    found = profiled(FABRIC, late, replace(outcome, finish_ps=finish), after_ps=5_000_000)
    assert found["fct_us"][WORK.labels[0]] == pytest.approx([1.16])
    assert found["series"] is None


def test_many_values_are_ranked() -> None:
    many = flows([0] * 500, [2] * 500, np.arange(500) + 1000)
    found = profiled(FABRIC, many, double.simulate(FABRIC, many, SimulationSettings(), 1))
    times = found["fct_us"][many.labels[0]]
    assert len(times) == RANKS
    assert times == sorted(times)
    assert times[0] == pytest.approx(1.08)


def test_of_many_steps_of_a_job_some_are_kept_with_their_numbers() -> None:
    count = 2 * STEPS
    work = flows([0] * count, [2] * count, [1000] * count)
    work = replace(work, jobs=("job",), job=np.zeros(count, np.int32), steps=(np.arange(count, dtype=np.int32),))
    outcome = double.simulate(FABRIC, work, SimulationSettings(), 1)
    ends = (np.arange(count) + 1) ** 2 * 1_000_000
    found = profiled(FABRIC, work, replace(outcome, start_ps=ends * 0, finish_ps=ends))["steps_us"]["job"]
    assert len(found) == STEPS
    assert (found[0], found[-1]) == ([1, 1], [count, 2 * count - 1])
    assert all(time == 2 * step - 1 for step, time in found)


def test_the_load_of_every_leaf_and_spine_is_kept_of_small_fabrics() -> None:
    double_links = leaf_spine(2, 2, 1, leaf_spine_links=2)
    work = flows([0], [1], [1000])
    outcome = double.simulate(double_links, work, SimulationSettings(), 1)
    sent = np.where(np.arange(double_links.link_count) % 2, 0, 1000)
    pairs = profiled(double_links, work, replace(outcome, link_bytes=sent))["pairs"]
    assert (pairs["leaves"], pairs["spines"]) == (["leaf1", "leaf2"], ["spine1", "spine2"])
    assert np.array(pairs["up"]).shape == (2, 2)
    assert max(max(row) for row in pairs["up"]) <= 1000 * 8 / 100e9 / (outcome.end_ps / 1e12)
    wide = leaf_spine(PAIRS + 1, 1, 1)
    assert profiled(wide, work, double.simulate(wide, work, SimulationSettings(), 1))["pairs"] is None
