"""The manifest of an output tree: what the program wrote there, by which edited files are known.

It holds an entry per path: the SHA-256 of a file in hexadecimal, `link:TARGET` for a symbolic link.
"""

import json
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path, PurePosixPath

from ailb_gen.errors import OutputError
from ailb_gen.layout import MANIFEST

LINK = "link:"
# The key of a manifest that says that its tree was collected from devices, and what of it.
COLLECTED = "collected"


def entry_of(data: bytes) -> str:
    """Return what a manifest holds of a file with this content."""
    return sha256(data).hexdigest()


def found_entry(path: Path) -> str:
    """Return what a manifest would hold of a path as it is on disk; empty for neither file nor link. Raises OSError."""
    if path.is_symlink():
        return f"{LINK}{path.readlink()}"
    return entry_of(path.read_bytes()) if path.is_file() else ""


def manifest_bytes(out: Path) -> bytes | None:
    """Return the manifest of a tree as it stands on disk, or None. Raises OSError."""
    path = out / MANIFEST
    return path.read_bytes() if path.is_file() else None


@dataclass(frozen=True, slots=True)
class Manifest:
    """What a manifest says: sha256 by path, fabric, sha256 of the input, and whether devices were read for it."""

    files: dict[str, str]
    fabric: str
    input_sha256: str | None
    collected: bool


def read_any(out: Path) -> Manifest | None:
    """Read the manifest of a tree that was generated or collected; None when there is none.

    Raises OutputError when the manifest is not one of this program's.
    """
    path = out / MANIFEST
    hint = "restore it from version control, or choose an empty directory"
    try:
        data = manifest_bytes(out)
        if data is None:
            return None
        body = json.loads(data)
        files = {str(name): str(digest) for name, digest in body["files"].items()}
        found = Manifest(files, str(body.get("fabric", "")), body["input_sha256"], COLLECTED in body)
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise OutputError(f"{path}: not a manifest of ailb-gen ({error}); {hint}") from error
    for name in found.files:
        parts = PurePosixPath(name).parts
        if not parts or ".." in parts or PurePosixPath(name).is_absolute():
            raise OutputError(f"{path}: {name!r} is not a path inside the tree; {hint}")
    return found


def read_generated(out: Path) -> Manifest | None:
    """Read the manifest of a generated tree. Raises OutputError as `read_any`, and for a tree that was collected."""
    found = read_any(out)
    if found is not None and found.collected:
        reason = "this is what 'ailb-gen collect' has read of devices, not what 'ailb-gen generate' wrote"
        raise OutputError(f"{out}: {reason}; name another directory")
    return found
