"""The rack-and-stack list as PDF: pages with check boxes, a chapter per group, to hand out and tick off."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ailb_gen.exports.kind import ExportInput, Files
from ailb_gen.exports.paper import A4, MM, Paper
from ailb_gen.exports.rack_list import DeviceWork, PortWork, WorkGroup, work_groups

# The area that A4 and US Letter share inside margins of 12 mm.
LEFT, TOP, BOTTOM, WIDTH = 12 * MM, A4[1] - 22 * MM, 22 * MM, 186 * MM
ROW = 5.2 * MM
ROWS = int((TOP - BOTTOM) / ROW) - 2
# Columns of a port: heading, left edge and width in mm; the box comes first.
_COLUMNS = (
    ("port", 6, 21),
    ("cable", 28, 22),
    ("to device", 51, 38),
    ("port", 90, 20),
    ("rack", 111, 19),
    ("m", 131, 7),
    ("mark", 139, 14),
    ("optic", 154, 32),
)


def pages(given: ExportInput) -> Files:
    """Return `racks.pdf`. Raises MissingExtraError without reportlab, IntentError and UsageError for options."""
    paper = Paper("export racks-pdf", given.printed.font, A4, f"Rack-and-stack list of {given.design.name}")
    groups = work_groups(given)
    paper.check({device.position.rack for group in groups for device in group.devices})
    with given.progress("drawing lists", len(groups)) as advance:
        for group in groups:
            sheets = list(_sheets(group))
            paper.canvas.bookmarkPage(group.name)
            paper.canvas.addOutlineEntry(group.name, group.name)
            for number, rows in enumerate(sheets, 1):
                _page(paper, f"{given.design.name}: {group.name}", f"page {number} of {len(sheets)}", rows)
            advance(1)
    return {"racks.pdf": paper.finish()}


# A device, a port of it, or the heading of a device that began on the page before.
Row = DeviceWork | PortWork | str


def _sheets(group: WorkGroup) -> Iterator[Sequence[Row]]:
    """Return the rows of every page; a device begins on a new page where no port of it fits below."""
    rows: list[Row] = []
    for device in group.devices:
        if len(rows) >= ROWS - bool(device.ports):
            yield rows
            rows = []
        rows.append(device)
        for port in device.ports:
            if len(rows) == ROWS:
                yield rows
                rows = [f"{device.order}. {device.device}, continued"]
            rows.append(port)
    yield rows


def _page(paper: Paper, title: str, number: str, rows: Sequence[Row]) -> None:
    paper.fitted(LEFT, TOP + 4 * MM, title, 13, WIDTH - 40 * MM, bold=True)
    paper.text(LEFT + WIDTH - paper.width(number) * 9, TOP + 4 * MM, number, 9)
    y = TOP - ROW
    for heading, left, _ in _COLUMNS:
        paper.text(LEFT + left * MM, y + 1.5 * MM, heading, 7, bold=True)
    for row in rows:
        y -= ROW
        if isinstance(row, DeviceWork):
            _device(paper, y, row)
        elif isinstance(row, str):
            paper.fitted(LEFT + 6 * MM, y + 1.6 * MM, row, 8, WIDTH - 6 * MM)
        else:
            _port(paper, y, row)
    paper.text(LEFT, BOTTOM - 10 * MM, "Name: ______________________   Date: ______________   Signature:", 9)
    paper.canvas.showPage()


def _box(paper: Paper, y: float) -> None:
    paper.canvas.rect(LEFT + 0.5 * MM, y + 1 * MM, 3 * MM, 3 * MM)


def _device(paper: Paper, y: float, device: DeviceWork) -> None:
    canvas = paper.canvas
    canvas.setFillGray(0.88)
    canvas.rect(LEFT, y, WIDTH, ROW, stroke=0, fill=1)
    canvas.setFillGray(0)
    _box(paper, y)
    base = y + 1.6 * MM
    paper.fitted(LEFT + 6 * MM, base, f"{device.order}. {device.device}", 9, 72 * MM, bold=True)
    paper.fitted(LEFT + 80 * MM, base, device.model or device.role, 8, 34 * MM)
    paper.fitted(LEFT + 116 * MM, base, str(device.position), 8, 26 * MM)
    paper.text(LEFT + 144 * MM, base, "S/N ________________", 8)


def _port(paper: Paper, y: float, work: PortWork) -> None:
    _box(paper, y)
    cable, there = work.cable.cable, work.there
    cells = (work.here.port, cable.id, there.device, there.port, str(there.position), work.cable.length, cable.mark)
    for (_, left, width), cell in zip(_COLUMNS, (*cells, work.optic), strict=True):
        paper.fitted(LEFT + left * MM, y + 1.6 * MM, cell, 7.5, width * MM)
