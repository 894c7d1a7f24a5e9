"""`ailb-gen export`: a design in the form that another program reads."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ailb_gen.cli import complete
from ailb_gen.cli.console import echo_json, notify
from ailb_gen.cli.options import JSON, LIMIT, LIST, REPEATS, SIZES, output_option
from ailb_gen.cli.project import source_of
from ailb_gen.cli.reports import check_place
from ailb_gen.errors import UsageError

if TYPE_CHECKING:
    from ailb_gen.jobs.command import JobRequest

TEST = Annotated[str, typer.Option("--test", help="Program of nccl-tests, or its path.", metavar="PROGRAM")]
IMAGE = Annotated[str, typer.Option("--image", help="Container image of the program.", metavar="IMAGE")]
# The exports that an option goes with.
PROGRAM = ("mpirun", "slurm", "kubernetes")
GOES_WITH = {
    "limit": ("hostfile", "slurm-topology", *PROGRAM),
    "test": PROGRAM,
    "sizes": PROGRAM,
    "repeats": PROGRAM,
    "image": ("kubernetes",),
}


def export(
    ctx: typer.Context,
    name: Annotated[
        str | None, typer.Argument(help="Name of the export; --list shows all.", autocompletion=complete.export)
    ] = None,
    fabric: Annotated[
        Path | None, typer.Argument(help="The fabric file.", metavar="FABRIC", envvar="AILB_FABRIC")
    ] = None,
    out: Annotated[Path | None, output_option("export", "FILE", "--out")] = None,
    limit: LIMIT = None,
    test: TEST = "all_reduce_perf",
    sizes: SIZES = "8M-8G",
    repeats: REPEATS = 3,
    image: IMAGE = "nccl-tests",
    list_all: LIST = False,
    as_json: JSON = False,
) -> None:
    """Print the design in the form that another program reads.

    Exit codes: 0 done, 2 bad input, 3 the file cannot be written, or an extension fails.
    """
    from ailb_gen.api.export import JOBS, exports, job_export
    from ailb_gen.api.export import export as exported
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
    for option, names in GOES_WITH.items():
        if source_of(ctx, option) == "COMMANDLINE" and name in exports() and name not in names:
            raise UsageError(f"--{option} does not go with {name}; it goes with {', '.join(names)}")
    if name in JOBS:
        request = _request(limit or [], test, sizes, repeats, image)
        text = job_export(compute_design(fabric, notify), name, request)
    else:
        text = exported(compute_design(fabric, notify), name)
    if out is None:
        typer.echo(text, nl=False)
    else:
        write(out, text, "export")


def _request(limit: list[str], test: str, sizes: str, repeats: int, image: str) -> JobRequest:
    """Return the job of the options. Raises UsageError."""
    from ailb_gen.jobs.command import Benchmark, JobRequest, sizes_of

    return JobRequest(tuple(limit), test, Benchmark(*sizes_of(sizes)), repeats, image)
