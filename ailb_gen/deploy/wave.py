"""A wave: check the change on all its devices, commit it with a way back, verify it, then confirm or undo it.

Every device of the wave ends with its old or its new configuration, unlocked, with nothing pending; where that cannot
be reached the outcome says so. A device that gives no answer is asked for its state until its own timer must have taken
the change back.
"""

import time
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from enum import StrEnum
from itertools import count
from typing import Any, TypeVar

from ailb_gen.deploy.device_pool import PAUSES, ByDevice, DevicePool, UnforeseenError, unreachable
from ailb_gen.deploy.options import RunOptions, Unwatched, Watch
from ailb_gen.deploy.runlog import RunLog
from ailb_gen.deploy.switch import DeviceError, ForeignError, Phase, RefusedError, once
from ailb_gen.deploy.transaction import CommitState, Transaction
from ailb_gen.deploy.wave_order import Wave
from ailb_gen.errors import OutputError
from ailb_gen.redact.text import redact
from ailb_gen.wording import some

T = TypeVar("T")


class Outcome(StrEnum):
    """The final state of a device."""

    CONFIRMED = "confirmed"
    UNTOUCHED = "untouched"
    ROLLED_BACK = "rolled back"
    AS_IS = "left as it is"
    ATTENTION = "needs attention"


@dataclass(frozen=True, slots=True)
class Result:
    """The final state of a device, and the error that led to it, if any."""

    outcome: Outcome
    reason: str = ""
    phase: Phase | None = None


@dataclass(slots=True)
class Push:
    """Data shared by the waves of a run: devices, record, options; `failed` counts the devices that failed so far.

    `unrecorded` is why the record cannot be written any more, empty while it can.
    """

    pool: DevicePool
    log: RunLog
    options: RunOptions
    failed: int = 0
    unrecorded: str = ""

    def stopped(self) -> bool:
        """Return whether a signal asked for the end of the run."""
        return bool(self.pool.signals())

    def going_on(self) -> bool:
        """Return whether the next step may be done: not stopped, recorded so far, no more failures than allowed."""
        return self.failed <= self.options.limits.failures and not self.stopped() and not self.unrecorded

    def record(self, event: str, **fields: object) -> bool:
        """Record an event; return whether it is recorded. If not, nothing new may be begun."""
        try:
            self.log.write(event, **fields)
        except OutputError as error:
            if not self.unrecorded:
                self.unrecorded = str(error)
                self.options.tell(f"  {error}")
            return False
        return True

    def check(
        self, transactions: Mapping[str, Transaction[Any]], advance: Callable[[int], None] = lambda number: None
    ) -> ByDevice[str]:
        """Check a change on every device and leave nothing behind; the values identify what was checked."""

        def work(name: str, connection: Any) -> str:
            try:
                return transactions[name].stage(connection)
            finally:
                # What fails here ends with the session, and must not hide what failed before.
                with suppress(DeviceError):
                    transactions[name].release(connection)

        outcomes = self.pool.run(transactions, work, Phase.CHECK, advance, keep=False)
        self.log.write("checked", devices=sorted(outcomes.good))
        for name, error in outcomes.bad.items():
            self.log.write("error", device=name, **_recorded(error))
        return outcomes


@dataclass(slots=True)
class StepClock:
    """When every device did which step, in seconds since `began` (monotonic): name, then step, start and end.

    A step that is repeated lasts from its first start to its last end.
    """

    began: float
    steps: dict[str, list[list[object]]] = field(default_factory=dict)
    watch: Watch = field(default_factory=Unwatched)

    def now(self) -> float:
        """Return the time."""
        return round(time.monotonic() - self.began, 3)

    def timed(self, phase: Phase, work: Callable[[str, Any], T], names: Collection[str]) -> Callable[[str, Any], T]:
        """Return the same work, timed; these devices begin it."""
        self.watch.begin(str(phase), names)

        def run(name: str, connection: Any) -> T:
            start = self.now()
            try:
                return work(name, connection)
            finally:
                self.watch.end(name)
                # A device does one step at a time, so its row belongs to one thread.
                rows = self.steps.setdefault(name, [])
                if rows and rows[-1][0] == phase:
                    rows[-1][2] = self.now()
                else:
                    rows.append([str(phase), start, self.now()])

        return run


@dataclass(slots=True)
class WaveRun:
    """One wave being pushed or settled; `transactions` holds its devices."""

    push: Push
    wave: Wave
    transactions: Mapping[str, Transaction[Any]]
    errors: dict[str, DeviceError] = field(default_factory=dict)
    touched: set[str] = field(default_factory=set)
    results: dict[str, Result] = field(default_factory=dict)
    # When the devices began to wait for a confirmation (monotonic seconds).
    since: float = 0.0
    clock: StepClock = field(default_factory=lambda: StepClock(time.monotonic()))

    def run(self) -> dict[str, Result]:
        """Push the wave; it is undone where its record cannot be written."""
        with self.push.options.watch(self.wave.name) as self.clock.watch:
            try:
                self._record("wave", devices=list(self.wave.devices))
                good = self._stage()
                if good:
                    self._finish(self._verify(self._apply(good)))
            except BaseException:
                # An unforeseen error: nothing of this wave may stay.
                self._undo(self.touched)
                raise
            finally:
                self._release()
        return self._end()

    def settle(self, keep: Collection[str], announced: bool = False) -> dict[str, Result]:
        """Finish devices that a change was begun on: those of `keep` with the new, all others with the old one.

        After a signal no device is waited for any more: those that did not answer need attention. Nothing is done that
        cannot be recorded, unless its `announced` record is on the disk already.
        """
        self.touched, self.since = set(self.wave.devices), time.monotonic()
        signals = self.push.pool.signals()
        with self.push.options.watch(self.wave.name) as self.clock.watch:
            try:
                self._confirm([name for name in self.wave.devices if name in keep])
                left = self.touched - {name for name, one in self.results.items() if one.outcome is Outcome.CONFIRMED}
                if self.push.pool.signals() > signals:
                    # What was to be confirmed is not taken back only because it is not waited for.
                    self.results.update({n: _result(Outcome.ATTENTION, self.errors.get(n)) for n in left & set(keep)})
                if announced or not self.push.unrecorded:
                    self._undo(left, recorded=not announced)
                if self.push.unrecorded:
                    reason = Result(Outcome.ATTENTION, self.push.unrecorded)
                    self.results.update({name: reason for name in left if name not in self.results})
            finally:
                self._release()
        return self._end()

    def _end(self) -> dict[str, Result]:
        untouched = {name: _result(Outcome.UNTOUCHED, self.errors.get(name)) for name in self.wave.devices}
        results = {**untouched, **self.results}
        rows = {name: [str(one.outcome), one.reason] for name, one in results.items()}
        self._record("results", devices=rows, seconds=self.clock.now(), steps=self.clock.steps)
        return results

    def _stage(self) -> list[str]:
        """Check the change on all devices; return those to continue with: none if too many failed."""
        found = self._step(self.wave.devices, Phase.CHECK, lambda name, c: self.transactions[name].stage(c))
        self._fail(found.bad)
        good = [name for name in self.wave.devices if name in found.good]
        self._record("checked", devices=good)
        return good if self.push.going_on() else []

    def _apply(self, names: list[str]) -> list[str]:
        """Commit with a way back; return the devices that have the new configuration now."""
        minutes = self.push.options.limits.minutes
        if not self._record("committing", devices=names, minutes=minutes):
            return []
        self.touched.update(names)
        self.since = time.monotonic()
        found = self._step(names, Phase.COMMIT, lambda name, c: self.transactions[name].apply(c, minutes))
        for name, warnings in found.good.items():
            for text in map(redact, warnings):
                self._record("warning", device=name, text=text)
                self.push.options.tell(f"  {name}: warning: {text}")
        refused = {name: error for name, error in found.bad.items() if isinstance(error, RefusedError)}
        # A refused commit changed nothing; after any other error the device is queried.
        silent = {name: error for name, error in found.bad.items() if name not in refused}
        self.touched.difference_update(refused)
        self._fail(refused)
        if silent and self.push.going_on():
            ask = self.clock.timed(Phase.COMMIT, lambda name, c: self.transactions[name].commit_state(c), silent)
            states = self.push.pool.persist(silent, ask, Phase.READ, self._half_time())
            changed = [name for name in silent if states.good.get(name) in (CommitState.PENDING, CommitState.NEW)]
            self._record("asked again", devices=changed)
            silent = {name: error for name, error in silent.items() if name not in changed}
        self._fail(silent)
        return [name for name in names if name not in self.errors]

    def _verify(self, names: list[str]) -> list[str]:
        """Wait until all is as expected; return the devices where it is."""
        until = time.monotonic() + self.push.options.limits.verify_s
        waiting, wrong = list(names), dict[str, list[str]]()
        for turn in count():
            if not waiting or not self.push.going_on():
                break
            found = self._step(waiting, Phase.VERIFY, lambda name, c: self.transactions[name].verify(c))
            waiting = [name for name in waiting if found.get(name) != ()]
            if waiting and time.monotonic() >= until:
                wrong = {name: list(one) for name in waiting if not isinstance(one := found[name], DeviceError)}
                self._fail({name: _difference(name, found[name]) for name in waiting})
                break
            if waiting:
                self.push.pool.pause(PAUSES[min(turn, len(PAUSES) - 1)], 0)
        good = [name for name in names if name not in waiting]
        self._record("verified", devices=good, **({"differences": wrong} if wrong else {}))
        return good

    def _finish(self, good: list[str]) -> None:
        """Confirm what is good, then undo the rest: undoing may take until the devices have done it by themselves."""
        if self.push.going_on():
            self._confirm(good)
        self._undo([name for name in self.touched if name in self.errors] if self.push.going_on() else self.touched)

    def _confirm(self, names: Sequence[str]) -> None:
        if not names or not self._record("confirming", devices=list(names)):
            return
        found = self._persist(
            names, lambda name, c: self.transactions[name].confirm(c), Phase.CONFIRM, self._half_time()
        )
        self._fail(found.bad)
        self.results.update({name: Result(Outcome.CONFIRMED) for name in found.good})

    def _undo(self, names: Iterable[str], recorded: bool = False) -> None:
        """Bring the old configuration back, at the latest when the device's own timer has done it.

        Undoing what this wave began goes before recording, unless it must be `recorded`.
        """
        left = sorted(name for name in names if name not in self.results or not _is_final(self.results[name]))
        if not left:
            return
        if not self._record("reverting", devices=left) and recorded:
            return
        self.push.options.tell(f"  rolling back {some(left)}")
        limits = self.push.options.limits
        until = self.since + limits.minutes * limits.minute_s + limits.grace_s
        found = self._persist(left, lambda name, c: self.transactions[name].revert(c), Phase.ROLLBACK, until)
        for name in found.good:
            self.results[name] = _result(Outcome.ROLLED_BACK, self.errors.get(name))
        self._fail(found.bad)
        self.results.update({name: _result(Outcome.ATTENTION, error) for name, error in found.bad.items()})

    def _persist(
        self, names: Collection[str], work: Callable[[str, Any], None], phase: Phase, until: float
    ) -> ByDevice[None]:
        """Do a step until it is done, or `until`; a signal ends the waiting."""
        signals = self.push.pool.signals()
        found = self.push.pool.persist(names, self.clock.timed(phase, work, names), phase, until, _worth_repeating)
        self._record_errors(found)
        if found.bad and self.push.pool.hurried(signals):
            self.push.options.tell(f"  interrupted: no longer waiting for {some(found.bad)}")
        return found

    def _release(self) -> None:
        """Discard and unlock where a session is open; what fails here ends with the session."""
        names = self.wave.devices
        try:
            self._step(names, Phase.UNLOCK, lambda name, c: self.transactions[name].release(c), connect=False)
        finally:
            self.push.pool.close(names)

    def _step(
        self, names: Collection[str], phase: Phase, work: Callable[[str, Any], Any], connect: bool = True
    ) -> ByDevice[Any]:
        found = self.push.pool.run(names, self.clock.timed(phase, work, names), phase, connect=connect)
        self._record_errors(found)
        return found

    def _record_errors(self, found: ByDevice[Any]) -> None:
        for name, error in found.bad.items():
            self._record("error", device=name, **_recorded(error))

    def _record(self, event: str, **fields: object) -> bool:
        return self.push.record(event, wave=self.wave.name, **fields)

    def _half_time(self) -> float:
        return self.since + self.push.options.limits.minutes * self.push.options.limits.minute_s / 2

    def _fail(self, errors: Mapping[str, DeviceError]) -> None:
        new = {name: error for name, error in errors.items() if name not in self.errors}
        self.errors.update(new)
        self.push.failed += len(new)
        for line in once(new.values()):
            self.push.options.tell(f"  {line}")


def _worth_repeating(error: DeviceError) -> bool:
    """Return whether trying again may help: a lock that is released, a disk that is cleared, a device that boots."""
    return unreachable(error) or not isinstance(error, ForeignError)


def _recorded(error: DeviceError) -> dict[str, str]:
    """Return what the record keeps of an error; of a bug, where it happened."""
    more = {"traceback": error.traceback} if isinstance(error, UnforeseenError) else {}
    return {"phase": str(error.phase), "error": str(error), **more}


def _is_final(result: Result) -> bool:
    return result.outcome in (Outcome.ROLLED_BACK, Outcome.ATTENTION)


def _difference(name: str, found: tuple[str, ...] | DeviceError) -> DeviceError:
    if isinstance(found, DeviceError):
        return found
    more = f", and {len(found) - 1} more" if len(found) > 1 else ""
    return DeviceError(name, Phase.VERIFY, f"{found[0]}{more}")


def _result(outcome: Outcome, error: DeviceError | None) -> Result:
    return Result(outcome, str(error), error.phase) if error is not None else Result(outcome)
