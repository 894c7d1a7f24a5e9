"""The folder of kept proofs: what is read, what is deleted, and what happens when it cannot be used."""

from __future__ import annotations

import os
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ailb_gen.kept import folder
from ailb_gen.kept.folder import clear, kept_files, read, write

NAME = f"{'a' * 32}-{'b' * 32}.json"
BODY = b'{"some": "record"}'


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    return folder.folder()


def name(number: int) -> str:
    return f"{number:032x}-{'c' * 32}.json"


def test_what_is_written_is_read_by_its_user_alone(here: Path) -> None:
    assert read(here, NAME) is None
    write(here, NAME, BODY)
    assert read(here, NAME) == BODY
    assert (here.stat().st_mode & 0o777, (here / NAME).stat().st_mode & 0o777) == (0o700, 0o600)


@given(data=st.data())
def test_a_file_that_differs_in_a_bit_or_is_cut_is_damaged(
    data: st.DataObject, tmp_path_factory: pytest.TempPathFactory
) -> None:
    here = tmp_path_factory.mktemp("home") / "ailb-gen" / folder.FOLDER
    write(here, NAME, BODY)
    whole = (here / NAME).read_bytes()
    at = data.draw(st.integers(0, len(whole) - 1))
    if data.draw(st.booleans()):
        changed = whole[:at]
    else:
        changed = whole[:at] + bytes([whole[at] ^ 1 << data.draw(st.integers(0, 7))]) + whole[at + 1 :]
    (here / NAME).write_bytes(changed)
    with pytest.raises(ValueError, match="is damaged"):
        read(here, NAME)


def test_a_record_under_the_name_of_another_is_damaged(here: Path) -> None:
    write(here, NAME, BODY)
    (here / NAME).rename(here / name(1))
    with pytest.raises(ValueError, match="is damaged"):
        read(here, name(1))


@pytest.mark.parametrize("mode", [0o620, 0o602])
def test_what_others_can_write_is_not_read(here: Path, mode: int) -> None:
    write(here, NAME, BODY)
    (here / NAME).chmod(mode)
    os.chown(here / NAME, -1, os.getgid() + 1) if os.geteuid() == 0 else None
    if os.geteuid() == 0 or mode == 0o602:
        with pytest.raises(PermissionError, match="others can write"):
            read(here, NAME)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give files away")
@pytest.mark.parametrize("path", ["", NAME])
def test_what_belongs_to_another_user_is_not_read(here: Path, path: str) -> None:
    write(here, NAME, BODY)
    os.chown(here / path, 12345, -1)
    with pytest.raises(PermissionError, match="belongs to another user"):
        read(here, NAME)


def test_links_are_not_followed(here: Path, tmp_path: Path) -> None:
    write(here, NAME, BODY)
    (here / NAME).rename(tmp_path / "elsewhere")
    (here / NAME).symlink_to(tmp_path / "elsewhere")
    with pytest.raises(OSError, match="symbolic links"):
        read(here, NAME)
    assert clear(here) == []
    assert (tmp_path / "elsewhere").exists()


def test_a_folder_that_is_a_link_is_neither_read_nor_cleared(here: Path, tmp_path: Path) -> None:
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / NAME).write_bytes(BODY)
    here.parent.mkdir()
    here.symlink_to(tmp_path / "other")
    for use in (lambda: read(here, NAME), lambda: write(here, NAME, BODY), lambda: clear(here)):
        with pytest.raises(PermissionError, match=r"is a link|is not a directory"):
            use()
    assert (tmp_path / "other" / NAME).read_bytes() == BODY


def test_only_own_files_are_listed_and_deleted(here: Path) -> None:
    write(here, NAME, BODY)
    foreign = ["notes.json", f"{'a' * 32}.json", f"{NAME}.bak", f".{NAME}.now"]
    for file in foreign:
        (here / file).write_bytes(b"")
    (here / name(2)).mkdir()
    # What a writer that was killed leaves.
    (here / f".{NAME}.x1_y").write_bytes(b"")
    os.utime(here / f".{NAME}.x1_y", (0, 0))
    assert [one.path.name for one in kept_files(here)] == [f".{NAME}.x1_y", NAME]
    assert len(clear(here)) == 2
    assert sorted(path.name for path in here.iterdir()) == sorted([*foreign, name(2)])
    assert clear(here) == []


def test_the_oldest_that_was_not_read_goes_first(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for number in range(3):
        write(here, name(number), BODY)
        os.utime(here / name(number), (number, number))
    assert read(here, name(0)) == BODY
    monkeypatch.setattr(folder, "MAX_RECORDS", 3)
    write(here, name(3), BODY)
    assert {one.path.name for one in kept_files(here)} == {name(0), name(2), name(3)}
    monkeypatch.setattr(folder, "MAX_BYTES", 2 * kept_files(here)[0].size)
    os.utime(here / name(0), (time.time() - 10,) * 2)
    write(here, name(4), BODY)
    assert {one.path.name for one in kept_files(here)} == {name(3), name(4)}


def test_several_writers_at_once(here: Path) -> None:
    bodies = [f"{number}".encode() * 10_000 for number in range(8)]
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda body: write(here, NAME, body), bodies))
    assert read(here, NAME) in bodies
    assert [path.name for path in here.iterdir()] == [NAME]
