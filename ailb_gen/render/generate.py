"""The whole of `generate` without printing: render, compare, and write what changed."""

import os
from collections.abc import Callable, Mapping
from concurrent.futures import Executor
from dataclasses import dataclass
from pathlib import Path

from ailb_gen.design.model import Design
from ailb_gen.errors import OutputError
from ailb_gen.layout import MANIFEST, owner
from ailb_gen.manifest import Manifest, cluster_above, follow, manifest_bytes, read_generated, target
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
    cluster = cluster_above(out)
    if cluster is not None:
        reason = f"this is the folder of a fabric of the cluster {cluster!r}, beside which the servers of all are"
        raise OutputError(f"{out}: {reason}; generate the cluster file, or choose another -o")
    there = _there(out, show_only)
    before = there.manifest
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
    return _compared(there, tree, kept, design.name, links)


def cluster_rendering(
    whole: Design,
    parts: Mapping[str, Callable[[], Tree]],
    out: Path,
    options: RenderOptions,
    show_only: bool = False,
    links: bool | None = None,
) -> Rendering:
    """Compare the rendered tree of a cluster with the tree in `out`.

    `parts` render the folder of each fabric by its name, `whole` has the servers of all. Raises as `rendering`.
    """
    there = _there(out, show_only)
    tree = {f"{name}/{path}": artifact for name, part in parts.items() for path, artifact in part().items()}
    tree |= render(whole, options, {server.name for server in whole.servers})
    tree[MANIFEST] = Artifact(manifest(tree, whole, {}, whole.digest))
    return _compared(there, tree, {}, whole.name, links)


def fabric_part(
    design: Design,
    options: RenderOptions,
    progress: Callable[[int], None] = lambda count: None,
    executor: Executor | None = None,
) -> Tree:
    """Render a fabric of a cluster: all but its servers. Raises TemplateError."""
    tree = render(design, options, {switch.name for switch in design.switches}, progress, executor)
    add_fabric_files(tree, design)
    tree[MANIFEST] = Artifact(manifest(tree, design, {}, design.digest))
    return tree


@dataclass(frozen=True, slots=True)
class _There:
    """A tree that stands on disk: its real path, its manifest if there is one, and the text of that."""

    place: Path
    manifest: Manifest | None
    seen: bytes | None


def _there(out: Path, show_only: bool) -> _There:
    """Return the tree in `out`, after a killed run was put in order. Raises OutputError for a tree of others."""
    place = check_target(out)
    if not show_only:
        recover(place)
    seen = manifest_bytes(place) if place.is_dir() else None
    before = read_generated(place)
    if before is None and holds_something(place):
        reason = "the directory is not empty and was not written by ailb-gen (it has no manifest.json)"
        raise OutputError(f"{out}: {reason}; choose an empty one")
    return _There(place, before, seen)


def _compared(there: _There, tree: Tree, kept: dict[str, str], name: str, links: bool | None) -> Rendering:
    """Return the rendering of a tree beside `kept` files, which are not touched."""
    before = there.manifest
    if before is not None:
        kept = follow(kept, before.followed)
    tree = follow(tree, _followed(tree, before, links))
    stale = set(before.here if before is not None else ()) - set(tree) - set(kept)
    return Rendering(there.place, tree, compare(there.place, tree, stale), there.seen, name, before)


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
