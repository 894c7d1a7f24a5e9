"""Files that are there as a whole or not at all."""

from __future__ import annotations

import os
import stat
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO


def replace_file(target: Path, data: bytes, mode: int | None = None) -> None:
    """Put data into a file in one step: a reader, a crash or Ctrl-C sees all of the old or all of the new.

    Without `mode`, a file that is there keeps its own. The folder must exist. Raises OSError.
    """
    with replacing(target, mode) as file:
        file.write(data)


@contextmanager
def replacing(target: Path, mode: int | None = None) -> Iterator[BinaryIO]:
    """Yield a file to write to that takes the place of another in one step, at the end, as `replace_file` does."""
    descriptor, name = tempfile.mkstemp(prefix=f".{target.name[:100]}.", dir=target.parent)
    try:
        with os.fdopen(descriptor, "wb") as file:
            yield file
            file.flush()
            os.fchmod(file.fileno(), _mode(target) if mode is None else mode)
            os.fsync(file.fileno())
        Path(name).replace(target)
    except BaseException:
        with suppress(FileNotFoundError):
            Path(name).unlink()
        raise


def _mode(target: Path) -> int:
    """Return the mode the file has, or that a new file would get."""
    with suppress(FileNotFoundError):
        return stat.S_IMODE(target.stat().st_mode)
    mask = os.umask(0)
    os.umask(mask)
    return 0o666 & ~mask
