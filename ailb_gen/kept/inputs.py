"""All that the findings of a run follow from, as digests: program, intent, models, and the tree of files."""

from __future__ import annotations

import os
import stat
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import Any

from ailb_gen.errors import UsageError
from ailb_gen.junos.cache import digest
from ailb_gen.junos.yang_files import model_directory, model_files
from ailb_gen.shipped import PACKAGE_DIR, shipped_templates
from ailb_gen.textio import MAX_TABLE_BYTES, read_bytes, text_of
from ailb_gen.yamlio import read_yaml

# Path in the tree, type and permissions, and the digest of a file or the target of a link.
TreeEntry = tuple[str, int, str]
# How installed distributions are listed: their names have their versions.
INSTALLED = (".dist-info", ".egg-info", ".egg-link")

# Two changes within so long may have the same time: file systems count in steps of up to two seconds.
TICK_NS = 2_000_000_000


def program_digest() -> str:
    """Return a digest of this program, its interpreter, and the versions of all that is installed. Raises OSError."""
    installed = sorted(Path(path).name for path in _installed())
    whole = sha256(repr((sys.version, sys.platform, sys.flags.optimize, installed)).encode())
    for root in _program_roots():
        for path in sorted(Path(folder, name) for folder, names in _folders(root) for name in names):
            content = sha256(path.read_bytes()).hexdigest()
            whole.update(f"{path.relative_to(root).as_posix()} {content}\n".encode())
    return whole.hexdigest()


def program_paths() -> Iterator[str]:
    """Yield the files and directories that `program_digest` reads. Raises OSError."""
    yield from sorted({str(Path(path).parent) for path in _installed()})
    for root in _program_roots():
        for folder, names in _folders(root):
            yield from (folder, *(f"{folder}/{name}" for name in names))


def _program_roots() -> Iterable[Path]:
    # In a checkout the templates, with which checks compare scripts, lie beside the package.
    return dict.fromkeys((PACKAGE_DIR, shipped_templates()))


def _folders(root: Path) -> Iterator[tuple[str, list[str]]]:
    """Yield the directories from one down, each with the names of its files."""
    for folder, folders, files in os.walk(root):
        folders[:] = [name for name in folders if name != "__pycache__"]
        yield folder, files


def _installed() -> Iterator[str]:
    """Yield the paths of what is installed."""
    for folder in map(Path, sys.path):
        if folder.is_dir():
            yield from (str(path) for path in folder.iterdir() if path.name.endswith(INSTALLED))


def models_digest(yang: Path | None) -> tuple[str, tuple[Path, ...]]:
    """Return a digest of the YANG models in a directory, and the paths that were read. Raises UsageError.

    Without a directory both are empty.
    """
    if yang is None:
        return "", ()
    files = model_files(model_directory(yang))
    paths = {path for path, _ in files}
    folders = {yang, *(path.parent for path in paths)}
    return digest((path.name, content) for path, content in files), tuple(sorted(paths | folders))


def intent_digests(fabric: Path) -> dict[str, str]:
    """Return digests of a fabric file and of all that it may name as a CSV file, empty for what is not there.

    Raises IntentError for a file that cannot be read.
    """
    content = read_bytes(fabric, str(fabric))
    found = {}
    for name in sorted(set(_csv_names(read_yaml(text_of(content, str(fabric)), str(fabric)).data))):
        path = fabric.parent / name
        found[name] = sha256(read_bytes(path, name)).hexdigest() if path.is_file() else ""
    # Last: whatever stands at a key `csv`, it is not this one.
    return {**found, "": sha256(content).hexdigest()}


def _csv_names(data: Any) -> Iterator[str]:  # noqa: ANN401 - what YAML holds
    """Yield whatever stands at a key `csv`: more than what is read, never less."""
    stack = [data]
    while stack:
        value = stack.pop()
        if isinstance(value, dict):
            name = value.get("csv")
            if isinstance(name, str):
                yield name
            stack += value.values()
        elif isinstance(value, list):
            stack += value


def tree_entries(root: Path) -> tuple[TreeEntry, ...]:
    """Return everything below a directory, in order.

    Raises UsageError for what is no file, directory, or link to one of these inside the tree: that may change without
    a change here. Raises OSError.
    """
    entries = sorted(_walked(root, ""))
    kinds = {path: stat.S_IFMT(mode) for path, mode, _ in entries}
    for path, mode, target in entries:
        if stat.S_ISLNK(mode) and kinds.get(_followed(path, target)) not in (stat.S_IFREG, stat.S_IFDIR):
            raise UsageError(f"{root / path}: a link that does not lead to a file or directory of the tree")
    return tuple(entries)


def is_folder(entry: TreeEntry) -> bool:
    """Return whether an entry of a tree is a directory."""
    return stat.S_ISDIR(entry[1])


@dataclass(frozen=True, slots=True)
class ChangeTimes:
    """When files and directories changed last, in nanoseconds; `settled` if long before they were read.

    No program can set this time: a file that was edited, and then the edit undone, has another.
    """

    paths: tuple[str, ...]
    times: tuple[int, ...]
    settled: bool = field(compare=False)

    def hold(self) -> bool:
        """Return whether nothing can have changed since it was read; False also where that cannot be told."""
        try:
            return self.settled and _times(self.paths) == self.times
        except OSError:
            return False


def change_times(paths: Iterable[str | Path], read_ns: int) -> ChangeTimes:
    """Return the times of files and directories that were read from `read_ns` on. Raises OSError."""
    named = tuple(map(str, paths))
    times = _times(named)
    return ChangeTimes(named, times, max(times, default=0) < read_ns - TICK_NS)


def _times(paths: Iterable[str]) -> tuple[int, ...]:
    return tuple(os.stat(path).st_ctime_ns for path in paths)  # noqa: PTH116 - a Path for each takes twice as long


def _walked(root: Path, below: str) -> Iterator[TreeEntry]:
    with os.scandir(root / below) as listed:
        entries = list(listed)
    for entry in entries:
        path = f"{below}/{entry.name}" if below else entry.name
        found = entry.stat(follow_symlinks=False)
        if stat.S_ISLNK(found.st_mode):
            yield path, found.st_mode, str(Path(entry.path).readlink())
        elif stat.S_ISDIR(found.st_mode):
            yield path, found.st_mode, ""
            yield from _walked(root, path)
        elif stat.S_ISREG(found.st_mode) and found.st_size <= MAX_TABLE_BYTES:
            yield path, found.st_mode, sha256(Path(entry.path).read_bytes()).hexdigest()
        else:
            raise UsageError(f"{entry.path}: not a file, or too large")


def _followed(path: str, target: str) -> str:
    """Return the path in the tree that a link leads to, empty unless that is plain from the text of the link."""
    above, steps = path.split("/")[:-1], target.split("/")
    while steps and steps[0] == ".." and above:
        del above[-1], steps[0]
    return "" if set(steps) & {"", ".", ".."} else "/".join([*above, *steps])
