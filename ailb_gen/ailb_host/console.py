"""Exit codes, tables, lines about problems, and the numbers of the command line."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterable, Sequence

OK, DIFFERENT, INCOMPLETE = 0, 1, 3


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    """Return a table with aligned columns."""
    widths = [max(len(row[column]) for row in [head, *rows]) for column in range(len(head))]
    lines = [head, ["-" * width for width in widths], *rows]
    return ["  ".join(cell.ljust(width) for cell, width in zip(line, widths)).rstrip() for line in lines]


def note(text: str) -> None:
    """Print a line to standard error."""
    print(f"ailb-host: {text}", file=sys.stderr, flush=True)


def report(problems: Iterable[object]) -> int:
    """Print problems as they turn up, and return the exit code."""
    code = OK
    for problem in problems:
        note(str(problem))
        code = DIFFERENT
    return code


def number(low: float, high: float, kind: Callable[[str], float] = int) -> Callable[[str], float]:
    """Return a type of argparse: a number in a range."""

    def parse(text: str) -> float:
        try:
            value = kind(text)
        except ValueError:
            value = low - 1
        if not low <= value <= high:
            raise argparse.ArgumentTypeError(f"{text!r} is not a number from {low} to {high}")
        return value

    return parse
