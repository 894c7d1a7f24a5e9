"""How a push is done: how long it waits, how many failures it allows, and how a person approves and watches it."""

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from typing import Literal

from ailb_gen.deploy.planning import Plan

OnFailure = Literal["stop", "rollback-all"]
# Shows a progress bar of so many devices, and gives what advances it.
Progress = Callable[[str, int], AbstractContextManager[Callable[[int], None]]]


def quiet(what: str, total: int) -> AbstractContextManager[Callable[[int], None]]:
    """Show no progress."""
    return nullcontext(lambda number: None)


@dataclass(frozen=True, slots=True)
class Limits:
    """How long a push waits, and how many failures it allows.

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
    """How a run is done.

    `show` prints the plan; `approve` asks a person a question and returns how it was approved, empty for no. `tell`
    prints a line. `plan` (file and digest) and `recorded` are written to the record. `as_is` are unsettled devices that
    a person has looked at: they stay as they are.
    """

    limits: Limits = Limits()
    on_failure: OnFailure = "stop"
    dry_run: bool = False
    min_paths: int = 1
    show: Callable[[Plan], None] = lambda plan: None
    approve: Callable[[str], str] = lambda question: "not asked"
    tell: Callable[[str], None] = lambda text: None
    progress: Progress = quiet
    plan: Mapping[str, str] = field(default_factory=dict)
    recorded: Mapping[str, object] = field(default_factory=dict)
    as_is: tuple[str, ...] = ()
