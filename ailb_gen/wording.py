"""Text for people: lists cut short, hints at the likely spelling, aligned tables."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from difflib import get_close_matches

SHOWN = 3


def some(items: Iterable[object]) -> str:
    """Return the first few of many things, and how many more there are; `none` without any."""
    listed = list(map(str, items))
    more = f" and {len(listed) - SHOWN} more" if len(listed) > SHOWN else ""
    return (", ".join(listed[:SHOWN]) or "none") + more


def did_you_mean(word: object, known: Iterable[str]) -> str:
    """Return a hint naming the closest known word, or nothing."""
    # Case counts in names, but a wrong case is the most frequent mistake.
    names = {name.lower(): name for name in known}
    close = [names[one] for one in get_close_matches(str(word).lower(), list(names), n=1, cutoff=0.6)]
    return f"did you mean {close[0]!r}?" if close else ""


def aligned(rows: Iterable[Sequence[object]], numbers: bool = False) -> list[str]:
    """Return rows as lines, a rule under the first; with `numbers`, all columns but the first are set to the right."""
    cells = [[str(cell) for cell in row] for row in rows]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    cells.insert(1, ["-" * width for width in widths])
    return [
        "  ".join(
            (cell.rjust if numbers and column else cell.ljust)(widths[column]) for column, cell in enumerate(row)
        ).rstrip()
        for row in cells
    ]
