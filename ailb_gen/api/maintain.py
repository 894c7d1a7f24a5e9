"""Maintenance of devices, one after the other: graceful shutdown, quiet, work, verification, back into service."""

from __future__ import annotations

import platform
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, closing, contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from ailb_gen.api.connect import Driver, connect, hooks_of, records_of
from ailb_gen.api.maintain_before import batches_of, check_files, check_state, needed
from ailb_gen.api.maintain_options import Connecting, MaintainOptions
from ailb_gen.api.maintain_steps import MaintenanceSteps, UnrecordedError, digest_of, shut_down
from ailb_gen.deploy.maintenance_record import (
    COMPLETE,
    GIVEN_UP,
    HEAD,
    STOPPED,
    DeviceProgress,
    RecordedMaintenance,
    maintenances,
    need_unfinished,
    newest,
    read,
    unfinished_one,
    work_digest,
)
from ailb_gen.deploy.push import RunLog
from ailb_gen.deploy.run_history import StateDirectory, none_unsettled
from ailb_gen.deploy.run_hooks import END, FAILURE, START, EventHooks
from ailb_gen.deploy.session import user_name
from ailb_gen.errors import AilbError, DeployError, UsageError
from ailb_gen.progress import unheeded
from ailb_gen.redact.text import redact
from ailb_gen.signals import NO_SIGNALS
from ailb_gen.version import __version__
from ailb_gen.wording import some

if TYPE_CHECKING:
    from ailb_gen.api.connect import Connection
    from ailb_gen.deploy.maintenance_work import MaintenanceWork
    from ailb_gen.progress import Warn

# Options that a record keeps, and `resume` takes from it unless others are given.
KEPT = ("at_once", "floor", "max_failures", "quiet_bps", "wait_s", "back_s", "form", "min_paths")


@dataclass(frozen=True, slots=True)
class MaintenanceReport:
    """How a maintenance ended: the state of every device and why it failed, by the record `file`.

    `needless` are devices on which there is nothing to do, with the reason. `stopped` is why no other device was begun;
    `unrecorded` why the record could not be written to its end. `name` is empty where nothing was begun. `given_up`: no
    work was done any more.
    """

    name: str
    file: Path | None
    devices: dict[str, DeviceProgress]
    needless: Mapping[str, str] = field(default_factory=dict)
    stopped: str = ""
    unrecorded: str = ""
    given_up: bool = False

    @property
    def left(self) -> list[str]:
        """The devices that were begun and are not done."""
        return [name for name, one in self.devices.items() if one.left]

    @property
    def complete(self) -> bool:
        """Whether all is done, or nothing is left of what was given up."""
        done = not self.left if self.given_up else all(one.finished for one in self.devices.values())
        return done and not self.stopped and not self.unrecorded

    @property
    def reasons(self) -> list[str]:
        """Why it is not complete: what failed on devices, why no other was begun, what could not be recorded."""
        failed = [one.reason for one in self.devices.values() if one.reason and not one.finished]
        return [*failed, *filter(None, (self.stopped, self.unrecorded))]


@dataclass(frozen=True, slots=True)
class Maintainer:
    """A fabric whose devices are maintained: its files, what connects to its devices, and where that is recorded.

    `_hooks` reads those of its inventory.
    """

    fabric: Path
    artifacts: Path
    connect: Connecting
    _hooks: Callable[[], EventHooks]
    state: Path | None = None

    def maintain(
        self,
        elements: Sequence[str],
        work: MaintenanceWork,
        options: MaintainOptions | None = None,
        *,
        dry_run: bool = False,
    ) -> MaintenanceReport:
        """Do work on devices: on spines first, then on leaves rail by rail, then on servers.

        A spine goes into graceful shutdown before and comes back after it; nothing can be withdrawn from others. A
        failure leaves its device as it is. Raises UsageError, IntentError, DeployError and OutputError before anything
        is changed; what became of each device is in the report.
        """
        options = options or MaintainOptions()
        # Hooks are waited for when others may begin.
        with ExitStack() as after, self._alone():
            self._none_left()
            with self.connect(()) as connection:
                design = check_files(connection, options)
                batches = batches_of(connection, elements, design, options)
                batches, needless = needed(connection, batches, work, self._kept_in.path, options)
                roles = {name: connection.context.roles[name] for batch in batches for name in batch}
                if roles:
                    check_state(connection, list(roles), options)
            if dry_run or not roles:
                return MaintenanceReport("", None, {n: DeviceProgress(role) for n, role in roles.items()}, needless)
            approved = options.approve(f"Begin the maintenance of {some(roles)}?")
            if not approved:
                raise DeployError("nothing was changed: it was not approved")
            past = self._begin(batches, roles, work, options, approved)
            return self._run(past, work, options, approved, after, needless)

    def resume(
        self,
        work_of: Callable[[RecordedMaintenance], MaintenanceWork | None],
        options: MaintainOptions,
        given: Mapping[str, Any] = MappingProxyType({}),
    ) -> MaintenanceReport:
        """Go on with the unfinished maintenance at the step that was cut off.

        `work_of` makes its work again from its record; None gives it up: what was begun comes back without work.
        `given` are options that replace the recorded ones. Raises UsageError, OutputError.
        """
        with ExitStack() as after, self._alone():
            past = need_unfinished(self._kept_in)
            work = work_of(past)
            kept = {key: value for key, value in past.options.items() if key in KEPT}
            options = replace(options, **{**kept, **given})
            if work is not None or shut_down(self.fabric) & past.left().keys():
                self._check_unchanged(past)
            doing = f"{'go on with' if work is not None else 'give up'} the maintenance {past.name}"
            options.tell(f"{doing}: {some(name for name, one in past.devices.items() if not one.finished)}")
            approved = options.approve(f"{doing.capitalize()}?")
            if not approved:
                raise DeployError("nothing more was changed: it was not approved")
            return self._run(past, work, options, approved, after)

    def last(self) -> RecordedMaintenance | None:
        """Return the last maintenance by its record, None if there is none. Raises OutputError."""
        return newest(self._kept_in)

    @property
    def _runs(self) -> StateDirectory:
        return records_of(self.fabric, self.state)

    @property
    def _kept_in(self) -> StateDirectory:
        return maintenances(self._runs)

    @contextmanager
    def _alone(self) -> Iterator[None]:
        """Keep other maintenances out, and make sure that no run is going on. Raises UsageError, OutputError."""
        with self._kept_in.alone("the maintenance cannot be recorded", other="another maintenance"):
            with self._runs.alone():
                pass
            yield

    def _begin(
        self,
        batches: Sequence[Sequence[str]],
        roles: Mapping[str, str],
        work: MaintenanceWork,
        options: MaintainOptions,
        approved: str,
    ) -> RecordedMaintenance:
        """Record that a maintenance begins. Raises OutputError: then nothing may be changed."""
        state = self._kept_in
        name = state.new_run()
        with _recording(state, name) as log:
            log.reserve(len(roles))
            log.write(
                HEAD,
                **_who(options),
                approved=approved,
                fabric=str(self.fabric.absolute()),
                artifacts=str(self.artifacts.absolute()),
                files=digest_of(self.fabric),
                batches=[list(batch) for batch in batches],
                roles=dict(roles),
                work=dict(work.recorded),
                work_digest=work_digest(work.recorded),
                options={key: getattr(options, key) for key in KEPT},
            )
        return read(state, name, state.events(name))

    def _run(
        self,
        past: RecordedMaintenance,
        work: MaintenanceWork | None,
        options: MaintainOptions,
        approved: str,
        after: ExitStack,
        needless: Mapping[str, str] = MappingProxyType({}),
    ) -> MaintenanceReport:
        """Do what is left of a maintenance, and record and tell how it ended; `after` waits for its hooks.

        Raises UsageError, IntentError and OutputError before anything is done.
        """
        hooks = self._hooks()
        after.callback(hooks.finish)
        state, stopped, unrecorded = self._kept_in, "", ""
        with _recording(state, past.name) as log:
            log.reserve(len(past.devices))
            log.write("part", **_who(options), approved=approved, gives_up=work is None)
            devices = dict(past.devices)
            hooks.send(START, _told(past.name, devices))
            steps = MaintenanceSteps(
                self.fabric,
                self.artifacts,
                self.connect,
                self._runs,
                log,
                devices,
                work,
                options,
                approved,
                list(past.runs),
            )
            try:
                stopped = _carry_out(steps, past)
            except UnrecordedError as error:
                unrecorded = str(error)
        report = MaintenanceReport(
            past.name, state.log(past.name), devices, needless, stopped, unrecorded, work is None
        )
        hooks.send(END if report.complete else FAILURE, _told(past.name, devices) | _outcome(report))
        return report

    def _none_left(self) -> None:
        """Make sure that no maintenance is unfinished on a device. Raises UsageError, OutputError."""
        past = unfinished_one(self._kept_in)
        left = past.left() if past is not None else {}
        if past is not None and left:
            rows = ", ".join(f"{name} ({text})" for name, text in left.items())
            raise UsageError(
                f"the maintenance {past.name} is not finished: {rows}; --resume goes on with it, --give-up brings its "
                f"devices back without the work"
            )
        none_unsettled(self._runs)

    def _check_unchanged(self, past: RecordedMaintenance) -> None:
        """Make sure that the fabric file is as the maintenance left it. Raises UsageError, OutputError."""
        if digest_of(self.fabric) not in (past.files, past.expected):
            left, shut = past.left(), shut_down(self.fabric) & past.left().keys()
            undrain = f"'ailb-gen undrain --graceful-shutdown' for {some(sorted(shut))} and then " if shut else ""
            ways = f"bring it back to what it was then, or give {undrain}--give-up" if left else "begin another one"
            raise UsageError(
                f"{self.fabric}: it was changed since the maintenance {past.name} stopped; nothing was changed; {ways}"
            )


def _told(name: str, devices: Mapping[str, DeviceProgress]) -> dict[str, Any]:
    """Return what hooks are told of a maintenance: its record, and the state of every device."""
    return {"maintenance": name, "devices": {device: one.text for device, one in devices.items()}}


def _outcome(report: MaintenanceReport) -> dict[str, str]:
    """Return what hooks are told of its end."""
    state = STOPPED if not report.complete else GIVEN_UP if report.given_up else COMPLETE
    return {"state": state, "why": redact("\n".join(report.reasons))}


def _who(options: MaintainOptions) -> dict[str, object]:
    return {"version": __version__, "user": user_name(), "host": platform.node(), "command": list(options.command)}


@contextmanager
def _recording(state: StateDirectory, name: str) -> Iterator[RunLog]:
    with closing(RunLog(state, name, redact)) as log:
        yield log


def _carry_out(steps: MaintenanceSteps, past: RecordedMaintenance) -> str:
    """Do the steps of all batches; return why devices were not begun, empty if all is done. Raises UnrecordedError."""
    begun = [name for name, one in steps.devices.items() if one.left]
    batches = [[name for name in batch if not steps.devices[name].finished] for batch in past.batches]
    if steps.work is None:
        batches = [[name for name in batch if name in begun] for batch in batches]
    stopped = ""
    try:
        if begun:
            # What was cut off between the fabric file and the generated ones.
            steps.generate(begun)
        for batch in filter(None, batches):
            if steps.stopped():
                break
            if len(steps.failed) > steps.options.max_failures:
                break
            steps.do(batch)
    except UnrecordedError:
        raise
    except AilbError as error:
        stopped = str(error)
    if steps.stopped():
        stopped = "a signal asked for the end"
    elif not stopped and steps.failed:
        stopped = f"{some(steps.failed)} failed"
    complete = GIVEN_UP if steps.work is None else COMPLETE
    how = STOPPED if stopped or any(one.left for one in steps.devices.values()) else complete
    steps.record_end(how, stopped)
    if how == COMPLETE and steps.digest() != past.first:
        steps.options.warn(f"warning: {steps.fabric}: it is not what it was before; somebody has edited it meanwhile")
    return stopped


def maintainer(
    fabric: str | Path,
    artifacts: str | Path,
    *,
    inventory: Path | None = None,
    driver: Driver = "napalm",
    jobs: int = 32,
    accept_new_hostkeys: bool = False,
    state: Path | None = None,
    signals: Callable[[], int] = NO_SIGNALS,
    warn: Warn = unheeded,
) -> Maintainer:
    """Return what maintains the devices of a fabric; arguments are those of `connect`."""

    def reach(names: Sequence[str]) -> AbstractContextManager[Connection]:
        return connect(
            fabric,
            artifacts,
            inventory=inventory,
            limit=names,
            driver=driver,
            jobs=jobs,
            accept_new_hostkeys=accept_new_hostkeys,
            state=state,
            signals=signals,
            warn=warn,
        )

    def hooks() -> EventHooks:
        # The files may be those of another fabric file now: what was begun is given up all the same.
        with connect(fabric, inventory=inventory, warn=warn) as connection:
            return hooks_of(connection, "maintain", "maintenance")

    return Maintainer(Path(fabric), Path(artifacts), reach, hooks, state)
