"""Checks, what they measured, and waivers as sections."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from ailb_gen.checks.catalogue import NAMES
from ailb_gen.checks.layers import FAMILIES
from ailb_gen.checks.model import Result
from ailb_gen.checks.waivers import Waiver
from ailb_gen.report.html.page import Section
from ailb_gen.report.table import families
from ailb_gen.report.text import where
from ailb_gen.report.verdict import STATUSES, Status, Verdict
from ailb_gen.wording import clean

# What a status means, in words that stand alone.
WORDS: dict[Status, str] = {
    "pass": "passed",
    "fail": "failed",
    "warn": "warned",
    "skip": "did not run",
    "empty": "nothing to look at",
}
# So many waived findings are listed for a waiver.
SHOWN = 50


@dataclass(frozen=True, slots=True)
class CheckRow:
    """A check as the table shows it."""

    result: Result
    status: Status
    found: int
    waived: int


@dataclass(frozen=True, slots=True)
class WaivedRow:
    """A waiver, how many findings it accepts, and the first of them: scope, message, place."""

    waiver: Waiver
    count: int
    findings: tuple[tuple[str, str, str], ...]


def checks_section(verdict: Verdict) -> Section:
    """Return the section of all checks by family, with what they measured."""
    head, *rows = families(verdict)
    by_family: dict[str, list[CheckRow]] = {}
    for result in verdict.run.results:
        found = len(verdict.open(result))
        row = CheckRow(result, verdict.status(result), found, len(result.findings) - found)
        by_family.setdefault(result.check.family, []).append(row)
    figures = [(result.check.id, name, value) for result in verdict.run.results for name, value in result.figures]
    values = {
        "head": head,
        "rows": rows,
        "families": [(NAMES[name], FAMILIES[name][1], found) for name, found in by_family.items()],
        "figures": figures,
        "statuses": STATUSES,
        "words": WORDS,
    }
    return Section("checks", "Checks", values)


def waivers_section(verdict: Verdict) -> Section | None:
    """Return the section of the findings that are waived; None where none are."""
    waived = [finding for result in verdict.run.results for finding in verdict.waived(result)]
    counts = Counter(verdict.accepted[finding] for finding in waived)
    rows = [
        WaivedRow(
            waiver,
            count,
            tuple(
                (clean(finding.scope), clean(finding.message), where(finding))
                for finding in waived
                if verdict.accepted[finding] == waiver
            )[:SHOWN],
        )
        for waiver, count in counts.items()
    ]
    return Section("waivers", "Waivers", {"rows": rows}) if rows else None
