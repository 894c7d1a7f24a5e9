"""What is printed as text that people can trust: no text of a device, a file or a name can control a terminal.

Every verb prints through these streams, so that no verb has to think of it.
"""

from __future__ import annotations

import os
import re
import sys
from contextlib import contextmanager
from dataclasses import dataclass
from threading import RLock
from typing import TYPE_CHECKING, Literal, TextIO, cast

import typer

from ailb_gen.paint import Paint, Style, painted, unpainted

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

Color = Literal["auto", "always", "never"]


@dataclass(slots=True)
class Output:
    """The options of the output that all commands have; `color_given`: by an option or its variable."""

    quiet: bool = False
    verbose: bool = False
    color: Color = "auto"
    color_given: bool = False


output = Output()
# ASCII characters that move a cursor, ring or begin an escape sequence.
CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f]")
# Erase in Display, from the cursor to the end (ECMA-48, 8.3.39).
CLEAR = "\x1b[J"
# Held while text is printed, or drawn over; a signal handler may print, too.
PRINTING = RLock()
# What shows something at the bottom of the terminal: called with a stream and a text before that is printed there.
overlays: list[Callable[[TextIO, str], None]] = []
# What draws is in the parent.
os.register_at_fork(after_in_child=overlays.clear)
# What `painted` writes: the beginning of a style, or its end.
PAINTED = re.compile(rf"(\x1b\[(?:0|{'|'.join(Style)})m)")


def visible(text: str) -> str:
    r"""Return text with everything but line ends and tabs written out that would not print as itself.

    That is C0, C1, bidirectional overrides and what else Unicode counts as format or is not assigned. The form is
    JSON's (`\u001b`), so that a JSON document stays one and says the same.
    """
    if text.isascii():
        return CONTROL.sub(_escape, text) if CONTROL.search(text) else text
    return "".join(c if c.isprintable() or c in "\n\t" else _written(c) for c in text)


def _escape(found: re.Match[str]) -> str:
    return _written(found[0])


def _written(character: str) -> str:
    units = character.encode("utf-16-be", "surrogatepass")
    return "".join(f"\\u{units[at]:02x}{units[at + 1]:02x}" for at in range(0, len(units), 2))


class PlainStream:
    """A text stream that writes visible text; all else is that of the stream behind it, `behind`."""

    def __init__(self, behind: TextIO) -> None:
        self.behind = behind

    def write(self, text: str) -> int:
        """Write."""
        _write(self.behind, visible(text))
        return len(text)

    def writelines(self, lines: list[str]) -> None:
        """Write several pieces of text."""
        for line in lines:
            self.write(line)

    def __getattr__(self, name: str) -> object:
        return getattr(self.behind, name)


def _write(stream: TextIO, text: str) -> None:
    if not overlays:
        stream.write(text)
        return
    with PRINTING:
        for clear_overlay in overlays:
            clear_overlay(stream, text)
        stream.write(text)


def plain(stream: TextIO) -> TextIO:
    """Return a stream that writes visible text."""
    if isinstance(stream, PlainStream):
        return stream
    return cast("TextIO", PlainStream(stream))


def exact(stream: TextIO) -> TextIO:
    """Return the stream behind a plain one: for what the program itself draws, and for data that goes into a file."""
    return getattr(stream, "behind", stream)


@contextmanager
def plain_streams() -> Iterator[None]:
    """Let standard output and error be plain."""
    before = {name: getattr(sys, name) for name in ("stdout", "stderr")}
    # None where they were closed before the program began.
    ours = {name: plain(stream) for name, stream in before.items() if stream is not None}
    for name, stream in ours.items():
        setattr(sys, name, stream)
    try:
        yield
    finally:
        for name, stream in ours.items():
            # Typer replaces a stream whose reader has gone.
            if getattr(sys, name) is stream:
                setattr(sys, name, before[name])


def echo_data(text: str) -> None:
    """Print a document: as it is into a file or a pipe, visible on a terminal."""
    typer.echo(text, nl=False, file=sys.stdout if sys.stdout.isatty() else exact(sys.stdout))


def colored(stream: TextIO) -> bool:
    """Return whether styles are shown on a stream: as an option or the environment says, or else on a terminal."""
    choice = output.color
    if not output.color_given or choice == "auto":
        # https://no-color.org and https://force-color.org: any value but an empty one.
        choice = "never" if os.environ.get("NO_COLOR") else "always" if os.environ.get("FORCE_COLOR") else choice
    return choice == "always" or (choice == "auto" and stream.isatty() and os.environ.get("TERM", "dumb") != "dumb")


def painter(stream: TextIO | None = None) -> Paint:
    """Return what gives text a style on a stream, by default standard output."""
    return painted if colored(stream or sys.stdout) else unpainted


def show(text: str, stream: TextIO | None = None) -> None:
    """Print text in which a painter has set styles, by default to standard output; nothing else in it has an effect."""
    out = stream or sys.stdout
    if colored(out):
        # The odd pieces are the styles.
        pieces = (piece if number % 2 else visible(piece) for number, piece in enumerate(PAINTED.split(text)))
        _write(exact(out), "".join(pieces))
    else:
        out.write(text)
    out.flush()
