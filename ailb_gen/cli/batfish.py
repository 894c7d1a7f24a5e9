"""`ailb-gen batfish`: the snapshots without a service; and asking one, for `validate --batfish`."""

from __future__ import annotations

from contextlib import AbstractContextManager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ailb_gen.cli.console import say
from ailb_gen.cli.live import progress
from ailb_gen.cli.reports import check_place
from ailb_gen.errors import AilbError

if TYPE_CHECKING:
    from collections.abc import Callable

    from ailb_gen.batfish.model import Batfish
    from ailb_gen.checks.context import Context
    from ailb_gen.checks.model import Result

    Service = Callable[[], AbstractContextManager[Batfish]]

app = typer.Typer(name="batfish", help="Write the snapshots that Batfish analyzes.", no_args_is_help=True)


@app.callback()
def _batfish() -> None:
    """Write the snapshots that Batfish analyzes; `ailb-gen validate --batfish HOST` sends them."""


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


def open_service(address: str, timeout_s: int) -> Service:
    """Return what opens the service. Raises UsageError for a bad address, or without pybatfish."""
    from ailb_gen.batfish.address import parse_address

    host, port = parse_address(address)

    from ailb_gen.batfish.service import connect

    return lambda: connect(host, port, timeout_s)


def ask(service: Service | None, context: Context, chosen: frozenset[str]) -> tuple[list[Result], AilbError | None]:
    """Return the results of the checks that Batfish makes, and the error that ended them early, if any."""
    from ailb_gen.checks.catalogue import skipped_by_batfish
    from ailb_gen.checks.families.batfish import NO_SERVICE

    if service is None:
        return list(skipped_by_batfish(chosen, (), NO_SERVICE)), None
    from ailb_gen.batfish.run import SecondOpinion, second_opinion, steps

    second = SecondOpinion(context, chosen)
    results: list[Result] = []
    trouble: AilbError | None = None
    try:
        with progress("asking Batfish", steps(second)) as advance, service() as batfish:
            for result in second_opinion(batfish, second, lambda: advance(1)):
                results.append(result)
        if batfish.left_behind:
            say(f"warning: {batfish.left_behind}")
    except AilbError as error:
        trouble = error
        results += skipped_by_batfish(chosen, results, str(error))
    return results, trouble
