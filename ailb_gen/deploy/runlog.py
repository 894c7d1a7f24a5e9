"""The record of a run: JSON lines on disk, for people and for `--resume`.

A line is on the disk before what it announces is done, so that after a crash nothing was done that the record does
not know of. One run at a time uses a state directory. Runs are numbered, and ordered by their numbers: clocks go wrong.
"""

import ctypes
import errno
import fcntl
import json
import os
import secrets
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from threading import Lock
from typing import Any

from ailb_gen.atomic import replace_file
from ailb_gen.errors import OutputError, UsageError

# Where older versions kept the runs within a state directory.
OLDER = "runs"
LOG = "log.jsonl"
CHANGES = "changes.jsonl"
IGNORE = ".gitignore"
Event = dict[str, Any]
# Kinds of runs.
DEPLOY, ROLLBACK = "deploy", "rollback"
# Bytes of a record: of its head and tail, and of all that may be said about a device, its errors included.
HEAD_BYTES, DEVICE_BYTES = 64 << 10, 8 << 10
# linux/falloc.h: space for a file that stays as long as it is. What answers when a file system has no such thing.
KEEP_SIZE = 1
UNSUPPORTED = (errno.EOPNOTSUPP, errno.ENOSYS, errno.EINVAL)


@dataclass(frozen=True, slots=True)
class StateDirectory:
    """The directory of run records, one folder per run; `path` is created at the first write."""

    path: Path

    @contextmanager
    def alone(self) -> Iterator[None]:
        """Keep other runs out. Raises UsageError while one is going on, OutputError when nothing can be written."""
        try:
            self._make()
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

    def _make(self) -> None:
        """Make the directory for its owner alone, and keep it out of version control. Raises OSError."""
        if self.path.is_dir():
            return
        missing = [folder for folder in (self.path, *self.path.parents) if not folder.exists()]
        for folder in reversed(missing):
            folder.mkdir(mode=0o700, exist_ok=True)
        (self.path / IGNORE).write_text("*\n")

    def runs(self) -> list[str]:
        """Return the identifiers of all recorded runs in the order in which they began.

        Those of older versions have no number: they come first, by their time.
        """
        return sorted((path.name for path in self._folders() if (path / LOG).is_file()), key=_order)

    def _folders(self) -> Iterator[Path]:
        for folder in (self.path, self.path / OLDER):
            if folder.is_dir():
                yield from (path for path in folder.iterdir() if path.is_dir())

    def new_run(self) -> str:
        """Return an identifier for a run: its number, the time in UTC, and four digits."""
        number = max((_order(path.name)[0] for path in self._folders()), default=0) + 1
        return f"{number}-{_utc('%Y%m%dT%H%M%S')}-{secrets.token_hex(2)}"

    def find(self, given: str) -> str:
        """Return the run that is meant by its identifier, its number, or the beginning of its identifier.

        Raises UsageError when there is none, or several.
        """
        runs = self.runs()
        if given in runs:
            return given
        found = [run for run in runs if given.isdecimal() and len(given) <= 18 and _order(run)[0] == int(given)]
        found = found or [run for run in runs if given and run.startswith(given)]
        if len(found) > 1:
            raise UsageError(f"{given}: several runs start with this; name one of them: {', '.join(found)}")
        if not found:
            known = ", ".join(runs[-5:]) or "none"
            raise UsageError(f"{given}: there is no such run in {self.path}; the last ones are: {known}")
        return found[0]

    def log(self, run: str) -> Path:
        """Return the file that records a run."""
        older = self.path / OLDER / run / LOG
        return older if older.is_file() else self.path / run / LOG

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
                fits = _fits(event)
            except (ValueError, LookupError, TypeError, AttributeError, RecursionError):
                fits = False
            if not fits:
                raise OutputError(f"{path}:{number}: not a line of a record; was it edited?")
            kind = event.get("kind", DEPLOY) if event["event"] == "begin" else DEPLOY
            if kind not in (DEPLOY, ROLLBACK):
                version = event.get("version", "another version")
                raise OutputError(f"{path}:{number}: ailb-gen {version} made this run, a {kind!a}; use that version")
            found.append(event)
        return found


def _fits(event: Event) -> bool:
    """Return whether an event has the fields that are acted on. May raise any error for one that has not."""
    devices = event.get("devices")
    match event["event"]:
        case "committing" | "confirming" | "reverting":
            return isinstance(devices, list) and all(isinstance(name, str) for name in devices)
        case "results":
            return all(isinstance(row[0], str) for row in event["devices"].values())
        case "run":
            named = [name for _, names in event["waves"] for name in names]
            old = event["old"].items()
            return isinstance(event["leg"], int) and all(isinstance(text, str) for text in (*named, *chain(*old)))
        case "begin":
            texts = (event.get("inputs", ""), event.get("undoes", ""), *chain(*event.get("digests", {}).items()))
            return isinstance(event.get("options", {}), dict) and all(isinstance(text, str) for text in texts)
        case other:
            return isinstance(other, str)


def _order(run: str) -> tuple[int, str]:
    """Return what runs are ordered by: their number, 0 for those of older versions, then their name."""
    number = run.partition("-")[0]
    return (int(number) if number.isdecimal() and number.isascii() else 0), run


def _utc(form: str) -> str:
    """Return the time in UTC with milliseconds."""
    now = time.time()
    return f"{time.strftime(form, time.gmtime(now))}.{int(now % 1 * 1000):03}Z"


class RunLog:
    """The open record of a run; safe to write to from several threads. Secrets are masked by `mask`."""

    def __init__(self, state: StateDirectory, run: str, mask: Callable[[str], str]) -> None:
        self.run, self.mask, self.path = run, mask, state.log(run)
        self._lock = Lock()
        with self._recording(self.path):
            state.path.mkdir(mode=0o700, parents=True, exist_ok=True)
            self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            _cut_torn_line(self.path)
            self._descriptor = _open_private(self.path)

    def reserve(self, devices: int) -> None:
        """Take the space on the disk that the record of so many devices needs, as far as the file system can.

        Raises OutputError when there is not as much: then nothing may be done.
        """
        with self._recording(self.path):
            _reserve(self._descriptor, HEAD_BYTES + devices * DEVICE_BYTES)

    def write(self, event: str, **fields: object) -> None:
        """Record an event; it is on the disk when this returns. Raises OutputError: then nothing may be done.

        A line that cannot be written leaves no part of it behind.
        """
        record = {
            "time": _utc("%Y-%m-%dT%H:%M:%S"),
            "run": self.run,
            "event": event,
            **{key: self._masked(fields[key]) for key in fields},
        }
        line = f"{json.dumps(record, ensure_ascii=False)}\n".encode(errors="backslashreplace")
        with self._lock, self._recording(self.path):
            before = os.fstat(self._descriptor).st_size
            try:
                _write_all(self._descriptor, line)
            except OSError:
                os.ftruncate(self._descriptor, before)
                raise

    def write_changes(self, changes: Mapping[str, tuple[str, Sequence[str]]]) -> None:
        """Record what is to be done with every device, beside the log: the digest, and the commands without secrets.

        Raises OutputError: then nothing may be done.
        """
        path = self.path.with_name(CHANGES)
        with self._recording(path):
            _cut_torn_line(path)
            descriptor = _open_private(path)
            try:
                for name, (digest, commands) in changes.items():
                    # All at once: there may be thousands.
                    shown = self.mask("\n".join(commands)).split("\n") if commands else []
                    row = {"device": name, "digest": digest, "commands": shown}
                    line = f"{json.dumps(row, ensure_ascii=False)}\n"
                    _write_all(descriptor, line.encode(errors="backslashreplace"), sync=False)
                os.fsync(descriptor)
            finally:
                os.close(descriptor)

    def keep(self, files: Mapping[str, bytes]) -> None:
        """Keep files beside the log, by name. Raises OutputError."""
        for name, content in files.items():
            path = self.path.with_name(name)
            with self._recording(path):
                replace_file(path, content, 0o600)

    @contextmanager
    def _recording(self, path: Path) -> Iterator[None]:
        """Turn errors of the operating system into OutputErrors that name the file."""
        try:
            yield
        except OSError as error:
            raise OutputError(f"{path}: the run cannot be recorded: {error.strerror}") from error

    def _masked(self, value: object) -> object:
        if isinstance(value, str):
            return self.mask(value)
        if isinstance(value, Mapping):
            return {self.mask(str(key)): self._masked(one) for key, one in value.items()}
        if isinstance(value, list | tuple):
            return [self._masked(one) for one in value]
        return value

    def close(self) -> None:
        """Close the record, and give back the space that it did not need."""
        # An error of writing was raised when it happened.
        with suppress(OSError):
            os.ftruncate(self._descriptor, os.fstat(self._descriptor).st_size)
        with suppress(OSError):
            os.close(self._descriptor)


def _open_private(path: Path) -> int:
    """Open a file that only its owner reads, to append to it. Raises OSError."""
    descriptor = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        # One of an older version may be there.
        os.fchmod(descriptor, 0o600)
    except BaseException:
        os.close(descriptor)
        raise
    return descriptor


def _write_all(descriptor: int, data: bytes, sync: bool = True) -> None:
    """Write all of it; with `sync` it is on the disk then. Raises OSError."""
    while data:
        data = data[os.write(descriptor, data) :]
    if sync:
        os.fsync(descriptor)


def _reserve(descriptor: int, size: int) -> None:
    """Take space behind the end of a file, which readers do not see (Linux fallocate). Raises OSError if it is full."""
    fallocate = getattr(ctypes.CDLL(None, use_errno=True), "fallocate", None)
    if fallocate is None:
        return
    end = os.fstat(descriptor).st_size
    if fallocate(descriptor, KEEP_SIZE, ctypes.c_long(end), ctypes.c_long(size)):
        number = ctypes.get_errno()
        if number not in UNSUPPORTED:
            raise OSError(number, os.strerror(number))


def _cut_torn_line(path: Path) -> None:
    """Remove what a crash left of a line."""
    if not path.exists():
        return
    with path.open("rb+") as file:
        data = file.read()
        whole = data.rfind(b"\n") + 1
        if whole != len(data):
            file.truncate(whole)
