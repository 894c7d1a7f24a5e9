"""What a run and its waivers amount to: the status of every check, and whether the gate opens."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from hashlib import sha256
from typing import TYPE_CHECKING, Literal

from ailb_gen.checks.model import Severity

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from ailb_gen.checks.model import Finding, Result, Run
    from ailb_gen.checks.waivers import Waiver

Status = Literal["pass", "fail", "warn", "skip", "empty"]
STATUSES: tuple[Status, ...] = ("pass", "fail", "warn", "skip", "empty")


@dataclass(frozen=True, slots=True)
class Verdict:
    """A run judged: `accepted` holds the waiver of every waived finding, `fail_on` the severity that fails the gate."""

    run: Run
    accepted: Mapping[Finding, Waiver]
    fail_on: Severity = Severity.ERROR

    def open(self, result: Result) -> tuple[Finding, ...]:
        """Return the findings that nobody has waived."""
        return tuple(finding for finding in result.findings if finding not in self.accepted)

    def waived(self, result: Result) -> tuple[Finding, ...]:
        """Return the findings that are waived."""
        return tuple(finding for finding in result.findings if finding in self.accepted)

    def status(self, result: Result) -> Status:
        """Return how the check went.

        `fail` and `warn` are open findings at or above `fail_on`, and below it; `skip` did not run; `empty` had
        nothing to look at, which proves nothing; `pass` is all the rest, waived findings too.
        """
        if self.open(result):
            return "fail" if result.check.severity >= self.fail_on else "warn"
        if result.skipped:
            return "skip"
        return "pass" if result.examined or result.findings else "empty"

    @property
    def failed(self) -> bool:
        """Whether the gate stays shut."""
        return any(self.status(result) == "fail" for result in self.run.results)

    @property
    def passed(self) -> bool:
        """Whether the gate opens: nothing failed, and everything was judged that was to be."""
        return not self.failed and not self.run.trouble

    def attention(self) -> list[tuple[Result, tuple[Finding, ...]]]:
        """Return the checks with open findings and these, the worst first."""
        found = [(result, self.open(result)) for result in self.run.results]
        return sorted((row for row in found if row[1]), key=lambda row: (-row[0].check.severity, row[0].check.id))

    def counts(self) -> Counter[str]:
        """Return the number of open findings by severity, of those `waived`, and of the checks by status."""
        counts: Counter[str] = Counter()
        for result in self.run.results:
            open_ = len(self.open(result))
            counts[str(result.check.severity)] += open_
            counts["waived"] += len(result.findings) - open_
            counts[self.status(result)] += 1
        return counts

    def sentence(self) -> str:
        """Return the verdict in a line."""
        counts = self.counts()
        found = [
            number(counts[str(severity)], str(severity)) for severity in reversed(Severity) if counts[str(severity)]
        ]
        parts = [
            ", ".join(found) or "no findings",
            *([f"{counts['waived']} waived"] if counts["waived"] else []),
            f"{number(counts['pass'], 'check')} passed",
            *([f"{counts['skip']} skipped"] if counts["skip"] else []),
            *([f"{counts['empty']} with nothing to look at"] if counts["empty"] else []),
        ]
        word = "FAIL" if self.failed else "PASS" if self.passed else "INCOMPLETE"
        return f"{word}: {'; '.join(parts)}"


def number(count: int, word: str) -> str:
    """Return a count with its noun."""
    return f"{count:,} {word}{'' if count == 1 else 's'}"


def fingerprints(findings: Iterable[Finding]) -> list[str]:
    """Return an identity for every finding that survives moved lines: check, scope and message.

    Findings that share all three are counted in their order.
    """
    seen: Counter[tuple[str, str, str]] = Counter()
    result = []
    for finding in findings:
        key = (finding.check, finding.scope, finding.message)
        seen[key] += 1
        text = "\0".join((*key, str(seen[key])))
        result.append(sha256(text.encode("utf-8", "backslashreplace")).hexdigest()[:32])
    return result
