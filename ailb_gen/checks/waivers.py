"""Waivers: findings that were accepted, with a reason and until a date."""

from __future__ import annotations

import datetime
import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase

from ailb_gen.checks.families.waivers import EXPIRED, UNUSED
from ailb_gen.checks.model import Check, Finding, Result
from ailb_gen.errors import Place


@dataclass(frozen=True, slots=True)
class Waiver:
    """One accepted kind of finding: `check` is an id, `scope` a glob over `Finding.scope`.

    It waives on the day of `expires` for the last time.
    """

    check: str
    scope: str
    reason: str
    expires: datetime.date
    place: Place

    def covers(self, finding: Finding) -> bool:
        """Whether this waiver is about the finding, expired or not."""
        return finding.check == self.check and fnmatchcase(finding.scope, self.scope)


def accept(results: Iterable[Result], waivers: Iterable[Waiver], today: datetime.date) -> dict[Finding, Waiver]:
    """Return the findings that are waived on the day `today`, with the first waiver that covers each."""
    valid = _by_check(waiver for waiver in waivers if today <= waiver.expires)
    return {
        finding: covering[0]
        for result in results
        for finding in result.findings
        if (covering := [waiver for waiver in valid.get(finding.check, ()) if waiver.covers(finding)])
    }


def review(
    results: Iterable[Result], waivers: Sequence[Waiver], today: datetime.date, artifacts: str
) -> tuple[Result, Result]:
    """Return the findings about the waivers themselves, as the results of AILB090 and AILB091.

    A waiver is unused when its check ran and found nothing that it covers; one for a check that did not run is not
    judged. `artifacts` is the directory that places in findings are relative to.
    """
    ran = {result.check.id: result for result in results if not result.skipped}
    judged = [waiver for waiver in waivers if waiver.check in ran]
    expired = [
        _finding(EXPIRED, waiver, f"expired on {waiver.expires}: {waiver.reason}", artifacts)
        for waiver in waivers
        if waiver.expires < today
    ]
    unused = [
        _finding(UNUSED, waiver, f"{waiver.check} found nothing in scope {waiver.scope!r}", artifacts)
        for waiver in judged
        if not any(map(waiver.covers, ran[waiver.check].findings))
    ]
    return Result(EXPIRED, tuple(expired), len(waivers)), Result(UNUSED, tuple(unused), len(judged))


def _by_check(waivers: Iterable[Waiver]) -> dict[str, list[Waiver]]:
    rows: dict[str, list[Waiver]] = {}
    for waiver in waivers:
        rows.setdefault(waiver.check, []).append(waiver)
    return rows


def _finding(check: Check, waiver: Waiver, message: str, artifacts: str) -> Finding:
    place = replace(waiver.place, file=os.path.relpath(waiver.place.file, artifacts))
    return Finding(check.id, f"waiver {waiver.check}", message, place)
