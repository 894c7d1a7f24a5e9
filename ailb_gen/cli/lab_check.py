"""`ailb-gen lab check`: the third judge: what kernels and BIRD do, against the intent and this program's own model."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ailb_gen.cli.console import fabric_file
from ailb_gen.cli.fleet import REPORTS
from ailb_gen.cli.lab_state import NAME
from ailb_gen.cli.live import progress
from ailb_gen.cli.reports import targets
from ailb_gen.cli.validate import ABOUT, ALL, CHECKS, FAIL_ON, SEED, WAIVERS, conclude, formats
from ailb_gen.errors import AilbError, UsageError

if TYPE_CHECKING:
    from ailb_gen.checks.model import Result

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
# So many double failures are tried without being asked for.
USUAL_DOUBLES = 2
# So many switches lose their uplinks without being asked for.
MOST_SWITCHES = 32


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
    """Judge what kernels and BIRD do in a lab.

    Compares it with the intent, and with this program's own model.

    Exit codes: 0 pass, 1 findings, 2 bad input, 3 the environment failed.
    """
    from ailb_gen.lab.registry import enter

    if fabric is not None and artifacts is None:
        raise UsageError("ARTIFACTS is missing: name both, FABRIC and ARTIFACTS, or none of them")
    # Before there are threads, and libraries of numbers start some when they are imported.
    lab, plan = enter(name)

    from ailb_gen.checks.catalogue import NAMES, OF_LAB, WAIVABLE, checks_of
    from ailb_gen.checks.model import RunOptions
    from ailb_gen.checks.select import pick_checks
    from ailb_gen.checks.waivers import read_waivers
    from ailb_gen.intent.load import load

    fabric, artifacts = fabric or Path(lab.fabric), artifacts or Path(lab.artifacts)
    where = targets(reports or [], [fabric, artifacts, waivers], formats())
    chosen = frozenset(row.id for row in pick_checks(checks_of(OF_LAB), {OF_LAB: NAMES[OF_LAB]}, checks or []))
    accepted = read_waivers(waivers, WAIVABLE) if waivers else ()
    intent = load(fabric_file(fabric))

    # Imported when the input is known to be usable: it brings everything that computes.
    from ailb_gen.checks.progress import STEPS
    from ailb_gen.checks.run import examine
    from ailb_gen.lab.check.changes import alone
    from ailb_gen.lab.check.measure import RunningLab
    from ailb_gen.lab.check.run import Options, judge_lab, steps, unjudged
    from ailb_gen.report.judge import judge

    with progress("reading", STEPS) as advance:
        options = RunOptions(frozenset(), seed=seed, jobs=len(os.sched_getaffinity(0)))
        done, context = examine(intent, artifacts, options, advance, advance.step)
    wanted = Options(chosen, *_broken(len(context.network.switches), rounds, doubles, faults), traces, seed)
    results: list[Result] = []
    failed: tuple[str, ...] = ()
    trouble: AilbError | None = None
    with alone(plan), progress("looking", steps(context, wanted)) as bar:

        def step(name: str) -> None:
            bar.step(name)
            bar(1)

        try:
            running = RunningLab(plan, context)
            failed = tuple(f"failed on purpose: {one}" for one in running.faults)
            results += judge_lab(running, context, wanted, step)
        except AilbError as error:
            trouble = error
            results += unjudged(wanted, str(error))
    notes = (*done.notes, *failed)
    done = replace(done, results=tuple(results), notes=notes, trouble=str(trouble or ""))
    verdict = judge(done, accepted, chosen, limit or [], fail_on)
    conclude(verdict, where, "lab check", everything, context, trouble)


def _broken(switches: int, rounds: int | None, doubles: int | None, faults: bool | None) -> tuple[int, int, bool]:
    """Return what is to fail, with the defaults for a lab of so many switches. Raises LabError without nftables."""
    from ailb_gen.lab.requirements import require
    from ailb_gen.programs import program

    if rounds is None:
        rounds = 1 if switches <= MOST_SWITCHES else 0
    if faults:
        require(("nft",))
    if faults is None:
        faults = rounds > 0 and program("nft") is not None
    return rounds, USUAL_DOUBLES * faults if doubles is None else doubles, faults
