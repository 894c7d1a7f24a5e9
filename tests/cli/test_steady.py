"""What is printed to standard output and error comes in the order in which it was said, where both go to one place."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from tests.conftest import ROOT

PROGRAM = """
import typer
from ailb_gen.cli.steady import steady
with steady():
    for number in range(500):
        typer.echo(number, err=number % 5 == 4)
"""
LINES = [str(number) for number in range(500)]
WORDS = [sys.executable, "-c", PROGRAM]


def test_in_one_pipe() -> None:
    done = subprocess.run(WORDS, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=True)
    assert done.stdout.splitlines() == LINES


def test_in_one_file(tmp_path: Path) -> None:
    with (tmp_path / "log").open("w") as log:
        subprocess.run(WORDS, cwd=ROOT, stdout=log, stderr=log, check=True)
    assert (tmp_path / "log").read_text().splitlines() == LINES
