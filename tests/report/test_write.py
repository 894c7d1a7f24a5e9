"""Report files are there as a whole or not at all."""

import os
import stat
import threading
from pathlib import Path

import pytest

from ailb_gen.errors import OutputError
from ailb_gen.report.check_report import FORMATS, CheckReport
from ailb_gen.report.write import write
from tests.report.samples import verdict_of


def test_formats_give_text_ending_in_a_newline() -> None:
    assert set(FORMATS) == {"table", "json", "junit", "sarif", "md", "html"}
    for form in FORMATS:
        assert CheckReport(verdict_of()).render(form).endswith("\n")


def test_folders_are_made_and_nothing_else_is_left(tmp_path: Path) -> None:
    write(tmp_path / "a" / "b" / "report.xml", "one\n")
    write(tmp_path / "a" / "b" / "report.xml", "two \udc80\n")
    assert [path.name for path in (tmp_path / "a" / "b").iterdir()] == ["report.xml"]
    assert (tmp_path / "a" / "b" / "report.xml").read_bytes() == b"two \\udc80\n"


def test_modes_are_those_of_any_new_file_or_stay(tmp_path: Path) -> None:
    plain, report = tmp_path / "plain", tmp_path / "report"
    plain.write_text("", encoding="utf-8")
    write(report, "x")
    assert report.stat().st_mode == plain.stat().st_mode
    report.chmod(0o640)
    write(report, "y")
    assert stat.S_IMODE(report.stat().st_mode) == 0o640


def test_a_link_stays_a_link(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to("target")
    write(tmp_path / "link", "x")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "target").read_text(encoding="utf-8") == "x"


def test_pipes_are_written_to_and_not_replaced(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    seen: list[str] = []
    reader = threading.Thread(target=lambda: seen.append(pipe.read_text(encoding="utf-8")))
    reader.start()
    write(pipe, "text")
    reader.join()
    assert seen == ["text"]
    assert stat.S_ISFIFO(pipe.stat().st_mode)
    write(Path("/dev/null"), "text")
    assert stat.S_ISCHR(Path("/dev/null").stat().st_mode)


def test_an_unwritable_place_is_told_and_leaves_the_old_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(OutputError, match="cannot write the report: Is a directory"):
        write(tmp_path, "x")
    with pytest.raises(OutputError, match="cannot write the report: File name too long"):
        write(tmp_path / ("x" * 300), "x")
    (tmp_path / "file").write_text("old", encoding="utf-8")
    with pytest.raises(OutputError, match=r"cannot write the report: File exists \(.*/file\)"):
        write(tmp_path / "file" / "report", "x")

    def full(descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OutputError, match=r"No space left on device; the report that is there is an older one$"):
        write(tmp_path / "file", "new")
    assert {path.name: path.read_text(encoding="utf-8") for path in tmp_path.iterdir()} == {"file": "old"}
