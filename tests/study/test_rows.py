"""The comparison of a study as text."""

from __future__ import annotations

from dataclasses import replace

import pytest

from ailb_gen.paint import painted
from ailb_gen.study.model import CaseResults, Claim, ClaimVerdict, RowReason, Summary
from ailb_gen.study.page import page
from ailb_gen.study.report import study_page
from ailb_gen.study.rows import checked, compared, number, outside, study_table, verdict_text
from tests.study.made import RESULTS, STUDY, time

TABLE = """\
Made-up experiment

                         published             ours                    deviation
-----------------------  ---------  ---------------  ---------------------------
ECMP
  time, us (calibrated)         20  21 ± 25 (n = 2)    +5.0 ± 127.1 %, undecided
                                                                         at 10 %
  packets                   12,345           12,345          +0.0 %, within 10 %
adaptive
  time, us (predicted)           8              8.5          +6.2 %, within 10 %
  packets                        -             0.25                            -

holds: Adaptive is faster than ECMP. (8.5 against 21 us)

not simulated: A failure costs nothing | ever.
"""


def test_the_table_of_a_study() -> None:
    table = study_table(STUDY, RESULTS)
    assert table == TABLE


def test_a_row_without_results_has_no_deviation() -> None:
    rows = list(compared(STUDY, CaseResults({"ECMP": [{"end_us": None, "packets": 12_345.0}]})))
    assert [(row.ours is None, row.deviation) for row in rows] == [(True, None), (False, 0.0)]


def test_a_claim_that_does_not_hold_comes_with_its_reason() -> None:
    results = CaseResults({**RESULTS.points, "failed": [{"end_us": 5.0}]})
    found = list(checked(STUDY, results))
    assert [verdict_text(one) for one in found] == ["holds", "does not hold"]
    assert [one.reason for one in found] == ["", "It costs something."]
    assert "does not hold: A failure costs nothing | ever. (5 us)\n  It costs something.\n" in study_table(
        STUDY, results
    )


def test_rows_outside_their_tolerance_come_with_the_reasons_that_apply() -> None:
    """A tenth of the published time, without and with reasons."""
    results = CaseResults({"ECMP": [{"end_us": 2.0, "packets": 12_345.0}]})
    assert outside(list(compared(STUDY, results))) == {"not explained": ["ECMP, time, us (-90.0 %)"]}
    reasons = (
        RowReason("Short.", ["EC*"], ["*"], lambda case, results: time(results.of(case)[0]) == 2.0),
        RowReason("Long.", ["*"], ["time*"], lambda case, results: False),
        RowReason("Other.", ["adaptive"], ["*"], lambda case, results: True),
    )
    study = replace(STUDY, row_reasons=reasons)
    assert outside(list(compared(study, results))) == {"Short.": ["ECMP, time, us (-90.0 %)"]}
    assert "outside the tolerance: ECMP, time, us (-90.0 %)\n  Short.\n" in study_table(study, results)
    assert "| Short. | ECMP, time, us (-90.0 %) |" in page(study, results, (), "")
    assert "<th" in study_page(study, results, {}, "", False) and "Short." in study_page(study, results, {}, "", False)


def test_a_claim_that_nothing_explains_says_so() -> None:
    wrong = Claim("It is free.", lambda results: ClaimVerdict("does not hold", "7 us"), ["It is not."])
    chance = Claim("It is free.", lambda results: ClaimVerdict("undecided", "7 us"), ["It is not."])
    found = list(checked(replace(STUDY, claims=(wrong, chance)), RESULTS))
    assert [(verdict_text(one), one.reason) for one in found] == [("does not hold", "not explained"), ("undecided", "")]


def test_a_study_without_results_says_so() -> None:
    assert "no results" in study_table(STUDY, CaseResults({}))


def test_claims_are_wrapped() -> None:
    text = study_table(STUDY, RESULTS)
    assert max(map(len, text.split("\n"))) <= 80


@pytest.mark.parametrize(
    ("value", "text"),
    [(3_199_523.0, "3,199,523"), (0.0, "0"), (187.93, "187.9"), (12_345.6, "12,346"), (-0.01234, "-0.01234")],
)
def test_numbers_have_four_digits(value: float, text: str) -> None:
    assert number(value) == text


def test_verdicts_have_colors() -> None:
    lines = study_table(STUDY, CaseResults({**RESULTS.points, "failed": [{"end_us": 5.0}]}), painted).splitlines()
    assert lines[0] == "\x1b[1mMade-up experiment\x1b[0m"
    assert "\x1b[32mholds\x1b[0m: Adaptive is faster than ECMP. (8.5 against 21 us)" in lines
    assert "\x1b[1;31mdoes not hold\x1b[0m: A failure costs nothing | ever. (5 us)" in lines
    assert "\x1b[33mnot simulated\x1b[0m: A failure" in study_table(STUDY, RESULTS, painted)


def test_a_job_that_does_not_end_has_a_color() -> None:
    table = [["balancer", "step s"], ["rlb", "1.5"], ["ecmp", "does not complete"]]
    made = replace(STUDY, summary=lambda results: Summary(table, ["\x1b[32mended\x1b[0m"]))
    lines = study_table(made, RESULTS, painted).splitlines()
    assert [line for line in lines if "\x1b[1;31m" in line] == ["ecmp      \x1b[1;31mdoes not complete\x1b[0m"]
    assert lines[-1] == r"\x1b[32mended\x1b[0m"


def test_long_names_are_wrapped() -> None:
    long = ("a case " * 20).strip()
    quantities = tuple(replace(one, name=f"{one.name} {'of all flows ' * 6}".strip()) for one in STUDY.quantities)
    published = (replace(STUDY.published[0], case=long, quantity=quantities[0].name),)
    made = replace(STUDY, quantities=quantities, published=published)
    lines = study_table(made, CaseResults({long: RESULTS.points["ECMP"]})).splitlines()
    assert max(map(len, lines)) <= 80
    text = lines.index("a case " * 11 + "a")
    assert [line[:8] for line in lines[text + 1 : text + 4]] == ["  case a", "  time, ", "  of all"]
