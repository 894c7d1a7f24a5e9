"""Checks, their metrics, and waivers as sections."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from itertools import groupby

from ailb_gen.checks.layers import title_of
from ailb_gen.checks.waivers import Waiver
from ailb_gen.report.html.page import Section
from ailb_gen.report.table import families
from ailb_gen.report.text import where
from ailb_gen.report.verdict import STATUSES, Status, Verdict
from ailb_gen.wording import clean

# A status in words that stand alone.
WORDS: dict[Status, str] = {
    "pass": "passed",
    "fail": "failed",
    "warn": "with warnings",
    "skip": "skipped",
    "empty": "not applicable",
}
# Listed findings per waiver.
SHOWN = 50


@dataclass(frozen=True, slots=True)
class WaivedRow:
    """A waiver, how many findings it accepts, and the first of them: scope, message, place."""

    waiver: Waiver
    count: int
    findings: tuple[tuple[str, str, str], ...]


def checks_section(verdict: Verdict) -> Section:
    """Return the section of all checks by family, with their metrics."""
    head, *rows = families(verdict)
    families_of = [(family, list(row)) for family, row in groupby(verdict.run.results, lambda row: row.check.family)]
    figures = [(result.check.id, name, value) for result in verdict.run.results for name, value in result.figures]
    values = {
        "head": head,
        "rows": rows,
        "families": [(title_of(name), found, Counter(map(verdict.status, found))) for name, found in families_of],
        "verdict": verdict,
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
