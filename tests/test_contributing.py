"""The tables of CONTRIBUTING.md say where things are: every path in them is there."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest

from tests.conftest import ROOT

TEXT = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
ROWS = [line for line in TEXT.split("\n") if line.startswith("| ") and not line.startswith(("| folder", "| to change"))]
CODE = re.compile(r"`([^`]+)`")
NAME = re.compile(r"[A-Z]\w+")
PATH = re.compile(r"[\w./-]*(?:/|\.(?:py|md|toml|j2))")


def paths(row: str) -> list[str]:
    return [word for code in CODE.findall(row) for word in code.split() if PATH.fullmatch(word)]


def places(row: str) -> list[Path]:
    """The folders in which a row's file names without a folder may be."""
    folders = [ROOT / path for path in paths(row) if "/" in path]
    return [ROOT, ROOT / "ailb_gen", *(folder if folder.is_dir() else folder.parent for folder in folders)]


def names(row: str) -> list[str]:
    """The tables and classes that a row names."""
    return [code for code in CODE.findall(row) if NAME.fullmatch(code) and not (ROOT / code).exists()]


@pytest.mark.parametrize("row", [row for row in ROWS if paths(row)], ids=lambda row: row[:60])
def test_every_path_of_a_row_is_there(row: str) -> None:
    lost = [path for path in paths(row) if not any((place / path).exists() for place in places(row))]
    assert lost == []


@pytest.mark.parametrize("row", [row for row in ROWS if names(row)], ids=lambda row: row[:60])
def test_every_name_of_a_row_is_defined_in_one_of_its_files(row: str) -> None:
    files = [place / path for path in paths(row) for place in places(row) if (place / path).is_file()]
    text = "\n".join(file.read_text(encoding="utf-8") for file in files)
    lost = [name for name in names(row) if not re.search(rf"^(?:class )?{name}\b", text, re.M)]
    assert lost == []


def test_every_folder_of_the_program_has_a_row() -> None:
    named = {path.strip("/") for row in ROWS for path in paths(row)}
    folders = {
        path.relative_to(ROOT).as_posix() for path in (ROOT / "ailb_gen").iterdir() if (path / "__init__.py").is_file()
    }
    modules = {path.relative_to(ROOT).as_posix() for path in (ROOT / "ailb_gen").glob("*.py")}
    known = {"ailb_gen/__init__.py", "ailb_gen/__main__.py"}
    assert sorted((folders | modules) - named - known) == []


def test_the_layers_are_those_of_the_import_contracts() -> None:
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["importlinter"][
        "contracts"
    ]
    shown = re.search(r"do not import each other\.\n\n```text\n(.*?)```", TEXT, re.S)
    assert shown is not None
    lines = re.sub(r"\n    +", "  ", shown[1]).strip().split("\n")
    assert [line.split() for line in lines] == [layer.split(" | ") for layer in contracts[0]["layers"]]
