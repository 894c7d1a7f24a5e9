"""`ailb-gen deploy`, `confirm` and `rollback`: push wave by wave, and deal with what an earlier run left."""

from __future__ import annotations

import sys
from contextlib import nullcontext, redirect_stdout
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from ailb_gen.cli import complete, fleet, options
from ailb_gen.cli.console import echo, echo_json, echo_wrapped
from ailb_gen.cli.live import progress, watching
from ailb_gen.cli.plan import show_changes, show_waves
from ailb_gen.cli.reports import Pages, page_files
from ailb_gen.cli.steady import ask, steady
from ailb_gen.errors import AttentionError, DeployError, RolledBackError, UsageError
from ailb_gen.paint import Style
from ailb_gen.signals import Signals
from ailb_gen.wording import counted

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from ailb_gen.api.connect import Connection
    from ailb_gen.deploy.artifacts import Trust
    from ailb_gen.deploy.planning import Plan
    from ailb_gen.deploy.push import PushOptions
    from ailb_gen.deploy.wave import RunReport


# What is done with the waves before the one that failed.
OnFailure = Literal["stop", "rollback-all"]
MINUTES = Annotated[
    int, typer.Option("--confirm-minutes", min=1, max=65535, help="Minutes until a device rolls back by itself.")
]
VERIFY = Annotated[int, typer.Option("--verify-timeout", min=0, max=86400, help="Seconds to wait for sessions.")]
RUN = Annotated[
    str,
    typer.Argument(
        help="The run, or its number; default: the unsettled one, else the last.",
        metavar="RUN",
        show_default=False,
        autocompletion=complete.run,
    ),
]
RESUMED = Annotated[
    str,
    typer.Argument(
        help="With --resume: the run, or its number.",
        metavar="RUN",
        show_default=False,
        autocompletion=complete.resumed,
    ),
]
AS_IS = Annotated[
    list[str] | None,
    typer.Option(
        "--as-is",
        help="Leave this unsettled device as it is, after a person has checked it.",
        metavar="NAME",
        autocompletion=complete.device,
    ),
]
FAILURES = Annotated[int, typer.Option("--max-failures", min=0, help="Number of devices that may fail.")]
PLAN = Annotated[Path | None, typer.Option("--plan", help="Push exactly this plan, or refuse.", metavar="FILE")]
SIGNATURE = Annotated[
    Path | None,
    typer.Option("--plan-signature", help="The signature of the plan; default: PLAN.sig beside it.", metavar="FILE"),
]
SIGNERS = Annotated[
    Path | None,
    typer.Option("--allowed-signers", help="Require a plan signed by one of these (ssh-keygen).", metavar="FILE"),
]
ON_FAILURE = Annotated[OnFailure, typer.Option("--on-failure", help="Keep earlier waves, or roll back all.")]
FOREIGN = Annotated[
    bool, typer.Option("--allow-foreign-deletes", help="Allow the first push to delete statements of others.")
]


def deploy(
    fabric: options.FABRIC,
    artifacts: options.ARTIFACTS,
    run: RESUMED = "",
    inventory: options.INVENTORY = None,
    plan: PLAN = None,
    plan_signature: SIGNATURE = None,
    allowed_signers: SIGNERS = None,
    dry_run: options.DRY_RUN = False,
    resume: options.RESUME = False,
    yes: options.YES = False,
    limit: options.LIMIT = None,
    min_paths: options.MIN_PATHS = 1,
    max_failures: FAILURES = 0,
    on_failure: ON_FAILURE = "stop",
    confirm_minutes: MINUTES = 5,
    verify_timeout: VERIFY = 120,
    driver: options.DRIVER = "napalm",
    jobs: options.JOBS = 32,
    state: options.STATE = None,
    accept_new_hostkeys: options.ACCEPT = False,
    allow_unverified: options.UNVERIFIED = False,
    allow_foreign_deletes: FOREIGN = False,
    as_is: AS_IS = None,
    reports: options.PAGES = None,
    as_json: options.JSON = False,
    minute: options.HIDDEN_MINUTE = 60.0,
) -> None:
    """Push the files in waves; each is verified, then confirmed.

    First a check on every device, then a canary leaf, the spines color by color, the leaves rail by rail.

    Exit codes: 0 done, 2 bad input, 3 nothing was changed, 4 something was rolled back, 5 a device needs attention.
    An interrupted push stops in order, with the code of its outcome.
    """
    from ailb_gen.deploy.approval import Approval
    from ailb_gen.deploy.plan_file import read_plan
    from ailb_gen.deploy.push import Limits, PushOptions

    limits = Limits(confirm_minutes, verify_timeout, max_failures, minute)
    approved = read_plan(plan) if plan is not None else None
    approval = Approval(plan, approved, plan_signature, allowed_signers)
    signed = plan_signature is not None or allowed_signers is not None
    _check_together(approved is not None, signed, resume, limit, dry_run, run, as_is)
    limited = list(approved.limit) if approved is not None else limit or []
    least = approved.min_paths if approved is not None else min_paths
    place = fleet.FabricArguments(fabric, artifacts, inventory, driver, jobs, accept_new_hostkeys, state)
    options = PushOptions(
        limits,
        on_failure,
        dry_run,
        least,
        recorded={
            "limit": limited,
            "on_failure": on_failure,
            "resume": resume,
            "allow_unverified": allow_unverified,
            "allow_foreign_deletes": allow_foreign_deletes,
        },
        as_is=tuple(as_is or ()),
    )

    def push(connection: Connection, options: PushOptions) -> RunReport:
        if resume:
            return connection.resume(run, options)
        return connection.deploy(options, approval=approval, allow_foreign_deletes=allow_foreign_deletes)

    limited_by = f"'limit' of the plan {plan}:" if approved is not None else "--limit"
    pages = _pages(reports, "deploy", place, plan, plan_signature, allowed_signers)
    files = "any" if resume else fleet.trust(allow_unverified)
    _run(place, push, options, pages, yes, limited, files, limited_by=limited_by, as_json=as_json)


def confirm(
    fabric: options.FABRIC,
    artifacts: options.ARTIFACTS,
    run: RUN = "",
    inventory: options.INVENTORY = None,
    driver: options.DRIVER = "napalm",
    jobs: options.JOBS = 32,
    state: options.STATE = None,
    accept_new_hostkeys: options.ACCEPT = False,
    as_is: AS_IS = None,
    reports: options.PAGES = None,
    as_json: options.JSON = False,
) -> None:
    """Confirm the changes that an interrupted run left pending.

    Exit codes: 0 done, 2 bad input, 3 nothing was changed, 4 something was rolled back, 5 a device needs attention.
    """
    from ailb_gen.deploy.push import Limits, PushOptions

    place = fleet.FabricArguments(fabric, artifacts, inventory, driver, jobs, accept_new_hostkeys, state)
    effect = "devices that do not answer soon are skipped"
    options = PushOptions(Limits(), as_is=tuple(as_is or ()))
    _run(
        place,
        lambda connection, options: connection.confirm(run, options),
        options,
        _pages(reports, "confirm", place),
        effect=effect,
        as_json=as_json,
    )


def rollback(
    fabric: options.FABRIC,
    artifacts: options.ARTIFACTS,
    run: RUN = "",
    inventory: options.INVENTORY = None,
    yes: options.YES = False,
    min_paths: options.MIN_PATHS = 1,
    max_failures: FAILURES = 0,
    confirm_minutes: MINUTES = 5,
    verify_timeout: VERIFY = 120,
    driver: options.DRIVER = "napalm",
    jobs: options.JOBS = 32,
    state: options.STATE = None,
    accept_new_hostkeys: options.ACCEPT = False,
    as_is: AS_IS = None,
    reports: options.PAGES = None,
    as_json: options.JSON = False,
    minute: options.HIDDEN_MINUTE = 60.0,
) -> None:
    """Restore the configurations from before a run.

    Works in waves, checked and verified like those of a push.

    Exit codes: 0 done, 2 bad input, 3 nothing was changed, 4 something was rolled back, 5 a device needs attention.
    """
    from ailb_gen.deploy.push import Limits, PushOptions

    limits = Limits(confirm_minutes, verify_timeout, max_failures, minute)
    place = fleet.FabricArguments(fabric, artifacts, inventory, driver, jobs, accept_new_hostkeys, state)
    options = PushOptions(limits, min_paths=min_paths, as_is=tuple(as_is or ()))
    pages = _pages(reports, "rollback", place)
    _run(
        place,
        lambda connection, options: connection.rollback(run, options),
        options,
        pages,
        yes,
        rolls_back=True,
        as_json=as_json,
    )


def _pages(words: list[str] | None, verb: str, place: fleet.FabricArguments, *read: Path | None) -> Pages:
    return Pages(page_files(words, [*place.inputs, *read]), verb, place)


def _run(
    place: fleet.FabricArguments,
    verb: Callable[[Connection, PushOptions], RunReport],
    options: PushOptions,
    pages: Pages,
    yes: bool = False,
    limit: Sequence[str] = (),
    files: Trust = "any",
    rolls_back: bool = False,
    effect: str = "pending changes are rolled back",
    limited_by: str = "--limit",
    as_json: bool = False,
) -> None:
    """Do the work of a verb alone in its state directory, and print how it ended.

    `files` says what the files must be like; `rolls_back`: rolling back is what was asked for. A signal ends the run in
    order, with that effect, and printing neither fails nor waits. With `as_json`, standard output has nothing else.
    """
    # The pages are written when nothing is locked any more, and signals end the program again.
    with steady(), pages.written(), fleet.stop_signals(effect).handled() as signals:
        watched = replace(
            options,
            show=partial(_show, pages),
            approve=partial(approve, signals, yes, options.dry_run),
            tell=tell,
            progress=progress,
            compare=bool(pages.files),
            begun=pages.note_run,
            watch=watching,
            command=("ailb-gen", *sys.argv[1:]),
        )
        text = redirect_stdout(sys.stderr) if as_json else nullcontext()
        with text, place.connect(limit, files, signals, limited_by) as connection:
            pages.on = connection.context
            pages.report = ended = verb(connection, watched)
        if as_json:
            echo_json(_result(ended, place))
        with text:
            _conclude(ended, place, signals, options.dry_run, rolls_back)


def _result(report: RunReport, place: fleet.FabricArguments) -> dict[str, object]:
    devices = {
        name: {"outcome": str(result.outcome), "phase": result.phase, "reason": result.reason}
        for name, result in report.results.items()
    }
    body = {"run": report.run, "record": str(place.records.log(report.run)), "devices": devices}
    return {**body, "refused": report.refused, "stopped": report.stopped}


def _check_together(
    planned: bool,
    signed: bool,
    resume: bool,
    limit: list[str] | None,
    dry_run: bool,
    run: str,
    as_is: list[str] | None,
) -> None:
    """Refuse options of a push that contradict each other. Raises UsageError."""
    contradictions = (
        (planned and (limit or resume), "--plan already selects the changes: omit --limit and --resume"),
        (
            resume and signed,
            "--resume finds the signed plan in the record: omit --plan-signature and --allowed-signers",
        ),
        (resume and (limit or dry_run), "--resume continues an earlier run: omit --limit and --dry-run"),
        (not resume and (run or as_is), f"{'--as-is' if as_is else run}: only with --resume"),
    )
    for holds, message in contradictions:
        if holds:
            raise UsageError(message)


def _show(pages: Pages, found: Plan) -> None:
    pages.note_plan(found)
    show_changes(found)
    show_waves(found)


def tell(text: str) -> None:
    """Print what happens; what is further in happened in a wave: an error, or what is done about it."""
    milder = text.startswith(("  rolling back ", "  interrupted: ")) or ": warning: " in text
    style = Style.WARN if milder else Style.FAIL
    echo_wrapped((text, style if text.startswith("  ") else None))


def approve(signals: Signals, yes: bool, dry_run: bool, question: str) -> str:
    """Ask a person at a terminal; return how it was approved, empty for no. Raises UsageError without a terminal."""
    if yes or dry_run:
        return "--yes" if yes else "--dry-run"
    if not sys.stdin.isatty():
        raise UsageError("cannot ask for confirmation without a terminal; review 'ailb-gen plan', then use --yes")
    return "asked" if signals.ask(partial(ask, question)) else ""


def _conclude(
    report: RunReport, place: fleet.FabricArguments, signals: Signals, dry_run: bool, rolls_back: bool
) -> None:
    """Print how every device ended and what can be done next; leave with the exit code of the worst of it."""
    from ailb_gen.deploy.deployment import counted as outcomes
    from ailb_gen.deploy.run_history import DeviceOutcome

    if not report.results and not report.refused and not report.stopped:
        typer.echo("Checked on every device; nothing was committed." if dry_run else "Nothing to do.")
        return
    failures = {**report.refused, **report.failures}
    if report.results:
        fine = set(report.names(DeviceOutcome.CONFIRMED)) == set(report.results)
        echo(
            (f"{outcomes(report.results)}; record: {place.records.log(report.run)}", Style.PASS if fine else Style.WARN)
        )
    reasons = [*failures.values()]
    if report.stopped and (not reasons or signals() or report.names(DeviceOutcome.ATTENTION)):
        reasons.append(report.stopped)
    reasons += _unrecorded(report)
    why = "\n".join(reasons)
    where = f"run {report.run}"
    following = "" if dry_run else _following(report, place, rolls_back, bool(signals()))
    if report.names(DeviceOutcome.ATTENTION):
        names = ", ".join(report.names(DeviceOutcome.ATTENTION))
        raise AttentionError(
            f"{where}: {names} could not be brought to its old or new configuration:\n{why}{following}"
        )
    if report.names(DeviceOutcome.ROLLED_BACK) and (failures or not rolls_back):
        raise RolledBackError(f"{where}: {outcomes(report.results)}:\n{why or 'as asked'}{following}")
    if reasons:
        kept = report.names(DeviceOutcome.CONFIRMED)
        stays = "the rollback is done" if rolls_back else "earlier changes stay,"
        what = f"{stays} on {counted(len(kept), 'device')}" if kept else "nothing was changed"
        raise DeployError(f"{where}: {what}:\n{why}{following}")


def _unrecorded(report: RunReport) -> list[str]:
    """Return what to know where the record could not be written to its end: which devices changed, and what to do."""
    if not report.unrecorded:
        return []
    ended: dict[str, list[str]] = {}
    for name, result in report.results.items():
        ended.setdefault(str(result.outcome), []).append(name)
    lines = [f"{outcome}: {', '.join(names)}" for outcome, names in ended.items()]
    return [report.unrecorded, *lines, "free space there, then run a command below; it finishes the record"]


def _following(report: RunReport, place: fleet.FabricArguments, rolls_back: bool, interrupted: bool) -> str:
    """Return the commands that go on from here, where something was begun and is not done."""
    from ailb_gen.deploy.run_history import DeviceOutcome

    stuck = report.names(DeviceOutcome.ATTENTION)
    changed = bool(stuck or report.names(DeviceOutcome.CONFIRMED))
    about = report.about or report.run
    ways = []
    if not rolls_back and (changed or report.unrecorded or (interrupted and report.names(DeviceOutcome.ROLLED_BACK))):
        ways.append(("to go on", place.command("deploy", "--resume", about)))
    if rolls_back and report.unrecorded and report.run != about:
        # A rollback of its own: that of the other run would be another one, and leave this record without an end.
        ways.append(("to go on", place.command("deploy", "--resume", report.run)))
    elif changed or (rolls_back and report.unrecorded):
        label = "to go on with the rollback" if rolls_back else "to undo it"
        ways.append((label, place.command("rollback", about)))
    if stuck:
        ways.append(("to keep it", place.command("confirm", report.run)))
        ways.append(("if you settled it by hand", place.command("rollback", report.run, "--as-is", stuck[0])))
    return "".join(f"\n{what}: {command}" for what, command in ways)
