"""The table of a what-if study and what follows from it, from made-up results."""

from __future__ import annotations

from typing import Any

from ailb_gen.study.model import BarFigure, CaseResults, Summary
from ailb_gen.study.what_if.summary import WhatIfCosts

CASES = {
    (balancer, failure): f"{balancer}, {failure}" for balancer in ("rlb", "ecmp") for failure in ("none", "spine1")
}
READING = WhatIfCosts(CASES, scale=10, alone_ps=8 * 10**11, packets=True)


def point(step_us: float | None, reordered: int = 0, pauses: int = 0) -> dict[str, Any]:
    return {
        "jobs": {"training": {"time_us": step_us, "step_us": {"mean": step_us}}},
        "flows": {"all-reduce": {"out_of_order": reordered}},
        "links": {"leaf to spine": {"pauses": pauses}, "spine to leaf": {"pauses": 1}},
    }


def summary(**cases: list[dict[str, Any]]) -> Summary:
    names = {"rlb": "rlb, none", "rlb_failed": "rlb, spine1", "ecmp": "ecmp, none", "ecmp_failed": "ecmp, spine1"}
    return READING.summary(CaseResults({names[key]: points for key, points in cases.items()}))


def test_cost_and_waiting() -> None:
    """Steps of 100,000 us scaled by 10 are 1 s, of which 0.8 s are work."""
    found = summary(
        rlb=[point(100_000), point(100_000)],
        rlb_failed=[point(110_000)],
        ecmp=[point(120_000, 3, 4), point(140_000, 5, 8)],
    )
    assert found.table == [
        ("balancer", "failure", "step s", "cost %", "waiting %", "reordered", "pauses"),
        ["rlb", "none", "1.000", "0.0", "20.0", "0", "1"],
        ["rlb", "spine1", "1.100", "10.0", "27.3", "0", "1"],
        ["ecmp", "none", "1.300 (1.20-1.40)", "30.0", "38.5", "4", "7"],
    ]
    assert found.conclusions == [
        "Without failures a step takes 1.000 s under rlb. 20.0 % of it is waiting for the fabric: the most that a "
        "faster fabric can save.",
        "ecmp costs 30.0 (20.0 to 40.0) % more time.",
        "spine1: 10.0 % more time under rlb.",
    ]


def test_short_steps_are_in_a_unit_of_their_own() -> None:
    """Steps of 3.5 us scaled by 10 are 35 us."""
    reading = WhatIfCosts(CASES, scale=10, alone_ps=28 * 10**6, packets=True)
    found = reading.summary(CaseResults({"rlb, none": [point(3.5)]}))
    assert [row[2] for row in found.table] == ["step us", "35.00"]
    assert found.table[1][4] == "20.0"
    assert found.conclusions[0].startswith("Without failures a step takes 35.00 us under rlb. 20.0 % of it")


def test_equal_times_and_failures_that_cost_nothing() -> None:
    found = summary(rlb=[point(100_000)], rlb_failed=[point(100_040)], ecmp=[point(99_999)])
    assert [row[3] for row in found.table[1:]] == ["0.0", "0.0", "0.0"]
    assert found.conclusions[1:] == [
        "ecmp: the same time as rlb, within 0.1 %.",
        "spine1: no more time under rlb, within 0.1 %.",
    ]


def test_ranges_that_overlap_are_not_told_apart() -> None:
    found = summary(rlb=[point(100_000), point(120_000)], ecmp=[point(110_000), point(130_000)])
    assert "not with every seed: their times overlap" in found.conclusions[1]


def test_another_one_may_be_better_with_a_failure() -> None:
    found = summary(
        rlb=[point(100_000)], rlb_failed=[point(200_000)], ecmp=[point(110_000)], ecmp_failed=[point(120_000)]
    )
    assert found.conclusions[-1] == "spine1: ecmp is faster, 1.200 s per step."


def test_a_job_that_does_not_end_is_told() -> None:
    found = summary(rlb=[point(100_000)], rlb_failed=[point(None)], ecmp=[point(110_000), point(None)])
    assert [row[2] for row in found.table[1:]] == [
        "1.000",
        "does not complete",
        "1.100; does not complete with 1 of 2 seeds",
    ]
    assert found.table[2][3:5] == ["-", "-"]
    assert "spine1: the job does not complete under rlb." in found.conclusions


def test_nothing_known_is_no_result() -> None:
    assert summary().conclusions == []
    assert len(summary().table) == 1


def test_flows_have_no_order_and_no_pauses() -> None:
    reading = WhatIfCosts(CASES, scale=1, alone_ps=10**11, packets=False)
    found = reading.summary(CaseResults({"rlb, none": [point(200_000)]}))
    assert found.table[1] == ["rlb", "none", "0.2000", "0.0", "50.0", "-", "-"]


def test_the_figure_has_a_group_per_failure() -> None:
    (figure,) = READING.figures(CaseResults({"rlb, none": [point(100_000)], "rlb, spine1": [point(None)]}))
    assert isinstance(figure, BarFigure)
    assert {name: list(group) for name, group in figure.bars.items()} == {"none": ["rlb"], "spine1": []}
