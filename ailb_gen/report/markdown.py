"""The report for a merge request: the verdict first, and short enough for a comment."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ailb_gen.checks.model import Result
from ailb_gen.report.table import families
from ailb_gen.report.text import detail, from_here, named
from ailb_gen.report.verdict import Headline, Verdict
from ailb_gen.wording import clean, counted

# A comment on GitHub holds 65,536 characters.
MAX_CHARACTERS = 65_000
LEFT_OUT = 200
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
    notes = [line for note in run.notes for line in (escaped(note), "")]
    head = [MARKER, f"### {icon} {word}: {code(run.fabric)}", "", f"{rest}.", "", *notes, *_table(verdict), ""]
    text = "\n".join(head)
    return text + findings(verdict, limit - len(text))


def findings(verdict: Verdict, limit: int) -> str:
    """Return the headlines of every check as Markdown of at most `limit` characters; what does not fit is counted."""
    text = ""
    # Room for the sentence that says what was left out.
    room = limit - LEFT_OUT
    left_checks = left_findings = 0
    for result, headlines in verdict.attention():
        block = _block(verdict, result, headlines, room)
        if not block:
            left_checks += 1
            left_findings += len(headlines)
            continue
        text += block
        room -= len(block)
    if left_checks:
        what = f"{counted(left_findings, 'finding')} of {counted(left_checks, 'check')}"
        text += f"\nNo room for {what}; the other reports of this run have them.\n"
    return text


def _table(verdict: Verdict) -> Iterator[str]:
    header, *rows = families(verdict)
    yield f"| {' | '.join(map(str, header))} |"
    yield f"|---{'|--:' * (len(header) - 1)}|"
    for row in rows:
        # An empty cell reads better than a zero.
        yield f"| {' | '.join(str(cell or '') for cell in row)} |"


def _block(verdict: Verdict, result: Result, headlines: tuple[Headline, ...], room: int) -> str:
    """Return the headlines of a check, as many as fit into `room` characters; nothing when not one does."""
    check = result.check
    count = counted(len(headlines), str(check.severity))
    head = f"\n<details><summary><b>{check.id}</b> {escaped(check.violation)}: {count}</summary>\n\n"
    tail = f"\n{escaped(check.why)} *Repair:* {escaped(check.repair)}\n\n</details>\n"
    more = "- ... and {} more\n"
    items: list[str] = []
    used = len(head) + len(tail) + len(more) + 10
    for headline in headlines[:SHOWN]:
        item = _item(verdict, headline)
        if used + len(item) > room:
            break
        items.append(item)
        used += len(item)
    if not items:
        return ""
    left = len(headlines) - len(items)
    return head + "".join(items) + (more.format(f"{left:,}") if left else "") + tail


def _item(verdict: Verdict, headline: Headline) -> str:
    finding = headline.finding
    place = f"{from_here(verdict.run, finding.place.file)}:{finding.place.line}" if finding.place else ""
    parts = [code(finding.scope), code(finding.message), code(detail(finding)), code(place)]
    if headline.waived is not None:
        parts.append(f"follows from {code(named(headline.waived))}")
    if headline.consequences:
        counts = ", ".join(f"{name} {count:,}" for name, count in headline.by_check().items())
        parts.append(f"{counted(len(headline.consequences), 'consequence')} ({counts})")
    return f"- {', '.join(part for part in parts if part)}\n"


def escaped(text: str) -> str:
    """Return text inside HTML, where it has no meaning of its own; it is the program's, but may hold `<` and `&`."""
    return clean(text).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
