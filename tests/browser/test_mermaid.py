"""Mermaid's own parser reads every picture, and draws the nodes of one."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.browser.conftest import Opener
from tests.conftest import ROOT

GOLDEN = ROOT / "tests" / "picture" / "golden"


@pytest.mark.long
def test_mermaid_parses_every_golden_picture_and_draws_one(opened: Opener, mermaid: str, tmp_path: Path) -> None:
    path = tmp_path / "empty.html"
    path.write_text("<!doctype html><title>empty</title>")
    page = opened(path)
    page.add_script_tag(content=mermaid)
    page.evaluate("mermaid.initialize({startOnLoad: false})")
    texts = {one.name: one.read_text(encoding="utf-8") for one in sorted(GOLDEN.glob("*.mmd"))}
    assert texts

    def parsed(text: str) -> object:
        return page.evaluate("text => mermaid.parse(text).then(() => 'read', String)", text)

    assert {name: parsed(text) for name, text in texts.items()} == dict.fromkeys(texts, "read")
    assert parsed("flowchart TB\n a -->") != "read"
    drawn = page.evaluate("text => mermaid.render('lab', text).then(found => found.svg)", texts["lab.mmd"])
    assert all(name in drawn for name in ("spine4", "stripe2-leaf2", "gpu-s1-1"))
    assert drawn.count('class="flowchart-link') + drawn.count(" flowchart-link") >= 24
