"""Waiver files: what they may hold, what they waive, and when they stop."""

import datetime
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ailb_gen.checks.catalogue import BY_ID
from ailb_gen.checks.families.waivers import EXPIRED, UNUSED
from ailb_gen.checks.model import Check, Finding, Result
from ailb_gen.checks.waiver_file import parse_waivers, read_waivers
from ailb_gen.checks.waivers import accept, review
from ailb_gen.errors import IntentError
from tests.conftest import EXAMPLES

KNOWN = ("AILB201", "AILB202", "AILB301")
DAY = datetime.date(2026, 6, 1)
GOOD = """\
# Agreed on with operations.
- id: AILB201
  scope: stripe1-* et-0/0/?
  reason: optics on order
  expires: 2026-06-01
- {id: AILB202, scope: spine1, reason: "lab only", expires: "2026-05-31"}
"""


def checked(check: str, *scopes: str, skipped: str = "") -> Result:
    findings = tuple(Finding(check, scope, "bad") for scope in scopes)
    return Result(Check(check, "", "", "", ""), findings, len(scopes), skipped=skipped)


def errors(text: str) -> list[str]:
    with pytest.raises(IntentError) as error:
        parse_waivers(text, "w.yaml", KNOWN)
    return str(error.value).splitlines()


def test_a_good_file() -> None:
    first, second = parse_waivers(GOOD, "w.yaml", KNOWN)
    assert (first.check, first.scope, first.reason, first.expires) == (
        "AILB201",
        "stripe1-* et-0/0/?",
        "optics on order",
        DAY,
    )
    assert (str(first.place), str(second.place)) == ("w.yaml:2:3", "w.yaml:6:3")


@pytest.mark.parametrize("text", ["", "# nothing left\n", "[]\n"])
def test_a_file_without_waivers(text: str) -> None:
    assert parse_waivers(text, "w.yaml", KNOWN) == ()


def test_everything_wrong_is_told_at_once_with_its_place() -> None:
    text = """\
- {id: AILB21, scope: a, reason: b, expires: 2026-01-01}
- {id: AILB201, scop: a, reason: b, expires: 2026-01-01}
- {id: AILB201, scope: a, reason: " ", expires: 2026-02-30}
- {id: AILB201, scope: "", reason: b, expires: tomorrow}
- {id: 201, scope: a, reason: b, expires: 20260101}
- AILB201
"""
    assert errors(text) == [
        "w.yaml:1:4: error[wrong-value]: [0].id: no check is called 'AILB21'; did you mean 'AILB201'?",
        "w.yaml:2:3: error[missing-key]: [1].scope: this key is required and missing",
        "w.yaml:2:17: error[unknown-key]: [1].scop: unknown key; did you mean 'scope'?",
        "w.yaml:3:27: error[out-of-range]: [2].reason: must not be empty",
        "w.yaml:3:40: error[wrong-value]: [2].expires: '2026-02-30' is not a date of the calendar: "
        "day is out of range for month",
        "w.yaml:4:17: error[out-of-range]: [3].scope: must not be empty",
        "w.yaml:4:39: error[wrong-value]: [3].expires: 'tomorrow' is not a date; write it as YYYY-MM-DD",
        "w.yaml:5:4: error[wrong-type]: [4].id: must be text, not 201",
        "w.yaml:5:34: error[wrong-value]: [4].expires: 20260101 is not a date; write it as YYYY-MM-DD",
        "w.yaml:6:3: error[wrong-type]: [5]: must be a mapping, not 'AILB201'",
    ]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("waivers: []\n", "w.yaml:1:1: error[wrong-type]: must be a list, not a mapping"),
        ("- {id: a", "error[yaml-syntax]"),
        ("- {id: AILB201, id: AILB202}\n", "error[duplicate-key]"),
        ("nonsense\n", "must be a list, not 'nonsense'"),
        ("- {id: AILB201, scope: a, reason: " + "x" * 1001 + ", expires: 2026-01-01}", "longer than 1000 characters"),
    ],
)
def test_files_that_are_no_lists_of_waivers(text: str, message: str) -> None:
    assert message in "\n".join(errors(text))


@given(st.text())
def test_any_text_is_read_or_refused(text: str) -> None:
    try:
        assert isinstance(parse_waivers(text, "w.yaml", KNOWN), tuple)
    except IntentError as error:
        assert all(problem.place.file == "w.yaml" for problem in error.problems)


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(IntentError, match=r"error\[unreadable\]"):
        read_waivers(tmp_path / "none.yaml", KNOWN)


def test_the_sample_is_a_good_file_and_so_is_its_example() -> None:
    sample = EXAMPLES / "gitops" / "waivers.yaml"
    assert read_waivers(sample, BY_ID) == ()
    example = sample.read_text(encoding="utf-8").partition("#\n")[2].replace("# ", "")
    (waiver,) = parse_waivers(example, "w.yaml", KNOWN)
    assert waiver.scope == "stripe1-leaf1 et-0/0/3*"


def test_what_watches_the_waivers_cannot_be_waived() -> None:
    with pytest.raises(IntentError, match="AILB090 checks waivers and cannot be waived itself"):
        parse_waivers("- {id: AILB090, scope: '*', reason: b, expires: 2026-01-01}", "w.yaml", BY_ID)


def test_a_waiver_waives_on_its_last_day_and_in_its_scope() -> None:
    waivers = parse_waivers(GOOD, "w.yaml", KNOWN)
    results = [checked("AILB201", "stripe1-leaf1 et-0/0/1", "stripe2-leaf1 et-0/0/1"), checked("AILB202", "spine1")]
    scopes = {finding.scope: waiver for finding, waiver in accept(results, waivers, DAY).items()}
    assert scopes == {"stripe1-leaf1 et-0/0/1": waivers[0]}
    later = accept(results, waivers, DAY + datetime.timedelta(days=1))
    assert later == {}
    earlier = accept(results, waivers, DAY - datetime.timedelta(days=1))
    assert {finding.scope for finding in earlier} == {"stripe1-leaf1 et-0/0/1", "spine1"}


def test_an_expired_waiver_is_a_finding_at_its_line() -> None:
    waivers = parse_waivers(GOOD, "config/w.yaml", KNOWN)
    results = [checked("AILB201", "stripe1-leaf1 et-0/0/1"), checked("AILB202", "spine1")]
    expired, unused = review(results, waivers, DAY, "build/jvd")
    (finding,) = expired.findings
    assert (finding.check, finding.message) == (EXPIRED.id, "expired on 2026-05-31: lab only")
    assert str(finding.place) == "../../config/w.yaml:6:3"
    assert (unused.findings, unused.examined, expired.examined) == ((), 2, 2)


def test_a_waiver_that_matches_nothing_is_told_when_its_check_ran() -> None:
    waivers = parse_waivers(GOOD, "w.yaml", KNOWN)
    _, unused = review([checked("AILB201", "spine9"), checked("AILB202", skipped="no reason")], waivers, DAY, ".")
    (finding,) = unused.findings
    assert (finding.check, finding.message) == (UNUSED.id, "AILB201 found nothing in scope 'stripe1-* et-0/0/?'")
    assert finding.place is not None and finding.place.line == 2
    assert unused.examined == 1
