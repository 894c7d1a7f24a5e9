"""`ailb-gen emulate`: a fabric of Junos-like devices on loopback ports."""

from __future__ import annotations

import os
import signal
import threading
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Annotated

import typer

from ailb_gen.cli.console import warn
from ailb_gen.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ailb_gen.emulator.fleet import Fleet

PASSWORD = "AILB_PASSWORD"  # noqa: S105 - the name of a variable
# From so many devices on, routes may be a little behind the configurations: computing them takes seconds.
MANY, LAG_S = 64, 2.0


def emulate(
    source: Annotated[
        Path, typer.Argument(help="A directory that 'generate' wrote, or a fabric file.", metavar="SOURCE")
    ],
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
        Path | None, typer.Option("--yang", help="Juniper's YANG models; commits are checked by them.", metavar="DIR")
    ] = None,
    fault: Annotated[
        list[str] | None,
        typer.Option("--fault", help="What goes wrong: DEVICE=KIND@PHASE[*COUNT][=SECONDS].", metavar="FAULT"),
    ] = None,
    minute: Annotated[
        float, typer.Option("--minute", min=0.01, max=3600, help="Seconds that a minute of commit confirmed lasts.")
    ] = 60.0,
    user: Annotated[str, typer.Option("--user", help=f"Who may log in; the password is in {PASSWORD}.")] = "admin",
) -> None:
    """Emulate the switches of a fabric: NETCONF over SSH, a port each, until interrupted.

    Without a password in the environment one is made and kept in the inventory.
    """
    from ailb_gen.emulator.fleet import Fleet
    from ailb_gen.emulator.server import Login
    from ailb_gen.emulator.source import check_inventory, password_of, ready_line, servers, specs, write_inventory
    from ailb_gen.emulator.world import World
    from ailb_gen.junos.schema import load_schema

    password, made = password_of(os.environ, PASSWORD)
    if made and inventory is None:
        raise UsageError(f"nobody could log in: set {PASSWORD}, or say with --inventory where a new password goes")
    if inventory is not None:
        check_inventory(inventory)
    with _artifacts(source) as root:
        found = specs(root, user, loaded)
        world = World.read(root, LAG_S if len(found) > MANY else 0.0)
        others = servers(root)
    schema = load_schema(yang) if yang is not None else None
    fleet = Fleet(found, world, Login(user, password), state, base_port, host, schema, minute)
    _add_faults(fleet, fault or [])
    with fleet:
        if inventory is not None:
            write_inventory(inventory, fleet, others, user, PASSWORD, password if made else "")
        typer.echo(ready_line(fleet, inventory))
        _wait()


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
    from ailb_gen.render.generate import plan, write_plan

    design, warnings = build(load(fabric_file(source)))
    warn(warnings)
    with TemporaryDirectory(prefix="ailb-gen-") as name:
        root = Path(name) / "artifacts"
        write_plan(plan(design, root, RenderOptions("curly", None)))
        yield root


def _add_faults(fleet: Fleet, texts: Sequence[str]) -> None:
    """Switch faults on. Raises UsageError."""
    from ailb_gen.emulator.faults import parse_fault
    from ailb_gen.intent.messages import did_you_mean

    for text in texts:
        name, equals, form = text.partition("=")
        if not equals:
            raise UsageError(f"--fault {text!r}: write DEVICE=KIND@PHASE, as leaf1=error@commit")
        if name not in fleet.devices:
            hint = did_you_mean(name, fleet.devices) or f"there are {', '.join(list(fleet.devices)[:8])}"
            raise UsageError(f"--fault {text!r}: there is no switch {name!r}; {hint}")
        fleet.devices[name].faults.add(parse_fault(form))


def _wait() -> None:
    """Return at Ctrl-C or SIGTERM."""
    stop = threading.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: stop.set())
    stop.wait()
