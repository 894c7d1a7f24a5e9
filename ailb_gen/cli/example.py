"""`ailb-gen init --example`: a fabric, or a cluster, that comes with the program, in a directory of its own."""

from __future__ import annotations

import shlex
import shutil
from pathlib import Path

import typer

from ailb_gen.errors import OutputError, UsageError
from ailb_gen.shipped import shipped_examples
from ailb_gen.wording import counted, did_you_mean

# Schemas for the editor: the folder where files of the repository name them, and their names.
SCHEMAS, SCHEMA_FILE, CLUSTER_SCHEMA = "../../docs/", "fabric.schema.json", "cluster.schema.json"


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
        written = _copy(known[name].parent, directory)
    except OSError as error:
        shutil.rmtree(directory, ignore_errors=True)
        raise OutputError(f"{error.filename or directory}: cannot write the file: {error.strerror}") from error
    command = f"ailb-gen generate {shlex.quote(str(directory / known[name].name))} -o build/{name}"
    typer.echo(f"{directory}: {counted(written, 'file')} written; next: {command}")


def _copy(example: Path, directory: Path) -> int:
    """Copy the files of an example, whose texts then name the new directory, and return how many were written."""
    from ailb_gen.intent.cluster import json_schema as cluster_schema
    from ailb_gen.intent.schema import json_schema

    schemas = {SCHEMA_FILE: json_schema, CLUSTER_SCHEMA: cluster_schema}
    files = [path for path in sorted(example.iterdir()) if path.is_file()]
    named: set[str] = set()
    for path in files:
        text = path.read_text(encoding="utf-8")
        for name in schemas:
            if f"{SCHEMAS}{name}" in text:
                named.add(name)
                text = text.replace(f"{SCHEMAS}{name}", name)
        copy = directory / path.name
        copy.write_text(text.replace(f"examples/{example.name}", shlex.quote(str(directory))), encoding="utf-8")
        # Scripts stay executable; that an installation is read-only does not matter.
        copy.chmod(copy.stat().st_mode | path.stat().st_mode & 0o111)
    for name in named:
        (directory / name).write_text(schemas[name](), encoding="utf-8")
    return len(files) + len(named)
