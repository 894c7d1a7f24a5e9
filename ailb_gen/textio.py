"""Text files of the user: read whole, within limits, with errors that name file, line and reason."""

from __future__ import annotations

import json
import stat
from dataclasses import field
from pathlib import Path
from typing import Any

from ailb_gen.errors import IntentError, Place, Problem

MAX_BYTES = 64 * 1024 * 1024


def line_field() -> int:
    """Make the dataclass field that holds the line of a statement or setting; comparisons ignore it."""
    return field(default=0, compare=False)


def text_problem(file: str, code: str, reason: str, line: int = 1, column: int = 1, hint: str = "") -> IntentError:
    """Make the error for a file that cannot be read at all."""
    return IntentError([Problem(code, Place(file, line, column), "", reason, hint)])


def read_text(path: Path, name: str) -> str:
    """Read a text file of the user; raises IntentError when that is not possible."""
    return text_of(read_bytes(path, name), name)


def read_bytes(path: Path, name: str) -> bytes:
    """Read a file of the user; raises IntentError when that is not possible."""
    try:
        status = path.stat()
        if not stat.S_ISREG(status.st_mode):
            what = "a directory" if stat.S_ISDIR(status.st_mode) else "not a regular file"
            raise text_problem(name, "unreadable", f"cannot read the file: it is {what}")
        if status.st_size > MAX_BYTES:
            raise text_problem(name, "too-large", f"the file is larger than {MAX_BYTES >> 20} MiB")
        return path.read_bytes()
    except (OSError, ValueError) as error:
        reason = f"cannot read the file: {getattr(error, 'strerror', None) or error}"
        raise text_problem(name, "unreadable", reason) from error


def text_of(data: bytes, name: str) -> str:
    """Return the text of a file; raises IntentError when it is not UTF-8."""
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data[: error.start].count(b"\n") + 1
        raise text_problem(name, "unreadable", "the file is not UTF-8 text", line) from error


def parse_json(text: str | bytes) -> Any:  # noqa: ANN401 - what JSON holds
    """Parse JSON.

    Raises ValueError, also for a key that is twice in one object, since readers differ in which they take, and
    RecursionError.
    """
    return json.loads(text, object_pairs_hook=_unique)


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    result = dict(pairs)
    if len(result) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for number, name in enumerate(names) if name in names[:number])
        raise ValueError(f"the key {twice!r} is twice in one object")
    return result
