"""`ailb-gen maintain`: one device after the other out of service, worked on, verified, and back into service."""

from __future__ import annotations

import sys
from contextlib import nullcontext, redirect_stdout
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ailb_gen.cli import complete, fleet, options
from ailb_gen.cli.console import echo_json, notify
from ailb_gen.cli.deploy import FAILURES, MINUTES, VERIFY, approve, tell
from ailb_gen.cli.drain import FLOOR, percent
from ailb_gen.cli.generate import FORMAT, TEMPLATES
from ailb_gen.cli.live import progress, watching
from ailb_gen.cli.maintain_report import conclude, json_of, show_status
from ailb_gen.cli.maintain_work import DIGEST, IMAGE, NO_VALIDATE, RELEASE, RESTART, GivenWork
from ailb_gen.cli.steady import steady
from ailb_gen.cli.verb import Verb
from ailb_gen.errors import UsageError

if TYPE_CHECKING:
    from ailb_gen.api.maintain import Maintainer, MaintenanceReport
    from ailb_gen.api.maintain_options import MaintainOptions
    from ailb_gen.deploy.maintenance_record import RecordedMaintenance
    from ailb_gen.deploy.maintenance_work import MaintenanceWork

ELEMENTS = Annotated[
    list[str] | None,
    typer.Argument(
        help="Spines, leaves or servers: names, globs or roles; all but those with '!'.",
        metavar="ELEMENT",
        show_default=False,
        autocompletion=complete.limit,
    ),
]
COMMAND = "--word"
WORDS = Annotated[list[str] | None, typer.Option(COMMAND, hidden=True, help="A word of the command.")]
GIVE_UP = Annotated[bool, typer.Option("--give-up", help="Bring its devices back into service, without the command.")]
STATUS = Annotated[bool, typer.Option("--status", help="Show how far the last maintenance is.")]
AT_ONCE = Annotated[int | None, typer.Option("--at-once", min=1, help="Devices at a time.", show_default="1")]
QUIET_BELOW = Annotated[
    float | None,
    typer.Option(
        "--quiet-below", min=0, help="Mb/s of a port below which it is quiet.", metavar="RATE", show_default="1"
    ),
]
WAIT = Annotated[
    int | None,
    typer.Option("--quiet-timeout", min=0, max=604800, help="Seconds for traffic to go.", show_default="600"),
]
BACK = Annotated[
    int | None,
    typer.Option("--return-timeout", min=0, max=604800, help="Seconds to be as designed again.", show_default="900"),
]
TIMEOUT = Annotated[
    int | None,
    typer.Option(
        "--timeout", min=1, max=604800, help="Seconds for the command, or for the installation.", show_default="3600"
    ),
]
LEAST = Annotated[str | None, *FLOOR.__metadata__]
MOST_FAILURES = Annotated[int | None, *FAILURES.__metadata__]
HIDDEN_PAUSE = Annotated[
    float, typer.Option("--pause", min=0.01, max=3600, hidden=True, help="Seconds between two looks.")
]


class WithCommand(Verb):
    """A command whose last words, behind `--`, are a command for each device."""

    def words(self, args: list[str]) -> list[str]:
        """Give the words behind `--` as values of an option."""
        if "--" not in args:
            return args
        at = args.index("--")
        return [*args[:at], *(f"{COMMAND}={word}" for word in args[at + 1 :])]

    def collect_usage_pieces(self, ctx: Any) -> list[str]:  # noqa: ANN401 - as in Typer
        """Name the command in the usage line."""
        return [*super().collect_usage_pieces(ctx), "-- COMMAND"]


def maintain(
    fabric: options.FABRIC,
    artifacts: options.ARTIFACTS,
    elements: ELEMENTS = None,
    inventory: options.INVENTORY = None,
    resume: options.RESUME = False,
    give_up: GIVE_UP = False,
    status: STATUS = False,
    at_once: AT_ONCE = None,
    floor: LEAST = None,
    max_failures: MOST_FAILURES = None,
    quiet_below: QUIET_BELOW = None,
    quiet_timeout: WAIT = None,
    timeout: TIMEOUT = None,
    software: IMAGE = None,
    sha256: DIGEST = None,
    release: RELEASE = None,
    no_validate: NO_VALIDATE = False,
    restart_timeout: RESTART = None,
    return_timeout: BACK = None,
    templates: TEMPLATES = None,
    form: FORMAT = "curly",
    dry_run: options.DRY_RUN = False,
    yes: options.YES = False,
    confirm_minutes: MINUTES = 5,
    verify_timeout: VERIFY = 120,
    min_paths: options.MIN_PATHS = 1,
    driver: options.DRIVER = "napalm",
    jobs: options.JOBS = 32,
    state: options.STATE = None,
    accept_new_hostkeys: options.ACCEPT = False,
    as_json: options.JSON = False,
    command: WORDS = None,
    minute: options.HIDDEN_MINUTE = 60.0,
    pause: HIDDEN_PAUSE = 5.0,
) -> None:
    """Take devices out of service one by one for a command.

    A spine goes into graceful shutdown first, and the command runs when its counters show that the traffic has gone.
    Nothing can be withdrawn from a leaf or a server: take their GPUs out of the scheduler before. The command gets
    AILB_DEVICE, AILB_ROLE and AILB_ADDRESS; it must end when its work is done, and may run again after an interruption.
    Then the device and its peers are verified, and the spine comes back. A failure leaves the device as it is.

    Exit codes: 0 done, 2 bad input, 3 no device is left out of service, 5 a device is, or its work is not done.
    """
    from ailb_gen.api.maintain import maintainer
    from ailb_gen.api.maintain_options import MaintainOptions
    from ailb_gen.deploy.push import Limits

    place = fleet.FabricArguments(fabric, artifacts, inventory, driver, jobs, accept_new_hostkeys, state)
    work = GivenWork(tuple(command or ()), timeout, software, sha256, release, no_validate, restart_timeout)
    _check_together(elements, work, resume, give_up, status, dry_run)
    if status:
        with steady(must_be_read=False):
            show_status(maintainer(fabric, artifacts, state=state), place, as_json)
        return
    given: dict[str, Any] = {
        "at_once": at_once,
        "floor": percent(floor) if floor is not None else None,
        "max_failures": max_failures,
        "quiet_bps": quiet_below * 1e6 if quiet_below is not None else None,
        "wait_s": quiet_timeout,
        "back_s": return_timeout,
    }
    given = {key: value for key, value in given.items() if value is not None}
    signals = fleet.stop_signals("the running step ends, devices stay as they are")
    text = redirect_stdout(sys.stderr) if as_json else nullcontext()
    with steady(), signals.handled():
        on = maintainer(
            fabric,
            artifacts,
            inventory=inventory,
            driver=driver,
            jobs=jobs,
            accept_new_hostkeys=accept_new_hostkeys,
            state=state,
            signals=signals,
            warn=notify,
        )
        asked = MaintainOptions(
            pause_s=pause,
            templates=templates,
            form=form,
            limits=Limits(confirm_minutes, verify_timeout, 0, minute),
            min_paths=min_paths,
            approve=partial(approve, signals, yes, dry_run),
            tell=tell,
            write=typer.echo,
            warn=notify,
            progress=progress,
            watch=watching,
            signals=signals,
            command=("ailb-gen", *sys.argv[1:]),
            **({} if resume or give_up else given),
        )
        with text:
            report = _carry_out(on, elements, work, asked, given, resume, give_up, dry_run)
        if as_json:
            echo_json(json_of(report))
        with text:
            conclude(report, place, dry_run)


def _check_together(
    elements: list[str] | None, work: GivenWork, resume: bool, give_up: bool, status: bool, dry_run: bool
) -> None:
    """Refuse options that contradict each other. Raises UsageError."""
    continuing = [name for name, on in (("--resume", resume), ("--give-up", give_up), ("--status", status)) if on]
    contradictions = (
        (len(continuing) > 1, f"{' and '.join(continuing)}: give one of them"),
        (bool(continuing and elements), f"{''.join(continuing[:1])} is about the devices of the record: omit ELEMENT"),
        (work.given(False) and (give_up or status), f"{''.join(continuing[:1])} does no work: omit it"),
        (bool(continuing and dry_run), f"{''.join(continuing[:1])}: omit --dry-run"),
        (not continuing and not elements, "name the devices to maintain: names, globs, or roles such as spines"),
        (
            not work.given(bool(continuing)),
            "there is no command; write it behind '--', as in: ... spine1 -- ./upgrade.sh, or give --software",
        ),
        *work.contradictions,
    )
    for holds, message in contradictions:
        if holds:
            raise UsageError(message)


def _carry_out(
    on: Maintainer,
    elements: list[str] | None,
    given_work: GivenWork,
    asked: MaintainOptions,
    given: dict[str, Any],
    resume: bool,
    give_up: bool,
    dry_run: bool,
) -> MaintenanceReport:
    """Begin a maintenance, or go on with one."""
    if not resume and not give_up:
        return on.maintain(elements or [], given_work.begin(), asked, dry_run=dry_run)

    def work_of(past: RecordedMaintenance) -> MaintenanceWork | None:
        return None if give_up else given_work.again(dict(past.work), past.whole)

    return on.resume(work_of, asked, given)
