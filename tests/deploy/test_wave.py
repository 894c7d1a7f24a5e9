"""A wave under every mishap: each device ends old or new, nothing stays pending, and what is said is so."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ailb_gen.deploy.push import PushOptions
from ailb_gen.deploy.run_history import DeviceOutcome, DeviceResult, unfinished
from ailb_gen.deploy.transaction import CommitState
from ailb_gen.deploy.wave import WaveRun
from tests.conftest import examples
from tests.deploy.machine import LIMITS, MISHAPS, STEPS, Machine, machine_of

CONFIRMED, UNTOUCHED = DeviceOutcome.CONFIRMED, DeviceOutcome.UNTOUCHED
ROLLED_BACK, ATTENTION = DeviceOutcome.ROLLED_BACK, DeviceOutcome.ATTENTION
COMMIT_STATES = {CONFIRMED: CommitState.NEW, UNTOUCHED: CommitState.OLD, ROLLED_BACK: CommitState.OLD}
Scripts = dict[str, dict[str, list[str | None]]]
PAIR = ("a", "b")


def pushed(machine: Machine, failures: int = 0, stop_after: int = 10**9) -> dict[str, DeviceResult]:
    """Push to all devices as one wave, and make sure of what holds whatever happens."""
    options = PushOptions(replace(LIMITS, failures=failures))
    push = machine.push(options, lambda: len(machine.events) >= stop_after)
    with machine.running():
        results = WaveRun(push, machine.wave(), machine.transactions()).run()
    assert results.keys() == machine.devices.keys()
    assert not any(device.staged for device in machine.devices.values())
    # It is as it is said already before the timers of the devices run out.
    for name, result in results.items():
        if result.outcome is not ATTENTION:
            assert machine.devices[name].commit_state is COMMIT_STATES[result.outcome], name
    failed = [name for name, result in results.items() if result.reason]
    assert push.failed == len(failed)
    if push.failed > failures:
        assert not any(result.outcome is CONFIRMED for result in results.values())
    assert not any(result.reason for result in results.values() if result.outcome is CONFIRMED)
    last = machine.events[-1]
    assert all(0.0 <= start <= end <= last["seconds"] for rows in last["steps"].values() for _, start, end in rows)
    assert {key: last[key] for key in last if key not in ("seconds", "steps")} == {
        "event": "results",
        "wave": "all",
        "devices": {name: [str(result.outcome), result.reason] for name, result in sorted(results.items())},
    }
    return results


def ends(results: dict[str, DeviceResult]) -> dict[str, DeviceOutcome]:
    return {name: result.outcome for name, result in results.items()}


def test_all_goes_well() -> None:
    machine = machine_of({name: {} for name in PAIR})
    assert pushed(machine) == dict.fromkeys(PAIR, DeviceResult(CONFIRMED))
    assert machine.devices["a"].calls == ["stage", "apply", "verify", "confirm", "release"]
    kinds = [event["event"] for event in machine.events]
    assert kinds == ["wave", "checked", "committing", "verified", "confirming", "results"]
    steps = [row[0] for row in machine.events[-1]["steps"]["a"]]
    assert steps == ["check", "commit", "verify", "confirm", "unlock"]


def test_warnings_of_a_device_are_told_and_recorded() -> None:
    machine = machine_of({"leaf1": {}, "leaf2": {}})
    assert pushed(machine) == dict.fromkeys(("leaf1", "leaf2"), DeviceResult(CONFIRMED))
    told = [event for event in machine.events if event["event"] == "warning"]
    assert told == [{"event": "warning", "wave": "all", "device": "leaf1", "text": "it is warm"}]


@pytest.mark.parametrize(
    ("script", "failures", "expected"),
    [
        ({"stage": ["refused"]}, 0, (UNTOUCHED, UNTOUCHED)),
        ({"stage": ["refused"]}, 1, (UNTOUCHED, CONFIRMED)),
        ({"apply": ["refused"]}, 0, (UNTOUCHED, ROLLED_BACK)),
        ({"apply": ["refused"]}, 1, (UNTOUCHED, CONFIRMED)),
        # No answer to a commit: the device is asked, and the push goes on if it was done.
        ({"apply": ["lost after"]}, 0, (CONFIRMED, CONFIRMED)),
        ({"apply": ["lost after"], "commit_state": ["away"] * 5}, 0, (CONFIRMED, CONFIRMED)),
        ({"apply": ["bug after"]}, 0, (CONFIRMED, CONFIRMED)),
        ({"apply": ["lost before"]}, 0, (ROLLED_BACK, ROLLED_BACK)),
        ({"apply": ["lost before"]}, 1, (ROLLED_BACK, CONFIRMED)),
        ({"verify": ["bad"] * 3}, 0, (CONFIRMED, CONFIRMED)),
        ({"verify": ["lost before", "away", "bug before"]}, 0, (CONFIRMED, CONFIRMED)),
        ({"verify": ["bad"] * 99}, 0, (ROLLED_BACK, ROLLED_BACK)),
        ({"verify": ["bad"] * 99}, 1, (ROLLED_BACK, CONFIRMED)),
        ({"confirm": ["lost after"]}, 0, (CONFIRMED, CONFIRMED)),
        ({"confirm": ["refused"] * 3}, 0, (CONFIRMED, CONFIRMED)),
        # It cannot be confirmed: what was confirmed beside it is undone.
        ({"confirm": ["refused"] * 999}, 0, (ROLLED_BACK, ROLLED_BACK)),
        ({"confirm": ["refused"] * 999}, 1, (ROLLED_BACK, CONFIRMED)),
        ({"verify": ["bad"] * 99, "revert": ["refused", "away"]}, 1, (ROLLED_BACK, CONFIRMED)),
        ({"verify": ["bad"] * 99, "revert": ["refused"] * 999}, 1, (ATTENTION, CONFIRMED)),
        ({"confirm": ["foreign"], "revert": []}, 0, (ATTENTION, ROLLED_BACK)),
    ],
)
def test_what_one_mishap_leads_to(
    script: dict[str, list[str | None]], failures: int, expected: tuple[DeviceOutcome, DeviceOutcome]
) -> None:
    assert ends(pushed(machine_of({"a": script, "b": {}}), failures)) == dict(zip(PAIR, expected, strict=True))


def test_the_reason_is_the_first_one() -> None:
    result = pushed(machine_of({"a": {"verify": ["bad"] * 99, "revert": ["refused"]}}))["a"]
    assert result == DeviceResult(ROLLED_BACK, "a: verify: a session is down", result.phase)


def test_a_device_that_stays_silent_has_taken_the_change_back_when_it_is_given_up() -> None:
    machine = machine_of({"a": {"apply": ["lost after"], "commit_state": ["away"] * 999, "revert": ["away"] * 999}})
    start = machine.clock.now
    assert ends(pushed(machine)) == {"a": ATTENTION}
    assert machine.clock.now - start >= LIMITS.minutes * LIMITS.minute_s + LIMITS.grace_s
    assert machine.final_states() == {"a": CommitState.OLD}


@pytest.mark.parametrize(("keep", "left"), [((), ROLLED_BACK), (PAIR, CONFIRMED)])
def test_a_signal_while_a_run_is_settled_leaves_what_does_not_answer(
    keep: tuple[str, ...], left: DeviceOutcome
) -> None:
    away = {"confirm": ["away"] * 99, "revert": ["away"] * 99}
    machine = machine_of({"a": away, "b": {}})
    for device in machine.devices.values():
        device.commit_state, device.deadline = CommitState.PENDING, machine.clock.now + 3600
    # It comes when the device has not answered for the third time.
    push = machine.push(signals=lambda: int(len(machine.devices["a"].calls) >= 3))
    told: list[str] = []
    push.options = replace(push.options, tell=told.append)
    with machine.running():
        results = WaveRun(push, machine.wave(), machine.transactions()).settle(frozenset(keep))
    assert ends(results) == {"a": ATTENTION, "b": left}
    assert machine.devices["a"].calls.count("confirm" if keep else "revert") == 3
    # What was to be confirmed is not taken back.
    assert machine.devices["a"].commit_state is CommitState.PENDING
    assert "  interrupted: no longer waiting for a" in told
    # The record leaves it open, to be settled the same way.
    found = unfinished(machine.events)
    assert (found.to_new, found.to_old) == ((("a",), ()) if keep else ((), ("a",)))


scripts = st.dictionaries(
    st.sampled_from(STEPS), st.lists(st.sampled_from([None, *MISHAPS, "bad"]), max_size=4), max_size=4
)
fleets = st.lists(scripts, min_size=1, max_size=4).map(lambda rows: {f"d{n}": row for n, row in enumerate(rows)})


@settings(max_examples=examples(400))
@given(fleets, st.integers(0, 3), st.integers(0, 12))
def test_every_device_ends_old_or_new(rows: Scripts, failures: int, stop_after: int) -> None:
    machine = machine_of(rows)
    results = pushed(machine, failures, stop_after if stop_after < 8 else 10**9)
    # No mishap lasts longer than the push is patient.
    assert ATTENTION not in ends(results).values()


@given(fleets, st.integers(0, 12))
def test_a_record_that_cannot_be_written_undoes_the_wave(rows: Scripts, full_after: int) -> None:
    machine = machine_of(rows)
    machine.full_after = full_after
    push = machine.push()
    with machine.running():
        results = WaveRun(push, machine.wave(), machine.transactions()).run()
    assert not any(device.staged for device in machine.devices.values())
    for name, result in results.items():
        assert result.outcome in COMMIT_STATES
        assert machine.devices[name].commit_state is COMMIT_STATES[result.outcome], name
    if push.unrecorded and machine.events[-1:] != [] and machine.events[-1]["event"] not in ("confirming", "error"):
        # Only the last line, which announces nothing, may be missing when all is done.
        assert CONFIRMED not in ends(results).values()
    assert not push.unrecorded or len(machine.events) == full_after


@given(fleets)
def test_a_first_check_leaves_nothing(rows: Scripts) -> None:
    machine = machine_of(rows)
    with machine.running():
        outcomes = machine.push().check(machine.transactions())
    assert outcomes.keys() == machine.devices.keys()
    for name, device in machine.devices.items():
        first = (rows[name].get("stage") or [None])[0]
        assert (name in outcomes.good) == (first in (None, "bad")) or (rows[name].get("release") or [None])[0]
        assert (device.commit_state, device.staged) == (CommitState.OLD, False)
