"""Which old runs can be deleted, and deleting them.

Kept is what a command may still need: the newest run, whose number the next one follows; runs that are going on, that
left devices unsettled or were interrupted in the middle, with what these roll back; of every device the last deploy and
the last rollback whose change is still there; the rollbacks of kept runs; and what cannot be read.
"""

import re
import shutil
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from ailb_gen.deploy.run_history import LOG, ROLLBACK, DeviceOutcome, StateDirectory
from ailb_gen.deploy.run_summary import RecordedState, RunSummary, summaries
from ailb_gen.errors import OutputError, UsageError
from ailb_gen.wording import some

# Names of runs: only directories of this form are ever deleted, the second form being that of older versions.
NAME = re.compile(r"(?:\d+-)?\d{8}T\d{6}(?:\.\d{3})?Z-[0-9a-f]{4}", re.ASCII)
# States in which a run may still be continued, and why it is kept.
OPEN = {
    RecordedState.RUNNING: "it is going on",
    RecordedState.UNSETTLED: "it left devices unsettled",
    RecordedState.UNREADABLE: "its record cannot be read",
}
UNFINISHED = (*OPEN, RecordedState.INTERRUPTED)


@dataclass(frozen=True, slots=True)
class PruneRule:
    """Which runs to delete: all but the newest `keep`; those that ended over `age_s` seconds ago; what both name.

    Raises UsageError without either.
    """

    keep: int | None = None
    age_s: float | None = None

    def __post_init__(self) -> None:
        """Refuse a rule that would delete all."""
        if self.keep is None and self.age_s is None:
            raise UsageError("say which runs to delete: --keep NUMBER, --older-than AGE (such as 90d), or both")


@dataclass(frozen=True, slots=True)
class Pruning:
    """The runs that are deleted, and those that the rule names and that are kept all the same, with the reasons."""

    deleted: tuple[RunSummary, ...]
    kept: tuple[tuple[RunSummary, str], ...]
    bytes: int


def pruning(state: StateDirectory, rule: PruneRule) -> Pruning:
    """Return what a rule deletes, the oldest run first. Raises OutputError."""
    found = summaries(state, reversed(state.runs()))
    named = [one for at, one in enumerate(found) if _named(rule, at, one)]
    reasons = _reasons(found)
    deleted = tuple(one for one in reversed(named) if one.run not in reasons)
    kept = tuple((one, reasons[one.run]) for one in reversed(named) if one.run in reasons)
    return Pruning(deleted, kept, sum(_size(_folder(state, one.run)) for one in deleted))


def _named(rule: PruneRule, at: int, one: RunSummary) -> bool:
    if rule.keep is not None and at < rule.keep:
        return False
    return rule.age_s is None or _age_s(one) > rule.age_s


def _age_s(one: RunSummary) -> float:
    """Return how long ago a run ended; without a time that can be read, nothing is old."""
    try:
        return time.time() - datetime.fromisoformat(one.ended).astimezone(UTC).timestamp()
    except ValueError:
        # Cut off before its first line: its name has the time.
        stamp = re.search(r"\d{8}T\d{6}", one.run)
        return time.time() - datetime.strptime(f"{stamp[0]}Z", "%Y%m%dT%H%M%S%z").timestamp() if stamp else 0.0


def _reasons(found: Sequence[RunSummary]) -> dict[str, str]:
    """Return the runs that are kept whatever the rule says, with the reasons; the newest run comes first."""
    reasons: dict[str, str] = {}
    last: dict[tuple[str, str], str] = {}
    for at, one in enumerate(found):
        if not NAME.fullmatch(one.run):
            reasons[one.run] = "its name is not one of ailb-gen"
        elif one.state in OPEN:
            reasons[one.run] = OPEN[one.state]
        elif one.state is RecordedState.INTERRUPTED and any(
            end.outcome != DeviceOutcome.UNTOUCHED for end in one.devices.values()
        ):
            reasons[one.run] = "it was interrupted and can be resumed"
        elif at == 0:
            reasons[one.run] = "it is the newest"
        fresh = [name for name in one.kept if last.setdefault((one.kind, name), one.run) == one.run]
        if fresh:
            reasons.setdefault(one.run, f"it is the last {one.kind} that changed {some(fresh)}")
    # What a kept run refers to: all that took it back, and what a rollback still has to take back.
    for one in reversed(found):
        if one.kind == ROLLBACK and one.undoes in reasons:
            reasons.setdefault(one.run, f"it rolled back {one.undoes}, which is kept")
    for one in found:
        if one.run in reasons and one.undoes and one.state in UNFINISHED:
            reasons.setdefault(one.undoes, f"{one.run}, which is not finished, rolls it back")
    return reasons


def _folder(state: StateDirectory, run: str) -> Path:
    return state.log(run).parent


def _size(folder: Path) -> int:
    try:
        return sum(path.stat().st_size for path in folder.iterdir() if path.is_file())
    except OSError as error:
        raise OutputError(f"{folder}: the record cannot be read: {error.strerror}") from error


def prune(state: StateDirectory, found: Pruning) -> Iterator[str]:
    """Delete the runs, the oldest first, and yield each when it is gone. Raises OutputError: the others stay.

    The log goes first: cut off in the middle, a run is no run any more. What that leaves, the next call deletes.
    """
    for one in found.deleted:
        _delete(state.log(one.run))
        yield one.run
    for folder in state.path.iterdir():
        log = folder / LOG
        if NAME.fullmatch(folder.name) and folder.is_dir() and not folder.is_symlink() and not log.exists():
            _delete(log)


def _delete(log: Path) -> None:
    try:
        log.unlink(missing_ok=True)
        shutil.rmtree(log.parent)
    except OSError as error:
        raise OutputError(f"{log.parent}: the run cannot be deleted: {error.strerror}; check its owner") from error
