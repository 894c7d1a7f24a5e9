"""The comparison of a study as text."""

from __future__ import annotations

from dataclasses import replace

import pytest

from ailb_gen.paint import painted
from ailb_gen.study.model import CaseResults, Summary
from ailb_gen.study.rows import checked, compared, number, study_table, verdict_text
from tests.study.made import RESULTS, STUDY

TABLE = """\
Made-up experiment

                         published             ours  deviation
-----------------------  ---------  ---------------  ---------

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
