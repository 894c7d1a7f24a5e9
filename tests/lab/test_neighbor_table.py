"""The limit of the kernel's neighbor table: raised for labs that need more, and put back with the last of them."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from ailb_gen.background import locked
from ailb_gen.errors import LabError
from ailb_gen.lab import neighbor_table
from ailb_gen.lab.neighbor_table import release, reserve
from ailb_gen.lab.registry import LAB
from tests.lab.labs import let_go


@pytest.fixture(autouse=True)
def limits(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The limits of a kernel as it starts, in files, and a record."""
    found = tmp_path / "limits"
    found.mkdir()
    (found / "gc_thresh2").write_text("512\n")
    (found / "gc_thresh3").write_text("1024\n")
    monkeypatch.setattr(neighbor_table, "LIMITS", found)
    monkeypatch.setattr(neighbor_table, "RECORD", tmp_path / "run" / "record.json")
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    return found


def now(limits: Path) -> tuple[int, int]:
    return int((limits / "gc_thresh2").read_text()), int((limits / "gc_thresh3").read_text())


@contextmanager
def lab(folder: Path) -> Iterator[Path]:
    """A lab that runs."""
    with locked(folder, LAB):
        yield folder
    let_go(folder / LAB.file)


def test_a_small_lab_touches_nothing(limits: Path, tmp_path: Path) -> None:
    with lab(tmp_path / "a") as folder:
        assert reserve(folder, 1024) == ""

    assert now(limits) == (512, 1024)


def test_small_labs_that_are_many(limits: Path, tmp_path: Path) -> None:
    with lab(tmp_path / "a") as one, lab(tmp_path / "b") as other:
        assert reserve(one, 600) == ""
        assert reserve(other, 600)
        assert now(limits) == (2912, 3424)
        release(one)
        assert now(limits) == (512, 1024)
        release(other)

    assert now(limits) == (512, 1024)


def test_raised_and_put_back(limits: Path, tmp_path: Path) -> None:
    with lab(tmp_path / "a") as folder:
        text = reserve(folder, 2000)
    assert now(limits) == (4512, 5024)
    assert "gc_thresh3 of this machine is 5024 now, 1024 again when the lab is down" in text

    release(folder)
    assert now(limits) == (512, 1024)
    release(folder)
    assert now(limits) == (512, 1024)


def test_two_labs_side_by_side(limits: Path, tmp_path: Path) -> None:
    with lab(tmp_path / "a") as one, lab(tmp_path / "b") as other:
        reserve(one, 2000)
        text = reserve(other, 3000)
        assert now(limits) == (10512, 11024)
        assert ", 1024 again" in text
        release(one)
        assert now(limits) == (6512, 7024)
        # What another lab has raised does not count as there, and what two need counts together.
        assert "need up to 3,500 neighbor entries" in reserve(one, 500)
        assert now(limits) == (7512, 8024)
        release(one)
    release(other)

    assert now(limits) == (512, 1024)


def test_the_next_lab_tidies_up_after_one_that_was_killed(limits: Path, tmp_path: Path) -> None:
    with lab(tmp_path / "killed") as folder:
        reserve(folder, 2000)
    assert now(limits) == (4512, 5024)
    with lab(tmp_path / "next") as folder:
        assert reserve(folder, 10) == ""

    assert now(limits) == (512, 1024)


def test_a_lab_that_was_killed_is_tidied_up_after_while_others_run(limits: Path, tmp_path: Path) -> None:
    with lab(tmp_path / "runs") as other:
        reserve(other, 3000)
        with lab(tmp_path / "killed") as folder:
            reserve(folder, 2000)
        release()
        assert now(limits) == (6512, 7024)
    release()

    assert now(limits) == (512, 1024)


def test_users_are_told_what_only_root_can_do(limits: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 1000)

    assert reserve(tmp_path, 1024) == ""
    text = reserve(tmp_path, 1536)
    assert "limited to 1,024 entries" in text
    assert "about 512 links" in text
    assert "sudo sysctl -w net.ipv6.neigh.default.gc_thresh3=4096" in text
    release(tmp_path)
    assert now(limits) == (512, 1024)


def test_a_container_shows_no_limit(limits: Path, tmp_path: Path) -> None:
    (limits / "gc_thresh3").unlink()

    assert reserve(tmp_path, 5000) == ""


def test_a_lab_that_ends_where_no_limit_is_shown_leaves_them_to_the_next(limits: Path, tmp_path: Path) -> None:
    with lab(tmp_path / "a") as folder:
        assert reserve(folder, 2000)
        hidden = limits.rename(tmp_path / "hidden")
        release(folder)
        hidden.rename(limits)
    release()
    assert now(limits) == (512, 1024)


def test_a_broken_record(limits: Path, tmp_path: Path) -> None:
    record = neighbor_table.RECORD
    record.parent.mkdir()
    record.write_text("{")

    with pytest.raises(LabError, match="not JSON"):
        reserve(tmp_path, 5000)
    assert now(limits) == (512, 1024)
