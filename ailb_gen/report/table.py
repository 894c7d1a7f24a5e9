"""The report for a terminal: families, findings, figures, and the verdict last."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from functools import partial

from ailb_gen.checks.layers import NAMES
from ailb_gen.checks.model import Finding, Result, Severity
from ailb_gen.paint import Paint, Style, heading, unpainted
from ailb_gen.report.text import WIDTH, detail, named, where, wrapped
from ailb_gen.report.verdict import HEADINGS, STATUSES, Headline, Verdict, similar
from ailb_gen.wording import aligned, clean, counted

SHOWN = 20
HIDDEN = "--all shows every finding and consequence, --report json=FILE lists everything"
# The most devices that are named among similar findings.
NAMED = 3
STYLES = {"fail": Style.FAIL, "warn": Style.WARN, "pass": Style.PASS, "findings": Style.HEAD}
SEVERITIES = {Severity.ERROR: Style.FAIL, Severity.WARNING: Style.WARN, Severity.NOTE: Style.HEAD}
WORDS = {"FAIL": Style.FAIL, "INCOMPLETE": Style.FAIL, "PASS": Style.PASS}


def families(verdict: Verdict) -> list[tuple[object, ...]]:
    """Return the rows of the table of families, with a header and a total."""
    counts: dict[str, Counter[str]] = {}
    for result in verdict.run.results:
        row = counts.setdefault(NAMES[result.check.family], Counter())
        open_ = len(verdict.open(result))
        row.update({"checks": 1, verdict.status(result): 1, "findings": open_, "waived": len(result.findings) - open_})
    total: Counter[str] = Counter()
    for row in counts.values():
        total.update(row)
    columns = ("checks", *STATUSES, "findings", "waived")
    rows = [(name, *(row[column] for column in columns)) for name, row in (*counts.items(), ("total", total))]
    return [("family", "checks", *HEADINGS.values(), "findings", "waived"), *rows]


def table(verdict: Verdict, everything: bool = False, paint: Paint = unpainted, width: int = WIDTH) -> str:
    """Return the report as text, its prose `width` columns wide: causes, with `everything` also their consequences."""
    return "\n".join(_Table(verdict, everything, paint, width).lines()) + "\n"


def finding_lines(verdict: Verdict, paint: Paint = unpainted, width: int = WIDTH) -> Iterator[str]:
    """Yield the lines of the open findings alone, grouped by check."""
    return _Table(verdict, False, paint, width).groups()


class _Table:
    """The report being written: text is cleaned and wrapped first, then painted."""

    def __init__(self, verdict: Verdict, everything: bool, paint: Paint, width: int) -> None:
        self.verdict, self.everything, self.paint = verdict, everything, paint
        self.wrapped = partial(wrapped, width=width)
        self.hidden = False

    def lines(self) -> Iterator[str]:
        verdict, run = self.verdict, self.verdict.run
        roles = Counter(role for _, role in run.roles)
        devices = ", ".join(counted(count, role) for role, count in sorted(roles.items())) or "no devices"
        what = "Cluster" if run.is_cluster else "Fabric"
        yield from self.wrapped(f"{what} {run.fabric} in {run.artifacts}: {devices}")
        yield ""
        yield from self._families()
        yield from self.groups()
        if self.hidden:
            yield from ("", *self.wrapped(HIDDEN))
        yield from self._section("Waived", _waived(verdict))
        yield from self._section("Metrics", _figures(verdict))
        yield from self._section("Skipped", _skipped(verdict))
        yield from self._section("Notes", run.notes)
        yield ""
        first, *more = self.wrapped(verdict.sentence())
        word, _, rest = first.partition(":")
        yield from (f"{self.paint(word, WORDS[word])}:{rest}", *more)

    def groups(self) -> Iterator[str]:
        """Yield the lines of the open findings."""
        for result, headlines in self.verdict.attention():
            yield ""
            yield from self._group(result, headlines)

    def _families(self) -> Iterator[str]:
        head, *rows = families(self.verdict)

        def paint(row: int, column: int, text: str) -> str:
            if row < 1:
                return heading(row, text, self.paint)
            if text.strip() == "0":
                return self.paint(text, Style.DIM)
            style = STYLES.get(str(head[column]))
            return text if style is None else self.paint(text, style)

        yield from aligned([[str(cell).upper() for cell in head], *map(_separated, rows)], numbers=True, paint=paint)

    def _group(self, result: Result, headlines: tuple[Headline, ...]) -> Iterator[str]:
        check = result.check
        start = f"{check.id} {check.severity}"
        first, *more = self.wrapped(f"{start}: {check.violation}: {counted(len(headlines), 'finding')}")
        yield from (f"{self.paint(start, SEVERITIES[check.severity])}{first.removeprefix(start)}", *more)
        groups: Sequence[tuple[Headline, ...]] = [(headline,) for headline in headlines]
        if not self.everything:
            groups = similar(headlines)
        shown = groups if self.everything else groups[:SHOWN]
        for headline, *others in shown:
            yield from self._headline(headline)
            yield from self._others(headline, others)
        yield from self._left([row.finding for group in groups[len(shown) :] for row in group])
        self.hidden |= not self.everything and len(shown) < sum(1 + len(row.consequences) for row in headlines)
        yield from self.wrapped(f"Repair: {check.repair}", "  ")

    def _headline(self, headline: Headline) -> Iterator[str]:
        yield from self._finding(headline.finding, "  ")
        if headline.waived is not None:
            yield from self.wrapped(f"follows from {named(headline.waived)}", "    ")
        if headline.consequences:
            counts = [f"{name} {count:,}" for name, count in headline.by_check().items()]
            text = f"{counted(len(headline.consequences), 'consequence')}: {', '.join(counts)}"
            yield from self.wrapped(text, "    ", counts)
        for finding in headline.consequences if self.everything else ():
            yield from self._finding(finding, "      ", f"{finding.check} ")

    def _finding(self, finding: Finding, indent: str, start: str = "") -> Iterator[str]:
        for line in self.wrapped(f"{start}{clean(finding.scope)}  {where(finding)}".rstrip(), indent):
            text = line.lstrip()
            yield line[: len(line) - len(text)] + self.paint(text, Style.HEAD)
        yield from self.wrapped(finding.message, f"{indent}  ")
        if any(text not in finding.message for text in (finding.expected, finding.found)):
            yield from self.wrapped(detail(finding), f"{indent}  ")

    def _left(self, findings: Sequence[Finding]) -> Iterator[str]:
        """Count the findings that are not shown, and where they have a statement by its first word."""
        if findings:
            counts = Counter(finding.statement.partition(" ")[0] for finding in findings)
            parts = [f"{word} {count:,}" for word, count in counts.most_common()]
            text = f"... and {len(findings):,} more"
            yield from self.wrapped(text if "" in counts else f"{text}: {', '.join(parts)}", "  ", parts)

    def _section(self, title: str, lines: Sequence[str]) -> Iterator[str]:
        if lines:
            yield from ("", self.paint(title, Style.HEAD))
            for line in lines:
                yield from self.wrapped(line, "  ")

    def _others(self, first: Headline, headlines: Sequence[Headline]) -> Iterator[str]:
        """Count the findings that are like the first one, and name a few that are about something else."""
        if headlines:
            scopes = [clean(headline.finding.scope) for headline in headlines]
            others = [scope for scope in dict.fromkeys(scopes) if scope != clean(first.finding.scope)]
            names = ", ".join(others[:NAMED]) + (", ..." if len(others) > NAMED else "")
            text = f"and {len(scopes):,} more like it"
            yield from self.wrapped(f"{text}: {names}" if names else text, "    ", others[:NAMED])


def _separated(row: Sequence[object]) -> list[object]:
    return [f"{cell:,}" if isinstance(cell, int) else cell for cell in row]


def _waived(verdict: Verdict) -> list[str]:
    counts = Counter(verdict.accepted[f] for result in verdict.run.results for f in verdict.waived(result))
    return [
        f"{waiver.check} {waiver.scope}: {counted(count, 'finding')} until {waiver.expires}: {waiver.reason}"
        for waiver, count in counts.items()
    ]


def _skipped(verdict: Verdict) -> list[str]:
    """Return the checks that did not run, those with one reason together."""
    reasons: dict[str, list[str]] = {}
    for result in verdict.run.results:
        if verdict.status(result) == "skip":
            reasons.setdefault(result.skipped, []).append(result.check.id)
    return [
        f"{ids[0]} {reason}" if len(ids) == 1 else f"{ids[0]} to {ids[-1]} ({len(ids)} checks): {reason}"
        for reason, ids in reasons.items()
    ]


def _figures(verdict: Verdict) -> list[str]:
    return [f"{result.check.id} {name}: {value}" for result in verdict.run.results for name, value in result.figures]
