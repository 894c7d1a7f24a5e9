"""What `ailb-gen maintain` prints: how far the last maintenance is, how one ended, and what can be done next."""

from __future__ import annotations

from typing import TYPE_CHECKING

import typer

from ailb_gen.cli.console import echo, echo_json, echo_table, notify
from ailb_gen.errors import AttentionError, DeployError
from ailb_gen.paint import Style

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ailb_gen.api.maintain import Maintainer, MaintenanceReport
    from ailb_gen.cli.fleet import FabricArguments
    from ailb_gen.deploy.maintenance_record import DeviceProgress, RecordedMaintenance


def show_status(on: Maintainer, place: FabricArguments, as_json: bool) -> None:
    """Print the newest maintenance by its record."""
    one = on.last()
    if as_json:
        echo_json(_status_json(one) if one is not None else None)
        return
    if one is None:
        typer.echo(f"{place.records.path}: no maintenance is recorded here.")
        return
    rows = [(name, device.role, device.text) for name, device in one.devices.items()]
    echo_table(f"Maintenance {one.name} by {one.user}: {one.state}", ("device", "role", "state"), rows)
    for reason in filter(None, (device.reason for device in one.devices.values())):
        typer.echo(reason)
    if one.left() and not one.running:
        for line in _ways(place):
            typer.echo(line)


def _status_json(one: RecordedMaintenance) -> dict[str, object]:
    return {
        "maintenance": one.name,
        "time": one.time,
        "user": one.user,
        "state": one.state,
        "work": dict(one.work),
        "runs": list(one.runs),
        "devices": _devices(one.devices),
    }


def _devices(devices: Mapping[str, DeviceProgress]) -> dict[str, dict[str, str]]:
    return {
        name: {"role": one.role, "state": one.text, "next": str(one.next or ""), "reason": one.reason}
        for name, one in devices.items()
    }


def json_of(report: MaintenanceReport) -> dict[str, object]:
    """Return how a maintenance ended, for --json."""
    return {
        "maintenance": report.name,
        "record": str(report.file or ""),
        "devices": _devices(report.devices),
        "needless": dict(report.needless),
        "stopped": report.stopped,
    }


def _ways(place: FabricArguments) -> list[str]:
    """Return the commands that go on from here."""
    return [
        f"to go on at that step: {place.command('maintain', '--resume')}",
        f"to bring them back without the work: {place.command('maintain', '--give-up')}",
    ]


def conclude(report: MaintenanceReport, place: FabricArguments, dry_run: bool) -> None:
    """Print how it ended, and what can be done next; leave with the exit code of that."""
    if dry_run:
        for name in report.devices:
            typer.echo(f"would maintain {name}")
        notify("nothing was changed, because of --dry-run")
        return
    if not report.devices:
        typer.echo("Nothing to do.")
        return
    done = [name for name, one in report.devices.items() if one.finished]
    if report.complete:
        what = "given up, no device is out" if report.given_up else f"{len(done)} of {len(report.devices)} devices done"
        echo((f"{what}; record: {report.file}", Style.PASS))
        return
    lines = [f"  {name}: {report.devices[name].text}" for name in report.devices if name not in done]
    text = "\n".join(
        [f"maintenance {report.name}: {len(done)} of {len(report.devices)} devices done", *lines, *report.reasons]
    )
    if report.left:
        raise AttentionError("\n".join([text, *_ways(place)]))
    raise DeployError(f"{text}\nno device is out of service; the same command begins another maintenance")
