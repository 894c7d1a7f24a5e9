"""`ailb-gen junos`: Junos text read, written in another form, and compared."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from ailb_gen.cli import junos_check
from ailb_gen.cli.visible import echo_data
from ailb_gen.errors import ExitCode, UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ailb_gen.junos.diff import Change
    from ailb_gen.junos.tree import Node

app = typer.Typer(
    name="junos",
    help="Read, convert and compare Junos configurations.",
    no_args_is_help=True,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)


# How a configuration is written.
Form = Literal["set", "curly", "json"]
Expand = Annotated[bool, typer.Option("--expand-groups", help="Apply groups and drop inactive statements first.")]


app.command("check")(junos_check.check)


@app.command("convert")
def convert(
    file: Annotated[Path, typer.Argument(help="A configuration, curly or set; - is standard input.", metavar="FILE")],
    to: Annotated[Form, typer.Option("--to", help="Output format.")],
    expand: Expand = False,
) -> None:
    """Write a configuration in another form to standard output."""
    from ailb_gen.junos import writer

    write = {"set": writer.to_set, "curly": writer.to_curly, "json": writer.to_json}[to]
    echo_data(write(_read(file, expand)))


@app.command("diff")
def diff(
    first: Annotated[Path, typer.Argument(help="A configuration; - is standard input.", metavar="A")],
    second: Annotated[Path, typer.Argument(help="Another one; - is standard input.", metavar="B")],
    expand: Expand = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the result as JSON.")] = False,
) -> None:
    """Print the commands that turn configuration A into B.

    Exit code 1 when there are any, 0 when the two say the same.
    """
    from ailb_gen.cli.steady import steady
    from ailb_gen.junos.diff import diff as changes_of

    if str(first) == str(second) == "-":
        raise UsageError("standard input can be only one of the two configurations")
    changes = list(changes_of(_read(first, expand), _read(second, expand)))
    with steady():
        _show_changes(first, second, changes, as_json)
        if changes:
            raise typer.Exit(ExitCode.FINDINGS)


def _show_changes(first: Path, second: Path, changes: Sequence[Change], as_json: bool) -> None:
    if as_json:
        rows = [{"command": change.command, "line": change.line} for change in changes]
        typer.echo(json.dumps({"first": str(first), "second": str(second), "changes": rows}, indent=1))
    else:
        from ailb_gen.cli.console import echo_changes

        echo_changes(map(str, changes))


def _read(file: Path, expand: bool) -> Node:
    from ailb_gen.junos.interface_ranges import effective
    from ailb_gen.junos.reader import read_file

    root = read_file(file)
    return effective(root) if expand else root
