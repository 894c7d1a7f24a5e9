"""Pages of labels as pdftotext and pdftoppm see them, codes as a reader of codes does."""

from pathlib import Path

import pytest
import zxingcpp
from PIL import Image, ImageOps

from ailb_gen.exports.cable_labels import label_lines, labeled
from ailb_gen.exports.label_pages import LABEL_SHEETS, MODULES, QUIET, pages
from ailb_gen.exports.print_request import SHEETS
from tests.exports.printed import HOSTILE, compare_golden, lab, pdf_picture, pdf_text, with_rack


def pdf(**options: object) -> bytes:
    return pages(lab(**options))["cable-labels.pdf"]


def test_the_text_of_the_pages() -> None:
    compare_golden("cable-labels-pdf.txt", pdf_text(pdf(), "-layout"))


@pytest.mark.parametrize("sheet", SHEETS)
def test_every_label_is_on_the_pages_and_none_overlaps_another(sheet: str) -> None:
    text = pdf_text(pdf(sheet=sheet))
    halves = 2 if LABEL_SHEETS[sheet].wrap else 1
    for one in labeled(lab()):
        assert text.count(one.cable.id) == 2 * halves
        assert label_lines(one, 0)[1] in text
    grid = LABEL_SHEETS[sheet]
    assert grid.columns == 1 or grid.step_x >= grid.width
    assert grid.rows == 1 or grid.step_y >= grid.height
    assert grid.left + (grid.columns - 1) * grid.step_x + grid.width <= grid.page[0]
    assert grid.top + (grid.rows - 1) * grid.step_y + grid.height <= grid.page[1]


@pytest.mark.parametrize("sheet", SHEETS)
def test_ink_stays_on_the_labels(sheet: str, tmp_path: Path) -> None:
    picture = Image.open(pdf_picture(pdf(sheet=sheet, qr=True), tmp_path)).convert("L")
    grid = LABEL_SHEETS[sheet]
    scale = picture.width / grid.page[0]
    for row in range(grid.rows):
        for column in range(grid.columns):
            left = round((grid.left + column * grid.step_x) * scale)
            top = round((grid.top + row * grid.step_y) * scale)
            picture.paste(255, (left, top, left + round(grid.width * scale), top + round(grid.height * scale)))
    assert picture.getextrema() == (255, 255)


def test_codes_are_read_as_the_ids(tmp_path: Path) -> None:
    picture = Image.open(pdf_picture(pdf(qr=True, sheet="5160"), tmp_path))
    read = [code.text for code in zxingcpp.read_barcodes(picture)]
    # 30 labels: both ends of 15 cables.
    assert sorted(read) == sorted(one.cable.id for one in list(labeled(lab()))[:15] for _ in range(2))


def test_codes_are_read_from_the_smallest_labels_too(tmp_path: Path) -> None:
    picture = Image.open(pdf_picture(pdf(qr=True), tmp_path, dpi=600))
    assert {code.text for code in zxingcpp.read_barcodes(picture)} == {one.cable.id for one in labeled(lab())}


@pytest.mark.sampled(3, 6)
@pytest.mark.parametrize("sheet", SHEETS)
def test_a_code_alone_is_read_with_dark_around_its_label(sheet: str, tmp_path: Path) -> None:
    picture = Image.open(pdf_picture(pdf(qr=True, sheet=sheet), tmp_path, dpi=600)).convert("L")
    grid = LABEL_SHEETS[sheet]
    scale = picture.width / grid.page[0]
    box = (grid.left, grid.top, grid.left + (grid.width - grid.wrap) / (2 if grid.wrap else 1), grid.top + grid.height)
    # As on a dark cable: what is free around the code must be on the label.
    left, top, right, bottom = (round(edge * scale) for edge in box)
    label = ImageOps.expand(picture.crop((left, top, right, bottom)), border=200, fill=0)
    (code,) = zxingcpp.read_barcodes(label)
    assert code.text == next(labeled(lab())).cable.id
    dark = label.crop((0, 200, label.width, label.height - 200)).point(lambda value: 255 * (value < 128))
    module = round(min(grid.height, (box[2] - box[0]) * 0.45) * scale / (MODULES + 2 * QUIET))
    rim = dark.crop((label.width - 200 - 3 * module, 0, label.width - 200, dark.height))
    assert rim.getextrema() == (0, 0)


def test_a_hostile_rack_is_printed_as_it_is(tmp_path: Path) -> None:
    text = pdf_text(pdf(racks=with_rack(tmp_path, HOSTILE), lengths=None, sheet="5160"), "-raw")
    assert HOSTILE.replace(" ", "") in "".join(text.split())


def test_the_bytes_are_the_same_every_time() -> None:
    assert pdf(qr=True) == pdf(qr=True)
