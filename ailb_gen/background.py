"""A process that runs from a directory: locking the directory, going to the background, stopping.

A file of the directory is locked by the process as long as it lives, so that no number of a process that has ended is
ever taken for a running one.
"""

from __future__ import annotations

import fcntl
import json
import os
import signal
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TextIO

from ailb_gen.errors import ExitCode, OutputError, UsageError
from ailb_gen.layout import MANIFEST

# How long a process may take to close its sessions, in seconds.
PATIENCE_S = 30.0


@dataclass(frozen=True, slots=True)
class Service:
    """A kind of process: what it is called, its files are named after, and the command that ends it."""

    noun: str
    name: str
    stop: str

    @property
    def file(self) -> str:
        """The file that the process locks, and where it keeps its number."""
        return f"{self.name}.json"

    @property
    def log(self) -> str:
        """The file that the output of a process in the background goes to."""
        return f"{self.name}.log"


# The first line of a file of an inventory that an emulator wrote; a digest of the others follows.
INVENTORY_HEADLINE = b"# Written by 'ailb-gen emulate'; what follows has the SHA-256 "
EMULATOR = Service("an emulator", "emulator", "ailb-gen emulate --stop {directory}")


def refuse_artifacts(directory: Path) -> None:
    """Refuse an artifact directory for what people do not share, such as passwords. Raises UsageError."""
    if (directory / MANIFEST).exists():
        raise UsageError(
            f"{directory}: generated files are here ({MANIFEST}), which people commit; name another directory for "
            "an inventory or state"
        )


@contextmanager
def locked(directory: Path, service: Service = EMULATOR) -> Iterator[Callable[[str], None]]:
    """Lock a directory for this process; yield a function that records a line of JSON in it.

    Raises UsageError when another process holds the lock and for an artifact directory, OutputError when the directory
    cannot be used.
    """
    refuse_artifacts(directory)
    try:
        directory.mkdir(parents=True, exist_ok=True)
        # Path.open has no opener.
        file = open(directory / service.file, "r+", opener=_opened)  # noqa: SIM115
    except OSError as error:
        raise OutputError(f"{error.filename or directory}: cannot be written: {error.strerror}") from error
    with file:
        if not _lock(file):
            raise UsageError(
                f"{directory}: {service.noun} runs there, process {_process(file) or 'unknown'}; "
                f"stop it with: {service.stop.format(directory=directory)}"
            )
        # Another number later, should this process have entered a namespace of its own.
        process = os.getpid()
        _note(file, {"pid": process})
        try:
            yield lambda ready: _note(file, {"pid": process, **json.loads(ready)})
        finally:
            # Nothing is to be written: the disk may be full.
            with suppress(OSError):
                os.ftruncate(file.fileno(), 0)
            # Locked until the process has ended: the next one needs its ports and its memory.
            os.dup(file.fileno())


def _opened(path: str, flags: int) -> int:
    """Open a file that only its owner may read, which need not be there."""
    return os.open(path, flags | os.O_CREAT, 0o600)


def running(directory: Path, service: Service) -> dict[str, object] | None:
    """Return what the process of a directory has recorded; None if none runs there."""
    try:
        file = (directory / service.file).open("r+")
    except OSError:
        return None
    with file:
        if _lock(file):
            return None
        try:
            found = json.loads(file.read())
        except ValueError:
            return {}
    return found if isinstance(found, dict) else {}


def stop(directory: Path, service: Service = EMULATOR) -> bool:
    """End the process that runs from a directory and wait for it; False if none does.

    Raises UsageError for a directory where none ever did, OutputError when it does not end.
    """
    try:
        file = (directory / service.file).open("r+")
    except OSError as error:
        hint = "; name the directory of --inventory or --state" if service is EMULATOR else ""
        raise UsageError(
            f"{directory}: {service.noun} was never started with it ({service.file}: {error.strerror}){hint}"
        ) from error
    with file:
        if _lock(file):
            return False
        number = _process(file)
        if number is None:
            raise OutputError(f"{directory}: {service.noun} is starting there; try again")
        with suppress(ProcessLookupError):
            os.kill(number, signal.SIGTERM)
        deadline = time.monotonic() + PATIENCE_S
        # Another process may take the lock first.
        while not _lock(file) and _process(file) in (number, None):
            if time.monotonic() > deadline:
                raise OutputError(f"{directory}: process {number} does not end; check {directory / service.log}")
            time.sleep(0.02)
    return True


def _lock(file: TextIO) -> bool:
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _note(file: TextIO, what: dict[str, object]) -> None:
    """Record something in place of what was there. Raises OutputError, as on a full disk."""
    try:
        # Not through the file's buffer, which would be written once more when the file is closed.
        os.ftruncate(file.fileno(), 0)
        os.pwrite(file.fileno(), f"{json.dumps(what)}\n".encode(), 0)
    except OSError as error:
        raise OutputError(f"{file.name}: cannot be written: {error.strerror}") from error


def _process(file: TextIO) -> int | None:
    file.seek(0)
    try:
        found = json.loads(file.read())["pid"]
    except (ValueError, KeyError, TypeError):
        return None
    return found if isinstance(found, int) and found > 1 else None


def to_background(
    directory: Path, service: Service = EMULATOR, tell: Callable[[str], None] = print
) -> Callable[[str], None]:
    """Continue in a child process; the parent ends when the child is ready, and was told so, or with its error.

    Returns the function by which the child announces that it is ready; its output goes to a file of the directory
    from then on. Must be called before there are threads. Raises SystemExit in the parent.
    """
    read, write = os.pipe()
    sys.stdout.flush()
    sys.stderr.flush()
    child = os.fork()
    if child:
        os.close(write)
        raise SystemExit(_parent(child, read, tell))
    os.close(read)
    os.setsid()

    def ready(line: str) -> None:
        log = os.open(directory / service.log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        nothing = os.open(os.devnull, os.O_RDONLY)
        for descriptor, into in ((nothing, 0), (log, 1), (log, 2)):
            os.dup2(descriptor, into)
        os.close(log)
        os.close(nothing)
        os.write(write, f"{line}\n".encode())
        os.close(write)

    return ready


def _parent(child: int, read: int, tell: Callable[[str], None]) -> int:
    """Wait for the announcement of the child, tell it; return the exit code."""
    try:
        with os.fdopen(read) as pipe:
            line = pipe.read().removesuffix("\n")
    except KeyboardInterrupt:
        # The child is in another session. It tidies up, and may say that it was interrupted: once is enough.
        os.kill(child, signal.SIGINT)
        if os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == ExitCode.INTERRUPTED:
            os._exit(ExitCode.INTERRUPTED)
        raise
    if line:
        tell(line)
        sys.stdout.flush()
        return 0
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    return code if code >= 0 else 128 - code
