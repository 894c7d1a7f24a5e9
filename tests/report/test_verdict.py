"""Statuses, counts, and what opens the gate."""

import datetime
import json
from dataclasses import replace

import pytest

from ailb_gen.checks.model import EVERYTHING, Finding, Result, Severity
from ailb_gen.errors import Place, UsageError
from ailb_gen.report.json import as_json
from ailb_gen.report.markdown import markdown
from ailb_gen.report.sarif import sarif
from ailb_gen.report.table import table
from ailb_gen.report.verdict import Verdict, fingerprints, judge
from tests.report.samples import (
    BALANCE,
    CHOSEN,
    COLOR,
    DAY,
    LEAF,
    SESSION,
    SPINE,
    YANG,
    results,
    run_of,
    verdict_of,
    waiver,
)


def statuses(verdict: Verdict) -> dict[str, str]:
    return {result.check.id: verdict.status(result) for result in verdict.run.results}


def test_every_status() -> None:
    verdict = verdict_of()
    assert statuses(verdict) == {
        "AILB090": "empty",
        "AILB091": "empty",
        "AILB203": "fail",
        "AILB301": "warn",
        "AILB401": "pass",
        "AILB701": "empty",
        "AILB901": "skip",
    }
    assert verdict.failed
    assert verdict.sentence() == "FAIL: 2 errors, 2 warnings; 1 check passed; 1 skipped; 3 not applicable"


@pytest.mark.parametrize(
    ("fail_on", "severity", "failed"),
    [
        ("error", Severity.ERROR, True),
        ("error", Severity.WARNING, False),
        ("warning", Severity.WARNING, True),
        ("warning", Severity.NOTE, False),
        ("note", Severity.NOTE, True),
    ],
)
def test_fail_on(fail_on: str, severity: Severity, failed: bool) -> None:
    run = run_of(Result(replace(SESSION, severity=severity), (LEAF,), 1))
    assert judge(run, (), (), (), fail_on, DAY).failed == failed


def test_waived_findings_open_the_gate_until_the_waiver_expires() -> None:
    row = Result(SESSION, (LEAF, SPINE), 2)
    waivers = (waiver("AILB203", "stripe1-leaf1 *"), waiver("AILB203", "spine*"))
    verdict = verdict_of(row, waivers=waivers)
    assert not verdict.failed
    assert statuses(verdict)["AILB203"] == "pass"
    assert verdict.sentence() == "PASS: no findings; 2 waived; 3 checks passed"
    later = judge(run_of(row), waivers, CHOSEN, (), "error", DAY + datetime.timedelta(days=1))
    assert later.failed
    assert statuses(later) == {"AILB090": "warn", "AILB091": "pass", "AILB203": "fail"}


def test_what_watches_waivers_runs_only_when_it_is_asked_for() -> None:
    assert list(statuses(judge(run_of(*results()), (), ("AILB090",), (), "error", DAY)))[:2] == ["AILB090", "AILB203"]


def test_limit_hides_findings_but_no_waiver_looks_unused() -> None:
    row = Result(SESSION, (LEAF, SPINE), 2)
    verdict = verdict_of(row, waivers=(waiver("AILB203", "spine1 *"),), limit=("leaf",))
    assert {result.check.id: len(result.findings) for result in verdict.run.results} == {
        "AILB090": 0,
        "AILB091": 0,
        "AILB203": 1,
    }
    with pytest.raises(UsageError, match="did you mean 'spine1'"):
        verdict_of(row, limit=("spine11",))


def test_without_a_day_it_is_today() -> None:
    row = Result(SESSION, (LEAF,), 1)
    today = datetime.datetime.now(datetime.UTC).date()
    old, new = (waiver("AILB203", "*", today + datetime.timedelta(days=days)) for days in (-2, 2))
    assert judge(run_of(row), (old,), (), (), "error").failed
    assert not judge(run_of(row), (new,), (), (), "error").failed


def test_fingerprints_survive_moved_lines_and_are_unique() -> None:
    moved = replace(LEAF, place=Place("switches/stripe1-leaf1.conf", 999))
    assert fingerprints([LEAF]) == fingerprints([moved])
    twice = fingerprints([LEAF, moved, SPINE, replace(LEAF, check=COLOR.id)])
    assert len(set(twice)) == 4
    assert fingerprints([Finding("A", "b\udc80", "c")]) != fingerprints([Finding("A", "b", "\udc80c")])


def test_a_run_that_something_cut_short_opens_no_gate() -> None:
    """What was judged has no findings, but not everything was judged: every report says so."""
    clean = verdict_of(Result(BALANCE, (), 12), Result(YANG, skipped="gone"))
    assert clean.passed
    cut = replace(clean, run=replace(clean.run, trouble="the service is gone"))
    assert not cut.passed and not cut.failed
    assert cut.sentence() == "INCOMPLETE: no findings; 1 check passed; 1 skipped; 2 not applicable"
    assert table(cut).endswith(f"{cut.sentence()}\n")
    assert json.loads(as_json(cut))["passed"] is False
    assert "### \u274c INCOMPLETE: `jvd`" in markdown(cut)
    assert json.loads(sarif(cut))["runs"][0]["invocations"][0]["executionSuccessful"] is False
    assert json.loads(sarif(clean))["runs"][0]["invocations"][0]["executionSuccessful"] is True
    failed = verdict_of(Result(SESSION, (LEAF,), 1))
    assert replace(failed, run=replace(failed.run, trouble="gone")).sentence().startswith("FAIL: ")


def test_the_verdict_begins_with_what_everything_follows_from() -> None:
    whole = replace(LEAF, message="these files are of the fabric jvd, not of lab", same_cause=EVERYTHING)
    for limit in ((), ("spine1",)):
        verdict = verdict_of(Result(SESSION, (whole, SPINE), 64), limit=limit)
        start = "FAIL: these files are of the fabric jvd, not of lab; "
        assert verdict.sentence().startswith(start)
        assert json.loads(as_json(verdict))["verdict"].startswith(start)
        assert start.removeprefix("FAIL: ") in markdown(verdict)
        assert set(verdict.causes.values()) == {whole}
