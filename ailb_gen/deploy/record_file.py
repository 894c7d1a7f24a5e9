"""Files of a run's record, which have one JSON value a line: read up to where a crash cut them off."""

import json
import stat
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

from ailb_gen.errors import OutputError

# No record is larger: of 5,000 devices, their changes have some 500 MB.
MAX_BYTES = 1 << 30
T = TypeVar("T")


def read_record(path: Path, parse: Callable[[Any], T]) -> list[T]:
    """Return the lines of a file of a record, parsed; a last line that a crash cut off is left out.

    `parse` may raise any error for what is no line of it. Raises FileNotFoundError, OutputError.
    """
    found: list[T] = []
    for number, line in enumerate(_whole_lines(path), 1):
        try:
            found.append(parse(json.loads(line)))
        except (ValueError, LookupError, TypeError, AttributeError, RecursionError) as error:
            raise OutputError(f"{path}:{number}: not a line of a record; was it edited?") from error
    return found


def _whole_lines(path: Path) -> list[str]:
    try:
        status = path.stat()
        if not stat.S_ISREG(status.st_mode):
            raise OutputError(f"{path}: the record cannot be read: it is no regular file; was it replaced?")
        if status.st_size > MAX_BYTES:
            raise OutputError(f"{path}: the record cannot be read: it is larger than {MAX_BYTES >> 20} MiB")
        # What a crash cut off may end within a character.
        whole, _, _ = path.read_bytes().rpartition(b"\n")
        return whole.decode().split("\n") if whole else []
    except UnicodeDecodeError as error:
        raise OutputError(f"{path}: the record cannot be read: it is not UTF-8 text; was it edited?") from error
    except FileNotFoundError:
        raise
    except OSError as error:
        raise OutputError(f"{path}: the record cannot be read: {error.strerror}; check its owner") from error
