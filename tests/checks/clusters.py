"""The cluster of examples/planes, with other fabric files, for tests."""

from collections.abc import Mapping
from pathlib import Path

from ailb_gen.api.cluster import generate_cluster, validate_cluster
from tests.conftest import ROOT

EXAMPLE = ROOT / "examples" / "planes"
FILES = ("cluster.yaml", "plane-a.yaml", "plane-b.yaml")


def cluster_file(folder: Path, edits: Mapping[str, tuple[str, str]] | None = None) -> Path:
    """Write the example into `folder`, in each of the `edits` by file one text replaced by another."""
    folder.mkdir(parents=True, exist_ok=True)
    for name in FILES:
        text = (EXAMPLE / name).read_text(encoding="utf-8")
        old, new = (edits or {}).get(name, ("", ""))
        assert old in text
        (folder / name).write_text(text.replace(old, new) if old else text, encoding="utf-8")
    return folder / "cluster.yaml"


def added(name: str, text: str) -> dict[str, tuple[str, str]]:
    """Return the edit that adds a text to the end of a plane's file."""
    last = (EXAMPLE / name).read_text(encoding="utf-8").rstrip().rpartition("\n")[2]
    return {name: (last, f"{last}\n{text}")}


def failed(file: Path, tree: Path) -> set[str]:
    """Return the ids of the checks that find something in the tree of a cluster."""
    report = validate_cluster(file, tree, executor="serial", html=False, checks=("!AILB5", "!AILB9"))
    assert report.trouble is None
    return {finding.check for finding in report.findings}


def generated(folder: Path, edits: Mapping[str, tuple[str, str]] | None = None) -> tuple[Path, Path]:
    """Generate the cluster with `edits`; return its file and its tree."""
    file = cluster_file(folder / "in", edits)
    generate_cluster(file, folder / "out")
    return file, folder / "out"
