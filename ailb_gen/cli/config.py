"""`ailb-gen config`: the values that commands take when their arguments are omitted, and where they come from."""

from __future__ import annotations

from typing import TYPE_CHECKING

import typer

from ailb_gen.cli.console import echo_json, echo_table
from ailb_gen.cli.options import JSON
from ailb_gen.cli.project import all_keys, project, source_of
from ailb_gen.cli.visible import output

if TYPE_CHECKING:
    from ailb_gen.cli.project import Parameter, Project


def config(ctx: typer.Context, as_json: JSON = False) -> None:
    """Show the values of arguments that are omitted.

    An argument wins over its environment variable, that over the project file: ailb.toml, or [tool.ailb] in
    pyproject.toml, of the working directory or the nearest one above it. Paths in it are relative to the file.

    Exit codes: 0 done, 2 the project file has errors.
    """
    found = project()
    # The last one, by key: all have the same meaning.
    params = dict(all_keys(ctx.find_root().command))
    rows = {key: _value(ctx, key, params[key], found) for key in sorted(params)}
    if as_json:
        values = {key: {"value": value, "from": origin} for key, (value, origin) in rows.items()}
        echo_json({"file": str(found.file) if found else None, "keys": values})
        return
    title = f"Project file: {found.file}" if found else "Project file: none, here or above"
    echo_table(title, ("key", "value", "from"), [(key, _text(value), origin) for key, (value, origin) in rows.items()])


def _value(ctx: typer.Context, key: str, param: Parameter, found: Project | None) -> tuple[object, str]:
    """Return the value of a key and where it comes from."""
    if key == "color" and "COMMANDLINE" in (source_of(one, key) for one in (ctx, ctx.find_root())):
        return output.color, "flag"
    given = param.value_from_envvar(ctx)
    if given is not None:
        return given, param.envvar
    if found is not None and key in found.values:
        return found.values[key], str(found.file)
    return param.show_default if isinstance(param.show_default, str) else _plain(param.default), "default"


def _plain(value: object) -> object:
    return value if value is None or isinstance(value, (int, str, list)) else str(value)


def _text(value: object) -> str:
    return "none" if value is None else ", ".join(map(str, value)) if isinstance(value, (list, tuple)) else str(value)
