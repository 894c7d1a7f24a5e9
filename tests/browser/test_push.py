"""The pages of plans and of runs: read, searched, clicked through, by keyboard, in light and dark."""

from __future__ import annotations

import time
from dataclasses import replace
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from ailb_gen.deploy.planning import Plan, Wave
from ailb_gen.deploy.report import pages
from ailb_gen.deploy.switch_state import read_fabric_model
from tests.browser.conftest import Opener
from tests.browser.judging import cut_on_paper, flaws, looks_like, violations
from tests.browser.push_pages import LEAVES, SCRIPT, large_rows, write_large, write_plan, write_run
from tests.browser.reports import Trees
from tests.deploy import lab

pytestmark = pytest.mark.long
# The limits of a report of the largest example.
LARGEST, OPENS_S = 25_000_000, 3.0


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of both pages."""
    folder = tmp_path_factory.mktemp("pages")
    write_plan(folder / "plan.html")
    write_run(folder / "run.html")
    return folder


@pytest.fixture
def plan(opened: Opener, written: Path) -> Page:
    """The page of a plan."""
    return opened(written / "plan.html")


@pytest.fixture
def pushed(opened: Opener, written: Path) -> Page:
    """The page of a run that was rolled back in its last wave."""
    return opened(written / "run.html")


def test_a_plan_is_read_from_the_top(plan: Page) -> None:
    verdict = plan.locator("#verdict").inner_text()
    assert verdict.startswith("8 devices of 8 change in 4 waves; ")
    titles = plan.locator("main h2").all_inner_texts()
    assert titles == ["Blast radius", "Waves", "Changes", "Impact"]
    assert plan.locator("table.waves tbody tr").count() == 4
    assert plan.locator("#fabric-picture [data-device].touched").count() == 8
    assert flaws(plan) == []


def test_wide_tables_scroll_on_a_narrow_screen(pushed: Page) -> None:
    pushed.set_viewport_size({"width": 360, "height": 800})
    assert pushed.evaluate("document.documentElement.scrollWidth") == 360


def test_changes_are_side_by_side_and_text_stays_text(plan: Page) -> None:
    groups = plan.locator("details.change")
    alike = groups.filter(has_text="3 devices:").first
    assert alike.locator("tr.replaced td").all_inner_texts()[1:3] == [
        "                minimum-interval 300;",
        "                minimum-interval 400;",
    ]
    strange = groups.filter(has_text=SCRIPT)
    expect(strange).to_have_count(1)
    assert strange.locator("summary .who").inner_text() == LEAVES[1]
    assert plan.evaluate("window.hacked") is None


def test_both_sides_of_a_change_are_seen_on_a_narrow_screen(plan: Page) -> None:
    plan.set_viewport_size({"width": 500, "height": 900})
    row = plan.locator("tr.replaced").first
    away, come = (row.locator("td").nth(at).bounding_box() for at in (1, 2))
    assert away is not None and come is not None
    assert away["y"] + away["height"] <= come["y"]
    assert come["x"] + come["width"] <= 500
    expect(plan.locator("#changes .stacked")).to_be_visible()
    expect(plan.locator("#changes .beside")).to_be_hidden()


def test_changes_can_be_searched(plan: Page) -> None:
    every = plan.locator("details.change").count()
    plan.locator("#changes-filter input").fill("window.hacked")
    expect(plan.locator("#changes-filter output")).to_have_text(f"1 of {every} groups match")
    expect(plan.locator("details.change:visible")).to_have_count(1)
    plan.locator("#changes-filter input").fill("no such statement")
    expect(plan.locator("details.change:visible")).to_have_count(0)
    plan.locator("#changes-filter input").fill("")
    expect(plan.locator("details.change:visible")).to_have_count(every)


def test_a_device_shows_what_changes_on_it(plan: Page) -> None:
    plan.locator(f"#fabric-picture [data-device='{LEAVES[2]}']").click()
    panel = plan.locator("#panel")
    expect(panel.locator("h2")).to_have_text(LEAVES[2])
    expect(panel).to_contain_text("Wave 4: leaves")
    panel.get_by_role("tab", name="Changes").click()
    expect(panel.locator("tr.removed")).to_contain_text(["minimum-interval 300;"])
    expect(panel.locator("tr.added")).to_contain_text(["minimum-interval 400;"])
    assert violations(plan) == []
    plan.keyboard.press("Escape")
    expect(panel).to_be_hidden()


def test_sessions_that_a_wave_affects_are_highlighted(plan: Page) -> None:
    plan.get_by_role("button", name="Highlight").nth(1).click()
    touched = plan.locator("#fabric-picture .link.on-path")
    expect(plan.locator("#fabric-marked")).to_contain_text("Sessions affected by wave 2 (spines): 8")
    expect(touched).to_have_count(8)
    assert all(
        "spine1" in name or "spine2" in name for name in touched.evaluate_all("all => all.map(e => e.dataset.link)")
    )
    touched.first.focus()
    plan.keyboard.press("Enter")
    expect(plan.locator("#panel-about")).to_contain_text("Session affected by the change of")
    plan.locator("#panel .device-name").first.click()
    expect(plan.locator("#panel h2")).to_have_text(LEAVES[0])


def test_it_works_by_keyboard_alone(plan: Page) -> None:
    plan.locator("#waves button.device-name").first.focus()
    plan.keyboard.press("Enter")
    expect(plan.locator("#panel h2")).to_have_text(LEAVES[0])
    plan.keyboard.press("Escape")
    summary = plan.locator("details.change > summary").last
    before = summary.evaluate("e => e.parentElement.open")
    summary.focus()
    plan.keyboard.press("Enter")
    assert summary.evaluate("e => e.parentElement.open") is not before


def test_rows_that_the_script_draws_are_those_of_the_page(
    opened: Opener, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = opened(write_plan(tmp_path / "whole.html"))
    monkeypatch.setattr(pages, "SHOWN", 0)
    page = opened(write_plan(tmp_path / "lazy.html"))
    assert page.locator("details.change tbody tr").count() == 0
    page.get_by_role("button", name="Open all").click()
    expect(page.locator("details.change[data-pending]")).to_have_count(0)
    rows = "all => all.map(row => row.className + [...row.cells].map(cell => cell.innerHTML).join('|'))"
    drawn = page.locator("details.change tbody tr").evaluate_all(rows)
    assert drawn == whole.locator("details.change tbody tr").evaluate_all(rows)
    assert len(drawn) > 50
    assert page.evaluate("window.hacked") is None


def test_a_run_says_what_failed_and_when(pushed: Page) -> None:
    assert pushed.locator("#verdict").inner_text().endswith("wave 3 failed: stripe2-leaf1: verify: a session is down")
    first = pushed.locator("#outcomes-table tbody tr").first
    assert "rolled back" in first.inner_text()
    assert pushed.locator("#waves .chart-of-run .step-rollback").count() == 1
    assert pushed.locator("table.waves tr.fail th").inner_text().endswith("leaves")
    pushed.get_by_label("Outcome").select_option("confirmed")
    expect(pushed.locator("#outcomes-table tbody tr:visible")).to_have_count(3)
    pushed.locator("#outcomes input").fill("spine2")
    expect(pushed.locator("#outcomes output")).to_have_text("1 of 1 devices shown")
    pushed.locator("#outcomes-table tbody tr:visible button").click()
    panel = pushed.locator("#panel")
    expect(panel).to_contain_text("Wave 2: spines")
    expect(panel).to_contain_text("confirmed")
    expect(pushed.locator("#record")).to_contain_text("verification failed: stripe2-leaf1")
    assert pushed.evaluate("window.hacked") is None
    assert flaws(pushed) == []
    assert cut_on_paper(pushed) == []


# What is compared: of the plan and of the run, with the schemes.
VIEWS = (
    ("plan", "section#waves", ("light",)),
    ("plan", "details.change >> nth=0", ("light", "dark")),
    ("plan", "section#impact", ("light",)),
    ("run", "section#outcomes", ("light",)),
    ("run", "section#waves", ("light", "dark")),
)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_what_they_look_like(plan: Page, pushed: Page, scheme: str) -> None:
    for page in (plan, pushed):
        page.emulate_media(color_scheme="dark" if scheme == "dark" else "light")
        # It would stand in front of what is higher than the window.
        page.evaluate("document.querySelector('nav').hidden = true")
    for kind, part, schemes in VIEWS:
        if scheme in schemes:
            word = part.partition("#")[2] or "change"
            looks_like((plan if kind == "plan" else pushed).locator(part), f"push-{kind}-{word}-{scheme}")


def test_they_can_be_printed(plan: Page) -> None:
    plan.emulate_media(media="print")
    expect(plan.locator("#changes-filter")).to_be_hidden()
    expect(plan.locator("details.change").first).to_be_visible()


@pytest.mark.exhaustive
def test_a_plan_of_576_switches(opened: Opener, trees: Trees, tmp_path: Path) -> None:
    model = read_fabric_model(trees("frontier"), {})
    names = [name for name, role in model.roles.items() if role in ("leaf", "spine")]
    one = lab.look(LEAVES[0])
    looks = {
        name: replace(one, name=name, commands=("set x",), compared=large_rows(name, 24)) for name in sorted(names)
    }
    spines = tuple(name for name in names if name.startswith("spine"))
    leaves = tuple(name for name in names if name not in spines)
    waves = (Wave("canary leaf", leaves[:1]), Wave("spines of blue", spines), Wave("leaves of rail 0", leaves[1:]))
    path = write_large(tmp_path / "plan.html", Plan(looks, {}, {}, model, waves))
    assert path.stat().st_size < LARGEST
    began = time.monotonic()
    page = opened(path)
    assert page.locator("#verdict").inner_text().startswith("576 devices of 576 change")
    # Not asserted sharply: the machine of the tests is busy.
    assert time.monotonic() - began < 10 * OPENS_S
    group = page.locator("details.change").last
    group.locator("summary").first.click()
    expect(group.locator("tbody tr")).to_have_count(24 * 4 + 3)
    page.locator("#changes-filter input").fill("asn-of stripe9-leaf3;")
    expect(page.locator("#changes-filter output")).to_have_text("1 of 576 groups match")
    page.get_by_role("button", name="Highlight").nth(0).click()
    expect(page.locator("#fabric-marked")).to_contain_text("affected by wave 1 (canary leaf): 64")
