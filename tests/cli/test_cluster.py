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


def test_a_file_is_a_cluster_by_its_keys_or_its_name(tmp_path: Path) -> None:
    file = cluster_file(tmp_path)
    out = str(tmp_path / "out")
    listed = "[plane-a.yaml, plane-b.yaml]"
    for number, text in enumerate((f'{{name: planes, "fabrics": {listed}}}', f"fabrics : {listed}\nname: planes")):
        other = tmp_path / f"other{number}.yaml"
        other.write_text(text)
        assert run("generate", str(other), "-o", out)[0] == 0
    file.write_text("name: planes\nfabric: [plane-a.yaml, plane-b.yaml]\n")
    refused(run("generate", str(file), "-o", out), "fabrics: this key is required and missing")
    refused(run("validate", str(file), out), "fabrics: this key is required and missing")
    refused(run("explain", str(file), "a-spine1"), "cluster file", "it lists none")
    # A fabric file may have any name, and the word in it.
    file.write_text((EXAMPLE / "plane-a.yaml").read_text() + "# fabrics: none\n")
    assert run("generate", str(file), "-o", str(tmp_path / "alone"))[0] == 0


def test_a_fabric_is_not_generated_into_the_directory_of_its_cluster(tmp_path: Path) -> None:
    out = tmp_path / "out"
    run("generate", FILE, "-o", str(out))
    before = sorted(out.rglob("*"))
    code, _, error = run("generate", str(EXAMPLE / "plane-b.yaml"), "-o", str(out / "plane-b"))
    assert code == 3
    assert "the folder of a fabric of the cluster 'planes'" in error
    assert sorted(out.rglob("*")) == before


def test_a_missing_folder_of_a_fabric_is_named(tmp_path: Path) -> None:
    out = tmp_path / "out"
    run("generate", FILE, "-o", str(out))
    (out / "plane-b").rename(out / "plane-x")
    refused(run("validate", FILE, str(out)), "cluster planes lacks plane-b/switches/;", "ailb-gen generate")
    refused(run("validate", FILE, str(EXAMPLE)), "lacks plane-a/switches/, plane-b/switches/;")


def test_options_of_batfish_without_a_service_are_refused(tmp_path: Path) -> None:
    run("generate", FILE, "-o", str(tmp_path))
    refused(run("validate", FILE, str(tmp_path), "--batfish-failures", "all"), "no Batfish service was given")


def test_the_schema_is_the_one_of_the_docs() -> None:
    shown = (ROOT / "docs" / "cluster.schema.json").read_text(encoding="utf-8")
    assert run("schema", "cluster") == (0, shown, "")
