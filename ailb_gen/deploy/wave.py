"""A wave: check the change on all its devices, commit it with a way back, verify it, then confirm or undo it.

Every device of the wave ends with its old or its new configuration, unlocked, with nothing pending; where that cannot
be reached the outcome says so. A device that gives no answer is queried for its state until its own timer must have
taken the change back.
"""

import time
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import count
from typing import Any, TypeVar

from ailb_gen.checks.compare import summary
from ailb_gen.deploy.device_pool import PAUSES, ByDevice, unreachable
from ailb_gen.deploy.planning import Plan, Wave
from ailb_gen.deploy.push import Push, StepClock, _recorded
from ailb_gen.deploy.run_history import DeviceOutcome, DeviceResult
from ailb_gen.deploy.switch_driver import DeviceError, ForeignError, Phase, RequestRefusedError, once
from ailb_gen.deploy.switch_state import ExpectedState, FabricModel
from ailb_gen.deploy.transaction import CommitState, Transaction
from ailb_gen.redact.text import redact
from ailb_gen.wording import counted, some

T = TypeVar("T")


@dataclass(slots=True)
class WaveRun:
    """One wave being pushed or settled; `transactions` holds its devices."""

    push: Push
    wave: Wave
    transactions: Mapping[str, Transaction[Any]]
    errors: dict[str, DeviceError] = field(default_factory=dict)
    touched: set[str] = field(default_factory=set)
    results: dict[str, DeviceResult] = field(default_factory=dict)
    # When the devices began to wait for a confirmation (monotonic seconds).
    since: float = 0.0
    clock: StepClock = field(default_factory=lambda: StepClock(time.monotonic()))

    def run(self) -> dict[str, DeviceResult]:
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

    def settle(self, keep: Collection[str], announced: bool = False) -> dict[str, DeviceResult]:
        """Finish devices that a change was begun on: those of `keep` with the new, all others with the old one.

        After a signal no device is waited for any more: those that did not answer need attention. Nothing is done that
        cannot be recorded, unless its `announced` record is on the disk already.
        """
        self.touched, self.since = set(self.wave.devices), time.monotonic()
        signals = self.push.pool.signals()
        with self.push.options.watch(self.wave.name) as self.clock.watch:
            try:
                self._confirm([name for name in self.wave.devices if name in keep])
                left = self.touched - {
                    name for name, one in self.results.items() if one.outcome is DeviceOutcome.CONFIRMED
                }
                if self.push.pool.signals() > signals:
                    # What was to be confirmed is not taken back only because it is not waited for.
                    self.results.update(
                        {n: _result(DeviceOutcome.ATTENTION, self.errors.get(n)) for n in left & set(keep)}
                    )
                if announced or not self.push.unrecorded:
                    self._undo(left, recorded=not announced)
                if self.push.unrecorded:
                    reason = DeviceResult(DeviceOutcome.ATTENTION, self.push.unrecorded)
                    self.results.update({name: reason for name in left if name not in self.results})
            finally:
                self._release()
        return self._end()

    def _end(self) -> dict[str, DeviceResult]:
        untouched = {name: _result(DeviceOutcome.UNTOUCHED, self.errors.get(name)) for name in self.wave.devices}
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
        refused = {name: error for name, error in found.bad.items() if isinstance(error, RequestRefusedError)}
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
        self.results.update({name: DeviceResult(DeviceOutcome.CONFIRMED) for name in found.good})

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
            self.results[name] = _result(DeviceOutcome.ROLLED_BACK, self.errors.get(name))
        self._fail(found.bad)
        self.results.update({name: _result(DeviceOutcome.ATTENTION, error) for name, error in found.bad.items()})

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


def _is_final(result: DeviceResult) -> bool:
    return result.outcome in (DeviceOutcome.ROLLED_BACK, DeviceOutcome.ATTENTION)


def _difference(name: str, found: tuple[str, ...] | DeviceError) -> DeviceError:
    if isinstance(found, DeviceError):
        return found
    return DeviceError(name, Phase.VERIFY, summary(found))


def _result(outcome: DeviceOutcome, error: DeviceError | None) -> DeviceResult:
    return DeviceResult(outcome, str(error), error.phase) if error is not None else DeviceResult(outcome)


INTERRUPTED = "it was interrupted"


@dataclass(slots=True)
class RunReport:
    """The final state of every device of a run, in the order of the waves; `refused` are those of the first check.

    `about` is the run that was taken back, where that is another one; `unrecorded` is why the record could not be
    written to its end.
    """

    run: str
    results: dict[str, DeviceResult] = field(default_factory=dict)
    refused: dict[str, str] = field(default_factory=dict)
    stopped: str = ""
    about: str = ""
    unrecorded: str = ""

    def names(self, *outcomes: DeviceOutcome) -> list[str]:
        """Return the devices that ended so."""
        return [name for name, result in self.results.items() if result.outcome in outcomes]

    @property
    def failures(self) -> dict[str, str]:
        """The devices that failed, with the reasons."""
        return {name: result.reason for name, result in self.results.items() if result.reason}


@dataclass(slots=True)
class Rollout:
    """Pushes the waves of a plan; `transaction` makes the transaction of a device from what it must show then."""

    push: Push
    transaction: Callable[[str, ExpectedState], Transaction[Any]]
    plan: Plan

    def run(self, old: Mapping[str, str], attempt: int = 0) -> RunReport:
        """Check the change on every device, then push the waves; `old` are the fingerprints that the run began with.

        `attempt` counts how often it was resumed. Raises OutputError when nothing can be recorded, before any change.
        """
        report = RunReport(self.push.log.run)
        waves = self.plan.waves
        names = [name for wave in waves for name in wave.devices]
        self.push.log.write(
            "run",
            waves=[[wave.name, list(wave.devices)] for wave in waves],
            leg=attempt,
            old={name: old[name] for name in names},
        )
        if self._check(names, report) and not self.push.options.dry_run:
            left = [Wave(wave.name, tuple(n for n in wave.devices if n not in report.refused)) for wave in waves]
            self._push([wave for wave in left if wave.devices], report)
        return report

    def _check(self, names: Sequence[str], report: RunReport) -> bool:
        transactions = {name: self.transaction(name, self.plan.fabric_model.expected(name)) for name in names}
        with self.push.options.progress("checking", len(names)) as advance:
            found = self.push.check(transactions, advance)
        report.refused.update({name: str(error) for name, error in found.bad.items()})
        self.push.failed += len(found.bad)
        accept = "accepts" if len(found.good) == 1 else "accept"
        self.push.options.tell(f"checked on {counted(len(names), 'device')}: {len(found.good):,} {accept} the change")
        if self.push.stopped():
            report.stopped = INTERRUPTED
        return self.push.failed <= self.push.options.limits.failures and not report.stopped

    def _push(self, waves: Sequence[Wave], report: RunReport) -> None:
        fabric = self.plan.fabric_model
        for number, wave in enumerate(waves, 1):
            if self.push.stopped():
                report.stopped = INTERRUPTED
                break
            self.push.options.tell(f"wave {number} of {len(waves)}: {wave.name}: {some(wave.devices)}")
            results = WaveRun(self.push, wave, self._transactions(fabric, wave)).run()
            report.results.update(results)
            confirmed = [name for name, result in results.items() if result.outcome is DeviceOutcome.CONFIRMED]
            fabric = self._after(fabric, confirmed)
            if self.push.going_on() or (number == len(waves) and len(confirmed) == len(wave.devices)):
                continue
            report.stopped = INTERRUPTED if self.push.stopped() else f"wave {number} failed"
            # What cannot be recorded is not begun: what earlier waves did stays until there is space again.
            if self.push.options.on_failure == "rollback-all" and not self.push.unrecorded:
                self._back(fabric, waves[: number - 1], report)
            break
        report.unrecorded = self.push.unrecorded
        for wave in waves:
            for name in wave.devices:
                report.results.setdefault(name, DeviceResult(DeviceOutcome.UNTOUCHED))

    def _transactions(self, fabric: FabricModel, wave: Wave) -> dict[str, Transaction[Any]]:
        """Make the transactions of a wave; each device must show what follows when all of the wave has changed."""
        then = self._after(fabric, wave.devices)
        alarms = {name: look.alarms for name, look in self.plan.switches.items()}
        return {name: self.transaction(name, then.expected(name, alarms.get(name, ()))) for name in wave.devices}

    def _after(self, fabric: FabricModel, names: Collection[str]) -> FabricModel:
        return fabric.after({name: self.plan.switches[name].after for name in names if name in self.plan.switches})

    def _back(self, fabric: FabricModel, waves: Sequence[Wave], report: RunReport) -> None:
        """Bring back what earlier waves had before, the last one first."""
        kept = [
            (wave, tuple(n for n in wave.devices if report.results[n].outcome is DeviceOutcome.CONFIRMED))
            for wave in waves
        ]
        # All of them at once, so that what a crash leaves is known.
        if not self.push.record("reverting", devices=[name for _, names in kept for name in names]):
            return
        for wave, names in reversed(kept):
            if names:
                self.push.options.tell(f"rolling back {wave.name}: {some(names)}")
                back = Wave(wave.name, names)
                undoing = WaveRun(self.push, back, self._transactions(fabric, wave))
                report.results.update(undoing.settle(frozenset(), announced=True))
