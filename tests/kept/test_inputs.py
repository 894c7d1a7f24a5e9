"""What the findings of a run follow from, by digest."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from ailb_gen import shipped
from ailb_gen.errors import IntentError, UsageError
from ailb_gen.intent.load import csv_names
from ailb_gen.kept import inputs
from ailb_gen.kept.inputs import TICK_NS, change_times, intent_digests, models_digest, program_digest, tree_entries
from tests.conftest import EXAMPLES, need_shared


@pytest.fixture
def root(tmp_path: Path) -> Path:
    root = tmp_path / "root"
    (root / "profiles/a").mkdir(parents=True)
    (root / "servers").mkdir()
    (root / "profiles/a/file").write_text("text")
    (root / "profiles/a/script").write_text("text")
    (root / "servers/one").symlink_to("../profiles/a")
    return root


def test_entries_of_a_tree(root: Path) -> None:
    assert [path for path, _, _ in tree_entries(root)] == [
        "profiles",
        "profiles/a",
        "profiles/a/file",
        "profiles/a/script",
        "servers",
        "servers/one",
    ]
    assert tree_entries(root) == tree_entries(root)


def remove(root: Path) -> None:
    (root / "profiles/a/file").unlink()


CHANGES: dict[str, Callable[[Path], object]] = {
    "text": lambda root: (root / "profiles/a/file").write_text("texT"),
    "mode": lambda root: (root / "profiles/a/script").chmod(0o755),
    "removed": remove,
    "added": lambda root: (root / "servers/two").mkdir(),
    "hidden": lambda root: (root / ".hidden").write_text(""),
    "renamed": lambda root: (root / "profiles/a/file").rename(root / "profiles/a/fil"),
    "link": lambda root: (root / "servers/two").symlink_to("../profiles/a/file"),
}


@pytest.mark.parametrize("change", CHANGES)
def test_every_change_of_a_tree_shows(root: Path, change: str) -> None:
    before = tree_entries(root)
    CHANGES[change](root)
    assert tree_entries(root) != before


@pytest.mark.parametrize(
    "target", ["../../outside", "/etc/hostname", "../servers/one", "nothing", ".", "one/../one", "../servers/one/file"]
)
def test_a_link_out_of_the_tree_or_through_another_is_refused(root: Path, target: str) -> None:
    (root.parent / "outside").write_text("")
    (root / "servers/link").symlink_to(target)
    with pytest.raises(UsageError, match="servers/link: a link that does not lead"):
        tree_entries(root)


def test_what_is_no_file_is_refused(root: Path) -> None:
    os.mkfifo(root / "pipe")
    with pytest.raises(UsageError, match="pipe: not a file"):
        tree_entries(root)


def test_a_large_file_is_refused(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(inputs, "MAX_TABLE_BYTES", 3)
    with pytest.raises(UsageError, match="too large"):
        tree_entries(root)


@pytest.mark.parametrize("fabric", sorted(EXAMPLES.rglob("fabric.yaml")), ids=str)
def test_every_file_that_is_read_counts(fabric: Path) -> None:
    assert {"", *csv_names(fabric)} <= intent_digests(fabric).keys()


def test_a_csv_file_that_changes_or_is_missing(tmp_path: Path) -> None:
    fabric = tmp_path / "fabric.yaml"
    fabric.write_text("servers: {csv: servers.csv}\nstripes: [{servers: {csv: more.csv}}]\n")
    missing = intent_digests(fabric)
    assert missing.keys() == {"", "servers.csv", "more.csv"}
    (tmp_path / "more.csv").write_text("name\n")
    there = intent_digests(fabric)
    assert (there[""], there["servers.csv"]) == (missing[""], "")
    assert there["more.csv"] != missing["more.csv"]
    fabric.write_text("servers: {csv: ''}\n")
    unnamed = intent_digests(fabric)
    fabric.write_text("servers: {csv: ''} # changed\n")
    assert intent_digests(fabric) != unnamed
    fabric.write_text("servers: {csv: [")
    with pytest.raises(IntentError):
        intent_digests(fabric)


def test_the_program_changes_with_its_files_and_with_what_is_installed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "ailb_gen/kept/__pycache__").mkdir(parents=True)
    (tmp_path / "templates/host").mkdir(parents=True)
    monkeypatch.setattr(inputs, "PACKAGE_DIR", tmp_path / "ailb_gen")
    monkeypatch.setattr(shipped, "PACKAGE_DIR", tmp_path / "ailb_gen")
    digests = [program_digest()]
    (tmp_path / "ailb_gen/module.py").write_text("one = 1\n")
    digests.append(program_digest())
    (tmp_path / "ailb_gen/kept/__pycache__/module.pyc").write_text("")
    assert program_digest() == digests[-1]
    (tmp_path / "templates/host/script.j2").write_text("ip link\n")
    digests.append(program_digest())
    (tmp_path / "numpy-99.0.dist-info").mkdir()
    monkeypatch.syspath_prepend(str(tmp_path))
    digests.append(program_digest())
    assert len(set(digests)) == 4


def test_times_hold_until_something_changes(root: Path) -> None:
    os.utime(root / "profiles/a/file", (0, 0))
    paths = [root / "profiles/a/file", root / "servers"]
    assert not change_times(paths, time.time_ns()).hold()
    later = time.time_ns() + 2 * TICK_NS
    assert change_times(paths, later).hold()
    for change in ("text", "added", "removed"):
        before = change_times(paths, later)
        time.sleep(0.01)
        CHANGES[change](root)
        assert not before.hold(), change


def test_models() -> None:
    assert models_digest(None) == ("", ())
    digest, paths = models_digest(need_shared("yang/24.4R1-EVO"))
    assert len(digest) == 32
    assert {path.suffix for path in paths if path.is_file()} == {".yang"}
    assert {path.parent for path in paths if path.is_file()} <= {*paths}
