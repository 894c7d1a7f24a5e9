"""The changes of a run as its record has them, and what taking them back undoes."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ailb_gen.deploy.device_diff import ADD, OTHER, REMOVE, REPLACE, Edit, ServerDiff, SwitchDiff, edit_row
from ailb_gen.deploy.push import CHANGES, ChangeRow
from ailb_gen.deploy.record_file import read_record
from ailb_gen.deploy.run_history import DeviceOutcome, StateDirectory, run_order
from ailb_gen.deploy.run_summary import UNSETTLED, DeviceEnd, RecordedState, summaries
from ailb_gen.deploy.servers.files import FileChange
from ailb_gen.errors import OutputError

# Of the files of a server: what a push did, and what taking that back does, with the sign of the latter.
FILES: Mapping[str, str] = {
    FileChange.ADDED: "- remove",
    FileChange.CHANGED: "~ restore",
    FileChange.REMOVED: "+ restore",
}


@dataclass(frozen=True, slots=True)
class RecordedChange:
    """The change of a device; secrets are replaced. `edits` are empty where an older version recorded commands only."""

    device: str
    digest: str
    commands: tuple[str, ...]
    edits: tuple[Edit, ...] = ()


def change_row(look: SwitchDiff | ServerDiff) -> ChangeRow:
    """Return the change of a device as it is recorded: with its edits where the commands do not say all of it."""
    edits = look.compact_edits if isinstance(look, SwitchDiff) else ()
    if not any(isinstance(edit, Edit) for edit in edits):
        return ChangeRow(look.digest, look.commands)
    rows = [edit_row(edit) if isinstance(edit, Edit) else edit for edit in edits]
    return ChangeRow(look.digest, look.commands, rows)


def recorded_changes(state: StateDirectory, run: str) -> dict[str, RecordedChange]:
    """Read the change of every device of a run; empty if it did not get so far.

    A run that was resumed has recorded some again; the last one counts, the same by its digest. Raises OutputError.
    """
    try:
        changes = read_record(state.log(run).with_name(CHANGES), _change)
    except FileNotFoundError:
        return {}
    return {change.device: change for change in changes}


def _change(row: Mapping[str, Any]) -> RecordedChange:
    """Return a change as it was recorded. May raise any error for a row that is none."""
    edits = tuple(
        Edit(ADD, edit.removeprefix("set "))
        if isinstance(edit, str)
        else Edit(
            str(edit["kind"]),
            str(edit["statement"]),
            str(edit.get("old", "")),
            str(edit.get("new", "")),
            tuple(map(str, edit.get("held", ()))),
        )
        for edit in row.get("edits", ())
    )
    return RecordedChange(str(row["device"]), str(row["digest"]), tuple(map(_text, row["commands"])), edits)


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise TypeError(value)
    return value


def undone(change: RecordedChange) -> Iterator[str]:
    """Yield what taking a change back does, as lines: `-` goes, `+` comes, `~` is as before."""
    for edit in change.edits:
        yield from UNDONE.get(edit.kind, _undone_other)(edit)
    for command in () if change.edits else change.commands:
        verb, _, rest = command.partition(" ")
        if verb in FILES:
            yield f"{FILES[verb]} {rest}"
        elif verb == "set":
            yield f"- delete {rest}"
        elif verb == "delete":
            # An older version did not record what it held.
            yield f"+ restore {rest}"
        else:
            yield f"~ undo: {command}"


def _undone_removal(edit: Edit) -> Sequence[str]:
    return [f"+ set {line}" for line in edit.held or (edit.statement,)]


def _undone_other(edit: Edit) -> Sequence[str]:
    return [f"~ undo: {edit.statement}"]


UNDONE: Mapping[str, Callable[[Edit], Sequence[str]]] = {
    ADD: lambda edit: [f"- delete {edit.statement}"],
    REPLACE: lambda edit: [f"~ {edit.statement}: {edit.new} → {edit.old}"],
    REMOVE: _undone_removal,
    OTHER: _undone_other,
}


@dataclass(frozen=True, slots=True)
class DeviceUndo:
    """What rolling a run back undoes on a device.

    `end` is how the run left it; `lines` are those of `undone`, empty where the record has no change. `blocked_by` is a
    later run that changed the device, too: a rollback is refused there until that one is rolled back.
    """

    device: str
    end: DeviceEnd
    lines: tuple[str, ...]
    blocked_by: str = ""


def run_undo(state: StateDirectory, run: str) -> tuple[DeviceUndo, ...]:
    """Return what rolling a run back undoes: on each device whose change is unsettled, or was not taken back since.

    Computed from the records alone: no device is asked. Raises OutputError.
    """
    runs = state.runs()
    later = summaries(state, reversed(runs[runs.index(run) :]))
    past, changes = later[-1], recorded_changes(state, run)
    if past.state is RecordedState.UNREADABLE:
        raise OutputError(past.why)
    open_ = [name for name, end in past.devices.items() if end.outcome in (UNSETTLED, DeviceOutcome.ATTENTION)]
    blocked: dict[str, str] = {}
    for other in later[:-1]:
        # A rollback of a later run has brought back what this one left.
        if not other.undoes or run_order(other.undoes) <= run_order(run):
            for name in other.kept:
                blocked.setdefault(name, other.run)
    return tuple(
        DeviceUndo(
            name,
            past.devices[name],
            tuple(undone(changes[name])) if name in changes else (),
            blocked.get(name, "") if name not in open_ else "",
        )
        for name in (*open_, *past.kept)
    )
