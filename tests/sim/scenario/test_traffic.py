"""The `priority` of an entry is the class of its packets: what is served first overtakes the rest."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from ailb_gen.sim.point import Point, simulate
from ailb_gen.sim.scenario.fabrics import NO_CLASSES, NOT_FOLLOWED, points_of
from ailb_gen.sim.scenario.load import parse
from tests.sim.engine.cases import needs_compiler

BULK, MICE = "kind: incast, bytes: 1MiB, queue_pairs: 1", "bytes: 1KiB, interval: 5us, count: 40, other_leaves: true"


def a_point(bulk: int = 0, mice: int = 0, scheduling: str = "strict", level: str = "packet") -> tuple[Point, list[str]]:
    text = f"""\
fabric: {{clos: {{leaves: 2, spines: 1, hosts_per_leaf: 3}}}}
traffic: [{{collective: {{{BULK}, priority: {bulk}}}}}, {{mice: {{{MICE}, priority: {mice}}}}}]
switches: {{shared_buffer: 64MiB, egress_alpha: 16, scheduling: {scheduling}}}
level: {level}
"""
    ((point,), warnings) = points_of(parse(text, "scenario.yaml"), Path())
    return point, warnings


def mean_us(bulk: int, mice: int, scheduling: str = "strict") -> tuple[float, float]:
    """Return the mean time of mice, and the time of the job."""
    point, warnings = a_point(bulk, mice, scheduling)
    assert not warnings
    found = simulate(point, tables=False).statistics
    assert found["complete"]
    return found["flows"]["mice"]["fct_us"]["mean"], found["jobs"]["incast"]["time_us"]


@needs_compiler
def test_small_flows_in_the_first_class_overtake_large_ones() -> None:
    alike, job = mean_us(0, 0)
    assert mean_us(3, 3) == (alike, job)
    first, job_behind = mean_us(1, 0)
    in_turn, _ = mean_us(1, 0, "round-robin")
    last, job_ahead = mean_us(0, 7)
    assert first < 0.2 * alike
    assert first <= in_turn < 0.5 * alike
    assert last > alike
    assert job_ahead <= job <= job_behind < 1.1 * job


def test_entries_have_classes_of_their_own() -> None:
    point, _ = a_point(2, 5)
    workload = point.recipe.build(point.fabric, 1).workload
    assert workload.priority is not None
    mice = np.array(workload.labels)[workload.label] == "mice"
    assert set(workload.priority[mice].tolist()) == {5}
    assert set(workload.priority[~mice].tolist()) == {2}
    point, _ = a_point()
    assert point.recipe.build(point.fabric, 1).workload.priority is None


@pytest.mark.parametrize(("mice", "warnings"), [(0, []), (1, [NO_CLASSES])])
def test_flows_as_fluid_have_no_classes(mice: int, warnings: list[str]) -> None:
    assert a_point(0, mice, level="flow")[1] == warnings


def test_flows_as_fluid_say_which_congestion_control_they_do_not_follow(monkeypatch: pytest.MonkeyPatch) -> None:
    text = f"fabric: {{clos: {{leaves: 2, spines: 1, hosts_per_leaf: 3}}}}\ntraffic: [{{collective: {{{BULK}}}}}]\n"
    variants = parse(f"{text}congestion: dcqcn\nlevel: flow\n", "scenario.yaml")
    assert points_of(variants, Path())[1] == []
    monkeypatch.setattr("ailb_gen.sim.scenario.fabrics.FOLLOWED", ("none",))
    assert points_of(variants, Path())[1] == [NOT_FOLLOWED.format("dcqcn")]
