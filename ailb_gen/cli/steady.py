"""Standard output and error for verbs that must come to their end: printing neither fails nor waits.

A reader that goes away (`| head`), a full disk, a terminal that is closed or stopped with Ctrl-S: a push goes on to its
ordered end, because devices take back by themselves what is not confirmed in time. What could not be printed is an
error when everything else is done.
"""

from __future__ import annotations

import errno
import io
import os
import select
import sys
from contextlib import contextmanager
from queue import SimpleQueue
from threading import Event, Thread
from typing import TYPE_CHECKING

import typer

from ailb_gen.cli.visible import CLEAR, overlays, plain
from ailb_gen.errors import ExitCode, OutputError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import TextIO

    from typing_extensions import Buffer

# Seconds that a question waits until what was printed before is shown.
SEEN_S = 1.0
LOST = "the work is done, but part of the output is lost"


class Writer:
    """A thread that writes what is put into its queue, in that order: for one stream, or for two on one terminal."""

    def __init__(self) -> None:
        # It can be put into by a signal handler at any moment.
        self._queue: SimpleQueue[tuple[Steady, bytes] | Event] = SimpleQueue()
        self._thread: Thread | None = None

    @property
    def idle(self) -> bool:
        """Whether nothing waits to be written."""
        return self._queue.empty()

    def put(self, stream: Steady, data: bytes) -> None:
        """Let a stream send data when all before it is sent."""
        self._queue.put((stream, data))
        if self._thread is None:
            self._thread = Thread(target=self._work, name="output", daemon=True)
            self._thread.start()

    def drain(self, timeout_s: float | None = None) -> bool:
        """Wait until all is written or lost, at most so long; return whether it is."""
        if self._thread is None:
            return True
        done = Event()
        self._queue.put(done)
        return done.wait(timeout_s)

    def _work(self) -> None:
        while True:
            item = self._queue.get()
            if isinstance(item, Event):
                item.set()
            else:
                stream, data = item
                stream.send(data)


class Steady(io.RawIOBase):
    """Writes to a descriptor in another thread; `error` is the first one, after which everything is dropped."""

    def __init__(self, descriptor: int, closed: bool, writer: Writer) -> None:
        super().__init__()
        self.error: OSError | None = None
        self.writer = writer
        self._descriptor, self._closed = descriptor, closed

    def writable(self) -> bool:
        """Return that this can be written to."""
        return True

    def fileno(self) -> int:
        """Return the descriptor."""
        return self._descriptor

    def isatty(self) -> bool:
        """Return whether it is a terminal."""
        return not self._closed and os.isatty(self._descriptor)

    def write(self, data: Buffer) -> int:
        """Take what is to be written; never raises, never waits."""
        found = bytes(memoryview(data))
        if self._closed and found and self.error is None:
            self.error = OSError(errno.EBADF, "it is closed")
        if self.error is None:
            self.writer.put(self, found)
        return len(found)

    def send(self, data: bytes) -> None:
        """Write, in the thread of the writer."""
        if self.error is not None:
            return
        try:
            while data:
                try:
                    data = data[os.write(self._descriptor, data) :]
                except BlockingIOError:
                    # Another process that shares it has made it non-blocking.
                    select.select([], [self._descriptor], [])
        except OSError as error:
            self.error = error


def _writers() -> tuple[Writer, Writer]:
    """Return what writes to standard output and error: one for both in one place, or they would overtake."""
    out = Writer()
    try:
        first, second = os.fstat(1), os.fstat(2)
        same = os.path.samestat(first, second) or (os.isatty(1) and os.isatty(2) and first.st_rdev == second.st_rdev)
    except OSError:
        same = False
    return out, out if same else Writer()


def _steady(stream: TextIO | None, original: TextIO | None, number: int, writer: Writer) -> TextIO | None:
    """Return a steady stream in place of one, or None where it is none of the process's own."""
    if stream is None:
        return None
    try:
        descriptor = stream.fileno()
    except (OSError, ValueError, AttributeError):
        return None
    closed = original is None
    if descriptor != number and not closed:
        return None
    raw = Steady(descriptor, closed, writer)
    buffer = io.BufferedWriter(raw)
    encoding = stream.encoding or "utf-8"
    return plain(io.TextIOWrapper(buffer, encoding=encoding, errors="backslashreplace", write_through=True))


def _raw(stream: object) -> Steady | None:
    """Return what is beneath a steady stream."""
    raw = getattr(getattr(stream, "buffer", None), "raw", None)
    return raw if isinstance(raw, Steady) else None


@contextmanager
def steady(must_be_read: bool = True) -> Iterator[None]:
    """Let printing neither fail nor wait. Raises OutputError at the end if nothing else went wrong but that.

    Without `must_be_read`, a reader of a pipe may go away: no exit code depends on what is printed.
    """
    if _raw(sys.stdout) is not None or _raw(sys.stderr) is not None:
        yield
        return
    before = sys.stdout, sys.stderr
    of_out, of_err = _writers()
    out, err = _steady(sys.stdout, sys.__stdout__, 1, of_out), _steady(sys.stderr, sys.__stderr__, 2, of_err)
    for stream in before:
        _flush(stream)
    sys.stdout, sys.stderr = out or sys.stdout, err or sys.stderr
    try:
        try:
            yield
        except typer.Exit as end:
            if end.exit_code != ExitCode.OK:
                raise
        for stream in (out, err):
            _wait(stream)
        raw = _raw(out)
        if raw is not None and raw.error is not None and (must_be_read or raw.error.errno != errno.EPIPE):
            raise OutputError(f"standard output: {raw.error.strerror}; {LOST}")
    except Exception:
        for stream in (out, err):
            _wait(stream)
        raise
    finally:
        sys.stdout, sys.stderr = before


def _flush(stream: TextIO | None) -> None:
    """Write what is buffered; what fails here fails again at the next write."""
    try:
        if stream is not None:
            stream.flush()
    except OSError:
        return


def _wait(stream: TextIO | None) -> None:
    raw = _raw(stream)
    if stream is not None and raw is not None:
        stream.flush()
        raw.writer.drain()


def unwritable() -> OSError | None:
    """Return why nothing can be written to standard output any more; None while it can."""
    raw = _raw(sys.stdout)
    return raw.error if raw is not None else None


def write_now(text: str) -> None:
    """Print a line to standard error, from a signal handler: whatever is being written at that moment."""
    raw = _raw(sys.stderr)
    if raw is not None:
        room = CLEAR if overlays and raw.isatty() else ""
        raw.write(f"{room}{text}\n".encode(errors="backslashreplace"))
    else:
        typer.echo(text, err=True)


def ask(question: str) -> bool:
    """Ask a person; what was printed before has been written by then. No answer is a no. Raises KeyboardInterrupt."""
    typer.echo(f"{question} [y/N]: ", nl=False)
    for stream in (sys.stdout, sys.stderr):
        raw = _raw(stream)
        if raw is not None:
            raw.writer.drain(SEEN_S)
    try:
        answer = sys.stdin.readline()
    except OSError:
        # The terminal is gone.
        return False
    return answer.strip().lower() in ("y", "yes")
