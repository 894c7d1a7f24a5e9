"""Only files are pushed that were generated from this very intent, and that nobody edited."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

import pytest

from ailb_gen.deploy.artifacts import Inputs, Trust, read_inputs
from ailb_gen.errors import UsageError
from ailb_gen.intent.load import load
from tests.conftest import EXAMPLES
from tests.deploy.lab import NAMES, text_of
from tests.network.lab import LAB

INTENT = load(EXAMPLES / "lab" / "fabric.yaml")
SERVERS = ("gpu-s1-1", "gpu-s2-1")
LEAF = "switches/stripe1-leaf1.conf"


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """Return a copy of the generated files."""
    return Path(shutil.copytree(LAB, tmp_path / "out", symlinks=True))


def inputs(tree: Path, trust: Trust = "manifest") -> Inputs:
    return read_inputs(INTENT, tree, NAMES, SERVERS, trust)


def test_what_was_generated() -> None:
    found = inputs(LAB)
    assert found.files == {name: f"switches/{name}.conf" for name in NAMES}
    assert found.text("spine1") == text_of("spine1")
    assert found.hosts.keys() == found.trees.keys() == set(SERVERS)
    assert inputs(LAB).digest == found.digest
    assert read_inputs(INTENT, LAB, NAMES).digest != found.digest
    assert (read_inputs(INTENT, LAB, NAMES).hosts, read_inputs(INTENT, LAB, NAMES).trees) == ({}, {})


def appended(path: Path) -> None:
    path.write_text(f"{path.read_text()}\n")


@pytest.mark.parametrize("file", [LEAF, "topology.json", "cabling.csv"])
def test_a_file_that_somebody_edited(tree: Path, file: str) -> None:
    appended(tree / file)
    with pytest.raises(
        UsageError, match=rf"{re.escape(file)}: it was edited after it was generated; run 'ailb-gen generate'"
    ):
        inputs(tree)
    (tree / "manifest.json").unlink()
    assert inputs(tree, "files").digest != inputs(LAB).digest


def test_a_file_of_a_server_that_somebody_edited(tree: Path) -> None:
    (folder,) = {host.profile.folder for host in inputs(tree).hosts.values() if host.name == SERVERS[0]}
    file = min(path for path in (tree / folder).rglob("*") if path.is_file())
    appended(file)
    with pytest.raises(UsageError, match="it was edited after it was generated"):
        inputs(tree)
    # Nobody asks for it where the servers are not managed.
    assert read_inputs(INTENT, tree, NAMES).files
    shutil.rmtree(tree / "servers")
    with pytest.raises(UsageError, match=r"there are no files for gpu-s1-1\n.*gpu-s2-1\nrun 'ailb-gen generate'"):
        inputs(tree)


def test_another_fabric_file(tree: Path) -> None:
    body = json.loads((tree / "manifest.json").read_text())
    (tree / "manifest.json").write_text(json.dumps({**body, "input_sha256": "0" * 64}))
    with pytest.raises(UsageError, match="it was generated from another version of the fabric file; run"):
        inputs(tree)


@pytest.mark.parametrize(
    ("missing", "message"),
    [
        ("switches", "there is no switches/ in it; name the directory that 'generate -o' wrote"),
        (LEAF, "there is no file for stripe1-leaf1; run 'ailb-gen generate'"),
        ("topology.json", "topology.json: cannot read the file: No such file or directory"),
        ("profiles/stripe1/etc/sysctl.d/99-accept-ra.conf", "99-accept-ra.conf: it was edited after it was generated"),
    ],
)
def test_what_is_missing(tree: Path, missing: str, message: str) -> None:
    (tree / missing).rename(tree.with_name("elsewhere"))
    with pytest.raises(UsageError, match=re.escape(message)):
        inputs(tree)


def test_set_text_where_there_is_no_curly_text(tree: Path) -> None:
    (tree / "manifest.json").unlink()
    with pytest.raises(UsageError, match=r"there is no manifest\.json in it: .*, or give --allow-unverified$"):
        inputs(tree)
    (tree / "switches/spine1.set").write_text("set system host-name spine1\n")
    assert inputs(tree, "files").files["spine1"] == "switches/spine1.conf"
    (tree / "switches/spine1.conf").unlink()
    found = inputs(tree, "files")
    assert found.text("spine1") == "set system host-name spine1\n"


def test_what_becomes_of_the_files_later_does_not_count(tree: Path) -> None:
    found = inputs(tree)
    shutil.rmtree(tree)
    assert found.text("stripe1-leaf1") == text_of("stripe1-leaf1")


def test_a_file_that_is_not_text(tree: Path) -> None:
    (tree / LEAF).write_bytes(b"\xff")
    with pytest.raises(UsageError, match=re.escape(LEAF)):
        inputs(tree, "files").text("stripe1-leaf1")


def test_what_takes_changes_back_works_with_any_files(tree: Path) -> None:
    appended(tree / LEAF)
    (tree / "switches" / "spine1.conf").unlink()
    found = inputs(tree, "any")
    assert len(found.doubts) == 2
    assert any("it was edited after it was generated" in doubt for doubt in found.doubts)
    assert any("there is no file for spine1" in doubt for doubt in found.doubts)
    with pytest.raises(UsageError, match="there is no file for spine1"):
        found.text("spine1")


def test_a_server_that_was_given_the_files_of_another(tree: Path) -> None:
    link = tree / "servers" / "gpu-s1-1"
    link.unlink()
    link.symlink_to("../profiles/stripe2")
    servers = ("gpu-s1-1", "gpu-s1-2", "gpu-s2-1")
    with pytest.raises(UsageError, match="servers/gpu-s1-1: it points to another profile; run"):
        read_inputs(INTENT, tree, NAMES, servers)
    (tree / "manifest.json").unlink()
    assert read_inputs(INTENT, tree, NAMES, servers, "files").digest != read_inputs(INTENT, LAB, NAMES, servers).digest
