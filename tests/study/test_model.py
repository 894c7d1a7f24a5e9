"""Quantities over seeds, and what a study's digest covers."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest

from ailb_gen.study.model import Case, Findings, NotSimulatedError, Published, Spread
from tests.study.made import FINDINGS, SCENARIO, STUDY, time


def test_a_spread_is_over_the_seeds_that_have_the_quantity() -> None:
    assert FINDINGS.spread("ECMP", time) == Spread(21.0, 19.0, 23.0)
    assert FINDINGS.spread("adaptive", time) == Spread(8.5, 8.5, 8.5)


def test_without_a_value_there_is_no_spread_and_no_comparison_holds() -> None:
    findings = Findings({"ECMP": [{"end_us": None}]})
    assert findings.spread("ECMP", time) is None
    mean = findings.mean("ECMP", time)
    assert math.isnan(mean) and not mean < 1 and not mean >= 1


def test_a_case_that_was_not_simulated_is_an_error() -> None:
    with pytest.raises(NotSimulatedError, match="failed"):
        FINDINGS.mean("failed", time)


def test_the_digest_changes_with_everything_that_a_page_shows() -> None:
    case = Case("ECMP", {**SCENARIO, "seeds": 3})
    others = [
        replace(STUDY, cases=(case, *STUDY.cases[1:])),
        replace(STUDY, published=(Published("ECMP", "time, us", 20.1), *STUDY.published[1:])),
        replace(STUDY, claims=()),
        replace(STUDY, claims=(replace(STUDY.claims[0], reason="None."), STUDY.claims[1])),
        replace(STUDY, calibrated=()),
        replace(STUDY, intents={"jvd": "name: jvd"}),
        replace(STUDY, notes=""),
        replace(STUDY, text="Something else."),
    ]
    assert len({study.digest() for study in (STUDY, *others)}) == len(others) + 1
    assert replace(STUDY, name="other").digest() == STUDY.digest()
