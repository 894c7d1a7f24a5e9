"""Writing below a directory: no name and no link leads out of it."""

from __future__ import annotations

import stat
from pathlib import Path

import pytest

from ailb_gen.confined import private_directory, remove_below, write_below


def test_files_are_for_their_owner(tmp_path: Path) -> None:
    with private_directory(tmp_path / "out" / "tree") as directory:
        write_below(directory, "a/b/c", b"first")
        write_below(directory, "a/b/c", b"second")
        write_below(directory, "a/run", b"#!/bin/sh\n", executable=True)
    root = tmp_path / "out" / "tree"
    assert (root / "a/b/c").read_bytes() == b"second"
    modes = {str(path.relative_to(root)): stat.S_IMODE(path.stat().st_mode) for path in root.rglob("*")}
    assert modes == {"a": 0o700, "a/b": 0o700, "a/b/c": 0o600, "a/run": 0o700}
    assert stat.S_IMODE(root.stat().st_mode) == 0o700


@pytest.mark.parametrize(
    "name",
    ["../x", "a/../../x", "/etc/x", "", "a//b", "./a", "a/.", "a\0b", "a\nb", "a/\x1b[2J", "\u202egnp", "a\x85"],
)
def test_names_that_are_not_plain(tmp_path: Path, name: str) -> None:
    with private_directory(tmp_path / "out") as directory, pytest.raises(ValueError, match="not a plain name"):
        write_below(directory, name, b"x")
    assert [path.name for path in tmp_path.iterdir()] == ["out"]
    assert not list((tmp_path / "out").iterdir())


@pytest.mark.parametrize("link", ["a", "a/b"])
def test_a_folder_that_became_a_link(tmp_path: Path, link: str) -> None:
    outside, out = tmp_path / "outside", tmp_path / "out"
    outside.mkdir()
    (out / link).parent.mkdir(parents=True)
    (out / link).symlink_to(outside)
    with private_directory(out) as directory:
        with pytest.raises(OSError, match=r"directory|symbolic"):
            write_below(directory, "a/b/c", b"x")
        with pytest.raises(OSError, match=r"directory|symbolic"):
            remove_below(directory, "a/b/c")
    assert not list(outside.iterdir())


def test_a_file_that_became_a_link_gives_way(tmp_path: Path) -> None:
    outside, out = tmp_path / "outside", tmp_path / "out"
    outside.write_text("mine")
    (out / "a").mkdir(parents=True)
    (out / "a/c").symlink_to(outside)
    with private_directory(out) as directory:
        write_below(directory, "a/c", b"x")
    assert outside.read_text() == "mine"
    assert not (out / "a/c").is_symlink()


def test_removing_takes_empty_folders_along(tmp_path: Path) -> None:
    with private_directory(tmp_path / "out") as directory:
        for name in ("a/b/c", "a/d"):
            write_below(directory, name, b"")
        remove_below(directory, "a/b/c")
        remove_below(directory, "a/b/c")
        assert sorted(path.name for path in (tmp_path / "out/a").iterdir()) == ["d"]
        remove_below(directory, "a/d")
    assert not list((tmp_path / "out").iterdir())
