"""The findings of a run as a section: grouped by check and root cause, all of them for the page's search."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, islice

from ailb_gen.checks.layers import NAMES
from ailb_gen.checks.model import Check, Finding
from ailb_gen.report.html.page import Numbered, Section
from ailb_gen.report.text import named
from ailb_gen.report.verdict import Headline, Verdict, similar
from ailb_gen.wording import clean, counted

# So many headlines of a check are in the page's text; the script shows the others.
SHOWN = 10
# So many findings are in the page: causes first, then what follows from them.
MOST = 30_000
NONE = -1
# A finding in the data: numbers of check, device and file, -1 for none; of the headline that it follows from; of the
# headline that it is like; and what follows from it in words.
FindingRow = tuple[int, int, str, str, int, int, str, str, int, int, str]


@dataclass(frozen=True, slots=True)
class FindingGroup:
    """The headlines of a check: how many there are, the first ones, and how many kinds of them are not shown.

    A headline has its number in the data before it, and behind it the number of those that are like it.
    """

    check: Check
    family: str
    count: int
    items: Sequence[tuple[int, Headline, int]]
    more: int


def findings_section(verdict: Verdict) -> Section:
    """Return the section of the open findings."""
    attention = [(result, similar(headlines)) for result, headlines in verdict.attention()]
    groups = []
    heads: list[tuple[Headline, int]] = []
    for result, kinds in attention:
        items = []
        for first, *others in kinds:
            lead = len(heads)
            items.append((lead, first, len(others)))
            heads += [(first, NONE), *((other, lead) for other in others)]
        count = sum(map(len, kinds))
        more = max(0, len(items) - SHOWN)
        groups.append(FindingGroup(result.check, NAMES[result.check.family], count, items[:SHOWN], more))
    everything = len(heads) + sum(len(row.consequences) for row, _ in heads)
    values = {
        "groups": groups,
        "blank": Headline(Finding("", "", "")),
        "follows": _follows,
        "above": _above,
        "families": sorted({group.family for group in groups}),
        "severities": [str(one) for one in sorted({group.check.severity for group in groups}, reverse=True)],
        "everything": everything,
        "left_out": max(0, everything - MOST),
    }
    return Section("findings", "Findings", values, _data(verdict, heads) if heads else None)


def _follows(row: Headline) -> str:
    if not row.consequences:
        return ""
    counts = ", ".join(f"{name} {count:,}" for name, count in row.by_check().items())
    return f"{counted(len(row.consequences), 'consequence')}: {counts}"


def _above(row: Headline) -> str:
    return f"follows from {named(row.waived)}" if row.waived is not None else ""


def _data(verdict: Verdict, heads: Sequence[tuple[Headline, int]]) -> Mapping[str, object]:
    """Return all findings for the script: headlines with the number of what they are like, then consequences."""
    first = ((row.finding, NONE, like, _follows(row) or _above(row)) for row, like in heads)
    follow = ((finding, at, NONE, "") for at, (row, _) in enumerate(heads) for finding in row.consequences)
    checks, devices, files = Numbered[str](), Numbered[str](), Numbered[str]()
    rows: list[FindingRow] = []
    for finding, cause, like, words in islice(chain(first, follow), MOST):
        place = finding.place
        file = files(clean(place.file)) if place else NONE
        texts = (clean(finding.part), clean(finding.message))
        pair = (clean(finding.expected), clean(finding.found))
        names = (checks(finding.check), devices(clean(finding.device)))
        rows.append((*names, *texts, file, place.line if place else 0, *pair, cause, like, words))
    rows_of = {result.check.id: result.check for result in verdict.run.results}
    return {
        "checks": [(name, str(rows_of[name].severity), NAMES[rows_of[name].family]) for name in checks.values],
        "devices": list(devices.values),
        "files": list(files.values),
        "rows": rows,
    }
