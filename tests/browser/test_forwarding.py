"""Paths, loads and failures in a browser: clicked through, by keyboard, and what they look like."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import Page as BrowserPage
from playwright.sync_api import expect

from ailb_gen.checks.context import Context
from ailb_gen.report.html.failures import failures_section
from ailb_gen.report.html.loads import loads_section
from ailb_gen.report.html.page import Page, html
from ailb_gen.report.html.paths import paths_section
from tests.browser.conftest import Opener
from tests.browser.judging import looks_like, violations
from tests.browser.reports import Reports
from tests.checks.edited import LEAF, edited, intended, network
from tests.checks.trees import network_of, rendered

pytestmark = pytest.mark.long
BACKUP = "                backup-color all-colors;\n"
LINK = "stripe1-leaf1:et-0/0/0 - spine1:et-0/0/0"
# Forty leaves: folded into their stripes.
FORTY = "name: f\nplatform: generic\nstripes: 5\nrails: 8\nspines: 4\nservers: 1\nhost_ports: {first_port: 100}\n"


def written(context: Context, folder: Path) -> Path:
    assert context.failure_outcomes is not None
    sections = (paths_section(context), loads_section(context), failures_section(context))
    path = folder / "report.html"
    path.write_text(html(Page("lab: validate", "fail", "FAIL", sections=sections)))
    return path


@pytest.fixture(scope="module")
def without_backups(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The lab without the backups of a prefix."""
    found = network(edited((LEAF, BACKUP, "")))
    context = Context(intended().fabric, found, root=Path("build/lab"), keep_changes=True)
    return written(context, tmp_path_factory.mktemp("forwarding"))


@pytest.fixture
def damaged(opened: Opener, without_backups: Path) -> BrowserPage:
    return opened(without_backups)


def test_a_path_is_chosen_and_its_links_fail(damaged: BrowserPage) -> None:
    damaged.get_by_role("group", name="From").get_by_label("Server").fill("gpu-s2-1")
    to = damaged.get_by_role("group", name="To")
    to.get_by_label("Server").fill("gpu-s1-1")
    to.get_by_label("NIC").select_option("gpu0_eth")
    result = damaged.locator("#paths-result")
    expect(result).to_contain_text("4 of 4 queue pairs reachable")
    expect(damaged.locator("#paths-command")).to_have_text(
        "ailb-gen path gpu-s2-1:gpu0_eth gpu-s1-1:gpu0_eth -C build/lab"
    )
    damaged.get_by_role("button", name=f"Fail {LINK}").click()
    expect(damaged.get_by_label("Failure", exact=True)).to_have_value(LINK)
    expect(result).to_contain_text("3 of 4 queue pairs reachable")
    expect(result.locator(".fails")).to_contain_text("FAILS: no route at stripe2-leaf1")
    expect(damaged.locator("#paths-command")).to_contain_text(f"--fail '{LINK}'")
    damaged.get_by_label("Queue pair").select_option("2")
    expect(result).to_contain_text("1 of 1 queue pairs reachable")
    damaged.get_by_role("button", name="Clear failure").click()
    damaged.get_by_label("Queue pair").select_option("0")
    expect(result).to_contain_text("4 of 4 queue pairs reachable")


def test_what_is_typed_wrong_is_said(damaged: BrowserPage) -> None:
    result, down = damaged.locator("#paths-result"), damaged.get_by_label("Failure", exact=True)
    damaged.get_by_label("Hash").scroll_into_view_if_needed()
    expect(result).to_contain_text("queue pairs reachable")
    down.fill("spine9")
    down.press("Enter")
    expect(result).to_contain_text("spine9: not among the failures of this page")
    down.fill("spine1:et-0/0/0.0")
    down.press("Enter")
    expect(result).to_contain_text("queue pairs reachable")
    damaged.get_by_label("Hash").fill("x")
    damaged.get_by_label("Hash").press("Tab")
    expect(result).to_contain_text("the hash is a number")
    damaged.get_by_label("Hash").fill("3")
    damaged.get_by_role("group", name="From").get_by_label("Server").fill("nobody")
    down.press("Enter")
    expect(result).to_contain_text("there is no server called nobody")


def test_a_failure_leads_to_the_paths_that_it_cuts(damaged: BrowserPage) -> None:
    row = damaged.locator(".failures-matrix details").first
    expect(damaged.locator(".failures-matrix td.f3").first).to_be_visible()
    row.locator("summary").press("Enter")
    expect(row).to_contain_text("stripe1-leaf2 loses fc00:1:1:1::/64 of stripe1-leaf1: no route at stripe1-leaf2")
    row.get_by_role("button", name="Trace paths with this failure").press("Enter")
    expect(damaged.get_by_label("Failure", exact=True)).to_have_value(LINK)
    expect(damaged.get_by_label("Failure", exact=True)).to_be_in_viewport()
    expect(damaged.locator("#paths-result .paths-pair.fails")).to_contain_text("no route at stripe1-leaf2")


def test_the_heat_map_by_keyboard(damaged: BrowserPage) -> None:
    grid = damaged.get_by_role("grid")
    damaged.locator("#loads").scroll_into_view_if_needed()
    expect(grid.get_by_role("row")).to_have_count(5)
    damaged.get_by_role("combobox", name="Load").select_option("steady")
    expect(grid.get_by_role("gridcell").nth(1)).to_have_text("1.00")
    damaged.get_by_role("combobox", name="Load").select_option("worst")
    damaged.get_by_role("combobox", name="Color").select_option("blue")
    expect(grid.get_by_role("columnheader")).to_have_text(["spine2"])
    damaged.get_by_role("combobox", name="Color").select_option("")
    grid.locator("tbody td").first.focus()
    for key in ("ArrowRight", "ArrowDown", "ArrowDown", "ArrowUp", "ArrowLeft", "ArrowLeft", "Enter"):
        damaged.keyboard.press(key)
    expect(damaged.locator("#loads-detail")).to_contain_text("stripe1-leaf2 to spine1")
    expect(damaged.locator("#loads-detail")).to_contain_text("green: 1.33 (failure: ")
    assert grid.locator("[tabindex='0']").count() == 1


def test_many_leaves_are_folded_into_stripes(opened: Opener, tmp_path: Path) -> None:
    intent, root = rendered(FORTY, tmp_path)
    page = opened(written(Context(intent.fabric, network_of(root)), tmp_path))
    page.locator("#loads").scroll_into_view_if_needed()
    grid = page.get_by_role("grid")
    expect(grid.locator("tbody tr")).to_have_count(5)
    grid.get_by_role("button", name="stripe 2").press("Enter")
    expect(grid.locator("tbody tr")).to_have_count(13)
    expect(grid.get_by_role("button", name="stripe 2")).to_have_attribute("aria-expanded", "true")
    expect(grid.get_by_role("button", name="stripe 2")).to_be_focused()
    grid.locator("tbody td").first.click()
    expect(page.locator("#loads-detail p")).to_have_count(9)
    grid.get_by_role("button", name="stripe 2").click()
    expect(grid.locator("tbody tr")).to_have_count(5)
    assert violations(page) == []


def test_paths_and_loads_go_with_the_picture_and_the_panel(opened: Opener, reports: Reports) -> None:
    page = opened(reports("lab", "clean"))
    page.locator("#paths").scroll_into_view_if_needed()
    page.get_by_role("button", name="Highlight").first.click()
    # Two links between switches and two to servers, if the view has these.
    expect(page.locator("#fabric-picture .link.on-path")).not_to_have_count(0)
    page.locator("#loads").scroll_into_view_if_needed()
    page.locator("#loads-map tbody td").first.click()
    panel = page.locator("#panel")
    expect(panel.get_by_role("heading", level=2)).to_have_text(LINK)
    expect(panel).to_contain_text("without failures")
    expect(panel.get_by_role("row").last).to_contain_text("1.33")
    panel.get_by_role("button", name="Trace paths with this link failed").click()
    expect(page.get_by_label("Failure", exact=True)).to_have_value(LINK)
    expect(page.locator("#paths-result")).to_contain_text("queue pairs reachable")
    assert violations(page) == []


def test_on_a_narrow_screen_the_panel_does_not_cover_the_paths_it_leads_to(opened: Opener, reports: Reports) -> None:
    page = opened(reports("lab", "clean"))
    page.set_viewport_size({"width": 400, "height": 800})
    page.locator("#fabric-picture [data-link]").first.press("Enter")
    page.get_by_role("button", name="Trace paths with this link failed").click()
    expect(page.locator("#panel")).to_be_hidden()
    expect(page.locator(".paths-pair").first).to_be_visible()


def test_loads_are_marked_in_the_picture(opened: Opener, reports: Reports) -> None:
    page = opened(reports("lab", "clean"))
    page.locator("#loads").scroll_into_view_if_needed()
    page.get_by_label("Show in the picture").check()
    links = page.locator("#fabric-picture .link.load3")
    expect(links).to_have_count(16)
    expect(links.first.locator("title")).to_contain_text("load 1.33")
    page.get_by_label("View").select_option("stripe 1")
    expect(links).not_to_have_count(0)
    page.get_by_role("combobox", name="Load").select_option("steady")
    expect(links).to_have_count(0)
    page.get_by_label("Show in the picture").uncheck()
    expect(page.locator("#fabric-picture [class*=load]")).to_have_count(0)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_what_they_look_like(damaged: BrowserPage, scheme: str) -> None:
    damaged.emulate_media(color_scheme="dark" if scheme == "dark" else "light")
    damaged.set_viewport_size({"width": 1280, "height": 2600})
    damaged.get_by_label("Failure", exact=True).fill(LINK)
    damaged.get_by_label("Queue pair").select_option("1")
    expect(damaged.locator("#paths-result")).to_contain_text("of 1 queue pairs reachable")
    expect(damaged.get_by_role("grid")).to_be_visible()
    for section in ("paths", "loads", "failures"):
        looks_like(damaged.locator(f"#{section}"), f"lab-{section}-{scheme}")


def test_on_paper_there_are_paths_and_links_but_no_tools(damaged: BrowserPage) -> None:
    damaged.evaluate("window.dispatchEvent(new Event('beforeprint'))")
    expect(damaged.locator("#paths-result")).to_contain_text("4 of 4 queue pairs reachable")
    expect(damaged.get_by_role("grid")).to_be_visible()
    damaged.emulate_media(media="print")
    for hidden in ("#paths-form", "#paths-result button", ".failures-trace"):
        expect(damaged.locator(hidden).first).to_be_hidden()
    expect(damaged.locator("#loads button.place").first).to_be_visible()
    expect(damaged.locator("#paths-command")).to_be_visible()
