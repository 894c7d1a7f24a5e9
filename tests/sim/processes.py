"""Programs in processes of their own, with and without the compiler."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from ailb_gen.sim.engine.jit import DISABLED
from tests.conftest import ROOT


def printed(program: str, *, compiled: bool, root: Path = ROOT) -> Any:
    """What a program prints as JSON; `root` has the packages."""
    environment = {**os.environ, "NUMBA_DISABLE_JIT": "0" if compiled else "1", "PYTHONPATH": str(root)}
    command = [sys.executable, "-c", program]
    run = subprocess.run(command, env=environment, cwd=root, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
    return json.loads(run.stdout)


def check_both_ways(function: Callable[[], Any]) -> None:
    """Assert that a function of a module gives the same, as JSON, with and without the compiler: here and elsewhere."""
    name = function.__name__
    program = f"""
import json
from ailb_gen.sim.engine.jit import DISABLED
from {function.__module__} import {name}
print(json.dumps([bool(DISABLED), {name}()]))
"""
    # Where nothing is compiled coverage is measured: in this process.
    disabled, elsewhere = printed(program, compiled=DISABLED)
    assert disabled is not DISABLED
    assert json.loads(json.dumps(function())) == elsewhere
