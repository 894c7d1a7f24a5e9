"""The folder of `ailb-gen export all` or `monitoring`: it holds the files of the last run, and none of an older one."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

from ailb_gen.errors import OutputError
from ailb_gen.layout import MANIFEST
from ailb_gen.manifest import EXPORTED, entry_of, manifest_bytes, read_any
from ailb_gen.render.artifacts import Artifact
from ailb_gen.render.compare import compare
from ailb_gen.render.generate import holds_something
from ailb_gen.render.writer import check_target, recover, write

# What a folder holds, in its manifest and in messages.
EXPORTS, MONITORING = "exports", "monitoring files"
_MARKS: Mapping[str, object] = {EXPORTS: True, MONITORING: "monitoring"}


def write_folder(out: Path, fabric: str, files: Mapping[str, bytes], what: str = EXPORTS) -> None:
    """Write files into a folder as a whole, with a manifest, and remove what the last run wrote and this one did not.

    Other files stay. Raises OutputError for a folder of another fabric or of something else than `what`, and for one
    that has files but no manifest.
    """
    place = check_target(out)
    recover(place)
    seen = manifest_bytes(place) if place.is_dir() else None
    before = read_any(place)
    held = before.body.get(EXPORTED) if before is not None else None
    if (before is None and holds_something(place)) or (before is not None and held != _MARKS[what]):
        raise OutputError(f"{out}: the directory is not empty and has no {what} of ailb-gen; choose an empty one")
    if before is not None and before.fabric != fabric:
        reason = f"the directory holds {what} of the fabric {before.fabric!a}, and {fabric!a} would replace them"
        raise OutputError(f"{out}: {reason}; choose another one")
    body = {
        EXPORTED: _MARKS[what],
        "fabric": fabric,
        "files": {path: entry_of(data) for path, data in sorted(files.items())},
    }
    tree = {path: Artifact(data) for path, data in files.items()}
    tree[MANIFEST] = Artifact(f"{json.dumps(body, indent=1)}\n".encode())
    stale = set(before.files if before is not None else ()) - set(tree)
    write(place, tree, compare(place, tree, stale), seen)
