"""A digest of what is simulated, by which finished points are known again."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from hashlib import sha256
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from hashlib import _Hash

# Digests know these classes by their first names: finished points stay known.
FIRST_NAMES = {"FabricArrays": "Fabric", "SimulationSettings": "Settings", "BufferSettings": "SwitchSettings"}


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
        kind = type(part).__name__
        found.update(f"{FIRST_NAMES.get(kind, kind)} {names}\n".encode())
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
