"""The folder of kept proofs: the user's own, bounded in size; only files that were written here are read or deleted."""

from __future__ import annotations

import os
import re
import stat
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path

from ailb_gen.atomic import replace_file
from ailb_gen.user_directories import cache_home, check_own, make_private

FOLDER = "proofs"
# Raise it when the format of records changes.
MAGIC = b"ailb-gen proof 1 "
# A record of a proof, or models of files, whose names end with MODELS.
MODELS = ".models"
NAME = re.compile(r"[0-9a-f]{32}-[0-9a-f]{32}\.(json|models)")
# What a writer that was killed leaves behind (see `ailb_gen.atomic`), and after how long nobody writes to it any more.
UNFINISHED, ABANDONED_S = re.compile(r"\.[0-9a-f]{32}-[0-9a-f]{32}\.(json|models)\.\w+"), 3600
# Of a fabric of 576 switches without findings a record has 800 KB, and models have 40 MB.
MAX_BYTES, MAX_RECORDS = 1 << 30, 1000


@dataclass(frozen=True, slots=True)
class KeptFile:
    """A file of the folder."""

    path: Path
    size: int
    changed_s: float


def folder() -> Path:
    """Return the folder of kept proofs, whether it is there or not. Raises UsageError."""
    return cache_home() / FOLDER


def kept_files(here: Path) -> list[KeptFile]:
    """Return the records of a folder and what killed writers left, the oldest first. Raises OSError."""
    return sorted(_listed(here), key=lambda one: (one.changed_s, one.path.name))


def _listed(here: Path) -> Iterator[KeptFile]:
    if not here.is_dir():
        return
    with os.scandir(here) as listed:
        entries = list(listed)
    for entry in entries:
        try:
            found = entry.stat(follow_symlinks=False)
        except FileNotFoundError:
            # Another process has just deleted it.
            continue
        old = found.st_mtime < time.time() - ABANDONED_S
        if stat.S_ISREG(found.st_mode) and (NAME.fullmatch(entry.name) or (old and UNFINISHED.fullmatch(entry.name))):
            yield KeptFile(here / entry.name, found.st_size, found.st_mtime)


def read(here: Path, name: str) -> bytes | None:
    """Return the body of a record, None where there is none.

    Raises PermissionError for a folder or file that others could have written, OSError, ValueError for one that is
    damaged.
    """
    if not here.is_dir():
        return None
    make_private(here)
    path = here / name
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    except FileNotFoundError:
        return None
    with os.fdopen(descriptor, "rb") as file:
        found = os.fstat(descriptor)
        check_own(path, found)
        if not stat.S_ISREG(found.st_mode):
            raise PermissionError(f"{path} is not a file")
        head, _, body = file.read().partition(b"\n")
    if head != _head(name, body):
        raise ValueError(f"{path} is damaged")
    # The oldest go first: this one is of use.
    with suppress(OSError):
        os.utime(path)
    return body


def write(here: Path, name: str, body: bytes) -> None:
    """Write a record, and delete the oldest beyond the limits. Raises OSError."""
    make_private(here)
    replace_file(here / name, _head(name, body) + b"\n" + body, 0o600)
    files = kept_files(here)
    size = sum(one.size for one in files)
    for number, one in enumerate(files):
        if size <= MAX_BYTES and len(files) - number <= MAX_RECORDS:
            break
        one.path.unlink(missing_ok=True)
        size -= one.size


def clear(here: Path) -> list[KeptFile]:
    """Delete all records of a folder; return what was deleted. Raises OSError."""
    if not here.is_dir():
        return []
    # Whoever could lead it elsewhere could have files deleted there.
    make_private(here)
    files = kept_files(here)
    for one in files:
        one.path.unlink(missing_ok=True)
    return files


def _head(name: str, body: bytes) -> bytes:
    """Return the line in front of a body: its digest with the name, so that no file takes the place of another."""
    return MAGIC + blake2b(name.encode() + b"\n" + body, digest_size=16).hexdigest().encode()
