"""`ailb-gen lab`: a fabric in network namespaces: start it, check it, go into its devices, end it."""

from __future__ import annotations

import json
import os
import time
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from ailb_gen.cli import complete, lab_state, options
from ailb_gen.cli.console import echo, echo_wrapped
from ailb_gen.cli.live import Live, Piece, progress, wanted
from ailb_gen.cli.reports import finding_targets
from ailb_gen.cli.validate import conclude
from ailb_gen.cli.verb import Verb, Verbs
from ailb_gen.errors import UsageError
from ailb_gen.paint import Style
from ailb_gen.paths import real
from ailb_gen.wording import counted, some

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from ailb_gen.lab.daemon import Ready
    from ailb_gen.network.fabric import Network

app = typer.Typer(
    cls=Verbs, name="lab", help="Run a fabric in network namespaces: real kernels, real BGP.", no_args_is_help=True
)
# So many things that are missing are worth a line each.
MOST = 10
MISSING, INVENTORY = "missing: ", "inventory: "
HOSTS = Annotated[
    Literal["auto", "netplan", "script"],
    typer.Option("--hosts", help="How servers are configured: netplan and networkd, or ailb-net."),
]

CHECKED_FABRIC = Annotated[
    Path | None, typer.Argument(help="The fabric file; default: the one the lab was started from.", metavar="FABRIC")
]
CHECKED_ARTIFACTS = Annotated[
    Path | None, typer.Argument(help="The directory of generated files; default: the same.", metavar="ARTIFACTS")
]
ROUNDS = Annotated[
    int | None,
    typer.Option(
        "--rounds",
        min=0,
        max=1024,
        help=options.ROUNDS_HELP,
        show_default="1, above 32 switches 0",
    ),
]
TRACES = Annotated[int, typer.Option("--traces", min=0, max=1_000_000, help="Trace at most this many queue pairs.")]
DOUBLES = Annotated[
    int | None,
    typer.Option("--doubles", min=0, max=1024, help="Double failures, a sample; default: 2 with --faults, else 0."),
]
FAULTS = Annotated[
    bool | None,
    typer.Option(
        "--faults/--no-faults",
        help="Also let links lose packets in one direction and flap, and colors change; default: with rounds.",
    ),
]


@app.command("up", cls=Verb)
def up(
    fabric: options.FABRIC,
    artifacts: options.ARTIFACTS,
    name: Annotated[
        str | None, typer.Option("--lab", help=options.LAB_HELP, metavar="NAME", show_default="the fabric's")
    ] = None,
    fresh: Annotated[bool, typer.Option("--fresh", help="Leave the switches unconfigured, to deploy to them.")] = False,
    inventory: options.WRITE_INVENTORY = None,
    base_port: options.BASE_PORT = 0,
    gnmi_port: options.GNMI_PORT = None,
    hosts: HOSTS = "auto",
    user: options.USER = "admin",
    minute: options.MINUTE = 60.0,
    as_json: options.JSON = False,
) -> None:
    """Bring up a fabric on this machine.

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
    ready = to_background(folder, LAB, typer.echo if as_json else _tell)
    with locked(folder, LAB) as note:
        from ailb_gen.lab.daemon import Start, run

        def announce(found: Ready) -> None:
            note(found.lab.line())
            took_s = time.monotonic() - began
            ready(_json(found, network, took_s) if as_json else "\n".join(_announced(found, network, took_s)))

        with _steps() as step:
            run(Start(lab, base_port, user, minute, gnmi_port=gnmi_port), network, announce, step)


def _json(found: Ready, network: Network, took_s: float) -> str:
    from ailb_gen.emulator.source import GNMI_CA

    lab = found.lab
    body = {"lab": lab.name, "inventory": lab.inventory, "hosts": lab.hosts, "took_s": round(took_s, 1)}
    sizes = {"switches": len(network.switches), "servers": len(network.hosts), "links": len(network.links)}
    gnmi = {"gnmi": lab.gnmi, "gnmi_ca": str(Path(lab.inventory) / GNMI_CA)} if lab.gnmi else {}
    return json.dumps({**body, **sizes, **gnmi, "note": found.note, "missing": [*found.missing]})


def _announced(found: Ready, network: Network, took_s: float) -> Iterator[str]:
    lab = found.lab
    switches, servers = counted(len(network.switches), "switch"), counted(len(network.hosts), "server")
    sizes = f"{switches}, {servers} ({lab.hosts}), {counted(len(network.links), 'link')}"
    yield f"the lab {lab.name} is up after {took_s:.1f} s: {sizes}"
    yield f"{INVENTORY}{lab.inventory}"
    if lab.gnmi:
        yield f"gNMI: {some(f'{name} port {port}' for name, port in lab.gnmi.items())}"
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


@app.command("down", cls=Verb)
def down(
    name: Annotated[
        str | None,
        typer.Argument(help="The lab; default: the only one.", metavar="NAME", autocompletion=complete.lab),
    ] = None,
    option: options.LAB = None,
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


@app.command("shell", cls=Verb)
def shell(device: options.LAB_DEVICE, name: options.LAB = None) -> None:
    """Open a shell in a device."""
    _execute(device, name, [os.environ.get("SHELL", "/bin/sh")])


@app.command("exec", cls=Verb, context_settings={"ignore_unknown_options": True})
def execute(
    device: options.LAB_DEVICE,
    command: Annotated[list[str], typer.Argument(help="The command, after --.", metavar="COMMAND")],
    name: options.LAB = None,
) -> None:
    """Run a command in a device, with its exit code."""
    _execute(device, name, command)


def _execute(device: str, name: str | None, words: list[str]) -> None:
    from ailb_gen.lab.devices import execute_in
    from ailb_gen.lab.registry import enter

    lab, made = enter(name)
    raise typer.Exit(execute_in(lab, made, device, words))


app.command("status", cls=Verb)(lab_state.status)


@app.command("check", cls=Verb)
def check(
    fabric: CHECKED_FABRIC = None,
    artifacts: CHECKED_ARTIFACTS = None,
    name: options.LAB = None,
    checks: options.CHECKS = None,
    limit: options.LIMIT = None,
    fail_on: options.FAIL_ON = "error",
    waivers: options.WAIVERS = None,
    reports: options.REPORTS = None,
    as_json: options.JSON = False,
    everything: options.ALL = False,
    seed: options.SEED = 1,
    rounds: ROUNDS = None,
    doubles: DOUBLES = None,
    faults: FAULTS = None,
    traces: TRACES = 1000,
) -> None:
    """Check the routes and packets of a lab.

    Compares its kernels and BIRD with the intent, and with this program's own model. In each round every leaf loses one
    uplink.

    Exit codes: 0 pass, 1 findings, 2 bad input, 3 the environment failed.
    """
    from ailb_gen.api.check_lab import check_lab
    from ailb_gen.lab.registry import find

    if fabric is not None and artifacts is None:
        raise UsageError("ARTIFACTS is missing: name both, FABRIC and ARTIFACTS, or none of them")
    lab = find(name)
    inputs = [fabric or Path(lab.fabric), artifacts or Path(lab.artifacts), waivers]
    where = finding_targets(reports, as_json, inputs)
    report = check_lab(
        lab.name,
        fabric,
        artifacts,
        checks=checks or (),
        limit=limit or (),
        fail_on=fail_on,
        waivers=waivers,
        seed=seed,
        rounds=rounds,
        doubles=doubles,
        faults=faults,
        traces=traces,
        progress=progress,
    )
    conclude(report, where, everything)


app.command("fail", cls=Verb)(lab_state.fail)
app.command("repair", cls=Verb)(lab_state.repair)
app.command("traffic", cls=Verb)(lab_state.traffic)
app.command("capture", cls=Verb)(lab_state.capture)
