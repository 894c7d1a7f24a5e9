"""The study of queue pairs: published numbers, claims both ways, all scenarios, and the study for real."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pytest

from ailb_gen.sim.point import simulate
from ailb_gen.study.catalog.queue_pairs import EXCHANGE, PUBLISHED, QUEUE_PAIRS, REDUCE, queue_pairs
from ailb_gen.study.model import Findings, Options
from ailb_gen.study.points import study_points
from ailb_gen.study.rows import checked, compared
from tests.sim.engine.cases import needs_compiler

Key = tuple[str, int, int]


def name(key: Key) -> str:
    return "{}, {} uplinks, {} queue pair".format(*key) + ("s" if key[2] > 1 else "")


def findings(changes: Mapping[Key, float] | None = None) -> Findings:
    """The published numbers, but for some."""
    values = {
        (*key, count): value for key, row in PUBLISHED.items() for count, value in zip(QUEUE_PAIRS, row, strict=True)
    }
    values |= changes or {}
    return Findings({name(key): [{"jobs": {"job": {"bus_bandwidth": value}}}] for key, value in values.items()})


def failing(found: Findings) -> set[int]:
    every = checked(queue_pairs(Options()), found)
    return {number for number, one in enumerate(every) if one.verdict is None or not one.verdict.holds}


def test_no_published_bandwidth_is_above_that_of_eight_nics() -> None:
    assert max(value for row in PUBLISHED.values() for value in row) < 8 * 50
    # What NICs pay for many queue pairs is the same with 4 and 8 uplinks.
    for collective in (REDUCE, EXCHANGE):
        few, many = (np.array(PUBLISHED[collective, uplinks][3:]) for uplinks in (4, 8))
        assert np.abs(few / many - 1).max() < 0.01


def test_in_the_published_table_all_to_all_over_8_uplinks_is_best_with_4_queue_pairs() -> None:
    assert failing(findings()) == {3}
    assert failing(findings({(EXCHANGE, 8, 8): 43.4})) == set()


@pytest.mark.parametrize(
    ("changes", "fails"),
    [
        ({(REDUCE, 4, 2): 390.0}, {0, 3}),
        ({(REDUCE, 8, 16): 391.0}, {1, 3, 4}),
        ({(EXCHANGE, 4, 2): 61.0}, {2, 3}),
        ({(EXCHANGE, 4, 32): 20.0}, {3, 5}),
        ({(EXCHANGE, 8, count): 99.0 for count in QUEUE_PAIRS} | {(REDUCE, 8, 1): 99.0}, {3, 5, 6}),
    ],
)
def test_claims_fail_for_other_numbers(changes: dict[Key, float], fails: set[int]) -> None:
    assert failing(findings(changes)) - {3} == fails - {3}


def test_predictions_are_those_with_8_uplinks_and_calibration_those_with_4() -> None:
    study = queue_pairs(Options())
    assert len(study.published) == 24
    assert all((row.role == "predicted") == ("8 uplinks" in row.case) for row in study.published)
    assert all("4 uplinks" in row.case for row in study.published if row.role == "calibrated")
    assert [row.deviation for row in compared(study, findings())] == pytest.approx([0.0] * 24)


def test_all_scenarios_are_valid_and_leaves_have_the_same_capacity() -> None:
    points, warnings = study_points(queue_pairs(Options()), Path())
    assert not warnings
    assert len(points) == 24
    for one in points:
        fabric = one.fabric
        leaf = fabric.names.index("leaf1")
        up = (fabric.link_source == leaf) & (fabric.link_target >= fabric.names.index("spine1"))
        assert fabric.rate_bps[up].sum() == 800 * 10**9


@pytest.mark.long
@needs_compiler
def test_the_study() -> None:
    study = queue_pairs(Options(quick=True))
    points, _ = study_points(study, Path())
    found = Findings({one.variant: [simulate(one, tables=False).statistics] for one in points})
    assert failing(found) == {3}
    calibrated = [row.deviation or 0.0 for row in compared(study, found) if row.published.role == "calibrated"]
    assert max(map(abs, calibrated)) < 0.07
