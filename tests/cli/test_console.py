"""Errors on a terminal are wrapped to its width; in a pipe a line stays a line."""

from __future__ import annotations

import os
import pty
import termios
from pathlib import Path

import pytest

from ailb_gen.cli.console import echo_table, prose_width, wrapped
from tests.cli.verbs import program

LONG = "ailb-gen: 3 devices, a, b, c: connect: no answer in time; is the management network up, is the device busy?"


def test_lines_are_broken_between_words_and_continued_further_in() -> None:
    assert wrapped(LONG, 60).split("\n") == [
        "ailb-gen: 3 devices, a, b, c: connect: no answer in time; is",
        "    the management network up, is the device busy?",
    ]
    assert wrapped(LONG, 200) == LONG
    assert wrapped("  a line further in, with many words", 20).split("\n") == [
        "  a line further in,",
        "      with many",
        "      words",
    ]


def test_lines_of_a_text_stay_apart() -> None:
    assert wrapped("one\n\ntwo three", 40) == "one\n\ntwo three"


@pytest.mark.parametrize("command", ["ailb-gen deploy fabric.yaml out --resume 12", "ssh-keyscan -p 830 -f X >> known"])
def test_a_command_stays_whole(command: str) -> None:
    lines = wrapped(f"to go on with all that was begun there before: {command}", 40).split("\n")
    assert [line.strip() for line in lines] == ["to go on with all that was begun there", "before:", command]


@pytest.mark.parametrize("word", ["x" * 100, "/a-path/with-hyphens/" + "y" * 60])
def test_long_words_stay_whole(word: str) -> None:
    assert word in wrapped(f"{word}: no such file", 40).split("\n")[0]


def said(stderr: int) -> None:
    """Have the program refuse a file with a long name, its errors going to a descriptor."""
    program("explain", "no/such/folder/of/a/fabric/fabric.yaml", "leaf1", env={"NO_COLOR": "1"}, stderr=stderr)


def test_on_a_terminal_alone(tmp_path: Path) -> None:
    line = "ailb-gen: no/such/folder/of/a/fabric/fabric.yaml: there is no such file; 'ailb-gen init' writes one"
    ours, theirs = pty.openpty()
    try:
        termios.tcsetwinsize(theirs, (24, 60))
        said(theirs)
        shown = os.read(ours, 4096).decode().replace("\r\n", "\n")
    finally:
        os.close(ours)
        os.close(theirs)
    assert shown.rstrip("\n") == wrapped(line, 60) != line
    with (tmp_path / "err").open("w") as file:
        said(file.fileno())
    assert (tmp_path / "err").read_text() == f"{line}\n"


ROWS = [(f"et-0/0/{n}", f"spine-0{n}.pod7.example.net", "9216", "in service") for n in range(3)]


def table(width: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> list[str]:
    monkeypatch.setenv("COLUMNS", width)
    echo_table("Uplinks", ("PORT", "PEER", "MTU", "STATE"), ROWS)
    return capsys.readouterr().out.splitlines()


def test_a_table_is_as_wide_as_the_terminal(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert table("53", monkeypatch, capsys) == table("120", monkeypatch, capsys)
    # Narrower: what is the same in every row is said once.
    assert table("52", monkeypatch, capsys) == [
        "Uplinks; in every row: MTU 9216, STATE in service",
        "PORT      PEER",
        "--------  -------------------------",
        *(f"{port}  {peer}" for port, peer, *_ in ROWS),
    ]


@pytest.mark.parametrize(("width", "prose"), [("", 80), ("60", 60), ("100", 100), ("300", 120), ("12", 80)])
def test_prose_is_no_wider_than_can_be_read(width: str, prose: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", width)
    assert prose_width() == prose


@pytest.mark.parametrize("width", ["", "0", "12", "wide"])
def test_without_a_width_names_stay_whole(
    width: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    lines = table(width, monkeypatch, capsys)
    assert lines[0] == "Uplinks"
    assert lines[3] == "et-0/0/0  spine-00.pod7.example.net  9216  in service"
