"""`ailb-gen replace`: numbers of a new NIC, server or switch in the files of the fabric."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ailb_gen.cli import complete, visible
from ailb_gen.cli.console import echo_changes, echo_json, echo_table, notify, notify_written
from ailb_gen.cli.options import DRY_RUN, FABRIC, JSON
from ailb_gen.cli.steady import steady
from ailb_gen.cli.verb import Verb, Verbs

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ailb_gen.api.replace import Replacement

app = typer.Typer(
    cls=Verbs, name="replace", help="Write MAC addresses and serial numbers of new hardware.", no_args_is_help=True
)

SERVER = Annotated[str, typer.Argument(help="A server.", metavar="SERVER", autocompletion=complete.device)]
SWITCH = Annotated[str, typer.Argument(help="A switch.", metavar="SWITCH", autocompletion=complete.device)]
NIC = Annotated[str, typer.Argument(help="Name of the NIC, or its number from 0.", metavar="NIC")]
MAC = Annotated[list[str] | None, typer.Option("--mac", help="New MAC address; of a server all, in order.")]
MANAGEMENT_MAC = Annotated[
    str | None, typer.Option("--management-mac", help="New MAC address of the server's management port.")
]
SERIAL = Annotated[str | None, typer.Option("--serial", help="New serial number of the chassis.")]


@app.command("nic", cls=Verb)
def nic(
    fabric: FABRIC,
    server: SERVER,
    nic: NIC,
    mac: MAC = None,
    dry_run: DRY_RUN = False,
    as_json: JSON = False,
) -> None:
    """Write the MAC address of a new NIC.

    Where the old one is: in the fabric file or in one of its CSV files. The rest of the files stays as it is.
    """
    from ailb_gen.api.replace import replace_nic

    _show(fabric, replace_nic(fabric, server, nic, _one(mac) or ""), dry_run, as_json)


@app.command("server", cls=Verb)
def server(
    fabric: FABRIC,
    server: SERVER,
    mac: MAC = None,
    management_mac: MANAGEMENT_MAC = None,
    dry_run: DRY_RUN = False,
    as_json: JSON = False,
) -> None:
    """Write the MAC addresses of a new server.

    Name, management address, cables and prefixes stay: they belong to the place.
    """
    from ailb_gen.api.replace import replace_server

    _show(fabric, replace_server(fabric, server, mac or (), management_mac), dry_run, as_json)


@app.command("switch", cls=Verb)
def switch(
    fabric: FABRIC,
    switch: SWITCH,
    mac: MAC = None,
    serial: SERIAL = None,
    dry_run: DRY_RUN = False,
    as_json: JSON = False,
) -> None:
    """Write the MAC address and serial number of a new switch.

    DHCP knows it by them. Name, numbers, ports and configuration stay: they belong to the place.
    """
    from ailb_gen.api.replace import replace_switch

    _show(fabric, replace_switch(fabric, switch, _one(mac), serial), dry_run, as_json, is_switch=True)


def _one(macs: list[str] | None) -> str | None:
    """Return the only MAC address that is given. Raises BadParameter for several."""
    if macs and len(macs) > 1:
        raise typer.BadParameter("give it once", param_hint="'--mac'")
    return macs[0] if macs else None


def _show(fabric: Path, change: Replacement, dry_run: bool, as_json: bool, *, is_switch: bool = False) -> None:
    """Write the files; print what changes in them, the addresses that change, and what to do next."""
    if not dry_run:
        change.write()
    # A full disk there does not hide that the files are written.
    with steady(must_be_read=False):
        if as_json:
            echo_json(_json(fabric, change, not dry_run))
        elif change.edits:
            _print(change)
        if not change.edits:
            notify(f"{fabric}: nothing to change: {change.device} has these numbers already")
        elif dry_run:
            notify(f"{fabric}: not written, because of --dry-run")
        elif not as_json:
            notify_written([edit.file for edit in change.edits], _steps(fabric, change.device, is_switch))


def _print(change: Replacement) -> None:
    echo_changes(change.diff().removesuffix("\n").split("\n"))
    if change.addresses() and not visible.output.quiet:
        typer.echo()
        echo_table(f"Addresses of {change.device} that change", ("NIC", "OLD", "NEW"), change.addresses())


def _json(fabric: Path, change: Replacement, written: bool) -> dict[str, object]:
    return {
        "fabric": str(fabric),
        "device": change.device,
        "written": written and bool(change.edits),
        "files": [str(edit.file) for edit in change.edits],
        "diff": change.diff(),
        "addresses": [{"nic": nic, "old": old, "new": new} for nic, old, new in change.addresses()],
    }


def _steps(fabric: Path, device: str, is_switch: bool) -> Sequence[str]:
    """Return how the new hardware is put into service."""
    file = shlex.quote(str(fabric))
    generate = f"ailb-gen generate {file} -o ARTIFACTS"
    deploy = f"ailb-gen deploy {file} ARTIFACTS --limit {device}"
    if not is_switch:
        return generate, deploy
    return (
        f"boot it with a day-0 configuration, such as by ZTP: ailb-gen export ztp {file} --ssh-key FILE -o DIR",
        generate,
        "compare the fingerprint of its host key with its console, and remove the old key from known_hosts",
        f"{deploy} --accept-new-hostkeys",
    )
