"""The comment of a merge request: nothing from a file is markup, and it fits."""

from __future__ import annotations

import os
import re
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from ailb_gen.deploy.device_diff import ADD, REPLACE, Edit
from ailb_gen.report.check_report import CheckReport
from ailb_gen.report.markdown import MAX_CHARACTERS
from ailb_gen.review.changes import DeviceChange, groups_of
from ailb_gen.review.comment import comment, marker
from ailb_gen.review.model import Review
from tests.report.samples import NASTY, many, verdict_of
from tests.review.fabric import CHANGED, FABRIC, reviewed, write

HOSTILE = ("`", "```", "</summary><script>alert(1)</script>", "@admin", "[x](http://evil)", "{{ x }}", "$(id)", "=cmd")


def sample(*names: str, lines: int = 3) -> Review:
    """Return a review of some leaves, each of which changes in its own way."""
    rows = [
        DeviceChange(name, "leaf", "changed", tuple(Edit(ADD, f"x{n} {i} {name}") for i in range(lines)))
        for n, name in enumerate(names)
    ]
    return Review("main", CheckReport(verdict_of()), groups=groups_of(rows))


def rendered(text: str) -> str:
    """Return what a browser would get; HTML of our own stays, as on GitHub."""
    return str(MarkdownIt("commonmark", {"html": True}).enable("table").render(text))


def outside_code(html: str) -> str:
    return re.sub(r"<(code|pre)\b.*?</\1>", "", html, flags=re.S)


def test_the_whole_of_a_small_comment(tmp_path: Path) -> None:
    found = comment(reviewed(write(tmp_path / "a", FABRIC), write(tmp_path / "b", CHANGED)))
    found = found.replace(str(tmp_path), "")
    golden = Path(__file__).with_name("comment.md")
    if os.environ.get("AILB_UPDATE_GOLDEN"):
        golden.write_text(found, encoding="utf-8")
    assert found == golden.read_text(encoding="utf-8")


def test_the_last_comment_is_found_by_the_first_line() -> None:
    assert marker("lab") == "<!-- ailb-gen review: lab -->"
    assert marker("a --> @b\n") == "<!-- ailb-gen review: a_--___b_ -->"
    assert comment(sample("leaf1")).startswith(marker("jvd") + "\n")


@pytest.mark.parametrize("text", [*HOSTILE, NASTY, "x" * 300])
def test_a_hostile_text_never_leaves_its_field(text: str) -> None:
    edits = (Edit(ADD, text), Edit(REPLACE, text, text, text))
    changes = [
        DeviceChange(text, "leaf", "changed", edits),
        DeviceChange(f"{text}2", "leaf", "unreadable"),
    ]
    review = Review(text, CheckReport(verdict_of(fabric=text)), groups=groups_of(changes), cables=((text,), (text,)))
    for one in (review, replace(review, missing=text)):
        found = comment(one)
        html = rendered(found)
        outside = outside_code(html)
        for word in ("@admin", "<script", "http://evil", "$(id)", "{{", "<a ", "\x1b", "\u202e"):
            assert word not in outside, word
        assert html.count("<details>") == html.count("</details>") == found.count("\n<details>")
        assert html.count("<summary>") == html.count("</summary>")


@given(st.text(max_size=60))
def test_no_text_makes_a_link_or_a_mention(text: str) -> None:
    change = DeviceChange(text, "leaf", "changed", (Edit(ADD, text),))
    review = Review(text, CheckReport(verdict_of(fabric=text)), groups=groups_of([change]), cables=((text,), ()))
    outside = outside_code(rendered(comment(review)))
    assert not re.search(r"<(?!/?(?:h3|h4|p|ul|li|b|details|summary|table|thead|tbody|tr|th|td|em|!--)\b|!--)", outside)


def test_what_does_not_fit_is_left_out_whole_and_counted() -> None:
    review = sample(*(f"leaf{n}-{'x' * 200}" for n in range(400)), lines=30)
    assert len(review.groups) == 400
    for limit in (MAX_CHARACTERS, 20_000, 3_000):
        found = comment(review, limit)
        assert len(found) <= limit
        shown = found.count("<details><summary><b>1 leaf")
        left = re.search(r"No room for (\d+) groups?; the report as JSON of this run has everything\.", found)
        assert left is not None and shown + int(left[1]) == 400
        assert len(re.findall("^<details>", found, re.M)) == len(re.findall("^</details>$", found, re.M))


def test_findings_leave_room_for_changes() -> None:
    review = replace(sample("leaf1"), report=CheckReport(verdict_of(many(3000))))
    found = comment(review)
    assert len(found) <= MAX_CHARACTERS
    assert "#### New findings" in found and "<code>leaf1</code>" in found


def test_many_statements_are_counted() -> None:
    found = comment(sample("leaf1", lines=1000))
    assert found.count("\n+ x0") == 40 and "\n! and 960 more\n" in found


def test_512_leaves_with_the_same_change_are_one_line() -> None:
    edits = (Edit(REPLACE, "protocols bgp group g bfd-liveness-detection multiplier", "3", "4"),)
    changes = [DeviceChange(f"leaf{n:03}", "leaf", "changed", edits) for n in range(512)]
    found = comment(Review("main", CheckReport(verdict_of()), groups=groups_of(changes)))
    (line,) = (line for line in found.splitlines() if "leaves" in line and "summary" in line)
    assert "512 leaves: +1 -1 statements each" in line and "and 509 more" in line
    assert "On `leaf000`; the same on all:" in found
