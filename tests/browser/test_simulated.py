"""The report of `simulate` in a browser: charts, values where the pointer is, series that are hidden, no violations."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from ailb_gen.report.html.simulated import simulated
from ailb_gen.study.report import study_page
from tests.browser.conftest import Opener
from tests.browser.judging import flaws, looks_like
from tests.report.html.simulations import loaded, simulation
from tests.study.made import RESULTS, STUDY


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("simulated") / "report.html"
    variants = {f"{name}, x={n}": (f"x={n}", name) for n in (1, 2) for name in ("rlb", "dlb", "ecmp")}
    path.write_text(simulated(loaded(simulation(variants, slower={"ecmp, x=1": 30, "ecmp, x=2": 10}))))
    return path


@pytest.fixture
def page(opened: Opener, made: Path) -> Page:
    return opened(made)


@pytest.mark.long
def test_charts_show_values_where_the_pointer_is_and_hide_series(page: Page) -> None:
    assert page.locator("#verdict").inner_text().startswith("rlb and dlb are fastest, within 0.1 %: a flow takes")
    assert page.evaluate("window.hacked") is None
    chart = page.locator("#completion figure.chart").first
    plot = chart.locator("svg.plot")
    plot.hover(position={"x": 300, "y": 100})
    told = chart.locator("output")
    expect(told).to_be_visible()
    lines = told.inner_text().splitlines()
    assert [line.split(":")[0] for line in lines[1:]] == ["A rlb", "B dlb", "C ecmp"]
    assert all(0 <= float(line.split(":")[1]) <= 1 for line in lines[1:])
    chart.get_by_label("B dlb").uncheck()
    expect(plot.locator('[data-series="1"]')).to_be_hidden()
    plot.hover(position={"x": 310, "y": 100})
    assert [line.split(":")[0] for line in told.inner_text().splitlines()[1:]] == ["A rlb", "C ecmp"]
    chart.get_by_label("B dlb").check()
    expect(plot.locator('[data-series="1"]')).to_be_visible()


@pytest.mark.long
def test_the_page_is_usable_by_keyboard_and_without_sight(page: Page) -> None:
    chart = page.locator("#completion figure.chart").first
    summary = chart.get_by_text("Values", exact=True)
    summary.focus()
    page.keyboard.press("Enter")
    expect(chart.get_by_role("table")).to_be_visible()
    assert chart.get_by_role("columnheader").all_inner_texts() == ["cumulative share", "rlb", "dlb", "ecmp"]
    assert page.locator("svg.plot[role=img][aria-label]").count() == page.locator("svg.plot").count()
    page.evaluate("for (const one of document.querySelectorAll('details')) one.open = true")
    assert flaws(page) == []


@pytest.mark.long
def test_charts_look_as_before_in_light_and_dark(page: Page) -> None:
    looks_like(page.locator("#comparison .charts"), "simulated-bars-light")
    looks_like(page.locator("#completion figure.chart").first, "simulated-distribution-light")
    page.emulate_media(color_scheme="dark")
    looks_like(
        page.locator("#overtime figure.chart").filter(has_text="Peak queue depth, leaf to spine").first,
        "simulated-time-dark",
    )
    looks_like(page.locator("#links details[open] figure.chart:not(.constants)").last, "simulated-heat-dark")


@pytest.mark.long
def test_the_report_of_a_study_opens_and_has_no_violations(opened: Opener, tmp_path: Path) -> None:
    path = tmp_path / "study.html"
    path.write_text(study_page(STUDY, RESULTS, {}, "ailb-gen study made-up", interrupted=False))
    page = opened(path)
    assert page.locator("#claims li.pass").inner_text().startswith("holds Adaptive is faster")
    page.evaluate("for (const one of document.querySelectorAll('details')) one.open = true")
    assert flaws(page) == []
