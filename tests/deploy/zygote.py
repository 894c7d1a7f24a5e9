"""A process that has imported the program and forks it: a run takes no start-up time, and can be killed.

Forking is safe here because nothing else runs: no thread, and no emulator. Lines of JSON on standard input and output:
a request `{"words": [...], "out": FILE}` is answered with `{"pid": N}` at once and `{"code": N}` when it has ended.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Any

# What a run would import by itself.
import ailb_gen.deploy.context
import ailb_gen.deploy.drivers
import ailb_gen.deploy.runs  # noqa: F401
from tests.conftest import ROOT
from tests.deploy.fabric import hurried, program


class Child:
    """A run of the command line in a process of its own."""

    def __init__(self, zygote: Zygote, pid: int, out: Path) -> None:
        self._zygote, self._out = zygote, out
        # Unlike its number, this never is another process.
        self.descriptor = os.pidfd_open(pid)

    def send(self, number: signal.Signals) -> None:
        """Send it a signal, if it has not ended."""
        with suppress(ProcessLookupError):
            signal.pidfd_send_signal(self.descriptor, number)

    def wait(self) -> tuple[int, str]:
        """Return the exit code, negative if a signal ended it, and what it printed."""
        code = self._zygote.read("code")
        os.close(self.descriptor)
        return code, self._out.read_text()


class Zygote:
    """The process; a context manager. `environment` is added to that of this process."""

    def __init__(self, environment: Mapping[str, str]) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.deploy.zygote"],
            cwd=ROOT,
            env={**os.environ, "OPENBLAS_NUM_THREADS": "1", **environment},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def start(self, words: list[str], out: Path) -> Child:
        """Run a command line."""
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps({"words": words, "out": str(out)}) + "\n")
        self._process.stdin.flush()
        return Child(self, self.read("pid"), out)

    def read(self, key: str) -> int:
        """Return what the process says next."""
        assert self._process.stdout is not None
        answer: dict[str, int] = json.loads(self._process.stdout.readline())
        return answer[key]

    def __enter__(self) -> Zygote:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, where: TracebackType | None
    ) -> None:
        self._process.kill()
        self._process.communicate()


def _say(**answer: int) -> None:
    sys.stdout.write(json.dumps(answer) + "\n")
    sys.stdout.flush()


def _run(request: dict[str, Any]) -> None:
    """Be the program; does not return."""
    null, out = os.open(os.devnull, os.O_RDONLY), os.open(request["out"], os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    for target, source in ((0, null), (1, out), (2, out)):
        os.dup2(source, target)
    code = 70
    try:
        with hurried():
            code = program(request["words"])
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)


def main() -> None:
    for line in sys.stdin:
        request = json.loads(line)
        pid = os.fork()
        if not pid:
            _run(request)
        _say(pid=pid)
        _, status = os.waitpid(pid, 0)
        _say(code=os.waitstatus_to_exitcode(status))


if __name__ == "__main__":
    main()
