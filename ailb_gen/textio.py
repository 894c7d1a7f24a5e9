"""Text files of the user: read whole, within limits, with errors that name file, line and reason; CSV as written."""

from __future__ import annotations

import csv
import io
import json
import re
import stat
import unicodedata
from collections.abc import Iterable
from dataclasses import field
from pathlib import Path
from typing import Any

from ailb_gen.errors import IntentError, Place, Problem

MAX_BYTES = 64 * 1024 * 1024
# Tables of a whole fabric: of 5,000 switches, topology.json has 104 MB.
MAX_TABLE_BYTES = 256 * 1024 * 1024
# What people see as a blank, or as nothing, although Unicode counts it among the signs.
UNSEEN = frozenset("\u034f\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0")

# A key of an object, another string, or where an object begins or ends.
JSON_KEY = re.compile(r'("[^"\\]*+(?:\\.[^"\\]*+)*")\s*+:|"[^"\\]*+(?:\\.[^"\\]*+)*"|[{}]', re.DOTALL)
# What git and others write around the two sides of a conflict.
MARKER = re.compile(r"^(?:<{7}|>{7}) ", re.MULTILINE)
UNRESOLVED = "an unresolved merge conflict; keep one side, and delete the lines with its markers"


def line_field() -> int:
    """Make the dataclass field that holds the line of a statement or setting; comparisons ignore it."""
    return field(default=0, compare=False)


def text_problem(file: str, code: str, reason: str, line: int = 1, column: int = 1, hint: str = "") -> IntentError:
    """Make the error for a file that cannot be read at all."""
    return IntentError([Problem(code, Place(file, line, column), "", reason, hint)])


def read_text(path: Path, name: str, encoding: str = "utf-8-sig", most: int = MAX_BYTES) -> str:
    """Read a text file of the user, as `text_of` does; raises IntentError when that is not possible."""
    return text_of(read_bytes(path, name, most), name, encoding)


def read_bytes(path: Path, name: str, most: int = MAX_BYTES) -> bytes:
    """Read a file of the user, of `most` bytes; raises IntentError when that is not possible."""
    try:
        status = path.stat()
        if not stat.S_ISREG(status.st_mode):
            what = "a directory" if stat.S_ISDIR(status.st_mode) else "not a regular file"
            raise text_problem(name, "unreadable", f"cannot read the file: it is {what}")
        if status.st_size > most:
            raise text_problem(name, "too-large", f"the file is larger than {most >> 20} MiB")
        return path.read_bytes()
    except (OSError, ValueError) as error:
        reason = f"cannot read the file: {getattr(error, 'strerror', None) or error}"
        raise text_problem(name, "unreadable", reason) from error


def text_of(data: bytes, name: str, encoding: str = "utf-8-sig") -> str:
    """Return the text of a file; `utf-8` keeps a byte order mark.

    Raises IntentError when it is not UTF-8, or holds a merge that is not resolved.
    """
    try:
        text = data.decode(encoding)
    except UnicodeDecodeError as error:
        line = data[: error.start].count(b"\n") + 1
        raise text_problem(name, "unreadable", "the file is not UTF-8 text", line) from error
    start = conflict(text)
    if start is not None:
        raise text_problem(name, "unreadable", UNRESOLVED, text.count("\n", 0, start) + 1)
    return text


def csv_text(header: Iterable[str], rows: Iterable[Iterable[object]]) -> str:
    """Return a table as CSV with the line ends of Unix, the same on any machine."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(header)
    writer.writerows(rows)
    return text.getvalue()


def conflict(text: str) -> int | None:
    """Return where version control has marked a conflict that nobody resolved; None without one."""
    # One character is found ten times as fast as several.
    if not (("<" in text and "<<<<<<< " in text) or (">" in text and ">>>>>>> " in text)):
        return None
    found = MARKER.search(text)
    return found.start() if found is not None else None


def odd_characters(text: str, allowed: str = "\t\n") -> frozenset[str]:
    """Return the characters of a text that nobody sees or that look like a blank, but for the space and `allowed`.

    Devices, shells and daemons separate words at blanks of ASCII only; Python would at all of Unicode.
    """
    if text.isascii() and text.isprintable():
        return frozenset()
    return frozenset(one for one in set(text) if not one.isprintable() or one in UNSEEN).difference(allowed)


def character_name(character: str) -> str:
    """Return what a character is called: `U+00A0 NO-BREAK SPACE`."""
    controls = {"\0": "NULL", "\r": "CARRIAGE RETURN", "\x1b": "ESCAPE", "\x85": "NEXT LINE"}
    name = unicodedata.name(character, controls.get(character, "CONTROL CHARACTER"))
    return f"U+{ord(character):04X} {name}"


def parse_json(text: str | bytes) -> Any:  # noqa: ANN401 - what JSON holds
    """Parse JSON.

    Raises ValueError, also for a key that is twice in one object, since readers differ in which they take, and
    RecursionError. An error of syntax is placed where something is missing: behind what is there, not at what follows.
    """
    try:
        return json.loads(text, object_pairs_hook=_unique)
    except _KeyTwiceError:
        whole = text if isinstance(text, str) else text.decode(json.detect_encoding(text))
        raise json.JSONDecodeError(*_second_key(whole)) from None
    except json.JSONDecodeError as error:
        before, is_end = error.doc[: error.pos].rstrip(), error.doc[error.pos : error.pos + 1] in ("]", "}")
        # Behind a comma too many comes the end of the list or object.
        if not (before[-1:] == "," if is_end else error.msg.endswith("delimiter")):
            raise
        raise json.JSONDecodeError(error.msg, error.doc, max(len(before) - 1, 0)) from error


class _KeyTwiceError(ValueError):
    """A key is twice in one object; where, the parser does not tell."""


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    result = dict(pairs)
    if len(result) < len(pairs):
        raise _KeyTwiceError
    return result


def _second_key(text: str) -> tuple[str, str, int]:
    """Return what is wrong with a valid text in which an object has a key twice, the text, and where the second is."""
    objects: list[set[str]] = []
    for found in JSON_KEY.finditer(text):
        if found[0] == "{":
            objects.append(set())
        elif found[0] == "}":
            objects.pop()
        elif found[1] is not None:
            key = json.loads(found[1], strict=False)
            if key in objects[-1]:
                return f"the key {key!r} is twice in one object", text, found.start()
            objects[-1].add(key)
    raise ValueError("no key is twice in one object")
