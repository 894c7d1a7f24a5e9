"""The work of a maintenance on one device: its Protocol, and a command of the user as one kind of it."""

from __future__ import annotations

import codecs
import fcntl
import os
import shlex
import shutil
import signal
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from ailb_gen.deploy.session import DeploySession
from ailb_gen.errors import DeployError, UsageError
from ailb_gen.progress import Progress, quiet

# Seconds between two looks at a command, and that it has to end after SIGTERM.
LOOK_S, ENDING_S = 0.1, 10.0
CHUNK = 64 << 10
# Characters of a line, and bytes that are left when a command has ended, that are still printed: printing must not hold
# up a maintenance. All of it is in the file.
LONGEST_LINE, LAST_SHOWN = 1 << 20, 1 << 20
# The files beside the record that hold what commands printed, by device.
OUTPUT = "{name}.output"


class WorkError(DeployError):
    """Work on a device failed; the message has the device, the reason and what to know of the state it left."""


@dataclass(frozen=True, slots=True)
class WorkDevice:
    """A device that work is done on, and what the work may use.

    `session` reaches the device (`session.pool.run([name], ...)`), `folder` is the private directory of the record.
    `tell` prints a line and `write` output of another program as it is; both take secrets out. `stopped` says whether
    a signal asks for the end: then the work ends soon, with a WorkError.
    """

    name: str
    role: str
    address: str
    session: DeploySession
    folder: Path
    tell: Callable[[str], None] = lambda text: None
    write: Callable[[str], None] = lambda text: None
    stopped: Callable[[], bool] = lambda: False
    progress: Progress = quiet


class MaintenanceWork(Protocol):
    """Work on devices, one at a time in each thread. A repeated call goes on where a former one was cut off."""

    @property
    def recorded(self) -> Mapping[str, object]:
        """The work as values of JSON, without secrets: for the record, from which `--resume` makes it again."""

    def check(self, device: WorkDevice) -> str:
        """Look whether the work can be done, before anything is changed; return why it need not be, else nothing.

        Raises WorkError.
        """

    def __call__(self, device: WorkDevice) -> None:
        """Do the work; the device is quiet, and may be gone meanwhile. Raises WorkError."""


@dataclass(frozen=True, slots=True)
class CommandWork:
    """A command on this machine, run for each device without a shell; it has `timeout_s` seconds.

    It finds the device in AILB_DEVICE, AILB_ROLE and AILB_ADDRESS. It writes to a file beside the record, which is
    copied to the terminal: so it goes on, and nothing of its output is lost, if this program is killed. The file is
    locked as long as the command, or what it has started, has it open.
    """

    words: tuple[str, ...]
    timeout_s: float

    @property
    def recorded(self) -> Mapping[str, object]:
        """The words of the command and its time."""
        return {"command": list(self.words), "timeout_s": self.timeout_s}

    def check(self, device: WorkDevice) -> str:
        """Look for the program. Raises WorkError."""
        if shutil.which(self.words[0]) is None:
            raise WorkError(f"{self.words[0]}: there is no such program; check the words after '--'")
        return ""

    def __call__(self, device: WorkDevice) -> None:
        """Run it to its end; on a signal and after the timeout, end it and all that it has started in its group."""
        path = device.folder / OUTPUT.format(name=device.name)
        with _output(path, device.name) as descriptor:
            start = os.fstat(descriptor).st_size
            # In a group of its own: Ctrl-C at the terminal reaches it only through this program, which waits for it.
            try:
                process = subprocess.Popen(
                    self.words,
                    stdin=subprocess.DEVNULL,
                    stdout=descriptor,
                    stderr=descriptor,
                    env={**os.environ, **_environment(device)},
                    start_new_session=True,
                )
            except (OSError, ValueError) as error:
                reason = error.strerror if isinstance(error, OSError) else str(error)
                raise WorkError(f"{device.name}: {shlex.join(self.words)[:200]} cannot be run: {reason}") from error
        self._follow(process, device, path, start)

    def _follow(self, process: subprocess.Popen[bytes], device: WorkDevice, path: Path, start: int) -> None:
        """Print what a command writes until it ends. Raises WorkError."""
        until = time.monotonic() + self.timeout_s
        why = ""
        with path.open("rb") as output:
            output.seek(start)
            lines = _OutputLines(device.write)
            while process.poll() is None:
                data = output.read(CHUNK)
                lines.take(data)
                if device.stopped():
                    why = "was ended by a signal to this program"
                elif time.monotonic() >= until:
                    why = f"had not ended after {self.timeout_s:g} s of --timeout and was ended"
                elif len(data) < CHUNK:
                    time.sleep(LOOK_S)
                if why:
                    _end(process)
            # What it has started may go on writing: that is not waited for.
            left = os.fstat(output.fileno()).st_size - output.tell()
            if left > LAST_SHOWN:
                lines.end()
                output.seek(left - LAST_SHOWN, os.SEEK_CUR)
                skipped = left - LAST_SHOWN + len(output.readline(LAST_SHOWN))
                device.tell(f"{device.name}: {skipped:,} bytes of output are not printed here; they are in {path}")
                left -= skipped
            lines.take(output.read(left))
            lines.end()
        why = why or _ended_badly(process.returncode)
        if why:
            raise WorkError(f"{device.name}: the command {why}: {shlex.join(self.words)[:200]}; its output: {path}")


def _environment(device: WorkDevice) -> dict[str, str]:
    return {"AILB_DEVICE": device.name, "AILB_ROLE": device.role, "AILB_ADDRESS": device.address}


@contextmanager
def _output(path: Path, device: str) -> Iterator[int]:
    """Open and lock the file of a command's output. Raises WorkError while an earlier command still has it."""
    try:
        descriptor = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o600)
    except OSError as error:
        raise WorkError(f"{path}: the output of the command cannot be written: {error.strerror}") from error
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise WorkError(
                f"{device}: the command of an earlier call still runs, and has {path} open; wait until it has ended, "
                f"or end it ('fuser {shlex.quote(str(path))}' names its process)"
            ) from error
        yield descriptor
    finally:
        os.close(descriptor)


def _end(process: subprocess.Popen[bytes]) -> None:
    """End a command and what it has started: asked first, then not."""
    _signal(process, signal.SIGTERM)
    try:
        process.wait(ENDING_S)
    except subprocess.TimeoutExpired:
        _signal(process, signal.SIGKILL)
        process.wait()
    else:
        # What it has started may ignore the first.
        _signal(process, signal.SIGKILL)


def _signal(process: subprocess.Popen[bytes], number: signal.Signals) -> None:
    try:
        os.killpg(process.pid, number)
    except ProcessLookupError:
        return


def _ended_badly(code: int) -> str:
    """Return how a command ended, nothing if well."""
    if code < 0:
        try:
            return f"was ended by {signal.Signals(-code).name}"
        except ValueError:
            return f"was ended by signal {-code}"
    return f"failed with exit code {code}" if code else ""


class _OutputLines:
    """Text that comes in pieces of bytes, given on in whole lines; of one that is too long only its existence."""

    def __init__(self, write: Callable[[str], None]) -> None:
        self._write = write
        self._decoder = codecs.getincrementaldecoder("utf-8")("backslashreplace")
        self._rest = ""
        self._long = False

    def take(self, data: bytes) -> None:
        *lines, self._rest = (self._rest + self._decoder.decode(data)).split("\n")
        for line in lines:
            self._give(line)
        if len(self._rest) > LONGEST_LINE:
            self._rest, self._long = "", True

    def end(self) -> None:
        rest = self._rest + self._decoder.decode(b"", final=True)
        if rest or self._long:
            self._give(rest)
        self._rest = ""

    def _give(self, line: str) -> None:
        # A part of a line could end within a secret, which would not be found then.
        self._write(f"(a line of more than {LONGEST_LINE:,} characters)" if self._long else line)
        self._long = False


def check_ended(folder: Path, device: str) -> None:
    """Make sure that no command of an earlier call still works on a device. Raises WorkError."""
    path = folder / OUTPUT.format(name=device)
    if path.exists():
        with _output(path, device):
            return


def command_work(words: tuple[str, ...], timeout_s: float) -> CommandWork:
    """Return the work of a command. Raises UsageError where there is none."""
    if not words or not words[0]:
        raise UsageError("there is no command; write it behind '--', as in: maintain ... spine1 -- ./upgrade.sh")
    return CommandWork(words, timeout_s)
