"""Checks of extensions: a company's own policies, run and reported like those of the catalogue."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from ailb_gen.checks.context import Context
from ailb_gen.checks.model import Check, Findings
from ailb_gen.errors import ExtensionError
from ailb_gen.extensions import Extension, installed

ID = re.compile(r"(?!AILB)[A-Z]{2,16}[0-9]{3}")


@dataclass(frozen=True, slots=True)
class ForeignCheck:
    """A check and the extension that it comes from."""

    check: Check
    extension: Extension

    def run(self, context: Context, findings: Findings) -> ExtensionError | None:
        """Run the check; return the error if it fails, and mark it as one that did not run."""
        assert self.check.run is not None  # noqa: S101 - seen to when it was loaded
        try:
            self.check.run(context, findings)
        except Exception as error:  # noqa: BLE001 - whatever a foreign check raises, all others are still reported
            reason = f"{self.check.id} failed: {type(error).__name__}: {error}"
            findings.skip(self.check, reason)
            return self.extension.error(f"has a check that fails: {reason}")
        return None


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
        if not ID.fullmatch(row.id):
            raise extension.error(f"has the check {row.id!r}: an id is 2 to 16 capital letters, not AILB, and 3 digits")
        if not callable(row.run):
            raise extension.error(f"has the check {row.id}, which has no function 'run'")
        yield row
