"""Doing the same with many devices at once, with one connection per device that is kept while it is good."""

import ctypes
import logging
import math
import time
from collections.abc import Callable, Collection, Iterable, Mapping
from concurrent.futures import Future, ThreadPoolExecutor, wait
from itertools import count
from threading import Event, Thread
from threading import enumerate as enumerate_threads
from traceback import clear_frames, format_exception
from typing import Any, Generic, TypeVar

from ailb_gen.deploy.resource_limits import STOPPED, share_arenas
from ailb_gen.deploy.switch_driver import COMMITTING, DeviceError, Phase, UnknownOutcomeError
from ailb_gen.redact.known import causes
from ailb_gen.redact.text import redact
from ailb_gen.signals import NO_SIGNALS

T = TypeVar("T")
Futures = frozenset[Future[Any]]
# The names of the threads that work on devices begin so.
THREADS = "device"
# Seconds between two attempts to reach a device that does not answer, growing.
PAUSES = (0.2, 0.5, 1.0, 2.0, 5.0)
# How long devices may take to answer after a signal, and how often signals are looked for, in seconds.
PATIENCE_S, SLICE_S = 10.0, 0.2
# The same where nothing has been changed; and how long what has no connection any more may go on computing.
AT_ONCE_S, COMPUTING_S = 0.3, 0.3
# The signal with which the devices are left to their timers: the second, as CI systems kill soon after theirs.
LEAVING = 2


class ByDevice(dict[str, "T | DeviceError"], Generic[T]):
    """The result of the work on every device: its value, or the error."""

    @property
    def good(self) -> dict[str, T]:
        """The devices where it went well."""
        return {name: value for name, value in self.items() if not isinstance(value, DeviceError)}

    @property
    def bad(self) -> dict[str, DeviceError]:
        """The devices where it did not."""
        return {name: value for name, value in self.items() if isinstance(value, DeviceError)}


class DevicePool:
    """The devices of a run: a thread per device, `jobs` at once, and a connection per device, kept while it is good.

    Work on them never raises: what went wrong with a device is its outcome. `connects` open a device each; `stop` ends
    every connection.

    Ctrl-C ends every connection instead of waiting for it. Where signals are counted instead (`signals`), one that
    comes while devices are waited for gives them PATIENCE_S to answer, then ends the connections that are left: but
    not in a phase that commits, which on a large switch takes longer. Work that is to end `at_once` has changed
    nothing: what is left of it is not waited for. Signal number LEAVING ends every phase so.
    """

    def __init__(
        self,
        connects: Mapping[str, Callable[[], Any]],
        jobs: int,
        stop: Event,
        signals: Callable[[], int] = NO_SIGNALS,
    ) -> None:
        self.connects, self.jobs, self.stop, self.signals = connects, jobs, stop, signals
        self._connections: dict[str, Any] = {}
        share_arenas()

    def run(
        self,
        names: Collection[str],
        work: Callable[[str, Any], T],
        phase: Phase,
        advance: Callable[[int], None] = lambda number: None,
        connect: bool = True,
        keep: bool = True,
        at_once: bool = False,
    ) -> ByDevice[T]:
        """Do `work(name, connection)` with every device, as many at once as there are jobs.

        Without `connect`, only with those that are connected; without `keep`, every connection is closed at once, which
        saves two threads each. One whose session gave no answer is closed always; the next work opens a new one. An
        unforeseen error counts as a device's, so that what was begun elsewhere is brought to its end. A signal ends the
        work `at_once` where nothing was changed before it.
        """

        def one(name: str) -> T | DeviceError:
            try:
                if name not in self._connections:
                    self._connections[name] = self.connects[name]()
                value: T | DeviceError = work(name, self._connections[name])
            except DeviceError as error:
                value = error
            except Exception as error:  # noqa: BLE001 - one device's surprise must not keep the others from their end
                value = UnforeseenError(name, phase, error)
            if isinstance(value, DeviceError):
                _forget(value)
            if name in self._connections:
                self._connections[name].rest()
            if not keep or isinstance(value, UnknownOutcomeError | UnforeseenError):
                self.close([name])
            advance(1)
            return value

        chosen = {name for name in names if connect or name in self._connections}
        found, before = ByDevice[T](), self.signals()
        threads = ThreadPoolExecutor(self.jobs, THREADS)
        try:
            futures = {threads.submit(one, name): name for name in self.connects if name in chosen}
            ended, left = self._wait(futures, before, phase, at_once)
            for future, name in futures.items():
                # Ending a connection looks to its driver as if the other end had gone.
                if future in left or (future in ended and isinstance(future.result(), UnknownOutcomeError)):
                    found[name] = UnknownOutcomeError(name, phase, STOPPED)
                else:
                    found[name] = future.result()
        except BaseException:
            self.stop.set()
            # What only computes may take long; the program ends without it.
            threads.shutdown(wait=False, cancel_futures=True)
            raise
        threads.shutdown(wait=not left, cancel_futures=True)
        if left:
            _end(thread for thread in enumerate_threads() if thread.name.startswith(f"{THREADS}_"))
        return found

    def _wait(self, futures: Iterable[Future[Any]], before: int, phase: Phase, soon: bool) -> tuple[Futures, Futures]:
        """Wait for all; end their connections some time after another signal than those before.

        Returns those whose connections were ended, and those that are left to themselves, which only compute.
        """
        until, ended = math.inf, Futures()
        while futures := wait(futures, SLICE_S).not_done:
            leaving = self.signals() >= LEAVING
            at_once = leaving or soon
            if leaving or (self.signals() > before and phase not in COMMITTING):
                until = min(until, time.monotonic() + (AT_ONCE_S if at_once else PATIENCE_S))
            if time.monotonic() >= until:
                ended = ended or frozenset(futures)
                self.stop.set()
            if at_once and time.monotonic() >= until + COMPUTING_S:
                break
        if until < math.inf and self.signals() < LEAVING:
            # The next connections are those of the way back.
            self.stop.clear()
        return ended, frozenset(futures)

    def persist(
        self,
        names: Collection[str],
        work: Callable[[str, Any], T],
        phase: Phase,
        until: float,
        again: Callable[[DeviceError], bool] | None = None,
    ) -> ByDevice[T]:
        """Do the same, and `again` where the error is worth it, until it is done or `until` (monotonic) has passed.

        Without `again`, that is where a device cannot be reached. A signal ends the repetition.
        """
        signals = self.signals()
        outcomes = self.run(names, work, phase)
        for turn in count():
            silent = [name for name, error in outcomes.bad.items() if (again or unreachable)(error)]
            if not silent or time.monotonic() >= until or self.hurried(signals):
                break
            self.pause(min(PAUSES[min(turn, len(PAUSES) - 1)], until - time.monotonic()), signals)
            outcomes.update(self.run(silent, work, phase))
        return outcomes

    def hurried(self, before: int) -> bool:
        """Return whether another signal has come than those before, or the one that leaves devices to their timers."""
        return self.signals() > min(before, LEAVING - 1)

    def pause(self, seconds: float, before: int) -> None:
        """Wait so long, or until another signal comes than those before."""
        until = time.monotonic() + seconds
        while not self.hurried(before) and (left := until - time.monotonic()) > 0:
            time.sleep(min(SLICE_S, left))

    def close(self, names: Collection[str]) -> None:
        """Close the connections to devices."""
        for name in names:
            connection = self._connections.pop(name, None)
            if connection is not None:
                connection.close()


class _EndedError(BaseException):
    """Ends a thread that computes what nobody waits for; no device's error."""


def _end(threads: Iterable[Thread]) -> None:
    """End threads with their next step in Python: computing on, they would hold up the end of the program."""
    # It tells of every thread that ends in another way than by itself, idle ones included.
    logging.getLogger("concurrent.futures").disabled = True
    for thread in threads:
        ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread.ident or 0), ctypes.py_object(_EndedError))


class UnforeseenError(DeviceError):
    """A failure that this program did not expect; the cause is kept for the report of a bug."""

    def __init__(self, device: str, phase: Phase, cause: Exception) -> None:
        self.cause = cause
        super().__init__(device, phase, f"this is a bug: {type(cause).__name__}", "the record of the run has more")

    @property
    def traceback(self) -> str:
        """The place of the error, with secrets of configurations replaced."""
        return redact("".join(format_exception(self.cause)))


def _forget(error: DeviceError) -> None:
    """Free the memory of the answer that an error came in: its traceback keeps all of that as long as the error."""
    for one in causes(error.cause if isinstance(error, UnforeseenError) else error):
        clear_frames(one.__traceback__)


def unreachable(error: DeviceError) -> bool:
    """Return whether asking again may help: no answer, or no connection."""
    return isinstance(error, UnknownOutcomeError) or error.phase is Phase.CONNECT
