"""`ailb-gen export`: a design in the form that another program reads."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ailb_gen.cli import complete
from ailb_gen.cli.console import echo_json, notify
from ailb_gen.cli.options import JSON, LIST, output_option
from ailb_gen.cli.reports import check_place
from ailb_gen.errors import UsageError


def export(
    name: Annotated[
        str | None, typer.Argument(help="Name of the export; --list shows all.", autocompletion=complete.export)
    ] = None,
    fabric: Annotated[
        Path | None, typer.Argument(help="The fabric file.", metavar="FABRIC", envvar="AILB_FABRIC")
    ] = None,
    out: Annotated[Path | None, output_option("export", "FILE", "--out")] = None,
    list_all: LIST = False,
    as_json: JSON = False,
) -> None:
    """Print the design in the form that another program reads.

    Exit codes: 0 done, 2 bad input, 3 the file cannot be written, or an extension fails.
    """
    from ailb_gen.api.export import export as exported
    from ailb_gen.api.export import exports
    from ailb_gen.api.generate import compute_design
    from ailb_gen.report.write import write
    from ailb_gen.wording import aligned

    if list_all:
        rows = {key: origin or "ailb-gen" for key, origin in exports().items()}
        if as_json:
            echo_json(rows)
        else:
            typer.echo("\n".join(aligned([("export", "from"), *rows.items()])))
        return
    if as_json:
        raise UsageError("--json goes with --list; an export has its own format")
    if name is None or fabric is None:
        raise UsageError(f"name an export and a fabric file; there are {', '.join(exports())}")
    if out is not None:
        check_place("-o", out, [fabric])
    text = exported(compute_design(fabric, notify), name)
    if out is None:
        typer.echo(text, nl=False)
    else:
        write(out, text, "export")
