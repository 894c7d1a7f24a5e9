"""Programs in processes of their own, with and without the compiler."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from tests.conftest import ROOT


def printed(program: str, *, compiled: bool, root: Path = ROOT) -> Any:
    """What a program prints as JSON; `root` has the packages."""
    environment = {**os.environ, "NUMBA_DISABLE_JIT": "0" if compiled else "1", "PYTHONPATH": str(root)}
    command = [sys.executable, "-c", program]
    run = subprocess.run(command, env=environment, cwd=root, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
    return json.loads(run.stdout)
