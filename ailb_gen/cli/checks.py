"""`ailb-gen checks`: the catalogue of checks, and what one of them means."""

from __future__ import annotations

from textwrap import fill
from typing import TYPE_CHECKING, Annotated

import typer

from ailb_gen.cli import complete

if TYPE_CHECKING:
    from ailb_gen.checks.model import Check


def checks(
    patterns: Annotated[
        list[str] | None,
        typer.Argument(
            help="Explain these checks: IDs, globs or families.", metavar="ID", autocompletion=complete.check
        ),
    ] = None,
    as_markdown: Annotated[bool, typer.Option("--markdown", help="Print docs/checks.md.")] = False,
) -> None:
    """List or explain the checks of validate, drift and verify."""
    from ailb_gen.checks.catalogue import EVERYTHING, NAMES, markdown
    from ailb_gen.checks.select import pick_checks
    from ailb_gen.errors import UsageError

    if as_markdown:
        if patterns:
            raise UsageError("--markdown prints the whole catalogue; give no ids")
        typer.echo(markdown(), nl=False)
    elif patterns:
        typer.echo("\n\n".join(map(_explained, pick_checks(EVERYTHING, NAMES, patterns))))
    else:
        for family, name in NAMES.items():
            rows = [check for check in EVERYTHING if check.family == family]
            if rows:
                typer.echo("\n".join([f"{family} {name}", *map(_listed, rows), ""]))


def _listed(check: Check) -> str:
    start = f"  {check.id}  {check.severity!s:7}  "
    return fill(check.meaning, 80, initial_indent=start, subsequent_indent=" " * len(start), break_on_hyphens=False)


def _explained(check: Check) -> str:
    lines = [f"{check.id} ({check.severity}): {check.meaning}", "", check.why, "", f"Repair: {check.repair}"]
    return "\n".join(fill(line, 80, break_on_hyphens=False) for line in lines)
