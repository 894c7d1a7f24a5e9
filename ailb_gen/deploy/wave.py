"""A wave: everything checked on all its devices, then committed with a way back, verified, and confirmed or undone.

Whatever happens, every device of the wave ends with its old or its new configuration, unlocked, with nothing pending;
where that cannot be brought about the outcome says so. A device that gives no answer is asked where it stands until
its own timer must have taken the change back.
"""

from __future__ import annotations

import time
from contextlib import suppress
from dataclasses import dataclass, field
from enum import StrEnum
from itertools import count
from typing import TYPE_CHECKING, Any

from ailb_gen.deploy.device_pool import PAUSES, UnforeseenError, unreachable
from ailb_gen.deploy.switch import DeviceError, ForeignError, Phase, RefusedError
from ailb_gen.deploy.transaction import CommitState
from ailb_gen.errors import OutputError
from ailb_gen.wording import some

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Mapping, Sequence

    from ailb_gen.deploy.device_pool import ByDevice, DevicePool
    from ailb_gen.deploy.runlog import RunLog
    from ailb_gen.deploy.transaction import Transaction


class Outcome(StrEnum):
    """How a device ended."""

    CONFIRMED = "confirmed"
    UNTOUCHED = "untouched"
    ROLLED_BACK = "rolled back"
    AS_IS = "left as it is"
    ATTENTION = "needs attention"


@dataclass(frozen=True, slots=True)
class Result:
    """How a device ended, and the error that led there, if one did."""

    outcome: Outcome
    reason: str = ""
    phase: Phase | None = None


@dataclass(frozen=True, slots=True)
class Wave:
    """Devices that are changed together; `name` says what they are."""

    name: str
    members: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Limits:
    """How long a push waits, and how much it puts up with.

    A device takes an unconfirmed change back after `minutes` of `minute_s` seconds, and may need `grace_s` more to be
    there again; it has `verify_s` seconds to come up; `failures` devices may fail before a wave is undone.
    """

    minutes: int = 5
    verify_s: float = 120.0
    failures: int = 0
    minute_s: float = 60.0
    grace_s: float = 120.0


def never() -> bool:
    """Tell that nobody asked to stop."""
    return False


@dataclass(slots=True)
class WaveRunner:
    """Pushes waves over a pool of devices.

    `failed` counts the devices that failed so far; `stop` tells whether somebody wants it to end, `tell` what happens
    to a person, `advance` how many devices a step is done with.
    """

    pool: DevicePool
    log: RunLog
    limits: Limits = Limits()
    stop: Callable[[], bool] = never
    tell: Callable[[str], None] = lambda text: None
    failed: int = 0

    def wave(self, wave: Wave, members: Mapping[str, Transaction[Any]]) -> dict[str, Result]:
        """Push one wave; `members` holds its devices. Raises OutputError, after undoing."""
        return _WaveRun(self, wave, members).run()

    def settle(self, wave: Wave, members: Mapping[str, Transaction[Any]], keep: Collection[str]) -> dict[str, Result]:
        """Bring devices that a change was begun on to their end: those of `keep` to the new, all others to the old."""
        return _WaveRun(self, wave, members).settle(keep)

    def check(
        self,
        members: Mapping[str, Transaction[Any]],
        advance: Callable[[int], None] = lambda number: None,
    ) -> ByDevice[str]:
        """Have a change checked on every device and leave nothing behind; the values identify what was checked."""

        def work(name: str, connection: Any) -> str:
            try:
                return members[name].stage(connection)
            finally:
                # What fails here ends with the session, and must not hide what failed before.
                with suppress(DeviceError):
                    members[name].release(connection)

        outcomes = self.pool.run(members, work, Phase.CHECK, advance, keep=False)
        self.log.write("checked", devices=sorted(outcomes.good))
        for name, error in outcomes.bad.items():
            self.log.write("error", device=name, **_told(error))
        return outcomes


@dataclass(slots=True)
class _WaveRun:
    push: WaveRunner
    wave: Wave
    members: Mapping[str, Transaction[Any]]
    errors: dict[str, DeviceError] = field(default_factory=dict)
    touched: set[str] = field(default_factory=set)
    results: dict[str, Result] = field(default_factory=dict)
    # When the devices began to wait for a confirmation (monotonic seconds).
    since: float = 0.0
    aborting: bool = False

    def run(self) -> dict[str, Result]:
        names = self.wave.members
        try:
            self._record("wave", devices=list(names))
            good = self._stage()
            if good:
                self._finish(self._verify(self._apply(good)))
        except BaseException:
            # The record cannot be written, or something nobody foresaw: nothing of this wave may stay.
            self.aborting = True
            self._undo(self.touched)
            raise
        finally:
            self._release()
        return self._end()

    def settle(self, keep: Collection[str]) -> dict[str, Result]:
        self.touched, self.since = set(self.wave.members), time.monotonic()
        try:
            self._confirm([name for name in self.wave.members if name in keep])
            self._undo(
                self.touched - {name for name, result in self.results.items() if result.outcome is Outcome.CONFIRMED}
            )
        finally:
            self._release()
        return self._end()

    def _end(self) -> dict[str, Result]:
        untouched = {name: _ending(Outcome.UNTOUCHED, self.errors.get(name)) for name in self.wave.members}
        results = {**untouched, **self.results}
        self._record("results", devices={name: [str(one.outcome), one.reason] for name, one in results.items()})
        return results

    def _stage(self) -> list[str]:
        """Have the change checked on all; return the devices to go on with: none if too many failed."""
        found = self._step(self.wave.members, Phase.CHECK, lambda name, c: self.members[name].stage(c))
        self._fail(found.bad)
        good = [name for name in self.wave.members if name in found.good]
        self._record("checked", devices=good)
        return good if self._going_on() else []

    def _apply(self, names: list[str]) -> list[str]:
        """Commit with a way back; return the devices that have the new configuration now."""
        minutes = self.push.limits.minutes
        self._record("committing", devices=names, minutes=minutes)
        self.touched.update(names)
        self.since = time.monotonic()
        found = self._step(names, Phase.COMMIT, lambda name, c: self.members[name].apply(c, minutes))
        for name, warnings in found.good.items():
            for text in warnings:
                self._record("warning", device=name, text=text)
                self.push.tell(f"  {name}: warning: {text}")
        refused = {name: error for name, error in found.bad.items() if isinstance(error, RefusedError)}
        # A commit that was refused changed nothing; after any other error the device has to tell.
        silent = {name: error for name, error in found.bad.items() if name not in refused}
        self.touched.difference_update(refused)
        self._fail(refused)
        if silent and self._going_on():
            stand = self.push.pool.persist(silent, self._standing, Phase.READ, self._half_time())
            came = [name for name in silent if stand.good.get(name) in (CommitState.PENDING, CommitState.NEW)]
            self._record("asked again", devices=came)
            silent = {name: error for name, error in silent.items() if name not in came}
        self._fail(silent)
        return [name for name in names if name not in self.errors]

    def _standing(self, name: str, connection: Any) -> CommitState:
        return self.members[name].commit_state(connection)

    def _verify(self, names: list[str]) -> list[str]:
        """Wait until all is as expected; return the devices where it is."""
        until = time.monotonic() + self.push.limits.verify_s
        waiting = list(names)
        for turn in count():
            if not waiting or not self._going_on():
                break
            found = self._step(waiting, Phase.VERIFY, lambda name, c: self.members[name].verify(c))
            waiting = [name for name in waiting if found.get(name) != ()]
            if waiting and time.monotonic() >= until:
                self._fail({name: _verdict(name, found[name]) for name in waiting})
                break
            if waiting:
                time.sleep(PAUSES[min(turn, len(PAUSES) - 1)])
        good = [name for name in names if name not in waiting]
        self._record("verified", devices=good)
        return good

    def _finish(self, good: list[str]) -> None:
        """Confirm what is good, then undo the rest: undoing may take until the devices have done it by themselves."""
        if self._going_on():
            self._confirm(good)
        self._undo([name for name in self.touched if name in self.errors] if self._going_on() else self.touched)

    def _confirm(self, names: Sequence[str]) -> None:
        if not names:
            return
        self._record("confirming", devices=list(names))
        work = self.push.pool.persist(
            names, lambda name, c: self.members[name].confirm(c), Phase.CONFIRM, self._half_time(), _worth_it
        )
        self._note_errors(work)
        self._fail(work.bad)
        self.results.update({name: Result(Outcome.CONFIRMED) for name in work.good})

    def _undo(self, names: Iterable[str]) -> None:
        """Bring the old configuration back, at the latest when the device's own timer has done it."""
        wanted = sorted(name for name in names if name not in self.results or not _is_final(self.results[name]))
        if not wanted:
            return
        self._record("reverting", devices=wanted)
        self.push.tell(f"  rolling back {some(wanted)}")
        limits = self.push.limits
        until = self.since + limits.minutes * limits.minute_s + limits.grace_s
        work = self.push.pool.persist(
            wanted, lambda name, c: self.members[name].revert(c), Phase.ROLLBACK, until, _worth_it
        )
        self._note_errors(work)
        for name in work.good:
            self.results[name] = _ending(Outcome.ROLLED_BACK, self.errors.get(name))
        for name, error in work.bad.items():
            self._fail({name: error})
            self.results[name] = _ending(Outcome.ATTENTION, error)

    def _release(self) -> None:
        """Discard and unlock where a session is open; what fails here ends with the session."""
        names = self.wave.members
        try:
            self._step(names, Phase.UNLOCK, lambda name, c: self.members[name].release(c), connect=False)
        finally:
            self.push.pool.close(names)

    def _step(
        self, names: Collection[str], phase: Phase, work: Callable[[str, Any], Any], connect: bool = True
    ) -> ByDevice[Any]:
        found = self.push.pool.run(names, work, phase, connect=connect)
        self._note_errors(found)
        return found

    def _note_errors(self, found: ByDevice[Any]) -> None:
        for name, error in found.bad.items():
            self._record("error", device=name, **_told(error))

    def _record(self, event: str, **fields: object) -> None:
        try:
            self.push.log.write(event, wave=self.wave.name, **fields)
        except OutputError:
            # While a wave is undone, undoing goes before recording.
            if not self.aborting:
                raise

    def _half_time(self) -> float:
        return self.since + self.push.limits.minutes * self.push.limits.minute_s / 2

    def _fail(self, errors: Mapping[str, DeviceError]) -> None:
        for name, error in errors.items():
            if name not in self.errors:
                self.errors[name] = error
                self.push.failed += 1
                self.push.tell(f"  {error}")

    def _going_on(self) -> bool:
        return self.push.failed <= self.push.limits.failures and not self.push.stop()


def _worth_it(error: DeviceError) -> bool:
    """Tell whether trying again may help: a lock that is released, a disk that is cleared, a device that boots."""
    return unreachable(error) or not isinstance(error, ForeignError)


def _told(error: DeviceError) -> dict[str, str]:
    """Return what the record says of an error; of a bug, where it happened."""
    more = {"traceback": error.traceback} if isinstance(error, UnforeseenError) else {}
    return {"phase": str(error.phase), "error": str(error), **more}


def _is_final(result: Result) -> bool:
    return result.outcome in (Outcome.ROLLED_BACK, Outcome.ATTENTION)


def _verdict(name: str, found: tuple[str, ...] | DeviceError) -> DeviceError:
    if isinstance(found, DeviceError):
        return found
    more = f", and {len(found) - 1} more" if len(found) > 1 else ""
    return DeviceError(name, Phase.VERIFY, f"{found[0]}{more}")


def _ending(outcome: Outcome, error: DeviceError | None) -> Result:
    return Result(outcome, str(error), error.phase) if error is not None else Result(outcome)
