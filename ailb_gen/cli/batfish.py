"""`ailb-gen batfish`: the snapshots without a service, and what is left on one; asking one for `validate --batfish`."""

from __future__ import annotations

import sys
from contextlib import AbstractContextManager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ailb_gen.cli.console import echo_table, say
from ailb_gen.cli.live import progress
from ailb_gen.cli.output import ask as asked
from ailb_gen.cli.reports import check_place
from ailb_gen.errors import AilbError, BatfishError, ExitCode, UsageError
from ailb_gen.wording import counted

if TYPE_CHECKING:
    from collections.abc import Callable

    from ailb_gen.batfish.answers import Batfish
    from ailb_gen.checks.context import Context
    from ailb_gen.checks.model import Result

    Service = Callable[[], AbstractContextManager[Batfish]]

# So much of a bad word is shown.
CUT = 12
app = typer.Typer(
    name="batfish", help="Write the snapshots that Batfish analyzes; tidy up on a service.", no_args_is_help=True
)


@app.callback()
def _batfish() -> None:
    """Write the snapshots that `ailb-gen validate --batfish HOST` sends; delete what killed runs have left there."""


@app.command("snapshot")
def snapshot(
    artifacts: Annotated[Path, typer.Argument(help="The directory of generated files.", metavar="ARTIFACTS")],
    out: Annotated[
        Path, typer.Option("-o", "--output", help="Directory to write to: new, empty, or written by this command.")
    ],
) -> None:
    """Write the files, and their IPv4 shadow, as snapshots.

    Exit codes: 0 written, 2 bad input, 3 the environment failed.
    """
    from ailb_gen.batfish.shadow import shadow
    from ailb_gen.batfish.snapshot import FILES, NUMBERS, SHADOW, write_snapshots
    from ailb_gen.cli.proof import nothing
    from ailb_gen.network.read import read_network

    check_place("-o", out, [artifacts])
    network = read_network(artifacts, nothing).network
    for defect in network.defects:
        say(f"warning: {defect.place or defect.scope}: {defect.message}")
    translated = shadow(network)
    gaps = [(switch.name, gap) for switch in translated.switches for gap in switch.gaps]
    for name, gap in gaps:
        place = f"{network.switches[name].file}:{gap.line or 1}"
        say(f"warning: {place}: not in the shadow: {gap.message}")
    write_snapshots(artifacts, network, translated, out)
    typer.echo(f"{len(translated.switches)} switches: {out / FILES}, {out / SHADOW}; numbers in {out / NUMBERS}")


@app.command("clean")
def clean(
    address: Annotated[str, typer.Argument(help="The Batfish service.", metavar="HOST[:PORT]")],
    older_than: Annotated[
        int,
        typer.Option("--older-than", min=0, max=10**7, help="Minutes without a sign of the run.", metavar="N"),
    ] = 120,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Show what would be deleted, and delete nothing.")] = False,
    yes: Annotated[bool, typer.Option("--yes", help="Delete without asking.")] = False,
    timeout: Annotated[
        int, typer.Option("--batfish-timeout", min=1, max=86400, help="Seconds for each request to Batfish.")
    ] = 60,
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
    """Ask a person at a terminal. Raises UsageError without one."""
    if not sys.stdin.isatty():
        raise UsageError("there is no terminal to ask on; review it with --dry-run, then use --yes")
    return asked(question)


def open_service(address: str, timeout_s: int) -> Service:
    """Return what opens the service. Raises UsageError for a bad address, or without pybatfish."""
    from ailb_gen.batfish.address import parse_address

    host, port = parse_address(address)

    from ailb_gen.batfish.service import connect

    return lambda: connect(host, port, timeout_s)


def most_failures(text: str | None, has_service: bool) -> int | None:
    """Return how many failures Batfish computes at most. Raises UsageError."""
    if text is None:
        return None
    from ailb_gen.batfish.sample import ALL

    if not has_service:
        raise UsageError("--batfish-failures: no Batfish service was given; add --batfish HOST")
    if text == "all":
        return ALL
    if not (text.isascii() and text.isdigit() and len(text) < CUT and int(text) > 1):
        raise UsageError(
            f"--batfish-failures {text[:CUT]!r}: must be all, or a number from 2, for one spine and one link; "
            "for none exclude the checks: --checks '*,!AILB818,!AILB819,!AILB822,!AILB823'"
        )
    return int(text)


def ask(
    service: Service | None, context: Context, chosen: frozenset[str], most: int | None
) -> tuple[list[Result], AilbError | None]:
    """Return the results of the checks that Batfish makes, and the error that ended them early, if any.

    `most` is how many failures it computes at most; without it, as many as it does in a few minutes.
    """
    from ailb_gen.checks.catalogue import skipped_by_batfish
    from ailb_gen.checks.families.batfish import NO_SERVICE

    if service is None:
        return list(skipped_by_batfish(chosen, (), NO_SERVICE)), None
    from ailb_gen.batfish.run import SecondOpinion, second_opinion
    from ailb_gen.batfish.unsupported import doubt

    second = SecondOpinion(context, chosen, most)
    results: list[Result] = []
    trouble: AilbError | None = None
    try:
        with progress("asking Batfish", 1) as bar, service() as batfish:
            if unsure := doubt(batfish.version):
                say(f"warning: the version of this Batfish, {batfish.version}, {unsure}")
            for result in second_opinion(batfish, second, bar):
                results.append(result)
        if batfish.left_behind:
            say(f"warning: {batfish.left_behind}")
    except AilbError as error:
        trouble = error
        results += skipped_by_batfish(chosen, results, str(error))
    return results, trouble
