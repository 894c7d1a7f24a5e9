"""The page of a verdict: which sections there are, and what is in their data."""

from __future__ import annotations

import base64
import gzip
import json
import re
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from ailb_gen.checks.context import Context
from ailb_gen.checks.model import Finding, Result, Run
from ailb_gen.errors import Place
from ailb_gen.intent.drain import parse_drain
from ailb_gen.intent.load import load
from ailb_gen.network.read import read_network
from ailb_gen.report.html import files, findings
from ailb_gen.report.html.devices import device_states
from ailb_gen.report.html.files import FileFolder, packed_files, visible
from ailb_gen.report.html.page import Page, Section, html
from ailb_gen.report.html.verdict_page import page_of, verdict_html
from ailb_gen.report.verdict import judge
from tests.checks.trees import GOLDEN
from tests.conftest import EXAMPLES
from tests.report.samples import COLOR, DAY, NASTY, SESSION, many, results, run_of, verdict_of, waiver

LEAF = "stripe1-leaf1"
FILE = f"switches/{LEAF}.conf"
HASH = "$6$abcdefgh$0123456789012345678901234567890123456789"


@pytest.fixture(scope="module")
def context(tmp_path_factory: pytest.TempPathFactory) -> Context:
    """The files of the lab, one with a secret, another that is missing."""
    root = tmp_path_factory.mktemp("lab") / "lab"
    shutil.copytree(GOLDEN / "lab", root, symlinks=True)
    leaf = root / FILE
    text = leaf.read_text().replace(
        "system {", f'system {{\n    root-authentication {{ encrypted-password "{HASH}"; }}', 1
    )
    leaf.write_text(text)
    (root / "switches" / "spine2.conf").unlink()
    return Context(
        load(EXAMPLES / "lab" / "fabric.yaml").fabric, read_network(root, lambda *trees: None).network, "", root
    )


def run_on(context: Context, *rows: Result) -> Run:
    """A run about the files of the lab."""
    roles = tuple((name, switch.role) for name, switch in context.expected.switches.items())
    return Run("lab", "fabric.yaml", str(context.root), roles, rows)


def page_on(context: Context, *rows: Result) -> Page:
    """The page about them."""
    return page_of(judge(run_on(context, *rows), (), (), (), "error", DAY), context, "drift")


def section(page: Page, name: str) -> Section:
    """A section of a page."""
    return next(one for one in page.sections if one.name == name)


def unpacked(text: str) -> Any:
    """Data as the page's script reads it."""
    return json.loads(gzip.decompress(base64.b64decode(text)))


def data_of(page: Page) -> Mapping[str, Any]:
    """All data of a page by name."""
    rows = re.findall(r'<script type="application/gzip" id="data-([^"]*)">([^<]*)<', html(page))
    return {name: unpacked(text) for name, text in rows}


def test_without_a_fabric_the_findings_are_shown() -> None:
    text = verdict_html(verdict_of(), None, "validate")
    assert "as-list names another AS" in text
    assert "<nothing>" not in text
    assert "\x1b" not in text
    names = [one.name for one in page_of(verdict_of(), None, "validate").sections]
    assert names == ["findings", "checks"]


def test_a_switch_without_a_file_has_its_state_in_every_section(context: Context) -> None:
    page = page_on(context)
    assert ("Without a file", "spine2") in page.facts
    rows = data_of(page)["devices"]["devices"]
    assert {row[0]: row[-1] for row in rows if row[-1]} == {"spine2": "no file"}
    assert '<td><span class="out">no file</span></td>' in html(page)


def test_drained_switches_and_links_are_states(context: Context) -> None:
    fabric = context.expected.fabric.model_copy(update={"drain": (parse_drain("spine3"),)})
    assert device_states(Context(fabric, context.network, "", context.root)) == {
        "spine2": "no file",
        "spine3": "drained",
        **{leaf.name: "1 of 4 links drained" for leaf in context.expected.leaves},
    }


@pytest.mark.parametrize(("rows", "status"), [((), "pass"), ((results()[1],), "warn"), ((results()[0],), "fail")])
def test_the_status_is_that_of_the_worst(rows: tuple[Result, ...], status: str) -> None:
    verdict = judge(run_of(*rows), (), (), (), "error", DAY)
    assert page_of(verdict, None, "validate").status == status


def test_waivers_are_a_section_of_their_own() -> None:
    page = page_of(verdict_of(waivers=(waiver("AILB203", "spine1*"),)), None, "validate")
    rows: Any = section(page, "waivers").values["rows"]
    (row,) = rows
    assert (row.count, row.waiver.reason) == (1, "known")
    assert "waivers.yaml:3:3" in html(page)


def test_every_device_has_its_ports_sessions_prefixes_and_files(context: Context) -> None:
    data = data_of(page_on(context))
    devices = {row[0]: row for row in data["devices"]["devices"]}
    part = devices[LEAF][5]
    tables = {title: rows for title, _, rows in data[f"devices-{part}"]}
    assert len(tables["Ports"]) == len(context.network.switches[LEAF].ports)
    states = [row[5] for row in tables["Sessions"]]
    assert sorted(states)[:3] == ["comes up"] * 3
    assert sorted(states)[3].startswith("down: spine2: there is no usable file")
    assert tables["Prefixes"][0] == ["fc00:1:1:1::/64", "green", "all-colors"]
    assert list(data[f"devices-files-{part}"]) == [FILE]
    assert data["devices"]["files"][FILE] == part
    # What has no file has a place in the list all the same; servers have rules.
    assert devices["spine2"][1] == "spine"
    assert f"devices-files-{devices['spine2'][5]}" not in data
    ((title, _, rules),) = data[f"devices-{devices['gpu-s1-1'][5]}"]
    assert (title, len(rules) > 0) == ("Rules", True)


def test_no_secret_is_in_a_report(context: Context) -> None:
    page = page_on(context)
    assert HASH not in json.dumps(data_of(page))
    assert "encrypted-password" in json.dumps(data_of(page))


def test_the_picture_marks_causes_or_all_findings(context: Context) -> None:
    cause = Finding(SESSION.id, LEAF, "as-list names another AS", Place(FILE, 9), part="et-0/0/0")
    page = page_on(context, Result(SESSION, (cause,), 1))
    fabric = section(page, "fabric")
    assert 'class="badge error"' in str(fabric.values["svg"])
    assert fabric.values["more"] is False
    assert {"fabric", "stripe 1", "stripe 2", "rail 0", "rail 1"} <= set(fabric.parts)
    assert html(page).count("data-device") > len(context.expected.switches)


def test_files_are_left_out_when_there_is_no_room(context: Context, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "BUDGET", 3000)
    finding = Finding(SESSION.id, "stripe2-leaf2", "x", Place("switches/stripe2-leaf2.conf", 9))
    page = page_on(context, Result(SESSION, (finding,), 1))
    data = data_of(page)
    kept = [row[0] for row in data["devices"]["devices"] if f"devices-files-{row[5]}" in data]
    assert "stripe2-leaf2" in kept
    assert LEAF not in kept
    (note,) = re.findall(r"The files of (\d+) devices are left out of this page", html(page))
    # One switch has no file at all.
    assert (int(note), len(kept), len(data["devices"]["devices"])) == (10, 1, 12)


def test_a_file_that_is_huge_or_one_of_too_many_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "LARGEST", 10)
    monkeypatch.setattr(files, "MOST", 3)
    for name, text in (("small", "a\n"), ("large", "a\n" * 10), ("fourth", "a\n")):
        (tmp_path / name).write_text(text)
    found, left_out = packed_files(tmp_path, [FileFolder("x", ("x",), ("small", "large", "gone", "fourth"))])
    why = "is not shown: the page shows 3 files of a folder, each of up to 10 bytes.\n"
    assert unpacked(found["x"].text) == {
        "small": "a\n",
        "large": f"This file, of 20 bytes, {why}",
        "fourth": f"This file, of 2 bytes, {why}",
    }
    assert left_out == []


def test_what_would_not_print_is_written_out() -> None:
    assert visible("a\tb\nc") == "a\tb\nc"
    assert visible("a\tb\n\x1b\u202e") == "a       b\n\\x1b\\u202e"


def test_findings_that_are_alike_stand_behind_the_first() -> None:
    page = page_of(verdict_of(many(250)), None, "validate")
    assert "and 249 more like it" in html(page)
    data = section(page, "findings").data
    assert [row[9] for row in data["rows"][:3]] == [-1, 0, 0]  # type: ignore[index]


def test_of_very_many_findings_the_first_are_in_the_page(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(findings, "MOST", 100)
    page = page_of(verdict_of(many(250)), None, "validate")
    assert "First 100 of 250 findings" in html(page)
    assert len(section(page, "findings").data["rows"]) == 100  # type: ignore[index]


def test_text_that_wants_to_be_markup_stays_text() -> None:
    finding = Finding(COLOR.id, "<script>alert(1)</script>", NASTY, Place("<b>.conf", 1), NASTY, NASTY, part="<i>")
    text = html(page_of(judge(run_of(Result(COLOR, (finding,), 1)), (), (), (), "error", DAY), None, "<u>"))
    for markup in ("<script>alert", "<b>", "<i>", "<u>"):
        assert markup not in text
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in text
