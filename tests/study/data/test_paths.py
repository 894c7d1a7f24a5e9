"""The study of paths: every claim both ways."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from ailb_gen.study.catalog import read_study
from ailb_gen.study.model import CaseResults, StudyOptions
from tests.study.made import failing

STUDY = read_study("paths", StudyOptions())
# Times in ms, bus bandwidths and slowdowns: claims hold.
FINE = {
    "stride, ECMP": 40.0,
    "stride, Presto": 14.9,
    "stride, random spray": 15.0,
    "stride, one switch": 14.0,
    **{f"{loss} % loss, one path": 1.0 for loss in (0.5, 1, 5, 10)},
    **{f"{loss} % loss, MP-RDMA": 2.1 for loss in (0.5, 1, 5, 10)},
    **{f"IRN, {load} %, ECMP": 6.0 for load in (50, 80)},
    **{f"IRN, {load} %, PLB": 5.0 for load in (50, 80)},
    **{f"lossless, {load} %, {name}": 6.0 for load in (50, 80) for name in ("ECMP", "LetFlow", "CONGA")},
    **{f"lossless, {load} %, SeqBalance": 5.0 for load in (50, 80)},
}


def point(value: float) -> dict[str, Any]:
    return {
        "jobs": {"permutation": {"time_us": value * 1000, "bus_bandwidth": value}},
        "flows": {"arrivals": {"slowdown": {"mean": value, "p99": value}, "rerouted": 1, "flows": 2}},
    }


@pytest.mark.parametrize(
    ("changes", "fails"),
    [
        ({}, set()),
        ({"stride, Presto": 15.5}, {0}),
        ({"stride, ECMP": 14.5}, {1}),
        ({"5 % loss, MP-RDMA": 1.9}, {4}),
        ({"IRN, 80 %, PLB": 6.1}, {7}),
        ({"lossless, 50 %, CONGA": 4.9}, {8, 9}),
        ({"lossless, 80 %, SeqBalance": 6.1}, {10, 11}),
    ],
)
def test_claims_hold_and_fail(changes: Mapping[str, float], fails: set[int]) -> None:
    values = {**FINE, **changes}
    assert values.keys() == {case.name for case in STUDY.cases}
    assert failing(STUDY, CaseResults({case: [point(value)] for case, value in values.items()})) == fails
