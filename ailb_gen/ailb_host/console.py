"""Exit codes, tables, lines about problems, and the numbers of the command line."""

from __future__ import annotations

import argparse
import signal
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager

OK, DIFFERENT, INCOMPLETE = 0, 1, 3


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    """Return a table with aligned columns."""
    head, *rows = [[visible(cell) for cell in row] for row in (head, *rows)]
    widths = [max(len(row[column]) for row in [head, *rows]) for column in range(len(head))]
    lines = [head, ["-" * width for width in widths], *rows]
    return ["  ".join(cell.ljust(width) for cell, width in zip(line, widths)).rstrip() for line in lines]


def visible(text: str) -> str:
    """Return a text as every terminal can show it: names of interfaces are bytes of any kind."""
    return text if text.isascii() and text.isprintable() else text.encode("unicode_escape").decode()


def note(text: str) -> None:
    """Print a line to standard error."""
    print(f"ailb-host: {visible(text)}", file=sys.stderr, flush=True)


def report(problems: Iterable[object]) -> int:
    """Print problems as they turn up, and return the exit code."""
    code = OK
    for problem in problems:
        note(str(problem))
        code = DIFFERENT
    return code


@contextmanager
def unbroken(*signals: signal.Signals) -> Iterator[None]:
    """Keep signals back until the end."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, signals)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


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
