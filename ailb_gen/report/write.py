"""Writing reports to files, which are there as a whole or not at all."""

from __future__ import annotations

import os
import stat
from pathlib import Path

from ailb_gen.atomic import replace_file
from ailb_gen.errors import OutputError


def write(path: Path, text: str, what: str = "report", private: bool = False) -> None:
    """Put a report, or `what` else it is, into a file in one step; folders on the way are made. Raises OutputError.

    `private`: only its owner can read it, whoever could read what was there before.
    """
    write_bytes(path, text.encode("utf-8", "backslashreplace"), what, private)


def write_bytes(path: Path, data: bytes, what: str = "report", private: bool = False) -> None:
    """Put bytes into a file as `write` does with text. Raises OutputError."""
    try:
        # What a link leads to is written, the link stays.
        target = Path(os.path.realpath(path))
        if target.exists() and not stat.S_ISREG(target.stat().st_mode):
            # A pipe or a device (`/dev/stderr`) cannot be replaced; a directory refuses.
            target.write_bytes(data)
            return
        target.parent.mkdir(parents=True, exist_ok=True)
        replace_file(target, data, 0o600 if private else None)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        inner = getattr(error, "filename", None)
        where = f" ({inner})" if inner and str(inner) != str(path) else ""
        left = f"; the {what} that is there is an older one" if os.path.isfile(path) else ""  # noqa: PTH113 - any path
        raise OutputError(f"{path}: cannot write the {what}: {reason}{where}{left}") from error
