"""Intervals over seeds: Student's t against its table, and the jackknife where it is known."""

from __future__ import annotations

import math

import pytest

from ailb_gen.study.spread import all_of, decided, half_width, jackknife, student

VALUES = (3.0, 5.0, 4.0, 8.0)


@pytest.mark.parametrize(
    ("freedom", "t"), [(1, 12.706), (2, 4.303), (3, 3.182), (4, 2.776), (9, 2.262), (29, 2.045), (120, 1.980)]
)
def test_quantiles_are_those_of_the_table(freedom: int, t: float) -> None:
    assert student(freedom) == pytest.approx(t, abs=6e-4)


def test_the_jackknife_of_a_mean_is_students_interval() -> None:
    parts = [(sum(VALUES) - one) / 3 for one in VALUES]
    assert jackknife(parts, 3) == pytest.approx(half_width(VALUES))
    assert half_width(VALUES) == pytest.approx(3.182 * math.sqrt(14 / 3) / 2, rel=1e-3)


def test_what_does_not_vary_has_no_interval() -> None:
    assert half_width((2.0,)) == half_width((2.0, 2.0)) == jackknife([1.0, 1.0], 1) == jackknife([], 0) == 0


@pytest.mark.parametrize(
    ("margin", "half", "strict", "outcome"),
    [
        (0.03, 0.02, True, "holds"),
        (0.03, 0.04, True, "undecided"),
        (0.01, 0.0, True, "does not hold"),
        (0.01, 0.02, True, "undecided"),
        (0.0, 0.02, False, "holds"),
        (0.0, 0.03, False, "undecided"),
        (-0.05, 0.035, False, "undecided"),
        (-0.05, 0.02, False, "does not hold"),
        (math.nan, 0.0, True, "undecided"),
    ],
)
def test_outcomes_at_a_tolerance_of_2_percent(margin: float, half: float, strict: bool, outcome: str) -> None:
    assert decided(margin, half, 0.02, strict) == outcome


def test_all_of_several_is_the_worst() -> None:
    assert all_of(["holds", "undecided"]) == "undecided"
    assert all_of(["undecided", "does not hold", "holds"]) == "does not hold"
    assert all_of([]) == "holds"
