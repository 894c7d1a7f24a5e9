"""`ailb-gen junos`: Junos text checked, written in another form, and compared."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from ailb_gen.cli.console import echo_changes, echo_json, echo_wrapped
from ailb_gen.cli.live import progress
from ailb_gen.cli.options import JSON, YANG
from ailb_gen.cli.steady import steady
from ailb_gen.cli.verb import Verb, Verbs
from ailb_gen.cli.visible import echo_data
from ailb_gen.errors import ExitCode, UsageError
from ailb_gen.paint import Style

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ailb_gen.junos.check_result import CheckResult
    from ailb_gen.junos.diff import Change
    from ailb_gen.junos.tree import Node

app = typer.Typer(cls=Verbs, name="junos", help="Read, convert and compare Junos configurations.", no_args_is_help=True)


# How a configuration is written.
Form = Literal["set", "curly", "json"]
Expand = Annotated[bool, typer.Option("--expand-groups", help="Apply groups and drop inactive statements first.")]

STYLES = {"error": Style.FAIL, "warning": Style.WARN, "note": Style.HEAD}
ByDevice = dict[str, "CheckResult"]


@app.command("check", cls=Verb)
def check(
    files: Annotated[
        list[Path], typer.Argument(help="Configurations, curly or set; - is standard input.", metavar="FILE")
    ],
    yang: YANG = None,
    as_json: JSON = False,
) -> None:
    """Find statements that a device would refuse to commit.

    Unknown statements, wrong values, commit constraints.
    """
    from ailb_gen.junos.check import check as commit_check
    from ailb_gen.junos.groups import active, inherited
    from ailb_gen.junos.reader import read_file
    from ailb_gen.junos.schema import load_schema
    from ailb_gen.junos.yang_files import asked_directory

    directory = asked_directory(yang)
    trees = {str(path): active(read_file(path)) for path in files}
    schema = load_schema(directory, progress)
    outcomes = {file: commit_check(inherited(tree), schema, tree.get("groups")) for file, tree in trees.items()}
    with steady():
        if as_json:
            typer.echo(_json(outcomes))
        else:
            echo_wrapped(*((line, _style(line)) for line in _text_report(outcomes).split("\n")))
        if any(outcome.findings for outcome in outcomes.values()):
            raise typer.Exit(ExitCode.FINDINGS)


def _text_report(outcomes: ByDevice) -> str:
    from ailb_gen.checks.catalogue import BY_ID
    from ailb_gen.checks.families.junos import findings_of, of_all
    from ailb_gen.checks.model import Severity
    from ailb_gen.wording import counted

    found = of_all([one for file, outcome in outcomes.items() for one in findings_of(outcome, file, file)])
    lines = [
        f"{one.place.file if one.place else ''}:{one.place.line if one.place else 1}: "
        f"{BY_ID[one.check].severity}[{one.check}]: {one.message}"
        for one in found
    ]
    count = sum(BY_ID[one.check].severity is Severity.ERROR for one in found)
    totals = _totals(outcomes)
    unmodeled = f", {counted(totals['unmodeled'], 'statement')} without a model" if totals["unmodeled"] else ""
    lines.append(
        f"{counted(len(outcomes), 'file')}, {totals['words']} words, {totals['evaluated']} constraints evaluated, "
        f"{totals['unevaluated']} not{unmodeled}: {counted(count, 'finding')}"
    )
    return "\n".join(lines)


def _style(line: str) -> Style | None:
    return next((style for word, style in STYLES.items() if f": {word}[AILB" in line), None)


def _totals(outcomes: ByDevice) -> dict[str, int]:
    return {
        "words": sum(outcome.words for outcome in outcomes.values()),
        "evaluated": sum(outcome.evaluated for outcome in outcomes.values()),
        "unevaluated": sum(len(outcome.unevaluated) for outcome in outcomes.values()),
        "unmodeled": sum(sum(outcome.unmodeled.values()) for outcome in outcomes.values()),
    }


def _json(outcomes: ByDevice) -> str:
    from dataclasses import asdict

    from ailb_gen.checks.families.junos import check_of

    files = [
        {
            "file": file,
            "findings": [{"check": check_of(one).id, **asdict(one)} for one in outcome.findings],
            "unevaluated": [asdict(one) for one in outcome.unevaluated],
            "evaluated": outcome.evaluated,
            "unmodeled": outcome.unmodeled,
            "words": outcome.words,
        }
        for file, outcome in outcomes.items()
    ]
    return json.dumps({"files": files, "totals": _totals(outcomes)}, indent=2)


@app.command("convert", cls=Verb)
def convert(
    file: Annotated[Path, typer.Argument(help="A configuration, curly or set; - is standard input.", metavar="FILE")],
    to: Annotated[Form, typer.Option("--to", help="Output format.")],
    expand: Expand = False,
) -> None:
    """Write a configuration in another form to standard output."""
    from ailb_gen.junos import writer

    write = {"set": writer.to_set, "curly": writer.to_curly, "json": writer.to_json}[to]
    echo_data(write(_read(file, expand)))


@app.command("diff", cls=Verb)
def diff(
    first: Annotated[Path, typer.Argument(help="A configuration; - is standard input.", metavar="A")],
    second: Annotated[Path, typer.Argument(help="Another one; - is standard input.", metavar="B")],
    expand: Expand = False,
    as_json: JSON = False,
) -> None:
    """Print the commands that turn configuration A into B.

    Exit code 1 when there are any, 0 when the two say the same.
    """
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
        echo_json({"first": str(first), "second": str(second), "changes": rows})
    else:
        echo_changes(map(str, changes))


def _read(file: Path, expand: bool) -> Node:
    from ailb_gen.junos.interface_ranges import effective
    from ailb_gen.junos.reader import read_file

    root = read_file(file)
    return effective(root) if expand else root
