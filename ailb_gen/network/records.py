"""What topology and cabling say, entry by entry: kept as plain rows, and as a record when somebody asks for it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

COLUMNS = ("a_device", "a_port", "b_device", "b_port", "speed", "kind", "color", "rail")
LINK = ("leaf", "leaf_port", "spine", "spine_port", "color", "speed")
# The cells of an entry that has all columns of its kind in order, else what it says by key.
Row = tuple[str, ...] | Mapping[str, object]


class Record(NamedTuple):
    """One entry of a file: a device, a color, a link, a cable, or a value that stands alone.

    `kind` says which of these it is, `key` which one of its kind, `fields` what it says of it, as written.
    """

    kind: str
    key: str
    fields: Mapping[str, object]
    line: int = 1


def _name(fields: Mapping[str, object]) -> str:
    return str(fields["name"])


def _cable(fields: Mapping[str, object]) -> str:
    """Return what has one cable only by its nature: a leaf's port towards a spine, else the NIC."""
    return _joined(fields, COLUMNS[:2] if fields["kind"] == "fabric" else COLUMNS[2:4])


def _joined(fields: Mapping[str, object], columns: tuple[str, ...]) -> str:
    return " ".join(str(fields[column]) for column in columns)


KEYS: Mapping[str, Callable[[Mapping[str, object]], str]] = {
    "value": lambda fields: next(iter(fields)),
    "color": _name,
    "device": _name,
    "link": lambda fields: _joined(fields, LINK[:2]),
    "cable": _cable,
}
ROW_COLUMNS = {"link": LINK, "cable": COLUMNS}


@dataclass(frozen=True, slots=True)
class Rows:
    """Entries of one kind, a key of KEYS, in their order, with the line of each; without `lines` all have line 1."""

    kind: str
    values: Sequence[Row]
    lines: Sequence[int] = ()

    def identity(self, row: Row) -> object:
        """Return what tells a row from the others of the kind: its cells, else its key."""
        return row if isinstance(row, tuple) else KEYS[self.kind](row)

    def record(self, number: int) -> Record:
        """Return an entry by its number, from 0."""
        row = self.values[number]
        fields = dict(zip(ROW_COLUMNS[self.kind], row, strict=True)) if isinstance(row, tuple) else row
        return Record(self.kind, KEYS[self.kind](fields), fields, self.lines[number] if self.lines else 1)

    def __iter__(self) -> Iterator[Record]:
        return map(self.record, range(len(self.values)))


@dataclass(frozen=True, slots=True)
class Records:
    """The entries of a file, kind by kind."""

    parts: tuple[Rows, ...] = ()

    def of(self, kind: str) -> Rows:
        """Return the entries of a kind."""
        return next((rows for rows in self.parts if rows.kind == kind), Rows(kind, ()))

    def __iter__(self) -> Iterator[Record]:
        return (record for rows in self.parts for record in rows)

    def __len__(self) -> int:
        return sum(len(rows.values) for rows in self.parts)


NO_RECORDS = Records()
