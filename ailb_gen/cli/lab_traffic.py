"""`ailb-gen lab traffic` and `capture`: packets through a lab, counted or written to a file."""

from __future__ import annotations

from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ailb_gen.cli import complete
from ailb_gen.cli.lab_state import NAME
from ailb_gen.cli.reports import check_place
from ailb_gen.cli.visible import painter, show
from ailb_gen.errors import OutputError, UsageError
from ailb_gen.paths import real

if TYPE_CHECKING:
    from ailb_gen.lab.plan import LabPlan
    from ailb_gen.lab.traffic.model import TrafficLoad, TrafficResult
    from ailb_gen.network.fabric import Network

PINNED, ECMP = "pinned", "ECMP"


def traffic(
    ecmp: Annotated[bool, typer.Option("--ecmp", help="Hash flows over all uplinks, as without colors.")] = False,
    compare: Annotated[bool, typer.Option("--compare", help="Send both ways and compare them.")] = False,
    qps: Annotated[int, typer.Option(min=0, help="Queue pairs per pair of NICs; 0: one per address.")] = 0,
    rate: Annotated[
        float | None, typer.Option(help="Packets per second and queue pair; default: 1000, at most 40000 in all.")
    ] = None,
    count: Annotated[
        int | None, typer.Option(min=1, help="Packets per queue pair; default: those of one second.")
    ] = None,
    size: Annotated[int, typer.Option(help="Payload per packet in bytes.")] = 1024,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the source ports of --ecmp.")] = 1,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
    name: NAME = None,
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
    device: Annotated[
        str, typer.Argument(help="A switch or a server.", metavar="DEVICE", autocompletion=complete.lab_device)
    ],
    port: Annotated[str, typer.Argument(help="A port, an IRB or a NIC.", metavar="PORT")],
    output: Annotated[Path, typer.Option("-o", "--output", help="The pcap file.", metavar="FILE")],
    count: Annotated[int, typer.Option(min=0, help="Stop after this many packets; 0: no limit.")] = 0,
    seconds: Annotated[float, typer.Option(min=0, help="Stop after this many seconds; 0: no limit.")] = 0.0,
    name: NAME = None,
) -> None:
    """Write the packets of a port to a pcap file, until Ctrl-C."""
    from ailb_gen.lab import capture as packets
    from ailb_gen.lab.devices import link_of
    from ailb_gen.lab.registry import enter
    from ailb_gen.wording import counted

    output = real(output)
    if output.is_dir():
        raise UsageError(f"{output}: this is a directory; name a file")
    lab, plan = enter(name)
    check_place("-o", output, [Path(lab.fabric), Path(lab.artifacts)])
    link = link_of(plan, device, port)

    def started() -> None:
        typer.echo(f"capturing {device} {port} ({link}); Ctrl-C ends", err=True)

    try:
        with output.open("wb") as file:
            found = packets.capture(device, link, file, count, seconds, started)
    except OSError as error:
        raise OutputError(f"{output}: cannot be written: {error.strerror}") from error
    lost = f", {found.dropped} were too fast" if found.dropped else ""
    typer.echo(f"{output}: {counted(found.packets, 'packet')}{lost}")
