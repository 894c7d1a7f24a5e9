"""Markup as text: elements of HTML and SVG with escaped attributes, and Markdown of studies and checks as HTML."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cache

from markupsafe import Markup, escape

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


def ends(name: str) -> Markup:
    """Return the name of a link, or of two, that breaks between ends only."""
    return Markup(" - ").join(tag("span", end, class_="end") for end in name.split(" - "))


def tag(name: str, *inside: str, **attributes: object) -> Markup:
    """Return an element: `_` in the name of an attribute is `-`, at its end nothing (`class_`); None leaves it out.

    Text inside is escaped unless it is markup.
    """
    named = "".join(
        f' {_attribute(key)}="{escape(_text(value))}"' for key, value in attributes.items() if value is not None
    )
    # Formatting of Markup is slow for the ten thousands of elements of a page.
    return Markup(f"<{name}{named}>{together(*inside)}</{name}>")  # noqa: S704 - everything is escaped


@cache
def _attribute(key: str) -> str:
    return key.rstrip("_").replace("_", "-")


def _text(value: object) -> str:
    """Return a tenth of a pixel for what is a number."""
    return f"{value:.1f}".removesuffix(".0") if isinstance(value, float) else str(value)


def together(*parts: str) -> Markup:
    """Return elements one after the other; what is no markup is escaped."""
    # Markup gives itself when it is escaped.
    return Markup("".join(map(escape, parts)))  # noqa: S704 - everything is escaped
