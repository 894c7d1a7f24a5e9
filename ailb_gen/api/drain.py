"""Taking parts out of service and back: entries of `drain` or `graceful_shutdown` in a fabric file, edited in place."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from ailb_gen.api.file_edits import EditedFiles, FileEdit, write_edits
from ailb_gen.api.inputs import fabric_file
from ailb_gen.errors import IntentError, Place, UsageError
from ailb_gen.progress import Warn, unheeded

if TYPE_CHECKING:
    from ailb_gen.design.capacity import CapacityLeft
    from ailb_gen.design.model import Design
    from ailb_gen.intent.drain import Drain


@dataclass(frozen=True, slots=True)
class DrainChange:
    """The edit of a fabric file, none where nothing changes, and what it means.

    `changed` are the entries that came or went, `present` the elements that were drained already. `capacity` is what
    pairs of leaves have left then, the least first. `written`: the file is as edited.
    """

    edits: tuple[FileEdit, ...]
    design: Design
    capacity: tuple[CapacityLeft, ...]
    changed: tuple[str, ...]
    present: tuple[str, ...]
    written: bool

    def diff(self) -> str:
        """Return a unified diff of the file; secrets are replaced."""
        return "".join(edit.diff() for edit in self.edits)


def drain(
    fabric: str | Path,
    elements: Sequence[str],
    *,
    graceful_shutdown: bool = False,
    floor: float = 0,
    write: bool = True,
    warn: Warn = unheeded,
) -> DrainChange:
    """Take devices, cables or colors out of service in a fabric file; comments, order and form of the file stay.

    With `graceful_shutdown` elements are spines: they go on forwarding, and their routes become the last choice. A
    spine that is out of service in the other way is moved. Elements that are drained already stay so. `floor` is the
    share of capacity, in percent, that every pair of leaves keeps, unless the elements take none. Raises UsageError
    when it would not, and for files that cannot be edited, IntentError for elements that the fabric lacks and drains
    that leave leaves without a path, OutputError.
    """
    from ailb_gen.intent.drain_entries import DRAIN, SHUTDOWN, add_entries, parse_elements

    files = EditedFiles()
    path, text = _read(files, fabric)
    key = SHUTDOWN if graceful_shutdown else DRAIN
    chosen = parse_elements(elements, key)
    after, new = add_entries(text, str(fabric), chosen, key)
    present = tuple(one for one in chosen if one not in new)
    design, capacity = _meaning(path, text, after, warn)
    least = capacity[0] if capacity else None
    if new and least is not None and least.is_under(floor) and capacity != _meaning(path, text, text, unheeded)[1]:
        near, far = least.example
        raise UsageError(
            f"{fabric}: {least.percent} % of the capacity between {near} and {far} would be left, less than the "
            f"{floor:g} % of --floor; nothing was written; undrain other parts first, or give a lower --floor"
        )
    files.put(path, after)
    return _result(files, design, capacity, new, present, write)


def undrain(
    fabric: str | Path,
    elements: Sequence[str],
    *,
    graceful_shutdown: bool = False,
    write: bool = True,
    warn: Warn = unheeded,
) -> DrainChange:
    """Put devices, cables or colors back into service in a fabric file; the rest of the file stays as it is.

    With `graceful_shutdown` elements are spines in graceful shutdown. Raises UsageError for what is not drained and
    files that cannot be edited, IntentError, OutputError.
    """
    from ailb_gen.intent.drain_entries import DRAIN, SHUTDOWN, parse_elements, remove_entries

    files = EditedFiles()
    path, text = _read(files, fabric)
    key = SHUTDOWN if graceful_shutdown else DRAIN
    chosen = parse_elements(elements, key)
    after = remove_entries(text, str(fabric), chosen, key)
    meaning = _meaning(path, text, after, warn)
    files.put(path, after)
    return _result(files, *meaning, chosen, (), write)


def _read(files: EditedFiles, fabric: str | Path) -> tuple[Path, str]:
    """Return a fabric file and its text.

    Keys and values are checked; whether they make a fabric is told of the result, since a drain may be what does not.
    """
    from ailb_gen.intent.load import parse

    path = fabric_file(Path(fabric))
    text = files.text(path)
    parse(text, str(fabric), path.parent)
    return path, text


def _meaning(path: Path, before: str, after: str, warn: Warn) -> tuple[Design, tuple[CapacityLeft, ...]]:
    """Return the design of the text after the edit, and the capacity left. Raises IntentError."""
    from ailb_gen.design.build import build
    from ailb_gen.design.capacity import capacity_left
    from ailb_gen.intent.drain_entries import OTHER
    from ailb_gen.intent.load import parse

    try:
        design, warnings = build(parse(after, str(path), path.parent))
    except IntentError as error:
        if before == after:
            raise
        # The lines of new entries are nowhere to be read.
        place = Place(f"{path} (not written)", 0)
        ours = tuple(f"{key.name}{end}" for key in OTHER for end in ("", "["))
        raise IntentError(
            replace(one, place=place) if one.path.startswith(ours) else one for one in error.problems
        ) from error
    for problem in warnings:
        warn(str(problem))
    return design, capacity_left(design)


def _result(
    files: EditedFiles,
    design: Design,
    capacity: tuple[CapacityLeft, ...],
    changed: Sequence[Drain],
    present: Sequence[Drain],
    write: bool,
) -> DrainChange:
    """Write the file if something changes, and return the change."""
    edits = files.edits()
    written = write and bool(edits)
    if written:
        write_edits(edits)
    return DrainChange(edits, design, capacity, tuple(map(str, changed)), tuple(map(str, present)), written)
