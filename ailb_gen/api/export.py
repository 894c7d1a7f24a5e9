"""Exports of a design for other programs and for people, and those of extensions."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from ailb_gen.errors import UsageError
from ailb_gen.extensions import Extension, installed
from ailb_gen.wording import did_you_mean

if TYPE_CHECKING:
    from ailb_gen.design.model import Design
    from ailb_gen.exports.kind import ExportInput, Files, Kind

# Stands for all exports; not the name of one.
ALL = "all"


@cache
def kinds() -> dict[str, Kind]:
    """Return the kinds of exports of this program by name."""
    from ailb_gen.exports.registry import KINDS

    return {kind.name: kind for kind in KINDS}


def exports() -> dict[str, str]:
    """Return the names of all exports with their origin: empty for those of this program, else the distribution."""
    return dict.fromkeys(kinds(), "") | {extension.name: extension.origin for extension in installed("exports")}


def export_files(given: ExportInput, name: str) -> Files:
    """Return the files of an export of this program or of an extension.

    Raises UsageError for an unknown export and for a design that lacks a part of it, ExtensionError where an extension
    fails.
    """
    if name in kinds():
        return kinds()[name].write(given)
    return {name: _extension(name).text(given.design).encode()}


def _extension(name: str) -> Extension:
    for extension in installed("exports"):
        if extension.name == name:
            return extension
    names = [*exports()]
    raise UsageError(f"there is no export {name!r}; {did_you_mean(name, names) or 'there are ' + ', '.join(names)}")


def export(design: Design, name: str) -> str:
    """Return a design as text in the form of an export: one of this program's, or an extension's.

    Raises UsageError for an unknown export and for one that is not a single text, ExtensionError where an extension
    fails.
    """
    from ailb_gen.exports.kind import ExportInput

    files = export_files(ExportInput(design), name)
    try:
        (data,) = files.values()
        return data.decode()
    except ValueError:
        raise UsageError(f"{name} is not one text: it has {', '.join(files)}; use export_files") from None
