"""Reports of every other verb, made by the verb itself: they open, everybody can read them, what they are for works."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import Opener
from tests.browser.judging import cut_on_paper, violations
from tests.browser.verbs import page_of_a_lab, page_of_a_what_if, pages_of_a_push

pytestmark = pytest.mark.long
NARROW = 400


@pytest.fixture(scope="module")
def pushed(tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, Path]:
    """Give the reports of the verbs that look at devices and push to them."""
    return pages_of_a_push(tmp_path_factory.mktemp("verbs"))


def _plan(page: Page) -> None:
    expect(page.locator("#verdict")).to_contain_text("4 devices of 4 change in 4 waves")
    page.get_by_role("button", name="Mark on the picture").first.click()
    expect(page.locator("#fabric-picture .link.on-path")).to_have_count(2)
    page.get_by_role("button", name="Open all").click()
    expect(page.locator("tr.replaced").first).to_contain_text("minimum-interval 1000;")


def _run(outcome: str) -> Callable[[Page], None]:
    def clicked(page: Page) -> None:
        row = page.locator("#outcomes-table tbody tr").first
        expect(row).to_contain_text(outcome)
        row.get_by_role("button").click()
        expect(page.locator("#panel")).to_contain_text("Wave 1: canary leaf")
        expect(page.locator("#panel")).to_contain_text("check")
        page.locator("#panel-close").click()
        expect(page.locator("#waves .chart-of-run .step-confirm").first).to_be_visible()
        expect(page.locator("#record tbody tr").last).to_contain_text("run is over")

    return clicked


def _settled(page: Page) -> None:
    expect(page.locator("#verdict")).to_contain_text("1 confirmed, 3 untouched")
    expect(page.locator("#waves > ol > li.fail")).to_contain_text("interrupted")
    page.get_by_label("Outcome").select_option("confirmed")
    expect(page.locator("#outcomes-table tbody tr:visible")).to_have_count(1)
    expect(page.locator("#record tbody tr").last).to_contain_text("run is over")


def _judged(where: str, tab: str) -> Callable[[Page], None]:
    def clicked(page: Page) -> None:
        expect(page.locator("#verdict")).to_contain_text("FAIL: ")
        assert page.locator("#fabric-picture .badge").count() > 0
        expect(page.locator("#findings .why").first).not_to_be_empty()
        expect(page.locator("#findings .repair").first).to_contain_text("Repair: ")
        page.get_by_label("Search findings").fill("spine1")
        expect(page.locator("#findings-count")).to_contain_text("match")
        page.locator("#findings button.device-name:visible").first.click()
        expect(page.locator("#panel h2")).to_have_text("spine1")
        page.locator("#panel").get_by_role("tab", name=tab).click()
        expect(page.locator("#panel [role=tabpanel]:visible")).to_contain_text(where)

    return clicked


def _lab(page: Page) -> None:
    _judged("switches/spine1.conf", "File")(page)
    expect(page.locator("#panel .line.bad").first).to_be_visible()
    page.locator("#panel-close").click()
    page.locator("#paths").scroll_into_view_if_needed()
    expect(page.locator("#paths-result")).to_contain_text("queue pairs arrive")


def _what_if(page: Page) -> None:
    expect(page.locator("#verdict")).to_contain_text("Without failures a step takes")
    page.locator("#completion summary", has_text="failure: spine1").click()
    expect(page.locator("#completion figure.chart").last).to_be_visible()
    page.locator("#figures summary").first.click()
    expect(page.locator("#figures table").first).to_contain_text("rlb")


# By verb: what its page is for.
VERBS: Mapping[str, Callable[[Page], None]] = {
    "plan": _plan,
    "deploy": _run("confirmed"),
    "rollback": _run("confirmed"),
    "confirm": _settled,
    "drift": _judged("et-0/0/0", "Findings"),
    "verify": _judged("et-0/0/0", "Findings"),
    "lab check": _lab,
    "what-if": _what_if,
}
# Those that are about something else than the devices of a push.
ALONE: Mapping[str, Callable[[Path], Path]] = {"lab check": page_of_a_lab, "what-if": page_of_a_what_if}


@pytest.mark.parametrize("verb", VERBS)
def test_the_page_of_a_verb(verb: str, opened: Opener, pushed: Mapping[str, Path], tmp_path: Path) -> None:
    page = opened(ALONE[verb](tmp_path) if verb in ALONE else pushed[verb])
    page.set_viewport_size({"width": NARROW, "height": 800})
    assert page.evaluate("document.documentElement.scrollWidth") == NARROW
    page.set_viewport_size({"width": 1280, "height": 900})
    assert violations(page) == []
    VERBS[verb](page)
    assert cut_on_paper(page) == []
