"""The section of loads: what its tables and its data say of the lab, whole and damaged."""

from __future__ import annotations

from typing import Any

import pytest

from ailb_gen.checks.context import Context
from ailb_gen.report.html import loads
from ailb_gen.report.html.loads import UNIT, loads_section
from ailb_gen.report.html.page import Page, html
from ailb_gen.report.html.paths import paths_section
from tests.checks.edited import LEAF, edited, intended, network, unchanged, without


def data(context: Context) -> dict[str, Any]:
    found = loads_section(context).data
    assert isinstance(found, dict)
    return found


def examined(context: Context) -> Context:
    assert context.failure_outcomes is not None
    return context


def test_an_even_fabric_has_1_everywhere_and_a_third_more_after_the_worst_failure() -> None:
    found = data(examined(Context(intended().fabric, unchanged())))
    assert set(found["steady"]) == {UNIT} and len(found["steady"]) == 32
    assert {round(load / UNIT, 2) for load in found["worst"]} == {1.33}
    assert all(0 <= cause < 20 for cause in found["cause"])
    names = list(unchanged().switches)
    assert [names[device] for device in found["spines"]] == ["spine1", "spine2", "spine3", "spine4"]
    assert [(name, [names[device] for device in devices]) for name, devices in found["groups"]] == [
        ("stripe 1", ["stripe1-leaf1", "stripe1-leaf2"]),
        ("stripe 2", ["stripe2-leaf1", "stripe2-leaf2"]),
    ]


def test_tables_name_the_link_and_the_failure() -> None:
    context = examined(Context(intended().fabric, unchanged()))
    values = loads_section(context).values
    rows = values["colors"]
    assert isinstance(rows, list)
    assert [(row.name, row.links, row.steady, row.worst) for row in rows] == [
        (color, "4", "mean 1.00, peak 1.00", "1.33") for color in ("green", "blue", "red", "orange")
    ]
    assert all(" - " in row.link and row.cause and row.cause != row.link for row in rows)
    text = html(Page("x", "info", "x", sections=(paths_section(context), loads_section(context))))
    assert rows[0].link in text and "worst single failure" in text


def test_without_failures_there_is_no_worst_load() -> None:
    section = loads_section(Context(intended().fabric, unchanged()))
    assert section.values["examined"] == 0 and section.values["top"] == []
    assert isinstance(section.data, dict) and section.data["worst"] == []
    assert "Failures were not tested" in html(Page("x", "info", "x", sections=(section,)))


def test_an_uneven_fabric_shows_where() -> None:
    """A leaf without a session to spine2 sends what it sent there over the three others."""
    texts = edited((LEAF, "                    interface et-0/0/1.0;\n", ""))
    context = Context(intended().fabric, network(texts))
    found = data(context)
    links = [f"{one.cable.a.device} {one.cable.b.device}" for one in context.routing.graph.sessions.up]
    steady = {link: max(found["steady"][2 * at : 2 * at + 2]) for at, link in enumerate(links)}
    assert f"{LEAF} spine2" not in steady
    assert {load for link, load in steady.items() if link.startswith(LEAF)} == {UNIT}
    assert min(steady.values()) < UNIT


def test_a_color_without_sessions_is_a_row() -> None:
    rows = loads_section(examined(Context(intended().fabric, without("spine2")))).values["colors"]
    assert isinstance(rows, list)
    assert [(row.name, row.links, row.link != "") for row in rows] == [
        ("green", "4", True), ("blue", "0", False), ("red", "4", True), ("orange", "4", True)
    ]  # fmt: skip
    assert rows[1].steady == "no session up"


def test_switches_without_a_session_have_their_state() -> None:
    out = data(Context(intended().fabric, without("stripe2-leaf1")))["out"]
    assert out == [{"name": "stripe2-leaf1", "role": "leaf", "group": "stripe 2", "state": "no file"}]
    assert data(Context(intended().fabric, unchanged()))["out"] == []


def test_no_session_at_all() -> None:
    section = loads_section(Context(intended().fabric, without(*unchanged().switches)))
    assert section.data is None
    assert "no traffic is forwarded" in html(Page("x", "info", "x", sections=(section,)))


def test_switches_that_nobody_asked_for_and_sessions_without_color(monkeypatch: pytest.MonkeyPatch) -> None:
    texts = edited((LEAF, "fabric-color green;", ""))
    context = Context(intended().fabric, network(texts))
    monkeypatch.setitem(context.expected.switches, LEAF, context.expected.switches["spine1"])
    section = loads_section(context)
    assert isinstance(section.data, dict)
    assert section.data["groups"][-1][0] == "stripe 2" and section.data["groups"][0][0] == "other switches"
    names = [row.name for row in section.values["colors"]]  # type: ignore[attr-defined]
    assert names[-1] == loads.UNCOLORED
