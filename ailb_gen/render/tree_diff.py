"""Unified diffs of a rendered tree against the files on disk, for people to read."""

import difflib
from collections.abc import Iterator
from pathlib import Path

from ailb_gen.redact.files import redact_file
from ailb_gen.render.artifacts import LINK, Artifact, Tree
from ailb_gen.render.compare import Changes


def _old(path: Path) -> bytes:
    return f"link to {path.readlink()}\n".encode() if path.is_symlink() else path.read_bytes()


def _new(artifact: Artifact) -> bytes:
    return b"link to " + artifact.content + b"\n" if artifact.mode == LINK else artifact.content


def _lines(content: bytes) -> list[str]:
    return content.decode("utf-8", "replace").splitlines(keepends=True)


def diff(out: Path, tree: Tree, changes: Changes) -> Iterator[str]:
    """Yield unified diffs of everything that changes, old tree against new, a file at a time; secrets are replaced."""
    for path in sorted((*changes.new, *changes.changed, *changes.deleted)):
        old = b"" if path in changes.new else _old(out / path)
        new = _new(tree[path]) if path in tree else b""
        old_name, new_name = f"a/{path}" if old else "/dev/null", f"b/{path}" if new else "/dev/null"
        lines = difflib.unified_diff(_lines(old), _lines(new), old_name, new_name)
        shown = "".join(one if one.endswith("\n") else f"{one}\n\\ No newline at end of file\n" for one in lines)
        yield redact_file(path, shown)
