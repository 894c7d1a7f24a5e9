"""The study of congestion control: every claim both ways."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from ailb_gen.study.catalog import read_study
from ailb_gen.study.model import CaseResults, StudyOptions
from tests.study.made import failing

STUDY = read_study("congestion", StudyOptions())
# Queues, drops and slowdowns, and pauses: claims hold.
FINE = {
    "none": (100.0, 9.0),
    "DCQCN": (60.0, 5.0),
    "DCTCP": (30.0, 1.0),
    "TIMELY": (50.0, 5.0),
    "Swift": (20.0, 0.0),
    "HPCC": (10.0, 0.0),
    "ZTR-RTT": (99.0, 8.0),
}
PLACES = ("incast", "lossy incast", "AliStorage, 50 %")


def point(value: float, pauses: float) -> dict[str, Any]:
    return {
        "jobs": {"incast": {"time_us": value}},
        "peak_packets": value,
        "totals": {"drops": value},
        "links": [{"pauses": pauses}],
        "flows": {"arrivals": {"slowdown": {"mean": value, "p99": value}}},
    }


@pytest.mark.parametrize(
    ("changes", "fails"),
    [
        ({}, set()),
        ({"incast, HPCC": (51, 0)}, {0}),
        ({"incast, HPCC": (10, 1)}, {0}),
        ({"AliStorage, 50 %, HPCC": (55, 0)}, {1}),
        ({"lossy incast, Swift": (31, 0)}, {2}),
        ({"AliStorage, 50 %, TIMELY": (51, 5)}, {3}),
        ({"incast, DCTCP": (103, 1)}, {4}),
        ({"incast, DCQCN": (60, 10)}, {4}),
    ],
)
def test_claims_hold_and_fail(changes: Mapping[str, tuple[float, float]], fails: set[int]) -> None:
    values = {f"{place}, {control}": row for place in PLACES for control, row in FINE.items()}
    values.update(changes)
    assert values.keys() == {case.name for case in STUDY.cases}
    assert failing(STUDY, CaseResults({case: [point(*row)] for case, row in values.items()})) == fails
