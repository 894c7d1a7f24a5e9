"""The comparison of a study as text."""

from __future__ import annotations

import pytest

from ailb_gen.study.model import Findings
from ailb_gen.study.rows import checked, compared, number, study_table, verdict_text
from tests.study.made import FINDINGS, STUDY

TABLE = """\
Made-up experiment

                         published           ours  deviation
-----------------------  ---------  -------------  ---------
ECMP
  time, us (calibrated)         20  21 (19 to 23)     +5.0 %
  packets                   12,345         12,345     +0.0 %
adaptive
  time, us (predicted)           8            8.5     +6.2 %
  packets                        -           0.25          -

holds: Adaptive is faster than ECMP. (8.5 against 21 us)

not simulated: A failure costs nothing | ever.
"""


def test_the_table_of_a_study() -> None:
    table = study_table(STUDY, FINDINGS)
    assert table == TABLE


def test_a_row_without_results_has_no_deviation() -> None:
    rows = list(compared(STUDY, Findings({"ECMP": [{"end_us": None, "packets": 12_345.0}]})))
    assert [(row.ours is None, row.deviation) for row in rows] == [(True, None), (False, 0.0)]


def test_a_claim_that_does_not_hold_comes_with_its_reason() -> None:
    findings = Findings({**FINDINGS.points, "failed": [{"end_us": 5.0}]})
    found = list(checked(STUDY, findings))
    assert [verdict_text(one) for one in found] == ["holds", "does not hold"]
    assert [one.reason for one in found] == ["", "It costs something."]
    assert "does not hold: A failure costs nothing | ever. (5 us)\n  It costs something.\n" in study_table(
        STUDY, findings
    )


def test_a_study_without_results_says_so() -> None:
    assert "no results" in study_table(STUDY, Findings({}))


def test_claims_are_wrapped() -> None:
    text = study_table(STUDY, FINDINGS)
    assert max(map(len, text.split("\n"))) <= 80


@pytest.mark.parametrize(
    ("value", "text"),
    [(3_199_523.0, "3,199,523"), (0.0, "0"), (187.93, "187.9"), (12_345.6, "12,346"), (-0.01234, "-0.01234")],
)
def test_numbers_have_four_digits(value: float, text: str) -> None:
    assert number(value) == text
