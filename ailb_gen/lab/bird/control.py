"""BIRD's control socket: a command, and the answer to it.

An answer is lines of a code of four digits, `-` or a space, and text; a line that starts with a space belongs to the
code above it. The last line has the space. 0xxx to 2xxx are answers, 8xxx errors of the run, 9xxx of the command
(BIRD Programmer's Documentation, "Command line interface").
"""

from __future__ import annotations

import re
import socket
import struct
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from ailb_gen.errors import LabError
from ailb_gen.lab import run_directory

# How the last line of an answer starts, from which code on it is a refusal, and how every line with a code starts.
LAST = re.compile(rb"([0-9]{4}) ")
REFUSED = 8000
CODED = re.compile(rb"[0-9]{4}[- ]")
PREFIX = re.compile(r"^(?:[0-9]{4}[- ]| )", re.MULTILINE)
# A full table of a leaf of 256 switches is some 100 MB.
MOST_BYTES = 1 << 28
CHUNK = 1 << 18
# How long an answer may take, and between two looks at whether the process can answer at all.
PATIENCE_S, LOOK_S = 30.0, 0.5
# The state of a process that a signal or a debugger has stopped (proc(5)).
STOPPED = ("T", "t")


class NoDaemonError(LabError):
    """Nothing listens on a control socket: the daemon was not started, or has ended."""


@dataclass(frozen=True, slots=True)
class BirdAnswer:
    """An answer as BIRD writes it, codes included, and the code of its last line."""

    code: int
    text: str


@dataclass(frozen=True, slots=True)
class Bird:
    """The BIRD that listens on a control socket; every command has a connection of its own."""

    path: Path
    patience_s: float = PATIENCE_S

    def __str__(self) -> str:
        return run_directory.name_inside(self.path)

    def command(self, text: str) -> str:
        """Return the answer to a command, codes included. Raises LabError for a refusal, and as `ask` does."""
        answer = self.ask(text)
        if answer.code >= REFUSED:
            raise LabError(f"{self}: BIRD rejects {text!r}: {' '.join(without_codes(answer.text).split())}")
        return answer.text

    def ask(self, text: str) -> BirdAnswer:
        """Return the answer to a command, which may be a refusal.

        Raises NoDaemonError when no daemon runs, LabError for anything that is no answer, and when none comes in time.
        """
        if not text.isprintable():
            raise LabError(f"{self}: a command is one line of printable text, not {text!r}")
        until = time.monotonic() + self.patience_s
        try:
            with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as connection:
                connection.settimeout(self.patience_s)
                connection.connect(str(self.path))
                self._receive(connection, until)
                connection.sendall(f"{text}\n".encode())
                return self._receive(connection, until)
        except TimeoutError as error:
            raise LabError(f"{self}: BIRD does not answer {text!r} within {self.patience_s:g} s") from error
        except (FileNotFoundError, ConnectionRefusedError) as error:
            raise NoDaemonError(f"{self}: BIRD does not run: {error.strerror}") from error
        except OSError as error:
            raise LabError(f"{self}: BIRD cannot be reached: {error.strerror or error}; does it run?") from error

    def lines(self, text: str) -> list[str]:
        """Return the lines of the answer to a command, without codes. Raises LabError as `command` does."""
        return without_codes(self.command(text)).splitlines()

    def configure(self) -> None:
        """Let BIRD read its configuration again; sessions that stay the same are not touched. Raises LabError."""
        self.command("configure")

    def _receive(self, connection: socket.socket, until: float) -> BirdAnswer:
        received = bytearray()
        while True:
            left = until - time.monotonic()
            if left <= 0:
                raise TimeoutError
            connection.settimeout(min(left, LOOK_S))
            try:
                chunk = connection.recv(CHUNK)
            except TimeoutError:
                self._refuse_stopped(connection)
                continue
            if not chunk:
                raise LabError(f"{self}: BIRD closed the connection during an answer; did it crash?")
            received += chunk
            if len(received) >= 5 and CODED.match(received) is None:
                start = bytes(received[:60]).decode("utf-8", "replace")
                raise LabError(f"{self}: the process behind this socket is not BIRD; it says {start!r}")
            if len(received) > MOST_BYTES:
                raise LabError(f"{self}: the answer has more than {MOST_BYTES >> 20} MB")
            if received.endswith(b"\n"):
                last = LAST.match(received, received.rfind(b"\n", 0, -1) + 1)
                if last is not None:
                    return BirdAnswer(int(last[1]), received.decode("utf-8", "replace"))

    def _refuse_stopped(self, connection: socket.socket) -> None:
        """Raise LabError where the process that listens is stopped: it answers nothing until it is continued."""
        pid, _, _ = struct.unpack("3i", connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12))
        # Of a process in another PID namespace the kernel tells no number.
        with suppress(OSError):
            state = (
                (run_directory.processes() / f"{pid}/stat")
                .read_text(encoding="utf-8", errors="replace")
                .rpartition(")")[2]
            )
            if state.split()[0] in STOPPED:
                raise LabError(
                    f"{self}: BIRD is stopped (process {pid}) and answers nothing; 'kill -CONT {pid}' continues it"
                )


def without_codes(answer: str) -> str:
    """Return the text of an answer without the codes."""
    return PREFIX.sub("", answer)
