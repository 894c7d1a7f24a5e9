"""Where devices stand, and how long cables between racks are: two tables of the data center, as CSV.

`racks.csv` has the columns device, rack and unit (the lowest one, counted from 1); `lengths.csv` has a_rack, b_rack
and length_m, in meters. Racks are free text: it leaves these tables only through serializers.
"""

from __future__ import annotations

import re
from collections.abc import Container, Iterator, Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from pathlib import Path
from typing import NamedTuple

from ailb_gen.errors import IntentError, Problem
from ailb_gen.intent.csv_table import Columns, TableRow, table_rows
from ailb_gen.textio import read_text
from ailb_gen.wording import did_you_mean

# Tables of a data center often have more columns.
_OTHERS = re.compile(".")
RACKS = Columns(("device", "rack", "unit"), ("device", "rack"), "devices", 1_000_000, _OTHERS, most=100)
LENGTHS = Columns(
    ("a_rack", "b_rack", "length_m"), ("a_rack", "b_rack", "length_m"), "lengths", 1_000_000, _OTHERS, most=100
)
MAX_RACK = 64
MAX_LENGTH_M = 10_000
# A spreadsheet takes a cell that begins like this for a formula.
FORMULA = re.compile(r"[=+@-]")
_UNIT = re.compile(r"[1-9][0-9]?", re.ASCII)
_LENGTH = re.compile(r"[0-9]{1,5}(?:\.[0-9]{1,2})?", re.ASCII)


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
    for row in table_rows(read_text(path, str(path)), str(path), RACKS, problems):
        device, rack, unit = row.cells["device"], row.cells["rack"], row.cells.get("unit", "")
        if device not in devices:
            hint = did_you_mean(device, devices)
            problems.append(row.problem("unknown-device", "device", f"the fabric has no device {device[:80]!r}", hint))
        elif device in found:
            problems.append(row.problem("duplicate-name", "device", f"{device} has two rows", "delete one"))
        problems += _rack_problems(row, "rack")
        if unit and not _UNIT.fullmatch(unit):
            reason = f"{unit[:20]!r} is not a rack unit"
            problems.append(row.problem("wrong-value", "unit", reason, "write 1 to 99, or nothing"))
        else:
            found[device] = RackPosition(rack, int(unit) if unit else None)
    return found


def _lengths(path: Path, racks: Container[str], problems: list[Problem]) -> dict[tuple[str, str], Decimal]:
    found: dict[tuple[str, str], Decimal] = {}
    for row in table_rows(read_text(path, str(path)), str(path), LENGTHS, problems):
        a, b, text = (row.cells[column] for column in LENGTHS.names)
        for column, rack in (("a_rack", a), ("b_rack", b)):
            problems += _rack_problems(row, column)
            if rack not in racks:
                hint = "racks of the file of --racks; is the name spelled as there?"
                problems.append(row.problem("wrong-value", column, f"no device stands in rack {rack[:80]!r}", hint))
        if not _LENGTH.fullmatch(text) or not 0 < Decimal(text) <= MAX_LENGTH_M:
            hint = f"write up to {MAX_LENGTH_M} with at most two decimals, such as 12.5"
            problems.append(row.problem("wrong-value", "length_m", f"{text[:20]!r} is not a length in meters", hint))
            continue
        if found.get((a, b), Decimal(text)) != Decimal(text):
            problems.append(row.problem("duplicate-key", "length_m", f"{a} to {b} has two lengths", "delete one"))
        found[a, b] = found[b, a] = Decimal(text)
    return found


def _rack_problems(row: TableRow, column: str) -> Iterator[Problem]:
    rack = row.cells[column]
    if len(rack) > MAX_RACK or not rack.isprintable():
        reason = f"{rack[:80]!r} is not the name of a rack"
        yield row.problem("wrong-value", column, reason, f"write 1 to {MAX_RACK} printable characters")
    elif FORMULA.match(rack):
        reason = f"the rack {rack!r} begins with {rack[0]!r}, which spreadsheets take for a formula"
        yield row.problem("wrong-value", column, reason, "begin with a letter or digit")
