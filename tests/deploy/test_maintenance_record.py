"""Records of maintenances, cut off after any event: every prefix says where each device is."""

from __future__ import annotations

from pathlib import Path

import pytest

from ailb_gen.deploy.maintenance_record import HEAD, DeviceProgress, MaintenanceStep, read, steps_of, work_digest
from ailb_gen.deploy.run_history import Event, StateDirectory
from ailb_gen.errors import OutputError

WORK = {"command": ["./upgrade.sh"], "timeout_s": 60}
HEAD_EVENT: Event = {
    "event": HEAD,
    "time": "2026-01-01T00:00:00.000Z",
    "user": "ann",
    "files": "0",
    "batches": [["spine1"], ["leaf1"]],
    "roles": {"spine1": "spine", "leaf1": "leaf"},
    "work": WORK,
    "work_digest": work_digest(WORK),
    "options": {"floor": 50.0},
}
TEXTS = {
    "spine1": [
        "not begun",
        "going into graceful shutdown",
        "in graceful shutdown",
        "in graceful shutdown",
        "in graceful shutdown",
        "in graceful shutdown, work begun",
        "in graceful shutdown, work done",
        "in graceful shutdown, work done",
        "in graceful shutdown, work done",
        "going back into service",
        "done",
    ],
    "leaf1": ["not begun", "not begun", "not begun", "work begun", "work done", "work done", "done"],
}


def _steps(device: str, role: str) -> list[Event]:
    kinds = ("step", "step done")
    return [{"event": kind, "step": str(step), "devices": [device]} for step in steps_of(role) for kind in kinds]


@pytest.mark.parametrize(("device", "role"), [("spine1", "spine"), ("leaf1", "leaf")])
def test_every_prefix_tells_where_a_device_is(tmp_path: Path, device: str, role: str) -> None:
    events = [HEAD_EVENT, *_steps(device, role)]
    state = StateDirectory(tmp_path)
    texts = [read(state, "1", events[:end]).devices[device].text for end in range(1, len(events) + 1)]
    assert texts == TEXTS[device]


def test_a_step_that_is_repeated_undoes_what_follows_it() -> None:
    progress = DeviceProgress("spine")
    for step in (MaintenanceStep.DRAIN, MaintenanceStep.QUIET, MaintenanceStep.WORK):
        progress.begin(step)
        progress.end(step)
    progress.begin(MaintenanceStep.QUIET)
    assert (progress.next, progress.done) == (MaintenanceStep.QUIET, (MaintenanceStep.DRAIN,))


def test_work_from_which_a_secret_was_taken_is_not_whole(tmp_path: Path) -> None:
    masked = HEAD_EVENT | {"work": {**WORK, "command": ["./upgrade.sh", "<secret>"]}}
    assert read(StateDirectory(tmp_path), "1", [HEAD_EVENT]).whole
    assert not read(StateDirectory(tmp_path), "1", [masked]).whole


@pytest.mark.parametrize("key", sorted(HEAD_EVENT.keys() - {"event", "time"}))
def test_a_head_that_lacks_something_is_an_error(tmp_path: Path, key: str) -> None:
    head = {name: value for name, value in HEAD_EVENT.items() if name != key}
    with pytest.raises(OutputError, match="not the record of a maintenance"):
        read(StateDirectory(tmp_path), "1", [head])
