"""Pages of the rack-and-stack list as pdftotext and pdftoppm see them."""

from pathlib import Path

from PIL import Image

from ailb_gen.exports.kind import ExportInput
from ailb_gen.exports.rack_list import work_groups
from ailb_gen.exports.rack_pages import pages
from tests.conftest import example
from tests.exports.printed import HOSTILE, compare_golden, lab, pdf_picture, pdf_text, with_rack


def test_the_text_of_the_pages() -> None:
    compare_golden("racks-pdf.txt", pdf_text(pages(lab())["racks.pdf"], "-layout"))


def test_every_port_is_on_a_page_of_its_group_and_a_device_goes_on_by_name() -> None:
    given = ExportInput(example("jvd"))
    sheets = pdf_text(pages(given)["racks.pdf"], "-layout").split("\f")[:-1]
    for group in work_groups(given):
        own = "\n".join(sheet for sheet in sheets if f"jvd: {group.name} " in sheet)
        for device in group.devices:
            assert f"{device.order}. {device.device}" in own
            assert all(port.cable.cable.id in own for port in device.ports)
    assert any("stripe1-leaf7, continued" in sheet for sheet in sheets)
    assert "page 2 of 2" in sheets[1]


def test_ink_stays_inside_the_margins(tmp_path: Path) -> None:
    picture = Image.open(pdf_picture(pages(ExportInput(example("jvd")))["racks.pdf"], tmp_path, 100)).convert("L")
    left, top, right, bottom = picture.point(lambda value: 255 - value).getbbox() or (0, 0, 0, 0)
    millimeter = picture.width / 210
    assert left > 10 * millimeter
    assert right < picture.width - 10 * millimeter
    assert top > 8 * millimeter
    assert bottom < picture.height - 10 * millimeter


def test_a_hostile_rack_is_printed_as_it_is(tmp_path: Path) -> None:
    text = pdf_text(pages(lab(racks=with_rack(tmp_path, HOSTILE), lengths=None))["racks.pdf"], "-raw")
    assert HOSTILE.replace(" ", "") in "".join(text.split())


def test_the_bytes_are_the_same_every_time() -> None:
    assert pages(lab()) == pages(lab())
