"""`ailb-gen drift`, `verify` and `collect`: look at what runs, change nothing."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ailb_gen.cli.console import fabric_file, progress
from ailb_gen.cli.fleet import ACCEPT, ARTIFACTS, DRIVER, FABRIC, INVENTORY, JOBS, LIMIT, REPORTS, Driver, access
from ailb_gen.cli.validate import report, targets
from ailb_gen.errors import ExitCode

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from ailb_gen.checks.model import Result
    from ailb_gen.deploy.desk import Desk
    from ailb_gen.deploy.fleet import Access


def drift(
    fabric: FABRIC,
    artifacts: ARTIFACTS,
    inventory: INVENTORY = None,
    limit: LIMIT = None,
    reports: REPORTS = None,
    driver: DRIVER = Driver.napalm,
    jobs: JOBS = 32,
    accept_new_hostkeys: ACCEPT = False,
) -> None:
    """Compare what runs on the devices with what the files say.

    Exit codes: 0 no drift, 1 drift or a device that cannot be read, 2 bad input.
    """
    from ailb_gen.deploy.findings import drifted, edited, unreached

    def look(on: Desk, advance: Callable[[int], None]) -> list[Result]:
        found = on.prospect(on.file_aim, 0, advance)
        return [unreached(found.errors, len(on.roles)), drifted(found, on.inputs), edited(found)]

    _judged(fabric, artifacts, inventory, limit or [], reports or [], access(driver, jobs, accept_new_hostkeys), look)


def verify(
    fabric: FABRIC,
    artifacts: ARTIFACTS,
    inventory: INVENTORY = None,
    limit: LIMIT = None,
    reports: REPORTS = None,
    driver: DRIVER = Driver.napalm,
    jobs: JOBS = 32,
    accept_new_hostkeys: ACCEPT = False,
) -> None:
    """Compare the state of the devices with what the files must bring about: sessions, colors, AIGP.

    Exit codes: 0 as designed, 1 not so or a device that cannot be asked, 2 bad input.
    """
    from ailb_gen.deploy.findings import state, unreached

    def look(on: Desk, advance: Callable[[int], None]) -> list[Result]:
        outcomes = on.differences(advance)
        return [unreached(outcomes.bad, len(on.roles)), state(outcomes.good)]

    _judged(fabric, artifacts, inventory, limit or [], reports or [], access(driver, jobs, accept_new_hostkeys), look)


def _judged(
    fabric: Path,
    artifacts: Path,
    inventory: Path | None,
    limit: Sequence[str],
    reports: Sequence[str],
    reach: Access,
    look: Callable[[Desk, Callable[[int], None]], list[Result]],
) -> None:
    """Look, report, and leave with 1 if something was found."""
    from ailb_gen.checks.device_checks import CHECKS
    from ailb_gen.deploy.desk import desk
    from ailb_gen.deploy.findings import run_of
    from ailb_gen.report.judge import judge

    where = targets(reports, [fabric])
    with desk(fabric_file(fabric), artifacts, inventory, limit, reach) as on:
        with progress("looking", len(on.roles)) as advance:
            results = look(on, advance)
        run = run_of(on.intent.fabric.name, str(fabric), str(artifacts), on.roles, results)
    verdict = judge(run, (), {check.id for check in CHECKS}, limit, "error")
    report(verdict, where)
    if verdict.failed:
        raise typer.Exit(ExitCode.FINDINGS)


def collect(
    fabric: FABRIC,
    out: Annotated[Path, typer.Option("-o", "--out", help="The directory to write to.", metavar="DIR")],
    inventory: INVENTORY = None,
    limit: LIMIT = None,
    driver: DRIVER = Driver.napalm,
    jobs: JOBS = 32,
    accept_new_hostkeys: ACCEPT = False,
) -> None:
    """Write configurations and state of the switches into a directory that 'validate' can read; without secrets.

    Exit codes: 0 done, 2 bad input, 3 a switch cannot be read, or the directory cannot be written.
    """
    from ailb_gen.deploy.collect import collect as read_one
    from ailb_gen.deploy.collect import write
    from ailb_gen.deploy.desk import desk
    from ailb_gen.deploy.switch import Phase

    with desk(fabric_file(fabric), None, inventory, limit or [], access(driver, jobs, accept_new_hostkeys)) as on:
        with progress("collecting", len(on.switches)) as advance:
            outcomes = on.crew.run(
                [name for name in on.switches if name in on.picked], read_one, Phase.READ, advance, keep=False
            )
        written = write(out, outcomes.good.values())
        typer.echo(f"{len(written)} files of {len(outcomes.good)} switches in {out}")
        for error in outcomes.bad.values():
            typer.echo(f"ailb-gen: {error}", err=True)
        if outcomes.bad:
            raise typer.Exit(ExitCode.ENVIRONMENT)
