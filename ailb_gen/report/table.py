"""The report for a terminal: families, findings, figures, and the verdict last."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from ailb_gen.checks.catalogue import NAMES
from ailb_gen.checks.model import Finding, Result
from ailb_gen.report.text import clean, detail, named, where, wrapped
from ailb_gen.report.verdict import STATUSES, Headline, Verdict, number
from ailb_gen.wording import aligned

SHOWN = 20


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
    return [("family", *columns), *rows]


def table(verdict: Verdict, everything: bool = False) -> str:
    """Return the report as plain text of at most 80 columns: causes, and with `everything` what follows from them."""
    return "\n".join(_lines(verdict, everything)) + "\n"


def _lines(verdict: Verdict, everything: bool) -> Iterator[str]:
    run = verdict.run
    roles = Counter(role for _, role in run.roles)
    devices = ", ".join(f"{count} {role}" for role, count in sorted(roles.items())) or "no devices"
    yield from wrapped(f"Fabric {run.fabric} in {run.artifacts}: {devices}")
    yield ""
    head, *rows = families(verdict)
    yield from aligned([[str(cell).upper() for cell in head], *rows], numbers=True)
    for result, headlines in verdict.attention():
        yield ""
        yield from _group(result, headlines, everything)
    yield from _section("Waived", _waived(verdict))
    yield from _section("Figures", _figures(verdict))
    yield from _section("Skipped", _skipped(verdict))
    yield from _section("Notes", list(run.notes))
    yield ""
    yield from wrapped(verdict.sentence())


def _group(result: Result, headlines: tuple[Headline, ...], everything: bool) -> Iterator[str]:
    check = result.check
    yield from wrapped(f"{check.id} {check.severity}: {check.violation}: {number(len(headlines), 'finding')}")
    shown = headlines if everything else headlines[:SHOWN]
    for headline in shown:
        yield from _finding(headline.finding, "  ")
        if headline.waived is not None:
            yield from wrapped(f"follows from {named(headline.waived)}", "    ")
        if headline.consequences:
            counts = ", ".join(f"{name} {count:,}" for name, count in headline.by_check().items())
            more = "" if everything else "; --all shows them"
            yield from wrapped(f"{number(len(headline.consequences), 'consequence')}: {counts}{more}", "    ")
        for finding in headline.consequences if everything else ():
            yield from _finding(finding, "      ", f"{finding.check} ")
    if len(headlines) > len(shown):
        yield f"  ... and {len(headlines) - len(shown):,} more; --all shows them, --report json=FILE has all"
    yield from wrapped(f"Repair: {check.repair}", "  ")


def _finding(finding: Finding, indent: str, start: str = "") -> Iterator[str]:
    yield from wrapped(f"{start}{clean(finding.scope)}  {where(finding)}".rstrip(), indent)
    yield from wrapped(finding.message, f"{indent}  ")
    if detail(finding):
        yield from wrapped(detail(finding), f"{indent}  ")


def _section(title: str, lines: list[str]) -> Iterator[str]:
    if lines:
        yield from ("", title)
        for line in lines:
            yield from wrapped(line, "  ")


def _waived(verdict: Verdict) -> list[str]:
    counts = Counter(verdict.accepted[f] for result in verdict.run.results for f in verdict.waived(result))
    return [
        f"{waiver.check} {waiver.scope}: {number(count, 'finding')} until {waiver.expires}: {waiver.reason}"
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
