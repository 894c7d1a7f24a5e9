"""The changes of a check to a lab, recorded before they are made: the next check undoes those of a killed one.

Links that were taken down, and leaves that announce a probe prefix: another configuration, and an address.
"""

from __future__ import annotations

import fcntl
import json
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from ailb_gen.addresses import Prefix, address_text
from ailb_gen.errors import LabError, UsageError
from ailb_gen.lab import run_directory
from ailb_gen.lab.bird.control import NoDaemonError
from ailb_gen.lab.convergence import wait
from ailb_gen.lab.faults import FaultKind, cables_at, fail_cables, repair_cables
from ailb_gen.lab.namespaces import batch, end_by_signals
from ailb_gen.lab.plan import LabPlan
from ailb_gen.lab.routers import FOLDER, bird_of
from ailb_gen.network.fabric import End

# Below the lab's /run. A lock ends with the process that holds it.
LOCK, RECORD = Path("lab/check.lock"), Path("lab/check.json")
# BIRD and the kernel end a probe by themselves after this time; seconds.
EXPIRES_S = 60
# How long sessions and routes may take after that. Seconds.
SETTLED_S = 60.0


class LabChanges:
    """The changes that a check has not undone yet. Every method raises LabError."""

    def __init__(self, plan: LabPlan) -> None:
        self.plan = plan
        self.failed: list[End] = []
        # The address that was added to a leaf, as ip(8) writes it.
        self.addresses: dict[str, str] = {}

    def fail(self, ends: Iterable[End], kind: FaultKind) -> None:
        """Let the links with some ends fail."""
        new = list(ends)
        self.failed += new
        self._note()
        fail_cables(self.plan, cables_at(self.plan, new), kind)

    def repair(self) -> None:
        """Repair the links that failed here."""
        if self.failed:
            repair_cables(self.plan, cables_at(self.plan, self.failed))
            self.failed.clear()
            self._note()

    @contextmanager
    def running(self, leaf: str, text: str, link: str = "", prefix: Prefix | None = None) -> Iterator[None]:
        """Let a leaf run another configuration for a moment, with an address in a prefix on a link if there is one."""
        self.addresses[leaf] = f"{address_text(prefix.value | 1)}/{prefix.length} dev {link}" if prefix else ""
        self._note()
        file = _file(leaf)
        run_directory.here(file).write_text(text, encoding="utf-8")
        try:
            if address := self.addresses[leaf]:
                expires = f"valid_lft {EXPIRES_S} preferred_lft {EXPIRES_S}"
                batch([f"addr replace {address} nodad {expires}"], leaf, "-6")
            bird_of(leaf).command(f'configure "{run_directory.inside(file)}" timeout {EXPIRES_S}')
            yield
        finally:
            self._restore(leaf)

    def _restore(self, leaf: str) -> None:
        # Right also when the time was over before, when the address has gone by itself.
        with suppress(NoDaemonError):
            bird_of(leaf).configure()
        if address := self.addresses.pop(leaf):
            with suppress(LabError):
                batch([f"addr del {address}"], leaf, "-6")
        run_directory.here(_file(leaf)).unlink(missing_ok=True)
        self._note()

    def undo(self) -> None:
        """Undo all changes."""
        self.repair()
        for leaf in list(self.addresses):
            self._restore(leaf)

    def _note(self) -> None:
        record = {"failed": [(end.device, end.port) for end in self.failed], "addresses": self.addresses}
        run_directory.here(RECORD).write_text(json.dumps(record), encoding="utf-8")


def _file(leaf: str) -> Path:
    """Return the configuration of a leaf that announces a probe, below the lab's /run."""
    return FOLDER / f"{leaf}.probe"


@contextmanager
def alone(plan: LabPlan) -> Iterator[None]:
    """Keep other checks of the lab from running, and first undo the changes of a killed one.

    Signals that end this process let it undo its changes. Raises UsageError if another check runs, LabError.
    """
    with run_directory.here(LOCK).open("w") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise UsageError("another 'lab check' of this lab is running; wait until it has ended") from None
        end_by_signals()
        _undo_left(plan)
        yield


def _undo_left(plan: LabPlan) -> None:
    try:
        record = json.loads(run_directory.here(RECORD).read_text(encoding="utf-8"))
    except FileNotFoundError:
        return
    left = LabChanges(plan)
    left.failed = [End(*row) for row in record["failed"]]
    left.addresses = record["addresses"]
    if left.failed or left.addresses:
        left.undo()
        wait(plan, SETTLED_S)
