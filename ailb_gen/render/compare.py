"""What would change: a rendered tree against what stands on disk."""

import difflib
import errno
import os
from collections.abc import Iterator
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
    """Compare what stands at `path` with an artifact; None when nothing does."""
    try:
        if artifact.mode == LINK:
            return os.fsencode(os.readlink(path)) == artifact.content
        with open(path, "rb") as file:
            status = os.fstat(file.fileno())
            executable = bool(status.st_mode & 0o100)
            if status.st_size != len(artifact.content) or executable != bool(artifact.mode & 0o100):
                return False
            return file.read() == artifact.content
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        if artifact.mode == LINK and error.errno == errno.EINVAL:
            return None if os.path.isdir(path) else False
        reason = "a directory stands where a file is to be written; remove it"
        raise OutputError(f"{path}: {reason if os.path.isdir(path) else error.strerror}") from error


def compare(out: Path, tree: Tree, stale: set[str]) -> Changes:
    """Compare the tree with `out`; `stale` are paths that are to go. Raises OutputError for unreadable files."""
    new, changed, unchanged = [], [], 0
    root = str(out)
    gone = {path for path in stale if os.path.lexists(f"{root}/{path}")}
    # A folder that was a link so far: what is seen through it belongs to somebody else.
    unlinked = {path for path in gone if os.path.islink(f"{root}/{path}")}
    for path, artifact in tree.items():
        device = "/".join(path.split("/", 2)[:2])
        same = None if device in unlinked else _same(f"{root}/{path}", artifact)
        if same is None:
            new.append(path)
        elif same:
            unchanged += 1
        else:
            changed.append(path)
    return Changes(tuple(sorted(new)), tuple(sorted(changed)), tuple(sorted(gone)), unchanged)


def _old(path: Path) -> bytes:
    return f"link to {os.readlink(path)}\n".encode() if path.is_symlink() else path.read_bytes()


def _new(artifact: Artifact) -> bytes:
    return b"link to " + artifact.content + b"\n" if artifact.mode == LINK else artifact.content


def _lines(content: bytes) -> list[str]:
    return content.decode("utf-8", "replace").splitlines(keepends=True)


def diff(out: Path, tree: Tree, changes: Changes) -> Iterator[str]:
    """Yield unified diffs of everything that changes, old tree against new."""
    for path in sorted((*changes.new, *changes.changed, *changes.deleted)):
        old = b"" if path in changes.new else _old(out / path)
        new = _new(tree[path]) if path in tree else b""
        old_name, new_name = f"a/{path}" if old else "/dev/null", f"b/{path}" if new else "/dev/null"
        for line in difflib.unified_diff(_lines(old), _lines(new), old_name, new_name):
            yield line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n"
