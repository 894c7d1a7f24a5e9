"""A process that has imported the program and forks it: a run takes no start-up time, and can be killed.

One serves all workers of a test run (`started`), because what it imports takes seconds: for every connection it forks
itself, and that process forks the runs. Forking is safe here because nothing else runs: no thread, and no emulator.
Lines of JSON: a request is answered with `{"pid": N}` at once; an empty request, then, with `{"code": N}` when the
program has ended.
"""

from __future__ import annotations

import gc
import importlib
import json
import os
import pkgutil
import select
import signal
import socket
import subprocess
import sys
import tempfile
import traceback
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, nullcontext, suppress
from pathlib import Path
from types import TracebackType
from typing import Any

ROOT = Path(__file__).parent.parent
# Where workers find the socket of the server.
SOCKET = "AILB_FORKSERVER"
# A run that takes longer hangs.
SECONDS = 120


class Child:
    """A run of the command line in a process of its own."""

    def __init__(self, server: ForkServer, pid: int, out: Path) -> None:
        self._server, self._out = server, out
        # Unlike its number, this never is another process.
        self.descriptor = os.pidfd_open(pid)

    def send(self, number: signal.Signals) -> None:
        """Send it a signal, if it has not ended."""
        with suppress(ProcessLookupError):
            signal.pidfd_send_signal(self.descriptor, number)

    def wait(self) -> tuple[int, str]:
        """Return the exit code, negative if a signal ended it, and what it printed."""
        code = self._server.ask("code")
        os.close(self.descriptor)
        return code, self._out.read_text()


@contextmanager
def started() -> Iterator[None]:
    """Have a server for this process and those that it starts; it imports nothing until one connects."""
    with tempfile.TemporaryDirectory(prefix="ailb-fork-") as folder, socket.socket(socket.AF_UNIX) as listener:
        os.environ[SOCKET] = str(Path(folder) / "socket")
        listener.bind(os.environ[SOCKET])
        listener.listen()
        command = [sys.executable, "-m", "tests.forkserver", str(listener.fileno())]
        with subprocess.Popen(
            command,
            cwd=ROOT,
            # Threads would not survive the fork.
            env={**os.environ, "OPENBLAS_NUM_THREADS": "1"},
            # Its end, also when we die, is the end of the server.
            stdin=subprocess.PIPE,
            pass_fds=[listener.fileno()],
        ):
            try:
                yield
            finally:
                del os.environ[SOCKET]


class ForkServer:
    """A connection to the server; a context manager.

    `hurried` lets a push look for answers often, as tests.deploy.fabric does.
    """

    def __init__(self, hurried: bool = False) -> None:
        self._hurried = hurried
        with socket.socket(socket.AF_UNIX) as connection:
            connection.connect(os.environ[SOCKET])
            self._stream = connection.makefile("rw")

    def start(
        self,
        words: list[str],
        out: Path,
        err: Path | None = None,
        stdin: Path = Path(os.devnull),
        cwd: Path = ROOT,
        environment: Mapping[str, str] | None = None,
        seconds: int = SECONDS,
    ) -> Child:
        """Run a command line; without `err`, standard error goes where standard output goes."""
        files = [str(stdin), str(out), str(err or out)]
        environment = dict(environment or os.environ)
        pid = self.ask(
            "pid", words=words, files=files, cwd=str(cwd), environment=environment, seconds=seconds,
            hurried=self._hurried,
        )  # fmt: skip
        return Child(self, pid, out)

    def run(
        self, words: list[str], cwd: Path, stdin: str, environment: Mapping[str, str], seconds: int = SECONDS
    ) -> tuple[int, str, str]:
        """Run a command line to its end; return exit code, standard output and standard error."""
        with tempfile.TemporaryDirectory() as folder:
            files = [Path(folder) / name for name in ("in", "out", "err")]
            files[0].write_text(stdin)
            code, out = self.start(words, files[1], files[2], files[0], cwd, environment, seconds).wait()
            return code, out, files[2].read_text()

    def ask(self, key: str, **request: object) -> int:
        """Send a request; return a value of the answer."""
        self._stream.write(json.dumps(request) + "\n")
        self._stream.flush()
        answer: dict[str, int] = json.loads(self._stream.readline())
        return answer[key]

    def __enter__(self) -> ForkServer:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, where: TracebackType | None
    ) -> None:
        self._stream.close()


def _become(request: dict[str, Any]) -> None:
    """Take the place that a new process would have."""
    flags = (os.O_RDONLY, *(os.O_WRONLY | os.O_CREAT | os.O_APPEND,) * 2)
    for target, (path, flag) in enumerate(zip(request["files"], flags, strict=True)):
        source = os.open(path, flag)
        os.dup2(source, target)
        os.close(source)
    sys.stdin = open(0, encoding="utf-8", closefd=False)  # noqa: SIM115 - as the interpreter does
    sys.stdout = open(1, "w", encoding="utf-8", closefd=False)  # noqa: SIM115
    sys.stderr = open(2, "w", encoding="utf-8", errors="backslashreplace", closefd=False)  # noqa: SIM115
    os.chdir(request["cwd"])
    os.environ.clear()
    os.environ.update(request["environment"])
    sys.argv = ["ailb-gen", *request["words"]]
    signal.alarm(request["seconds"])


def _run(request: dict[str, Any]) -> None:
    """Be the program; does not return."""
    _become(request)
    code: object = 1
    try:
        with _module("tests.deploy.fabric").hurried() if request["hurried"] else nullcontext():
            _module("ailb_gen.__main__").main()
        code = 0
    except SystemExit as end:
        code = end.code
    except BaseException:  # noqa: BLE001 - as the interpreter does
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code if isinstance(code, int) else 1)


def _module(name: str) -> Any:
    return importlib.import_module(name)


def _serve(connection: socket.socket) -> None:
    """Fork the program for every request, until the other side closes the connection."""

    def answer(**values: int) -> None:
        connection.sendall(json.dumps(values).encode() + b"\n")

    stream = connection.makefile("r")
    for line in stream:
        pid = os.fork()
        if not pid:
            stream.close()
            connection.close()
            _run(json.loads(line))
        answer(pid=pid)
        # Until somebody asks how it ended, its number belongs to it.
        stream.readline()
        _, status = os.waitpid(pid, 0)
        answer(code=os.waitstatus_to_exitcode(status))


def _import_all() -> None:
    """Import what a run would import by itself, out of reach of the garbage collector: runs share it."""
    gc.disable()
    for module in pkgutil.walk_packages(_module("ailb_gen").__path__, "ailb_gen."):
        _module(module.name)
    _module("tests.deploy.fabric")
    gc.freeze()
    gc.enable()


def serve(listener: socket.socket) -> None:
    """Fork a process for every connection, until standard input ends."""
    while listener in select.select([listener, sys.stdin], [], [])[0]:
        connection, _ = listener.accept()
        with connection:
            if "ailb_gen" not in sys.modules:
                _import_all()
            if not os.fork():
                listener.close()
                _serve(connection)
                os._exit(0)
    # Who measures the tests by their processor time sees that of the runs, too.
    with suppress(ChildProcessError):
        while True:
            os.wait()


if __name__ == "__main__":
    serve(socket.socket(fileno=int(sys.argv[1])))
