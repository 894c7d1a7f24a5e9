"""Taking parts out of service and back: the entries of `drain` in a fabric file, edited in place."""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from ailb_gen.api.inputs import fabric_file
from ailb_gen.atomic import replace_file
from ailb_gen.errors import IntentError, OutputError, Place, UsageError
from ailb_gen.progress import Warn, unheeded
from ailb_gen.textio import read_bytes, text_of

if TYPE_CHECKING:
    from ailb_gen.design.capacity import CapacityLeft
    from ailb_gen.design.model import Design
    from ailb_gen.intent.drain import Drain

BYTE_ORDER_MARK = "\ufeff"


@dataclass(frozen=True, slots=True)
class DrainChange:
    """A fabric file before and after an edit, and what the edit means.

    `changed` are the entries that came or went, `present` the elements that were drained already. `capacity` is what
    pairs of leaves have left then, the least first. `written`: the file is as in `after`.
    """

    file: Path
    before: str
    after: str
    design: Design
    capacity: tuple[CapacityLeft, ...]
    changed: tuple[str, ...]
    present: tuple[str, ...]
    written: bool

    def diff(self) -> str:
        """Return a unified diff of the file; secrets are replaced."""
        from ailb_gen.redact.files import redact_file

        old, new = (text.splitlines(keepends=True) for text in (self.before, self.after))
        lines = difflib.unified_diff(old, new, f"a/{self.file.name}", f"b/{self.file.name}")
        whole = (one if one.endswith("\n") else f"{one}\n\\ No newline at end of file\n" for one in lines)
        return redact_file(self.file.name, "".join(whole))


def drain(
    fabric: str | Path, elements: Sequence[str], *, floor: float = 0, write: bool = True, warn: Warn = unheeded
) -> DrainChange:
    """Take devices, cables or colors out of service in a fabric file; comments, order and form of the file stay.

    Elements that are drained already stay so. `floor` is the share of capacity, in percent, that every pair of leaves
    keeps, unless the elements take none. Raises UsageError when it would not, and for files that cannot be edited,
    IntentError for elements that the fabric lacks and drains that leave leaves without a path, OutputError.
    """
    from ailb_gen.intent.drain_entries import add_entries, parse_elements

    path, data, text = _read(fabric)
    chosen = parse_elements(elements)
    after, new = add_entries(text, str(fabric), chosen)
    present = tuple(one for one in chosen if one not in new)
    design, capacity = _meaning(path, text, after, warn)
    least = capacity[0] if capacity else None
    if new and least is not None and least.is_under(floor) and capacity != _meaning(path, text, text, unheeded)[1]:
        near, far = least.example
        raise UsageError(
            f"{fabric}: {least.percent} % of the capacity between {near} and {far} would be left, less than the "
            f"{floor:g} % of --floor; nothing was written; undrain other parts first, or give a lower --floor"
        )
    return _result(path, data, text, after, design, capacity, new, present, write)


def undrain(fabric: str | Path, elements: Sequence[str], *, write: bool = True, warn: Warn = unheeded) -> DrainChange:
    """Put devices, cables or colors back into service in a fabric file; the rest of the file stays as it is.

    Raises UsageError for what is not drained and files that cannot be edited, IntentError, OutputError.
    """
    from ailb_gen.intent.drain_entries import parse_elements, remove_entries

    path, data, text = _read(fabric)
    chosen = parse_elements(elements)
    after = remove_entries(text, str(fabric), chosen)
    return _result(path, data, text, after, *_meaning(path, text, after, warn), chosen, (), write)


def _read(fabric: str | Path) -> tuple[Path, bytes, str]:
    """Return a fabric file, what it holds, and its text without a byte order mark.

    Keys and values are checked; whether they make a fabric is told of the result, since a drain may be what does not.
    """
    from ailb_gen.intent.load import parse

    path = fabric_file(Path(fabric))
    data = read_bytes(path, str(fabric))
    text = text_of(data, str(fabric))
    parse(text, str(fabric), path.parent)
    return path, data, text


def _meaning(path: Path, before: str, after: str, warn: Warn) -> tuple[Design, tuple[CapacityLeft, ...]]:
    """Return the design of the text after the edit, and the capacity left. Raises IntentError."""
    from ailb_gen.design.build import build
    from ailb_gen.design.capacity import capacity_left
    from ailb_gen.intent.drain_entries import KEY
    from ailb_gen.intent.load import parse

    try:
        design, warnings = build(parse(after, str(path), path.parent))
    except IntentError as error:
        if before == after:
            raise
        # The lines of new entries are nowhere to be read.
        place = Place(f"{path} (not written)", 0)
        ours = tuple(f"{KEY}{end}" for end in ("", "["))
        raise IntentError(
            replace(one, place=place) if one.path.startswith(ours) else one for one in error.problems
        ) from error
    for problem in warnings:
        warn(str(problem))
    return design, capacity_left(design)


def _result(
    path: Path,
    data: bytes,
    before: str,
    after: str,
    design: Design,
    capacity: tuple[CapacityLeft, ...],
    changed: Sequence[Drain],
    present: Sequence[Drain],
    write: bool,
) -> DrainChange:
    """Write the file if something changes, and return the change."""
    written = write and before != after
    if written:
        mark = BYTE_ORDER_MARK if data.startswith(BYTE_ORDER_MARK.encode()) else ""
        _write(path, data, f"{mark}{after}".encode())
    return DrainChange(
        path, before, after, design, capacity, tuple(map(str, changed)), tuple(map(str, present)), written
    )


def _write(path: Path, before: bytes, after: bytes) -> None:
    """Replace a file that is still as it was read; a link to it stays one."""
    if read_bytes(path, str(path)) != before:
        raise UsageError(
            f"{path}: the file was changed by another program meanwhile; nothing was written; run it again"
        )
    try:
        replace_file(path.resolve(), after)
    except OSError as error:
        raise OutputError(f"{path}: cannot write the file: {error.strerror}; it is unchanged") from error
