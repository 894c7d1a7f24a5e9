"""Claims as data: numbers, every rule both ways, and the text."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from pydantic import ValidationError

from ailb_gen.study.claims import ClaimOf, Prediction, Reproduction, RowReasonOf, claims_of
from ailb_gen.study.model import CaseResults, ClaimVerdict, NotSimulatedError, Published
from ailb_gen.study.quantities import Quantity
from ailb_gen.study.rules import RULES

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
        ("above", {"value": 1}, (1.1, 2), (1.01, 2)),
        ("below", {"value": 2}, (1, 1.9), (1, 1.99)),
        ("at least", {"value": 1}, (1, 2), (0.9, 2)),
        ("at most", {"value": 2}, (1, 2), (1, 2.1)),
        ("at most", {"value": {"a": 1, "b": 2}}, (1, 2), (2, 1)),
        ("near", {"value": 40, "points": 5}, (0.36, 0.44), (0.34, 0.4)),
        ("rising", {"factor": 2}, (1, 2.1), (1, 2)),
        ("rising", {"tolerance": 0.2}, (1, 1.3), (1, 1.2)),
        ("not falling", {"factor": 2}, (1, 2), (1, 1.9)),
        ("not falling", {"tolerance": 0.1}, (1.1, 1), (1.2, 1)),
        ("falling", {}, (2, 1), (1.01, 1)),
        ("not rising", {}, (1, 1.01), (1, 1.03)),
        ("within", {"factor": 1.5}, (3, 2), (3.1, 2)),
        ("lowest", {"at": ["a"], "factor": 2}, (1, 2.1), (1, 2)),
        ("highest", {"at": ["a"]}, (1, 0.9), (1, 1)),
        ("highest", {"at": ["a"], "tolerance": 0.1}, (1.2, 1), (1.1, 1)),
        ("none above", {"at": ["a"], "tolerance": 0.1}, (1, 1.1), (1, 1.2)),
        ("highest", {"at": ["b"], "factor": 2}, (1, 2.1), (1, 2)),
    ],
)
def test_a_rule_holds_or_does_not(
    rule: str, options: dict[str, Any], good: tuple[float, float], bad: tuple[float, float]
) -> None:
    of = {"rule": rule, "of": "x", "along": "case", **options}
    numbers = {"x": {"each": {"case": ["a", "b"]}, "case": "{case}", "of": LOST}}
    for values, expected in ((good, "holds"), (bad, "does not hold"), ((NAN, NAN), "undecided")):
        found = CaseResults({case: [{"lost": value}] for case, value in zip("ab", values, strict=True)})
        assert verdict(numbers, [of], found).outcome == expected, values


def test_every_rule_is_tried() -> None:
    (mark,) = (mark for mark in test_a_rule_holds_or_does_not.pytestmark)
    assert {row[0] for row in mark.args[1]} == set(RULES)


FASTER: dict[str, Any] = {"time": {"each": {"case": ["a", "b"]}, "case": "{case}", "of": TIME}}
RISING = {"rule": "rising", "of": "time", "along": "case"}


@pytest.mark.parametrize(
    ("a", "b", "outcome"),
    [
        # Above by 20 %, with an interval of 12 %.
        ((95, 105, 100), (115, 125, 120), "holds"),
        # The same means, and the seeds of both vary together: what they differ by is sure.
        ((50, 150, 100), (60, 180, 120), "holds"),
        # The same means, but either may be the larger one.
        ((50, 150, 100), (180, 60, 120), "undecided"),
        ((100, 100, 100), (101, 101, 101), "does not hold"),
        ((115, 125, 120), (95, 105, 100), "does not hold"),
        ((90, 110, 100), (110, 90, 101), "undecided"),
    ],
)
def test_what_differs_by_chance_is_undecided(a: tuple[int, ...], b: tuple[int, ...], outcome: str) -> None:
    assert verdict(FASTER, [RISING], results(a=a, b=b)).outcome == outcome


def test_numbers_come_with_their_intervals_and_the_number_of_seeds() -> None:
    """A mean's half is that of Student's t: 4.303 times 5 over the root of 3."""
    found = results(a=[95_100, 105_100, 100_100], b=[1000])
    shown = verdict(FASTER, [], found, shown="{time[a]:.2f}; {time[b]:.2f}; {time[a]:percent}; {time[a]}")
    assert shown.shown == "100.10 ± 12.42; 1.00; +10010.0 ± 1242.1 %; 100.1 ± 12 (1 to 3 seeds)"


def test_a_reason_is_shown_where_its_condition_is_met() -> None:
    reasons = [
        {"text": "b is short", "when": [{"rule": "below", "of": "time", "value": 2, "where": {"case": "b"}}]},
        {"text": "lost", "numbers": {"lost": {"case": "a", "of": LOST}}, "when": [{"rule": "above", "of": "lost"}]},
        {"text": "c", "numbers": {"c": {"case": "c", "of": LOST}}, "when": [{"rule": "above", "of": "c"}]},
    ]
    assert verdict(FASTER, [RISING], results(a=[1000], b=[500]), reasons=reasons).reasons == ("b is short", "lost")
    assert verdict(FASTER, [RISING], results(a=[4000], b=[3000]), reasons=reasons).reasons == ("lost",)
    assert verdict(FASTER, [RISING], results(a=[1000], b=[1500]), reasons=reasons).reasons == ()
    with pytest.raises(ValidationError, match="when"):
        verdict(FASTER, [], results(a=[1], b=[1]), reasons=[{"text": "always", "when": []}])


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
    found = results(new1=[750.0], old1=[1000.0], new2=[1500.0], old2=[1000.0])
    shown = verdict(numbers, [{"rule": "above", "of": "gain"}], found, shown="{gain:percent}; {gain[1]:.2f}")
    assert shown == ClaimVerdict("does not hold", "x1 +25.0 %, x2 -50.0 %; 0.25")
    one = verdict(numbers, [{"rule": "above", "of": "gain", "where": {"load": 1}}], found)
    assert one.outcome == "holds"


def test_over_seeds_a_number_is_what_the_claim_says() -> None:
    numbers = {"time": {"each": {"over": ["least", "most", "sum", "count", "nonzero"]}, "case": "a", "of": TIME}}
    numbers["time"]["seeds"] = "{over}"
    shown = verdict(numbers, [], results(a=[1000.0, 0.0, None]), shown="{time}")
    assert shown.shown == "least 0, most 1, sum 1, count 2, nonzero 1 (3 seeds)"


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
    assert shown == ClaimVerdict("does not hold", "not so: x2: a 2, b 1")


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
            "reasons": [{"text": "of {name}", "when": [{"rule": "above", "of": "time"}]}],
            "numbers": {"time": {"case": "{name}", "of": TIME}},
            "holds": [{"rule": "below", "of": "time", "value": 1.5}],
            "shown": "{time} s",
        }
    )
    (claim,) = claims_of(spec, QUANTITIES, results(a=times))
    assert (claim.text, claim.reasons) == ("a is fast", ["of a"])
    assert claim.check(results(a=[1000.0])) == ClaimVerdict("holds", f"1 s. With the published numbers {text}.")


ROWS = (
    Published("a, x", TIME, 1.0, "predicted"),
    Published("b, x", TIME, 2.0, "predicted"),
    Published("c, y", TIME, 9.0),
    Published("a, x", LOST, None),
)


@pytest.mark.parametrize(
    ("test", "margin", "good", "bad"),
    [("exact", 0, 1000.0, 1001.0), ("close", 0.1, 1090.0, 1110.0), ("inside", 0.1, 1090.0, 1110.0)],
)
def test_published_rows_are_reproduced(test: Any, margin: float, good: float, bad: float) -> None:
    spec = Reproduction(text="all", test=test, margin=margin, quantities=[TIME, LOST], cases=["*, x"])
    claim = spec.claim(QUANTITIES, ROWS)
    assert claim.check(results(**{"a, x": [good]})) == ClaimVerdict("holds", "1 of 1.")
    missed = claim.check(results(**{"a, x": [bad], "b, x": [2000.0], "c, y": [1.0]}))
    assert missed.outcome == "does not hold"
    assert missed.shown.startswith("1 of 2; a, x, time, s: published 1, ours 1.")
    with pytest.raises(NotSimulatedError):
        claim.check(results())


@pytest.mark.parametrize("test", ["exact", "close", "inside"])
def test_a_published_zero_is_reproduced_by_zero_alone(test: Any) -> None:
    spec = Reproduction(text="all", test=test, margin=0.1, quantities=[LOST])
    claim = spec.claim(QUANTITIES, [Published("a", LOST, 0.0)])
    assert [claim.check(CaseResults({"a": [{"lost": lost}]})).outcome for lost in (0, 1)] == ["holds", "does not hold"]


def test_the_condition_of_a_row_is_that_of_its_case() -> None:
    spread = {"given": {"over": "most"}, "case": "{case}", "of": TIME, "seeds": "{over}"}
    numbers = {"factor": {**spread, "relations": [{"to": {"over": "least"}, "by": "ratio"}]}}
    about = {"text": "runs differ", "cases": ["*"], "quantities": ["*"], "numbers": numbers}
    when = [{"rule": "at least", "of": "factor", "value": 1.5}]
    reason = RowReasonOf.model_validate({**about, "when": when}).reason(QUANTITIES)
    found = results(a=[1000.0, 2000.0], b=[1000.0, 1001.0])
    assert [reason.applies(case, found) for case in ("a", "b", "none")] == [True, False, False]


def test_a_published_run_is_inside_what_one_more_seed_gives() -> None:
    """With 3 seeds that is 4.303 standard deviations of 10 %, times the root of 4/3: 0.497."""
    claim = Reproduction(text="all", test="inside", quantities=[TIME], cases=["c, y"]).claim(QUANTITIES, ROWS)
    outcomes = [
        claim.check(results(**{"c, y": [shift + value for value in (8100, 9000, 9900)]})).outcome
        for shift in (4460, 4480)
    ]
    assert outcomes == ["holds", "does not hold"]


def test_predictions_are_met_by_their_median() -> None:
    claim = Prediction(text="met", median=0.15).claim(QUANTITIES, ROWS)
    assert claim.check(results(**{"a, x": [1100.0], "b, x": [2300.0]})) == ClaimVerdict(
        "holds", "median 12.5%, most 15%, of 2 rows"
    )
    assert claim.check(results(**{"a, x": [1100.0], "b, x": [2500.0]})).outcome == "does not hold"
    unknown: dict[str, Sequence[float | None]] = {"a, x": [None], "b, x": [2000.0]}
    assert claim.check(results(**unknown)).outcome == "undecided"
