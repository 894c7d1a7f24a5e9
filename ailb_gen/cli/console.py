"""Printing that every verb shares: warnings, plain tables, a progress bar on a terminal only."""

import os
import re
import sys
import textwrap
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import typer

from ailb_gen.cli.plain import exact
from ailb_gen.errors import AilbError, IntentError, Problem, UsageError

# A command at the end of a line, which people copy as a whole.
COMMAND = re.compile(r"(?<=: )(?:ailb-gen|ssh-key\w+) .*$")
# Stands for a space that no line ends at.
BOUND = "\0"
NARROWEST = 40


def report(error: AilbError) -> None:
    """Print what went wrong to standard error: every problem on a line, and how many there are."""
    if isinstance(error, IntentError):
        errors = sum(problem.severity == "error" for problem in error.problems)
        say(f"{error}\n{errors} error{'s' if errors != 1 else ''}; nothing was written")
    else:
        say(f"ailb-gen: {error}")


def say(text: str) -> None:
    """Print to standard error, on a terminal wrapped to its width; if it cannot be written, the exit code remains."""
    try:
        wide = os.get_terminal_size(sys.stderr.fileno()).columns if sys.stderr.isatty() else 0
        sys.stderr.write(f"{wrapped(text, wide) if wide >= NARROWEST else text}\n")
        sys.stderr.flush()
    except OSError:
        silence(2)


def wrapped(text: str, width: int) -> str:
    """Return text whose lines are broken between words at a width, continued further in; commands stay whole."""
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


def warn(problems: Iterable[Problem]) -> None:
    """Print warnings to standard error."""
    for problem in problems:
        typer.echo(str(problem), err=True)


def fabric_file(path: Path) -> Path:
    """Return the path if it is a file. Raises UsageError."""
    try:
        if path.is_dir():
            raise UsageError(f"{path}: this is a directory; name the fabric file, such as {path / 'fabric.yaml'}")
        if not path.exists():
            raise UsageError(f"{path}: there is no such file; 'ailb-gen init' writes one")
    except OSError as error:
        raise UsageError(f"{str(path)[:200]}: not a usable file name: {error.strerror}") from error
    return path


def table(title: str, columns: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """Return rows as an aligned plain-text table under a title; the last column is not padded."""
    from ailb_gen.wording import aligned

    return "\n".join([title, *aligned([columns, *rows])]) + "\n"


@dataclass(frozen=True, slots=True)
class Bar:
    """A progress bar: called with how many more units are done; `step` names what is being done."""

    advance: Callable[[int], None] = lambda count: None
    step: Callable[[str], None] = lambda name: None

    def __call__(self, count: int) -> None:
        """Note that so many more units are done."""
        self.advance(count)


@contextmanager
def progress(what: str, total: int) -> Iterator[Bar]:
    """Show a progress bar on a terminal; in a pipe say nothing."""
    if not sys.stderr.isatty() or total < 2:
        yield Bar()
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(file=exact(sys.stderr)), transient=True) as bar:
        task = bar.add_task(what, total=total)
        yield Bar(lambda count: bar.advance(task, count), lambda name: bar.update(task, description=name))
