"""`ailb-gen accept`: whether a cluster can be handed over."""

from __future__ import annotations

from typing import Annotated, Literal

import typer

from ailb_gen.cli import fleet, options
from ailb_gen.cli.live import progress
from ailb_gen.cli.reports import finding_targets
from ailb_gen.cli.steady import steady
from ailb_gen.cli.validate import conclude

PING = Annotated[
    Literal["sample", "all", "none"],
    typer.Option("--ping", help="Which pairs of NICs probe each other: each NIC and color once, or all."),
]
JOB = Annotated[
    str | None,
    typer.Option(
        "--job",
        help="Collectives of nccl-tests to run, such as all-reduce,all-to-all.",
        metavar="NAME,...|none",
        show_default="all-reduce; none with --traffic",
    ),
]
SIZES = Annotated[str, typer.Option("--sizes", help="Sizes of the job as nccl-tests reads them.", metavar="FROM-TO")]
REPEATS = Annotated[int, typer.Option("--repeats", min=1, max=100, help="Run each job this many times.")]
LAUNCHER = Annotated[
    Literal["mpirun", "srun"], typer.Option("--launcher", help="What starts the job, on the first server.")
]
COMMAND = Annotated[
    str, typer.Option("--command", help="Run this on this machine instead, as the job.", metavar="COMMAND")
]
TRAFFIC = Annotated[bool, typer.Option("--traffic", help="Let servers send counted UDP packets, as where no GPU is.")]
PACKETS = Annotated[
    int, typer.Option("--packets", min=1, max=1_000_000, help="Packets of every NIC and color with --traffic.")
]


def accept(
    fabric: options.FABRIC,
    artifacts: options.ARTIFACTS,
    inventory: options.INVENTORY = None,
    limit: options.LIMIT = None,
    ping: PING = "sample",
    job: JOB = None,
    sizes: SIZES = "8M-8G",
    repeats: REPEATS = 3,
    launcher: LAUNCHER = "mpirun",
    command: COMMAND = "",
    traffic: TRAFFIC = False,
    packets: PACKETS = 200,
    reports: options.REPORTS = None,
    as_json: options.JSON = False,
    driver: options.DRIVER = "napalm",
    jobs: options.JOBS = 32,
    accept_new_hostkeys: options.ACCEPT = False,
) -> None:
    """Check whether a cluster can be handed over.

    Verifies switches and servers, probes pairs of NICs, sends packets or runs a job, and compares all counters.

    Exit codes: 0 accepted, 1 a finding or a device that cannot be read, 2 bad input, 130 interrupted.
    """
    from ailb_gen.accept.steps import AcceptOptions
    from ailb_gen.api.accept import accept as run

    job = job or ("none" if traffic and not command else "all-reduce")
    chosen = () if job == "none" else tuple(name.strip() for name in job.split(","))
    asked = AcceptOptions(ping, chosen, sizes, repeats, launcher, command, traffic, packets)
    place = fleet.FabricArguments(fabric, artifacts, inventory, driver, jobs, accept_new_hostkeys)
    where = finding_targets(reports, as_json, place.inputs)
    signals = fleet.stop_signals("what runs on servers is ended", "servers end what they send or receive by themselves")
    with steady(), signals.handled():
        with place.connect(limit, signals=signals) as connection:
            html = any(kind == "html" for kind, _ in where)
            report = run(connection, asked, limit=limit or (), html=html, progress=progress)
        try:
            conclude(report, where)
        finally:
            if signals():
                raise typer.Exit(128 + signals.numbers[0])
