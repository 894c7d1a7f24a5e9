"""The comparison of expected and observed: every subject that deviates, in order, and no other."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from ailb_gen.checks.compare import Deviation, deviations, summary

STATES = st.dictionaries(st.integers(0, 9), st.integers(0, 3))


@given(STATES, STATES)
def test_every_deviation_is_found_once_and_in_order(expected: dict[int, int], observed: dict[int, int]) -> None:
    subjects = sorted(expected.keys() | observed.keys())
    different = [one for one in subjects if expected.get(one) != observed.get(one)]
    assert deviations(expected, observed) == [Deviation(one, expected.get(one), observed.get(one)) for one in different]


def test_values_may_be_compared_otherwise() -> None:
    expected, observed = {"a": {1, 2}, "b": {3}}, {"a": 1, "b": 1, "c": 7}
    found = deviations(expected, observed, lambda allowed, value: value in allowed)
    assert found == [Deviation("b", {3}, 1), Deviation("c", None, 7)]


def test_a_summary_counts_the_others() -> None:
    assert [summary(["a"]), summary(["a", "b", "c"])] == ["a", "a (and 2 more)"]
