"""`ailb-gen checks`: the catalogue of checks, and what one of them means."""

from __future__ import annotations

from textwrap import fill
from typing import TYPE_CHECKING, Annotated

import typer

from ailb_gen.cli import complete
from ailb_gen.cli.console import echo_json, prose_width, warn
from ailb_gen.cli.options import JSON

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ailb_gen.checks.model import Check


def checks(
    patterns: Annotated[
        list[str] | None,
        typer.Argument(
            help="Explain these checks: IDs, globs or families.", metavar="ID", autocompletion=complete.check
        ),
    ] = None,
    as_json: JSON = False,
    as_markdown: Annotated[bool, typer.Option("--markdown", help="Print docs/checks.md.")] = False,
) -> None:
    """List or explain the checks of validate, drift and verify."""
    from ailb_gen.checks.catalogue import EVERYTHING, markdown
    from ailb_gen.checks.extensions import foreign_checks
    from ailb_gen.checks.layers import NAMES
    from ailb_gen.checks.select import pick_checks
    from ailb_gen.errors import UsageError

    if as_markdown:
        if patterns:
            raise UsageError("--markdown prints the whole catalogue; give no ids")
        typer.echo(markdown(), nl=False)
        return
    foreign, errors = foreign_checks()
    origins = {row.check.id: row.extension.origin for row in foreign}
    every = [*EVERYTHING, *(row.check for row in foreign)]
    names = dict(NAMES) | {check.family: NAMES[check.family] for check in every}
    picked = pick_checks(every, names, patterns) if patterns else every
    if as_json:
        echo_json([_row(check, names, origins.get(check.id, "ailb-gen")) for check in picked])
    elif patterns:
        typer.echo("\n\n".join(_explained(check, origins.get(check.id, "")) for check in picked))
    else:
        for family, name in names.items():
            rows = [check for check in every if check.family == family]
            origin = f", from {origins[rows[0].id]}" if rows and rows[0].id in origins else ""
            if rows:
                typer.echo("\n".join([f"{family} {name}{origin}", *map(_listed, rows), ""]))
    for error in errors:
        warn(str(error))


def _row(check: Check, names: Mapping[str, str], origin: str) -> dict[str, str]:
    return {
        "id": check.id,
        "family": names[check.family],
        "severity": str(check.severity),
        "meaning": check.meaning,
        "why": check.why,
        "repair": check.repair,
        "from": origin,
    }


def _listed(check: Check) -> str:
    start = f"  {check.id}  {check.severity!s:7}  "
    return fill(
        check.meaning, prose_width(), initial_indent=start, subsequent_indent=" " * len(start), break_on_hyphens=False
    )


def _explained(check: Check, origin: str) -> str:
    lines = [f"{check.id} ({check.severity}): {check.meaning}", "", check.why, "", f"Repair: {check.repair}"]
    lines += [f"From: {origin}"] if origin else []
    return "\n".join(fill(line, prose_width(), break_on_hyphens=False) for line in lines)
