"""Where devices stand, and how long cables between racks are: two tables of the data center, as CSV.

`racks.csv` has the columns device, rack and unit (the lowest one, counted from 1); `lengths.csv` has a_rack, b_rack
and length_m, in meters. Racks are free text: it leaves these tables only through serializers.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Container, Iterator, Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from pathlib import Path
from typing import NamedTuple

from ailb_gen.errors import IntentError, Place, Problem
from ailb_gen.textio import read_text
from ailb_gen.wording import did_you_mean

RACK_COLUMNS = ("device", "rack", "unit")
LENGTH_COLUMNS = ("a_rack", "b_rack", "length_m")
MAX_RACK = 64
MAX_LENGTH_M = 10_000
# A spreadsheet takes a cell that begins like this for a formula.
FORMULA = re.compile(r"[=+@-]")
_UNIT = re.compile(r"[1-9][0-9]?", re.ASCII)
_LENGTH = re.compile(r"[0-9]{1,5}(?:\.[0-9]{1,2})?", re.ASCII)
_SEPARATOR = re.compile(r"[,;\t]")


class RackPosition(NamedTuple):
    """A rack, and the lowest unit of the device in it, None where that is not known."""

    rack: str
    unit: int | None

    def __str__(self) -> str:
        """Write both as people do: `R12 U40`."""
        return self.rack if self.unit is None else f"{self.rack} U{self.unit}"


NOWHERE = RackPosition("", None)


@dataclass(frozen=True, slots=True)
class Places:
    """Positions by device, and lengths in meters by pair of racks, in both orders."""

    positions: Mapping[str, RackPosition] = field(default_factory=dict)
    lengths: Mapping[tuple[str, str], Decimal] = field(default_factory=dict)

    def position(self, device: str) -> RackPosition:
        """Return where a device stands, NOWHERE if the table does not tell."""
        return self.positions.get(device, NOWHERE)

    def length_m(self, a: str, b: str) -> Decimal | None:
        """Return the length of a cable between two devices, None if the tables do not tell."""
        return self.lengths.get((self.position(a).rack, self.position(b).rack))


class _Cells(NamedTuple):
    values: tuple[str, ...]
    file: str
    line: int

    def wrong(self, code: str, column: int, reason: str, hint: str = "") -> Problem:
        return Problem(code, Place(self.file, self.line, column + 1), "", reason, hint)


def read_places(racks: Path | None, lengths: Path | None, devices: Mapping[str, str]) -> Places:
    """Read both tables; either may be missing. Raises IntentError with everything that is wrong in them."""
    problems: list[Problem] = []
    positions = _positions(racks, devices, problems) if racks else {}
    known = {position.rack for position in positions.values()}
    table = _lengths(lengths, known, problems) if lengths else {}
    if problems:
        raise IntentError(problems)
    return Places(positions, table)


def _positions(path: Path, devices: Mapping[str, str], problems: list[Problem]) -> dict[str, RackPosition]:
    found: dict[str, RackPosition] = {}
    for row in _rows(path, RACK_COLUMNS):
        device, rack, unit = row.values
        if device not in devices:
            hint = did_you_mean(device, devices)
            problems.append(row.wrong("unknown-device", 0, f"the fabric has no device {device[:80]!r}", hint))
        elif device in found:
            problems.append(row.wrong("duplicate-name", 0, f"{device} has two rows", "delete one"))
        problems += _rack_problems(row, 1, rack)
        if unit and not _UNIT.fullmatch(unit):
            problems.append(
                row.wrong("wrong-value", 2, f"{unit[:20]!r} is not a rack unit", "write 1 to 99, or nothing")
            )
        else:
            found[device] = RackPosition(rack, int(unit) if unit else None)
    return found


def _lengths(path: Path, racks: Container[str], problems: list[Problem]) -> dict[tuple[str, str], Decimal]:
    found: dict[tuple[str, str], Decimal] = {}
    for row in _rows(path, LENGTH_COLUMNS):
        a, b, text = row.values
        for column, rack in enumerate((a, b)):
            problems += _rack_problems(row, column, rack)
            if rack not in racks:
                hint = "racks of the file of --racks; is the name spelled as there?"
                problems.append(row.wrong("wrong-value", column, f"no device stands in rack {rack[:80]!r}", hint))
        if not _LENGTH.fullmatch(text) or not 0 < Decimal(text) <= MAX_LENGTH_M:
            hint = f"write up to {MAX_LENGTH_M} with at most two decimals, such as 12.5"
            problems.append(row.wrong("wrong-value", 2, f"{text[:20]!r} is not a length in meters", hint))
            continue
        if found.get((a, b), Decimal(text)) != Decimal(text):
            problems.append(row.wrong("duplicate-key", 2, f"{a} to {b} has two lengths", "delete one"))
        found[a, b] = found[b, a] = Decimal(text)
    return found


def _rack_problems(row: _Cells, column: int, rack: str) -> Iterator[Problem]:
    if not rack or len(rack) > MAX_RACK or not rack.isprintable():
        reason = f"{rack[:80]!r} is not the name of a rack"
        yield row.wrong("wrong-value", column, reason, f"write 1 to {MAX_RACK} printable characters")
    elif FORMULA.match(rack):
        reason = f"the rack {rack!r} begins with {rack[0]!r}, which spreadsheets take for a formula"
        yield row.wrong("wrong-value", column, reason, "begin with a letter or digit")


def _rows(path: Path, columns: tuple[str, ...]) -> Iterator[_Cells]:
    """Return the cells of the columns, row by row; a last column that is missing is empty. Raises IntentError."""
    name = str(path)
    text = read_text(path, name)
    separator = _SEPARATOR.search(text.partition("\n")[0])
    reader = csv.reader(io.StringIO(text, newline=""), strict=True, delimiter=separator[0] if separator else ",")
    try:
        header = [cell.strip().lower() for cell in next(reader, [])]
        missing = [column for column in columns if column not in header and column != "unit"]
        if missing:
            reason, hint = f"the column {missing[0]} is missing", f"the first line names {', '.join(columns)}"
            raise IntentError([Problem("missing-key", Place(name, 1), missing[0], reason, hint)])
        at = [header.index(column) if column in header else -1 for column in columns]
        for cells in reader:
            if not any(cell.strip() for cell in cells):
                continue
            if len(cells) != len(header):
                reason = f"the row has {len(cells)} cells, the header {len(header)}"
                raise IntentError([Problem("csv-row", Place(name, reader.line_num), "", reason)])
            yield _Cells(tuple(cells[i].strip() if i >= 0 else "" for i in at), name, reader.line_num)
    except csv.Error as error:
        raise IntentError([Problem("csv-row", Place(name, reader.line_num or 1), "", f"not CSV: {error}")]) from error
