"""Checks of extensions: a company's own policies, run and reported like those of the catalogue."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Iterator, Mapping
from contextlib import redirect_stdout
from dataclasses import dataclass

from ailb_gen.checks.context import Context
from ailb_gen.checks.layers import Layer
from ailb_gen.checks.model import Check, Findings, Severity
from ailb_gen.checks.subjects import SubjectKind
from ailb_gen.errors import ExtensionError
from ailb_gen.extensions import Extension, installed

CHECK = {**dict.fromkeys(("id", "meaning", "violation", "why", "repair"), str), "severity": Severity, "layer": Layer}
FINDING = {**dict.fromkeys(("device", "message", "same_cause", "part", "statement"), str), "instead": bool}
PLACE, SUBJECT = {"file": str, "line": int}, {"kind": SubjectKind, "device": str, "name": str}
ID = re.compile(r"(?!AILB)[A-Z]{2,16}[0-9]{3}")


@dataclass(frozen=True, slots=True)
class ForeignCheck:
    """A check and the extension that it comes from."""

    check: Check
    extension: Extension

    def run(self, context: Context, findings: Findings) -> ExtensionError | None:
        """Run the check; return the error if it fails, and mark it as one that did not run."""
        assert self.check.run is not None  # noqa: S101 - seen to when it was loaded
        own = Findings()
        try:
            with redirect_stdout(sys.stderr):
                self.check.run(context, own)
            reason = self._wrong(own)
        except (Exception, SystemExit) as error:  # noqa: BLE001 - whatever it raises, all others are still reported
            reason = f"{type(error).__name__}: {error}"
        if reason:
            findings.skip(self.check, f"{self.check.id} failed: {reason}")
            return self.extension.error(f"has a check that fails: {self.check.id} failed: {reason}")
        findings.look(self.check, own.counts[self.check.id])
        findings.figures[self.check.id] += own.figures[self.check.id]
        findings.found[self.check.id] += own.found[self.check.id]
        findings.skipped.update(own.skipped)
        return None

    def _wrong(self, own: Findings) -> str:
        """Return what makes the findings unusable: another check than this one, or values of other types."""
        others = sorted({*own.counts, *own.figures, *own.found, *own.skipped} - {self.check.id})
        if others:
            return f"it reports {', '.join(map(str, others))}, which it is not"
        for finding in own.found[self.check.id]:
            rows = [(finding, FINDING), *((subject, SUBJECT) for subject in (*finding.subjects, *finding.involves))]
            rows += [(finding.place, PLACE)] if finding.place is not None else []
            if wrong := next((text for value, types in rows if (text := wrong_type(value, types))), ""):
                return f"a finding's {wrong}"
        return ""


def wrong_type(value: object, types: Mapping[str, type]) -> str:
    """Return which attribute of a value is not of its type, and that it is not; nothing if all are."""
    return next(
        (
            f"{name} is {getattr(value, name, None)!r}, not {expected.__name__}"
            for name, expected in types.items()
            if not isinstance(getattr(value, name, None), expected)
        ),
        "",
    )


def foreign_checks(extensions: Iterable[Extension] | None = None) -> tuple[list[ForeignCheck], list[ExtensionError]]:
    """Return the checks of the installed extensions by id, and the errors of extensions that cannot be used."""
    checks: dict[str, ForeignCheck] = {}
    errors: list[ExtensionError] = []
    for extension in installed("checks") if extensions is None else extensions:
        try:
            for check in _loaded(extension):
                if check.id in checks:
                    other = checks[check.id].extension.origin
                    raise extension.error(f"has the check {check.id}, which {other} has as well")
                checks[check.id] = ForeignCheck(check, extension)
        except ExtensionError as error:
            errors.append(error)
    return [checks[name] for name in sorted(checks)], errors


def _loaded(extension: Extension) -> Iterator[Check]:
    """Yield the checks of an extension: it names one, or several. Raises ExtensionError."""
    value = extension.load()
    rows = [value] if isinstance(value, Check) else value
    if not isinstance(rows, list | tuple) or not rows:
        raise extension.error("names neither a Check nor a list of them")
    for row in rows:
        if not isinstance(row, Check):
            raise extension.error(f"has an item that is no Check: {type(row).__name__}")
        if wrong := wrong_type(row, CHECK):
            raise extension.error(f"has a check whose {wrong}")
        if not ID.fullmatch(row.id):
            raise extension.error(f"has the check {row.id!r}: an id is 2 to 16 capital letters, not AILB, and 3 digits")
        if not callable(row.run):
            raise extension.error(f"has the check {row.id}, which has no function 'run'")
        yield row
