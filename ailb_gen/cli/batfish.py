"""`ailb-gen batfish`: the snapshots without a service, and what is left on one; asking one for `validate --batfish`."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from ailb_gen.cli.console import echo_table, say
from ailb_gen.cli.options import ARTIFACTS, BATFISH_S
from ailb_gen.cli.reports import check_place
from ailb_gen.cli.steady import ask as asked
from ailb_gen.errors import BatfishError, ExitCode, UsageError
from ailb_gen.wording import counted

app = typer.Typer(
    name="batfish", help="Write snapshots for Batfish; delete those of killed runs.", no_args_is_help=True
)


@app.callback()
def _batfish() -> None:
    """Write the snapshots that `ailb-gen validate --batfish HOST` sends; delete what killed runs have left there."""


@app.command("snapshot")
def snapshot(
    artifacts: ARTIFACTS,
    out: Annotated[
        Path, typer.Option("-o", "--output", help="Directory to write to: new, empty, or written by this command.")
    ],
) -> None:
    """Write the files, and their IPv4 shadow, as snapshots.

    Exit codes: 0 written, 2 bad input, 3 the environment failed.
    """
    from ailb_gen.batfish.shadow import shadow
    from ailb_gen.batfish.snapshot import FILES, NUMBERS, SHADOW, write_snapshots
    from ailb_gen.network.read import network_of

    check_place("-o", out, [artifacts])
    network = network_of(artifacts)
    for defect in network.defects:
        say(f"warning: {defect.place or defect.scope}: {defect.message}")
    translated = shadow(network)
    gaps = [(switch.name, gap) for switch in translated.switches for gap in switch.gaps]
    for name, gap in gaps:
        place = f"{network.switches[name].file}:{gap.line or 1}"
        say(f"warning: {place}: not in the shadow: {gap.message}")
    write_snapshots(artifacts, network, translated, out)
    switches = counted(len(translated.switches), "switch")
    typer.echo(f"{switches}: {out / FILES}, {out / SHADOW}; numbers in {out / NUMBERS}")


@app.command("clean")
def clean(
    address: Annotated[str, typer.Argument(help="The Batfish service.", metavar="HOST[:PORT]")],
    older_than: Annotated[
        int,
        typer.Option("--older-than", min=0, max=10**7, help="Minutes without a sign of the run.", metavar="N"),
    ] = 120,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Show what would be deleted, and delete nothing.")] = False,
    yes: Annotated[bool, typer.Option("--yes", help="Delete without asking.")] = False,
    timeout: BATFISH_S = 60,
) -> None:
    """Delete the networks that killed runs left on a service.

    Exit codes: 0 deleted or nothing left over, 2 bad input, 3 not deleted.
    """
    import time

    from ailb_gen.batfish.address import parse_address
    from ailb_gen.batfish.leftovers import age_text, left_over, why_kept

    host, port = parse_address(address, "")

    from ailb_gen.batfish.service import visit

    with visit(host, port, timeout) as service:
        found, now = service.run_networks(), time.time()
        gone = left_over(found, now, older_than)
        if found:
            states = [why_kept(one, now, older_than) or "left over" for one in found]
            ages = [age_text(one, now) for one in found]
            rows = [[one.name, age, one.snapshots, state] for one, age, state in zip(found, ages, states, strict=True)]
            title = f"Networks of runs on Batfish at {service.address}"
            echo_table(title, ("network", "age", "snapshots", "state"), rows)
        if not gone or dry_run:
            typer.echo(f"{counted(len(gone), 'network')} left over{'; nothing was deleted' if gone else ''}")
            return
        if not yes and not _agreed(f"Delete {counted(len(gone), 'network')}?"):
            typer.echo("Nothing was deleted.")
            raise typer.Exit(ExitCode.ENVIRONMENT)
        left = {one.name: why for one in gone if (why := service.delete_network(one.name))}
        typer.echo(f"{counted(len(gone) - len(left), 'network')} deleted")
        if left:
            reasons = "\n".join(f"  {name}: {why}" for name, why in left.items())
            raise BatfishError(
                f"Batfish at {service.address}: {counted(len(left), 'network')} could not be deleted:\n{reasons}"
            )


def _agreed(question: str) -> bool:
    if not sys.stdin.isatty():
        raise UsageError("there is no terminal to ask on; review it with --dry-run, then use --yes")
    return asked(question)
