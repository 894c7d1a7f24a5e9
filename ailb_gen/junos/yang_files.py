"""Which files of a folder are Juniper's configuration models."""

from __future__ import annotations

import os
import re
from pathlib import Path

from ailb_gen.errors import UsageError

_ROOT = re.compile(r"junos(-[a-z]+)?-conf-root(@[\d-]+)?\.yang")
_MODULE = re.compile(r"junos(-[a-z]+)?-(conf|common)-.+\.yang")


def asked_directory(directory: Path | None) -> Path:
    """Return the folder of models that an option names, else AILB_YANG. Raises UsageError when neither does."""
    named = directory if directory is not None else os.environ.get("AILB_YANG", "")
    if not str(named):
        raise UsageError(
            "no YANG models to check against: clone https://github.com/Juniper/yang and name the conf/models folder of "
            "your release with --yang or in the environment variable AILB_YANG"
        )
    return Path(named)


def model_directory(directory: Path) -> Path:
    """Return the directory that holds `junos-conf-root`: this one, or the only such one below it. Raises UsageError."""
    if not directory.is_dir():
        raise UsageError(f"{directory}: there is no such directory; --yang names a folder of Juniper's YANG models")
    try:
        if any(_ROOT.fullmatch(path.name) for path in directory.iterdir()):
            return directory
    except OSError as error:
        raise UsageError(f"{directory}: the folder cannot be read: {error.strerror}") from error
    found = sorted({path.parent for path in directory.rglob("junos*-conf-root*.yang") if _ROOT.fullmatch(path.name)})
    if not found:
        raise UsageError(
            f"{directory}: no junos-conf-root*.yang in it or below it; clone https://github.com/Juniper/yang "
            "and name the conf/models folder of your release"
        )
    if len(found) > 1:
        shown = ", ".join(str(path.relative_to(directory)) for path in found[:4])
        raise UsageError(f"{directory}: {len(found)} folders below it hold models ({shown} …); name one of them")
    return found[0]


def model_files(directory: Path) -> list[tuple[Path, bytes]]:
    """Return the configuration models of a directory, sorted by name, with their contents. Raises UsageError."""
    files = sorted(path for path in directory.iterdir() if _MODULE.fullmatch(path.name) and path.is_file())
    try:
        return [(path, path.read_bytes()) for path in files]
    except OSError as error:
        raise UsageError(f"{error.filename}: the model cannot be read: {error.strerror}") from error
