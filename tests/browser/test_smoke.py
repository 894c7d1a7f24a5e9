"""One report in a browser, with every run of the tests."""

from playwright.sync_api import expect

from tests.browser.conftest import Opener
from tests.browser.reports import Reports


def test_a_report_opens_and_shows_what_is_wrong(opened: Opener, reports: Reports) -> None:
    page = opened(reports("lab", "damaged"))
    assert page.locator("#verdict").inner_text().startswith("FAIL")
    assert page.locator("#findings article.group").count() > 3
    page.get_by_label("Search findings").fill("AILB1")
    expect(page.locator("#findings-count")).to_contain_text("match")
    shown = page.locator("#findings article.group:visible code")
    assert shown.count() > 0
    assert all(text.startswith("AILB1") for text in shown.all_inner_texts()[:1])
    assert page.evaluate("window.hacked") is None
