"""A process that has imported the program and forks it: a run takes no start-up time, and can be killed.

Forking is safe here because nothing else runs: no thread, and no emulator. Lines of JSON on standard input and output:
a request is answered with `{"pid": N}` at once; an empty request, then, with `{"code": N}` when the program has ended.
"""

from __future__ import annotations

import importlib
import json
import os
import pkgutil
import signal
import subprocess
import sys
import tempfile
import traceback
from collections.abc import Mapping
from contextlib import nullcontext, suppress
from pathlib import Path
from types import TracebackType
from typing import Any

import ailb_gen
from ailb_gen.__main__ import main

ROOT = Path(__file__).parent.parent
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


class ForkServer:
    """The process; a context manager. `hurried` lets a push look for answers often, as tests.deploy.fabric does."""

    def __init__(self, hurried: bool = False) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.forkserver", *["hurried"] * hurried],
            cwd=ROOT,
            # Threads would not survive the fork.
            env={**os.environ, "OPENBLAS_NUM_THREADS": "1"},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

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
        pid = self.ask("pid", words=words, files=files, cwd=str(cwd), environment=environment, seconds=seconds)
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
        assert self._process.stdin is not None and self._process.stdout is not None
        self._process.stdin.write(json.dumps(request) + "\n")
        self._process.stdin.flush()
        answer: dict[str, int] = json.loads(self._process.stdout.readline())
        return answer[key]

    def __enter__(self) -> ForkServer:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, where: TracebackType | None
    ) -> None:
        self._process.kill()
        self._process.communicate()


def _say(**answer: int) -> None:
    sys.stdout.write(json.dumps(answer) + "\n")
    sys.stdout.flush()


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


def _run(request: dict[str, Any], hurried: Any) -> None:
    """Be the program; does not return."""
    _become(request)
    code: object = 1
    try:
        with hurried():
            main()
        code = 0
    except SystemExit as end:
        code = end.code
    except BaseException:  # noqa: BLE001 - as the interpreter does
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code if isinstance(code, int) else 1)


def serve(hurried: Any) -> None:
    """Fork the program for every request."""
    # What a run would import by itself.
    for module in pkgutil.walk_packages(ailb_gen.__path__, "ailb_gen."):
        importlib.import_module(module.name)
    for line in sys.stdin:
        pid = os.fork()
        if not pid:
            _run(json.loads(line), hurried)
        _say(pid=pid)
        # Until somebody asks how it ended, its number belongs to it.
        sys.stdin.readline()
        _, status = os.waitpid(pid, 0)
        _say(code=os.waitstatus_to_exitcode(status))


if __name__ == "__main__":
    serve(importlib.import_module("tests.deploy.fabric").hurried if sys.argv[1:] == ["hurried"] else nullcontext)
