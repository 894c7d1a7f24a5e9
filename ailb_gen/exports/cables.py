"""Tables of cables and devices."""

from __future__ import annotations

import csv
import io

from ailb_gen.exports.kind import ExportInput
from ailb_gen.render import fabric_files
from ailb_gen.textio import csv_text


def topology(given: ExportInput) -> str:
    """Return the fabric's `topology.json`."""
    return fabric_files.topology(given.design).decode()


def cabling(given: ExportInput) -> str:
    """Return the fabric's `cabling.csv`."""
    return fabric_files.cabling(given.design).decode()


def netbox_cables(given: ExportInput) -> str:
    """Return the cables in the columns of NetBox's import form for cables."""
    rows = csv.DictReader(io.StringIO(cabling(given)))
    columns = ("side_a_device", "side_a_type", "side_a_name", "side_b_device", "side_b_type", "side_b_name", "label")
    ends = ((row["color"], *row.values()) for row in rows)
    port = "dcim.interface"
    return csv_text(columns, ((a, port, a_port, b, port, b_port, color) for color, a, a_port, b, b_port, *_ in ends))
