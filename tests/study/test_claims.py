"""Claims as data: numbers, every rule both ways, and the text."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from ailb_gen.study.claims import (
    RULES,
    ClaimOf,
    ClaimRule,
    Prediction,
    Reproduction,
    claims_of,
)
from ailb_gen.study.model import CaseResults, ClaimVerdict, NotSimulatedError, Published
from ailb_gen.study.quantities import Quantity

TIME, LOST = "time, s", "lost"
QUANTITIES = {TIME: Quantity(TIME, "time", divide=1000), LOST: Quantity(LOST, "lost")}
NAN = float("nan")


def results(**times: Sequence[float | None]) -> CaseResults:
    return CaseResults({case: [{"time": value, "lost": 3} for value in values] for case, values in times.items()})


def verdict(numbers: dict[str, Any], holds: list[dict[str, Any]], found: CaseResults, **more: Any) -> ClaimVerdict:
    spec = ClaimOf.model_validate({"text": "", "numbers": numbers, "holds": holds, "shown": "", **more})
    (claim,) = claims_of(spec, QUANTITIES, None)
    return claim.check(found)


@pytest.mark.parametrize(
    ("rule", "options", "good", "bad"),
    [
        ("above", {"value": 1}, (1.1, 2), (1, 2)),
        ("below", {"value": 2}, (1, 1.9), (1, 2)),
        ("at least", {"value": 1}, (1, 2), (0.9, 2)),
        ("at most", {"value": 2}, (1, 2), (1, 2.1)),
        ("at most", {"value": {"a": 1, "b": 2}}, (1, 2), (2, 1)),
        ("near", {"value": 40, "points": 5}, (0.36, 0.44), (0.34, 0.4)),
        ("rising", {"factor": 2}, (1, 2.1), (1, 2)),
        ("not falling", {"factor": 2}, (1, 2), (1, 1.9)),
        ("not falling", {"slack": 0.1}, (1.1, 1), (1.2, 1)),
        ("falling", {}, (2, 1), (1, 1)),
        ("not rising", {}, (1, 1), (1, 2)),
        ("within", {"factor": 1.5}, (3, 2), (3.1, 2)),
        ("lowest", {"at": ["a"], "factor": 2}, (1, 2.1), (1, 2)),
        ("highest", {"at": ["a"], "slack": 0.1}, (1, 1.1), (1, 1.2)),
    ],
)
def test_a_rule_holds_or_does_not(
    rule: str, options: dict[str, Any], good: tuple[float, float], bad: tuple[float, float]
) -> None:
    of = ClaimRule(rule=rule, of="x", **options)
    assert RULES[rule](dict(zip("ab", good, strict=True)), of)
    assert not RULES[rule](dict(zip("ab", bad, strict=True)), of)
    assert not RULES[rule]({"a": NAN, "b": NAN}, of), "no comparison holds without a value"


def test_every_rule_is_tried() -> None:
    (mark,) = (mark for mark in test_a_rule_holds_or_does_not.pytestmark)
    assert {row[0] for row in mark.args[1]} == set(RULES)


def test_numbers_are_by_axes_and_in_relation_to_others() -> None:
    numbers = {
        "gain": {
            "each": {"load": [1, 2]},
            "given": {"name": "new"},
            "case": "{name}{load}",
            "of": TIME,
            "relations": [{"to": {"name": "old"}, "by": "gain"}],
            "label": "x{load}",
        }
    }
    found = results(new1=[750.0], old1=[1000.0], new2=[1000.0, 2000.0], old2=[1000.0])
    shown = verdict(numbers, [{"rule": "above", "of": "gain"}], found, shown="{gain:percent}; {gain[1]:.2f}")
    assert shown == ClaimVerdict(False, "x1 +25.0 %, x2 -50.0 %; 0.25")
    one = verdict(numbers, [{"rule": "above", "of": "gain", "where": {"load": 1}}], found)
    assert one.holds


def test_over_seeds_a_number_is_what_the_claim_says() -> None:
    numbers = {"time": {"each": {"over": ["least", "most", "sum", "count", "nonzero"]}, "case": "a", "of": TIME}}
    numbers["time"]["seeds"] = "{over}"
    shown = verdict(numbers, [], results(a=[1000.0, 0.0, None]), shown="{time}")
    assert shown.shown == "least 0, most 1, sum 1, count 2, nonzero 1"


def test_axes_are_folded_and_numbers_have_a_floor() -> None:
    numbers = {
        "worst": {"each": {"case": ["a", "b"]}, "case": "{case}", "of": TIME, "largest": ["case"]},
        "best": {"each": {"case": ["a", "b"]}, "case": "{case}", "of": TIME, "smallest": ["case"], "at_least": 1.5},
    }
    assert verdict(numbers, [], results(a=[1000.0], b=[2000.0]), shown="{worst} {best}").shown == "2 1.5"


def test_bins_with_few_flows_are_left_out() -> None:
    sizes = [
        {"edge": edge, "flows": flows, "mean": mean}
        for edge, flows, mean in ((10, 99, 9), (20, 100, 2), (None, 100, 3))
    ]
    found = CaseResults({"a": [{"extras": {"sizes": sizes}}]})
    numbers: dict[str, Any] = {"all": {"bins": "every", "case": "a", "path": "extras/sizes/{bin}/mean"}}
    numbers["large"] = {**numbers["all"], "bins": "above", "bin_edge": 20}
    assert verdict(numbers, [], found, shown="{all.count} {all.most} {large.count}").shown == "2 3 1"


def test_numbers_that_break_a_rule_are_named() -> None:
    numbers = {"time": {"each": {"load": ["x1", "x2"], "name": ["a", "b"]}, "case": "{load}{name}", "of": TIME}}
    found = results(x1a=[1000.0], x1b=[2000.0], x2a=[2000.0], x2b=[1000.0])
    rule = {"rule": "lowest", "of": "time", "along": "name", "at": ["a"]}
    shown = verdict(numbers, [rule], found, shown="good", otherwise="not so: {failed}")
    assert shown == ClaimVerdict(False, "not so: x2: a 2, b 1")


def test_numbers_may_be_shown_row_by_row() -> None:
    numbers = {"time": {"each": {"load": ["x1", "x2"], "name": ["a", "b"]}, "case": "{name}", "of": TIME}}
    shown = verdict(numbers, [], results(a=[1000.0], b=[2000.0]), shown="{key}: {time}", shown_along=["time"])
    assert shown.shown == "x1: a 1, b 2; x2: a 1, b 2"


def test_a_claim_without_its_cases_is_not_simulated() -> None:
    numbers: dict[str, Any] = {"time": {"each": {"case": ["a", "b"]}, "case": "{case}", "of": TIME}}
    with pytest.raises(NotSimulatedError):
        verdict(numbers, [], results(a=[1.0]))
    numbers["time"]["simulated"] = True
    assert verdict(numbers, [], results(a=[1000.0]), shown="{time}").shown == "a 1"
    with pytest.raises(NotSimulatedError):
        verdict(numbers, [], results())


@pytest.mark.parametrize(
    ("times", "text"), [([1000.0], "it holds"), ([2000.0], "it does not hold"), ([None], "they do not say")]
)
def test_the_published_numbers_are_judged_too(times: list[float | None], text: str) -> None:
    spec = ClaimOf.model_validate(
        {
            "text": "{name} is fast",
            "each": {"name": ["a"]},
            "reason": "of {name}",
            "numbers": {"time": {"case": "{name}", "of": TIME}},
            "holds": [{"rule": "below", "of": "time", "value": 1.5}],
            "shown": "{time} s",
        }
    )
    (claim,) = claims_of(spec, QUANTITIES, results(a=times))
    assert (claim.text, claim.reason) == ("a is fast", "of a")
    assert claim.check(results(a=[1000.0])) == ClaimVerdict(True, f"1 s. With the published numbers {text}.")


ROWS = (
    Published("a, x", TIME, 1.0, "predicted"),
    Published("b, x", TIME, 2.0, "predicted"),
    Published("c, y", TIME, 9.0),
    Published("a, x", LOST, None),
)


@pytest.mark.parametrize(
    ("test", "margin", "good", "bad"),
    [("exact", 0, 1000.0, 1001.0), ("close", 0.1, 1090.0, 1110.0), ("inside", 0.1, 1110.0, 1120.0)],
)
def test_published_rows_are_reproduced(test: Any, margin: float, good: float, bad: float) -> None:
    spec = Reproduction(text="all", test=test, margin=margin, quantities=[TIME, LOST], cases=["*, x"])
    claim = spec.claim(QUANTITIES, ROWS)
    assert claim.check(results(**{"a, x": [good]})) == ClaimVerdict(True, "1 of 1.")
    missed = claim.check(results(**{"a, x": [bad], "b, x": [2000.0], "c, y": [1.0]}))
    assert not missed.holds
    assert missed.shown.startswith("1 of 2; a, x, time, s: published 1, ours 1.")
    with pytest.raises(NotSimulatedError):
        claim.check(results())


def test_predictions_are_met_by_their_median() -> None:
    claim = Prediction(text="met", median=0.15).claim(QUANTITIES, ROWS)
    assert claim.check(results(**{"a, x": [1100.0], "b, x": [2300.0]})) == ClaimVerdict(
        True, "median 12.5%, most 15%, of 2 rows"
    )
    assert not claim.check(results(**{"a, x": [1100.0], "b, x": [2500.0]})).holds
    unknown: dict[str, Sequence[float | None]] = {"a, x": [None], "b, x": [2000.0]}
    assert not claim.check(results(**unknown)).holds
