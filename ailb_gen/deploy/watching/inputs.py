"""Whether the files that devices are compared with have changed since they were read."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from pathlib import Path

from ailb_gen.deploy.inventory_files import FILES
from ailb_gen.intent.load import csv_names

# Path, size, time of the last change and number: of a file that is replaced all but the path differ.
Stamp = tuple[str, int, int, int]


class InputFiles:
    """The fabric file with its CSV files, the inventory, and all generated files, as they are now."""

    def __init__(self, fabric: Path, artifacts: Path, inventory: Path) -> None:
        named = [fabric, *(fabric.parent / name for name in csv_names(fabric)), *(inventory / name for name in FILES)]
        self._named, self._artifacts = [str(path) for path in named], str(artifacts)
        self._stamps = self._now()

    @property
    def changed(self) -> bool:
        """Whether a file is another one than when this was made; nothing is read. Never raises."""
        return self._now() != self._stamps

    def _now(self) -> tuple[Stamp, ...]:
        return tuple(_stamps([*self._named, *_below(self._artifacts)]))


def _stamps(paths: Iterable[str]) -> Iterator[Stamp]:
    """Yield the stamps of files; one that is missing has none."""
    for path in sorted(set(paths)):
        try:
            found = Path(path).stat()
        except (OSError, ValueError):
            continue
        yield path, found.st_size, found.st_mtime_ns, found.st_ino


def _below(root: str) -> Iterator[str]:
    """Yield all files below a directory; what cannot be listed has none."""
    for folder, _, files in os.walk(root):
        yield from (f"{folder}/{name}" for name in files)
