"""Counts what checks look at and keeps what they find, until it becomes results."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ailb_gen.checks.model import Check, Finding, Result, by_place

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from ailb_gen.errors import Place


class Findings:
    """Findings and counts of a family of checks."""

    __slots__ = ("checks", "counts", "findings")

    def __init__(self, checks: Iterable[Check]) -> None:
        self.checks = tuple(checks)
        self.counts = {check.id: 0 for check in self.checks}
        self.findings: dict[str, list[Finding]] = {check.id: [] for check in self.checks}

    def look(self, check: Check, count: int = 1) -> None:
        """Count things that a check looks at."""
        self.counts[check.id] += count

    def add(
        self,
        check: Check,
        scope: str,
        message: str,
        place: Place | None = None,
        expected: object = "",
        found: object = "",
        involves: Iterable[str] = (),
        alike: str = "",
    ) -> None:
        """Note a finding."""
        self.findings[check.id].append(
            Finding(check.id, scope, message, place, str(expected), str(found), tuple(involves), alike)
        )

    def results(self) -> Iterator[Result]:
        """Iterate over the results in the order of the checks."""
        for check in self.checks:
            yield Result(check, by_place(self.findings[check.id]), self.counts[check.id])
