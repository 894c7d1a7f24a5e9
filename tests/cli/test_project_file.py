"""A project file that cannot be used is refused with file, line, key and reason."""

import os
import re
from pathlib import Path

import pytest
import typer.main

from ailb_gen.cli import app
from ailb_gen.cli.project import TABLE, all_keys, find_file
from ailb_gen.cli.project_file import PATHS, ProjectFile, placed, read_project
from ailb_gen.errors import IntentError
from tests.conftest import ROOT


def test_keys_are_those_that_options_name() -> None:
    known = {field.alias for field in ProjectFile.model_fields.values()}
    assert known == {key for key, _ in all_keys(typer.main.get_command(app))}
    assert set(PATHS) < known


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('fabrc = "x"', "ailb.toml:1:1: error[unknown-key]: fabrc: unknown key; did you mean 'fabric'?"),
        ('color = "auto"\nfail_on = "note"', "ailb.toml:2:1: error[unknown-key]: fail_on: unknown key; did you mean"),
        ("fabric = 3", "ailb.toml:1:1: error[wrong-type]: fabric: must be text, not 3"),
        ('fabric = ""', "error[out-of-range]: fabric: must not be empty"),
        ('workers = "2"', "error[wrong-type]: workers: must be a whole number, not '2'"),
        ("workers = 0", "error[out-of-range]: workers: must be at least 1, not 0"),
        ('color = "alway"', "error[wrong-value]: color: must be 'auto', 'always' or 'never', not 'alway'; did you"),
        ('reports = "html=x"', "error[wrong-type]: reports: must be a list"),
        ('reports = ["table"]', "error[wrong-value]: reports[0]: 'table': write FORMAT=FILE, such as 'html=build/"),
        ('reports = ["html={verbs}.html"]', "reports[0]: 'html={verbs}.html': only {verb} can stand in braces"),
        ('executor = "threads"', "executor: must be processes, serial, or dask:ADDRESS, not 'threads'"),
        ('[tool.ailb]\nfabric = "a"', "error[unknown-key]: this file has no tables; delete the line with the brackets"),
        ("fabric = ", "ailb.toml:1:10: error[toml-syntax]: not valid TOML: Invalid value; write KEY = "),
        ('fabric = "a', "error[toml-syntax]: not valid TOML: Unterminated string"),
        ("\n[fabric", "ailb.toml:2:8: error[toml-syntax]"),
    ],
)
def test_what_cannot_be_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str, message: str) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "ailb.toml").write_text(text)
    with pytest.raises(IntentError) as error:
        read_project(tmp_path / "ailb.toml")
    assert message in str(error.value)
    assert error.value.exit_code == 2


def test_lines_of_a_table_in_pyproject(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "pyproject.toml"
    path.write_text('[project]\nfabrc = 1\n\n[tool.ailb]\ncolor = "never"\nfabrc = 2\n[tool.x]\nfabrc = 3\n')
    with pytest.raises(IntentError, match=r"pyproject\.toml:6:1: error\[unknown-key\]: fabrc"):
        read_project(path, TABLE)


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("[tool.'ailb']\n'fabrc' = 'x'\n", 2),
        ("[tool.black]\nfabrc = 1\n[tool]\nailb = {fabrc = 'x'}\n", 4),
        ("[tool.ailb.fabrc]\nx = 1\n", 1),
    ],
)
def test_other_ways_to_write_the_table(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str, line: int) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "pyproject.toml").write_text(text)
    assert find_file(tmp_path) is not None
    with pytest.raises(IntentError, match=rf"pyproject\.toml:{line}:\d+: error\[unknown-key\]: fabrc"):
        read_project(tmp_path / "pyproject.toml", TABLE)


def test_a_tilde_is_the_home_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", "/home/of-somebody")
    assert placed(tmp_path, "~/f.yaml") == "/home/of-somebody/f.yaml"


def test_paths_lead_from_the_working_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "sub").mkdir()
    file = tmp_path / "ailb.toml"
    file.write_text('fabric = "f.yaml"\nyang = "/models"\nreports = ["html=r/{verb}.html"]\n')
    monkeypatch.chdir(tmp_path / "sub")
    found = read_project(file)
    assert found == {"fabric": "../f.yaml", "yang": "/models", "reports": ["html=../r/{verb}.html"]}
    assert placed(tmp_path / "sub", "./a") == "a"


def test_the_page_has_every_key() -> None:
    text = (ROOT / "docs/how-to/project-file.md").read_text(encoding="utf-8")
    assert re.findall(r"^\| `([\w-]+)` \|", text, re.MULTILINE) == [
        field.alias for field in ProjectFile.model_fields.values()
    ]


@pytest.mark.parametrize("case", sorted((ROOT / "tests/errors/project").glob("*.toml")), ids=lambda path: path.stem)
def test_everything_that_is_wrong_is_said(case: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "ailb.toml").write_bytes(case.read_bytes())
    with pytest.raises(IntentError) as error:
        read_project(tmp_path / "ailb.toml")
    golden = case.with_suffix(".txt")
    if os.environ.get("AILB_UPDATE_GOLDEN"):
        golden.write_text(f"{error.value}\n", encoding="utf-8")
    assert f"{error.value}\n" == golden.read_text(encoding="utf-8")
