"""The verdict of a run with its waivers, and the limit to some devices: every check's status, and whether it passes."""

from __future__ import annotations

import datetime
import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from hashlib import sha256
from typing import Literal

from ailb_gen.checks.layers import Layer
from ailb_gen.checks.model import EVERYTHING, Finding, Result, Run, Severity
from ailb_gen.checks.select import limited
from ailb_gen.checks.subjects import ANY, SubjectKind
from ailb_gen.checks.waivers import Waiver, accept, review
from ailb_gen.selection import pick_devices
from ailb_gen.wording import counted

Status = Literal["pass", "fail", "warn", "skip", "empty"]
# Fewer similar headlines are as short one by one.
FEWEST = 3
# The subjects that say where something is; the others say what it is.
PLACES = frozenset(
    {SubjectKind.DEVICE, SubjectKind.PORT, SubjectKind.NIC, SubjectKind.PREFIX, SubjectKind.TABLE, SubjectKind.VLAN}
)
# The words of a statement that stand before the name of a place.
NAMING = frozenset({"address", "description", "interface", "interfaces", "members", "prefix", "route", "unit", "vlans"})
# A word of a statement, or a text in quotes.
WORD = re.compile(r'"[^"]*"|\S+')
STATUSES: tuple[Status, ...] = ("pass", "fail", "warn", "skip", "empty")
# The headings of their columns.
HEADINGS: Mapping[Status, str] = {"pass": "pass", "fail": "fail", "warn": "warn", "skip": "skip", "empty": "n/a"}


@dataclass(frozen=True, slots=True)
class Headline:
    """An open finding that stands for what follows from it.

    `waived` is the finding that it follows from itself, when that is waived or outside of what was asked for.
    """

    finding: Finding
    consequences: tuple[Finding, ...] = ()
    waived: Finding | None = None

    def by_check(self) -> Counter[str]:
        """Return the number of consequences by check, in order of the ids."""
        return Counter(sorted(finding.check for finding in self.consequences))


@dataclass(frozen=True, slots=True)
class Verdict:
    """A run judged.

    `accepted` holds the waiver of every waived finding, `fail_on` the severity that fails the gate, `causes` the root
    cause of every finding that follows from another, open or not.
    """

    run: Run
    accepted: Mapping[Finding, Waiver]
    fail_on: Severity = Severity.ERROR
    causes: Mapping[Finding, Finding] = field(default_factory=dict)

    def identity(self, finding: Finding) -> str:
        """Return the fingerprint of a finding; of several that share all of its key, the first one's."""
        return fingerprints([finding])[0]

    def open(self, result: Result) -> tuple[Finding, ...]:
        """Return the findings that are not waived."""
        return tuple(finding for finding in result.findings if finding not in self.accepted)

    def waived(self, result: Result) -> tuple[Finding, ...]:
        """Return the findings that are waived."""
        return tuple(finding for finding in result.findings if finding in self.accepted)

    def status(self, result: Result) -> Status:
        """Return how the check went.

        `fail` and `warn` are open findings at or above `fail_on`, and below it; `skip` did not run; `empty`
        does not apply, because nothing was there to examine; `pass` is all the rest, waived findings too.
        """
        if self.open(result):
            return "fail" if result.check.severity >= self.fail_on else "warn"
        if result.skipped:
            return "skip"
        return "pass" if result.examined or result.findings else "empty"

    @property
    def failed(self) -> bool:
        """Whether the run fails."""
        return any(self.status(result) == "fail" for result in self.run.results)

    @property
    def passed(self) -> bool:
        """Whether the run passes: nothing failed, and every check was made that was to be."""
        return not self.failed and not self.run.trouble

    def headlines(self) -> list[Headline]:
        """Return the open findings grouped by their root cause; what leads a group is in the order of the results."""
        groups: dict[Finding, list[Finding]] = {}
        for result in self.run.results:
            for finding in self.open(result):
                groups.setdefault(self.causes.get(finding, finding), []).append(finding)
        order = {check.id: number for number, check in enumerate(result.check for result in self.run.results)}
        found = [
            Headline(root, tuple(row for row in rows if row != root))
            if root in rows
            # The most fundamental of what is left; the order of the catalogue is that of the computation.
            else Headline(rows[0], tuple(rows[1:]), root)
            for root, rows in groups.items()
        ]
        return sorted(found, key=lambda row: order[row.finding.check])

    def attention(self) -> list[tuple[Result, tuple[Headline, ...]]]:
        """Return the checks that have headlines and these: the worst first, and causes before what may follow."""
        severity = {result.check.id: result.check.severity for result in self.run.results}
        rows: dict[str, list[Headline]] = {}
        for row in self.headlines():
            rows.setdefault(row.finding.check, []).append(row)
        worst = {
            name: max(severity[one.check] for row in found for one in (row.finding, *row.consequences))
            for name, found in rows.items()
        }
        results = [result for result in self.run.results if result.check.id in rows]
        results.sort(
            key=lambda result: (
                -worst[result.check.id],
                -result.check.severity,
                # From a value that nothing else depends on nothing follows.
                result.check.layer is Layer.SETTINGS,
                result.check.layer,
                result.check.id,
            )
        )
        return [(result, tuple(rows[result.check.id])) for result in results]

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
            counted(counts[str(severity)], str(severity)) for severity in reversed(Severity) if counts[str(severity)]
        ]
        parts = [
            f"{self._grouped()}{', '.join(found) or 'no findings'}",
            *([f"{counts['waived']} waived"] if counts["waived"] else []),
            f"{counted(counts['pass'], 'check')} passed",
            *([f"{counts['skip']} skipped"] if counts["skip"] else []),
            *([f"{counts['empty']} not applicable"] if counts["empty"] else []),
        ]
        word = "FAIL" if self.failed else "PASS" if self.passed else "INCOMPLETE"
        roots = (row.waived or row.finding for row in self.headlines())
        first = [root.message for root in roots if root.same_cause == EVERYTHING]
        return f"{word}: {'; '.join((*first, *parts))}"

    def _grouped(self) -> str:
        """Return how many findings are causes and how many follow from them, as text; empty where none follow."""
        headlines = self.headlines()
        follow = sum(len(row.consequences) for row in headlines)
        return f"{counted(len(headlines), 'cause')} with {counted(follow, 'consequence')}: " if follow else ""


def similar(headlines: Sequence[Headline]) -> list[tuple[Headline, ...]]:
    """Return headlines in groups that differ only in where they are, in the order of the first of each.

    Fewer than FEWEST of a kind are not grouped.
    """
    kinds = [_kind(headline) for headline in headlines]
    groups: dict[object, list[Headline]] = defaultdict(list)
    for kind, headline in zip(kinds, headlines, strict=True):
        groups[kind].append(headline)
    rows: list[tuple[Headline, ...]] = []
    for kind, headline in zip(kinds, headlines, strict=True):
        group = groups[kind]
        if len(group) < FEWEST:
            rows.append((headline,))
        elif group[0] is headline:
            rows.append(tuple(group))
    return rows


def _kind(headline: Headline) -> tuple[object, ...]:
    """Return the check, the kinds of subjects, the names of settings and the statement without names of places."""
    finding = headline.finding
    subjects = sorted({(one.kind, "" if one.kind in PLACES else one.name) for one in finding.subjects})
    words = WORD.findall(finding.statement)
    statement = tuple(ANY if before in NAMING else word for before, word in zip(["", *words], words, strict=False))
    texts = (bool(finding.part), bool(finding.expected), bool(finding.found), finding.instead)
    return (finding.check, headline.waived is not None, *sorted(headline.by_check()), *subjects, statement, texts)


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


def today() -> datetime.date:
    """Return the date in UTC: a pipeline gives the same verdict wherever it runs."""
    return datetime.datetime.now(datetime.UTC).date()


def judge(
    run: Run,
    waivers: Sequence[Waiver],
    chosen: Collection[str],
    limit: Sequence[str],
    fail_on: str,
    day: datetime.date | None = None,
    parts: Sequence[Sequence[Result]] = (),
) -> Verdict:
    """Return the verdict on a run, by default as of today.

    Waivers and causes are judged on all findings, so that `limit` makes neither look otherwise; with `parts` of the
    results, causes are found within each. Raises UsageError for a pattern of `limit` that picks no device.
    """
    day = day or today()
    accepted = accept(run.results, waivers, day)
    roots = {finding: root for part in parts or (run.results,) for finding, root in _causes(part).items()}
    results = limited(run.results, pick_devices(dict(run.roles), limit), run.folders)
    own = review(run.results, waivers, day, run.artifacts)
    results = (*results, *(result for result in own if result.check.id in chosen))
    results = tuple(sorted(results, key=lambda result: result.check.id))
    return Verdict(replace(run, results=results), accepted, Severity[fail_on.upper()], roots)


def _causes(results: Sequence[Result]) -> dict[Finding, Finding]:
    if not any(result.findings for result in results):
        return {}
    from ailb_gen.checks.causes import causes  # noqa: PLC0415 - most runs find nothing

    return causes(results)
