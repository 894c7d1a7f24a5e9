"""What users name: the fabric file, directories, executors, numbers of processes."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from ailb_gen.errors import UsageError
from ailb_gen.paths import absent

if TYPE_CHECKING:
    from ailb_gen.intent.load import Intent


def load(fabric: str | Path) -> Intent:
    """Read a fabric file and the files that it refers to.

    Raises UsageError for a path that leads to no file, IntentError with everything that is wrong in the files.
    """
    from ailb_gen.intent.load import load as read

    return read(fabric_file(Path(fabric)))


def intent_of(fabric: Intent | str | Path) -> Intent:
    """Return an intent as it is, or that of a fabric file. Raises as `load`."""
    return load(fabric) if isinstance(fabric, str | Path) else fabric


def fabric_file(path: Path) -> Path:
    """Return the path if it is a file. Raises UsageError."""
    check_path(path, "file", f"name the fabric file, such as {path / 'fabric.yaml'}", "'ailb-gen init' writes one")
    return path


def is_cluster(path: Path) -> bool:
    """Return whether a file is a cluster file, by its keys. Raises UsageError for a path that leads to no file.

    Raises IntentError for what is no YAML.
    """
    from ailb_gen.intent.load import CLUSTER_FILE, FABRICS, lists_fabrics
    from ailb_gen.textio import read_text
    from ailb_gen.yamlio import read_yaml

    text = read_text(fabric_file(path), str(path))
    # Parsing takes time, and few files have the word.
    if path.name != CLUSTER_FILE and FABRICS not in text:
        return False
    data = read_yaml(text, str(path)).data
    return isinstance(data, dict) and lists_fabrics(str(path), data)


def check_path(path: Path, kind: Literal["file", "directory"], other: str, missing: str, argument: str = "") -> None:
    """Refuse a path where no file or directory, the `kind`, is; `argument` names it. Raises UsageError.

    The error says what to do: `other` where the wrong one of both is, `missing` where nothing is.
    """
    name = f"{argument} {path}".lstrip()
    try:
        exists, is_directory = path.exists(), path.is_dir()
    except OSError as error:
        raise UsageError(f"{name[:200]}: not a usable {kind} name: {error.strerror}") from error
    if exists and is_directory != (kind == "directory"):
        raise UsageError(f"{name}: this is a {'directory' if is_directory else 'file'}; {other}")
    if not exists:
        raise UsageError(f"{name}: {absent(path, kind)}; {missing}")


EXECUTORS = "processes, serial, or dask:ADDRESS"


def is_executor(text: str) -> bool:
    """Return whether a text is one of EXECUTORS."""
    kind, _, address = text.partition(":")
    return text in ("processes", "serial") or (kind == "dask" and bool(address))


def check_executor(executor: str) -> None:
    """Refuse what is no executor. Raises UsageError."""
    if not is_executor(executor):
        raise UsageError(f"--executor {executor!r}: must be {EXECUTORS}")


def processes(jobs: int | None) -> int:
    """Return how many processes work: as many as asked for, by default one per core."""
    # Linux alone knows the cores of this process; elsewhere, those of the machine count.
    cores = getattr(os, "sched_getaffinity", None)
    return jobs or (len(cores(0)) if cores else os.cpu_count() or 1)
