"""The command line: one module per verb, imported when its verb runs."""

import os
import sys
from typing import Annotated

import typer

from ailb_gen.cli import explain, generate, init, schema
from ailb_gen.errors import AilbError, ExitCode, IntentError

app = typer.Typer(
    name="ailb-gen",
    help="Intent in, a working RDMA-load-balanced GPU fabric out.",
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)


def _version(wanted: bool) -> None:
    if wanted:
        from ailb_gen import __version__

        typer.echo(f"ailb-gen {__version__}")
        raise typer.Exit


@app.callback()
def _root(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """Intent in, a working RDMA-load-balanced GPU fabric out."""


app.command("init")(init.init)
app.command("generate")(generate.generate)
app.command("explain")(explain.explain)
app.command("schema")(schema.schema)


def report(error: AilbError) -> None:
    """Print what went wrong to standard error: every problem on a line, and how many there are."""
    if isinstance(error, IntentError):
        errors = sum(problem.severity == "error" for problem in error.problems)
        typer.echo(f"{error}\n{errors} error{'s' if errors != 1 else ''}; nothing was written", err=True)
    else:
        typer.echo(f"ailb-gen: {error}", err=True)


def main() -> None:
    """Run the command line and leave with the documented exit code."""
    try:
        app()
    except AilbError as error:
        report(error)
        sys.exit(error.exit_code)
    except BrokenPipeError:
        # The reader of a pipe has gone (`| head`): nothing is wrong, and nobody is left to be told.
        sys.stderr.close()
        sys.exit(ExitCode.OK)
    except OSError as error:
        # What reaches this place is standard output that cannot be written: a full disk, a closed terminal.
        sys.stderr.write(f"ailb-gen: cannot write to standard output: {error.strerror}\n")
        sys.stderr.flush()
        os._exit(ExitCode.ENVIRONMENT)
