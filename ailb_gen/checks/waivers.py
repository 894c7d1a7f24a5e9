"""Waivers: findings that were accepted, with a reason and until a date."""

from __future__ import annotations

import datetime
import os
import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Annotated, Any

from pydantic import AfterValidator, BeforeValidator, Field, RootModel, ValidationError

from ailb_gen.checks.families.files import EXPIRED, UNUSED
from ailb_gen.checks.model import Check, Finding, Result
from ailb_gen.errors import IntentError, Place, Problem
from ailb_gen.textio import read_text
from ailb_gen.validation import Model, distinct, problem, wrong
from ailb_gen.wording import did_you_mean
from ailb_gen.yamlio import dotted, read_yaml

CHECKS = (EXPIRED, UNUSED)

ISO_DATE = re.compile(r"^[0-9]{4}-[0-9]{2}-[0-9]{2}$")


def _date(value: object) -> datetime.date:
    if not isinstance(value, str) or not ISO_DATE.match(value):
        raise wrong("wrong-value", f"{value!r} is not a date; write it as YYYY-MM-DD")
    try:
        return datetime.date.fromisoformat(value)
    except ValueError as error:
        raise wrong("wrong-value", f"{value!r} is not a date of the calendar: {error}") from error


def _not_blank(value: str) -> str:
    if not value.strip():
        raise wrong("out-of-range", "must not be empty")
    return value


Words = Annotated[str, Field(max_length=1000), AfterValidator(_not_blank)]


class _Entry(Model):
    id: Words
    scope: Words
    reason: Words
    expires: Annotated[datetime.date, BeforeValidator(_date)]


class _WaiverFile(RootModel[tuple[_Entry, ...]]):
    """The list in a waiver file."""


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


def _unusable(check: str, known: Collection[str]) -> tuple[str, str]:
    """Return why a check cannot be waived and what to do, or nothing."""
    if any(check == own.id for own in CHECKS):
        return f"{check} checks waivers and cannot be waived itself", "delete the entry that it reports"
    # A blank id is reported already.
    if check in known or not check.strip():
        return "", ""
    return f"no check is called {check!r}", did_you_mean(check, known) or "'ailb-gen checks' lists them"


def parse_waivers(text: str, file: str, known: Collection[str]) -> tuple[Waiver, ...]:
    """Check the text of a waiver file; `known` are the ids of the catalogue.

    Raises IntentError with everything that is wrong.
    """
    source = read_yaml(text, file)
    # An empty file is what is left when the last waiver is deleted.
    data: Any = [] if source.data is None else source.data
    problems: list[Problem] = []
    entries: tuple[_Entry, ...] = ()
    try:
        entries = _WaiverFile.model_validate(data).root
    except ValidationError as error:
        problems = [problem(found, source, _WaiverFile) for found in distinct(error)]
    for number, row in enumerate(data if isinstance(data, list) else ()):
        check = row.get("id") if isinstance(row, dict) else None
        reason, hint = _unusable(check, known) if isinstance(check, str) else ("", "")
        if reason:
            path = (number, "id")
            problems.append(Problem("wrong-value", source.locate(path), dotted(path), reason, hint))
    if problems:
        raise IntentError(problems)
    return tuple(
        Waiver(entry.id, entry.scope, entry.reason, entry.expires, source.locate((number,)))
        for number, entry in enumerate(entries)
    )


def read_waivers(path: Path, known: Collection[str]) -> tuple[Waiver, ...]:
    """Read a waiver file. Raises IntentError."""
    return parse_waivers(read_text(path, str(path)), str(path), known)


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
