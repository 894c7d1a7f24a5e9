"""Labels of all cables as PDF: a label per end, on sheets of labels or on a roll."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import groupby

from ailb_gen.exports.cable_labels import LabeledCable, label_lines, labeled
from ailb_gen.exports.kind import ExportInput, Files
from ailb_gen.exports.paper import A4, LETTER, MM, Paper

INCH = 72.0
# Free on each side of a label, and of the fold of a flag.
PADDING = 0.9 * MM
# Modules of a QR code of version 1 in each direction, and those that ISO/IEC 18004 leaves free on each side.
MODULES, QUIET = 21, 4


@dataclass(frozen=True, slots=True)
class LabelSheet:
    """A sheet of labels in points: the first label's left and upper margin, steps from one to the next.

    A `flag` is folded around the cable: its text stands on both halves, with room for the cable between them.
    """

    page: tuple[float, float]
    columns: int
    rows: int
    width: float
    height: float
    left: float
    top: float
    step_x: float
    step_y: float
    largest: float
    wrap: float = 0.0


# Avery publishes no list of sizes. L4731, and margin and step of 5160 and 5167: paperless-asn-qr-codes 0.6 on PyPI
# (avery_labels.py). gLabels 3.4 (avery-us-templates.xml) has the same sizes of labels, and steps of 2.78125 and 2.0625
# inches: no label differs by more than 0.8 mm. The flag's size is our own, one label per page for printers with rolls:
# 25 mm each side of the 20 mm that go around the cable.
LABEL_SHEETS = {
    "l4731": LabelSheet(A4, 7, 27, 25.4 * MM, 10 * MM, 9 * MM, 13.5 * MM, 27.9 * MM, 10 * MM, 6),
    "5160": LabelSheet(LETTER, 3, 10, 2.625 * INCH, INCH, 0.1875 * INCH, 0.5 * INCH, 2.75 * INCH, INCH, 11),
    "5167": LabelSheet(LETTER, 4, 20, 1.75 * INCH, 0.5 * INCH, 0.3 * INCH, 0.5 * INCH, 2.05 * INCH, 0.5 * INCH, 8),
    "flag": LabelSheet((70 * MM, 15 * MM), 1, 1, 70 * MM, 15 * MM, 0, 0, 0, 0, 7, wrap=20 * MM),
}


def pages(given: ExportInput) -> Files:
    """Return `cable-labels.pdf`: both labels of a cable after each other, cables in the order of `cabling.csv`.

    Raises MissingExtraError without reportlab, IntentError and UsageError for options and tables.
    """
    sheet, printed = LABEL_SHEETS[given.printed.sheet], given.printed
    paper = Paper("export cable-labels-pdf", printed.font, sheet.page, f"Cable labels of {given.design.name}")
    cables = list(labeled(given))
    paper.check({end.position.rack for one in cables for end in (one.cable.a, one.cable.b)})
    per_page = sheet.columns * sheet.rows
    with given.progress("drawing labels", 2 * len(cables)) as advance:
        for number, (one, side) in enumerate((one, side) for one in cables for side in (0, 1)):
            if number and number % per_page == 0:
                paper.canvas.showPage()
            row, column = divmod(number % per_page, sheet.columns)
            left = sheet.left + column * sheet.step_x
            bottom = sheet.page[1] - sheet.top - row * sheet.step_y - sheet.height
            _label(paper, sheet, left, bottom, one, side, qr=printed.qr)
            advance(1)
    return {"cable-labels.pdf": paper.finish()}


def _label(
    paper: Paper, sheet: LabelSheet, left: float, bottom: float, one: LabeledCable, side: int, *, qr: bool
) -> None:
    lines = label_lines(one, side)
    half = (sheet.width - sheet.wrap) / 2 if sheet.wrap else sheet.width
    for start in (left, left + half + sheet.wrap) if sheet.wrap else (left,):
        height = sheet.height - 2 * PADDING
        width = half - 2 * PADDING
        if qr:
            whole = min(sheet.height, half * 0.45)
            free = whole * QUIET / (MODULES + 2 * QUIET)
            left_of_code = start + half - whole + free
            _code(paper, left_of_code, bottom + (sheet.height - whole) / 2 + free, whole - 2 * free, one.cable.id)
            width = half - whole - PADDING
        paper.block((start + PADDING, bottom + PADDING, width, height), lines, sheet.largest)


def _code(paper: Paper, left: float, bottom: float, size: float, text: str) -> None:
    """Draw the QR code of an id; the labels of both ends share its drawing."""
    canvas = paper.canvas
    if not canvas.hasForm(text):
        _draw_code(paper, text)
    canvas.saveState()
    canvas.translate(left, bottom)
    canvas.scale(size / MODULES, size / MODULES)
    canvas.doForm(text)
    canvas.restoreState()


def _draw_code(paper: Paper, text: str) -> None:
    """Make a form of a QR code, version 1: a bar per row of dark modules, a point per module.

    The mask is always the first: readers take any, and to choose the best of eight takes eight times as long.
    """
    from reportlab.graphics.barcode import qrencoder

    code = qrencoder.QRCode(1, qrencoder.QRErrorCorrectLevel.M)
    code.addData(text)
    code.makeImpl(False, 0)
    paper.canvas.beginForm(text, 0, 0, MODULES, MODULES)
    path = paper.canvas.beginPath()
    for y, row in enumerate(code.modules, 1):
        x = 0
        for dark, same in groupby(row):
            width = len(list(same))
            if dark:
                path.rect(x, MODULES - y, width, 1)
            x += width
    paper.canvas.drawPath(path, stroke=0, fill=1)
    paper.canvas.endForm()
