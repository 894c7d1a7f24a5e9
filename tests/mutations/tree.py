"""An artifact directory as a value: what a mutation takes and gives back."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
from dataclasses import dataclass
from pathlib import Path

MANIFEST = "manifest.json"


@dataclass(frozen=True, slots=True)
class Link:
    """A symbolic link."""

    target: str


@dataclass(frozen=True, slots=True)
class Folder:
    """An empty directory where a file belongs."""


@dataclass(frozen=True, slots=True)
class WithMode:
    """A file with other permissions than it had."""

    content: bytes
    mode: int


Entry = bytes | Link | Folder | WithMode
# Path relative to the artifact directory -> what is there.
Tree = dict[str, Entry]
# What a mutation changes: path -> what is there afterwards, None for nothing.
Changes = dict[str, Entry | None]


def read_tree(root: Path) -> Tree:
    """Read all files and links below `root`, in order of their paths."""
    tree: Tree = {}
    for folder, folders, files in os.walk(root):
        for name in (*files, *folders):
            path = Path(folder, name)
            key = str(path.relative_to(root))
            if path.is_symlink():
                tree[key] = Link(str(path.readlink()))
            elif path.is_file():
                tree[key] = path.read_bytes()
    return dict(sorted(tree.items()))


def bytes_of(tree: Tree, path: str) -> bytes:
    """Return a file's content."""
    entry = tree[path]
    if not isinstance(entry, bytes):
        raise TypeError(f"{path} is no file")
    return entry


def text_of(tree: Tree, path: str) -> str:
    """Return a file's text."""
    return bytes_of(tree, path).decode()


def changed(tree: Tree, changes: Changes) -> Tree:
    """Return the tree after the changes. Raises ValueError when they change nothing."""
    for path, entry in changes.items():
        if tree.get(path) == entry:
            raise ValueError(f"{path}: the mutation changes nothing")
    if not changes:
        raise ValueError("the mutation changes nothing")
    return {path: entry for path, entry in (tree | changes).items() if entry is not None}


def sealed(tree: Tree, changes: Changes) -> Changes:
    """Add the manifest that fits the changed files, so that its digests do not give a mutation away."""
    body = json.loads(text_of(tree, MANIFEST))
    for path, entry in changes.items():
        if isinstance(entry, bytes):
            body["files"][path] = hashlib.sha256(entry).hexdigest()
        elif isinstance(entry, Link):
            body["files"][path] = f"link:{entry.target}"
        elif isinstance(entry, WithMode):
            body["files"][path] = hashlib.sha256(entry.content).hexdigest()
        else:
            body["files"].pop(path, None)
    body["files"] = dict(sorted(body["files"].items()))
    return changes | {MANIFEST: f"{json.dumps(body, indent=1)}\n".encode()}


def write_tree(tree: Tree, root: Path) -> None:
    """Write a whole tree into a new directory."""
    root.mkdir(parents=True)
    write_changes(tree, root)


def write_changes(changes: Changes | Tree, root: Path) -> None:
    """Apply changes to a directory, without touching what its files may be hard links to."""
    for path, entry in changes.items():
        place = root / path
        mode = place.stat().st_mode if place.is_file() and not place.is_symlink() else None
        if place.is_symlink() or place.is_file():
            place.unlink()
        if entry is None:
            continue
        place.parent.mkdir(parents=True, exist_ok=True)
        if isinstance(entry, Link):
            place.symlink_to(entry.target)
        elif isinstance(entry, Folder):
            place.mkdir()
        elif isinstance(entry, WithMode):
            place.write_bytes(entry.content)
            place.chmod(entry.mode)
        else:
            place.write_bytes(entry)
            if mode is not None:
                # An edited script can still be executed.
                place.chmod(mode)


def copy_with(base: Path, changes: Changes, root: Path) -> None:
    """Copy the directory `base` to `root` by hard links and apply changes there."""
    shutil.copytree(base, root, symlinks=True, copy_function=os.link)
    write_changes(changes, root)
