"""Markdown of studies and checks as HTML: headings, paragraphs, lists, tables, emphasis, code and links."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from markupsafe import Markup

from ailb_gen.report.html.svg import tag, together

INLINE = re.compile(r"`([^`]+)`|\*\*(.+?)\*\*|\*(.+?)\*|\[([^\]]+)\]\(([^)\s]+)\)")
# Between the cells of a row; a cell may hold `\|`.
CELLS = re.compile(r"(?<!\\)\|")
RULE = re.compile(r"\|[\s:|-]+\|?")


def prose(text: str) -> Markup:
    """Return Markdown as HTML; headings are those below a section's own."""
    blocks = re.split(r"\n\s*\n", text.strip())
    return together(*(part for block in blocks if block.strip() for part in _block(block.splitlines())))


def _block(lines: Sequence[str]) -> Iterator[Markup]:
    first = lines[0]
    if first.startswith("#"):
        yield tag("h3", inline(first.lstrip("# ")))
        if lines[1:]:
            yield from _block(lines[1:])
    elif first.startswith("|"):
        yield _table([line for line in lines if not RULE.fullmatch(line.strip())])
    elif first.startswith("- "):
        items = "\n".join(lines)[2:].split("\n- ")
        yield tag("ul", *(tag("li", inline(" ".join(item.split()))) for item in items))
    else:
        yield tag("p", inline(" ".join(" ".join(lines).split())))


def _table(lines: Sequence[str]) -> Markup:
    rows = [[cell.strip().replace("\\|", "|") for cell in CELLS.split(line.strip())[1:-1]] for line in lines]
    head = tag("thead", tag("tr", *(tag("th", inline(cell), scope="col") if cell else tag("td") for cell in rows[0])))
    body = (tag("tr", *(tag("td", inline(cell)) for cell in row)) for row in rows[1:])
    return tag("table", head, tag("tbody", *body))


def inline(text: str) -> Markup:
    """Return a line of Markdown; links lead to other hosts only."""
    parts, last = [], 0
    for found in INLINE.finditer(text):
        parts.append(text[last : found.start()])
        code, strong, soft, label, target = found.groups()
        if code is not None:
            parts.append(tag("code", code))
        elif label is not None:
            parts.append(tag("a", label, href=target) if target.startswith("https://") else inline(label))
        else:
            parts.append(tag("em" if strong is None else "strong", inline(soft if strong is None else strong)))
        last = found.end()
    return together(*parts, text[last:])
