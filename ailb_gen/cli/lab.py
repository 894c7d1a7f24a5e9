"""`ailb-gen lab`: a fabric in network namespaces: start it, look at it, go into its devices, end it."""

from __future__ import annotations

import os
import time
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from ailb_gen.cli import complete, lab_check, lab_state, lab_traffic
from ailb_gen.cli.console import echo, echo_wrapped
from ailb_gen.cli.fleet import ARTIFACTS, FABRIC
from ailb_gen.cli.lab_state import NAME
from ailb_gen.errors import UsageError
from ailb_gen.paint import Style
from ailb_gen.paths import real

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from ailb_gen.lab.daemon import Ready
    from ailb_gen.network.fabric import Network

app = typer.Typer(
    name="lab",
    help="Run a fabric in network namespaces: real kernels, real BGP.",
    no_args_is_help=True,
    rich_markup_mode=None,
)
DEVICE = Annotated[
    str, typer.Argument(help="A switch or a server.", metavar="DEVICE", autocompletion=complete.lab_device)
]
# So many things that are missing are worth a line each.
MOST = 10
MISSING, INVENTORY = "missing: ", "inventory: "
HOSTS = Annotated[
    Literal["auto", "netplan", "script"],
    typer.Option("--hosts", help="How servers are configured: netplan and networkd, or ailb-net."),
]


@app.command("up")
def up(
    fabric: FABRIC,
    artifacts: ARTIFACTS,
    name: Annotated[str | None, typer.Option("--lab", help="Name of the lab; default: the fabric's.")] = None,
    fresh: Annotated[bool, typer.Option("--fresh", help="Leave the switches unconfigured, to deploy to them.")] = False,
    inventory: Annotated[
        Path | None,
        typer.Option("-i", "--inventory", help="Write the inventory of the devices to this directory.", metavar="DIR"),
    ] = None,
    base_port: Annotated[int, typer.Option(min=0, max=65535, help="First port on 127.0.0.1; 0: any free ports.")] = 0,
    hosts: HOSTS = "auto",
    user: Annotated[str, typer.Option(help="Login name on the switches.")] = "admin",
    minute: Annotated[
        float, typer.Option("--minute", min=0.01, max=3600, help="Length of a minute of commit confirmed, in seconds.")
    ] = 60.0,
) -> None:
    """Bring a fabric up, on this machine alone.

    A network namespace per device, BIRD on every switch, and NETCONF in front.
    """
    began = time.monotonic()
    from ailb_gen.api.inputs import load
    from ailb_gen.background import locked, to_background
    from ailb_gen.lab.namespaces import require
    from ailb_gen.lab.registry import LAB, Lab, directory
    from ailb_gen.network.read import network_of

    require()
    intent = load(fabric)
    folder = directory(name or intent.fabric.name)
    lab = Lab(
        folder.name,
        fabric=str(real(fabric)),
        artifacts=str(real(artifacts)),
        inventory=str(real(inventory or folder / "inventory")),
        address="127.0.0.1",
        hosts=hosts,
        fresh=fresh,
    )
    network = network_of(artifacts)
    ready = to_background(folder, LAB, _tell)
    with locked(folder, LAB) as note:
        from ailb_gen.lab.daemon import Start, run

        def announce(found: Ready) -> None:
            note(found.lab.line())
            ready("\n".join(_announced(found, network, time.monotonic() - began)))

        with _steps() as step:
            run(Start(lab, base_port, user, minute), network, announce, step)


def _announced(found: Ready, network: Network, took_s: float) -> Iterator[str]:
    """Yield the lines that say what came up, and what did not."""
    lab = found.lab
    sizes = f"{len(network.switches)} switches, {len(network.hosts)} servers ({lab.hosts}), {len(network.links)} links"
    yield f"the lab {lab.name} is up after {took_s:.1f} s: {sizes}"
    yield f"{INVENTORY}{lab.inventory}"
    if found.note:
        yield f"note: {found.note}"
    yield from (f"{MISSING}{text}" for text in found.missing[:MOST])
    if len(found.missing) > MOST:
        yield f"{MISSING}{len(found.missing) - MOST} more; ailb-gen lab check lists all"


def _tell(text: str) -> None:
    """Print what came up; a line with a path stays one, so that it can be copied."""
    for line in text.split("\n"):
        (echo if line.startswith(INVENTORY) else echo_wrapped)((line, Style.FAIL if line.startswith(MISSING) else None))


@contextmanager
def _steps() -> Iterator[Callable[[str], None]]:
    """Yield what shows the current step on a terminal, until an empty one; without a thread, for processes follow."""
    from ailb_gen.cli.live import Live, Piece, wanted

    step = ""
    with ExitStack() as shown:

        def line(width: int) -> list[Piece]:
            return [(f"starting: {step}", None)]

        live: Live | None = None

        def tell(name: str) -> None:
            nonlocal step, live
            step = name
            if not name:
                shown.close()
            elif live is not None:
                live.draw()
            elif wanted():
                # Not before: the process that starts the lab is another one.
                live = shown.enter_context(Live(line, ticking=False))

        yield tell


@app.command("down")
def down(
    name: Annotated[
        str | None,
        typer.Argument(help="Which lab; the only one by default.", metavar="NAME", autocompletion=complete.lab),
    ] = None,
    option: NAME = None,
) -> None:
    """End a lab, and remove what it has left."""
    from ailb_gen.background import stop
    from ailb_gen.lab.neighbor_table import release
    from ailb_gen.lab.registry import LAB, directory, forget, labs

    name = option or name
    # What labs have left that were killed.
    release()
    if name is None:
        known = [lab.name for lab in labs()]
        if len(known) > 1:
            raise UsageError(f"{len(known)} labs run; name one: {', '.join(known)}")
        if not known:
            typer.echo("no lab runs")
            return
        name = known[0]
    folder = directory(name)
    ended = folder.exists() and stop(folder, LAB)
    release(folder)
    forget(name)
    typer.echo(f"the lab {name} has ended" if ended else f"no lab {name} runs")


@app.command("shell")
def shell(device: DEVICE, name: NAME = None) -> None:
    """Open a shell in a device."""
    _execute(device, name, [os.environ.get("SHELL", "/bin/sh")])


@app.command("exec", context_settings={"ignore_unknown_options": True})
def execute(
    device: DEVICE,
    command: Annotated[list[str], typer.Argument(help="The command, after --.", metavar="COMMAND")],
    name: NAME = None,
) -> None:
    """Run a command in a device, with its exit code."""
    _execute(device, name, command)


def _execute(device: str, name: str | None, words: list[str]) -> None:
    from ailb_gen.lab.devices import execute_in
    from ailb_gen.lab.registry import enter

    lab, made = enter(name)
    raise typer.Exit(execute_in(lab, made, device, words))


app.command("status")(lab_state.status)
app.command("check")(lab_check.check)
app.command("fail")(lab_state.fail)
app.command("repair")(lab_state.repair)
app.command("traffic")(lab_traffic.traffic)
app.command("capture")(lab_traffic.capture)
