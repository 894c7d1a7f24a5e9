"""`ailb-gen deploy`, `confirm` and `rollback`: push wave by wave, and deal with what an earlier run left."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ailb_gen.cli.console import fabric_file, progress
from ailb_gen.cli.fleet import (
    ACCEPT,
    ARTIFACTS,
    DRIVER,
    FABRIC,
    INVENTORY,
    JOBS,
    LIMIT,
    STATE,
    UNVERIFIED,
    Driver,
    Stop,
    access,
    interruptible,
    state_directory,
    trust,
)
from ailb_gen.cli.output import steady
from ailb_gen.cli.plan import MIN_PATHS, refuse_foreign, show_changes, show_waves
from ailb_gen.errors import AttentionError, DeployError, RolledBackError, UsageError

if TYPE_CHECKING:
    from ailb_gen.deploy.context import Context
    from ailb_gen.deploy.inputs import Trust
    from ailb_gen.deploy.planfile import ApprovedPlan
    from ailb_gen.deploy.planning import Plan
    from ailb_gen.deploy.rollout import Report
    from ailb_gen.deploy.runlog import StateDirectory
    from ailb_gen.deploy.wave import Limits


class OnFailure(StrEnum):
    """What becomes of the waves before the one that failed."""

    stop = "stop"
    rollback_all = "rollback-all"


YES = Annotated[bool, typer.Option("--yes", help="Do not ask.")]
MINUTES = Annotated[int, typer.Option("--confirm-minutes", min=1, max=65535, help="Until a device undoes by itself.")]
VERIFY = Annotated[int, typer.Option("--verify-timeout", min=0, max=86400, help="Seconds for sessions to come up.")]
MINUTE = Annotated[float, typer.Option("--minute", min=0.1, help="Seconds of a minute; emulated devices.", hidden=True)]
RUN = Annotated[
    str,
    typer.Argument(
        help="The run, or its number; default: the unsettled one, else the last.", metavar="[RUN]", show_default=False
    ),
]
RESUMED = Annotated[
    str, typer.Argument(help="With --resume: the run, or its number.", metavar="[RUN]", show_default=False)
]
AS_IS = Annotated[
    list[str] | None,
    typer.Option("--as-is", help="An unsettled device that a person has looked at stays as it is.", metavar="NAME"),
]
FAILURES = Annotated[int, typer.Option("--max-failures", min=0, help="Devices that may fail.")]
PLAN = Annotated[Path | None, typer.Option("--plan", help="Push this plan, or refuse.", metavar="FILE")]
DRY_RUN = Annotated[bool, typer.Option("--dry-run", help="Load and check everywhere, commit nothing.")]
RESUME = Annotated[bool, typer.Option("--resume", help="Settle a run that was cut off, go on with it.")]
ON_FAILURE = Annotated[OnFailure, typer.Option("--on-failure", help="Keep the waves before, or undo all.")]
FOREIGN = Annotated[
    bool, typer.Option("--allow-foreign-deletes", help="A first push may delete what somebody else configured.")
]


def deploy(
    fabric: FABRIC,
    artifacts: ARTIFACTS,
    run: RESUMED = "",
    inventory: INVENTORY = None,
    plan: PLAN = None,
    dry_run: DRY_RUN = False,
    resume: RESUME = False,
    yes: YES = False,
    limit: LIMIT = None,
    min_paths: MIN_PATHS = 1,
    max_failures: FAILURES = 0,
    on_failure: ON_FAILURE = OnFailure.stop,
    confirm_minutes: MINUTES = 5,
    verify_timeout: VERIFY = 120,
    driver: DRIVER = Driver.napalm,
    jobs: JOBS = 32,
    state: STATE = None,
    accept_new_hostkeys: ACCEPT = False,
    allow_unverified: UNVERIFIED = False,
    allow_foreign_deletes: FOREIGN = False,
    as_is: AS_IS = None,
    minute: MINUTE = 60.0,
) -> None:
    """Push the files: check everywhere, then one canary, spines color by color, leaves rail by rail.

    Exit codes: 0 done, 2 bad input, 3 nothing was changed, 4 something was rolled back, 5 a device needs attention.
    An interrupted push ends in order, with the code of what became of the devices.
    """
    from ailb_gen.deploy import runs
    from ailb_gen.deploy.planfile import read_plan

    limits = _limits(confirm_minutes, verify_timeout, max_failures, minute)
    planned = read_plan(plan) if plan is not None else None
    _check_together(planned is not None, resume, limit, dry_run, run, as_is)
    wanted = list(planned.limit) if planned is not None else limit or []
    least = planned.min_paths if planned is not None else min_paths
    where = Place(fabric, artifacts, inventory, state, driver, jobs, accept_new_hostkeys)
    options = where.options(limits, least, verify_timeout) | {
        **{"limit": wanted, "on_failure": on_failure.value, "resume": resume},
        **{"allow_unverified": allow_unverified, "allow_foreign_deletes": allow_foreign_deletes},
    }

    def work(on: Context, records: StateDirectory, stop: Stop) -> Report:
        run_options = runs.RunOptions(
            limits,
            on_failure.value,
            dry_run,
            least,
            stop,
            _approval(yes, dry_run, stop, "Push this?"),
            tell=typer.echo,
            progress=progress,
            plan={"file": str(plan), "digest": planned.digest} if planned is not None else {},
            options=options,
            as_is=tuple(as_is or ()),
        )
        if resume:
            return runs.resume(on, records, run_options, run)
        may_delete = allow_foreign_deletes or dry_run
        return runs.deploy(on, records, run_options, lambda found: _check_found(found, on, planned, may_delete))

    _run(where, work, wanted, "any" if resume else trust(allow_unverified), dry_run=dry_run)


def confirm(
    fabric: FABRIC,
    artifacts: ARTIFACTS,
    run: RUN = "",
    inventory: INVENTORY = None,
    driver: DRIVER = Driver.napalm,
    jobs: JOBS = 32,
    state: STATE = None,
    accept_new_hostkeys: ACCEPT = False,
    as_is: AS_IS = None,
) -> None:
    """Confirm what a run that was cut off left pending on devices.

    Exit codes: 0 done, 2 bad input, 3 nothing was changed, 4 something was rolled back, 5 a device needs attention.
    """
    from ailb_gen.deploy import runs
    from ailb_gen.deploy.wave import Limits

    def work(on: Context, records: StateDirectory, stop: Stop) -> Report:
        run_options = runs.RunOptions(Limits(), stop=stop, tell=typer.echo, progress=progress, as_is=tuple(as_is or ()))
        return runs.confirm(on, records, run_options, run)

    _run(Place(fabric, artifacts, inventory, state, driver, jobs, accept_new_hostkeys), work)


def rollback(
    fabric: FABRIC,
    artifacts: ARTIFACTS,
    run: RUN = "",
    inventory: INVENTORY = None,
    yes: YES = False,
    min_paths: MIN_PATHS = 1,
    max_failures: FAILURES = 0,
    confirm_minutes: MINUTES = 5,
    verify_timeout: VERIFY = 120,
    driver: DRIVER = Driver.napalm,
    jobs: JOBS = 32,
    state: STATE = None,
    accept_new_hostkeys: ACCEPT = False,
    as_is: AS_IS = None,
    minute: MINUTE = 60.0,
) -> None:
    """Bring back what the devices had before a run, in waves that are checked and verified like those of a push.

    Exit codes: 0 done, 2 bad input, 3 nothing was changed, 4 something was rolled back, 5 a device needs attention.
    """
    from ailb_gen.deploy import runs

    limits = _limits(confirm_minutes, verify_timeout, max_failures, minute)
    where = Place(fabric, artifacts, inventory, state, driver, jobs, accept_new_hostkeys)

    def work(on: Context, records: StateDirectory, stop: Stop) -> Report:
        run_options = runs.RunOptions(
            limits,
            min_paths=min_paths,
            stop=stop,
            approve=_approval(yes, False, stop, "Roll this back?"),
            agree=lambda question: yes or _answer(stop, question),
            tell=typer.echo,
            progress=progress,
            options=where.options(limits, min_paths, verify_timeout),
            as_is=tuple(as_is or ()),
        )
        return runs.rollback(on, records, run_options, run)

    _run(where, work, asked=True)


@dataclass(frozen=True, slots=True)
class Place:
    """What a command is about, and how the devices are reached: what the next command needs too."""

    fabric: Path
    artifacts: Path
    inventory: Path | None
    state: Path | None
    driver: Driver
    jobs: int
    accept_keys: bool

    def command(self, verb: str, *more: str) -> str:
        """Return a command line about the same."""
        words = ["ailb-gen", verb, str(self.fabric), str(self.artifacts), *more]
        words += ["-i", str(self.inventory)] if self.inventory is not None else []
        words += ["--state", str(self.state)] if self.state is not None else []
        words += ["--driver", self.driver.value] if self.driver is not Driver.napalm else []
        return shlex.join(words)

    def options(self, limits: Limits, least: int, verify_s: int) -> dict[str, object]:
        """Return the options of a run as they are recorded."""
        return {
            **{"min_paths": least, "max_failures": limits.failures, "confirm_minutes": limits.minutes},
            **{"verify_timeout": verify_s, "driver": self.driver.value, "jobs": self.jobs},
        }


def _run(
    place: Place,
    work: Callable[[Context, StateDirectory, Stop], Report],
    limit: Sequence[str] = (),
    files: Trust = "any",
    dry_run: bool = False,
    asked: bool = False,
) -> None:
    """Do the work of a verb alone in its state directory, and say how it ended.

    `files` says what the files must be like. Ctrl-C is a wish, and printing neither fails nor waits.
    """
    from ailb_gen.deploy.context import open_context

    fabric = fabric_file(place.fabric)
    records = state_directory(fabric, place.state)
    reach = access(place.driver, place.jobs, place.accept_keys)
    with steady(), records.alone(), interruptible() as stop:
        with open_context(fabric, place.artifacts, place.inventory, limit, reach, files) as on:
            report = work(on, records, stop)
        _conclude(report, records, place, stop, dry_run, asked)


def _check_together(
    planned: bool, resume: bool, limit: list[str] | None, dry_run: bool, run: str, as_is: list[str] | None
) -> None:
    """Refuse options of a push that contradict each other. Raises UsageError."""
    if planned and (limit or resume):
        raise UsageError("--plan says what is pushed: leave out --limit and --resume")
    if resume and (limit or dry_run):
        raise UsageError("--resume goes on with what was begun: leave out --limit and --dry-run")
    if not resume and (run or as_is):
        raise UsageError(f"{'--as-is' if as_is else run}: only with --resume")


def _check_found(found: Plan, on: Context, planned: ApprovedPlan | None, may_delete: bool) -> None:
    """Refuse a change that is not the planned one, or that deletes what is not ours. Raises UsageError."""
    from ailb_gen.deploy.planfile import check_plan

    if planned is not None:
        check_plan(planned, on.inputs, found)
    if not may_delete:
        refuse_foreign(found)


def _limits(minutes: int, verify_s: int, failures: int, minute_s: float) -> Limits:
    from ailb_gen.deploy.wave import Limits

    if verify_s >= minutes * minute_s:
        raise UsageError(
            f"--verify-timeout {verify_s} is no less than --confirm-minutes {minutes}: devices would undo the change "
            f"before it is verified; allow more minutes or less time to verify"
        )
    return Limits(minutes, float(verify_s), failures, minute_s)


def _approval(yes: bool, dry_run: bool, stop: Stop, question: str) -> Callable[[Plan], str]:
    """Show the waves, and ask a person at a terminal; return how it was approved."""

    def approve(found: Plan) -> str:
        show_changes(found)
        show_waves(found)
        if yes or dry_run:
            return "--yes" if yes else "--dry-run"
        return "asked" if _answer(stop, question) else ""

    return approve


def _answer(stop: Stop, question: str) -> bool:
    if not sys.stdin.isatty():
        raise UsageError("there is no terminal to ask at; look at 'ailb-gen plan', and give --yes")
    return stop.ask(question)


def _conclude(
    report: Report, records: StateDirectory, place: Place, stop: Stop, dry_run: bool = False, asked: bool = False
) -> None:
    """Print how every device ended and what can be done next; leave with the exit code that says the worst of it.

    `asked`: rolling back is what was asked for.
    """
    from ailb_gen.deploy.runs import told
    from ailb_gen.deploy.wave import Outcome

    if not report.results and not report.refused and not report.stopped:
        typer.echo("Checked on every device; nothing was committed." if dry_run else "Nothing to do.")
        return
    failures = {**report.refused, **report.failures}
    if report.results:
        typer.echo(f"{told(report.results)}; record: {records.log(report.run)}")
    reasons = [*failures.values()]
    if report.stopped and (not reasons or stop() or report.names(Outcome.ATTENTION)):
        reasons.append(report.stopped)
    why = "\n".join(reasons)
    where = f"run {report.run}"
    following = "" if dry_run else _following(report, place, asked, stop())
    if report.names(Outcome.ATTENTION):
        names = ", ".join(report.names(Outcome.ATTENTION))
        raise AttentionError(
            f"{where}: {names} could not be brought to its old or new configuration:\n{why}{following}"
        )
    if report.names(Outcome.ROLLED_BACK) and (failures or not asked):
        raise RolledBackError(f"{where}: {told(report.results)}:\n{why or 'as asked'}{following}")
    if failures or report.stopped:
        kept = report.names(Outcome.CONFIRMED)
        what = f"what was changed before stays, on {len(kept)}" if kept else "nothing was changed"
        raise DeployError(f"{where}: {what}:\n{why}{following}")


def _following(report: Report, place: Place, asked: bool, interrupted: bool) -> str:
    """Return the commands that go on from here, where something was begun and is not done."""
    from ailb_gen.deploy.wave import Outcome

    stuck = report.names(Outcome.ATTENTION)
    changed = bool(stuck or report.names(Outcome.CONFIRMED))
    about = report.about or report.run
    ways = []
    if not asked and (changed or (interrupted and report.names(Outcome.ROLLED_BACK))):
        ways.append(("to go on", place.command("deploy", "--resume", about)))
    if changed:
        ways.append(("to take it back", place.command("rollback", about)))
    if stuck:
        ways.append(("to keep it", place.command("confirm", report.run)))
        ways.append(("if somebody settled it by hand", place.command("rollback", report.run, "--as-is", stuck[0])))
    return "".join(f"\n{what}: {command}" for what, command in ways)
