"""The page of every report, without sections of its own."""

from pathlib import Path

import pytest

from ailb_gen.report.html.page import Page, html
from tests.browser.conftest import Opener
from tests.browser.judging import violations


@pytest.mark.long
def test_the_page_opens_without_a_request_and_keeps_text_as_text(opened: Opener, tmp_path: Path) -> None:
    path = tmp_path / "report.html"
    path.write_text(html(Page("<script>alert(1)</script>", "fail", "FAIL: <b>1</b>", (("fabric", "<i>x</i>"),))))
    page = opened(path)
    assert page.locator("h1").inner_text() == "<script>alert(1)</script>"
    assert page.locator("#verdict").inner_text() == "FAIL: <b>1</b>"
    assert page.evaluate("typeof ailb.make") == "function"
    assert violations(page) == []
