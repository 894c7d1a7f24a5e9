"""Paths as users give them: where they lead, and why nothing is there."""

from __future__ import annotations

import os
from pathlib import Path


def real(path: Path) -> Path:
    """Return where a path leads; symbolic links in a circle lead to one of them, and whatever uses it fails."""
    # Unlike os.path, Path.resolve raises RuntimeError on them before Python 3.13.
    return Path(os.path.realpath(path))


def absent(path: Path, kind: str) -> str:
    """Return why no file or directory, the `kind`, is at a path."""
    try:
        target = path.readlink()
    except OSError:
        return f"there is no such {kind}"
    return f"this symbolic link to {target} does not point to a {kind}"
