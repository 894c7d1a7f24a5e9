"""Printing that every verb shares: warnings, lines, tables, JSON."""

import json
import os
import re
import sys
import textwrap
from collections.abc import Callable, Iterable, Sequence
from typing import TextIO

import typer

from ailb_gen.cli.visible import output, painter, show, visible
from ailb_gen.errors import AilbError, IntentError
from ailb_gen.paint import Style, heading
from ailb_gen.wording import counted

# A command at the end of a line, which people copy as a whole.
COMMAND = re.compile(r"(?<=: )(?:ailb-gen|docker|ssh-key\w+) .*$")
# What makes a line an error or a warning: at its beginning, or behind the place in a file.
SEVERITY = re.compile(r"(?:^(?=\S)|(?<=[0-9]: ))(?P<word>ailb-gen|warning|error|note)(?:\[[\w-]+\])?:", re.MULTILINE)
SEVERITIES = {"ailb-gen": Style.FAIL, "error": Style.FAIL, "warning": Style.WARN, "note": Style.HEAD}
# As the beginnings of lines say: of a plan, of a diff of Junos commands, of a unified diff.
CHANGES = (
    *((start, Style.PASS) for start in ("+", "set ")),
    *((start, Style.FAIL) for start in ("-", "delete ")),
    *((start, Style.WARN) for start in ("~", "activate ", "deactivate ", "@@")),
)
# Stands for a space that no line ends at.
BOUND = "\0"
NARROWEST = 40
# Of tables in a pipe.
WIDTH = 80
# Longer lines of prose are hard to read.
WIDEST = 120
CellStyle = Callable[[int, int], Style | None]
# Title, columns and rows.
Table = tuple[str, Sequence[str], Sequence[Sequence[object]]]


def report(error: AilbError) -> None:
    """Print what went wrong to standard error: every problem on a line, and how many there are."""
    if isinstance(error, IntentError):
        errors = sum(problem.severity == "error" for problem in error.problems)
        say(f"{error}\n{counted(errors, 'error')}")
    else:
        say(f"ailb-gen: {error}")


def say(text: str) -> None:
    """Print to standard error, on a terminal wrapped to its width; if it cannot be written, the exit code remains."""
    try:
        lines = visible(wrapped(text, _columns(sys.stderr)))
        paint = painter(sys.stderr)
        show(SEVERITY.sub(lambda found: paint(found[0], SEVERITIES[found["word"]]), lines) + "\n", sys.stderr)
    except OSError:
        silence(2)


def _columns(stream: TextIO) -> int:
    """Return how wide the terminal is that a stream is; 0 for a pipe, and where there is no room to wrap."""
    wide = os.get_terminal_size(stream.fileno()).columns if stream.isatty() else 0
    return wide if wide >= NARROWEST else 0


def wrapped(text: str, width: int) -> str:
    """Return text whose lines are broken between words at a width, continued further in; commands stay whole.

    Without a width the text stays as it is.
    """
    if not width:
        return text
    lines = []
    for line in text.split("\n"):
        indent = line[: len(line) - len(line.lstrip())] + "    "
        bound = COMMAND.sub(lambda found: found[0].replace(" ", BOUND), line)
        lines += textwrap.wrap(
            bound, width, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False
        ) or [""]
    return "\n".join(lines).replace(BOUND, " ")


def silence(descriptor: int) -> None:
    """Discard what is still buffered for a broken stream: the interpreter would fail over it once more."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), descriptor)


def warn(text: str) -> None:
    """Print a warning to standard error, unless `--quiet` is given."""
    notify(f"warning: {text}")


def notify(text: str) -> None:
    """Print a warning or a note to standard error, unless `--quiet` is given."""
    if not output.quiet:
        say(text)


def notify_written(files: Iterable[object], steps: Iterable[str]) -> None:
    """Print that files are written, and what to do next, in order."""
    notify(f"{', '.join(map(str, files))}: written; next:")
    for number, step in enumerate(steps, 1):
        notify(f"  {number}. {step}")


def say_verbose(text: str) -> None:
    """Print a line to standard error if `--verbose` is given."""
    if output.verbose:
        say(text)


def echo(*lines: tuple[str, Style | None]) -> None:
    """Print lines to standard output, each in its style where there are colors."""
    paint = painter()
    show("".join(f"{paint(visible(text), style) if style is not None else text}\n" for text, style in lines))


def echo_wrapped(*lines: tuple[str, Style | None]) -> None:
    """Print lines to standard output, each in its style where there are colors, on a terminal wrapped to its width."""
    wide = _columns(sys.stdout)
    echo(*((part, style) for text, style in lines for part in wrapped(text, wide).split("\n")))


def echo_changes(lines: Iterable[str]) -> None:
    """Print lines of a change, each in the style of what it begins with: added, removed, or otherwise changed."""
    # Files of Windows have another end of line, which is none of the change.
    shown = (line.removesuffix("\r") for line in lines)
    echo(
        *((line, next((style for start, style in CHANGES if line.lstrip().startswith(start)), None)) for line in shown)
    )


def echo_json(value: object) -> None:
    """Print a value as JSON to standard output."""
    typer.echo(json.dumps(value, indent=1))


def room() -> int:
    """Return how many columns standard output has: of its terminal, else of COLUMNS; 0 where neither says."""
    told = os.environ.get("COLUMNS", "")
    return _columns(sys.stdout) or (int(told) if told.isdecimal() and int(told) >= NARROWEST else 0)


def prose_width() -> int:
    """Return the columns that prose on standard output is wrapped at: those of a terminal up to 120, in a pipe 80."""
    return min(room() or WIDTH, WIDEST)


def echo_table(
    title: str, columns: Sequence[str], rows: Sequence[Sequence[object]], style: CellStyle = lambda row, column: None
) -> None:
    """Print rows as an aligned table under a title, as wide as the terminal, in a pipe of 80 columns if words let it.

    What does not fit on a terminal leaves out the columns that say the same in every row, which the title then says;
    then long names are broken. Nothing is cut. `style` gets the row, from 0 without the headings, and the column.
    """
    from ailb_gen.wording import aligned, full_width

    wide, paint = room(), painter()
    cells = [list(columns), *([visible(str(cell)) for cell in row] for row in rows)]
    kept = list(range(len(columns)))
    if wide and full_width([max(map(len, column)) for column in zip(*cells, strict=True)]) > wide:
        kept = [at for at in kept if len(rows) < 2 or len({row[at] for row in cells[1:]}) > 1] or kept
    shared = ", ".join(f"{columns[at]} {cells[1][at] or '-'}" for at in range(len(columns)) if at not in kept)

    def styled(row: int, column: int, text: str) -> str:
        own = style(row - 1, kept[column]) if row > 0 else None
        return heading(row, text, paint) if own is None else paint(text, own)

    heads = wrapped(visible(f"{title}; in every row: {shared}" if shared else title), wide).split("\n")
    shown = [[row[at] for at in kept] for row in cells]
    lines = aligned(shown, paint=styled, width=wide or WIDTH, breaking=wide > 0)
    show("\n".join([*(paint(head, Style.HEAD) for head in heads), *lines]) + "\n")
