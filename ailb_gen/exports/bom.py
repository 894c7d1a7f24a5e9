"""The bill of materials as CSV, Markdown and JSON."""

from __future__ import annotations

import json
import re

from ailb_gen.exports.kind import ExportInput
from ailb_gen.exports.materials import Bill, BillRow, bill_of_materials
from ailb_gen.exports.places import read_places
from ailb_gen.textio import csv_text

COLUMNS = ("category", "description", "name", "part_number", "length_m", "used", "spares", "total")
_MARKUP = re.compile(r"[\\`*_\[\]~|&<>]")


def bom_csv(given: ExportInput) -> str:
    """Return the bill of materials as CSV."""
    return csv_text(COLUMNS, map(_cells, _bill(given).rows))


def bom_markdown(given: ExportInput) -> str:
    """Return the bill of materials as a page of Markdown."""
    lines = [f"| {' | '.join(map(_escaped, _cells(row)))} |" for row in _bill(given).rows]
    lines = [f"| {' | '.join(COLUMNS)} |", f"|{'---|' * len(COLUMNS)}", *lines]
    return f"# Bill of materials of {_escaped(given.design.name)}\n\n" + "\n".join(lines) + "\n"


def bom_json(given: ExportInput) -> str:
    """Return the bill of materials as JSON, with the counts that prove it."""
    bill = _bill(given)
    body = {
        "fabric": given.design.name,
        "media": given.printed.media,
        "spares_percent": given.printed.spares,
        "items": [dict(zip(COLUMNS, (*row.item, row.used, row.spares, row.total), strict=True)) for row in bill.rows],
        "proof": bill.proof._asdict(),
    }
    return json.dumps(body, indent=1, ensure_ascii=False) + "\n"


def _bill(given: ExportInput) -> Bill:
    printed = given.printed
    places = read_places(printed.racks, printed.lengths, given.design.roles)
    return bill_of_materials(given.design, places, printed.media, printed.spares)


def _cells(row: BillRow) -> tuple[str, ...]:
    return (*row.item, str(row.used), str(row.spares), str(row.total))


def _escaped(text: str) -> str:
    """Escape markup of Markdown and HTML: descriptions of platforms are free text."""
    return _MARKUP.sub(r"\\\g<0>", text)
