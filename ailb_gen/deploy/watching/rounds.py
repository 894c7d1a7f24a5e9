"""Rounds of reading and comparing all devices; each tells only what changed since the last one."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack
from dataclasses import dataclass
from threading import BoundedSemaphore, Event

from ailb_gen.deploy.device_pool import attempt
from ailb_gen.deploy.resource_limits import MEMORY_TAKEN, STOPPED, TOO_SLOW
from ailb_gen.deploy.session import DeploySession
from ailb_gen.deploy.switch_driver import SESSION_LOST, DeviceError, Phase, UnknownOutcomeError
from ailb_gen.deploy.watching.changes import ChangeKind, FabricMemory, WatchChange, WatchFigures
from ailb_gen.deploy.watching.inputs import InputFiles
from ailb_gen.deploy.watching.pace import DevicePace
from ailb_gen.deploy.watching.readings import DeviceReader, Reading
from ailb_gen.errors import AilbError
from ailb_gen.garbage import collect_garbage, leave_what_is_there
from ailb_gen.progress import Advance, Progress, quiet
from ailb_gen.signals import NO_SIGNALS

# Seconds between two looks at signals; seconds for which devices that answer late are told together.
SLICE_S, TOGETHER_S = 0.2, 1.0
# Devices whose answers are long that are read at once: more of them take each other's memory. After so many such
# readings a device is read like the others again: perhaps its session was lost for another reason.
LONG_AT_ONCE, LONG_FOR = 3, 20
# The reasons for which a device is read again: memory was lacking, or its connection was ended for another one's need.
AGAIN = (TOO_SLOW, MEMORY_TAKEN, SESSION_LOST)


@dataclass(frozen=True, slots=True)
class WatchOptions:
    """How a fabric is watched: seconds from one round to the next, how many rounds (None: until a signal comes).

    A device that has not been read after `deadline_s` does not answer; `jobs` are read at once.
    """

    every_s: float = 300.0
    rounds: int | None = None
    deadline_s: float = 300.0
    jobs: int = 32


@dataclass(frozen=True, slots=True)
class WatchReport:
    """What changed until the end of a round, or after it (then not `whole`), and how things stand since.

    `devices` is how many are watched, `read` how many of them answered when they were last asked, `silent` how many did
    not; the rest is still being read. `seconds` is how long the round took.
    """

    number: int
    whole: bool
    changes: tuple[WatchChange, ...]
    devices: int
    read: int
    silent: int
    findings: int
    seconds: float

    @property
    def well(self) -> bool:
        """Whether all devices answered, and there are no findings."""
        return self.read == self.devices and not self.findings


class _Generation:
    """What was read from files that have not changed since, and the devices that are compared with them."""

    def __init__(self, session: DeploySession, files: InputFiles, options: WatchOptions) -> None:
        self.session, self.files, self.reader = session, files, DeviceReader(session)
        self.pace = DevicePace[Reading](self.reader.names, self._read, options.jobs, options.deadline_s)
        self.readings: dict[str, Reading] = {}
        # For how many more readings those that had to be read again count as long, and how many may be read now.
        self._long: dict[str, int] = {}
        self._room = BoundedSemaphore(LONG_AT_ONCE)

    def _read(self, name: str, stop: Event) -> Reading | DeviceError:
        """Read a device; where memory for its answers was lacking, or its session was lost, a second time.

        Then few others like it are read.
        """
        if not self._long.get(name):
            value = self._read_once(name, stop)
            if not _worth_again(value, stop):
                return value
            self._long[name] = LONG_FOR
        while not self._room.acquire(timeout=SLICE_S):
            if stop.is_set():
                return UnknownOutcomeError(name, Phase.READ, STOPPED)
        try:
            value = self._read_once(name, stop)
        finally:
            self._room.release()
        # One that hangs or is gone would hold the room of the others in every round.
        gone = isinstance(value, DeviceError) and not _worth_again(value, stop)
        self._long[name] = 0 if gone else self._long[name] - 1
        return value

    def _read_once(self, name: str, stop: Event) -> Reading | DeviceError:
        """Connect to a device, read it and disconnect."""

        def read() -> Reading:
            device = self.session.pool.connects[name](stop=stop)
            try:
                return self.reader.read(name, device)
            finally:
                device.rest()
                device.close()

        return attempt(name, Phase.READ, read)


def _worth_again(value: Reading | DeviceError, stop: Event) -> bool:
    """Return whether a device gave no reading for one of the reasons AGAIN, and not because it was stopped."""
    return isinstance(value, DeviceError) and not stop.is_set() and any(text in value.reason for text in AGAIN)


class FabricWatch:
    """Reads and compares the picked devices of a fabric in rounds.

    `files` looks at the input files as they are, `opened` reads them; both are called again when they have changed.
    `publish` is given the figures after each look, `renew` is called before each round.
    """

    def __init__(
        self,
        files: Callable[[], InputFiles],
        opened: Callable[[], AbstractContextManager[DeploySession]],
        options: WatchOptions,
        publish: Callable[[WatchFigures], None] = lambda figures: None,
        renew: Callable[[], None] = lambda: None,
        signals: Callable[[], int] = NO_SIGNALS,
        progress: Progress = quiet,
    ) -> None:
        self._files, self._opened, self._options = files, opened, options
        self._publish, self._renew, self._signals, self._progress = publish, renew, signals, progress
        self._memory, self._unusable, self._former = FabricMemory(), "", 0
        self._changes: list[WatchChange] = []
        self._round_s = self._ended = 0.0
        self._now, self._stack = self._open()

    @property
    def session(self) -> DeploySession:
        """The session of the files that count now."""
        return self._now.session

    @property
    def devices(self) -> tuple[str, ...]:
        """The devices that are watched."""
        return self._now.reader.names

    @property
    def threads(self) -> int:
        """How many devices are being read at this moment."""
        return self._now.pace.threads

    def close(self) -> None:
        """End all readings, and their connections."""
        self._now.pace.close()
        self._stack.close()

    def rounds(self) -> Iterator[WatchReport]:
        """Yield a report for every round, and one for devices that answer after it; ends when a signal has come."""
        number = 0
        while not self._signals():
            number += 1
            yield from self._renewed(number)
            last = number == self._options.rounds
            began = time.monotonic()
            self._renew()
            pace = self._now.pace
            pace.begin()
            with self._progress("reading devices", len(self.devices)) as advance:
                while not self._signals() and pace.awaited(everyone=last):
                    self._take(advance)
            if self._signals():
                return
            self._round_s, self._ended = time.monotonic() - began, time.time()
            yield self._report(number, whole=True)
            # Connections that are closed are circles.
            collect_garbage()
            if last:
                return
            yield from self._between(number, began + self._options.every_s)

    def _between(self, number: int, until: float) -> Iterator[WatchReport]:
        """Wait for the next round; yield what is found out about devices that were not waited for."""
        first: float | None = None
        while not self._signals() and (left := until - time.monotonic()) > 0:
            if self._take(None, min(SLICE_S, left)) and first is None:
                first = time.monotonic()
            if first is not None and time.monotonic() >= first + TOGETHER_S:
                first = None
                yield self._report(number, whole=False)

    def _take(self, advance: Advance | None, wait_s: float = SLICE_S) -> bool:
        """Take what has been read; return whether there was anything."""
        outcomes = self._now.pace.step(wait_s)
        for name, value, took_s in outcomes:
            self._changes += self._memory.asked(name, value, time.time() - took_s, self.session.mask)
            if not isinstance(value, DeviceError):
                self._now.readings[name] = value
            if advance is not None:
                advance(1)
        return bool(outcomes)

    def _report(self, number: int, whole: bool) -> WatchReport:
        """Compare what was read, publish the figures, and return the report."""
        # What is left of a device that does not answer says nothing about the others.
        readings, silent = self._now.readings, self._memory.silent
        read = {name: readings[name] for name in self.devices if name in readings and name not in silent}
        found = self._now.reader.findings(read)
        changes = (*self._changes, *self._memory.found(found))
        self._changes = []
        counts = self._memory.counts()
        answers = {name: name in read for name in self.devices if name in read or name in silent}
        name, every_s = self.session.intent.fabric.name, self._options.every_s
        times = self._round_s, self._ended
        self._publish(WatchFigures(name, every_s, number, *times, self._former, answers, counts))
        now = len(self.devices), len(read), len(answers) - len(read), sum(counts.values())
        return WatchReport(number, whole, changes, *now, self._round_s)

    def _open(self) -> tuple[_Generation, ExitStack]:
        """Read all files; returns what closes what was opened, too. Raises AilbError."""
        files = self._files()
        with ExitStack() as stack:
            found = _Generation(stack.enter_context(self._opened()), files, self._options)
            leave_what_is_there()
            return found, stack.pop_all()

    def _renewed(self, number: int) -> Iterator[WatchReport]:
        """Take files that have changed from now on; yield what that changes. Files that are unusable are not taken."""
        if number == 1:
            return
        if not self._now.files.changed:
            if self._unusable:
                # Those that were read are back, such as a directory that was moved away.
                self._unusable, self._former = "", 0
                self._changes.append(WatchChange(ChangeKind.FILES))
                yield self._report(number - 1, whole=False)
            return
        try:
            found, stack = self._open()
        except AilbError as error:
            # Perhaps they are being written: the next round looks again.
            self._former += 1
            if str(error) != self._unusable:
                self._unusable = str(error)
                self._changes.append(WatchChange(ChangeKind.UNUSABLE, message=str(error)))
                yield self._report(number - 1, whole=False)
            return
        self.close()
        self._now, self._stack, self._unusable, self._former = found, stack, "", 0
        self._changes += [WatchChange(ChangeKind.FILES), *self._memory.forget(self.devices)]
        yield self._report(number - 1, whole=False)
