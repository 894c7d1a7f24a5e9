"""Generating from Python: nothing is printed, warnings and progress are reported, nothing is written unless asked."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import ailb_gen
from ailb_gen.errors import OutputError, UsageError
from ailb_gen.progress import Silent
from tests.conftest import ROOT, SMALL

LAB = ROOT / "examples" / "lab" / "fabric.yaml"


def test_files_are_written_once(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    intent = ailb_gen.load(LAB)
    first = ailb_gen.generate(intent, tmp_path / "out")
    again = ailb_gen.generate(intent, str(tmp_path / "out"))
    assert first.written and len(first.changes.new) == first.rendering.changes.unchanged + len(first.rendering.tree)
    assert not again.changes and again.changes.unchanged == len(first.changes.new)
    assert first.files["switches/spine1.conf"] == (tmp_path / "out" / "switches" / "spine1.conf").read_bytes()
    assert capfd.readouterr() == ("", "")


def test_a_preview_writes_nothing_and_has_a_diff(tmp_path: Path) -> None:
    made = ailb_gen.generate(ailb_gen.load(LAB), tmp_path / "out", write=False)
    assert not (tmp_path / "out").exists()
    assert "+++ " in made.diff() and "switches/spine1.conf" in made.diff()
    with pytest.raises(UsageError, match="write=False"):
        ailb_gen.generate(ailb_gen.load(LAB), tmp_path / "out").diff()


def test_warnings_are_called_for_and_returned(tmp_path: Path) -> None:
    (tmp_path / "fabric.yaml").write_text(
        SMALL + "nccl: {environment: {NCCL_IB_QPS_PER_CONNECTION: '1'}}\n", encoding="utf-8"
    )
    warned: list[str] = []
    made = ailb_gen.generate(ailb_gen.load(tmp_path / "fabric.yaml"), tmp_path / "out", warn=warned.append)
    assert warned == list(map(str, made.warnings))
    assert "qps-not-colors" in warned[0]


def test_progress_counts_every_device(tmp_path: Path) -> None:
    begun: list[tuple[str, int]] = []
    counts: list[int] = []

    class Counting(Silent):
        def __enter__(self) -> Counting:
            return self

        def __exit__(self, *error: object) -> None:
            """Nothing to close."""

        def __call__(self, count: int) -> None:
            counts.append(count)

    def progress(what: str, total: int) -> Counting:
        begun.append((what, total))
        return Counting()

    ailb_gen.generate(ailb_gen.load(LAB), tmp_path / "out", progress=progress)
    assert begun == [("rendering", sum(counts))]


def test_a_missing_file_and_another_directory_are_errors_of_the_tree(tmp_path: Path) -> None:
    with pytest.raises(ailb_gen.AilbError, match="there is no such file"):
        ailb_gen.load(tmp_path / "fabric.yaml")
    (tmp_path / "mine").write_text("x", encoding="utf-8")
    with pytest.raises(OutputError, match="not written by ailb-gen"):
        ailb_gen.generate(ailb_gen.load(LAB), tmp_path)


def test_a_script_without_a_guard_may_start_processes(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(
        f"import ailb_gen\nprint('once', flush=True)\nintent = ailb_gen.load({str(LAB)!r})\n"
        f"print(len(ailb_gen.generate(intent, {str(tmp_path / 'out')!r}, jobs=2).changes.new))\n",
        encoding="utf-8",
    )
    done = subprocess.run([sys.executable, str(script)], cwd=ROOT, capture_output=True, text=True, check=False)
    assert (done.stdout.splitlines()[0], done.returncode, done.stderr) == ("once", 0, "")
