"""Paths as users give them: where they lead, and why nothing is there."""

from __future__ import annotations

import os
import stat
from pathlib import Path
from typing import Literal


def real(path: Path) -> Path:
    """Return where a path leads; symbolic links in a circle lead to one of them, and whatever uses it fails."""
    # Unlike os.path, Path.resolve raises RuntimeError on them before Python 3.13.
    return Path(os.path.realpath(path))


def absent(path: Path, kind: Literal["file", "directory"]) -> str:
    """Return why no file or directory, the `kind`, is at a path; empty if one is."""
    try:
        mode = path.stat().st_mode
    except (FileNotFoundError, NotADirectoryError, ValueError):
        # ValueError: a name that no file can have.
        return _link(path, kind) or f"there is no such {kind}"
    except OSError as error:
        return _link(path, kind) or f"cannot be read: {error.strerror}"
    found = "directory" if stat.S_ISDIR(mode) else "file" if stat.S_ISREG(mode) else "special file"
    return "" if found == kind else f"this is a {found}"


def _link(path: Path, kind: str) -> str:
    try:
        return f"this symbolic link to {path.readlink()} does not point to a {kind}"
    except (OSError, ValueError):
        return ""
