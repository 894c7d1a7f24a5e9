"""Doing the same with many devices at once: Nornir, with one connection per device that is kept while it is good."""

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

from nornir.core import Nornir
from nornir.core.inventory import ConnectionOptions, Host
from nornir.core.plugins.connections import ConnectionPluginRegister
from nornir.core.task import AggregatedResult, MultiResult, Result, Task

from ailb_gen.deploy.resource_limits import STOPPED, share_arenas
from ailb_gen.deploy.switch_driver import COMMITTING, DeviceError, Phase, UnknownOutcomeError
from ailb_gen.redact.known import causes
from ailb_gen.redact.text import redact
from ailb_gen.signals import NO_SIGNALS

T = TypeVar("T")
Futures = frozenset[Future[Any]]
PLUGIN, AT_ONCE = "ailb", "at_once"
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


class DeviceConnection:
    """Nornir's connection plugin; what the extras hold under `connect` returns an open Switch or Server."""

    def __init__(self) -> None:
        self.connection: Any = None

    def open(self, *_: Any, **options: Any) -> None:
        """Connect; Nornir never sees the login data. Raises DeviceError."""
        self.connection = options["extras"]["connect"]()

    def close(self) -> None:
        """Disconnect."""
        if self.connection is not None:
            self.connection.close()


class Runner:
    """Nornir's runner: a thread per device, `jobs` at once.

    Ctrl-C ends every connection instead of waiting for it. Where signals are counted instead (`signals`), one that
    comes while devices are waited for gives them PATIENCE_S to answer, then ends the connections that are left: but
    not in a phase that commits, which on a large switch takes longer. A task that is named as ended `at_once` has
    changed nothing: what is left of it is not waited for. Signal number LEAVING ends every phase so.
    """

    def __init__(self, jobs: int, stop: Event, signals: Callable[[], int] = NO_SIGNALS) -> None:
        self.jobs, self.stop, self.signals = jobs, stop, signals

    def run(self, task: Task, hosts: list[Host]) -> AggregatedResult:
        """Run a task with every host."""
        result, signals = AggregatedResult(task.name), self.signals()
        pool = ThreadPoolExecutor(self.jobs, THREADS)
        try:
            futures = {pool.submit(task.copy().start, host): host for host in hosts}
            ended, left = self._wait(futures, signals, task)
            for future, host in futures.items():
                one = None if future in left else future.result()
                # Ending a connection looks to its driver as if the other end had gone.
                if one is None or (future in ended and isinstance(one[0].result, UnknownOutcomeError)):
                    one = _stopped(task, host)
                result[one.host.name] = one
        except BaseException:
            self.stop.set()
            # What only computes may take long; the program ends without it.
            pool.shutdown(wait=False, cancel_futures=True)
            raise
        pool.shutdown(wait=not left, cancel_futures=True)
        if left:
            _end(thread for thread in enumerate_threads() if thread.name.startswith(f"{THREADS}_"))
        return result

    def _wait(self, futures: Iterable[Future[Any]], before: int, task: Task) -> tuple[Futures, Futures]:
        """Wait for all; end their connections some time after another signal than those before.

        Returns those whose connections were ended, and those that are left to themselves, which only compute.
        """
        until, waits = math.inf, task.name in COMMITTING
        ended: Futures = frozenset()
        while futures := wait(futures, SLICE_S).not_done:
            leaving = self.signals() >= LEAVING
            at_once = leaving or bool(task.params.get(AT_ONCE))
            if leaving or (self.signals() > before and not waits):
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


class _EndedError(BaseException):
    """Ends a thread that computes what nobody waits for; no device's error."""


def _end(threads: Iterable[Thread]) -> None:
    """End threads with their next step in Python: computing on, they would hold up the end of the program."""
    # It tells of every thread that ends in another way than by itself, idle ones included.
    logging.getLogger("concurrent.futures").disabled = True
    for thread in threads:
        ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread.ident or 0), ctypes.py_object(_EndedError))


def _stopped(task: Task, host: Host) -> MultiResult:
    found = MultiResult(task.name)
    found.append(Result(host=host, result=UnknownOutcomeError(host.name, Phase(task.name), STOPPED)))
    return found


class DevicePool:
    """The devices of a run. Work on them never raises: what went wrong with a device is its outcome.

    `connects` open a device each; `signals` counts the signals that end the run.
    """

    def __init__(
        self, nornir: Nornir, connects: Mapping[str, Callable[..., Any]], signals: Callable[[], int] = NO_SIGNALS
    ) -> None:
        self.nornir, self.connects, self.signals = nornir, connects, signals
        share_arenas()
        logging.getLogger("nornir").disabled = True
        if PLUGIN not in ConnectionPluginRegister.available:
            ConnectionPluginRegister.register(PLUGIN, DeviceConnection)
        for name, connect in connects.items():
            host = nornir.inventory.hosts[name]
            host.connection_options[PLUGIN] = ConnectionOptions(extras={"connect": connect})

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
        """Do `work(name, connection)` with every device, as many at once as Nornir has workers.

        Without `connect`, only with those that are connected; without `keep`, every connection is closed at once, which
        saves two threads each. One whose session gave no answer is closed always; the next work opens a new one. An
        unforeseen error counts as a device's, so that what was begun elsewhere is brought to its end. A signal ends the
        work `at_once` where nothing was changed before it.
        """
        hosts = self.nornir.inventory.hosts
        chosen = {name for name in names if connect or PLUGIN in hosts[name].connections}

        def task(task: Task, **_: object) -> Result:
            name, connection = task.host.name, None

            def connected() -> T:
                nonlocal connection
                connection = task.host.get_connection(PLUGIN, task.nornir.config)
                return work(name, connection)

            value = attempt(name, phase, connected)
            if connection is not None:
                connection.rest()
            if not keep or isinstance(value, UnknownOutcomeError | UnforeseenError):
                task.host.close_connections()
            advance(1)
            return Result(host=task.host, result=value)

        picked = self.nornir.filter(filter_func=lambda host: host.name in chosen)
        if not picked.inventory.hosts:
            return ByDevice()
        done = picked.run(task=task, name=str(phase), on_failed=True, **{AT_ONCE: at_once})
        return ByDevice((name, found[0].result) for name, found in done.items())

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
        chosen = set(names)
        self.nornir.filter(filter_func=lambda host: host.name in chosen).close_connections(on_failed=True)


class UnforeseenError(DeviceError):
    """A failure that this program did not expect; the cause is kept for the report of a bug."""

    def __init__(self, device: str, phase: Phase, cause: Exception) -> None:
        self.cause = cause
        super().__init__(device, phase, f"this is a bug: {type(cause).__name__}", "the record of the run has more")

    @property
    def traceback(self) -> str:
        """The place of the error, with secrets of configurations replaced."""
        return redact("".join(format_exception(self.cause)))


def attempt(name: str, phase: Phase, work: Callable[[], T]) -> T | DeviceError:
    """Do a piece of work on a device; return its value, or the error. An unforeseen error counts as the device's."""
    try:
        return work()
    except DeviceError as error:
        value = error
    except Exception as error:  # noqa: BLE001 - one device's surprise must not keep the others from their end
        value = UnforeseenError(name, phase, error)
    _forget(value)
    return value


def _forget(error: DeviceError) -> None:
    """Free the memory of the answer that an error came in: its traceback keeps all of that as long as the error."""
    for one in causes(error.cause if isinstance(error, UnforeseenError) else error):
        clear_frames(one.__traceback__)


def unreachable(error: DeviceError) -> bool:
    """Return whether asking again may help: no answer, or no connection."""
    return isinstance(error, UnknownOutcomeError) or error.phase is Phase.CONNECT
