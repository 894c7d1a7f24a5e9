"""The report for test viewers (JUnit XML as GitLab, Jenkins and others read it)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import groupby
from xml.sax.saxutils import escape, quoteattr

from ailb_gen.checks.layers import NAMES, title_of
from ailb_gen.checks.model import Finding, Result
from ailb_gen.report.text import detail, from_here, named
from ailb_gen.report.verdict import Verdict
from ailb_gen.wording import clean, counted

SHOWN = 500


def junit(verdict: Verdict) -> str:
    """Return the report as XML: a suite for every family, a case for every check, whatever was found.

    So the same cases are there in every run, and a viewer can tell a repaired check from one that did not run. A case
    fails when its check fails the gate; it is skipped when the check did not run or does not apply, and when
    all of its findings are waived.
    """
    suites = [(family, list(row)) for family, row in groupby(verdict.run.results, lambda result: result.check.family)]
    lines = [
        '<?xml version="1.0" encoding="UTF-8"?>',
        f'<testsuites name="ailb-gen validate" {_totals(verdict, verdict.run.results)}>',
    ]
    for family, results in suites:
        name = quoteattr(f"{family} {title_of(family)}")
        lines.append(f"  <testsuite name={name} {_totals(verdict, results)}>")
        for result in results:
            lines += _case(verdict, result)
        lines.append("  </testsuite>")
    return "\n".join([*lines, "</testsuites>", ""])


def _totals(verdict: Verdict, results: Iterable[Result]) -> str:
    kinds = Counter(_kind(verdict, result) for result in results)
    return f'tests="{kinds.total()}" failures="{kinds["failure"]}" errors="0" skipped="{kinds["skipped"]}"'


def _kind(verdict: Verdict, result: Result) -> str:
    status = verdict.status(result)
    if status in ("skip", "empty") or (status == "pass" and result.findings):
        return "skipped"
    return "failure" if status == "fail" else "passed"


def _case(verdict: Verdict, result: Result) -> Iterator[str]:
    check, open_, waived = result.check, verdict.open(result), verdict.waived(result)
    attributes = {"classname": f"ailb.{NAMES[check.family]}.{check.id}", "name": f"{check.id} {check.meaning}"}
    places = [finding.place for finding in open_ if finding.place]
    if places:
        attributes["file"] = from_here(verdict.run, places[0].file)
    body = list(_body(verdict, result, open_, waived))
    shown = " ".join(f"{key}={quoteattr(clean(value))}" for key, value in attributes.items())
    yield f"    <testcase {shown}>" if body else f"    <testcase {shown}/>"
    if body:
        yield from body
        yield "    </testcase>"


def _body(verdict: Verdict, result: Result, open_: tuple[Finding, ...], waived: tuple[Finding, ...]) -> Iterator[str]:
    kind = _kind(verdict, result)
    accepted = [f"waived: {_line(verdict, f)}: {clean(verdict.accepted[f].reason)}" for f in waived]
    output = [*accepted, *(f"{clean(name)}: {clean(value)}" for name, value in result.figures)]
    if kind == "failure":
        message = quoteattr(f"{counted(len(open_), 'finding')}: {clean(result.check.violation)}")
        text = escape("\n".join([*_capped(_line(verdict, f) for f in open_), f"Repair: {result.check.repair}"]))
        yield f'      <failure type="{result.check.severity}" message={message}>{text}</failure>'
    else:
        output = [*(f"{result.check.severity}: {_line(verdict, f)}" for f in open_), *output]
    if kind == "skipped":
        reasons = "; ".join(dict.fromkeys(verdict.accepted[f].reason for f in waived))
        reason = f"waived: {reasons}" if waived else result.skipped or "not applicable: nothing to examine"
        yield f"      <skipped message={quoteattr(clean(reason))}/>"
    if output:
        yield f"      <system-out>{escape(chr(10).join(_capped(output)))}</system-out>"


def _capped(lines: Iterable[str]) -> list[str]:
    row = list(lines)
    more = [f"... and {len(row) - SHOWN:,} more; --report json=FILE has all"] if len(row) > SHOWN else []
    return [*row[:SHOWN], *more]


def _line(verdict: Verdict, finding: Finding) -> str:
    place = f"{from_here(verdict.run, finding.place.file)}:{finding.place.line}: " if finding.place else ""
    more = f" ({detail(finding)})" if detail(finding) else ""
    cause = f" [follows from {named(verdict.causes[finding])}]" if finding in verdict.causes else ""
    return clean(f"{place}{finding.scope}: {finding.message}{more}{cause}")
