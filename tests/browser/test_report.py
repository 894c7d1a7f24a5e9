"""The report of `validate` in a browser: every part of it is used, by mouse and by keyboard."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.browser.conftest import Opener
from tests.browser.judging import cut_on_paper, flaws, looks_like, violations
from tests.browser.reports import SCRIPT, Reports

pytestmark = pytest.mark.long

MEGABYTE = 1_000_000
# What the largest fabric may take to open on a machine that is quiet, and until it answers on one that is busy.
OPENING_S = 3.0
PATIENCE_MS = 60_000
ALL = [(name, state) for name in ("lab", "jvd", "brownfield") for state in ("clean", "damaged")]
ALL += [("jvd", "missing"), ("lab", "drained"), ("lab", "fqdn"), ("lab", "alike")]


def opening_s(page: Page) -> float:
    """Return the CPU seconds of a page's own thread while it is opened once more: what else runs does not count."""
    session = page.context.new_cdp_session(page)
    session.send("Performance.enable", {"timeDomain": "threadTicks"})
    page.reload()
    page.locator("#verdict").wait_for()
    found = session.send("Performance.getMetrics")["metrics"]
    session.detach()
    return float(next(one["value"] for one in found if one["name"] == "TaskDuration"))


def drawn(page: Page) -> None:
    """Wait for the parts that a page draws when they are seen."""
    page.locator("#loads").scroll_into_view_if_needed()
    for part in ("#paths-result table", "#loads-map table"):
        page.locator(part).first.wait_for()


def device(page: Page, name: str) -> Locator:
    """Return a device in the picture."""
    return page.locator(f'#fabric-picture [data-device="{name}"]')


@pytest.mark.parametrize(("example", "state"), ALL)
def test_every_report_opens_and_can_be_read_by_everybody(
    opened: Opener, reports: Reports, example: str, state: str
) -> None:
    path = reports(example, state)
    assert path.stat().st_size < 3 * MEGABYTE
    page = opened(path)
    assert (
        page.locator("#verdict").inner_text().startswith("FAIL" if state in ("damaged", "missing", "alike") else "PASS")
    )
    drawn(page)
    assert flaws(page) == []
    assert cut_on_paper(page) == []


def test_a_leaf_without_a_file_looks_so_in_every_section(opened: Opener, reports: Reports) -> None:
    page = opened(reports("lab", "missing"))
    drawn(page)
    expect(page.locator("header")).to_contain_text("Without a filestripe1-leaf2")
    row = page.locator("#devices-table tr").filter(has_text="stripe1-leaf2")
    expect(row.locator(".out")).to_have_text("no file")
    expect(page.locator("#loads-map tbody tr").nth(1)).to_contain_text("stripe1-leaf2 (no file)")
    expect(page.locator("#failures .failures-gone")).to_contain_text("24 pairs are unreachable without any failure")
    expect(page.locator("#failures .failures-none")).to_have_count(0)
    device(page, "stripe1-leaf2").click()
    expect(page.locator("#panel-about")).to_contain_text("no file")


def test_a_drained_spine_looks_so_in_every_section(opened: Opener, reports: Reports) -> None:
    page = opened(reports("lab", "drained"))
    drawn(page)
    expect(page.locator("header")).to_contain_text("drained: spine3")
    expect(page.locator("#devices-table tr").filter(has_text="spine3").locator(".out")).to_have_text("drained")
    expect(page.locator("#loads-map thead th").nth(2)).to_have_text("spine3 (drained)")


def test_long_names_show_whole_in_fields(opened: Opener, reports: Reports) -> None:
    page = opened(reports("lab", "fqdn"))
    drawn(page)
    link = str(page.locator("#fabric-picture [data-link]").first.get_attribute("data-link"))
    assert len(link) > 90
    page.get_by_label("Failure", exact=True).fill(link)
    field = page.locator("#paths-fail")
    assert field.evaluate("one => one.scrollWidth <= one.clientWidth")


def test_a_device_shows_its_ports_sessions_prefixes_and_file(opened: Opener, reports: Reports) -> None:
    page = opened(reports("jvd", "damaged"))
    panel = page.locator("#panel")
    device(page, "stripe1-leaf1").click()
    expect(panel.locator("h2")).to_have_text("stripe1-leaf1")
    for tab, text in (
        ("Ports", "et-0/0/0:0"),
        ("Sessions", "comes up"),
        ("Prefixes", "fc00:1:1:1::/64"),
        ("File", "system {"),
    ):
        panel.get_by_role("tab", name=tab).click()
        expect(panel.locator("[role=tabpanel]:visible")).to_contain_text(text)
    assert violations(page) == []
    device(page, "spine1").click()
    expect(panel.locator("h2")).to_have_text("spine1")
    panel.get_by_role("button", name="Close").click()
    expect(panel).to_be_hidden()


def test_the_offending_line_is_marked_and_seen(opened: Opener, reports: Reports) -> None:
    path = reports("lab", "damaged")
    page = opened(path)
    place = page.locator("#findings button.place:visible").filter(has_text="switches/").first
    file, _, line = place.inner_text().rpartition(":")
    place.click()
    row = page.locator("#panel .line.chosen")
    expect(row).to_be_in_viewport()
    assert row.get_attribute("data-line") == line
    own = (path.parent / "build" / "lab" / file).read_text().splitlines()[int(line) - 1]
    assert row.locator("code").inner_text().strip() == own.strip()
    assert "bad" in str(row.get_attribute("class"))
    expect(page.locator("#panel .line.chosen + .remark")).to_be_visible()


def test_a_file_of_no_device_is_shown(opened: Opener, reports: Reports) -> None:
    page = opened(reports("lab", "cabling"))
    page.locator("#findings button.place:visible").filter(has_text="cabling.csv").first.click()
    expect(page.locator("#panel .line.chosen")).to_contain_text(",blue,")
    expect(page.locator("#panel .line.chosen")).to_be_in_viewport()


def test_a_link_shows_its_ends_color_and_session(opened: Opener, reports: Reports) -> None:
    page = opened(reports("lab", "clean"))
    link = page.locator("#fabric-picture [data-link]").first
    link.dispatch_event("click")
    panel = page.locator("#panel")
    expect(panel.locator("h2")).to_have_text(str(link.get_attribute("data-link")))
    for text in ("green", "BGP session", "comes up"):
        expect(panel).to_contain_text(text)
    panel.get_by_role("button", name="spine1").click()
    expect(panel.locator("h2")).to_have_text("spine1")


def test_views_of_a_stripe_and_a_rail_keep_what_is_selected(opened: Opener, reports: Reports) -> None:
    page = opened(reports("jvd", "damaged"))
    device(page, "stripe1-leaf1").click()
    page.get_by_label("View").select_option("stripe 1")
    expect(device(page, "stripe2-leaf1")).to_have_count(0)
    assert "selected" in str(device(page, "stripe1-leaf1").get_attribute("class"))
    page.get_by_label("View").select_option("rail 0")
    expect(device(page, "stripe2-leaf1")).to_have_count(1)
    expect(device(page, "stripe1-leaf2")).to_have_count(0)
    before = page.locator("#fabric-picture .badge").count()
    page.get_by_label("include consequences").check()
    expect(page.locator("#fabric-picture .badge")).not_to_have_count(before)


def test_findings_are_searched_filtered_and_unfolded(opened: Opener, reports: Reports) -> None:
    page = opened(reports("jvd", "damaged"))
    groups = page.locator("#findings article.group:visible")
    everything = groups.count()
    page.get_by_label("Search findings").fill("no such text anywhere")
    expect(groups).to_have_count(0)
    page.get_by_role("button", name="Clear filters").click()
    expect(groups).to_have_count(everything)
    page.get_by_label("Family").select_option(index=1)
    expect(page.locator("#findings-count")).to_contain_text("match")
    page.get_by_role("button", name="Clear filters").click()
    expect(groups).to_have_count(everything)
    follows = page.locator("#findings details.follows:visible").first
    follows.locator("summary").click()
    expect(follows.locator("li.finding").first).to_be_visible()


def test_what_is_alike_is_shown_once_until_it_is_asked_for(opened: Opener, reports: Reports) -> None:
    page = opened(reports("lab", "alike"))
    group = page.locator("#findings article.group").filter(has_text="more like it").first
    more = group.locator("li.finding").first.get_by_role("button", name="more like it")
    count = int(more.inner_text().split()[1])
    before = group.locator("li.finding").count()
    page.emulate_media(media="print")
    expect(more).to_be_visible()
    page.emulate_media(media="null")
    more.click()
    expect(group.locator("li.finding")).to_have_count(before + count)
    expect(more).to_be_hidden()


# What can be operated, but for parts of a whole that arrows move in; and what only a mouse would find.
REACHED = """() => {
  window.reached = new Set();
  document.addEventListener("focusin", (event) => reached.add(event.target));
}"""
MISSED = """() => [...document.querySelectorAll("a[href], button, select, input, summary, [tabindex]")]
  .filter((one) => one.checkVisibility({ visibilityProperty: true }) && !reached.has(one)
    && one.tabIndex >= 0 && !one.closest("[role=grid]"))
  .concat([...document.querySelectorAll("body *")].filter((one) => one.checkVisibility()
    && getComputedStyle(one).cursor === "pointer"
    && !one.closest("a[href], button, select, input, summary, label, [tabindex], [role=grid]")))
  .map((one) => one.outerHTML.slice(0, 100))"""
# A device in the picture has a thicker box instead.
OUTLINED = """() => {
  const one = document.activeElement, box = one.querySelector(":scope > .box");
  const wide = (box) => parseFloat(getComputedStyle(box).strokeWidth);
  const other = [...document.querySelectorAll("#fabric-picture .device > .box")].find((each) => each !== box);
  return getComputedStyle(one).outlineStyle !== "none" || (box !== null && wide(box) > wide(other));
}"""
# More than a page of the lab has.
STOPS = 400


def tab_to(page: Page, target: Locator) -> None:
    """Press Tab until an element has the focus, and can be seen to have it."""
    for _ in range(STOPS):
        page.keyboard.press("Tab")
        if target.evaluate("one => one === document.activeElement"):
            assert page.evaluate(OUTLINED)
            return
    raise AssertionError(f"{target} is not reached")


def test_every_control_is_reached_by_the_keyboard(opened: Opener, reports: Reports) -> None:
    page = opened(reports("lab", "damaged"))
    page.evaluate(REACHED)
    page.keyboard.press("Tab")
    expect(page.get_by_text("Skip to the report")).to_be_focused()
    for _ in range(STOPS):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement === document.body"):
            break
    assert page.evaluate("reached.size") > 100
    assert page.evaluate(MISSED) == []


def test_the_keyboard_alone_operates_every_kind_of_control(opened: Opener, reports: Reports) -> None:
    page = opened(reports("lab", "damaged"))
    press, panel = page.keyboard.press, page.locator("#panel")
    tab_to(page, page.get_by_label("View"))
    press("ArrowDown")
    expect(page.get_by_label("View")).to_have_value("stripe 1")
    press("ArrowUp")
    tab_to(page, page.get_by_role("button", name="Larger"))
    before = page.locator("#fabric-picture svg").bounding_box()
    press("Enter")
    after = page.locator("#fabric-picture svg").bounding_box()
    assert before is not None and after is not None and after["width"] > before["width"]
    tab_to(page, page.get_by_label("include consequences"))
    press("Space")
    expect(page.get_by_label("include consequences")).to_be_checked()
    first = device(page, "stripe1-leaf1")
    tab_to(page, first)
    press("Enter")
    expect(panel.locator("h2")).to_be_focused()
    selected = panel.get_by_role("tab", selected=True)
    tab_to(page, selected)
    name = selected.inner_text()
    press("ArrowRight")
    expect(selected).to_be_focused()
    assert selected.inner_text() != name
    press("Escape")
    expect(panel).to_be_hidden()
    expect(first).to_be_focused()
    tab_to(page, page.get_by_label("Search findings"))
    page.keyboard.type("AILB1")
    expect(page.locator("#findings-count")).to_contain_text("match")
    tab_to(page, page.get_by_role("button", name="Clear filters"))
    press("Enter")
    expect(page.locator("#findings-count")).to_be_empty()
    place = page.locator("#findings button.place:visible").first
    tab_to(page, place)
    press("Enter")
    expect(panel.locator(".line.chosen")).to_be_in_viewport()
    press("Escape")
    expect(place).to_be_focused()
    follows = page.locator("#findings details.follows:visible").first
    tab_to(page, follows.locator("summary"))
    press("Enter")
    expect(follows.locator("li.finding").first).to_be_visible()
    tab_to(page, page.get_by_label("only with findings"))
    press("Space")
    expect(page.locator("#devices-count")).to_contain_text("devices")
    tab_to(page, page.get_by_label("Failure", exact=True))
    page.keyboard.type("spine1")
    press("Enter")
    expect(page.locator("#paths-command")).to_contain_text("--fail spine1")
    tab_to(page, page.get_by_role("button", name="Clear failure"))
    press("Enter")
    expect(page.locator("#paths-command")).not_to_contain_text("--fail")
    # Its form is there as soon as the section is seen.
    tab_to(page, page.locator("#loads-color"))
    press("ArrowDown")
    expect(page.get_by_role("grid").get_by_role("columnheader")).to_have_count(1)
    tab_to(page, page.get_by_role("grid").locator("tbody td").first)
    press("ArrowDown")
    press("Enter")
    expect(page.locator("#loads-detail")).to_contain_text("stripe1-leaf2 to")
    family = page.locator("details.family").first
    tab_to(page, family.locator("summary"))
    press("Enter")
    expect(family.get_by_role("table")).to_be_visible()


def test_text_of_files_and_names_never_becomes_a_script(opened: Opener, reports: Reports) -> None:
    page = opened(reports("lab", "hostile"))
    page.get_by_label("Search devices").fill("script")
    page.locator("#devices-table button").filter(has_text="<script>").click()
    expect(page.locator("#panel h2")).to_contain_text("<script>")
    device(page, "stripe1-leaf1").click()
    page.locator("#panel").get_by_role("tab", name="File").click()
    expect(page.locator("#panel .file")).to_contain_text(SCRIPT)
    expect(page.locator("#panel .file .comment").filter(has_text=SCRIPT)).to_have_count(1)
    page.locator("#panel-close").click()
    waived = page.locator("#waivers article.group")
    expect(waived.locator(".why")).to_have_text(f"{SCRIPT} until the site is renamed")
    waived.locator("summary").click()
    expect(waived.locator("li")).to_contain_text(f"host-name is '{SCRIPT}'")
    expect(page.locator("#findings [data-check='AILB004']")).to_have_count(0)
    assert page.evaluate("typeof window.hacked") == "undefined"
    assert page.locator("img").count() == 0
    assert violations(page) == []


def test_it_prints_without_tools_and_with_everything_that_is_folded(opened: Opener, reports: Reports) -> None:
    page = opened(reports("lab", "damaged"))
    # Nothing was scrolled: who prints, or reads with a screen reader, finds these sections filled.
    for filled in ("#paths-result table", "#loads-map table"):
        expect(page.locator(filled).first).to_be_visible()
    sheets = page.pdf(format="A4", print_background=True).count(b"/Type /Page\n")
    assert 4 <= sheets <= 30
    assert cut_on_paper(page) == []
    for hidden in ("nav", "#fabric-tools", "#filters"):
        expect(page.locator(hidden)).to_be_hidden()
    for shown in ("#fabric-picture svg .legend", "#findings article.group >> nth=-1", "#loads-map table"):
        expect(page.locator(shown)).to_be_visible()
    assert page.locator("details.family:not([open])").count() == 0
    page.evaluate("window.dispatchEvent(new Event('afterprint'))")
    assert page.locator("details.family[open]").count() == 0


def test_an_address_leads_to_a_device(opened: Opener, reports: Reports, tmp_path: Path) -> None:
    page = opened(reports("lab", "clean"))
    device(page, "spine2").click()
    assert page.url.endswith("#device=spine2")
    page.reload()
    expect(page.locator("#panel h2")).to_have_text("spine2")
    page.evaluate("location.hash = '#device=%'")
    expect(page.locator("#panel h2")).to_have_text("%")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_key_views_look_as_they_did(opened: Opener, reports: Reports, scheme: str) -> None:
    page = opened(reports("lab", "damaged"))
    page.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]
    # A part of the page, so that no other section moves it.
    looks_like(page.locator("#fabric"), f"lab-fabric-{scheme}")
    page.locator("#findings button.place:visible").first.click()
    expect(page.locator("#panel .line.chosen")).to_be_in_viewport()
    looks_like(page.locator("#panel"), f"lab-file-{scheme}")


def test_the_largest_fabric_opens_and_unfolds(opened: Opener, reports: Reports) -> None:
    """Damaged; the page without damages is smaller, and `benchmarks.report` opens it."""
    path = reports("frontier", "damaged")
    assert path.stat().st_size < 25 * MEGABYTE
    page = opened(path)
    assert page.locator("#verdict").inner_text().startswith("FAIL")
    spent = opening_s(page)
    print(f"frontier: {path.stat().st_size / MEGABYTE:.1f} MB, opened in {spent:.2f} CPU s")  # noqa: T201
    assert spent < OPENING_S
    page.get_by_label("View").select_option("stripe 3")
    expect(device(page, "stripe3-leaf2")).to_have_count(1, timeout=PATIENCE_MS)
    device(page, "stripe3-leaf2").dispatch_event("click")
    expect(page.locator("#panel h2")).to_have_text("stripe3-leaf2", timeout=PATIENCE_MS)
    page.get_by_label("Search devices").fill("s64-gpu64")
    page.locator("#devices-table button").filter(has_text="s64-gpu64").click()
    expect(page.locator("#panel")).to_contain_text("NICs", timeout=PATIENCE_MS)
    assert violations(page) == []
