"""Files in a server's folder that are none of the fabric's, and the modes of its scripts."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable, Iterator
from pathlib import Path

from ailb_gen.hosts.model import Extra

MOST = 2000
# Larger files are not judged harmless.
MAX_BYTES = 64 * 1024


def read_extras(root: Path, own: Iterable[str]) -> tuple[Extra, ...]:
    """Return the entries below a server's folder that are not among `own`, sorted; paths relative to the folder.

    Symbolic links and special files count as they are, and are not followed. More than `MOST` are cut off.
    """
    known = frozenset(own)
    found = []
    for path in _entries(root):
        name = path.relative_to(root).as_posix()
        if name not in known:
            found.append(Extra(name, _text(path)))
            if len(found) >= MOST:
                break
    return tuple(sorted(found, key=lambda extra: extra.path))


def _entries(root: Path) -> Iterator[Path]:
    for folder, folders, files in os.walk(root):
        folders.sort()
        here = root / os.path.relpath(folder, root)
        yield from (here / name for name in sorted(files))
        yield from (here / name for name in folders if (here / name).is_symlink())


def _text(path: Path) -> str | None:
    try:
        status = path.lstat()
        if not stat.S_ISREG(status.st_mode) or status.st_size > MAX_BYTES:
            return None
        return path.read_text(encoding="utf-8")
    except (OSError, ValueError):
        return None


def modes(root: Path, files: Iterable[str]) -> dict[str, int]:
    """Return the permissions of those of the files that are there, symbolic links followed."""
    found = {}
    for file in files:
        try:
            found[file] = stat.S_IMODE((root / file).stat().st_mode)
        except (OSError, ValueError):
            continue
    return found
