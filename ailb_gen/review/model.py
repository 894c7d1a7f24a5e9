"""The review of a change: everything that its comment, text and JSON show."""

from __future__ import annotations

from dataclasses import dataclass, replace

from ailb_gen.checks.model import Finding
from ailb_gen.report.check_report import CheckReport
from ailb_gen.report.verdict import Verdict, fingerprints
from ailb_gen.review.changes import DeviceChange, DeviceGroup
from ailb_gen.review.impact import ChangeImpact


@dataclass(frozen=True, slots=True)
class Review:
    """A change of a fabric: `report` is the verdict on the files after it, `before` that on those before.

    `base` names the files before the change, `missing` says why there is no verdict on them: without one, all findings
    are new. `cables` are those that come and those that go. `impact` is None where one side cannot be computed.
    `reread` are the numbers of switch files before the change: those that were read, and all.
    """

    base: str
    report: CheckReport
    before: Verdict | None = None
    missing: str = ""
    groups: tuple[DeviceGroup, ...] = ()
    cables: tuple[tuple[str, ...], tuple[str, ...]] = ((), ())
    impact: ChangeImpact | None = None
    reread: tuple[int, int] = (0, 0)

    @property
    def fabric(self) -> str:
        """The name of the fabric."""
        return self.report.verdict.run.fabric

    @property
    def changes(self) -> tuple[DeviceChange, ...]:
        """The devices that change, by group."""
        return tuple(change for group in self.groups for change in group.changes)

    @property
    def new(self) -> Verdict:
        """The verdict on new open findings alone."""
        return _without(self.report.verdict, self.before)

    @property
    def gone(self) -> Verdict | None:
        """The verdict on open findings of before that are gone."""
        return _without(self.before, self.report.verdict) if self.before is not None else None

    @property
    def kept(self) -> int:
        """The number of open findings that were there before."""
        return len(open_findings(self.report.verdict)) - len(open_findings(self.new))


def open_findings(verdict: Verdict) -> list[Finding]:
    """Return the findings of a verdict that no waiver accepts, in the order of the checks."""
    return [finding for result in verdict.run.results for finding in verdict.open(result)]


def _without(verdict: Verdict, other: Verdict | None) -> Verdict:
    """Return a verdict without the findings that another one has open, too, wherever their lines are."""
    theirs = set(fingerprints(open_findings(other))) if other is not None else set()
    ours = open_findings(verdict)
    own = {finding for finding, key in zip(ours, fingerprints(ours), strict=True) if key not in theirs}
    results = tuple(
        replace(result, findings=tuple(finding for finding in result.findings if finding in own))
        for result in verdict.run.results
    )
    return replace(verdict, run=replace(verdict.run, results=results))
