"""The recorded runs of a fabric: what they did, what a rollback undoes, the HTML report again, deleting old ones."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from ailb_gen.api.connect import records_of
from ailb_gen.errors import OutputError, UsageError

if TYPE_CHECKING:
    from ailb_gen.deploy.recorded_changes import DeviceUndo, RecordedChange
    from ailb_gen.deploy.run_history import StateDirectory
    from ailb_gen.deploy.run_pruning import PruneRule, Pruning
    from ailb_gen.deploy.run_summary import RunSummary
    from ailb_gen.intent.models import Fabric


@dataclass(frozen=True, slots=True)
class RecordedRuns:
    """The runs that are recorded in a state directory."""

    state: StateDirectory

    def newest(self, last: int | None = None) -> list[RunSummary]:
        """Return the runs, the newest first: the `last` ones, or all. One that cannot be read says so."""
        from ailb_gen.deploy.run_summary import summaries

        runs = self.state.runs()[::-1]
        return summaries(self.state, runs[:last])

    def find(self, given: str = "") -> str:
        """Return the run that is meant: by its name or number, else the unsettled one, else the newest that has begun.

        Raises UsageError when there is none, or several may be meant.
        """
        from ailb_gen.deploy.run_history import newest_first, recorded_run

        runs = self.state.runs()
        if not given and runs and next(newest_first(self.state), None) is None:
            # None has begun.
            return runs[-1]
        return self.state.find(given) if given else recorded_run(self.state, "", lambda past: True).run

    def summary(self, run: str) -> RunSummary:
        """Return what is known of a run. Raises OutputError where its record cannot be read."""
        from ailb_gen.deploy.run_summary import RecordedState, summaries

        runs = self.state.runs()
        found = summaries(self.state, reversed(runs[runs.index(run) :]))[-1]
        if found.state is RecordedState.UNREADABLE:
            raise OutputError(found.why)
        return found

    def changes(self, run: str) -> dict[str, RecordedChange]:
        """Return the change of every device of a run, as far as it was recorded. Raises OutputError."""
        from ailb_gen.deploy.recorded_changes import recorded_changes

        return recorded_changes(self.state, run)

    def undo(self, run: str) -> tuple[DeviceUndo, ...]:
        """Return what rolling a run back undoes on which device. Raises OutputError."""
        from ailb_gen.deploy.recorded_changes import run_undo

        return run_undo(self.state, run)

    def page(self, run: str, intent: Fabric) -> str:
        """Return the HTML report of a run from its record, for the fabric that it was about. Raises OutputError."""
        from ailb_gen.deploy.report.recorded import recorded_page

        return recorded_page(self.state, self.summary(run), intent)

    @contextmanager
    def pruning(self, rule: PruneRule) -> Iterator[Pruning]:
        """Give the runs that a rule deletes, while no other process writes any. Raises UsageError, OutputError."""
        from ailb_gen.deploy.run_pruning import pruning

        with self.state.alone("no run can be deleted", "check --state"):
            yield pruning(self.state, rule)


def runs_of(fabric: str | Path, state: Path | None = None) -> RecordedRuns:
    """Return the recorded runs of a fabric: in `state`, by default `.ailb/runs` beside the fabric file.

    Raises UsageError where `state` is no directory, OutputError where they cannot be read.
    """
    records = records_of(Path(fabric), state)
    if records.path.exists() and not records.path.is_dir():
        raise UsageError(f"{records.path}: this is no directory of runs; check --state")
    try:
        records.runs()
    except OSError as error:
        raise OutputError(f"{records.path}: the runs cannot be read: {error.strerror}; check its owner") from error
    return RecordedRuns(records)
