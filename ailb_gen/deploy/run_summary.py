"""What recorded runs are known to have done: the state of each, the end of each device, and what was taken back since.

A record is true at every moment: a step is on the disk before it is done. So this is true of a run that is going on,
and of one that was killed, as well.
"""

import fcntl
import os
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Any

from ailb_gen.deploy.run_history import DeviceOutcome, RecordedRun, StateDirectory, newest_first
from ailb_gen.errors import AilbError

# The end of a device whose change was begun, and is neither known to be done nor to be undone.
UNSETTLED = "unsettled"
# What begins a run again.
RESUMED = "resume"


class RecordedState(StrEnum):
    """The state of a run."""

    RUNNING = "running"
    UNSETTLED = "unsettled"
    INTERRUPTED = "interrupted"
    NOT_BEGUN = "not begun"
    UNREADABLE = "unreadable"
    DONE = "done"
    INCOMPLETE = "incomplete"
    ROLLED_BACK = "rolled back"
    UNCHANGED = "nothing changed"


@dataclass(frozen=True, slots=True)
class DeviceEnd:
    """How a device ended: an outcome, or UNSETTLED; why; the later run that took its change back."""

    outcome: str
    reason: str = ""
    taken_back_by: str = ""


@dataclass(frozen=True, slots=True)
class RunPart:
    """A part of a run: what was started when, by whom, on which host, with which version and command line.

    What an older version did not record is empty.
    """

    verb: str
    time: str
    user: str = ""
    host: str = ""
    version: str = ""
    command: tuple[str, ...] = ()
    approved: str = ""


@dataclass(frozen=True, slots=True)
class RunSummary:
    """A recorded run. `parts` are how it was begun, and how it was continued or settled later.

    `kind` is deploy, dry run or rollback, empty where that was not recorded; `undoes` the run that it rolled back.
    `plan` has the file of an approved plan, its digest, signer and key. `why` is why it did not come to its end, or why
    its record cannot be read.
    """

    run: str
    state: RecordedState
    kind: str = ""
    undoes: str = ""
    parts: tuple[RunPart, ...] = ()
    ended: str = ""
    plan: Mapping[str, str] = field(default_factory=dict)
    options: Mapping[str, Any] = field(default_factory=dict)
    devices: Mapping[str, DeviceEnd] = field(default_factory=dict)
    why: str = ""

    @property
    def counts(self) -> str:
        """How many devices ended how."""
        found = Counter(end.outcome for end in self.devices.values())
        return ", ".join(f"{number} {outcome}" for outcome, number in found.items())

    @property
    def approval(self) -> str:
        """How it was approved: by an option, a person at the terminal (asked), a plan, a signed plan."""
        how = self.parts[0].approved if self.parts else ""
        plan = "signed plan" if self.plan.get("signer") else "plan" if self.plan.get("file") else ""
        return ", ".join(filter(None, (plan, how)))

    @property
    def kept(self) -> tuple[str, ...]:
        """The devices whose change was confirmed and not taken back since."""
        return tuple(
            name
            for name, end in self.devices.items()
            if end.outcome == DeviceOutcome.CONFIRMED and not end.taken_back_by
        )


def is_open(state: StateDirectory, run: str) -> bool:
    """Return whether a process is writing the record of a run; False where it cannot be opened."""
    try:
        descriptor = os.open(state.log(run), os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return False
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except OSError:
        # No locks on this file system: then no run can begin there either.
        return False
    finally:
        os.close(descriptor)
    return False


def refused(past: RecordedRun) -> dict[str, str]:
    """Return the devices that the last check of all devices found wrong, before any wave, with the reasons."""
    found: dict[str, str] = {}
    for event in past.events:
        if event["event"] == "run":
            found.clear()
        elif event["event"] == "error" and "wave" not in event:
            found[str(event.get("device", ""))] = str(event.get("error", ""))
    return found


def device_ends(past: RecordedRun, back: Mapping[str, str] | None = None) -> dict[str, DeviceEnd]:
    """Return how every device of a run ended, as far as is known; `back` has the later runs that took changes back."""
    rows: dict[str, tuple[str, str]] = {}
    errors: dict[str, str] = {}
    for event in past.events:
        if event["event"] == "results":
            rows |= {name: (row[0], row[1] if len(row) > 1 else "") for name, row in event["devices"].items()}
        elif event["event"] == "error":
            errors[str(event.get("device", ""))] = str(event.get("error", ""))
    left, wrong = set(past.left.devices), refused(past)
    found: dict[str, DeviceEnd] = {}
    for name in dict.fromkeys((*past.devices, *rows, *left, *wrong)):
        outcome, reason = rows.get(name, (str(DeviceOutcome.UNTOUCHED), wrong.get(name, "")))
        if name in left and outcome != DeviceOutcome.ATTENTION:
            # The record breaks off in the middle of its change.
            outcome, reason = UNSETTLED, errors.get(name, "")
        taken = (back or {}).get(name, "") if outcome == DeviceOutcome.CONFIRMED else ""
        found[name] = DeviceEnd(outcome, reason, taken)
    return found


def taken_back(newest: Iterable[RecordedRun]) -> dict[str, dict[str, str]]:
    """Return, by run, the devices whose change a later run took back, with that run; the newest run comes first.

    What a rollback did counts only where it was not taken back itself.
    """
    found: dict[str, dict[str, str]] = {}
    for past in newest:
        if past.is_rollback and past.undoes and not past.dry:
            again = found.get(past.run, {})
            undone = found.setdefault(past.undoes, {})
            for name in past.changed:
                if name not in again:
                    undone.setdefault(name, past.run)
    return found


def remaining_changes(state: StateDirectory, past: RecordedRun) -> tuple[str, ...]:
    """Return the devices on which a run's change was confirmed and not taken back by a later run."""
    back = taken_back(newest_first(state)).get(past.run, {})
    return tuple(name for name in past.changed if name not in back)


def summaries(state: StateDirectory, runs: Iterable[str]) -> list[RunSummary]:
    """Return what is known of runs, which must be all from some run on, the newest first.

    A record that cannot be read is a summary that says so.
    """
    found: list[RunSummary] = []
    readable: dict[str, RecordedRun] = {}
    broken: dict[str, str] = {}
    order = list(runs)
    for run in order:
        try:
            readable[run] = RecordedRun(run, state.events(run))
        except AilbError as error:
            broken[run] = str(error)
    back = taken_back(readable.values())
    for run in order:
        if run in broken:
            found.append(RunSummary(run, RecordedState.UNREADABLE, why=broken[run]))
        else:
            found.append(_summary(readable[run], back.get(run, {}), is_open(state, run)))
    return found


def _summary(past: RecordedRun, back: Mapping[str, str], running: bool) -> RunSummary:
    ends = device_ends(past, back)
    begin = next((event for event in past.events if event["event"] == "begin"), {})
    return RunSummary(
        past.run,
        RecordedState.RUNNING if running else _state(past, ends),
        "dry run" if past.dry else past.kind if past.events else "",
        past.undoes,
        _parts(past),
        str(past.events[-1].get("time", "")) if past.events else "",
        {str(key): str(value) for key, value in dict(begin.get("plan", {})).items()},
        dict(begin.get("options", {})),
        ends,
        next((str(event.get("stopped", "")) for event in reversed(past.events) if event["event"] == "done"), ""),
    )


def _state(past: RecordedRun, ends: Mapping[str, DeviceEnd]) -> RecordedState:
    if not past.events:
        return RecordedState.NOT_BEGUN
    if past.left.devices:
        return RecordedState.UNSETTLED
    if not past.over and not any(end.taken_back_by for end in ends.values()):
        return RecordedState.INTERRUPTED
    if past.dry:
        return RecordedState.INCOMPLETE if refused(past) else RecordedState.DONE
    changed = [end for end in ends.values() if end.outcome == DeviceOutcome.CONFIRMED]
    undone = any(end.outcome == DeviceOutcome.ROLLED_BACK for end in ends.values())
    if all(end.taken_back_by for end in changed):
        # Also where there are none.
        back = RecordedState.ROLLED_BACK if changed or undone else RecordedState.UNCHANGED
        return back if all(end.outcome != DeviceOutcome.AS_IS for end in ends.values()) else RecordedState.INCOMPLETE
    return RecordedState.DONE if len(changed) == len(ends) else RecordedState.INCOMPLETE


def _parts(past: RecordedRun) -> tuple[RunPart, ...]:
    """Return the parts of a run: what begins it again resumes it."""
    found: list[RunPart] = []
    for event in past.events:
        if event["event"] in ("begin", "settling"):
            approved = event.get("approved", {})
            begun = any(part.verb == past.kind for part in found)
            verb = event.get("verb", RESUMED if begun else past.kind)
            time, user, host, version = (str(event.get(key, "")) for key in ("time", "user", "host", "version"))
            command = tuple(event.get("command", ()))
            user = user or str(approved.get("by", ""))
            part = RunPart(str(verb), time, user, host, version, command, str(approved.get("how", "")))
            # Settling first and going on then is one call.
            same = found and verb == found[-1].verb == RESUMED and not found[-1].approved
            if same and (user, host, command) == (found[-1].user, found[-1].host, found[-1].command):
                found[-1] = replace(found[-1], approved=part.approved)
            else:
                found.append(part)
    return tuple(found)
