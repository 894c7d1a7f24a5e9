"""Digests of what is simulated and of what simulates it, by which finished points are known again."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from hashlib import _Hash

SIMULATOR = Path(__file__).parent


@cache
def sources_digest(*patterns: str) -> str:
    """Return the SHA-256 of the simulator's sources that match a pattern, by default of all, the same on every machine.

    Results depend on them as on what is simulated. Numba is not needed.
    """
    found = sha256()
    for path in sorted({path for pattern in patterns or ("**/*.py",) for path in SIMULATOR.glob(pattern)}):
        content = path.read_bytes()
        found.update(f"{path.relative_to(SIMULATOR).as_posix()} {len(content)}\n".encode() + content)
    return found.hexdigest()


def digest(*parts: object) -> str:
    """Return the SHA-256 of dataclasses, arrays, mappings, tuples and plain values, the same on every machine."""
    found = sha256()
    for part in parts:
        _feed(found, part)
    return found.hexdigest()


def _feed(found: _Hash, part: object) -> None:
    if isinstance(part, np.ndarray):
        # Little-endian on every machine.
        data = np.ascontiguousarray(part, dtype=part.dtype.newbyteorder("<"))
        found.update(f"array {data.dtype.str} {data.shape}\n".encode())
        found.update(data.data)
    elif is_dataclass(part):
        # What is not compared changes nothing that is simulated.
        names = [field.name for field in fields(part) if field.compare]
        found.update(f"{type(part).__name__} {names}\n".encode())
        for name in names:
            _feed(found, getattr(part, name))
    elif isinstance(part, Mapping):
        found.update(f"mapping {len(part)}\n".encode())
        for key in sorted(part):
            found.update(f"{key!r}\n".encode())
            _feed(found, part[key])
    elif isinstance(part, tuple | list):
        found.update(f"list {len(part)}\n".encode())
        for item in part:
            _feed(found, item)
    elif part is None or isinstance(part, str | int | float):
        found.update(f"{type(part).__name__} {part!r}\n".encode())
    else:
        raise TypeError(type(part).__name__)
