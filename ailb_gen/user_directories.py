"""The user's directories for caches and state (XDG Base Directory Specification), and who can write there."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from pathlib import Path

from ailb_gen.errors import UsageError
from ailb_gen.paths import real

PROGRAM = "ailb-gen"


def cache_home() -> Path:
    """Return the directory of this program's caches. Raises UsageError."""
    return _directory("XDG_CACHE_HOME", ".cache")


def state_home() -> Path:
    """Return the directory of this program's state. Raises UsageError."""
    return _directory("XDG_STATE_HOME", ".local/state")


def _directory(variable: str, default: str) -> Path:
    named = os.environ.get(variable, "")
    # A relative one would lie wherever the program is started: others may have put something there.
    if named and not Path(named).is_absolute():
        raise UsageError(f"{variable} is {named!r}, not an absolute path; give one, or unset it")
    try:
        home = Path(named) if named else Path.home() / default
    except RuntimeError as error:
        raise UsageError(f"there is no home directory ({error}); set {variable}") from error
    if not home.is_absolute():
        raise UsageError(f"HOME is {os.environ.get('HOME')!r}, not an absolute path; give one, or set {variable}")
    # Without links: who can change one could lead elsewhere what was looked at.
    return real(home) / PROGRAM


def make_private(directory: Path) -> None:
    """Make a directory that only this user can write to, and those below the program's that lead there.

    Directories that are there must be this user's own and are closed to others, who must not have written to anything
    in them until then; those above must not let others replace them. Raises PermissionError with the reason, OSError.
    """
    base = directory
    while base.name != PROGRAM and base != base.parent:
        base = base.parent
    base.parent.mkdir(parents=True, exist_ok=True)
    for path in (base, *_between(base, directory)):
        try:
            path.mkdir(mode=0o700)
        except FileExistsError:
            _close(path)
    for path in base.resolve().parents:
        found = path.stat()
        if found.st_uid not in (0, os.geteuid()):
            raise PermissionError(f"{path} belongs to another user")
        if _others_write(found) and not found.st_mode & stat.S_ISVTX:
            raise PermissionError(f"others can write to {path}")


def _between(base: Path, directory: Path) -> Iterator[Path]:
    for part in directory.relative_to(base).parts:
        base /= part
        yield base


def _close(path: Path) -> None:
    """Close a directory of the program to others. Raises PermissionError when they may have put something there."""
    found = path.lstat()
    if not stat.S_ISDIR(found.st_mode):
        raise PermissionError(f"{path} is not a directory")
    check_own(path, found)
    if stat.S_IMODE(found.st_mode) != 0o700:
        # Others could get to what is in it.
        for inner in path.rglob("*"):
            check_own(inner, inner.lstat())
        path.chmod(0o700)


def check_own(path: Path, found: os.stat_result) -> None:
    """Raise PermissionError when others may have written a file or directory."""
    if stat.S_ISLNK(found.st_mode):
        raise PermissionError(f"{path} is a link; remove it")
    if found.st_uid != os.geteuid():
        raise PermissionError(f"{path} belongs to another user")
    if _others_write(found):
        raise PermissionError(f"others can write to {path}; remove it")


def _others_write(found: os.stat_result) -> bool:
    # Many distributions give every user a group of their own, with the same number.
    own = found.st_gid == found.st_uid
    return bool(found.st_mode & (stat.S_IWOTH | (0 if own else stat.S_IWGRP)))
