"""The one comment of a merge request as Markdown: verdict, new findings, changes by device, impact, loads.

Names and statements from files stand in code only, where they mean nothing: no markup, no HTML, no mention, no link.
What does not fit is left out block by block, and counted.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from html import escape
from itertools import islice

from ailb_gen.report.markdown import LEFT_OUT, MAX_CHARACTERS, MAX_CODE, code, escaped, findings
from ailb_gen.review.changes import DeviceGroup
from ailb_gen.review.model import Review, open_findings
from ailb_gen.review.tables import Table, facts, group_title, tables
from ailb_gen.wording import clean, counted

# Statements of an example, and names of devices and findings; more are counted.
STATEMENTS, NAMES, GONE = 40, 3, 10
# The part of the room that findings may take.
FINDINGS = 0.5
POINTER = "the report as JSON of this run has everything."


def marker(fabric: str) -> str:
    """Return the first line of a comment, by which pipelines find the one of the last run."""
    return f"<!-- ailb-gen review: {re.sub('[^A-Za-z0-9._-]', '_', fabric)} -->"


def comment(review: Review, limit: int = MAX_CHARACTERS) -> str:
    """Return the comment, of at most `limit` characters."""
    verdict = review.report.verdict
    word, _, rest = verdict.sentence().partition(": ")
    icon = "\u2705" if verdict.passed else "\u274c"
    text = f"{marker(review.fabric)}\n### {icon} {word}: {code(review.fabric)}\n\n{escaped(rest)}.\n\n"
    text += f"Compared with {code(review.base)}:\n\n"
    text += "".join(f"- {_sentence(fact)}\n" for fact in facts(review))
    text += _findings(review, int((limit - len(text)) * FINDINGS))
    if review.groups:
        text += "\n#### Changes by device\n\n"
        text += _fitting(map(_group, review.groups), limit - len(text) - LEFT_OUT, "group")
    made = [_table(table) for table in tables(review)]
    return text + _fitting(made, limit - len(text) - LEFT_OUT, "table")


def _sentence(fact: str) -> str:
    """Return a fact; text of files or errors in it follows its first colon, and is code."""
    head, colon, rest = fact.partition(": ")
    quoting = head in ("No comparison", "No order of changes keeps a path")
    return f"{head}{colon}{code(rest) if quoting else escaped(rest)}."


def _findings(review: Review, room: int) -> str:
    """Return the new findings, and the scopes of those that are gone."""
    text = ""
    if open_findings(review.new):
        title = "\n#### New findings\n"
        text = title + findings(review.new, room - len(title))
    gone = open_findings(review.gone) if review.gone is not None else []
    if gone:
        listed = ", ".join(f"{row.check} {code(row.scope)}" for row in gone[:GONE])
        more = f" and {len(gone) - GONE:,} more" if len(gone) > GONE else ""
        text += f"\nGone: {listed}{more}\n"
    return text


def _fitting(blocks: Iterable[str], room: int, noun: str) -> str:
    """Return blocks as far as they fit, whole; the others are counted."""
    text, left = "", 0
    for block in blocks:
        if len(block) <= room:
            text += block
            room -= len(block)
        else:
            left += 1
    return f"{text}\nNo room for {counted(left, noun)}; {POINTER}\n" if left else text


def _group(group: DeviceGroup) -> str:
    names = ", ".join(f"<code>{_html(change.name)}</code>" for change in group.changes[:NAMES])
    more = f" and {len(group.changes) - NAMES:,} more" if len(group.changes) > NAMES else ""
    summary = f"<b>{escaped(group_title(group))}</b>: {names}{more}"
    lines = list(_diff(group))
    if not lines:
        return f"- {summary}\n"
    example = ""
    if len(group.changes) > 1:
        others = "the same on all" if group.same else "the others differ in names and numbers only"
        example = f"On {code(group.example.name)}; {others}:\n\n"
    fence = "`" * max(3, 1 + max(map(len, re.findall("`+", "\n".join(lines))), default=0))
    body = "\n".join(lines)
    return f"<details><summary>{summary}</summary>\n\n{example}{fence}diff\n{body}\n{fence}\n\n</details>\n\n"


def _diff(group: DeviceGroup) -> Iterator[str]:
    """Yield the lines of the example, each on one line and not too long."""
    lines = group.example.lines
    for line in islice(lines, STATEMENTS):
        shown = clean(line)
        yield shown if len(shown) <= MAX_CODE else f"{shown[:MAX_CODE]}..."
    left = sum(1 for _ in lines)
    if left:
        yield f"! and {left:,} more"


def _html(text: str) -> str:
    """Return a name inside HTML code, where mentions are not read either."""
    return escape(clean(text)[:MAX_CODE]).replace("@", "&#64;").replace("`", "&#96;")


def _table(table: Table) -> str:
    """Return a table; names in it are code, in which a bar ends the cell unless a backslash is before it."""
    rows = [
        [code(cell).replace("|", "\\|") if at in table.names else escaped(cell) for at, cell in enumerate(row)]
        for row in table.shown
    ]
    lines = [f"| {' | '.join(row)} |" for row in (list(table.head), ["---"] * len(table.head), *rows)]
    more = f"\n{table.left_out}\n" if table.left_out else ""
    return f"\n#### {escaped(table.title)}\n\n" + "\n".join(lines) + "\n" + more
