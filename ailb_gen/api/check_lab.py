"""Compare a running lab with the intent of its fabric, and with this program's own model of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from ailb_gen.api.inputs import intent_of, processes
from ailb_gen.errors import AilbError
from ailb_gen.progress import Progress, quiet

if TYPE_CHECKING:
    from ailb_gen.api.validate import FailOn
    from ailb_gen.checks.model import Result
    from ailb_gen.intent.load import Intent
    from ailb_gen.report.check_report import CheckReport

# The number of double failures by default.
DOUBLES = 2
# In larger labs no uplinks fail by default.
MOST_SWITCHES = 32


def check_lab(
    name: str | None = None,
    fabric: Intent | str | Path | None = None,
    artifacts: str | Path | None = None,
    *,
    checks: Sequence[str] = (),
    limit: Sequence[str] = (),
    fail_on: FailOn = "error",
    waivers: Path | None = None,
    seed: int = 1,
    rounds: int | None = None,
    doubles: int | None = None,
    faults: bool | None = None,
    traces: int = 1000,
    progress: Progress = quiet,
) -> CheckReport:
    """Check the lab called `name`, or the only one, against an intent and files, by default those it was started from.

    The process joins the namespaces of the lab and never leaves them, and must have no other
    thread. In each of `rounds` every leaf
    loses one uplink; `doubles` pairs of links fail; with `faults` links also lose packets and flap, and colors change;
    at most `traces` queue pairs are traced. Raises UsageError, IntentError, LabError.
    """
    # Before there are threads, and libraries of numbers start some when they are imported.
    from ailb_gen.lab.registry import enter

    lab, plan = enter(name)

    from ailb_gen.checks.catalogue import OF_LAB, WAIVABLE, checks_of
    from ailb_gen.checks.layers import NAMES
    from ailb_gen.checks.model import RunOptions
    from ailb_gen.checks.select import pick_checks
    from ailb_gen.checks.waiver_file import read_waivers

    chosen = frozenset(row.id for row in pick_checks(checks_of(OF_LAB), {OF_LAB: NAMES[OF_LAB]}, checks))
    accepted = read_waivers(waivers, WAIVABLE) if waivers else ()
    intent = intent_of(fabric or lab.fabric)

    # Imported when the input is known to be usable: it brings everything that computes.
    from ailb_gen.checks.progress import STEPS
    from ailb_gen.checks.run import examine
    from ailb_gen.lab.check.changes import alone
    from ailb_gen.lab.check.live import RunningLab
    from ailb_gen.lab.check.run import LabCheckOptions, skipped_checks, steps
    from ailb_gen.lab.check.run import check_lab as compared
    from ailb_gen.report.check_report import CheckReport
    from ailb_gen.report.verdict import judge

    with progress("reading", STEPS) as advance:
        files = RunOptions(frozenset(), seed=seed, jobs=processes(None))
        done, context = examine(intent, Path(artifacts or lab.artifacts), files, advance, advance.step)
    options = LabCheckOptions(chosen, *_failures(len(context.network.switches), rounds, doubles, faults), traces, seed)
    results: list[Result] = []
    on_purpose: tuple[str, ...] = ()
    trouble: AilbError | None = None
    with alone(plan), progress("checking", steps(context, options)) as advance:

        def step(name: str) -> None:
            advance.step(name)
            advance(1)

        try:
            running = RunningLab(plan, context)
            on_purpose = tuple(f"injected failures: {fault}" for fault in running.faults)
            results += compared(running, context, options, step)
        except AilbError as error:
            trouble = error
            results += skipped_checks(options, str(error))
    notes = (*done.notes, *on_purpose)
    done = replace(done, results=tuple(results), notes=notes, trouble=str(trouble or ""))
    return CheckReport(judge(done, accepted, chosen, limit, fail_on), "lab check", context, trouble)


def _failures(switches: int, rounds: int | None, doubles: int | None, faults: bool | None) -> tuple[int, int, bool]:
    """Return what is to fail, with the defaults for a lab of so many switches. Raises LabError without nftables."""
    from ailb_gen.lab.namespaces import require
    from ailb_gen.programs import program

    if rounds is None:
        rounds = 1 if switches <= MOST_SWITCHES else 0
    if faults:
        require(("nft",))
    if faults is None:
        faults = rounds > 0 and program("nft") is not None
    return rounds, DOUBLES * faults if doubles is None else doubles, faults
