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
    """Call a function of a module as the first process of new namespaces; returns, or raises, what it does.

    Arguments and results are pickled. Skips where programs or namespaces are missing.
    """
    for tool in tools:
        need_tool(tool)
    _need_namespaces()
    measuring = Coverage.current()
    data_file = measuring.config.data_file if measuring is not None else ""
    done = subprocess.run(
        [sys.executable, "-m", "tests.lab.isolated"],
        env={**os.environ, DATA_FILE: data_file},
        input=pickle.dumps((function, arguments)),
        capture_output=True,
        cwd=ROOT,
        check=False,
        timeout=SECONDS,
    )
    assert done.returncode == 0, done.stderr.decode()
    sys.stderr.write(done.stderr.decode(errors="replace"))
    result: T = pickle.loads(done.stdout)
    return result


def _need_namespaces() -> None:
    unshare = shutil.which("unshare")
    if os.geteuid() != 0 or unshare is None:
        missing("namespaces with systems' own /etc need root and unshare(1)")
    if subprocess.run(["unshare", "-nmp", "--fork", "true"], check=False, capture_output=True).returncode:
        missing("this system does not allow namespaces")


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
    """Run what stands on standard input."""
    from ailb_gen.lab.namespaces import isolate  # noqa: PLC0415 - heavy for those who only skip

    function, arguments = pickle.loads(sys.stdin.buffer.read())
    out = os.dup(1)
    os.dup2(2, 1)
    isolate()
    try:
        with _measured(os.environ[DATA_FILE]):
            result = function(*arguments)
    except Exception:  # noqa: BLE001 - whatever it is, the test that waits shows it
        traceback.print_exc()
        os._exit(1)
    with os.fdopen(out, "wb") as file:
        pickle.dump(result, file)
    sys.stderr.flush()
    os._exit(0)


if __name__ == "__main__":
    main()
