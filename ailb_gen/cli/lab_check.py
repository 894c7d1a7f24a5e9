"""`ailb-gen lab check`: compare a running lab with the intent and the model."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ailb_gen.cli.fleet import REPORTS
from ailb_gen.cli.lab_state import NAME
from ailb_gen.cli.live import progress
from ailb_gen.cli.reports import formats, targets
from ailb_gen.cli.validate import ABOUT, ALL, CHECKS, FAIL_ON, SEED, WAIVERS, conclude
from ailb_gen.errors import UsageError

FABRIC = Annotated[
    Path | None, typer.Argument(help="The fabric file; default: the one the lab was started from.", metavar="FABRIC")
]
ARTIFACTS = Annotated[
    Path | None, typer.Argument(help="The directory of generated files; default: the same.", metavar="ARTIFACTS")
]
ROUNDS = Annotated[
    int | None,
    typer.Option(
        "--rounds",
        min=0,
        max=1024,
        help="Rounds in which every leaf loses one uplink; default: 1, above 32 switches 0.",
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


def check(
    fabric: FABRIC = None,
    artifacts: ARTIFACTS = None,
    name: NAME = None,
    checks: CHECKS = None,
    limit: ABOUT = None,
    fail_on: FAIL_ON = "error",
    waivers: WAIVERS = None,
    reports: REPORTS = None,
    everything: ALL = False,
    seed: SEED = 1,
    rounds: ROUNDS = None,
    doubles: DOUBLES = None,
    faults: FAULTS = None,
    traces: TRACES = 1000,
) -> None:
    """Check what kernels and BIRD do in a lab.

    Compares it with the intent, and with this program's own model.

    Exit codes: 0 pass, 1 findings, 2 bad input, 3 the environment failed.
    """
    from ailb_gen.api.check_lab import check_lab
    from ailb_gen.lab.registry import find

    if fabric is not None and artifacts is None:
        raise UsageError("ARTIFACTS is missing: name both, FABRIC and ARTIFACTS, or none of them")
    lab = find(name)
    inputs = [fabric or Path(lab.fabric), artifacts or Path(lab.artifacts), waivers]
    where = targets(reports or [], inputs, formats(reports))
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
