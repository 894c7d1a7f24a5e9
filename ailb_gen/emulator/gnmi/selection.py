"""What paths of a request select of the state of a device."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache, lru_cache
from typing import NamedTuple

import grpc

from ailb_gen.emulator.gnmi.errors import GnmiRefusedError
from ailb_gen.emulator.gnmi.paths import ANY, Steps, below, covers, message_of, text_of
from ailb_gen.emulator.gnmi.state import CONTAINERS
from ailb_gen.emulator.gnmi.view import Container, DeviceView, Keys, Values
from ailb_gen.wording import some

# Selections that are kept: switches of a fabric are asked the same.
KEPT = 256


class StateRow(NamedTuple):
    """An instance of a container, by the number of the container, with the selected leaves."""

    number: int
    keys: Keys
    values: Values


class PathSelection:
    """The leaves that some paths select, of any device."""

    def __init__(self, patterns: tuple[Steps, ...]) -> None:
        """Find the containers. Raises GnmiRefusedError for a path that no device can have."""
        for pattern in patterns:
            if not any(_reaches(pattern, container) for container in CONTAINERS):
                names = some(sorted({container.path.split("/")[1] for container in CONTAINERS}))
                raise GnmiRefusedError(
                    grpc.StatusCode.INVALID_ARGUMENT,
                    f"{text_of(pattern)}: no such path here; there are paths under {names}",
                )
        self._patterns = {
            number: tuple(pattern for pattern in patterns if _reaches(pattern, container))
            for number, container in enumerate(CONTAINERS)
        }
        # Containers of which everything is selected, whatever the keys.
        self._whole = {
            number
            for number, row in self._patterns.items()
            if any(covers(pattern, CONTAINERS[number].schema()) and not _has_keys(pattern) for pattern in row)
        }
        self._leaves: dict[tuple[int, Keys], tuple[str, ...]] = {}

    def has(self, counted: bool) -> bool:
        """Return whether it selects counters, or anything else."""
        return any(row and CONTAINERS[number].counted == counted for number, row in self._patterns.items())

    def rows(self, view: DeviceView, counted: bool | None = None) -> Iterator[StateRow]:
        """Iterate over what is selected of a device now: counters, everything else, or both."""
        for number, patterns in self._patterns.items():
            container = CONTAINERS[number]
            if not patterns or counted not in (None, container.counted):
                continue
            every = len(container.leaves)
            for keys, entry in container.entries(view):
                leaves = self._leaves.get((number, keys))
                if leaves is None:
                    leaves = self._leaves[number, keys] = self._selected(number, keys)
                if leaves:
                    values = container.values(view, entry)
                    if len(leaves) < every:
                        values = {name: values[name] for name in leaves if name in values}
                    yield StateRow(number, keys, values)

    def _selected(self, number: int, keys: Keys) -> tuple[str, ...]:
        container = CONTAINERS[number]
        if number in self._whole:
            return container.leaves
        at = container.steps(keys)
        patterns = [pattern for pattern in self._patterns[number] if below(pattern, at)]
        if any(covers(pattern, at) for pattern in patterns):
            return container.leaves
        return tuple(
            name for name in container.leaves if any(covers(pattern, at + _leaf(name)) for pattern in patterns)
        )


@cache
def _leaf(name: str) -> Steps:
    return tuple((part, ()) for part in name.split("/"))


def _has_keys(pattern: Steps) -> bool:
    return any(value != ANY for _, keys in pattern for _, value in keys)


def _reaches(pattern: Steps, container: Container) -> bool:
    at = container.schema()
    return below(pattern, at) and any(covers(pattern, at + _leaf(name)) for name in container.leaves)


@lru_cache(maxsize=KEPT)
def selection(patterns: tuple[Steps, ...]) -> PathSelection:
    """Return what paths select; the same for the same paths. Raises GnmiRefusedError."""
    return PathSelection(patterns)


@lru_cache(maxsize=2**18)
def leaf_paths(number: int, keys: Keys) -> dict[str, bytes]:
    """Return the paths of all leaves of an instance of a container, as messages on the wire."""
    container = CONTAINERS[number]
    # The elements of a path are repeated: those of the leaf follow when their message does.
    head = message_of(container.steps(keys)).SerializeToString()
    return {name: head + _leaf_bytes(name) for name in container.leaves}


@cache
def _leaf_bytes(name: str) -> bytes:
    found: bytes = message_of(_leaf(name)).SerializeToString()
    return found
