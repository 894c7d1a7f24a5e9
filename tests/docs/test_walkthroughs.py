"""Walkthroughs of the documentation: the commands of their `shell-session` blocks print what the page shows."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path

import pytest

from tests.conftest import ROOT, need_tool
from tests.docs.script import Step, differences, run, shows, silent, steps

PAGES = sorted(path for path in (ROOT / "docs").rglob("*.md") if steps(path, "shell-session"))


@pytest.mark.long
@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_commands_print_what_the_page_shows(page: Path, tmp_path: Path) -> None:
    walkthrough = steps(page, "shell-session")
    if any(step.command.startswith("ssh-keygen ") for step in walkthrough):
        need_tool("ssh-keygen")
    folder = tmp_path / "checkout"
    for name in ("examples", "inventory"):
        shutil.copytree(ROOT / name, folder / name)
    programs = tmp_path / "bin"
    programs.mkdir()
    for name, words in (("ailb-gen", f"{sys.executable} -m ailb_gen"), ("python", sys.executable)):
        program = programs / name
        program.write_text(f'#!/bin/sh\nexec {words} "$@"\n', encoding="utf-8")
        program.chmod(0o755)
    env = {
        **os.environ,
        "COLUMNS": "80",
        "PATH": f"{programs}:{os.environ['PATH']}",
        "PYTHONPATH": str(ROOT),
        "XDG_STATE_HOME": str(tmp_path / "state"),
    }
    env.pop("AILB_YANG", None)
    run(walkthrough, folder, env)
    assert silent(walkthrough, tmp_path) == []
    assert differences(walkthrough) == []


@pytest.mark.parametrize("gap", ["...", "…"])
def test_lines_left_out_match_any_lines_and_others_only_themselves(gap: str) -> None:
    def matches(*printed: str) -> bool:
        return shows(Step(ROOT, "x", shown=[gap, "b", gap, "d"], printed=list(printed)))

    assert matches("a", "b  ", "c", "d")
    assert matches("b", "d")
    assert not matches("a", "c", "d")
    assert not matches("b", "d", "e")
