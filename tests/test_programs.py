"""Programs are found where they are, with whatever PATH."""

from pathlib import Path

import pytest

from ailb_gen import programs
from ailb_gen.programs import program, search_path


@pytest.fixture
def folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """The only directory of daemons, with one program."""
    monkeypatch.setattr(programs, "SYSTEM", (str(tmp_path),))
    (tmp_path / "some-daemon").write_text("#!/bin/sh\n", encoding="ascii")
    (tmp_path / "some-daemon").chmod(0o755)
    return tmp_path


def test_a_daemon_is_found_outside_of_path(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nowhere:/bin")
    assert program("some-daemon") == str(folder / "some-daemon")
    assert program("other-daemon") is None
    assert search_path() == f"/nowhere:/bin:{folder}"


def test_path_comes_first(
    folder: Path, monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory
) -> None:
    own = tmp_path_factory.mktemp("own")
    (own / "some-daemon").symlink_to(folder / "some-daemon")
    monkeypatch.setenv("PATH", str(own))
    assert program("some-daemon") == str(own / "some-daemon"), "and no link is followed: programs look at their names"


def test_a_directory_of_path_is_not_listed_twice(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", f"{folder}:/bin")
    assert search_path() == f"{folder}:/bin"


def test_without_path(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("PATH")
    assert program("some-daemon") == str(folder / "some-daemon")
    assert program("sh") is not None


def test_the_path_is_absolute(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)
    monkeypatch.setenv("PATH", ".")
    assert program("some-daemon") == str(folder / "some-daemon")
