"""Functions of tests that run in namespaces of their own, in another process: nothing of them is left."""

from __future__ import annotations

import os
import pickle
import shutil
import subprocess
import sys
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Timer
from typing import Any, TypeVar

from coverage import Coverage

from tests.conftest import missing, need_tool

T = TypeVar("T")
ROOT = Path(__file__).parent.parent.parent
# Where coverage is kept, empty if it is not measured.
DATA_FILE = "AILB_COVERAGE_FILE"
# A function that takes longer hangs.
SECONDS = 180


def isolated(function: Callable[..., T], *arguments: Any, tools: tuple[str, ...] = ("ip",)) -> T:
    """Call a function of a module as the first process of new namespaces; returns what it does.

    Arguments and results are pickled. Skips where programs or namespaces are missing.
    """
    with namespaces(tools) as remote:
        return remote.call(function, *arguments)


@contextmanager
def namespaces(tools: tuple[str, ...]) -> Iterator[Remote]:
    """Start a process in new namespaces, and end it. Skips where programs or namespaces are missing."""
    for tool in tools:
        need_tool(tool)
    if os.geteuid() != 0 or shutil.which("unshare") is None:
        missing("namespaces with systems' own /etc need root and unshare(1)")
    if subprocess.run(["unshare", "-nmp", "--fork", "true"], check=False, capture_output=True).returncode:
        missing("this system does not allow namespaces")
    measuring = Coverage.current()
    data_file = measuring.config.data_file if measuring is not None else ""
    with subprocess.Popen(
        [sys.executable, "-m", "tests.lab.isolated"],
        env={**os.environ, DATA_FILE: data_file},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        cwd=ROOT,
    ) as process:
        try:
            yield Remote(process)
            # It ends with its input.
            process.communicate(timeout=SECONDS)
        finally:
            process.kill()


class Remote:
    """A process that calls functions."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        self.process = process

    def call(self, function: Callable[..., T], *arguments: Any) -> T:
        """Call a function of a module; returns what it does, and fails with its traceback."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        hanging = Timer(SECONDS, self.process.kill)
        hanging.start()
        try:
            pickle.dump((function, arguments), self.process.stdin)
            self.process.stdin.flush()
            result: T
            result, error = pickle.load(self.process.stdout)
        finally:
            hanging.cancel()
        assert not error, error
        return result


@contextmanager
def _measured(data_file: str) -> Iterator[None]:
    """Measure coverage, if the tests do, into a file that is combined with theirs."""
    if not data_file:
        yield
        return
    measuring = Coverage(data_file, data_suffix=True, config_file=str(ROOT / "pyproject.toml"))
    measuring.start()
    try:
        yield
    finally:
        measuring.stop()
        measuring.save()


def main() -> None:
    """Call the functions that come on standard input."""
    from ailb_gen.lab.namespaces import isolate  # noqa: PLC0415 - heavy for those who only skip

    out = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    isolate()
    with _measured(os.environ[DATA_FILE]):
        while True:
            try:
                function, arguments = pickle.load(sys.stdin.buffer)
                answer = (function(*arguments), "")
            except EOFError:
                break
            except Exception:  # noqa: BLE001 - whatever it is, the test that waits shows it
                answer = (None, traceback.format_exc())
            pickle.dump(answer, out)
            out.flush()
    sys.stderr.flush()
    os._exit(0)


if __name__ == "__main__":
    main()
