"""`ailb-gen drift`, `verify` and `collect`: look at what runs, change nothing."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Protocol

import typer

from ailb_gen.api.connect import Connection
from ailb_gen.cli import fleet, options
from ailb_gen.cli.console import echo_json
from ailb_gen.cli.live import progress
from ailb_gen.cli.reports import check_place, finding_targets
from ailb_gen.cli.steady import steady
from ailb_gen.cli.validate import conclude
from ailb_gen.errors import ExitCode
from ailb_gen.wording import counted

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ailb_gen.cli.reports import Target
    from ailb_gen.progress import Progress
    from ailb_gen.report.check_report import CheckReport


@steady()
def drift(
    fabric: options.FABRIC,
    artifacts: options.ARTIFACTS,
    inventory: options.INVENTORY = None,
    limit: options.LIMIT = None,
    reports: options.REPORTS = None,
    as_json: options.JSON = False,
    driver: options.DRIVER = "napalm",
    jobs: options.JOBS = 32,
    accept_new_hostkeys: options.ACCEPT = False,
) -> None:
    """Compare the running configurations with the files.

    Exit codes: 0 no drift, 1 drift or a device that cannot be read, 2 bad input.
    """
    place = fleet.FabricArguments(fabric, artifacts, inventory, driver, jobs, accept_new_hostkeys)
    _observe(place, limit, finding_targets(reports, as_json, place.inputs), Connection.drift)


@steady()
def verify(
    fabric: options.FABRIC,
    artifacts: options.ARTIFACTS,
    inventory: options.INVENTORY = None,
    limit: options.LIMIT = None,
    reports: options.REPORTS = None,
    as_json: options.JSON = False,
    driver: options.DRIVER = "napalm",
    jobs: options.JOBS = 32,
    accept_new_hostkeys: options.ACCEPT = False,
) -> None:
    """Compare the state of the devices with the design.

    Sessions, prefixes, colors, AIGP, MTUs and next hops must follow from the files, and load-balancing statements must
    match them.

    Exit codes: 0 as designed, 1 a deviation or a device that cannot be read, 2 bad input.
    """
    place = fleet.FabricArguments(fabric, artifacts, inventory, driver, jobs, accept_new_hostkeys)
    _observe(place, limit, finding_targets(reports, as_json, place.inputs), Connection.verify)


class Observe(Protocol):
    """A method of a connection that observes all its devices."""

    def __call__(
        self, connection: Connection, /, *, limit: Sequence[str], html: bool, progress: Progress
    ) -> CheckReport:
        """Return the report."""


def _observe(place: fleet.FabricArguments, limit: list[str] | None, where: Sequence[Target], observe: Observe) -> None:
    """Observe the devices, report, and leave with 1 if anything deviates."""
    with place.connect(limit) as connection:
        html = any(kind == "html" for kind, _ in where)
        report = observe(connection, limit=limit or (), html=html, progress=progress)
    conclude(report, where)


@steady()
def collect(
    fabric: options.FABRIC,
    out: Annotated[Path, options.output_option("collected files", "DIR", "--out")],
    as_json: options.JSON = False,
    inventory: options.INVENTORY = None,
    limit: options.LIMIT = None,
    driver: options.DRIVER = "napalm",
    jobs: options.JOBS = 32,
    accept_new_hostkeys: options.ACCEPT = False,
) -> None:
    """Collect configurations and state, for validate.

    Collects the files of servers, too; secrets are left out.

    Exit codes: 0 done, 2 bad input, 3 a device cannot be read, or the directory cannot be written.
    """
    place = fleet.FabricArguments(fabric, None, inventory, driver, jobs, accept_new_hostkeys)
    check_place("-o", out, place.inputs)
    with place.connect(limit) as connection:
        written, errors = connection.collect(out, progress=progress)
        devices = [name for name in connection.devices if name not in errors]
        if as_json:
            body = {"directory": str(out), "files": written.files, "devices": devices, "notes": [*written.notes]}
            echo_json({**body, "errors": {name: str(one) for name, one in errors.items()}})
        else:
            typer.echo(f"{counted(written.files, 'file')} of {counted(len(devices), 'device')} in {out}")
            for line in written.notes:
                typer.echo(line)
        fleet.say_errors(errors, errors)
        if errors:
            raise typer.Exit(ExitCode.ENVIRONMENT)
