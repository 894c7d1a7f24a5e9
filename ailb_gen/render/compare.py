"""Compare a rendered tree with the files on disk."""

import os
import stat
from dataclasses import dataclass
from pathlib import Path

from ailb_gen.errors import OutputError
from ailb_gen.render.artifacts import LINK, Artifact, Tree


@dataclass(frozen=True, slots=True)
class Changes:
    """Paths by what happens to them, each sorted."""

    new: tuple[str, ...]
    changed: tuple[str, ...]
    deleted: tuple[str, ...]
    unchanged: int

    def __bool__(self) -> bool:
        return bool(self.new or self.changed or self.deleted)


def _same(path: str, artifact: Artifact) -> bool | None:
    """Compare what stands at `path` with an artifact; None when nothing does. Raises OSError, OutputError."""
    try:
        status = os.lstat(path)
    except (FileNotFoundError, NotADirectoryError):
        return None
    if stat.S_ISLNK(status.st_mode):
        return artifact.mode == LINK and os.fsencode(os.readlink(path)) == artifact.content
    if stat.S_ISDIR(status.st_mode) and artifact.mode == LINK:
        # A server that had files of its own; they are stale; the writer refuses a folder that holds others.
        return None
    if not stat.S_ISREG(status.st_mode):
        what = "a directory" if stat.S_ISDIR(status.st_mode) else "something other than a file"
        raise OutputError(f"{path}: {what} instead of a file; remove it")
    executable = bool(status.st_mode & 0o100) == bool(artifact.mode & 0o100)
    if artifact.mode == LINK or not executable or status.st_size != len(artifact.content):
        return False
    with open(path, "rb") as file:
        return file.read() == artifact.content


def _check_folders(root: str, tree: Tree, gone: set[str]) -> None:
    """Refuse a tree in which a folder has become a file, or a link: writing through it would end up elsewhere."""
    folders: set[str] = set()
    for path in tree:
        folder = path.rpartition("/")[0]
        while folder and folder not in folders:
            folders.add(folder)
            folder = folder.rpartition("/")[0]
    for path in (f"{root}/{folder}" for folder in sorted(folders - gone)):
        if os.path.lexists(path) and (os.path.islink(path) or not os.path.isdir(path)):
            what = "a link" if os.path.islink(path) else "a file"
            raise OutputError(f"{path}: {what} instead of a directory; remove it")


def compare(out: Path, tree: Tree, stale: set[str]) -> Changes:
    """Compare the tree with `out`; `stale` are paths that are to go. Raises OutputError for unreadable files."""
    new, changed, unchanged = [], [], 0
    root = str(out)
    if not os.path.lexists(root):
        return Changes(tuple(sorted(tree)), (), (), 0)
    gone = {path for path in stale if os.path.lexists(f"{root}/{path}")}
    # A folder that was a link so far: the files behind it are those of another folder.
    unlinked = {path for path in gone if os.path.islink(f"{root}/{path}")}
    _check_folders(root, tree, gone)
    for path, artifact in tree.items():
        device = "/".join(path.split("/", 2)[:2])
        try:
            same = None if device in unlinked else _same(f"{root}/{path}", artifact)
        except OSError as error:
            raise OutputError(f"{root}/{path}: cannot read the old file: {error.strerror}") from error
        if same is None:
            new.append(path)
        elif same:
            unchanged += 1
        else:
            changed.append(path)
    return Changes(tuple(sorted(new)), tuple(sorted(changed)), tuple(sorted(gone)), unchanged)
