"""Records of maintenances: which device is at which step, true at every moment, since a step is recorded before it.

They are kept beside the runs of a state directory, in the same form.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from ailb_gen.deploy.run_history import Event, StateDirectory, newest_first
from ailb_gen.deploy.run_summary import is_open
from ailb_gen.errors import OutputError, UsageError

FOLDER = "maintenance"
# Events: the head, a step that begins and one that is done, the run of a push, failures, the end.
HEAD, BEGIN, DONE, RUN, FAILED, OVER = "maintenance", "step", "step done", "push", "failed", "over"
SPINE = "spine"


class MaintenanceStep(StrEnum):
    """A step of the maintenance of a device, in their order. Only spines have DRAIN and RETURN."""

    DRAIN = "drain"
    QUIET = "quiet"
    WORK = "work"
    VERIFY = "verify"
    RETURN = "return"


STEPS = tuple(MaintenanceStep)
# What is told of a device by its last step, begun or done: of a spine, of others.
BEGUN_TEXT = {
    MaintenanceStep.DRAIN: "going into graceful shutdown",
    MaintenanceStep.QUIET: "in graceful shutdown",
    MaintenanceStep.WORK: "in graceful shutdown, work begun",
    MaintenanceStep.VERIFY: "in graceful shutdown, work done",
    MaintenanceStep.RETURN: "going back into service",
}
DONE_TEXT = {
    MaintenanceStep.DRAIN: "in graceful shutdown",
    MaintenanceStep.QUIET: "in graceful shutdown",
    MaintenanceStep.WORK: "in graceful shutdown, work done",
    MaintenanceStep.VERIFY: "in graceful shutdown, work done",
}
WAITING, FINISHED, SKIPPED = "not begun", "done", "given up, work not done"


def steps_of(role: str) -> tuple[MaintenanceStep, ...]:
    """Return the steps of a device: nothing can be withdrawn from leaves, which are no transit, and servers."""
    return STEPS if role == SPINE else (MaintenanceStep.QUIET, MaintenanceStep.WORK, MaintenanceStep.VERIFY)


@dataclass(slots=True)
class DeviceProgress:
    """How far a device is: the steps done, the one that was begun and is not done, why it failed.

    `skipped`: it was given up before its work was done.
    """

    role: str
    done: tuple[MaintenanceStep, ...] = ()
    begun: MaintenanceStep | None = None
    reason: str = ""
    skipped: bool = False

    @property
    def finished(self) -> bool:
        """Whether all steps are done."""
        return set(self.done) >= set(steps_of(self.role))

    @property
    def next(self) -> MaintenanceStep | None:
        """The first step that is not done."""
        return next((step for step in steps_of(self.role) if step not in self.done), None)

    @property
    def touched(self) -> bool:
        """Whether a step that changes something was begun."""
        last = {*self.done, *((self.begun,) if self.begun is not None else ())}
        return bool(
            last & ({MaintenanceStep.DRAIN, MaintenanceStep.WORK} if self.role == SPINE else {MaintenanceStep.WORK})
        )

    @property
    def text(self) -> str:
        """Its state in words."""
        if self.finished:
            return SKIPPED if self.skipped else FINISHED
        if not self.touched:
            return WAITING
        text = BEGUN_TEXT[self.begun] if self.begun is not None else DONE_TEXT[self.done[-1]]
        return text if self.role == SPINE else text.removeprefix("in graceful shutdown, ")

    def begin(self, step: MaintenanceStep) -> None:
        """Note that a step begins; it and what follows are to be done then."""
        self.done = tuple(one for one in self.done if STEPS.index(one) < STEPS.index(step))
        self.begun, self.reason = step, ""

    def end(self, step: MaintenanceStep, skipped: bool = False) -> None:
        """Note that a step is done, or that it is not done any more."""
        self.skipped |= skipped and step is MaintenanceStep.WORK
        self.done, self.begun = (*(one for one in self.done if one is not step), step), None


@dataclass(frozen=True, slots=True)
class RecordedMaintenance:
    """A maintenance by its record. `batches` are the devices that are worked on together, in order.

    `work` and `options` are what `--resume` takes over; `running`: a process has it. `files` is the digest that the
    fabric file last had, `expected` that which an edit that was begun gives it, `first` that before all. `runs` are its
    pushes. `whole`: no secret was left out of `work`.
    """

    name: str
    time: str
    user: str
    command: tuple[str, ...]
    batches: tuple[tuple[str, ...], ...]
    work: Mapping[str, Any]
    options: Mapping[str, Any]
    devices: Mapping[str, DeviceProgress]
    files: str
    expected: str
    runs: tuple[str, ...] = ()
    over: str = ""
    running: bool = False
    first: str = ""
    whole: bool = True

    @property
    def state(self) -> str:
        """Its state in a word or two."""
        return "running" if self.running else self.over or "interrupted"

    @property
    def unfinished(self) -> bool:
        """Whether devices were begun or wait, and nobody has ended it."""
        return self.over not in ENDED

    def left(self) -> dict[str, str]:
        """Return the devices that were begun and are not done, with their state."""
        return {name: one.text for name, one in self.devices.items() if one.touched and not one.finished}


# How a maintenance ended; another one may begin then. One that stopped goes on or is given up.
COMPLETE, GIVEN_UP, STOPPED = "done", "given up", "stopped"
ENDED = (COMPLETE, GIVEN_UP)


def maintenances(state: StateDirectory) -> StateDirectory:
    """Return where the maintenances of a fabric are recorded, by where its runs are."""
    return StateDirectory(state.path / FOLDER)


def newest(state: StateDirectory) -> RecordedMaintenance | None:
    """Return the last maintenance, None if there is none. Raises OutputError for a record that cannot be read."""
    past = next(newest_first(state), None)
    return read(state, past.run, past.events) if past is not None else None


def unfinished_one(state: StateDirectory) -> RecordedMaintenance | None:
    """Return the last maintenance if it is neither done nor given up; none begins before that. Raises OutputError."""
    found = newest(state)
    return found if found is not None and found.unfinished else None


def need_unfinished(state: StateDirectory) -> RecordedMaintenance:
    """Return the maintenance to go on with. Raises UsageError when there is none, OutputError."""
    found = unfinished_one(state)
    if found is None:
        raise UsageError(f"{state.path}: no maintenance is unfinished here; check --state")
    return found


def read(state: StateDirectory, name: str, events: Sequence[Event]) -> RecordedMaintenance:
    """Read a maintenance from its events. Raises OutputError for what is no record of one."""
    try:
        return _read(name, events, is_open(state, name))
    except (LookupError, TypeError, ValueError, AttributeError) as error:
        path = state.log(name)
        raise OutputError(
            f"{path}: not the record of a maintenance; was it edited, or made by another version? Look at the fabric "
            f"file for what is out of service, then move the record away"
        ) from error


def _read(name: str, events: Sequence[Event], running: bool) -> RecordedMaintenance:
    head = events[0]
    if head["event"] != HEAD:
        raise ValueError(head["event"])
    devices = {device: DeviceProgress(str(role)) for device, role in head["roles"].items()}
    files, expected, over, runs = str(head["files"]), "", "", []
    for event in events[1:]:
        kind = event["event"]
        over = str(event["how"]) if kind == OVER else "" if kind == BEGIN else over
        if kind == BEGIN:
            expected = str(event.get("files", expected))
            for device in event["devices"]:
                devices[device].begin(MaintenanceStep(event["step"]))
        elif kind == DONE:
            files = str(event.get("files", files))
            for device in event["devices"]:
                devices[device].end(MaintenanceStep(event["step"]), bool(event.get("skipped")))
        elif kind == FAILED:
            for device, reason in event["devices"].items():
                devices[device].reason = str(reason)
        elif kind == RUN:
            runs.append(str(event["push"]))
    return RecordedMaintenance(
        name,
        str(head["time"]),
        str(head["user"]),
        tuple(map(str, head.get("command", ()))),
        tuple(tuple(map(str, batch)) for batch in head["batches"]),
        dict(head["work"]),
        dict(head["options"]),
        devices,
        files,
        expected,
        tuple(runs),
        over,
        running,
        str(head["files"]),
        work_digest(head["work"]) == head["work_digest"],
    )


def work_digest(work: Mapping[str, object]) -> str:
    """Return the digest of work as it is recorded: another one than before secrets were taken out."""
    return hashlib.sha256(json.dumps(dict(work), sort_keys=True).encode()).hexdigest()
