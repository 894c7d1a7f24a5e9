"""The manifest of an output tree: what the program wrote there, by which edited files are known.

It holds an entry per path: the SHA-256 of a file in hexadecimal, `link:TARGET` for a symbolic link. A copy
of a tree may have a folder with the files of the profile instead of a link: `cp -rL`, `scp -O -r` and some archives
follow links. Such a folder is as good as the link.
"""

import posixpath
from collections.abc import Mapping
from dataclasses import dataclass, replace
from hashlib import sha256
from pathlib import Path, PurePosixPath
from typing import Any, TypeVar

from ailb_gen.errors import OutputError
from ailb_gen.layout import MANIFEST
from ailb_gen.textio import parse_json

T = TypeVar("T")

LINK = "link:"
# The key of a manifest that says that its tree was collected from devices, and what of it.
COLLECTED = "collected"
# The key of a manifest of exports (True), and of what `monitoring` wrote (its name).
EXPORTED = "exported"


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
    """A manifest: `files` are entries by path, `collected` tells whether the tree was read from devices.

    `input_sha256` is that of the fabric file and its CSV files, None for a tree that was never generated as a whole.
    `followed` are links in whose place the tree on disk has a folder, with the profiles that they lead to; `here` are
    the entries of that tree.
    """

    body: Mapping[str, Any]
    files: dict[str, str]
    fabric: str
    input_sha256: str | None
    collected: bool
    followed: Mapping[str, str]
    here: Mapping[str, str]

    def lists(self, name: str, entry: str) -> bool:
        """Return whether a file with this entry matches the manifest."""
        return self.here.get(name) == entry


def target(path: str, link: str) -> str:
    """Return the path in a tree that a symbolic link at `path` leads to."""
    return posixpath.normpath(f"{posixpath.dirname(path)}/{link}")


def follow(entries: Mapping[str, T], followed: Mapping[str, str]) -> dict[str, T]:
    """Return the entries of a tree by path, with the files of their targets instead of the links `followed`."""
    if not followed:
        return dict(entries)
    below: dict[str, list[tuple[str, T]]] = {profile: [] for profile in followed.values()}
    for path, entry in entries.items():
        folder = "/".join(path.split("/", 2)[:2])
        if folder in below:
            below[folder].append((path.removeprefix(folder), entry))
    found = {path: entry for path, entry in entries.items() if path not in followed}
    for link, profile in followed.items():
        if link in entries:
            found |= {f"{link}{rest}": entry for rest, entry in below[profile]}
    return found


def parse(text: str | bytes, out: Path) -> Manifest:
    """Read the text of the manifest of the tree in `out`. Raises ValueError when it is not one of this program's."""
    try:
        body = parse_json(text)
        files = {str(name): str(entry) for name, entry in body["files"].items()}
        found = Manifest(
            body, files, str(body.get("fabric", "")), body.get("input_sha256"), COLLECTED in body, {}, files
        )
    except (KeyError, TypeError, AttributeError, RecursionError) as error:
        raise ValueError(str(error)) from error
    for name in files:
        path = PurePosixPath(name)
        if not path.parts or ".." in path.parts or path.is_absolute():
            raise ValueError(f"{name!r} is not a path inside the tree")
    followed = {
        name: target(name, entry.removeprefix(LINK))
        for name, entry in files.items()
        if entry.startswith(LINK) and not (out / name).is_symlink() and (out / name).is_dir()
    }
    return replace(found, followed=followed, here=follow(files, followed))


def cluster_above(folder: Path) -> str | None:
    """Return the name of the cluster whose directory has this folder of a fabric; None for any other folder."""
    place = folder.resolve()
    try:
        above = read_any(place.parent)
    except OutputError:
        return None
    return above.fabric if above is not None and f"{place.name}/{MANIFEST}" in above.files else None


def read_any(out: Path) -> Manifest | None:
    """Read the manifest of a tree that was generated or collected; None when there is none.

    Raises OutputError when the manifest is not one of this program's.
    """
    try:
        data = manifest_bytes(out)
        return parse(data, out) if data is not None else None
    except (OSError, ValueError) as error:
        hint = "restore it from version control, or choose an empty directory"
        raise OutputError(f"{out / MANIFEST}: not a manifest of ailb-gen ({error}); {hint}") from error


def read_generated(out: Path) -> Manifest | None:
    """Read the manifest of a generated tree. Raises OutputError as `read_any`, and for what another command wrote."""
    found = read_any(out)
    if found is not None and (found.collected or EXPORTED in found.body):
        exported = "monitoring" if found.body.get(EXPORTED) == "monitoring" else "export"
        command = "collect" if found.collected else exported
        reason = f"this directory was written by 'ailb-gen {command}', not by 'ailb-gen generate'"
        raise OutputError(f"{out}: {reason}; name another directory")
    return found
