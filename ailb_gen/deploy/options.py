"""Options of a push: timeouts, allowed failures, and how a person approves and watches it."""

from collections.abc import Callable, Collection, Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from typing import Literal, Protocol

from ailb_gen.deploy.planning import Plan

OnFailure = Literal["stop", "rollback-all"]
# Shows a progress bar of so many devices, and gives what advances it.
Progress = Callable[[str, int], AbstractContextManager[Callable[[int], None]]]


class Watch(Protocol):
    """Shows which device of a wave is at which step."""

    def begin(self, step: str, devices: Collection[str]) -> None:
        """Note that devices begin a step."""

    def end(self, device: str) -> None:
        """Note that a device is done with it; called from any thread."""


class Unwatched:
    """Shows nothing."""

    def begin(self, step: str, devices: Collection[str]) -> None:
        """Take no note."""

    def end(self, device: str) -> None:
        """Take no note."""


def unwatched(wave: str) -> AbstractContextManager[Watch]:
    """Show no wave."""
    return nullcontext(Unwatched())


def quiet(what: str, total: int) -> AbstractContextManager[Callable[[int], None]]:
    """Show no progress."""
    return nullcontext(lambda number: None)


@dataclass(frozen=True, slots=True)
class Limits:
    """Timeouts of a push, and the number of failures that it allows.

    A device takes an unconfirmed change back after `minutes` of `minute_s` seconds, and may need `grace_s` more until
    it answers again; it has `verify_s` seconds to come up; `failures` devices may fail before a wave is undone.
    """

    minutes: int = 5
    verify_s: float = 120.0
    failures: int = 0
    minute_s: float = 60.0
    grace_s: float = 120.0


@dataclass(frozen=True, slots=True)
class RunOptions:
    """Options of a run.

    `show` prints the plan; `approve` asks a person a question and returns how it was approved, empty for no. `tell`
    prints a line. `plan` (file, digest, signer), `recorded` and the files `kept` go to the record. `as_is` are
    unsettled devices that a person has looked at: they stay as they are. `watch` shows what the devices of a wave do
    while it is pushed. `compare`: the plan has the changes side by side. `begun` is called with the name of a run when
    its record is open.
    """

    limits: Limits = Limits()
    on_failure: OnFailure = "stop"
    dry_run: bool = False
    min_paths: int = 1
    show: Callable[[Plan], None] = lambda plan: None
    approve: Callable[[str], str] = lambda question: "not asked"
    tell: Callable[[str], None] = lambda text: None
    progress: Progress = quiet
    watch: Callable[[str], AbstractContextManager[Watch]] = unwatched
    plan: Mapping[str, str] = field(default_factory=dict)
    recorded: Mapping[str, object] = field(default_factory=dict)
    kept: Mapping[str, bytes] = field(default_factory=dict)
    as_is: tuple[str, ...] = ()
    compare: bool = False
    begun: Callable[[str], None] = lambda run: None
