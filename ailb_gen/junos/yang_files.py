"""Which files of a folder are Juniper's configuration models."""

from __future__ import annotations

import os
import re
from pathlib import Path

from ailb_gen.errors import UsageError

WITH_CONSTRAINTS = "conf-with-extensions"
# The clone of all published releases has some hundreds.
MAX_FOLDERS = 10_000
_ROOT = re.compile(r"junos(-[a-z]+)?-conf-root(@[\d-]+)?\.yang")
_MODULE = re.compile(r"junos(-[a-z]+)?-(conf|common)-.+\.yang")


def asked_directory(directory: Path | None) -> Path:
    """Return the folder of models that an option names, else AILB_YANG. Raises UsageError when neither does."""
    named = directory if directory is not None else os.environ.get("AILB_YANG", "")
    if not str(named):
        raise UsageError(
            "no YANG models to check against: clone https://github.com/Juniper/yang and name the directory of your "
            "release, such as 24.4/24.4R1-EVO, with --yang or in the environment variable AILB_YANG"
        )
    return Path(named)


def model_directory(directory: Path) -> Path:
    """Return the directory that holds `junos-conf-root`: this one, or the only such one below it. Raises UsageError.

    Of `conf` and `conf-with-extensions` of a release it is the latter.
    """
    if not directory.is_dir():
        raise UsageError(f"{directory}: there is no such directory; --yang names a directory of Juniper's YANG models")
    try:
        if any(_ROOT.fullmatch(path.name) for path in directory.iterdir()):
            return directory
    except OSError as error:
        raise UsageError(f"{directory}: the directory cannot be read: {error.strerror}") from error
    found = _model_folders(directory)
    if not found:
        raise UsageError(
            f"{directory}: no junos-conf-root*.yang in it or below it; clone https://github.com/Juniper/yang "
            "and name the directory of your release, such as 24.4/24.4R1-EVO"
        )
    # A release has its models twice; only these have the commit constraints.
    found = [path for path in found if WITH_CONSTRAINTS in path.parts] or found
    if len(found) > 1:
        shown = ", ".join(str(path.relative_to(directory)) for path in found[:4])
        raise UsageError(f"{directory}: {len(found)} directories below it have models ({shown} …); name one of them")
    return found[0]


def _model_folders(directory: Path) -> list[Path]:
    """Return the folders below a directory that hold `junos-conf-root`. Raises UsageError for too large a tree."""
    found = []
    for count, (folder, _, files) in enumerate(os.walk(directory)):
        if count > MAX_FOLDERS:
            raise UsageError(f"{directory}: more than {MAX_FOLDERS:,} directories in it; name the one of your release")
        if any(map(_ROOT.fullmatch, files)):
            found.append(Path(folder))
    return sorted(found)


def model_files(directory: Path) -> list[tuple[Path, bytes]]:
    """Return the configuration models of a directory, sorted by name, with their contents. Raises UsageError.

    Published releases keep the types that all models import in a folder `common` beside theirs.
    """
    common = (above / "common" / below for above in directory.resolve().parents[:2] for below in ("models", "."))
    folders = [directory, *(path for path in common if path.is_dir())]
    try:
        files = {path.name: path for folder in reversed(folders) for path in folder.iterdir() if _is_module(path)}
        return [(files[name], files[name].read_bytes()) for name in sorted(files)]
    except OSError as error:
        raise UsageError(f"{error.filename}: the model cannot be read: {error.strerror}") from error


def _is_module(path: Path) -> bool:
    return bool(_MODULE.fullmatch(path.name)) and path.is_file()
