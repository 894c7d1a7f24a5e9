"""Read a file of waivers: YAML, checked entry by entry."""

from __future__ import annotations

import datetime
import re
from collections.abc import Collection
from pathlib import Path
from typing import Annotated, Any

from pydantic import AfterValidator, BeforeValidator, Field, RootModel, ValidationError

from ailb_gen.checks.families.waivers import EXPIRED, UNUSED
from ailb_gen.checks.waivers import Waiver
from ailb_gen.errors import IntentError, Problem
from ailb_gen.textio import read_text
from ailb_gen.validation import Model, distinct, problem, wrong
from ailb_gen.wording import did_you_mean
from ailb_gen.yamlio import dotted, read_yaml

# What checks waivers cannot be waived.
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
