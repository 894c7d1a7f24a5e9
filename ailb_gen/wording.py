"""Text for people: lists cut short, hints at the likely spelling, aligned tables."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from difflib import get_close_matches
from itertools import zip_longest
from textwrap import wrap

SHOWN = 3
# Of large numbers.
UNITS = "kMGT"


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


def plural(noun: str, count: int) -> str:
    """Return a noun as its count needs it."""
    if count == 1:
        return noun
    return "leaves" if noun == "leaf" else f"{noun}es" if noun.endswith("ch") else f"{noun}s"


def counted(count: int, noun: str) -> str:
    """Return a count with its noun."""
    return f"{count:,} {plural(noun, count)}"


def did_you_mean(word: object, known: Iterable[str]) -> str:
    """Return a hint naming the closest known word, or nothing."""
    # Case counts in names, but a wrong case is the most frequent mistake.
    names = {name.lower(): name for name in known}
    close = [names[one] for one in get_close_matches(str(word).lower(), list(names), n=1, cutoff=0.6)]
    return f"did you mean {close[0]!r}?" if close else ""


def aligned(
    rows: Iterable[Sequence[object]],
    numbers: bool = False,
    paint: Callable[[int, int, str], str] = lambda row, column, text: text,
    width: int = 0,
) -> list[str]:
    """Return rows as lines, a rule under the first; with `numbers`, all columns but the first are set to the right.

    `paint` gets the row, the column and the padded text of a cell, and returns how it is shown; row 0 is the header,
    row -1 the rule. With a `width`, cells are wrapped between words until the lines are no longer than that; a word is
    never broken.
    """
    cells = [[str(cell) for cell in row] for row in rows]
    widths = _fitting(cells, width)
    last = len(widths) - 1
    lines = []
    for number, row in [(0, cells[0]), (-1, ["-" * column for column in widths]), *enumerate(cells[1:], 1)]:
        for part in zip_longest(*(_wrapped(cell, at) for cell, at in zip(row, widths, strict=True)), fillvalue=""):
            shown = [
                text.rjust(at) if numbers and column else text.ljust(at if column < last else 0)
                for column, (text, at) in enumerate(zip(part, widths, strict=True))
            ]
            lines.append("  ".join(paint(number, column, text) for column, text in enumerate(shown)).rstrip())
    return lines


def _fitting(cells: Sequence[Sequence[str]], width: int) -> list[int]:
    """Return how wide columns are: as their cells, or less in the widest ones."""
    columns = list(zip(*cells, strict=True))
    widths = [max(map(len, column)) for column in columns]
    if width:
        least = [max(len(word) for cell in column for word in cell.split(" ")) for column in columns]
        over = sum(widths) + 2 * (len(widths) - 1) - width
        while over > 0 and widths != least:
            _, at = max((wide, at) for at, wide in enumerate(widths) if wide > least[at])
            widths[at] -= 1
            over -= 1
    return widths


def _wrapped(cell: str, width: int) -> list[str]:
    if len(cell) <= width:
        return [cell]
    indent = cell[: len(cell) - len(cell.lstrip())]
    return wrap(cell, width, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False)


def shown(value: float) -> str:
    """Return a number in at most six characters: four digits, all of a whole number below 100,000; then k, M, G, T."""
    # Rounded to what is shown, so that 99,999.6 is 100k, not 100,000.
    if abs(value) < 99_999.5:
        return f"{value:,.0f}" if value == int(value) or abs(value) >= 999.5 else f"{value:.4g}"
    power = next((power for power in range(1, len(UNITS)) if abs(value) < 999.95 * 1000**power), len(UNITS))
    return f"{value / 1000**power:.4g}{UNITS[power - 1]}"
