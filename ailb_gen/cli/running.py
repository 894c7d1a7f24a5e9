"""`ailb-gen drift`, `verify` and `collect`: look at what runs, change nothing."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ailb_gen.cli import fleet
from ailb_gen.cli.live import progress
from ailb_gen.cli.output import steady
from ailb_gen.cli.reports import check_place, targets
from ailb_gen.cli.validate import conclude, formats
from ailb_gen.errors import DeployError, ExitCode

if TYPE_CHECKING:
    from collections.abc import Callable

    from ailb_gen.checks.context import Context as CheckContext
    from ailb_gen.checks.model import Result
    from ailb_gen.deploy.session import DeploySession
    from ailb_gen.intent.load import Intent


@steady()
def drift(
    fabric: fleet.FABRIC,
    artifacts: fleet.ARTIFACTS,
    inventory: fleet.INVENTORY = None,
    limit: fleet.LIMIT = None,
    reports: fleet.REPORTS = None,
    driver: fleet.DRIVER = "napalm",
    jobs: fleet.JOBS = 32,
    accept_new_hostkeys: fleet.ACCEPT = False,
) -> None:
    """Compare what runs on the devices with what the files say.

    Exit codes: 0 no drift, 1 drift or a device that cannot be read, 2 bad input.
    """
    from ailb_gen.deploy.verification import drift as look

    _judge(
        fleet.Place(fabric, artifacts, inventory, driver, jobs, accept_new_hostkeys),
        limit or [],
        reports or [],
        look,
        "drift",
    )


@steady()
def verify(
    fabric: fleet.FABRIC,
    artifacts: fleet.ARTIFACTS,
    inventory: fleet.INVENTORY = None,
    limit: fleet.LIMIT = None,
    reports: fleet.REPORTS = None,
    driver: fleet.DRIVER = "napalm",
    jobs: fleet.JOBS = 32,
    accept_new_hostkeys: fleet.ACCEPT = False,
) -> None:
    """Compare the state of the devices with the design.

    Sessions, prefixes, colors, AIGP, MTUs and next hops must be what the files bring about, and the statements of load
    balancing those of the files.

    Exit codes: 0 as designed, 1 not so or a device that cannot be asked, 2 bad input.
    """
    from ailb_gen.deploy.verification import NOT_READ
    from ailb_gen.deploy.verification import verify as verified

    _judge(
        fleet.Place(fabric, artifacts, inventory, driver, jobs, accept_new_hostkeys),
        limit or [],
        reports or [],
        verified,
        "verify",
        (NOT_READ,),
    )


def _judge(
    place: fleet.Place,
    limit: list[str] | None,
    reports: list[str] | None,
    look: Callable[[DeploySession, Callable[[int], None]], list[Result]],
    command: str,
    notes: tuple[str, ...] = (),
) -> None:
    """Look, report with notes beside the verdict, and leave with 1 if something was found."""
    from ailb_gen.checks.catalogue import OF_DEVICES, checks_of
    from ailb_gen.deploy.verification import run_of
    from ailb_gen.report.judge import judge

    where = targets(reports or [], place.inputs, formats())
    with place.open(limit) as on:
        with progress("looking", len(on.roles)) as advance:
            results = look(on, advance)
        run = run_of(on.intent.fabric.name, str(place.fabric), str(place.artifacts), on.roles, results, notes)
        intent = on.intent
    verdict = judge(run, (), {check.id for check in checks_of(OF_DEVICES)}, limit or [], "error")
    drawn = _drawn(intent, place) if any(kind == "html" for kind, _ in where) else None
    conclude(verdict, where, command, context=drawn)


def _drawn(intent: Intent, place: fleet.Place) -> CheckContext | None:
    """Return the fabric of the artifact directory, by which a report draws what was found on the devices."""
    from ailb_gen.checks.context import Context as CheckContext
    from ailb_gen.network.read import read_network

    if place.artifacts is None:
        return None
    network = read_network(place.artifacts, lambda written, tree: None).network
    return CheckContext(intent.fabric, network, root=place.artifacts)


@steady()
def collect(
    fabric: fleet.FABRIC,
    out: Annotated[Path, typer.Option("-o", "--out", help="The directory to write to.", metavar="DIR")],
    inventory: fleet.INVENTORY = None,
    limit: fleet.LIMIT = None,
    driver: fleet.DRIVER = "napalm",
    jobs: fleet.JOBS = 32,
    accept_new_hostkeys: fleet.ACCEPT = False,
) -> None:
    """Collect what devices have, into files for validate.

    Writes configurations, state, and files of servers, without secrets.

    Exit codes: 0 done, 2 bad input, 3 a device cannot be read, or the directory cannot be written.
    """
    from ailb_gen.deploy.artifacts import check_target, collect_host, collect_switch, write
    from ailb_gen.deploy.switch_driver import Phase, once
    from ailb_gen.design.build import build

    place = fleet.Place(fabric, None, inventory, driver, jobs, accept_new_hostkeys)
    check_place("-o", out, place.inputs)
    with place.open(limit) as on:
        design, _ = build(on.intent)
        check_target(out, design.name)
        unmanaged = [target.name for target in on.inventory.targets.values() if not target.managed]
        with progress("collecting", len(on.picked)) as advance:
            found = on.ask(collect_switch, collect_host, Phase.READ, advance)
        if not found.good:
            raise DeployError("\n".join([*once(found.bad.values()), "nothing was collected"]))
        written = write(out, design, found.good, [name for name in unmanaged if name not in on.switches])
        typer.echo(f"{written.files} files of {len(found.good)} devices in {out}")
        for line in written.notes:
            typer.echo(line)
        fleet.say_errors(found.bad)
        if found.bad:
            raise typer.Exit(ExitCode.ENVIRONMENT)
