"""The rows of the fabric's own files as records, so that what they say can be compared field by field.

Lines are found for the layout that `generate` writes: one line per value and per entry of a list. In any other layout
an entry has line 1.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple


class Record(NamedTuple):
    """One entry of a file: a device, a color, a link, a cable, or a value that stands alone.

    `kind` says which of these it is, `key` which one of its kind, `fields` what it says of it, as written.
    """

    kind: str
    key: str
    fields: Mapping[str, object]
    line: int = 1


def values(data: Mapping[str, object], lines: Sequence[str]) -> Iterator[Record]:
    """Iterate over the values of a JSON document that are neither lists nor objects."""
    for key, value in data.items():
        if not isinstance(value, list | dict):
            line = next((number for number, text in enumerate(lines, 1) if text.startswith(f' "{key}":')), 1)
            yield Record("value", key, {key: value}, line)


def entry_lines(data: Mapping[str, object], lines: Sequence[str]) -> dict[str, Sequence[int]]:
    """Return the lines of the entries of every list of a JSON document, by the list's name."""
    starts = [number for number, text in enumerate(lines, 1) if text.startswith("  {")]
    lists = {key: len(value) for key, value in data.items() if isinstance(value, list)}
    if len(starts) != sum(lists.values()):
        return {key: [1] * size for key, size in lists.items()}
    found: dict[str, Sequence[int]] = {}
    for key, size in lists.items():
        found[key], starts = starts[:size], starts[size:]
    return found
