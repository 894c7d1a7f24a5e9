"""Quantities: paths in statistics, wildcards, folds, units."""

from __future__ import annotations

from typing import Any

import pytest

from ailb_gen.study.quantities import Quantity
from ailb_gen.study.templates import combinations, filled

POINT: dict[str, Any] = {
    "jobs": {"a": {"time_us": 3000}, "b": {"time_us": 5000, "steps": [[1, 10], [2, 30], [3, 20]]}},
    "flows": {"a": {"marked": 2}, "background": {"marked": 99}},
    "links": {"up": {"links": 3, "mean_load": 0.5}, "down": {"links": 1, "mean_load": 0.1}},
    "rates": {"one": [1, 3], "other": [0, 4]},
    "open": {"a": {"time": 1}, "b": {"time": None}},
}


@pytest.mark.parametrize(
    ("quantity", "value"),
    [
        (Quantity("", "jobs/a/time_us", divide=1000), 3.0),
        (Quantity("", "jobs/none/time_us"), None),
        (Quantity("", "jobs/*/time_us"), 3000.0),
        (Quantity("", "jobs/*/time_us", "max", multiply=2), 10000.0),
        (Quantity("", "jobs/b/steps/*/1", "first"), 10.0),
        (Quantity("", "jobs/b/steps/*/1", "last"), 20.0),
        (Quantity("", "jobs/b/steps/1/0"), 2.0),
        (Quantity("", "jobs/b/steps/9/0"), None),
        (Quantity("", "flows/!background/marked", "sum"), 2.0),
        (Quantity("", "nothing/*/marked", "sum"), 0.0),
        (Quantity("", "links/*", "mean_load", multiply=100), 40.0),
        (Quantity("", "rates/*", "unevenness"), 1.0),
        (Quantity("", "open/*/time", "max"), None),
        (Quantity("", "jobs/a/time_us", per="flows/a/marked"), 1500.0),
    ],
)
def test_a_quantity_is_read_at_its_path(quantity: Quantity, value: float | None) -> None:
    assert quantity.of(POINT) == value


def test_a_quantity_that_is_put_is_read() -> None:
    point: dict[str, Any] = {}
    quantity = Quantity("", "jobs/a/time_us", divide=1000)
    quantity.put(point, 2.5)
    assert point == {"jobs": {"a": {"time_us": 2500.0}}}
    assert quantity.of(point) == 2.5


def test_templates_are_filled_and_what_has_no_value_is_left_out() -> None:
    template = {"name": "x{n}", "whole": "{part}", "none": "{nothing}", "list": ["{nothing}", "{n}"], "plain": 3}
    variables = {"n": 1, "part": {"a": [2]}, "nothing": None}
    assert filled(template, variables) == {"name": "x1", "whole": {"a": [2]}, "list": [1], "plain": 3}


def test_the_last_axis_is_the_fastest_and_rows_have_several_variables() -> None:
    each: dict[str, list[Any]] = {"a": [1, {"a": 2, "more": "m"}], "b": ["x", "y"]}
    assert [(row["a"], row["b"], row.get("more")) for row in combinations(each, {"given": 1})] == [
        (1, "x", None), (1, "y", None), (2, "x", "m"), (2, "y", "m"),
    ]  # fmt: skip
