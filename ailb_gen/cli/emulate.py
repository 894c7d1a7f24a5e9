"""`ailb-gen emulate`: a fabric of Junos-like devices on loopback ports."""

from __future__ import annotations

import os
import signal
import threading
from contextlib import ExitStack, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Annotated

import typer

from ailb_gen.cli.console import warn
from ailb_gen.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ailb_gen.emulator.fleet import Fleet
    from ailb_gen.emulator.server import Login

PASSWORD = "AILB_PASSWORD"  # noqa: S105 - the name of a variable
# From so many devices on, routes may be a little behind the configurations: computing them takes seconds.
MANY, LAG_S = 64, 2.0


def emulate(
    source: Annotated[
        Path | None, typer.Argument(help="A directory that 'generate' wrote, or a fabric file.", metavar="SOURCE")
    ] = None,
    base_port: Annotated[
        int, typer.Option("--base-port", min=1, max=65535, help="Port of the first device; the others follow.")
    ] = 20830,
    host: Annotated[str, typer.Option("--host", help="Address to listen on.")] = "127.0.0.1",
    state: Annotated[
        Path | None,
        typer.Option("--state", help="Where configurations and host keys survive; else they do not.", metavar="DIR"),
    ] = None,
    inventory: Annotated[
        Path | None, typer.Option("--inventory", help="Where to write the inventory to reach it.", metavar="DIR")
    ] = None,
    loaded: Annotated[
        bool, typer.Option("--loaded/--empty", help="Start with the artifacts, or only reachable.")
    ] = False,
    yang: Annotated[
        Path | None,
        typer.Option("--yang", help="Juniper's YANG models; loads and commits are checked by them.", metavar="DIR"),
    ] = None,
    fault: Annotated[
        list[str] | None,
        typer.Option("--fault", help="What goes wrong: DEVICE=KIND@PHASE[*COUNT][=SECONDS].", metavar="FAULT"),
    ] = None,
    minute: Annotated[
        float, typer.Option("--minute", min=0.01, max=3600, help="Seconds that a minute of commit confirmed lasts.")
    ] = 60.0,
    user: Annotated[str, typer.Option("--user", help=f"Who may log in; the password is in {PASSWORD}.")] = "admin",
    authorized_keys: Annotated[
        Path | None,
        typer.Option("--authorized-keys", help="Public keys that let the user in as well, one a line.", metavar="FILE"),
    ] = None,
    daemon: Annotated[
        bool, typer.Option("--daemon", help="Return as soon as every device can be reached; they run on.")
    ] = False,
    stop: Annotated[
        Path | None,
        typer.Option("--stop", help="End the emulator whose --inventory or --state this is.", metavar="DIR"),
    ] = None,
) -> None:
    """Emulate the switches of a fabric: NETCONF and a command line over SSH, a port each, until interrupted.

    Without a password in the environment one is made and kept in the inventory.
    """
    from ailb_gen.emulator import running

    if stop is not None:
        ended = running.stop(stop)
        typer.echo(f"{stop}: the emulator has ended" if ended else f"{stop}: no emulator runs there")
        return
    if source is None:
        raise UsageError("name a directory that 'ailb-gen generate' wrote, or a fabric file")
    folders = [folder for folder in (inventory, state) if folder is not None]
    if daemon and not folders:
        raise UsageError("--daemon needs --inventory DIR or --state DIR, by which --stop finds the emulator")
    say = running.to_background(folders[0].resolve()) if daemon else typer.echo
    from ailb_gen.emulator.fabric import EmulatedFabric
    from ailb_gen.emulator.fleet import Fleet
    from ailb_gen.emulator.source import ready_line, servers, specs, write_inventory
    from ailb_gen.junos.schema import load_schema

    login, kept = _login(user, inventory, authorized_keys)
    with ExitStack() as stack:
        notes = [stack.enter_context(running.alone(folder)) for folder in dict.fromkeys(folders)]
        with _artifacts(source) as root:
            found = specs(root, user, loaded)
            fabric = EmulatedFabric.read(root, LAG_S if len(found) > MANY else 0.0)
            others = servers(root)
        schema = load_schema(yang) if yang is not None else None
        fleet = Fleet(found, fabric, login, state, base_port, host, schema, minute)
        _add_faults(fleet, fault or [])
        stopping = _stopping()
        with fleet:
            if inventory is not None:
                write_inventory(inventory, fleet, others, user, PASSWORD, kept)
            line = ready_line(fleet, inventory)
            for note in notes:
                note(line)
            say(line)
            stopping.wait()


def _login(user: str, inventory: Path | None, authorized_keys: Path | None) -> tuple[Login, str]:
    """Return who may log in, and a new password that the inventory has to keep. Raises UsageError, OutputError."""
    from ailb_gen.emulator.server import Login
    from ailb_gen.emulator.source import check_inventory, password_of, public_keys

    password, made = password_of(os.environ, PASSWORD)
    keys = public_keys(authorized_keys) if authorized_keys is not None else ()
    if inventory is not None:
        check_inventory(inventory)
    elif made and not keys:
        raise UsageError(f"nobody could log in: set {PASSWORD}, or say with --inventory where a new password goes")
    elif made:
        # Nobody could know it.
        password = ""
    return Login(user, password, keys), password if made else ""


@contextmanager
def _artifacts(source: Path) -> Iterator[Path]:
    """Give the artifact directory; of a fabric file, one that is made for it. Raises UsageError, IntentError."""
    if source.is_dir():
        yield source
        return
    from ailb_gen.cli.console import fabric_file
    from ailb_gen.design.build import build
    from ailb_gen.intent.load import load
    from ailb_gen.render.artifacts import RenderOptions
    from ailb_gen.render.generate import rendering, write_rendering

    design, warnings = build(load(fabric_file(source)))
    warn(warnings)
    with TemporaryDirectory(prefix="ailb-gen-") as name:
        root = Path(name) / "artifacts"
        write_rendering(rendering(design, root, RenderOptions("curly", None)))
        yield root


def _add_faults(fleet: Fleet, texts: Sequence[str]) -> None:
    """Switch faults on. Raises UsageError."""
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


def _stopping() -> threading.Event:
    """Return what is set by Ctrl-C, SIGTERM, or the end of the terminal."""
    stop = threading.Event()
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGQUIT, signal.SIGHUP):
        signal.signal(number, lambda *_: stop.set())
    return stop
