"""Pictures in a real browser: text fits into its box, in the font that is there, and nothing is asked for."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import expect

from ailb_gen.picture.model import NO_OVERLAY
from ailb_gen.report.html.fabric import fabric_section
from ailb_gen.report.html.page import Page, html
from tests.browser.conftest import Opener
from tests.browser.judging import looks_like, violations
from tests.conftest import ROOT
from tests.picture.examples import large

GOLDEN = ROOT / "tests" / "picture" / "golden"
# How much wider than its box a text may be, in units of the picture: fonts differ a little.
SLACK = 4
TOO_WIDE = """slack => [...document.querySelectorAll('g.device, g.group')].flatMap(group => {
  const box = group.querySelector('rect').getBBox();
  return [...group.querySelectorAll(':scope > text')].map(text => [text.textContent, text.getBBox()])
    .filter(([, text]) => text.x < box.x - slack || text.x + text.width > box.x + box.width + slack)
    .map(([words]) => words);
})"""
OUTSIDE = """slack => [...document.querySelectorAll('text')].filter(text => {
  const [seen, all] = [text.getBoundingClientRect(), document.documentElement.getBoundingClientRect()];
  return seen.left < all.left - slack || seen.right > all.right + slack || seen.bottom > all.bottom + slack;
}).map(text => text.textContent)"""
LINE = "getComputedStyle(document.querySelector('.link.h0 .wire')).stroke"


@pytest.mark.long
@pytest.mark.parametrize("name", sorted(path.stem for path in GOLDEN.glob("*.svg")))
def test_text_fits_into_its_box_and_into_the_picture(opened: Opener, name: str) -> None:
    page = opened(GOLDEN / f"{name}.svg")
    assert page.evaluate(TOO_WIDE, SLACK) == []
    assert page.evaluate(OUTSIDE, SLACK) == []


@pytest.mark.long
def test_a_stripe_of_a_large_fabric_unfolds_by_keyboard_and_by_mouse(opened: Opener, tmp_path: Path) -> None:
    path = tmp_path / "report.html"
    path.write_text(html(Page("large", "pass", "PASS", sections=(fabric_section(large(), NO_OVERLAY),))))
    page = opened(path)
    page.locator('[data-group="stripe 3"]').press("Enter")
    expect(page.get_by_label("View")).to_have_value("stripe 3")
    expect(page.locator('[data-device="s3-l0"] text').first).to_have_text("s3-l0")
    page.get_by_label("View").select_option("fabric")
    page.locator('[data-group="stripe 4 servers"]').click()
    expect(page.get_by_label("View")).to_have_value("stripe 4")
    assert violations(page) == []


@pytest.mark.long
@pytest.mark.parametrize("name", ["lab-marked", "lab-path", "large"])
def test_a_picture_follows_the_setting_of_the_reader(name: str, opened: Opener) -> None:
    page = opened(GOLDEN / f"{name}.svg")
    light = page.evaluate(LINE)
    looks_like(page, f"picture-{name}-light")
    page.emulate_media(color_scheme="dark")
    assert page.evaluate(LINE) != light
    looks_like(page, f"picture-{name}-dark")
