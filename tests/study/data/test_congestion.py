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
RECEIVERS = {
    f"{place}, {way}": row
    for place, ways in {
        "permutation": {"NDP": (1.2, 0), "DCTCP": (2.0, 0), "DCQCN": (3.0, 0)},
        "short incast": {"NDP": (1170.0, 0), "DCTCP": (2000.0, 0), "DCQCN": (1900.0, 0)},
        "neighbor of an incast": {"NDP": (1.02, 0), "DCTCP": (1.5, 0), "DCQCN": (4.0, 0)},
        "permutation at 2 to 1": {"EQDS": (300.0, 0), "NDP": (330.0, 0), "ECMP": (450.0, 0)},
    }.items()
    for way, row in ways.items()
}
PLACES = ("incast", "lossy incast", "AliStorage, 50 %")


def point(value: float, pauses: float) -> dict[str, Any]:
    return {
        "jobs": {"incast": {"time_us": value}},
        "peak_packets": value,
        "totals": {"drops": value, "trimmed": 0},
        "links": [{"pauses": pauses}],
        "flows": {
            "collective 2: incast": {
                "slowdown": {"mean": value, "p99": value, "max": value},
                "fct_us": {"mean": value, "p50": value - pauses, "max": value},
            }
        },
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
        ({"permutation, NDP": (1.26, 0)}, {5}),
        ({"permutation, DCTCP": (1.21, 0)}, {5}),
        ({"short incast, NDP": (1184, 0)}, {6}),
        ({"short incast, NDP": (1180, 60)}, {6}),
        ({"short incast, DCQCN": (1150, 0)}, {6}),
        ({"neighbor of an incast, NDP": (1.06, 0)}, {7}),
        ({"neighbor of an incast, DCTCP": (1.03, 0)}, {7}),
        ({"permutation at 2 to 1, EQDS": (328, 0)}, {8}),
        ({"permutation at 2 to 1, NDP": (445, 0)}, {8}),
    ],
)
def test_claims_hold_and_fail(changes: Mapping[str, tuple[float, float]], fails: set[int]) -> None:
    values = {f"{place}, {control}": row for place in PLACES for control, row in FINE.items()}
    values |= RECEIVERS
    values.update(changes)
    assert values.keys() == {case.name for case in STUDY.cases}
    assert failing(STUDY, CaseResults({case: [point(*row)] for case, row in values.items()})) == fails
