"""What is printed to standard output and error comes in the order in which it was said, where both go to one place."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

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


@pytest.mark.parametrize(("must_be_read", "code", "told"), [(False, 0, ""), (True, 1, "Broken pipe; the work is done")])
def test_a_reader_that_goes_away_is_an_error_where_the_output_must_be_read(
    must_be_read: bool, code: int, told: str
) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    program = f"from ailb_gen.cli.steady import steady\nwith steady(must_be_read={must_be_read}):\n    print('x')\n"
    words = [sys.executable, "-c", program]
    done = subprocess.run(words, cwd=ROOT, stdout=writer, stderr=subprocess.PIPE, text=True, check=False)
    os.close(writer)
    assert (done.returncode, told in done.stderr) == (code, True)


def test_in_one_file(tmp_path: Path) -> None:
    with (tmp_path / "log").open("w") as log:
        subprocess.run(WORDS, cwd=ROOT, stdout=log, stderr=log, check=True)
    assert (tmp_path / "log").read_text().splitlines() == LINES
