"""A line at the bottom of a terminal that says what is being done, and vanishes when that is done.

The cursor stays at its beginning. So whatever is printed next takes its place, and a terminal that breaks its lines
anew when it is resized takes the cursor along; nothing above the line is ever touched.
"""

from __future__ import annotations

import os
import sys
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field
from threading import Event, Thread
from time import monotonic
from typing import TYPE_CHECKING, TextIO

from ailb_gen.cli.console import say_verbose
from ailb_gen.cli.visible import CLEAR, PRINTING, colored, exact, output, overlays, visible
from ailb_gen.paint import Style, painted
from ailb_gen.wording import some

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Sequence

TICK_S = 0.2
NARROWEST = 12
# Columns of a terminal that does not say how many it has, such as a serial console.
UNKNOWN = 80
# Columns of a bar; where there is less room, there is none.
LEAST_BAR, MOST_BAR = 8, 30
# The rest of the time is a guess after so many seconds, from so much on.
GUESS_S, GUESS_FROM = 3.0, 0.05
# A piece of the line, and its style.
Piece = tuple[str, Style | None]


class Live:
    """A line that is drawn again several times a second; `line` gives what it says within so many columns.

    With `ticking` false there is no thread, and it is drawn when `draw` is called.
    """

    def __init__(self, line: Callable[[int], Sequence[Piece]], ticking: bool = True) -> None:
        self.line = line
        self._drawn = self._within = False
        self._ended = Event()
        self._thread = Thread(target=self._work, name="live line", daemon=True) if ticking else None

    def __enter__(self) -> Live:
        with PRINTING:
            overlays.append(self.clear_overlay)
        self.draw()
        if self._thread is not None:
            try:
                self._thread.start()
            except RuntimeError:
                # No room for a thread: the line stays as it is, and the work goes on.
                self._thread = None
        return self

    def __exit__(self, *_: object) -> None:
        self._ended.set()
        with PRINTING:
            if self.clear_overlay in overlays:
                overlays.remove(self.clear_overlay)
            self._write(CLEAR if self._drawn else "")
        if self._thread is not None:
            self._thread.join()

    def clear_overlay(self, stream: TextIO, text: str) -> None:
        """Make room for a text that is about to be printed to a stream."""
        if stream.isatty():
            if self._drawn:
                stream.write(CLEAR)
            # The rest of that line comes first.
            self._within = not text.endswith("\n")

    def draw(self) -> None:
        """Draw the line, unless a line is being printed, or another live line is above this one."""
        with PRINTING:
            if self._ended.is_set() or self._within or overlays[-1:] != [self.clear_overlay]:
                return
            stream = exact(sys.stderr)
            writer = getattr(getattr(getattr(stream, "buffer", None), "raw", None), "writer", None)
            if writer is not None and not writer.idle:
                # The terminal is stopped.
                return
            try:
                width = os.get_terminal_size(stream.fileno()).columns or UNKNOWN
            except (OSError, ValueError):
                return
            if width >= NARROWEST:
                # The last column stays free: some terminals wrap when it is written.
                text = fitted(self.line(width - 1), width - 1, colored(stream))
                self._write(f"{CLEAR}{text}\r")
                self._drawn = True

    def _write(self, text: str) -> None:
        stream = exact(sys.stderr)
        try:
            stream.write(text)
            stream.flush()
        except (OSError, ValueError):
            # Nobody looks any more.
            self._ended.set()

    def _work(self) -> None:
        while not self._ended.wait(TICK_S):
            self.draw()


def fitted(pieces: Sequence[Piece], width: int, color: bool) -> str:
    """Return pieces as one text of at most so many columns, in their styles if there is color."""
    shown = []
    for text, style in pieces:
        part = visible(text).replace("\n", " ").replace("\t", " ")[:width]
        width -= len(part)
        shown.append(painted(part, style) if color and style is not None else part)
    return "".join(shown)


def wanted() -> bool:
    """Return whether there is a terminal that can show a live line, and nothing against it."""
    return (
        not output.quiet and sys.stderr is not None and sys.stderr.isatty() and os.environ.get("TERM", "dumb") != "dumb"
    )


@dataclass(slots=True)
class ProgressBar:
    """Progress that is counted: called with how many more units are done; `step` names what is being done.

    The rest of the time is guessed from the units that are done: from `since`, when the first began, to `last`, when
    the last of them was done.
    """

    what: str = ""
    total: int = 1
    done: int = 0
    doing: str = ""
    began: float = field(default_factory=monotonic)
    since: float = 0.0
    last: float = 0.0
    # Seconds that steps took, by name; those of the last one when another begins.
    spent_s: dict[str, float] = field(default_factory=dict)
    stepped: float = 0.0

    def __post_init__(self) -> None:
        self.since = self.last = self.stepped = self.began

    def __call__(self, count: int) -> None:
        """Note that so many more units are done."""
        self.done, self.last = self.done + count, monotonic()

    def step(self, name: str) -> None:
        """Name what is being done."""
        now = monotonic()
        self.spent_s[self.doing] = self.spent_s.get(self.doing, 0.0) + now - self.stepped
        self.doing, self.stepped = name, now

    def stage(self, name: str, total: int) -> None:
        """Count anew: what follows are so many units of another kind, which take another time each."""
        self.doing, self.total, self.done = name, total, 0
        self.since = self.last = monotonic()

    def clock(self) -> str:
        """Return how long it has taken, and about how long the rest of the units will take."""
        now = monotonic()
        passed, rest, left = now - self.since, self.total - self.done, ""
        if passed >= GUESS_S and GUESS_FROM <= self.done / max(self.total, 1) < 1:
            as_before = (self.last - self.since) * rest / self.done - (now - self.last)
            # If the next unit is done now, or it takes longer than the others did.
            late = passed * (rest - 1) / (self.done + 1)
            left = f", about {minutes(max(as_before, late))} left"
        return f"{minutes(now - self.began)}{left}"

    def line(self, width: int) -> list[Piece]:
        """Return what the live line says."""
        label = f"{self.what}: {self.doing}" if self.doing else self.what
        share = min(1.0, self.done / max(self.total, 1))
        end = f" {self.done:,}/{self.total:,}  {self.clock()}"
        room = min(MOST_BAR, width - len(label) - len(end) - 1)
        if room < LEAST_BAR:
            return [(f"{label} ", None), (end, Style.DIM)]
        solid = colored(sys.stderr) and "\u2501".encode(sys.stderr.encoding or "ascii", "ignore")
        full, empty = ("\u2501", "\u2501") if solid else ("=", "-")
        filled = int(room * share)
        return [(f"{label} ", None), (full * filled, Style.PASS), (empty * (room - filled), Style.DIM), (end, None)]


def clock(began: float) -> str:
    """Return how long something has taken."""
    return minutes(monotonic() - began)


def minutes(seconds: float) -> str:
    """Return a time as minutes and seconds, from an hour on with the hours."""
    whole, rest = divmod(int(seconds), 60)
    hours, whole = divmod(whole, 60)
    return f"{hours}:{whole:02}:{rest:02}" if hours else f"{whole}:{rest:02}"


@contextmanager
def _shown(line: Callable[[int], Sequence[Piece]]) -> Iterator[None]:
    with Live(line) if wanted() else nullcontext():
        yield


@contextmanager
def progress(what: str, total: int) -> Iterator[ProgressBar]:
    """Show progress on a terminal; in a pipe print nothing but what `--verbose` asks for."""
    bar = ProgressBar(what, total)
    with _shown(bar.line):
        yield bar
    say_verbose(f"{what}: {total:,} in {clock(bar.began)}")


@contextmanager
def working(what: str) -> Iterator[Callable[[str], None]]:
    """Show on a terminal that something is being done, and for how long; gives what is called to name it anew."""
    bar = ProgressBar(what)
    with _shown(lambda width: [(f"{bar.doing or what}  ", None), (clock(bar.began), Style.DIM)]):
        yield bar.step
    say_verbose(f"{bar.doing or what}: {clock(bar.began)}")


# What is being done with devices, by step.
DOING = {
    "connect": "connecting to",
    "read": "reading",
    "check": "checking",
    "commit": "committing on",
    "verify": "verifying",
    "confirm": "confirming on",
    "rollback": "rolling back",
    "unlock": "unlocking",
    "copy": "copying to",
    "install": "installing on",
    "reboot": "restarting",
}


class Devices:
    """Which devices of a wave are at which step. What it is told can come from any thread."""

    def __init__(self, wave: str) -> None:
        self.wave, self.began = wave, monotonic()
        self._step = ""
        # By device, whether it is done with the step.
        self._done: dict[str, bool] = {}

    def begin(self, step: str, devices: Collection[str]) -> None:
        """Note that devices begin a step."""
        self._step, self._done = step, dict.fromkeys(devices, False)

    def end(self, device: str) -> None:
        """Note that a device is done with it."""
        self._done[device] = True

    def line(self, width: int) -> list[Piece]:
        """Return what the live line says: the step, the devices that are waited for, how many are done, how long."""
        done = self._done.copy()
        busy = [name for name in done if not done[name]]
        # Between two looks at a device that is not as expected yet, it is waited for, too.
        text = f"{self.wave}: {DOING.get(self._step, self._step)} {some(busy or done)}" if done else self.wave
        end = f"  {len(done) - len(busy)}/{len(done)}  {clock(self.began)}" if done else f"  {clock(self.began)}"
        return [(text[: max(0, width - len(end))], None), (end, Style.DIM)]


@contextmanager
def watching(wave: str) -> Iterator[Devices]:
    """Show on a terminal which device of a wave is at which step."""
    devices = Devices(wave)
    with _shown(devices.line):
        yield devices
