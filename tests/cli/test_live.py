"""The line that says what is being done: on a terminal only, gone at the end, never in the way of anything."""

from __future__ import annotations

import io
import os
import sys
import termios
from collections.abc import Iterator
from contextlib import contextmanager
from unittest import mock

import pytest
import typer

from ailb_gen.cli import live
from ailb_gen.cli.live import Live, ProgressBar, fitted, progress, watching, working
from ailb_gen.cli.steady import steady, write_now
from ailb_gen.cli.visible import overlays, plain
from ailb_gen.paint import Style
from tests.cli.screen import Screen


class Terminal:
    """Both ends of a pseudo-terminal that is standard output and error."""

    def __init__(self, width: int) -> None:
        self.ours, self.theirs = os.openpty()
        # No translation of line ends: what is written is read.
        attributes = termios.tcgetattr(self.theirs)
        attributes[1] &= ~termios.OPOST
        termios.tcsetattr(self.theirs, termios.TCSANOW, attributes)
        self.screen = Screen(width)
        self.resize(width)
        self.out, self.err = (plain(os.fdopen(os.dup(self.theirs), "w", buffering=1)) for _ in range(2))

    def resize(self, width: int) -> None:
        """Give it another width."""
        termios.tcsetwinsize(self.theirs, (24, width))
        self.screen.resize(width)

    def lines(self) -> list[str]:
        """Return what a person sees now."""
        os.set_blocking(self.ours, False)
        try:
            while data := os.read(self.ours, 65536):
                self.screen.write(data.decode().replace("\n", "\r\n"))
        except BlockingIOError:
            pass
        return self.screen.lines()

    @contextmanager
    def taken(self) -> Iterator[None]:
        """Let it be standard output and error. In a test, not in a fixture: pytest has its own between the two."""
        with mock.patch.object(sys, "stdout", self.out), mock.patch.object(sys, "stderr", self.err):
            yield

    def close(self) -> None:
        for stream in (self.out, self.err):
            stream.close()
        os.close(self.ours)
        os.close(self.theirs)


@pytest.fixture(autouse=True)
def _patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Draw when a test says so, not by the clock."""
    monkeypatch.setattr(live, "TICK_S", 3600.0)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.delenv("NO_COLOR", raising=False)


@pytest.fixture
def terminal() -> Iterator[Terminal]:
    """A terminal of 60 columns."""
    found = Terminal(60)
    yield found
    found.close()


def saying(*words: str) -> Live:
    """Return a live line that says one word after another."""
    rest = iter(words)
    return Live(lambda width: [(next(rest), None)])


def test_it_is_drawn_anew_and_vanishes(terminal: Terminal) -> None:
    with terminal.taken():
        with saying("a long first line", "short") as line:
            assert terminal.lines() == ["a long first line"]
            line.draw()
            assert terminal.lines() == ["short"]
        assert terminal.lines() == []


def test_what_is_printed_takes_its_place(terminal: Terminal) -> None:
    with terminal.taken():
        with saying("a line that is longer than what is printed", "later") as line:
            typer.echo("out")
            assert terminal.lines() == ["out"]
            typer.echo("error", err=True)
            line.draw()
            assert terminal.lines() == ["out", "error", "later"]
        typer.echo("end")
        assert terminal.lines() == ["out", "error", "end"]


def test_a_question_is_not_drawn_over(terminal: Terminal) -> None:
    with terminal.taken(), saying("before", "after") as line:
        typer.echo("Push? [y/N]: ", nl=False)
        line.draw()
        assert terminal.lines() == ["Push? [y/N]:"]
        typer.echo("no")
        line.draw()
        assert terminal.lines() == ["Push? [y/N]: no", "after"]


@pytest.mark.parametrize("width", [59, 30, 14])
def test_a_terminal_that_becomes_narrow(terminal: Terminal, width: int) -> None:
    with terminal.taken():
        typer.echo("above")
        with saying("x" * 59, "y" * 200) as line:
            terminal.lines()
            terminal.resize(width)
            line.draw()
            assert terminal.lines() == ["above", "y" * (width - 1)]
            terminal.resize(200)
            typer.echo("below")
        assert terminal.lines() == ["above", "below"]


def test_no_line_where_there_is_no_room(terminal: Terminal) -> None:
    with terminal.taken():
        terminal.resize(10)
        with saying("x"):
            assert terminal.lines() == []


def test_a_terminal_that_does_not_know_its_width(terminal: Terminal) -> None:
    with terminal.taken():
        termios.tcsetwinsize(terminal.theirs, (0, 0))
        with saying("x" * 200):
            terminal.screen.resize(80)
            assert terminal.lines() == ["x" * 79]


def test_the_inner_line_is_the_one_that_is_seen(terminal: Terminal) -> None:
    with terminal.taken(), saying("outer", "outer again") as outer:
        with saying("inner", "inner again") as inner:
            outer.draw()
            inner.draw()
            assert terminal.lines() == ["inner again"]
        outer.draw()
        assert terminal.lines() == ["outer again"]


def test_where_printing_never_waits(terminal: Terminal) -> None:
    with terminal.taken():
        with steady():
            with saying("one", "two") as line:
                typer.echo("printed")
                write_now("stopping")
                typer.echo("an error", err=True)
            assert overlays == []
            del line
        assert [text for text in terminal.lines() if text] == ["printed", "stopping", "an error"]


def test_a_terminal_that_is_gone(terminal: Terminal) -> None:
    with terminal.taken():
        with saying("x") as line:
            behind = terminal.err
            gone = os.fdopen(os.dup(terminal.theirs), "w")
            gone.close()
            sys.stderr = plain(gone)
            line.draw()
            sys.stderr = behind
        assert overlays == []


@pytest.mark.parametrize("dumb", [False, True])
def test_a_pipe_and_a_plain_terminal_see_nothing(
    terminal: Terminal, monkeypatch: pytest.MonkeyPatch, dumb: bool
) -> None:
    with terminal.taken():
        stream = io.StringIO()
        if dumb:
            monkeypatch.setenv("TERM", "dumb")
        else:
            monkeypatch.setattr(sys, "stderr", plain(stream))
        with progress("checking", 3) as bar, working("writing") as step, watching("canary") as devices:
            bar(1)
            bar.step("here")
            step("there")
            devices.begin("commit", ["leaf1"])
            devices.end("leaf1")
        assert stream.getvalue() == ""
        assert terminal.lines() == []


def test_progress(terminal: Terminal, monkeypatch: pytest.MonkeyPatch) -> None:
    with terminal.taken():
        with progress("checking", 200) as bar:
            assert terminal.lines() == ["checking " + "\u2501" * 30 + " 0/200  0:00"]
        assert terminal.lines() == []
        now = 100.0
        monkeypatch.setattr(live, "monotonic", lambda: now)
        bar = ProgressBar("checking", 200, began=now)
        bar(50)
        bar.step("paths")
        now += 5
        text = fitted(bar.line(59), 59, color=False)
        assert text.startswith("checking: paths \u2501")
        assert text.endswith(" 50/200  0:05, about 0:14 left")
        now += 3600
        assert bar.line(40)[-1] == (" 50/200  1:00:05, about 2:55:32 left", Style.DIM)
        monkeypatch.setenv("NO_COLOR", "1")
        bar = ProgressBar("checking", 200, 50, "paths", began=now)
        assert fitted(bar.line(59), 59, color=False) == f"checking: paths {'=' * 7}{'-' * 23} 50/200  0:00"


def test_the_rest_follows_from_the_units_of_the_stage(monkeypatch: pytest.MonkeyPatch) -> None:
    """Twenty failures of 51 s each, after two stages that took no time: nothing is guessed before one is done."""
    now = 0.0
    monkeypatch.setattr(live, "monotonic", lambda: now)
    bar = ProgressBar("asking Batfish", began=now)
    bar.stage("the files", 7)
    bar(7)
    now = 10
    bar.stage("failures", 20)
    assert bar.clock() == "0:10"
    now += 40
    assert bar.clock() == "0:50"
    now += 11
    bar(1)
    assert bar.clock() == "1:01, about 16:09 left"
    now += 50
    assert bar.clock() == "1:51, about 15:19 left"
    # The second one takes twice as long as the first did.
    now += 52
    assert bar.clock() == "2:43, about 22:57 left"
    bar(19)
    assert bar.clock() == "2:43"


def test_something_without_an_end_in_sight(terminal: Terminal) -> None:
    with terminal.taken():
        with working("writing the report") as step:
            assert terminal.lines() == ["writing the report  0:00"]
            step("compressing it")
            typer.echo("")
        assert terminal.lines() == []


def test_the_devices_of_a_wave(terminal: Terminal) -> None:
    with terminal.taken(), watching("leaves of rail 1") as devices:
        assert terminal.lines() == ["leaves of rail 1  0:00"]
        devices.begin("commit", [f"leaf{n}" for n in range(1, 6)])
        devices.end("leaf2")
        text = fitted(devices.line(79), 79, color=False)
        assert text == "leaves of rail 1: committing on leaf1, leaf3, leaf4 and 1 more  1/5  0:00"
        assert fitted(devices.line(40), 40, color=False) == "leaves of rail 1: committing   1/5  0:00"
        devices.begin("verify", ["leaf3"])
        devices.end("leaf3")
        assert "verifying leaf3  1/1" in fitted(devices.line(79), 79, color=False)


def test_text_of_a_device_cannot_steer_the_terminal() -> None:
    assert fitted([("a\x1b[2J\nb", None)], 40, color=True) == "a\\u001b[2J b"
