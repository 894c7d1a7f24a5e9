"""Printing that every verb shares: warnings, plain tables, a progress bar on a terminal only."""

import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import typer

from ailb_gen.cli.plain import exact
from ailb_gen.errors import Problem, UsageError


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
    cells = [[str(cell) for cell in row] for row in (columns, *rows)]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    lines = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in cells]
    rule = "  ".join("-" * width for width in widths)
    return "\n".join([title, *([lines[0], rule, *lines[1:]] if cells else [])]) + "\n"


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
