"""The study of queue pairs: published numbers, claims both ways, all scenarios, and the study for real."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pytest

from ailb_gen.study.catalog import read_study
from ailb_gen.study.model import CaseResults, StudyOptions
from ailb_gen.study.points import study_points
from ailb_gen.study.rows import compared
from tests.sim.engine.cases import needs_compiler
from tests.study.made import failing, simulated

Key = tuple[str, int, int]
REDUCE, EXCHANGE = "all-reduce", "all-to-all"
QUEUE_PAIRS = (1, 2, 4, 8, 16, 32)
STUDY = read_study("queue-pairs", StudyOptions())
# By collective and uplinks, in the order of QUEUE_PAIRS.
PUBLISHED = {
    (collective, uplinks): [
        row.value for row in STUDY.published if row.value and row.case.startswith(f"{collective}, {uplinks} uplinks,")
    ]
    for collective in (REDUCE, EXCHANGE)
    for uplinks in (4, 8)
}


def name(key: Key) -> str:
    return "{}, {} uplinks, {} queue pair".format(*key) + ("s" if key[2] > 1 else "")


def results(changes: Mapping[Key, float] | None = None) -> CaseResults:
    """The published numbers, but for some."""
    values = {
        (*key, count): value for key, row in PUBLISHED.items() for count, value in zip(QUEUE_PAIRS, row, strict=True)
    }
    values |= changes or {}
    return CaseResults({name(key): [{"jobs": {"job": {"bus_bandwidth": value}}}] for key, value in values.items()})


def test_no_published_bandwidth_is_above_that_of_eight_nics() -> None:
    assert max(value for row in PUBLISHED.values() for value in row) < 8 * 50
    # What NICs pay for many queue pairs is the same with 4 and 8 uplinks.
    for collective in (REDUCE, EXCHANGE):
        few, many = (np.array(PUBLISHED[collective, uplinks][3:]) for uplinks in (4, 8))
        assert np.abs(few / many - 1).max() < 0.01


def test_in_the_published_table_all_to_all_over_8_uplinks_is_best_with_4_queue_pairs() -> None:
    assert failing(STUDY, results()) == {3}
    assert failing(STUDY, results({(EXCHANGE, 8, 8): 43.4})) == set()


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
    assert failing(STUDY, results(changes)) - {3} == fails - {3}


def test_predictions_are_those_with_8_uplinks_and_calibration_those_with_4() -> None:
    study = STUDY
    assert len(study.published) == 24
    assert all((row.role == "predicted") == ("8 uplinks" in row.case) for row in study.published)
    assert all("4 uplinks" in row.case for row in study.published if row.role == "calibrated")
    assert [row.deviation for row in compared(study, results())] == pytest.approx([0.0] * 24)


def test_leaves_have_the_same_capacity() -> None:
    points, _ = study_points(STUDY, Path())
    for one in points:
        fabric = one.fabric
        leaf = fabric.names.index("leaf1")
        up = (fabric.link_source == leaf) & (fabric.link_target >= fabric.names.index("spine1"))
        assert fabric.rate_bps[up].sum() == 800 * 10**9


@pytest.mark.long
@needs_compiler
def test_the_study() -> None:
    study = read_study("queue-pairs", StudyOptions(quick=True))
    found = simulated(study)
    assert failing(STUDY, found) == {3}
    calibrated = [row.deviation or 0.0 for row in compared(study, found) if row.published.role == "calibrated"]
    assert max(map(abs, calibrated)) < 0.07
