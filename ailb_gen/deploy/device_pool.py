"""Doing the same with many devices at once: Nornir, with one connection per device that is kept while it is good."""

from __future__ import annotations

import logging
import time
from concurrent.futures import ThreadPoolExecutor
from itertools import count
from traceback import format_exception
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from nornir.core.inventory import ConnectionOptions
from nornir.core.plugins.connections import ConnectionPluginRegister
from nornir.core.task import AggregatedResult, Result

from ailb_gen.deploy.redact import redact_config
from ailb_gen.deploy.switch import DeviceError, Phase, UnknownOutcomeError

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping
    from threading import Event

    from nornir.core import Nornir
    from nornir.core.configuration import Config
    from nornir.core.inventory import Host
    from nornir.core.task import Task

T = TypeVar("T")
PLUGIN = "ailb"
# Seconds between two attempts to reach a device that does not answer, growing.
PAUSES = (0.2, 0.5, 1.0, 2.0, 5.0)


class ByDevice(dict[str, "T | DeviceError"], Generic[T]):
    """What became of the work on every device: its value, or the error."""

    @property
    def good(self) -> dict[str, T]:
        """The devices where it went well."""
        return {name: value for name, value in self.items() if not isinstance(value, DeviceError)}

    @property
    def bad(self) -> dict[str, DeviceError]:
        """The devices where it did not."""
        return {name: value for name, value in self.items() if isinstance(value, DeviceError)}


class DeviceConnection:
    """Nornir's connection plugin; what the extras hold under `make` opens a Switch or a server and returns it."""

    def __init__(self) -> None:
        self.connection: Any = None

    def open(
        self,
        hostname: str | None,
        username: str | None,
        password: str | None,
        port: int | None,
        platform: str | None,
        extras: dict[str, Any] | None = None,
        configuration: Config | None = None,
    ) -> None:
        """Connect; nothing of the login passes through Nornir. Raises DeviceError."""
        self.connection = (extras or {})["make"]().open()

    def close(self) -> None:
        """Disconnect."""
        if self.connection is not None:
            self.connection.close()


class Runner:
    """Nornir's runner: a thread per device, so many at once. Ctrl-C ends every connection instead of waiting for it."""

    def __init__(self, jobs: int, stop: Event) -> None:
        self.jobs, self.stop = jobs, stop

    def run(self, task: Task, hosts: list[Host]) -> AggregatedResult:
        """Run a task with every host."""
        result = AggregatedResult(task.name)
        pool = ThreadPoolExecutor(self.jobs)
        try:
            for done in [pool.submit(task.copy().start, host) for host in hosts]:
                one = done.result()
                result[one.host.name] = one
        except BaseException:
            self.stop.set()
            raise
        finally:
            pool.shutdown(cancel_futures=True)
        return result


class DevicePool:
    """The devices of a run. Work on them never raises: what went wrong with a device is its outcome."""

    def __init__(self, nornir: Nornir, makers: Mapping[str, Callable[[], Any]]) -> None:
        self.nornir = nornir
        logging.getLogger("nornir").disabled = True
        if PLUGIN not in ConnectionPluginRegister.available:
            ConnectionPluginRegister.register(PLUGIN, DeviceConnection)
        for name, make in makers.items():
            host = nornir.inventory.hosts[name]
            host.connection_options[PLUGIN] = ConnectionOptions(extras={"make": make})

    def run(
        self,
        names: Collection[str],
        work: Callable[[str, Any], T],
        phase: Phase,
        advance: Callable[[int], None] = lambda number: None,
        connect: bool = True,
        keep: bool = True,
    ) -> ByDevice[T]:
        """Do `work(name, connection)` with every device, as many at once as Nornir has workers.

        Without `connect`, only with those that are connected; without `keep`, every connection is closed at once, which
        saves two threads each. One whose session gave no answer is closed always; the next work opens a new one. An
        error that nobody foresaw counts as a device's, so that what was begun elsewhere is brought to its end.
        """
        hosts = self.nornir.inventory.hosts
        wanted = {name for name in names if connect or PLUGIN in hosts[name].connections}

        def task(task: Task) -> Result:
            name = task.host.name
            try:
                value: T | DeviceError = work(name, task.host.get_connection(PLUGIN, task.nornir.config))
            except DeviceError as error:
                value = error
            except Exception as error:  # noqa: BLE001 - one device's surprise must not keep the others from their end
                value = UnforeseenError(name, phase, error)
            if not keep or isinstance(value, UnknownOutcomeError | UnforeseenError):
                task.host.close_connections()
            advance(1)
            return Result(host=task.host, result=value)

        picked = self.nornir.filter(filter_func=lambda host: host.name in wanted)
        if not picked.inventory.hosts:
            return ByDevice()
        done = picked.run(task=task, name=str(phase), on_failed=True)
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

        Without `again`, that is where a device cannot be reached.
        """
        outcomes = self.run(names, work, phase)
        for turn in count():
            silent = [name for name, error in outcomes.bad.items() if (again or unreachable)(error)]
            if not silent or time.monotonic() >= until:
                break
            time.sleep(min(PAUSES[min(turn, len(PAUSES) - 1)], max(0.0, until - time.monotonic())))
            outcomes.update(self.run(silent, work, phase))
        return outcomes

    def close(self, names: Collection[str]) -> None:
        """Close the connections to devices."""
        wanted = set(names)
        self.nornir.filter(filter_func=lambda host: host.name in wanted).close_connections(on_failed=True)


class UnforeseenError(DeviceError):
    """A failure that this program did not expect; the cause is kept for the report of a bug."""

    def __init__(self, device: str, phase: Phase, cause: Exception) -> None:
        self.cause = cause
        super().__init__(device, phase, f"this is a bug: {type(cause).__name__}", "the record of the run has more")

    @property
    def traceback(self) -> str:
        """Where it happened; secrets of configurations replaced."""
        return redact_config("".join(format_exception(self.cause)))


def unreachable(error: DeviceError) -> bool:
    """Tell whether asking again may help: no answer, or no connection."""
    return isinstance(error, UnknownOutcomeError) or error.phase is Phase.CONNECT
