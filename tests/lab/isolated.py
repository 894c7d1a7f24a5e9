"""Functions of tests that run in namespaces of their own, in another process: nothing of them is left."""

from __future__ import annotations

import atexit
import gc
import os
import pickle
import shutil
import subprocess
import sys
import tempfile
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path
from threading import Timer
from typing import Any, TypeVar

import pytest
from coverage import Coverage

from tests.conftest import missing, need_tool

T = TypeVar("T")
ROOT = Path(__file__).parent.parent.parent
# Where coverage is kept, empty if it is not measured.
DATA_FILE = "AILB_COVERAGE_FILE"
# A function that takes longer hangs.
SECONDS = 180


def isolated(
    function: Callable[..., T], *arguments: Any, tools: tuple[str, ...] = ("ip",), seconds: float = SECONDS
) -> T:
    """Call a function of a module as the first process of new namespaces; returns what it does.

    Arguments and results are pickled. Skips where programs or namespaces are missing; fails after so many seconds.
    """
    for tool in tools:
        need_tool(tool)
    process = _forking()
    assert process.stdin is not None
    assert process.stdout is not None
    # A test that runs unmeasured does so there, too.
    measuring = Coverage.current() if sys.gettrace() is not None else None
    environment = {**os.environ, DATA_FILE: measuring.config.data_file if measuring is not None else ""}
    hanging = Timer(seconds, process.kill)
    hanging.start()
    try:
        pickle.dump(pickle.dumps((function, arguments, environment)), process.stdin)
        process.stdin.flush()
        answer, said = pickle.load(process.stdout)
    except EOFError:
        _forking.cache_clear()
        pytest.fail(f"{function.__name__} ended without an answer, or took more than {seconds:g} s")
    finally:
        hanging.cancel()
    assert answer, said
    sys.stderr.write(said)
    result: T = pickle.loads(answer)
    return result


@cache
def _forking() -> subprocess.Popen[bytes]:
    """Start the process that becomes all others: what it has imported need not be imported again."""
    if os.geteuid() != 0 or shutil.which("unshare") is None:
        missing("namespaces with systems' own /etc need root and unshare(1)")
    if subprocess.run(["unshare", "-nmp", "--fork", "true"], check=False, capture_output=True).returncode:
        missing("this system does not allow namespaces")
    process = subprocess.Popen(
        [sys.executable, "-m", "tests.lab.isolated"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=ROOT
    )
    atexit.register(process.kill)
    return process


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


def _called(request: bytes, answer: int) -> None:
    """Call a function in new namespaces, and write what it returns to a file; goes on as another process, and ends."""
    from ailb_gen.lab.namespaces import end_with_parent, isolate  # noqa: PLC0415 - heavy for those who only skip

    try:
        function, arguments, environment = pickle.loads(request)
        os.environ.update(environment)
        end_with_parent()
        isolate()
        with _measured(environment[DATA_FILE]):
            result = function(*arguments)
        with os.fdopen(answer, "wb") as file:
            pickle.dump(result, file)
    except Exception:  # noqa: BLE001 - whatever it is, the test that waits shows it
        traceback.print_exc()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(0)


def main() -> None:
    """Call the functions that come on standard input, each in a process of its own."""
    out = os.fdopen(os.dup(1), "wb")
    while True:
        try:
            request = pickle.load(sys.stdin.buffer)
        except EOFError:
            return
        # It is imported here, once, for all that follow; where it is called it fails again.
        with suppress(Exception):
            pickle.loads(request)
        # A collection in the new process would copy the pages of all that was imported.
        gc.freeze()
        with tempfile.TemporaryFile() as answer, tempfile.TemporaryFile() as said:
            child = os.fork()
            if not child:
                for descriptor in (1, 2):
                    os.dup2(said.fileno(), descriptor)
                _called(request, answer.fileno())
            os.waitpid(child, 0)
            answer.seek(0)
            said.seek(0)
            pickle.dump((answer.read(), said.read().decode(errors="replace")), out)
        out.flush()


if __name__ == "__main__":
    main()
