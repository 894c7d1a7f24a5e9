"""Quantities over seeds, and what a study's digest covers."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest

from ailb_gen.study.model import Case, CaseResults, NotSimulatedError, Published, SeedSpread
from ailb_gen.study.spread import student
from tests.study.made import RESULTS, SCENARIO, STUDY, time


def test_a_spread_is_over_the_seeds_that_have_the_quantity() -> None:
    found = RESULTS.spread("ECMP", time)
    assert found is not None
    assert replace(found, half=0.0) == SeedSpread(21.0, 19.0, 23.0, 2)
    assert found.half == pytest.approx(student(1) * 2)
    assert RESULTS.spread("adaptive", time) == SeedSpread(8.5, 8.5, 8.5)


def test_without_a_value_there_is_no_spread_and_no_comparison_holds() -> None:
    results = CaseResults({"ECMP": [{"end_us": None}]})
    assert results.spread("ECMP", time) is None
    mean = results.mean("ECMP", time)
    assert math.isnan(mean) and not mean < 1 and not mean >= 1


def test_a_case_that_was_not_simulated_is_an_error() -> None:
    with pytest.raises(NotSimulatedError, match="failed"):
        RESULTS.mean("failed", time)


def test_the_digest_changes_with_everything_that_a_page_shows() -> None:
    case = Case("ECMP", {**SCENARIO, "seeds": 3})
    others = [
        replace(STUDY, cases=(case, *STUDY.cases[1:])),
        replace(STUDY, published=(Published("ECMP", "time, us", 20.1), *STUDY.published[1:])),
        replace(STUDY, claims=()),
        replace(STUDY, claims=(replace(STUDY.claims[0], reasons=["None."]), STUDY.claims[1])),
        replace(STUDY, calibrated=()),
        replace(STUDY, intents={"jvd": "name: jvd"}),
        replace(STUDY, notes=""),
        replace(STUDY, text="Something else."),
    ]
    assert len({study.digest() for study in (STUDY, *others)}) == len(others) + 1
    assert replace(STUDY, name="other").digest() == STUDY.digest()
