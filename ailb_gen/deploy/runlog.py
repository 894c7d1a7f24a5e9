"""The record of a run: JSON lines on disk, from which a person sees what happened and `--resume` goes on.

A line is on the disk before what it announces is done, so that after a crash nothing was done that the record does
not know of. One run at a time uses a state directory.
"""

from __future__ import annotations

import fcntl
import json
import os
import secrets
import time
from collections.abc import Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any

from ailb_gen.errors import OutputError, UsageError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

RUNS = "runs"
LOG = "log.jsonl"
Event = dict[str, Any]


@dataclass(frozen=True, slots=True)
class StateDirectory:
    """Where runs are recorded; `path` is made when it is first written to."""

    path: Path

    @contextmanager
    def alone(self) -> Iterator[None]:
        """Keep other runs out. Raises UsageError while one is going on, OutputError when nothing can be written."""
        try:
            self.path.mkdir(parents=True, exist_ok=True)
            descriptor = os.open(self.path / "lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        except OSError as error:
            raise OutputError(
                f"{self.path}: the run cannot be recorded: {error.strerror}; name another --state"
            ) from error
        try:
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError as error:
                raise UsageError(
                    f"{self.path}: another run uses it; wait for its end, or name another --state"
                ) from error
            except OSError as error:
                raise OutputError(
                    f"{self.path}: it cannot be locked: {error.strerror}; name another --state, on a local disk"
                ) from error
            yield
        finally:
            os.close(descriptor)

    def runs(self) -> list[str]:
        """Return the identifiers of all recorded runs, oldest first."""
        folder = self.path / RUNS
        return sorted(path.name for path in folder.iterdir() if (path / LOG).is_file()) if folder.is_dir() else []

    def log(self, run: str) -> Path:
        """Return the file that records a run."""
        return self.path / RUNS / run / LOG

    def events(self, run: str) -> list[Event]:
        """Read a run's record; a last line that a crash cut off is left out. Raises UsageError, OutputError."""
        path = self.log(run)
        try:
            # Whole lines only: what a crash cut off may end within a character.
            whole, _, _ = path.read_bytes().rpartition(b"\n")
            lines = whole.decode().split("\n") if whole else []
        except FileNotFoundError as error:
            known = ", ".join(self.runs()[-5:]) or "none"
            raise UsageError(f"{run}: there is no such run in {self.path}; the last ones are: {known}") from error
        except (OSError, UnicodeDecodeError) as error:
            raise OutputError(f"{path}: the record cannot be read: {error}") from error
        found: list[Event] = []
        for number, line in enumerate(lines, 1):
            try:
                event = json.loads(line)
                event["event"]
            except (ValueError, KeyError, TypeError) as error:
                raise OutputError(f"{path}:{number}: not a line of a record; was it edited?") from error
            found.append(event)
        return found


def new_run() -> str:
    """Return an identifier for a run: the time in UTC to the millisecond, by which runs are sorted, and four digits."""
    return f"{_utc('%Y%m%dT%H%M%S')}-{secrets.token_hex(2)}"


def _utc(form: str) -> str:
    """Return the time in UTC with milliseconds."""
    now = time.time()
    return f"{time.strftime(form, time.gmtime(now))}.{int(now % 1 * 1000):03}Z"


class RunLog:
    """The open record of a run; safe to write to from several threads. Secrets are masked by `mask`."""

    def __init__(self, state: StateDirectory, run: str, mask: Callable[[str], str]) -> None:
        self.run, self.mask, self.path = run, mask, state.log(run)
        self._lock = Lock()
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            _cut_torn_line(self.path)
            self._file = self.path.open("a", encoding="utf-8", errors="backslashreplace")
        except OSError as error:
            raise OutputError(f"{self.path}: the run cannot be recorded: {error.strerror}") from error

    def write(self, event: str, **fields: object) -> None:
        """Record an event; it is on the disk when this returns. Raises OutputError: then nothing may be done."""
        record = {
            "time": _utc("%Y-%m-%dT%H:%M:%S"),
            "run": self.run,
            "event": event,
            **{key: self._masked(fields[key]) for key in fields},
        }
        line = json.dumps(record, ensure_ascii=False)
        with self._lock:
            try:
                self._file.write(f"{line}\n")
                self._file.flush()
                os.fsync(self._file.fileno())
            except OSError as error:
                raise OutputError(f"{self.path}: the run cannot be recorded: {error.strerror}") from error

    def _masked(self, value: object) -> object:
        if isinstance(value, str):
            return self.mask(value)
        if isinstance(value, Mapping):
            return {self.mask(str(key)): self._masked(one) for key, one in value.items()}
        if isinstance(value, list | tuple):
            return [self._masked(one) for one in value]
        return value

    def close(self) -> None:
        """Close the record."""
        # What could not be written was told when it was to be written.
        with suppress(OSError):
            self._file.close()


def _cut_torn_line(path: Path) -> None:
    """Remove what a crash left of a line."""
    if not path.exists():
        return
    with path.open("rb+") as file:
        data = file.read()
        whole = data.rfind(b"\n") + 1
        if whole != len(data):
            file.truncate(whole)
