"""Running a verb on a golden tree, in this process: what `main` would print and return."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from typer.testing import CliRunner

import ailb_gen.cli
from ailb_gen.errors import AilbError
from tests.conftest import ROOT

Told = tuple[int, str, str]


def run(*words: str, artifacts: str | None = None) -> Told:
    """Return exit code, standard output and standard error; `artifacts` is what AILB_ARTIFACTS says."""
    done = CliRunner(env={"AILB_ARTIFACTS": artifacts}).invoke(ailb_gen.cli.app, list(words))
    error = done.exception
    if isinstance(error, AilbError):
        return error.exit_code, done.stdout, f"{done.stderr}ailb-gen: {error}\n"
    assert error is None or isinstance(error, SystemExit), done.exc_info
    return done.exit_code, done.stdout, done.stderr


def unread(*words: str) -> tuple[int, str]:
    """Run a verb as a process whose reader has gone away, as `head` does; returns exit code and standard error."""
    process = subprocess.Popen(
        [sys.executable, "-m", "ailb_gen", *words],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None and process.stderr is not None
    process.stdout.close()
    with process.stderr as stream:
        error = stream.read()
    return process.wait(timeout=120), error


def changed(folder: Path, file: str, old: str, new: str) -> None:
    """Change a file of a copied tree; what is not there cannot be changed."""
    text = (folder / file).read_text()
    assert old in text, f"{old!r} is not in {file}"
    (folder / file).write_text(text.replace(old, new))
