"""Files that are there as a whole or not at all."""

import os
import stat
from pathlib import Path

import pytest

from ailb_gen.atomic import replace_file


def test_a_new_file_gets_the_mode_of_the_umask_and_an_old_one_keeps_its_own(tmp_path: Path) -> None:
    target = tmp_path / "x"
    before = os.umask(0o027)
    try:
        replace_file(target, b"one")
    finally:
        os.umask(before)
    assert stat.S_IMODE(target.stat().st_mode) == 0o640
    target.chmod(0o604)
    replace_file(target, b"two")
    assert (target.read_bytes(), stat.S_IMODE(target.stat().st_mode)) == (b"two", 0o604)


def test_an_interrupt_leaves_the_old_file_and_nothing_else(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "x").write_bytes(b"old")

    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(Path, "replace", interrupted)
    with pytest.raises(KeyboardInterrupt):
        replace_file(tmp_path / "x", b"new")
    assert [path.name for path in tmp_path.iterdir()] == ["x"]
    assert (tmp_path / "x").read_bytes() == b"old"
