"""What users name: the fabric file, directories, executors, numbers of processes."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from ailb_gen.errors import UsageError
from ailb_gen.paths import absent

if TYPE_CHECKING:
    from ailb_gen.intent.load import Intent


def load(fabric: str | Path) -> Intent:
    """Read a fabric file and the files that it refers to.

    Raises UsageError for a path that leads to no file, IntentError with everything that is wrong in the files.
    """
    from ailb_gen.intent.load import load as read

    return read(fabric_file(Path(fabric)))


def intent_of(fabric: Intent | str | Path) -> Intent:
    """Return an intent as it is, or that of a fabric file. Raises as `load`."""
    return load(fabric) if isinstance(fabric, str | Path) else fabric


def fabric_file(path: Path) -> Path:
    """Return the path if it is a file. Raises UsageError."""
    try:
        if path.is_dir():
            raise UsageError(f"{path}: this is a directory; name the fabric file, such as {path / 'fabric.yaml'}")
        if not path.exists():
            raise UsageError(f"{path}: {absent(path, 'file')}; 'ailb-gen init' writes one")
    except OSError as error:
        raise UsageError(f"{str(path)[:200]}: not a usable file name: {error.strerror}") from error
    return path


def check_folder(what: str, path: Path, hint: str) -> None:
    """Refuse what is no directory; `what` names the argument, `hint` says what to do. Raises UsageError."""
    try:
        exists = path.is_dir()
    except OSError as error:
        raise UsageError(f"{what} {str(path)[:200]}: not a usable directory name: {error.strerror}") from error
    if not exists:
        reason = "this is a file; name a directory" if path.exists() else absent(path, "directory")
        raise UsageError(f"{what} {path}: {reason}; {hint}")


def check_executor(executor: str) -> None:
    """Refuse what is no executor. Raises UsageError."""
    kind, _, address = executor.partition(":")
    if not (executor in ("processes", "serial") or (kind == "dask" and address)):
        raise UsageError(f"--executor {executor!r}: must be processes, serial, or dask:ADDRESS")


def processes(jobs: int | None) -> int:
    """Return how many processes work: as many as asked for, by default one per core."""
    return jobs or len(os.sched_getaffinity(0))
