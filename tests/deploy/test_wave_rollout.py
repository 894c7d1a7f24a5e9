"""A run over several waves, and what the record of one says that was cut off at any moment."""

from __future__ import annotations

from collections.abc import Callable
from copy import deepcopy
from dataclasses import replace
from typing import Any, Literal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ailb_gen.deploy.planning import Plan, Wave
from ailb_gen.deploy.push import PushOptions
from ailb_gen.deploy.run_history import DeviceOutcome, DeviceResult, RecordedRun, unfinished
from ailb_gen.deploy.run_summary import UNSETTLED, device_ends
from ailb_gen.deploy.switch_state import ExpectedState
from ailb_gen.deploy.transaction import CommitState
from ailb_gen.deploy.wave import Rollout, RunReport, WaveRun
from ailb_gen.errors import OutputError
from tests.conftest import examples
from tests.deploy.lab import NAMES, fabric_model, look
from tests.deploy.machine import LIMITS, MISHAPS, FakeTransaction, Machine, machine_of
from tests.deploy.test_wave import ATTENTION, COMMIT_STATES, CONFIRMED, ROLLED_BACK, UNTOUCHED, Scripts

LEAVES = tuple(name for name in NAMES if "leaf" in name)
WAVES = (Wave("canary leaf", LEAVES[:1]), Wave("spines", ("spine1", "spine2")), Wave("leaves", LEAVES[1:3]))
PUSHED = tuple(name for wave in WAVES for name in wave.devices)
EMPTY = "system { host-name x; }"
BARE = fabric_model(**{name.replace("-", "_"): EMPTY for name in NAMES})
LOOKS = {name: look(name, before=EMPTY) for name in PUSHED}
OLD = {name: f"old {name}" for name in PUSHED}


def rollout(
    machine: Machine,
    failures: int = 0,
    on_failure: Literal["stop", "rollback-all"] = "stop",
    stop: Callable[[], bool] = lambda: False,
    seen: list[ExpectedState] | None = None,
    dry_run: bool = False,
) -> Rollout:
    def make(name: str, expected: ExpectedState) -> FakeTransaction:
        if seen is not None:
            seen.append(expected)
        return FakeTransaction(name, machine)

    options = PushOptions(replace(LIMITS, failures=failures), on_failure, dry_run)
    return Rollout(machine.push(options, stop), make, Plan(LOOKS, {}, {}, BARE, WAVES))


def run(machine: Machine, **how: Any) -> RunReport:
    """Push all waves, and make sure that it is as the report says."""
    with machine.running():
        report = rollout(machine, **how).run(OLD)
    for name, result in report.results.items():
        if result.outcome is not ATTENTION:
            assert machine.devices[name].commit_state is COMMIT_STATES[result.outcome], name
    assert unfinished(machine.events).devices == ()
    return report


def machine(**scripts: dict[str, list[str | None]]) -> Machine:
    """Return the devices of the waves; names have `_` for `-`."""
    given = {name.replace("_", "-"): script for name, script in scripts.items()}
    return machine_of({name: given.get(name, {}) for name in PUSHED})


def test_every_wave_expects_what_is_there_by_then() -> None:
    seen: list[ExpectedState] = []
    report = run(machine(), seen=seen)
    assert report.names(CONFIRMED) == list(PUSHED)
    assert (report.failures, report.refused, report.stopped) == ({}, {}, "")
    # First all are checked, then each wave expects the sessions with those before it.
    assert [row.name for row in seen] == [*PUSHED, *PUSHED]
    peers = {row.name: [neighbor.peer for neighbor in row.neighbors] for row in seen[len(PUSHED) :]}
    assert peers == {
        "stripe1-leaf1": [],
        "spine1": ["stripe1-leaf1"],
        "spine2": ["stripe1-leaf1"],
        "stripe1-leaf2": ["spine1", "spine2"],
        "stripe2-leaf1": ["spine1", "spine2"],
    }


def test_a_dry_run_changes_nothing() -> None:
    devices = machine()
    report = run(devices, dry_run=True)
    assert report.results == {}
    assert all(device.calls == ["stage", "release"] for device in devices.devices.values())
    assert [event["event"] for event in devices.events] == ["run", "checked"]


def test_what_the_first_check_refuses_stops_everything() -> None:
    report = run(machine(spine2={"stage": ["refused"]}))
    assert report == RunReport("r", {}, {"spine2": "spine2: check: refused by the script"}, report.stopped)


def test_what_the_first_check_refuses_is_left_out_if_it_may_fail() -> None:
    report = run(machine(stripe1_leaf1={"stage": ["refused"]}), failures=1)
    assert report.names(CONFIRMED) == list(PUSHED[1:])
    assert list(report.refused) == ["stripe1-leaf1"]


BAD: dict[str, list[str | None]] = {"verify": ["bad"] * 99}


@pytest.mark.parametrize("all_of_it", [False, True])
def test_what_becomes_of_earlier_waves(all_of_it: bool) -> None:
    devices = machine(stripe2_leaf1=BAD)
    report = run(devices, on_failure="rollback-all" if all_of_it else "stop")
    earlier = ROLLED_BACK if all_of_it else CONFIRMED
    assert {name: result.outcome for name, result in report.results.items()} == {
        **dict.fromkeys(PUSHED[:3], earlier),
        **dict.fromkeys(PUSHED[3:], ROLLED_BACK),
    }
    assert report.stopped == "wave 3 failed"
    assert report.failures == {"stripe2-leaf1": "stripe2-leaf1: verify: a session is down"}
    if all_of_it:
        reverted = [event["devices"] for event in devices.events if event["event"] == "reverting"]
        assert reverted[1:] == [list(PUSHED[:3]), ["spine1", "spine2"], ["stripe1-leaf1"]]


def test_later_waves_are_untouched() -> None:
    report = run(machine(stripe1_leaf1=BAD))
    assert report.names(ROLLED_BACK) == ["stripe1-leaf1"]
    assert report.names(UNTOUCHED) == list(PUSHED[1:])


def test_as_many_failures_as_are_allowed_in_the_whole_run() -> None:
    report = run(machine(stripe1_leaf1=BAD, spine1=BAD), failures=1)
    assert report.names(ROLLED_BACK) == ["stripe1-leaf1", "spine1", "spine2"]
    report = run(machine(stripe1_leaf1=BAD, spine1=BAD), failures=2)
    assert set(report.names(ROLLED_BACK)) == {"stripe1-leaf1", "spine1"}
    assert set(report.names(CONFIRMED)) == set(PUSHED) - {"stripe1-leaf1", "spine1"}


@given(st.integers(0, 25), st.booleans())
def test_interrupted_at_any_moment(after: int, all_of_it: bool) -> None:
    devices = machine()
    report = run(devices, stop=lambda: len(devices.events) >= after, on_failure="rollback-all" if all_of_it else "stop")
    ended = {result.outcome for result in report.results.values()}
    if report.stopped:
        assert report.stopped == "it was interrupted"
        assert not all_of_it or ended <= {UNTOUCHED, ROLLED_BACK, CONFIRMED}
    else:
        assert ended == {CONFIRMED}


scripts = st.dictionaries(
    st.sampled_from(("apply", "verify", "confirm", "revert", "commit_state")),
    st.lists(st.sampled_from([None, *MISHAPS, "bad"]), max_size=3),
    max_size=3,
)


@settings(max_examples=examples(50))
@given(st.fixed_dictionaries(dict.fromkeys(PUSHED, scripts)), st.integers(0, 2), st.booleans())
def test_killed_at_any_moment_nothing_is_forgotten(rows: Scripts, failures: int, all_of_it: bool) -> None:
    devices = machine_of(rows)
    devices.watched = True
    run(devices, failures=failures, on_failure="rollback-all" if all_of_it else "stop")
    for events, there in devices.snapshots:
        left = unfinished(events)
        assert set(left.to_new).isdisjoint(left.to_old)
        assert left.old == (OLD if any(event["event"] == "run" for event in events) else {})
        # What the record does not name is at its end.
        for name, device in there.items():
            assert device.commit_state is not CommitState.PENDING or name in left.devices
        # And what is said of the run is so.
        for name, end in device_ends(RecordedRun("r", events)).items():
            if name in left.devices:
                assert end.outcome in (UNSETTLED, ATTENTION)
            else:
                assert there[name].commit_state is COMMIT_STATES[DeviceOutcome(end.outcome)], (name, end)
        again = Machine(deepcopy(there))
        again.clock.now = devices.clock.now
        for device in again.devices.values():
            device.script.clear()
        with again.running():
            results = WaveRun(again.push(), Wave("left", left.devices), again.transactions()).settle(
                frozenset(left.to_new)
            )
        for name, result in results.items():
            assert result.outcome in (CONFIRMED, ROLLED_BACK)
            assert again.devices[name].commit_state is COMMIT_STATES[result.outcome]
            assert result.outcome is ROLLED_BACK or name in left.to_new
        assert CommitState.PENDING not in {device.commit_state for device in again.devices.values()}
        # And the record of that says so: a second look finds nothing more to do.
        assert unfinished([*events, *again.events]).devices == ()


def test_settling_says_which_devices_could_not_be_brought_to_an_end() -> None:
    devices = machine_of({"a": {"revert": ["refused"] * 9999}, "b": {}})
    devices.devices["a"].commit_state = devices.devices["b"].commit_state = CommitState.NEW
    with devices.running():
        results = WaveRun(devices.push(), Wave("x", ("a", "b")), devices.transactions()).settle(frozenset("b"))
    assert results == {
        "a": DeviceResult(ATTENTION, "a: rollback: refused by the script", results["a"].phase),
        "b": DeviceResult(CONFIRMED),
    }


@pytest.mark.parametrize("full_after", [0, 1])
def test_nothing_is_begun_that_cannot_be_recorded(full_after: int) -> None:
    devices = machine()
    devices.full_after = full_after
    with devices.running(), pytest.raises(OutputError):
        rollout(devices).run(OLD)
    assert set(devices.final_states().values()) == {CommitState.OLD}


@pytest.mark.parametrize("on_failure", ["stop", "rollback-all"])
@pytest.mark.parametrize("full_after", range(2, 30))
@pytest.mark.parametrize("fails", [{}, {"spine1": {"verify": ["bad"] * 9999}}])
def test_a_record_that_cannot_be_written_ends_the_run(
    full_after: int, on_failure: Literal["stop", "rollback-all"], fails: Scripts
) -> None:
    def push(full_after: int) -> tuple[Machine, RunReport]:
        devices = machine_of({name: fails.get(name, {}) for name in PUSHED})
        devices.full_after = full_after
        with devices.running():
            return devices, rollout(devices, on_failure=on_failure).run(OLD)

    whole, _ = push(10**9)
    devices, report = push(full_after)
    assert report.unrecorded == ("the disk is full" if full_after < len(whole.events) else "")
    for name, result in report.results.items():
        assert result.outcome in COMMIT_STATES
        assert devices.devices[name].commit_state is COMMIT_STATES[result.outcome], name
    # What the record calls settled ended as the record says.
    left = unfinished(devices.events).devices
    said = {name: row[0] for one in devices.events if one["event"] == "results" for name, row in one["devices"].items()}
    assert {name: said.get(name, "untouched") for name in PUSHED if name not in left} == {
        name: str(result.outcome) for name, result in report.results.items() if name not in left
    }


def event(kind: str, *names: str) -> dict[str, Any]:
    if kind == "results":
        return {"event": kind, "devices": {name: ["confirmed", ""] for name in names}}
    return {"event": kind, "devices": list(names)}


@pytest.mark.parametrize(
    ("events", "to_new", "to_old"),
    [
        ([], (), ()),
        ([event("wave", "a", "b"), event("checked", "a", "b")], (), ()),
        ([event("committing", "a", "b")], (), ("a", "b")),
        ([event("committing", "a", "b"), event("confirming", "a")], ("a",), ("b",)),
        ([event("committing", "a", "b"), event("confirming", "a"), event("reverting", "a", "b")], (), ("a", "b")),
        ([event("committing", "a", "b"), event("confirming", "a", "b"), event("results", "a", "b")], (), ()),
        ([event("committing", "a"), event("results", "a"), event("reverting", "a")], (), ("a",)),
    ],
)
def test_unfinished(events: list[dict[str, Any]], to_new: tuple[str, ...], to_old: tuple[str, ...]) -> None:
    left = unfinished(events)
    assert (left.to_new, left.to_old, left.devices) == (to_new, to_old, (*to_new, *to_old))


def test_what_a_resumed_run_had_at_first_counts() -> None:
    first = {"event": "run", "old": {"a": "1", "b": "2"}, "leg": 0}
    second = {"event": "run", "old": {"a": "3", "c": "4"}, "leg": 1}
    left = unfinished([first, second])
    assert (left.old, left.attempt) == ({"a": "1", "b": "2", "c": "4"}, 1)
