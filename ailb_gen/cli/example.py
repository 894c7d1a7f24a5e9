"""`ailb-gen init --example`: a fabric that comes with the program, in a directory of its own."""

from __future__ import annotations

import shlex
import shutil
from pathlib import Path

import typer

from ailb_gen.errors import OutputError, UsageError
from ailb_gen.shipped import shipped_examples
from ailb_gen.wording import counted, did_you_mean

# Of the editor, as a file of the repository and as a copy name it.
SCHEMA, SCHEMA_FILE = "../../docs/fabric.schema.json", "fabric.schema.json"


def write_example(name: str, directory: Path) -> None:
    """Write an example into a new directory.

    Raises UsageError if no example has the name or the directory exists, OutputError if it cannot be written.
    """
    known = shipped_examples()
    if name not in known:
        hint = " ".join(filter(None, (did_you_mean(name, known), f"known: {', '.join(known)}")))
        raise UsageError(f"--example: no example is called {name!r}; {hint}")
    if directory.exists():
        hint = f"name a new directory: ailb-gen init DIRECTORY --example {name}"
        raise UsageError(f"{directory}: exists already; {hint}")
    try:
        directory.mkdir(parents=True)
    except OSError as error:
        raise OutputError(f"{directory}: cannot make the directory: {error.strerror}") from error
    try:
        written = _copy(known[name], directory)
    except OSError as error:
        shutil.rmtree(directory, ignore_errors=True)
        raise OutputError(f"{error.filename or directory}: cannot write the file: {error.strerror}") from error
    fabric = directory / "fabric.yaml"
    command = f"ailb-gen generate {shlex.quote(str(fabric))} -o build/{name}"
    typer.echo(f"{directory}: {counted(written, 'file')} written; next: {command}")


def _copy(example: Path, directory: Path) -> int:
    """Copy the files of an example, whose texts then name the new directory, and return how many were written."""
    from ailb_gen.intent.schema import json_schema

    (directory / SCHEMA_FILE).write_text(json_schema(), encoding="utf-8")
    files = [path for path in sorted(example.iterdir()) if path.is_file()]
    for path in files:
        text = path.read_text(encoding="utf-8").replace(SCHEMA, SCHEMA_FILE)
        copy = directory / path.name
        copy.write_text(text.replace(f"examples/{example.name}", shlex.quote(str(directory))), encoding="utf-8")
        # Scripts stay executable; that an installation is read-only does not matter.
        copy.chmod(copy.stat().st_mode | path.stat().st_mode & 0o111)
    return len(files) + 1
