"""Programs of this machine: found also in the directories of daemons, which a user's PATH lacks."""

from __future__ import annotations

import os
import shutil
from functools import cache

SYSTEM = ("/usr/local/sbin", "/usr/sbin", "/sbin")


def search_path() -> str:
    """Return the directories of PATH and then those of daemons, as PATH writes them."""
    own = os.environ.get("PATH", os.defpath).split(os.pathsep)
    return os.pathsep.join([*own, *(folder for folder in SYSTEM if folder not in own)])


def program(name: str) -> str | None:
    """Return the path of a program; None if it is not installed."""
    return _found(name, search_path())


@cache
def _found(name: str, path: str) -> str | None:
    found = shutil.which(name, path=path)
    return os.path.abspath(found) if found is not None else None  # noqa: PTH100 - without following links
