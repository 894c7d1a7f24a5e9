"""Text for people: lists cut short, hints at the likely spelling, aligned tables."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from difflib import get_close_matches
from itertools import zip_longest
from textwrap import TextWrapper

SHOWN = 3
# Of large numbers.
UNITS = "kMGT"
# Ends of nouns, and what takes their place where the plural is not one with an s behind.
PLURALS = {"leaf": "leaves", "ch": "ches", "x": "xes", "ss": "sses", "ry": "ries", "cy": "cies"}
# What follows the host part of a name: in `spine1.example.net`, also of a port, `spine1.example.net:et-0/0/0`.
DOMAIN = re.compile(r"(?<=[^.:/ ])\.[^:/ ]*")
# Where lines of cells end: at blanks; in words, too, behind a dot or colon of a name or an address.
BLANKS, INSIDE = re.compile(r"([\t\n\r ]+)"), re.compile(r"([\t\n\r ]+)|(?<=[.:])(?=[^.:/ ])")


def clean(text: str) -> str:
    r"""Return text from a file with everything written out (`\x1b`, `\u202e`) that would not print as itself."""
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode("ascii") for c in text)


def some(items: Iterable[object]) -> str:
    """Return the first few of many things, and how many more there are; `none` without any."""
    listed = list(map(str, items))
    more = f" and {len(listed) - SHOWN} more" if len(listed) > SHOWN else ""
    return (", ".join(listed[:SHOWN]) or "none") + more


def among(devices: Sequence[str]) -> str:
    """Return the name of a device, or how many devices there are, with the first few names."""
    return devices[0] if len(devices) == 1 else f"{counted(len(devices), 'device')}, {some(devices)}"


def plural(noun: str, count: int) -> str:
    """Return a noun as its count needs it."""
    if count == 1:
        return noun
    ends = next((ends for ends in PLURALS if noun.endswith(ends)), "")
    return noun.removesuffix(ends) + PLURALS.get(ends, "s")


def counted(count: int, noun: str) -> str:
    """Return a count with its noun."""
    return f"{count:,} {plural(noun, count)}"


def did_you_mean(word: object, known: Iterable[str]) -> str:
    """Return a hint naming the closest known word, or nothing; of names with a domain the host part is enough."""
    # Case counts in names, but a wrong case is the most frequent mistake.
    listed = list(known)
    names = {DOMAIN.sub("", name.lower()): name for name in reversed(listed)} | {name.lower(): name for name in listed}
    text = str(word).lower()
    host = DOMAIN.sub("", text)
    close = [host] if host in names else get_close_matches(text, list(names), n=1, cutoff=0.6)
    return f"did you mean {names[close[0]]!r}?" if close else ""


def aligned(
    rows: Iterable[Sequence[object]],
    numbers: bool = False,
    paint: Callable[[int, int, str], str] = lambda row, column, text: text,
    width: int = 0,
    breaking: bool = False,
) -> list[str]:
    """Return rows as lines, a rule under the first; with `numbers`, all columns but the first are set to the right.

    `paint` gets the row, the column and the padded text of a cell, and returns how it is shown; row 0 is the header,
    row -1 the rule. With a `width`, cells are wrapped between words until the lines are no longer than that. A word is
    broken only with `breaking`, where it would not fit otherwise: names and addresses behind a dot or colon.
    """
    cells = [[str(cell) for cell in row] for row in rows]
    ends, widths = BLANKS, [max(map(len, column)) for column in zip(*cells, strict=True)]
    if width:
        widths = _narrowed(widths, cells, width, BLANKS)
        if breaking and full_width(widths) > width:
            ends, widths = INSIDE, _narrowed(widths, cells, width, INSIDE)
    last = len(widths) - 1
    lines = []
    for number, row in [(0, cells[0]), (-1, ["-" * column for column in widths]), *enumerate(cells[1:], 1)]:
        for part in zip_longest(
            *(_wrapped(cell, at, ends) for cell, at in zip(row, widths, strict=True)), fillvalue=""
        ):
            shown = [
                text.rjust(at) if numbers and column else text.ljust(at if column < last else 0)
                for column, (text, at) in enumerate(zip(part, widths, strict=True))
            ]
            lines.append("  ".join(paint(number, column, text) for column, text in enumerate(shown)).rstrip())
    return lines


def full_width(widths: Sequence[int]) -> int:
    """Return how many columns a line takes whose cells are so wide."""
    return sum(widths) + 2 * (len(widths) - 1)


def _narrowed(widths: Sequence[int], cells: Sequence[Sequence[str]], width: int, ends: re.Pattern[str]) -> list[int]:
    """Return the widths of columns, less in the widest ones until lines fit, whose cells' lines end where `ends` is."""
    narrowed = list(widths)
    least = [
        max(len(part or "") for cell in column for part in ends.split(cell)) for column in zip(*cells, strict=True)
    ]
    for _ in range(full_width(widths) - width):
        wider = [(wide, at) for at, wide in enumerate(narrowed) if wide > least[at]]
        if not wider:
            break
        narrowed[max(wider)[1]] -= 1
    return narrowed


def _wrapped(cell: str, width: int, ends: re.Pattern[str]) -> list[str]:
    if len(cell) <= width:
        return [cell]
    indent = cell[: len(cell) - len(cell.lstrip())]
    wrapper = TextWrapper(width, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False)
    wrapper.wordsep_simple_re = ends
    return wrapper.wrap(cell)


def shown(value: float) -> str:
    """Return a number in at most six characters: four digits, all of a whole number below 100,000; then k, M, G, T."""
    # Rounded to what is shown, so that 99,999.6 is 100k, not 100,000.
    if abs(value) < 99_999.5:
        return f"{value:,.0f}" if value == int(value) or abs(value) >= 999.5 else f"{value:.4g}"
    power = next((power for power in range(1, len(UNITS)) if abs(value) < 999.95 * 1000**power), len(UNITS))
    return f"{value / 1000**power:.4g}{UNITS[power - 1]}"
