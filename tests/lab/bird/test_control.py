"""BIRD's control socket, and what else may answer there."""

from __future__ import annotations

import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from ailb_gen.errors import LabError
from ailb_gen.lab.bird import control
from ailb_gen.lab.bird.control import Bird, NoDaemonError, without_codes

WELCOME = b"0001 BIRD 2.0.12 ready.\n"


@contextmanager
def answering(path: Path, welcome: bytes, *chunks: bytes, hang: bool = False) -> Iterator[list[bytes]]:
    """Answer one connection: a welcome, then chunks once a command has come; it is kept open if asked for."""
    commands: list[bytes] = []
    done = threading.Event()

    def serve() -> None:
        connection, _ = listener.accept()
        with connection:
            connection.sendall(welcome)
            if chunks:
                commands.append(connection.recv(1000))
            try:
                for chunk in chunks:
                    connection.sendall(chunk)
            except OSError:
                return
            if hang:
                done.wait(10)

    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(path))
        listener.listen()
        thread = threading.Thread(target=serve)
        thread.start()
        yield commands
        done.set()
        thread.join()


def test_an_answer_in_pieces(tmp_path: Path) -> None:
    pieces = (b"1007-Table master6:\n fc0", b"0::/16 x\n1008-\tType: device univ\n00", b"00 \n")
    with answering(tmp_path / "ctl", WELCOME, *pieces) as commands:
        assert Bird(tmp_path / "ctl").lines("show route") == [
            "Table master6:", "fc00::/16 x", "\tType: device univ", "",
        ]  # fmt: skip
    assert commands == [b"show route\n"]


def test_a_process_that_is_stopped_is_named_at_once(tmp_path: Path) -> None:
    listen = "import socket, sys; s = socket.socket(socket.AF_UNIX); s.bind(sys.argv[1]); s.listen(); print(flush=True)"
    path = tmp_path / "ctl"
    with subprocess.Popen(
        [sys.executable, "-S", "-c", f"{listen}; input()", str(path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as daemon:
        assert daemon.stdin is not None
        assert daemon.stdout is not None
        daemon.stdout.readline()
        daemon.send_signal(signal.SIGSTOP)
        try:
            with pytest.raises(LabError, match=rf"BIRD is stopped \(process {daemon.pid}\).*'kill -CONT {daemon.pid}'"):
                Bird(path).command("show status")
        finally:
            daemon.send_signal(signal.SIGCONT)
            daemon.stdin.close()


def test_a_refusal_says_what_bird_says(tmp_path: Path) -> None:
    with (
        answering(tmp_path / "ctl", WELCOME, b"9001 syntax error\n"),
        pytest.raises(LabError, match="'x': syntax error"),
    ):
        Bird(tmp_path / "ctl").command("x")


def test_a_refused_configuration(tmp_path: Path) -> None:
    answer = b"0002-Reading configuration from a\n8002 a, line 3: syntax error\n"
    with answering(tmp_path / "ctl", WELCOME, answer), pytest.raises(LabError, match="line 3: syntax error"):
        Bird(tmp_path / "ctl").configure()


@pytest.mark.parametrize(
    ("welcome", "chunks", "message"),
    [
        (b"SSH-2.0-OpenSSH\r\n", (), "is not BIRD"),
        (WELCOME, (b"HTTP/1.1 200 OK\n",), "is not BIRD"),
        (b"\xff\xfe\x00\x00\x00", (), "is not BIRD"),
        (b"", (), "closed the connection"),
        (b"0001", (), "closed the connection"),
        (WELCOME, (b"1007-Table\n",), "closed the connection"),
        (WELCOME, (b"",), "closed the connection"),
    ],
)
def test_what_is_no_answer(tmp_path: Path, welcome: bytes, chunks: tuple[bytes, ...], message: str) -> None:
    with answering(tmp_path / "ctl", welcome, *chunks), pytest.raises(LabError, match=message):
        Bird(tmp_path / "ctl").command("show status")


@pytest.mark.parametrize(("welcome", "chunks"), [(b"", ()), (WELCOME, (b"1007-Table\n", b" x\n")), (b"0001", ())])
def test_an_answer_that_does_not_come(tmp_path: Path, welcome: bytes, chunks: tuple[bytes, ...]) -> None:
    with (
        answering(tmp_path / "ctl", welcome, *chunks, hang=True),
        pytest.raises(LabError, match=r"does not answer 'show status' within 0\.1 s"),
    ):
        Bird(tmp_path / "ctl", patience_s=0.1).command("show status")


def test_an_answer_without_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(control, "MOST_BYTES", 1 << 20)
    with (
        answering(tmp_path / "ctl", WELCOME, *[b"1007-x\n" * 10_000] * 20),
        pytest.raises(LabError, match="more than 1 MB"),
    ):
        Bird(tmp_path / "ctl").command("show route")


def test_without_a_daemon(tmp_path: Path) -> None:
    with pytest.raises(NoDaemonError, match="BIRD does not run: No such file or directory"):
        Bird(tmp_path / "ctl").command("show status")
    with socket.socket(socket.AF_UNIX) as left:
        left.bind(str(tmp_path / "ctl"))
    with pytest.raises(NoDaemonError, match="BIRD does not run: Connection refused"):
        Bird(tmp_path / "ctl").command("show status")


@pytest.mark.parametrize("command", ["show\nroute", "show\0", "\x1b"])
def test_a_command_is_one_line(tmp_path: Path, command: str) -> None:
    with pytest.raises(LabError, match="one line"):
        Bird(tmp_path / "ctl").command(command)


def test_text_that_is_not_utf8(tmp_path: Path) -> None:
    with answering(tmp_path / "ctl", WELCOME, b"1000-\xff\n0000 \n"):
        assert Bird(tmp_path / "ctl").command("show status") == "1000-\ufffd\n0000 \n"


def test_codes_are_taken_away() -> None:
    assert without_codes("1007-a\n b\n1008-\tc\n \td\n0000 \n") == "a\nb\n\tc\n\td\n\n"
