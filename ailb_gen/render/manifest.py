"""The manifest of an output tree: what the program wrote there, so that it removes only its own files."""

import json
from pathlib import Path, PurePosixPath

from ailb_gen.errors import OutputError
from ailb_gen.render.fabric_files import MANIFEST


def manifest_bytes(out: Path) -> bytes | None:
    """Return the manifest of a tree as it stands on disk, or None. Raises OSError."""
    path = out / MANIFEST
    return path.read_bytes() if path.is_file() else None


def read_manifest(out: Path) -> tuple[dict[str, str], str | None] | None:
    """Return (path -> sha256, input sha256) of an existing tree, or None when there is no manifest.

    Raises OutputError when the manifest is not one of this program's.
    """
    path = out / MANIFEST
    hint = "restore it from version control, or choose an empty directory"
    try:
        data = manifest_bytes(out)
        if data is None:
            return None
        body = json.loads(data)
        files = dict(body["files"])
        digest = body["input_sha256"]
    except (OSError, ValueError, KeyError, TypeError, RecursionError) as error:
        raise OutputError(f"{path}: not a manifest of ailb-gen ({error}); {hint}") from error
    for name in files:
        parts = PurePosixPath(name).parts if isinstance(name, str) else ()
        if not parts or ".." in parts or PurePosixPath(name).is_absolute():
            raise OutputError(f"{path}: {name!r} is not a path inside the tree; {hint}")
    return files, digest
