"""Cluster files on the command line: what takes them, what refuses them, and what is written."""

import json
from pathlib import Path

import pytest

from tests.checks.clusters import EXAMPLE, cluster_file
from tests.cli.verbs import refused, run
from tests.conftest import ROOT

FILE = str(EXAMPLE / "cluster.yaml")


def test_a_cluster_is_generated_and_passes(tmp_path: Path) -> None:
    file, out = str(cluster_file(tmp_path / "in")), str(tmp_path / "out")
    code, shown, _ = run("generate", file, "-o", out)
    assert code == 0
    assert "Cluster planes" in shown
    assert run("generate", file, "-o", out, "--check")[0] == 0
    html, data = tmp_path / "report.html", tmp_path / "report.json"
    reports = ("--report", f"html={html}", "--report", f"json={data}", "--report", "table")
    code, shown, error = run("validate", file, out, "--executor", "serial", *reports)
    assert code == 0, shown + error
    assert json.loads(data.read_text())["passed"]
    assert "plane-a" in html.read_text()
    assert "Cluster</" in html.read_text()
    assert shown.startswith("Cluster planes in")
    (tmp_path / "out/plane-b/switches/b-spine1.conf").unlink()
    code, shown, _ = run("validate", file, out, "--executor", "serial", "--checks", "files")
    assert code == 1
    assert "b-spine1" in shown
    assert run("generate", file, "-o", out, "--check")[0] == 1


@pytest.mark.parametrize(
    "arguments", [("explain", FILE, "a-spine1"), ("export", "bom", FILE), ("draw", FILE, ".", "-o", "x.svg")]
)
def test_other_verbs_name_the_fabric_files(
    arguments: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    refused(run(*arguments), "cluster file", "plane-a.yaml, plane-b.yaml")


def test_batfish_refuses_a_cluster(tmp_path: Path) -> None:
    run("generate", FILE, "-o", str(tmp_path / "out"))
    refused(run("validate", FILE, str(tmp_path / "out"), "--batfish", "localhost:1"), "--batfish")


def test_the_schema_is_the_one_of_the_docs() -> None:
    shown = (ROOT / "docs" / "cluster.schema.json").read_text(encoding="utf-8")
    assert run("schema", "cluster") == (0, shown, "")
