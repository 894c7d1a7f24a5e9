"""What would change: a rendered tree against what stands on disk."""

import difflib
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from ailb_gen.errors import OutputError
from ailb_gen.render.artifacts import Tree


@dataclass(frozen=True, slots=True)
class Changes:
    """Paths by what happens to them, each sorted."""

    new: tuple[str, ...]
    changed: tuple[str, ...]
    deleted: tuple[str, ...]
    unchanged: int

    def __bool__(self) -> bool:
        return bool(self.new or self.changed or self.deleted)


def _same(path: str, content: bytes, mode: int) -> bool | None:
    """Compare a file with its artifact; None when there is no file."""
    try:
        with open(path, "rb") as file:  # noqa: PTH123 - tens of thousands of files: Path objects cost
            status = os.fstat(file.fileno())
            executable = bool(status.st_mode & 0o100)
            return status.st_size == len(content) and executable == bool(mode & 0o100) and file.read() == content
    except (FileNotFoundError, NotADirectoryError):
        return None
    except IsADirectoryError as error:
        raise OutputError(f"{path}: a directory stands where a file is to be written; remove it") from error
    except OSError as error:
        raise OutputError(f"{path}: cannot read the old file: {error.strerror}") from error


def compare(out: Path, tree: Tree, stale: set[str]) -> Changes:
    """Compare the tree with `out`; `stale` are paths that are to go. Raises OutputError for unreadable files."""
    new, changed, unchanged = [], [], 0
    root = str(out)
    for path, artifact in tree.items():
        same = _same(f"{root}/{path}", artifact.content, artifact.mode)
        if same is None:
            new.append(path)
        elif same:
            unchanged += 1
        else:
            changed.append(path)
    gone = tuple(sorted(path for path in stale if (out / path).exists()))
    return Changes(tuple(sorted(new)), tuple(sorted(changed)), gone, unchanged)


def _lines(content: bytes) -> list[str]:
    return content.decode("utf-8", "replace").splitlines(keepends=True)


def diff(out: Path, tree: Tree, changes: Changes) -> Iterator[str]:
    """Yield unified diffs of everything that changes, old tree against new."""
    for path in sorted((*changes.new, *changes.changed, *changes.deleted)):
        old = b"" if path in changes.new else (out / path).read_bytes()
        new = tree[path].content if path in tree else b""
        old_name, new_name = f"a/{path}" if old else "/dev/null", f"b/{path}" if new else "/dev/null"
        for line in difflib.unified_diff(_lines(old), _lines(new), old_name, new_name):
            yield line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n"
