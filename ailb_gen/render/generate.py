"""The whole of `generate` without printing: render, compare, and write what changed."""

import os
from collections.abc import Callable, Mapping
from concurrent.futures import Executor
from dataclasses import dataclass
from pathlib import Path

from ailb_gen.design.model import Design
from ailb_gen.errors import OutputError
from ailb_gen.layout import MANIFEST, owner
from ailb_gen.manifest import Manifest, follow, manifest_bytes, read_generated, target
from ailb_gen.render.artifacts import LINK, Artifact, RenderOptions, Tree, render
from ailb_gen.render.compare import Changes, compare
from ailb_gen.render.fabric_files import add_fabric_files, manifest
from ailb_gen.render.writer import check_target, recover, write


@dataclass(frozen=True, slots=True)
class Rendering:
    """A rendered tree of `fabric`, and how it differs from the tree in `target`.

    `before` is the manifest of the tree in `target`, if there is one, and `seen` its text.
    """

    target: Path
    tree: Tree
    changes: Changes
    seen: bytes | None
    fabric: str
    before: Manifest | None


def rendering(
    design: Design,
    out: Path,
    options: RenderOptions,
    selected: set[str] | None = None,
    progress: Callable[[int], None] = lambda count: None,
    executor: Executor | None = None,
    show_only: bool = False,
    links: bool | None = None,
) -> Rendering:
    """Render the design, or the selected devices of it, and compare it with the tree in `out`.

    With `selected`, only files of those devices and their profiles are touched, and the manifest. With `show_only`
    nothing is, not even what a killed run has left. `links` tells whether servers that share a profile are links to it
    or folders with its files; None leaves those that are there as they are, and others are links.
    Raises TemplateError, OutputError.
    """
    place = check_target(out)
    if not show_only:
        recover(place)
    seen = manifest_bytes(place) if place.is_dir() else None
    before = read_generated(place)
    if before is None and holds_something(place):
        reason = "the directory is not empty and was not written by ailb-gen (it has no manifest.json)"
        raise OutputError(f"{out}: {reason}; choose an empty one")
    old_files, old_digest = (before.files, before.input_sha256) if before is not None else ({}, None)
    tree = render(design, options, selected, progress, executor)
    if selected is None:
        add_fabric_files(tree, design)
        kept: dict[str, str] = {}
        digest: str | None = design.digest
    else:
        touched = {owner(path) for path in tree}
        kept = {path: sha for path, sha in old_files.items() if path not in tree and owner(path) not in touched}
        digest = old_digest
    tree[MANIFEST] = Artifact(manifest(tree, design, kept, digest))
    if before is not None:
        kept = follow(kept, before.followed)
    tree = follow(tree, _followed(tree, before, links))
    stale = set(before.here if before is not None else ()) - set(tree) - set(kept)
    return Rendering(place, tree, compare(place, tree, stale), seen, design.name, before)


def _followed(tree: Tree, before: Manifest | None, links: bool | None) -> Mapping[str, str]:
    """Return the links of a tree that are to be folders instead, with their targets."""
    if links is None:
        return before.followed if before is not None else {}
    return (
        {}
        if links
        else {path: target(path, os.fsdecode(one.content)) for path, one in tree.items() if one.mode == LINK}
    )


def write_rendering(planned: Rendering, replace_fabric: bool = False) -> None:
    """Write what a plan found to differ. Raises OutputError; for another fabric's tree unless it may be replaced."""
    found = planned.before.fabric if planned.before is not None else ""
    if found not in ("", planned.fabric) and not replace_fabric:
        reason = f"the directory holds the fabric {found!a}, and {planned.fabric!a} would replace it"
        hint = "choose another -o, or give --replace-fabric if the fabric was renamed"
        raise OutputError(f"{planned.target}: {reason}; {hint}")
    write(planned.target, planned.tree, planned.changes, planned.seen)


def holds_something(folder: Path) -> bool:
    """Return whether a directory is there and has files. Raises OutputError."""
    try:
        return folder.exists() and any(folder.iterdir())
    except OSError as error:
        raise OutputError(f"{folder}: cannot read the directory: {error.strerror}") from error
