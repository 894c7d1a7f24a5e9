"""`ailb-gen emulate`: a fabric of Junos-like devices on loopback ports."""

from __future__ import annotations

import json
import os
import shlex
import sys
import threading
from contextlib import ExitStack, contextmanager
from functools import partial
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Annotated

import typer

from ailb_gen.cli import options
from ailb_gen.cli.console import echo_table, notify
from ailb_gen.errors import UsageError
from ailb_gen.paths import real
from ailb_gen.signals import Signals
from ailb_gen.wording import counted

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ailb_gen.emulator.fleet import Fleet
    from ailb_gen.emulator.gnmi.options import GnmiOptions
    from ailb_gen.emulator.host import FleetLogin
    from ailb_gen.emulator.traffic import LinkRate
    from ailb_gen.network.fabric import End

PASSWORD = "AILB_PASSWORD"  # noqa: S105 - the name of a variable
# From so many devices on, routes may be a little behind the configurations: computing them takes seconds.
MANY, LAG_S = 64, 2.0
# On a terminal, more switches are not listed one by one.
LISTED = 40


SOURCE = Annotated[
    Path | None,
    typer.Argument(
        help="The directory of generated files, or a fabric file.", metavar="SOURCE", envvar="AILB_ARTIFACTS"
    ),
]
ADDRESS = Annotated[str, typer.Option("--host", help="Address to listen on.")]
STATE = Annotated[Path | None, typer.Option("--state", help=options.STATE_HELP, metavar="DIR", show_default="none")]
LOADED = Annotated[
    bool, typer.Option("--loaded/--empty", help="Start with the generated files, or with management access only.")
]
YANG = Annotated[Path | None, typer.Option("--yang", help=options.YANG_HELP, metavar="DIR")]
FAULT = Annotated[
    list[str] | None,
    typer.Option("--fault", help="Inject a fault: DEVICE=KIND@PHASE[*COUNT][=SECONDS].", metavar="FAULT"),
]
KEYS = Annotated[
    Path | None,
    typer.Option("--authorized-keys", help="Public keys of the user, one per line.", metavar="FILE"),
]
TRAFFIC = Annotated[
    str | None,
    typer.Option(
        "--link-traffic",
        help="Count the packets of a collective (all-to-all, ring, permutation) at so much of a link's speed: ring=40.",
        metavar="PATTERN=PERCENT",
    ),
]
RATE = Annotated[
    list[str] | None,
    typer.Option(
        "--port-rate",
        help="Let a port send at this rate, and drop a percentage: DEVICE:PORT=SPEED[/PERCENT]; repeatable.",
        metavar="RATE",
    ),
]
DAEMON = Annotated[bool, typer.Option("--daemon", help="Run in the background; return when every device is reachable.")]
STOP = Annotated[
    Path | None, typer.Option("--stop", help="Stop the emulator that uses this --inventory or --state.", metavar="DIR")
]


def emulate(
    source: SOURCE = None,
    base_port: options.BASE_PORT = 20830,
    host: ADDRESS = "127.0.0.1",
    state: STATE = None,
    inventory: options.WRITE_INVENTORY = None,
    loaded: LOADED = False,
    yang: YANG = None,
    fault: FAULT = None,
    minute: options.MINUTE = 60.0,
    user: options.USER = "admin",
    authorized_keys: KEYS = None,
    gnmi_port: options.GNMI_PORT = None,
    gnmi_plain: options.GNMI_PLAIN = False,
    traffic: TRAFFIC = None,
    rate: RATE = None,
    daemon: DAEMON = False,
    stop: STOP = None,
    as_json: options.JSON = False,
) -> None:
    """Emulate the switches of a fabric, on a local port each.

    NETCONF and a command line over SSH, until interrupted.

    Without a password in the environment, a new one is kept in the inventory.
    """
    from ailb_gen import background

    if stop is not None:
        ended = background.stop(stop)
        typer.echo(f"{stop}: the emulator has stopped" if ended else f"{stop}: no emulator runs there")
        return
    folders = list(dict.fromkeys(folder for folder in (inventory, state) if folder is not None))
    root_or_file = _checked(source, daemon, folders)
    tell = partial(_tell, stop=folders[0] if daemon else None, as_json=as_json)
    announce = background.to_background(real(folders[0]), tell=tell) if daemon else tell
    from ailb_gen.emulator.fabric import EmulatedFabric
    from ailb_gen.emulator.fleet import Fleet
    from ailb_gen.emulator.source import entries, ready_line, servers, specs, unmanaged, write_inventory
    from ailb_gen.junos.schema import load_schema

    with _artifacts(root_or_file) as root:
        devices, others = specs(root, user, loaded), servers(root)
        fabric = EmulatedFabric.read(root, LAG_S if len(devices) > MANY else 0.0)
        fabric.send(_rates(root, traffic, rate or []))
    login, kept = _login(user, inventory, authorized_keys)
    gnmi = _gnmi(gnmi_port, gnmi_plain)
    with ExitStack() as stack:
        notes = [stack.enter_context(background.locked(folder)) for folder in folders]
        schema = load_schema(yang) if yang is not None else None
        fleet = Fleet(devices, fabric, login, state, base_port, host, schema, minute, gnmi)
        _add_faults(fleet, fault or [])
        stopping = threading.Event()
        stack.enter_context(Signals(lambda count: stopping.set()).handled())
        stack.enter_context(fleet)
        if inventory is not None:
            hosts = entries(fleet) | unmanaged(others)
            write_inventory(inventory, hosts, fleet.known_hosts(), user, PASSWORD, kept, gnmi_ca=fleet.gnmi_certificate)
        line = ready_line(fleet, inventory)
        for note in notes:
            note(line)
        announce(line)
        stopping.wait()


def _tell(line: str, stop: Path | None = None, as_json: bool = False) -> None:
    """Print that the devices are ready: a line of JSON, or a table on a terminal; `stop` ends what is in background."""
    if as_json or not sys.stdout.isatty():
        typer.echo(line)
        return
    ready = json.loads(line)
    gnmi = ready.get("gnmi", {})
    rows = [(name, port, *([gnmi[name]] if gnmi else [])) for name, port in ready["ports"].items()]
    head = ("switch", "port", *(["gNMI"] if gnmi else []))
    echo_table(f"{counted(len(rows), 'switch')} on {ready['address']}", head, rows[:LISTED])
    if len(rows) > LISTED:
        typer.echo(f"and {len(rows) - LISTED} more, up to port {rows[-1][1]}")
    if ready.get("gnmi_ca"):
        typer.echo(f"certificate of gNMI: {ready['gnmi_ca']}")
    if ready["inventory"]:
        typer.echo(f"inventory: {ready['inventory']}")
    typer.echo(f"stop it with: ailb-gen emulate --stop {shlex.quote(str(stop))}" if stop else "Ctrl-C stops it")


def _checked(source: Path | None, daemon: bool, folders: Sequence[Path]) -> Path:
    """Return the source. Raises UsageError if it, or a directory, is none, and for a daemon without a directory."""
    from ailb_gen.api.inputs import fabric_file

    if source is None:
        raise UsageError("name a directory that 'ailb-gen generate' wrote, or a fabric file")
    if not source.is_dir():
        fabric_file(source)
    for folder in folders:
        if folder.exists() and not folder.is_dir():
            raise UsageError(f"{folder}: not a directory; name the directory of --inventory or --state")
    if daemon and not folders:
        raise UsageError("--daemon needs --inventory DIR or --state DIR, by which --stop finds the emulator")
    return source


def _rates(root: Path, traffic: str | None, rates: Sequence[str]) -> dict[End, LinkRate]:
    """Return what ports send: those of a pattern, and single ones, which come before it. Raises UsageError."""
    from ailb_gen.emulator.rates import load_rates, parse_load, parse_rate

    single = dict(map(parse_rate, rates))
    return (load_rates(root, *parse_load(traffic)) if traffic is not None else {}) | single


def _gnmi(port: int | None, plain: bool) -> GnmiOptions | None:
    """Return how gNMI is answered, if at all. Raises UsageError, MissingExtraError."""
    from ailb_gen.emulator.gnmi.options import GnmiOptions

    if port is None:
        if plain:
            raise UsageError("--gnmi-plain needs --gnmi-port")
        return None
    # What is missing is told before any directory is made.
    import_module("ailb_gen.emulator.gnmi.listener")
    return GnmiOptions(port, plain)


def _login(user: str, inventory: Path | None, authorized_keys: Path | None) -> tuple[FleetLogin, str]:
    """Return who may log in, and a new password that the inventory has to keep. Raises UsageError, OutputError."""
    from ailb_gen.emulator.host import FleetLogin
    from ailb_gen.emulator.source import check_inventory, password_of, public_keys

    password, made = password_of(os.environ, PASSWORD)
    keys = public_keys(authorized_keys) if authorized_keys is not None else ()
    if inventory is not None:
        check_inventory(inventory)
    elif made and not keys:
        raise UsageError(f"no password: set {PASSWORD}, or name the --inventory in which a new one is kept")
    elif made:
        # Without a stored password no login is possible.
        password = ""
    return FleetLogin(user, password, keys), password if made else ""


@contextmanager
def _artifacts(source: Path) -> Iterator[Path]:
    """Yield the artifact directory; for a fabric file, a temporary one with its artifacts. Raises IntentError."""
    if source.is_dir():
        yield source
        return
    from ailb_gen.api.generate import generate

    with TemporaryDirectory(prefix="ailb-gen-") as name:
        root = Path(name) / "artifacts"
        generate(source, root, warn=notify)
        yield root


def _add_faults(fleet: Fleet, texts: Sequence[str]) -> None:
    from ailb_gen.emulator.faults import parse_fault
    from ailb_gen.wording import did_you_mean

    for text in texts:
        name, equals, form = text.partition("=")
        if not equals:
            raise UsageError(f"--fault {text!r}: write DEVICE=KIND@PHASE, as leaf1=error@commit")
        if name not in fleet.devices:
            hint = did_you_mean(name, fleet.devices) or f"there are {', '.join(list(fleet.devices)[:8])}"
            raise UsageError(f"--fault {text!r}: there is no switch {name!r}; {hint}")
        fleet.devices[name].faults.add(parse_fault(form))
