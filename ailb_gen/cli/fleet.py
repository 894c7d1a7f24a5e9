"""What the verbs that connect to devices share: the fabric they are about, and the signals that end them."""

from __future__ import annotations

import shlex
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from ailb_gen.api.connect import Driver, connect, records_of
from ailb_gen.cli.console import notify, say, warn
from ailb_gen.cli.steady import write_now
from ailb_gen.signals import Signals

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping, Sequence

    from ailb_gen.api.connect import Connection
    from ailb_gen.deploy.artifacts import Trust
    from ailb_gen.deploy.run_history import StateDirectory
    from ailb_gen.deploy.switch_driver import DeviceError


def trust(unverified: bool) -> Trust:
    """Return what the files of a push must be like."""
    return "files" if unverified else "manifest"


@dataclass(frozen=True, slots=True)
class FabricArguments:
    """The fabric that a command is about, and how its devices are reached: what the next command needs, too."""

    fabric: Path
    artifacts: Path | None
    inventory: Path | None
    driver: Driver
    jobs: int
    accept_keys: bool
    state: Path | None = None

    def connect(
        self,
        limit: Sequence[str] | None = None,
        trust: Trust = "files",
        signals: Callable[[], int] = lambda: 0,
        limited_by: str = "--limit",
    ) -> AbstractContextManager[Connection]:
        """Connect to the devices (see `ailb_gen.connect`)."""
        return connect(
            self.fabric,
            self.artifacts,
            inventory=self.inventory,
            limit=limit or (),
            driver=self.driver,
            jobs=self.jobs,
            accept_new_hostkeys=self.accept_keys,
            trust=trust,
            state=self.state,
            signals=signals,
            limited_by=limited_by,
            warn=notify,
        )

    @property
    def inputs(self) -> list[Path | None]:
        """The files and the directory that are read, and that no option writes to."""
        from ailb_gen.deploy.inventory_files import FILES

        folder = self.inventory or self.fabric.parent
        return [self.fabric, self.artifacts, *(folder / name for name in FILES)]

    @property
    def records(self) -> StateDirectory:
        """Where runs are recorded."""
        return records_of(self.fabric, self.state)

    def command(self, verb: str, *more: str) -> str:
        """Return a command line about the same."""
        words = ["ailb-gen", verb, str(self.fabric), str(self.artifacts), *more]
        words += ["-i", str(self.inventory)] if self.inventory is not None else []
        words += ["--state", str(self.state)] if self.state is not None else []
        words += ["--driver", self.driver] if self.driver != "napalm" else []
        return shlex.join(words)


def say_errors(errors: Mapping[str, DeviceError], picked: Collection[str]) -> None:
    """Print the errors of devices to standard error, one line for all that have the same.

    Those of devices that are not `picked` are warnings.
    """
    from ailb_gen.deploy.switch_driver import once

    for line in once(error for name, error in errors.items() if name in picked):
        say(f"ailb-gen: {line}")
    for line in once(error for name, error in errors.items() if name not in picked):
        warn(f"sessions are not verified with {line}")


TIMERS = "devices roll back pending changes when their timers run out"


def stop_signals(effect: str, left: str = TIMERS) -> Signals:
    """Return signals of which the first ends a run in order, with an effect that is printed, and the second at once.

    `left` says what then becomes of devices.
    """

    def on_signal(count: int) -> None:
        if count == 1:
            write_now(f"ailb-gen: stopping; {effect}; a second signal stops at once")
        elif count == 2:
            write_now(f"ailb-gen: stopping at once; {left}")

    return Signals(on_signal)
