"""The steps of a maintenance, device by device: each is recorded before it begins, and when it is done."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Collection, Iterable, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from ailb_gen.api.drain import drain, undrain
from ailb_gen.api.file_edits import BYTE_ORDER_MARK
from ailb_gen.api.generate import generate
from ailb_gen.api.inputs import load
from ailb_gen.api.maintain_checks import Quiet, deviations, read_ports, summary, surroundings
from ailb_gen.api.maintain_options import Connecting, MaintainOptions
from ailb_gen.deploy.maintenance_record import (
    BEGIN,
    DONE,
    FAILED,
    OVER,
    RUN,
    SPINE,
    DeviceProgress,
    MaintenanceStep,
    steps_of,
)
from ailb_gen.deploy.maintenance_work import WorkDevice, check_ended
from ailb_gen.deploy.push import PushOptions, RunLog
from ailb_gen.deploy.run_history import DeviceOutcome, StateDirectory, unsettled
from ailb_gen.errors import AilbError, DeployError, OutputError, UsageError
from ailb_gen.layout import owner
from ailb_gen.wording import some

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ailb_gen.api.connect import Connection
    from ailb_gen.api.drain import DrainChange
    from ailb_gen.checks.model import Finding
    from ailb_gen.deploy.maintenance_work import MaintenanceWork
    from ailb_gen.deploy.session import DeploySession
    from ailb_gen.deploy.wave import RunReport
    from ailb_gen.render.compare import Changes


class UnrecordedError(OutputError):
    """The record of a maintenance cannot be written: nothing more may be begun."""


def digest_of(fabric: Path) -> str:
    """Return the digest by which a fabric file is known again. Raises OutputError."""
    try:
        return hashlib.sha256(fabric.read_bytes()).hexdigest()
    except OSError as error:
        raise OutputError(f"{fabric}: cannot read the file: {error.strerror}") from error


def shut_down(fabric: Path) -> set[str]:
    """Return the entries of `graceful_shutdown` in a fabric file. Raises IntentError."""
    return {str(entry) for entry in load(fabric).fabric.graceful_shutdown}


@dataclass(slots=True)
class MaintenanceSteps:
    """Does the steps of some devices, and records them. `work` None: none is done any more, devices only come back.

    `records` are the runs of the fabric, `runs` those that this maintenance has begun. `failed` are the devices that
    failed in this call, with the reasons.
    """

    fabric: Path
    artifacts: Path
    connect: Connecting
    records: StateDirectory
    log: RunLog
    devices: dict[str, DeviceProgress]
    work: MaintenanceWork | None
    options: MaintainOptions
    approved: str = ""
    runs: list[str] = field(default_factory=list)
    failed: dict[str, str] = field(default_factory=dict)
    # What deviated around the devices before anything was done with them.
    _known: tuple[Finding, ...] = ()

    def stopped(self) -> bool:
        """Return whether a signal asks for the end."""
        return bool(self.options.signals())

    def do(self, names: Sequence[str]) -> None:
        """Do what is left of the steps of devices that are worked on together.

        What fails is noted, and leaves its device as it is. Raises UnrecordedError.
        """
        self._known = ()
        if self.work is None:
            self._skip_work(names)
        else:
            self._look_before([name for name in names if not self.devices[name].touched])
        self._drain(self._ready(names, MaintenanceStep.DRAIN))
        if any(MaintenanceStep.VERIFY not in self.devices[name].done for name in self._alive(names)):
            with self._noting(names), self.connect(names) as connection:
                self._wait_until_quiet(connection, self._ready(names, MaintenanceStep.QUIET, MaintenanceStep.WORK))
                self._do_work(connection, self._ready(names, MaintenanceStep.WORK))
                self._verify(connection, self._ready(names, MaintenanceStep.VERIFY))
        self._return(self._ready(names, MaintenanceStep.RETURN))

    def _skip_work(self, names: Sequence[str]) -> None:
        """Note that nothing more is worked on; what the files do not have drained cannot be verified so."""
        shut = shut_down(self.fabric)
        for name in names:
            one = self.devices[name]
            if MaintenanceStep.WORK not in one.done:
                with self._noting([name]):
                    check_ended(self.log.path.parent, name)
                if name in self.failed:
                    continue
            drained = (MaintenanceStep.DRAIN in one.done and name in shut) or one.role != SPINE
            for step in (
                MaintenanceStep.DRAIN,
                MaintenanceStep.QUIET,
                MaintenanceStep.WORK,
                *(() if drained else (MaintenanceStep.VERIFY,)),
            ):
                if step in steps_of(one.role) and step not in one.done:
                    # A drain that was cut off may have written the fabric file, which is to be known again.
                    self.end(step, [name], skipped=True, files=self.digest())

    def _alive(self, names: Iterable[str]) -> list[str]:
        """Return the devices that the next step may be done with."""
        return [] if self.stopped() else [name for name in names if name not in self.failed]

    def _ready(self, names: Iterable[str], *steps: MaintenanceStep) -> list[str]:
        """Return the devices whose next step is one of these."""
        return [name for name in self._alive(names) if self.devices[name].next in steps]

    def begin(self, step: MaintenanceStep, names: Sequence[str], **more: object) -> None:
        """Record that devices begin a step. Raises UnrecordedError: then it must not be begun."""
        self._write(BEGIN, step=str(step), devices=list(names), **more)
        for name in names:
            self.devices[name].begin(step)

    def end(self, step: MaintenanceStep, names: Sequence[str], skipped: bool = False, **more: object) -> None:
        """Record that devices are done with a step, or that it is not done any more. Raises UnrecordedError."""
        self._write(DONE, step=str(step), devices=list(names), skipped=skipped, **more)
        for name in names:
            self.devices[name].end(step, skipped)

    def fail(self, names: Iterable[str], reason: str) -> None:
        """Note that devices failed, and why: they stay as they are."""
        rows = {name: reason if reason.startswith(f"{name}: ") else f"{name}: {reason}" for name in names}
        self.failed |= rows
        for name, text in rows.items():
            self.devices[name].reason = text
            self.options.tell(f"  {text}")
        self._write(FAILED, devices=rows)

    def record_end(self, how: str, stopped: str) -> None:
        """Record how the maintenance ended. Raises UnrecordedError."""
        self._write(OVER, how=how, stopped=stopped)

    def _write(self, event: str, **more: object) -> None:
        try:
            self.log.write(event, **more)
        except OutputError as error:
            raise UnrecordedError(str(error)) from error

    @contextmanager
    def _noting(self, names: Iterable[str]) -> Iterator[None]:
        """Note errors of the program's own tree as failures of devices; a record that cannot be written ends all."""
        try:
            yield
        except UnrecordedError:
            raise
        except AilbError as error:
            self.fail([name for name in names if name not in self.failed], str(error))

    def _look_before(self, names: Sequence[str]) -> None:
        """Look at devices and peers before anything is changed; what else is wrong is known where others failed."""
        if not names:
            return
        with self._noting(names), self.connect(names) as connection:
            found = deviations(connection.context, names)
            if self.stopped():
                return
            own = [one for one in found if one.device in names]
            others = any(one.left for one in self.devices.values())
            if own or (found and not others):
                raise DeployError(f"it was not begun, because not all is as designed:\n{summary(found)}")
            self._known = found

    # The fabric file, the generated files, the push.

    def _drain(self, names: Sequence[str]) -> None:
        if not names:
            return
        change = partial(drain, self.fabric, names, graceful_shutdown=True, floor=self.options.floor)
        with self._noting(names):
            self.begin(MaintenanceStep.DRAIN, names, files=self._after(change(write=False)))
            self.options.tell(f"{some(names)}: graceful shutdown")
            change(write=True)
            self.generate(names)
            self._push(names)
            self.end(MaintenanceStep.DRAIN, names, files=self.digest())

    def _return(self, names: Sequence[str]) -> None:
        if not names:
            return
        with self._noting(names):
            shut = shut_down(self.fabric)
            entries = [name for name in names if name in shut]
            change = partial(undrain, self.fabric, entries, graceful_shutdown=True)
            self.begin(
                MaintenanceStep.RETURN, names, files=self._after(change(write=False)) if entries else self.digest()
            )
            self.options.tell(f"{some(names)}: back into service")
            if entries:
                change(write=True)
            self.generate(names)
            self._push(names)
            with self.connect(names) as connection:
                found = self._as_designed(connection, names)
            if found:
                self.fail(names, f"it is back in service, and not all is as designed:\n{summary(found)}")
            elif not self.stopped():
                self.end(MaintenanceStep.RETURN, names, files=self.digest())

    def digest(self) -> str:
        """Return the digest of the fabric file. Raises OutputError."""
        return digest_of(self.fabric)

    def _after(self, change: DrainChange) -> str:
        """Return the digest that the fabric file has after an edit."""
        for edit in change.edits:
            mark = BYTE_ORDER_MARK if edit.data.startswith(BYTE_ORDER_MARK.encode()) else ""
            return hashlib.sha256(f"{mark}{edit.after}".encode()).hexdigest()
        return self.digest()

    def generate(self, names: Sequence[str]) -> None:
        """Generate the files again; nothing but those of the devices may change. Raises AilbError."""

        def permit(changes: Changes) -> None:
            strange = foreign_changes(changes, names)
            if strange:
                raise UsageError(
                    f"{self.artifacts}: generating would also change {some(strange)}; nothing was generated; the files "
                    f"of the fabric were changed meanwhile: bring them back, or deploy that first"
                )

        templates, form = self.options.templates, self.options.form
        generate(self.fabric, self.artifacts, templates=templates, form=form, permit=permit)

    def _push(self, names: Sequence[str]) -> None:
        """Push to devices what the files say, in a run of its own; one that was cut off is settled first.

        Raises AilbError.
        """
        options = PushOptions(
            self.options.limits,
            min_paths=self.options.min_paths,
            approve=lambda question: self.approved,
            tell=self.options.tell,
            progress=self.options.progress,
            watch=self.options.watch,
            recorded={"maintenance": self.log.run},
            begun=self._begun,
            command=self.options.command,
        )
        with self.connect(names) as connection:
            for run in [past.run for past in unsettled(self.records) if past.run in self.runs]:
                try:
                    check_pushed(connection.resume(run, options))
                except UsageError:
                    # It is settled and cannot continue: the files are others now. What they say is pushed below.
                    if any(past.run == run for past in unsettled(self.records)):
                        raise
            check_pushed(connection.deploy(options))

    def _begun(self, run: str) -> None:
        if run not in self.runs:
            self._write(RUN, push=run)
            self.runs.append(run)

    # The work, and what is looked at around it.

    def _wait_until_quiet(self, connection: Connection, names: Sequence[str]) -> None:
        """Read the counters of devices until their traffic has gone."""
        if not names:
            return
        self.begin(MaintenanceStep.QUIET, names)
        session, until = connection.context, time.monotonic() + self.options.wait_s
        watched = {name: Quiet(name, surroundings(session, [name]).ports, self.options.quiet_bps) for name in names}
        with self.options.progress(f"waiting until the traffic of {some(names)} has gone", len(names)) as advance:
            while watched and not self.stopped():
                found = read_ports(session, list(watched))
                still = [name for name, one in watched.items() if not one.take(*found)]
                gone = [name for name in watched if name not in still]
                if gone:
                    self.end(MaintenanceStep.QUIET, gone)
                    advance(len(gone))
                watched = {name: watched[name] for name in still}
                if time.monotonic() >= until:
                    # What is quiet so far is looked at until that is sure, however short the wait is.
                    late = {name: one for name, one in watched.items() if one.failing}
                    for name, one in late.items():
                        self.fail(
                            [name], f"there is still traffic after {self.options.wait_s:g} s of --quiet-timeout: {one}"
                        )
                    watched = {name: one for name, one in watched.items() if name not in late}
                if watched:
                    session.pool.pause(self.options.pause_s, 0)

    def _do_work(self, connection: Connection, names: Sequence[str]) -> None:
        """Do the work on devices, on all at once."""
        if not names or self.work is None:
            return
        from concurrent.futures import ThreadPoolExecutor, as_completed

        self.begin(MaintenanceStep.WORK, names)
        self.options.tell(f"{some(names)}: work begins")
        with ThreadPoolExecutor(len(names), "work") as threads:
            jobs = {
                threads.submit(
                    self.work, work_device(connection.context, name, self.log.path.parent, self.options)
                ): name
                for name in names
            }
            for job in as_completed(jobs):
                with self._noting([jobs[job]]):
                    job.result()
                    self.end(MaintenanceStep.WORK, [jobs[job]])
                    self.options.tell(f"{jobs[job]}: work done")

    def _verify(self, connection: Connection, names: Sequence[str]) -> None:
        """Wait until devices answer again, and they and their peers are as designed."""
        if not names:
            return
        self.begin(MaintenanceStep.VERIFY, names)
        found = self._as_designed(connection, names)
        if found:
            self.fail(names, f"after the work not all is as designed:\n{summary(found)}")
        elif not self.stopped():
            self.end(MaintenanceStep.VERIFY, names)

    def _as_designed(self, connection: Connection, names: Sequence[str]) -> tuple[Finding, ...]:
        """Look until nothing deviates around devices but what did before, or time is up; return what does."""
        until = time.monotonic() + self.options.back_s
        told = False
        with self.options.progress(f"verifying {some(names)} and their peers", 1):
            while True:
                found = tuple(one for one in deviations(connection.context, names) if one not in self._known)
                if not found or self.stopped() or time.monotonic() >= until:
                    return () if self.stopped() else found
                if not told:
                    told = True
                    rest = f"looking again for {self.options.back_s:g} s of --return-timeout"
                    self.options.tell(f"{some(names)}: not as designed yet, {rest}:\n{summary(found)}")
                connection.context.pool.pause(self.options.pause_s, 0)


def work_device(session: DeploySession, name: str, folder: Path, options: MaintainOptions) -> WorkDevice:
    """Return a device as work sees it."""
    target, mask = session.inventory.targets[name], session.mask
    before = f"{name}: " if options.at_once > 1 else ""
    return WorkDevice(
        name,
        target.role,
        target.hostname,
        session,
        folder,
        lambda text: options.tell(mask(text)),
        lambda text: options.write(f"{before}{mask(text)}"),
        lambda: bool(options.signals()),
        options.progress,
    )


def foreign_changes(changes: Changes, names: Collection[str]) -> list[str]:
    """Return the devices, other than some, whose files change."""
    owners = {owner(path)[1] for path in (*changes.new, *changes.changed, *changes.deleted)}
    return sorted(owners - {"", *names})


def check_pushed(report: RunReport) -> None:
    """Make sure that a push came to its end on all devices. Raises DeployError with what became of the others."""
    ended = {name: str(one.outcome) for name, one in report.results.items() if one.outcome != DeviceOutcome.CONFIRMED}
    lines = [*report.refused.values(), *report.failures.values()]
    lines += [f"{name}: {outcome}" for name, outcome in ended.items() if name not in report.failures]
    lines += [text for text in (report.stopped, report.unrecorded) if text]
    if lines:
        raise DeployError(f"the push (run {report.run}) did not come to its end: {'; '.join(dict.fromkeys(lines))}")
