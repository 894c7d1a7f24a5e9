"""`ailb-gen config`: the values that commands take when their arguments are omitted, and where they come from."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any

import typer

from ailb_gen.cli.console import echo_table
from ailb_gen.cli.options import JSON
from ailb_gen.cli.project import PREFIX, all_keys, project
from ailb_gen.cli.visible import output

if TYPE_CHECKING:
    from ailb_gen.cli.project import Project


def config(ctx: typer.Context, as_json: JSON = False) -> None:
    """Show the values of arguments that are omitted.

    An argument wins over its environment variable, that over the project file: ailb.toml, or [tool.ailb] in
    pyproject.toml, of the working directory or the nearest one above it. Paths in it are relative to the file.

    Exit codes: 0 done, 2 the project file has errors.
    """
    found = project()
    # The last one, by key: all have the same meaning.
    params = dict(all_keys(ctx.find_root().command))
    rows = {key: _value(key, params[key], found) for key in sorted(params)}
    if as_json:
        values = {key: {"value": value, "from": origin} for key, (value, origin) in rows.items()}
        typer.echo(json.dumps({"file": str(found.file) if found else None, "keys": values}, indent=1))
        return
    title = f"Project file: {found.file}" if found else "Project file: none, here or above"
    echo_table(title, ("key", "value", "from"), [(key, _text(value), origin) for key, (value, origin) in rows.items()])


def _value(key: str, param: Any, found: Project | None) -> tuple[Any, str]:  # noqa: ANN401 - Typer's has no public type
    """Return the value of a key and where it comes from."""
    variable = PREFIX + key.replace("-", "_").upper()
    if key == "color" and output.color_given and output.color != os.environ.get(variable):
        return output.color, "flag"
    if os.environ.get(variable):
        value = os.environ[variable]
        return value.split() if param.multiple else value, variable
    if found is not None and key in found.values:
        return found.values[key], str(found.file)
    return param.show_default if isinstance(param.show_default, str) else _plain(param.default), "default"


def _plain(value: object) -> object:
    return value if value is None or isinstance(value, (int, str, list)) else str(value)


def _text(value: object) -> str:
    return "none" if value is None else ", ".join(map(str, value)) if isinstance(value, (list, tuple)) else str(value)
