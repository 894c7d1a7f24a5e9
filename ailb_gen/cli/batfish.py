"""`ailb-gen batfish`: the snapshots without a service, and what is left on one; asking one for `validate --batfish`."""

from __future__ import annotations

import sys
from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from ailb_gen.cli.console import echo_json, echo_table, warn
from ailb_gen.cli.options import ARTIFACTS, BATFISH_S, DRY_RUN, JSON, OLDER_THAN, YES, age_s, output_option
from ailb_gen.cli.reports import check_place
from ailb_gen.cli.steady import ask as asked
from ailb_gen.cli.verb import Verb, Verbs
from ailb_gen.errors import BatfishError, ExitCode, UsageError
from ailb_gen.wording import counted

app = typer.Typer(
    cls=Verbs, name="batfish", help="Write snapshots for Batfish; delete those of killed runs.", no_args_is_help=True
)


@app.command("snapshot", cls=Verb)
def snapshot(
    artifacts: ARTIFACTS,
    out: Annotated[Path, output_option("snapshot", "DIR", "--out")],
) -> None:
    """Write the files, and their IPv4 shadow, as snapshots.

    The directory must be new, empty, or written by this command.

    Exit codes: 0 written, 2 bad input, 3 the environment failed.
    """
    from ailb_gen.batfish.shadow import shadow
    from ailb_gen.batfish.snapshot import FILES, NUMBERS, SHADOW, write_snapshots
    from ailb_gen.network.read import network_of

    check_place("-o", out, [artifacts])
    network = network_of(artifacts)
    for defect in network.defects:
        warn(f"{defect.place or defect.scope}: {defect.message}")
    translated = shadow(network)
    gaps = [(switch.name, gap) for switch in translated.switches for gap in switch.gaps]
    for name, gap in gaps:
        place = f"{network.switches[name].file}:{gap.line or 1}"
        warn(f"{place}: not in the shadow: {gap.message}")
    write_snapshots(artifacts, network, translated, out)
    switches = counted(len(translated.switches), "switch")
    typer.echo(f"{switches}: {out / FILES}, {out / SHADOW}; numbers in {out / NUMBERS}")


@app.command("clean", cls=Verb)
def clean(
    address: Annotated[str, typer.Argument(help="The Batfish service.", metavar="HOST[:PORT]")],
    older_than: Annotated[str, OLDER_THAN] = "120m",
    dry_run: DRY_RUN = False,
    yes: YES = False,
    timeout: BATFISH_S = 60,
    as_json: JSON = False,
) -> None:
    """Delete the networks that killed runs left on a service.

    Exit codes: 0 deleted or nothing left over, 2 bad input, 3 not deleted.
    """
    import time

    from ailb_gen.batfish.address import parse_address
    from ailb_gen.batfish.leftovers import age_text, left_over, why_kept

    # A number alone is minutes, as it was in older versions.
    host, port, minutes = *parse_address(address, ""), int(age_s(older_than, "m") // 60)

    from ailb_gen.batfish.service import visit

    with visit(host, port, timeout) as service:
        found, now = service.run_networks(), time.time()
        gone = left_over(found, now, minutes)
        columns = ("network", "age", "snapshots", "state")
        rows = [
            (one.name, age_text(one, now), one.snapshots, why_kept(one, now, minutes) or "left over") for one in found
        ]
        tell = partial(typer.echo, err=as_json)
        if as_json:
            echo_json([dict(zip(columns, row, strict=True)) for row in rows])
        elif found:
            echo_table(f"Networks of runs on Batfish at {service.address}", columns, rows)
        if not gone or dry_run:
            tell(f"{counted(len(gone), 'network')} left over{'; nothing was deleted' if gone else ''}")
            return
        if not yes and not _agreed(f"Delete {counted(len(gone), 'network')}?"):
            tell("Nothing was deleted.")
            raise typer.Exit(ExitCode.ENVIRONMENT)
        left = {one.name: why for one in gone if (why := service.delete_network(one.name))}
        tell(f"{counted(len(gone) - len(left), 'network')} deleted")
        if left:
            reasons = "\n".join(f"  {name}: {why}" for name, why in left.items())
            raise BatfishError(
                f"Batfish at {service.address}: {counted(len(left), 'network')} could not be deleted:\n{reasons}"
            )


def _agreed(question: str) -> bool:
    if not sys.stdin.isatty():
        raise UsageError("cannot ask for confirmation without a terminal; review it with --dry-run, then use --yes")
    return asked(question)
