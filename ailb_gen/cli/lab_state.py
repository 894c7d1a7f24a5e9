"""`ailb-gen lab status`, `fail`, `repair`, `traffic` and `capture`: look at a running lab, break it, load it."""

from __future__ import annotations

import time
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ailb_gen.cli import complete
from ailb_gen.cli.console import echo_json, echo_table, echo_wrapped
from ailb_gen.cli.options import JSON, LAB, LAB_DEVICE, SEED, output_option
from ailb_gen.cli.reports import check_place
from ailb_gen.cli.visible import painter, show
from ailb_gen.errors import OutputError, UsageError
from ailb_gen.paint import Style
from ailb_gen.paths import real
from ailb_gen.wording import counted

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ailb_gen.lab.faults import CableFault
    from ailb_gen.lab.plan import LabPlan
    from ailb_gen.lab.traffic.model import TrafficLoad, TrafficResult
    from ailb_gen.network.fabric import Network

COUNT_HELP = "Packets to send per queue pair, or to capture."
WAIT = Annotated[bool, typer.Option("--wait/--no-wait", help="Wait until sessions and routes have settled.")]
# How long sessions and routes may take to settle. Seconds.
PATIENCE_S = 60.0
PINNED, ECMP = "pinned", "ECMP"
COLUMNS = ("switch", "role", "sessions", "routes", "hidden", "NETCONF")


def status(name: LAB = None, as_json: JSON = False) -> None:
    """Show switches, sessions, routes, and what has failed."""
    from ailb_gen.lab.faults import faults_of
    from ailb_gen.lab.registry import enter

    lab, plan = enter(name)
    rows = [_row(plan, switch, lab.ports) for switch in plan.switches]
    failed = [str(fault) for fault in faults_of(plan)]
    ended = [str(row["switch"]) for row in rows if row.pop("ended")]
    if as_json:
        found = {
            "lab": lab.name,
            "inventory": lab.inventory,
            "servers": list(plan.servers),
            "failed": failed,
            "ended": ended,
        }
        echo_json({**found, "switches": rows})
        return
    cells = [
        (
            *(row["switch"], row["role"], f"{row['up']:,} of {row['sessions']:,}"),
            *(f"{row['routes']:,}", f"{row['hidden']:,}", row["port"]),
        )
        for row in rows
    ]

    def style(row: int, column: int) -> Style | None:
        """Return the style of a cell: sessions that are down, routes that are hidden."""
        one = rows[row]
        worst = {"sessions": (one["up"] != one["sessions"], Style.FAIL), "hidden": (one["hidden"] != 0, Style.WARN)}
        wrong, found = worst.get(COLUMNS[column], (False, Style.FAIL))
        return found if wrong else None

    sizes = f"{counted(len(rows), 'switch')}, {counted(len(plan.servers), 'server')}"
    echo_table(f"{lab.name}: {sizes}", COLUMNS, cells, style)
    typer.echo(f"inventory: {lab.inventory}")
    echo_wrapped(*((f"failed: {line}", Style.FAIL) for line in failed))
    if ended:
        text = f"ended: BIRD of {', '.join(ended)}; start the lab again: ailb-gen lab down {lab.name}, then lab up"
        echo_wrapped((text, Style.FAIL))


def _row(plan: LabPlan, name: str, ports: dict[str, int]) -> dict[str, object]:
    """Return what one switch does; without a daemon, because it is not configured or that has ended, no sessions."""
    from ailb_gen.lab.bird.control import NoDaemonError
    from ailb_gen.lab.bird.parse import sessions
    from ailb_gen.lab.routers import bird_of

    bird, ended = bird_of(name), False
    try:
        found = list(sessions(bird).values())
    except NoDaemonError:
        # One that was killed leaves its socket.
        found, ended = [], bird.path.exists()
    return {
        "switch": name,
        "role": plan.switches[name].role,
        "up": sum(one.established for one in found),
        "sessions": len(found),
        "routes": sum(one.imported for one in found),
        "hidden": sum(one.hidden for one in found),
        "port": ports[name],
        "ended": ended,
    }


def fail(
    what: Annotated[
        str,
        typer.Argument(
            help="DEVICE:PORT, DEVICE:DEVICE or a device.", metavar="LINK", autocompletion=complete.lab_device
        ),
    ],
    silent: Annotated[bool, typer.Option("--silent", help="Drop every packet but keep the carrier.")] = False,
    one_way: Annotated[
        bool,
        typer.Option("--one-way", help="Drop only what the device sends that LINK begins with; keep the carrier."),
    ] = False,
    wait: WAIT = True,
    as_json: JSON = False,
    name: LAB = None,
) -> None:
    """Let a link fail, or all links of a device."""
    from ailb_gen.lab import faults
    from ailb_gen.lab.namespaces import require
    from ailb_gen.lab.registry import enter

    if silent or one_way:
        require(("nft",))
    _, plan = enter(name)
    if one_way:
        found = faults.fail_one_way(plan, what)
    else:
        found = faults.fail(plan, what, faults.FaultKind.SILENT if silent else faults.FaultKind.CARRIER)
    _tell("failed", found, plan if wait else None, as_json)


def repair(
    what: Annotated[
        str | None,
        typer.Argument(help="As for fail; default: everything.", metavar="LINK", autocompletion=complete.lab_device),
    ] = None,
    wait: WAIT = True,
    as_json: JSON = False,
    name: LAB = None,
) -> None:
    """Repair what has failed."""
    from ailb_gen.lab import faults
    from ailb_gen.lab.registry import enter

    _, plan = enter(name)
    repaired = faults.repair(plan, what)
    if repaired or as_json:
        _tell("repaired", repaired, plan if wait and repaired else None, as_json)
    else:
        typer.echo("nothing has failed")


def _tell(verb: str, found: Sequence[CableFault], plan: LabPlan | None, as_json: bool) -> None:
    """Print the faults that were injected or repaired; of a plan, also when its sessions and routes have settled."""
    from ailb_gen.lab.convergence import wait

    for fault in () if as_json else found:
        typer.echo(f"{verb}: {fault}")
    began = time.monotonic()
    missing = [] if plan is None else list(wait(plan, PATIENCE_S))
    settled_s = None if plan is None else round(time.monotonic() - began, 1)
    if as_json:
        body = {verb: [str(fault) for fault in found], "settled_s": settled_s, "down": missing}
        echo_json(body)
    elif settled_s is not None:
        typer.echo(f"settled after {settled_s:.1f} s")
        echo_wrapped(*((f"down: {line}", Style.FAIL) for line in missing))


def traffic(
    ecmp: Annotated[bool, typer.Option("--ecmp", help="Hash flows over all uplinks, as without colors.")] = False,
    compare: Annotated[bool, typer.Option("--compare", help="Send both ways and compare them.")] = False,
    qps: Annotated[int, typer.Option(min=0, help="Queue pairs per pair of NICs; 0: one per address.")] = 0,
    rate: Annotated[
        float | None, typer.Option(help="Packets per second and queue pair; default: 1000, at most 40000 in all.")
    ] = None,
    count: Annotated[
        int | None,
        typer.Option("--count", min=1, help=COUNT_HELP, show_default="those of one second"),
    ] = None,
    size: Annotated[int, typer.Option(help="Payload per packet in bytes.")] = 1024,
    seed: SEED = 1,
    as_json: JSON = False,
    name: LAB = None,
) -> None:
    """Send RoCE-like traffic, show what uplinks carry.

    Every NIC sends to one of another leaf: UDP to port 4791, a flow per queue
    pair. Shows the bytes of every uplink, loss and reordering.
    """
    from ailb_gen.lab.registry import enter, find
    from ailb_gen.lab.traffic.flows import flows
    from ailb_gen.lab.traffic.model import usual_load
    from ailb_gen.lab.traffic.text import as_json as json_text
    from ailb_gen.lab.traffic.text import report
    from ailb_gen.network.read import network_of

    # What is wrong with an option is said before the lab is looked for.
    usual_load(1, rate, count, size)
    # Read before the lab is entered: its /run is another.
    network = network_of(Path(find(name).artifacts))
    _, plan = enter(name)
    ways = (PINNED, ECMP) if compare else (ECMP,) if ecmp else (PINNED,)
    load = usual_load(len(flows(plan, network.hosts, qps)), rate, count, size)
    results = {way: _measured(plan, network, load, qps, seed, way == ECMP) for way in ways}
    show(json_text(results) if as_json else report(results, painter()))


def _measured(plan: LabPlan, network: Network, load: TrafficLoad, qps: int, seed: int, hashed: bool) -> TrafficResult:
    from ailb_gen.lab.traffic.ecmp import by_ecmp, ecmp
    from ailb_gen.lab.traffic.flows import flows
    from ailb_gen.lab.traffic.run import measure

    chosen = flows(plan, network.hosts, qps, hashed, seed)
    with ecmp(plan) if hashed else nullcontext():
        return measure(plan, chosen, by_ecmp(load) if hashed else load)


def capture(
    device: LAB_DEVICE,
    port: Annotated[str, typer.Argument(help="A port, an IRB or a NIC.", metavar="PORT")],
    output: Annotated[Path, output_option("capture", "FILE", "--out")],
    count: Annotated[int, typer.Option("--count", min=0, help=COUNT_HELP, show_default="no limit")] = 0,
    seconds: Annotated[float, typer.Option(min=0, help="Stop after this many seconds; 0: no limit.")] = 0.0,
    name: LAB = None,
) -> None:
    """Write the packets of a port to a pcap file, until Ctrl-C."""
    from ailb_gen.lab import capture as packets
    from ailb_gen.lab.devices import link_of
    from ailb_gen.lab.registry import enter

    output = real(output)
    if output.is_dir():
        raise UsageError(f"{output}: this is a directory; name a file")
    lab, plan = enter(name)
    check_place("-o", output, [Path(lab.fabric), Path(lab.artifacts)])
    link = link_of(plan, device, port)

    def started() -> None:
        typer.echo(f"capturing {device} {port} ({link}); Ctrl-C stops it", err=True)

    try:
        with output.open("wb") as file:
            found = packets.capture(device, link, file, count, seconds, started)
    except OSError as error:
        raise OutputError(f"{output}: cannot be written: {error.strerror}") from error
    lost = f", {found.dropped:,} dropped" if found.dropped else ""
    typer.echo(f"{output}: {counted(found.packets, 'packet')}{lost}")
