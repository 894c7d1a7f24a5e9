"""The report for a merge request: the verdict first, and short enough for a comment."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from ailb_gen.report.table import families
from ailb_gen.report.text import clean, detail, from_here
from ailb_gen.report.verdict import number

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ailb_gen.checks.model import Finding, Result
    from ailb_gen.report.verdict import Verdict

# A comment on GitHub holds 65,536 characters.
MAX_CHARACTERS = 65_000
SHOWN = 20
# Pipelines find the comment of the last run by this line and replace it.
MARKER = "<!-- ailb-gen validate -->"
MAX_CODE = 300


def code(text: str) -> str:
    """Return text from a file as a code span, in which nothing has a meaning: no markup, no HTML, no mention."""
    text = clean(text)
    if len(text) > MAX_CODE:
        text = f"{text[:MAX_CODE]}..."
    if not text.strip():
        return ""
    fence = "`" * (1 + max(map(len, re.findall("`+", text)), default=0))
    edge = " " if text[0] in "` " or text[-1] in "` " else ""
    return f"{fence}{edge}{text}{edge}{fence}"


def markdown(verdict: Verdict, limit: int = MAX_CHARACTERS) -> str:
    """Return the report as Markdown of at most `limit` characters; what does not fit is counted."""
    run = verdict.run
    word, _, rest = verdict.sentence().partition(": ")
    icon = "\u2705" if verdict.passed else "\u274c"
    head = [MARKER, f"### {icon} {word}: {code(run.fabric)}", "", f"{rest}.", "", *_table(verdict), ""]
    text = "\n".join(head)
    groups = verdict.attention()
    # Room for the sentence that says what was left out.
    room = limit - len(text) - 200
    left_checks = left_findings = 0
    for result, findings in groups:
        block = _block(verdict, result, findings, room)
        if not block:
            left_checks += 1
            left_findings += len(findings)
            continue
        text += block
        room -= len(block)
    if left_checks:
        what = f"{number(left_findings, 'finding')} of {number(left_checks, 'check')}"
        text += f"\nNo room for {what}; the other reports of this run have them.\n"
    return text


def _table(verdict: Verdict) -> Iterator[str]:
    header, *rows = families(verdict)
    yield f"| {' | '.join(map(str, header))} |"
    yield f"|---{'|--:' * (len(header) - 1)}|"
    for row in rows:
        # An empty cell reads better than a zero.
        yield f"| {' | '.join(str(cell or '') for cell in row)} |"


def _block(verdict: Verdict, result: Result, findings: tuple[Finding, ...], room: int) -> str:
    """Return the findings of a check, as many as fit into `room` characters; nothing when not one does."""
    check = result.check
    counted = f"{number(len(findings), check.severity.name.lower())}"
    head = f"\n<details><summary><b>{check.id}</b> {_plain(check.meaning)}: {counted}</summary>\n\n"
    tail = f"\n{_plain(check.why)} *Repair:* {_plain(check.repair)}\n\n</details>\n"
    more = "- ... and {} more\n"
    items: list[str] = []
    used = len(head) + len(tail) + len(more) + 10
    for finding in findings[:SHOWN]:
        item = _item(verdict, finding)
        if used + len(item) > room:
            break
        items.append(item)
        used += len(item)
    if not items:
        return ""
    left = len(findings) - len(items)
    return head + "".join(items) + (more.format(f"{left:,}") if left else "") + tail


def _item(verdict: Verdict, finding: Finding) -> str:
    place = f"{from_here(verdict.run, finding.place.file)}:{finding.place.line}" if finding.place else ""
    parts = (code(finding.scope), code(finding.message), code(detail(finding)), code(place))
    return f"- {', '.join(part for part in parts if part)}\n"


def _plain(text: str) -> str:
    """Return a text of the catalogue inside HTML: it is ours, but may hold `<` and `&`."""
    return clean(text).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
