"""The path of the lab's /run for this process: /run inside of the lab, below a descriptor if it has joined the lab.

A process that joins a lab keeps its own view of files: what it reads and writes for its user is the machine's.
"""

from __future__ import annotations

import os
from pathlib import Path

# As every program inside of the lab finds it.
RUN = Path("/run")
_here = RUN


def inside(path: str | Path) -> Path:
    """Return where programs inside of the lab find a path below its /run, such as `bird/spine1.conf`."""
    return RUN / path


def here(path: str | Path) -> Path:
    """Return where this process finds it."""
    return _here / path


def name_inside(path: Path) -> str:
    """Return a path that this process uses as programs inside of the lab, and messages, name it."""
    return str(RUN / path.relative_to(_here) if path.is_relative_to(_here) else path)


def processes() -> Path:
    """Return where this process finds /proc of the lab, which counts processes for itself."""
    return _here.parent / "proc"


def take(run: str) -> None:
    """Find the lab's /run at a path from now on."""
    global _here  # noqa: PLW0603 - like the working directory, of the process as a whole
    _here = Path(run)


def open_root(directory: Path) -> None:
    """Find the lab's /run below its root directory from now on, as long as this process lives. Raises OSError."""
    take(f"/proc/self/fd/{os.open(directory, os.O_PATH | os.O_DIRECTORY)}/run")
