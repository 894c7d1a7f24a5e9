"""What pages show without running it: commands have options that exist, files are valid."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import typer.main
import yaml

from ailb_gen.cli import app
from ailb_gen.sim.scenario.models import Scenario
from ailb_gen.study.what_if.models import WhatIf
from tests.conftest import ROOT

PAGES = [
    ROOT / "README.md",
    *(page for top in ("docs", "examples", "inventory") for page in (ROOT / top).rglob("*.md")),
]
BLOCK = re.compile(r"^```(?:text|yaml)\n(.*?)^```", re.M | re.S)
COMMAND = re.compile(r"^(?:[^|]*?[ $])?(ailb-gen(?= [a-z]).*?)(?: [>|&] ?.*)?$", re.M)
# Typer's command; it has no public type.
ROOT_COMMAND: Any = typer.main.get_command(app)


def shown(page: Path) -> Iterator[list[str]]:
    """Yield the words of the commands in blocks that no test runs."""
    for block in BLOCK.findall(page.read_text(encoding="utf-8")):
        for line in COMMAND.findall(block):
            yield shlex.split(line)


def unknown(words: list[str]) -> list[str]:
    """Return the verbs and options of a command line that do not exist."""
    command = ROOT_COMMAND
    for word in words[1:]:
        inner = getattr(command, "commands", None)
        if inner is None:
            break
        if word not in inner:
            return [word]
        command = inner[word]
    known = {name for param in command.params for name in (*param.opts, *param.secondary_opts)}
    # What stands behind is another command.
    own = words[: words.index("--")] if "--" in words else words
    return [word for word in own if word.startswith("-") and word.partition("=")[0] not in known]


@pytest.mark.parametrize("page", [page for page in PAGES if any(shown(page))], ids=lambda page: page.stem)
def test_commands_that_are_not_run_exist(page: Path) -> None:
    assert [(words, unknown(words)) for words in shown(page) if unknown(words)] == []


def test_what_does_not_exist_is_found() -> None:
    assert unknown(["ailb-gen", "lab", "chekc"]) == ["chekc"]
    assert unknown(["ailb-gen", "plan", "fabric.yaml", "x", "--exitcode"]) == ["--exitcode"]


@pytest.mark.parametrize(("page", "model"), [("simulate", Scenario), ("what-if", WhatIf)])
def test_the_files_that_a_page_shows_are_valid(page: str, model: type[Scenario | WhatIf]) -> None:
    blocks = re.findall(r"^```yaml\n(.*?)^```", (ROOT / f"docs/{page}.md").read_text("utf-8"), re.M | re.S)
    whole, *parts = map(yaml.safe_load, blocks)
    # Further ones are keys that such a file may have.
    for part in ({}, *parts):
        model.model_validate(whole | part)
