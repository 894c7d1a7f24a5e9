"""Drift and verification again and again: rounds, metrics and hooks."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from ailb_gen.api.connect import Driver
from ailb_gen.api.inputs import fabric_file
from ailb_gen.garbage import rare_garbage_collection
from ailb_gen.optional import without_extra
from ailb_gen.progress import Progress, Warn, quiet, unheeded
from ailb_gen.signals import NO_SIGNALS

if TYPE_CHECKING:
    from ailb_gen.deploy.session import DeploySession
    from ailb_gen.deploy.watching.changes import WatchFigures
    from ailb_gen.deploy.watching.hooks import WatchHooks
    from ailb_gen.deploy.watching.rounds import FabricWatch, WatchReport

# The extra with what serves metrics.
EXTRA = "watch"


@dataclass(frozen=True, slots=True)
class DeviceWatch:
    """A fabric that is watched; `port` is where metrics are served, None for nowhere."""

    port: int | None
    _watch: FabricWatch
    _hooks: WatchHooks

    @property
    def devices(self) -> tuple[str, ...]:
        """The devices that are watched."""
        return self._watch.devices

    def rounds(self) -> Iterator[WatchReport]:
        """Yield what changed in every round, and what is found out between rounds; ends when a signal has come."""
        for report in self._watch.rounds():
            self._hooks.tell(report)
            yield report


@contextmanager
def watch(
    fabric: str | Path,
    artifacts: str | Path,
    *,
    every_s: float = 300.0,
    rounds: int | None = None,
    deadline_s: float = 300.0,
    inventory: Path | None = None,
    limit: Sequence[str] = (),
    driver: Driver = "napalm",
    jobs: int = 32,
    accept_new_hostkeys: bool = False,
    listen: tuple[str, int] | None = None,
    signals: Callable[[], int] = NO_SIGNALS,
    warn: Warn = unheeded,
    progress: Progress = quiet,
) -> Iterator[DeviceWatch]:
    """Read a fabric file, its inventory and its generated files, and give what watches its devices.

    In each round every device that `limit` names is read and compared as `drift` and `verify` do: one every `every_s`
    seconds, `rounds` of them (None: until a signal comes). A device that was not read within `deadline_s` seconds does
    not answer. `listen` is the address and port that metrics are served at (port 0: any), without TLS and login. Files
    that change are taken from the next round on. Hooks of the inventory are told of changes. Raises IntentError,
    UsageError; OutputError where metrics cannot be served, MissingExtraError.
    """
    from ailb_gen.deploy.host_keys import HostKeys
    from ailb_gen.deploy.session import Access, open_session
    from ailb_gen.deploy.watching.hooks import WatchHooks
    from ailb_gen.deploy.watching.inputs import InputFiles
    from ailb_gen.deploy.watching.rounds import FabricWatch, WatchOptions

    options, path, files = WatchOptions(every_s, rounds, deadline_s, jobs), fabric_file(Path(fabric)), Path(artifacts)
    access = Access(driver, jobs, HostKeys(accept_new_hostkeys, warn))

    def renew() -> None:
        # A device that was replaced has another key, which somebody added since the last round.
        access.hostkeys = HostKeys(accept_new_hostkeys, warn)
        # What gives passwords may have failed for a moment.
        access.secrets.forget(failures=True)

    def opened() -> AbstractContextManager[DeploySession]:
        access.secrets.forget()
        return open_session(path, files, inventory, limit, access)

    with ExitStack() as stack:
        stack.enter_context(rare_garbage_collection())
        port, publish = _served(stack, listen)
        found = FabricWatch(
            lambda: InputFiles(path, files, inventory or path.parent),
            opened,
            options,
            publish,
            renew,
            signals,
            progress,
        )
        stack.callback(found.close)
        session = found.session
        about = {"fabric": session.intent.fabric.name, "verb": "watch", "user": session.user}
        hooks = stack.enter_context(WatchHooks(session.inventory.hooks, access.secrets, about, warn))
        yield DeviceWatch(port, found, hooks)


def _served(stack: ExitStack, listen: tuple[str, int] | None) -> tuple[int | None, Callable[[WatchFigures], None]]:
    """Serve metrics until the stack is closed; return the port, and what takes the figures."""
    if listen is None:
        return None, lambda figures: None
    try:
        from ailb_gen.deploy.watching.metrics import WatchCollector, served
    except ModuleNotFoundError as error:
        raise without_extra("--listen", f"{error.name} is not installed", EXTRA) from error
    collector = WatchCollector()

    def publish(figures: WatchFigures) -> None:
        collector.figures = figures

    return stack.enter_context(served(collector, *listen)), publish
