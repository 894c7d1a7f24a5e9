"""A wave under every mishap: each device ends old or new, nothing stays pending, and what is said is so."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ailb_gen.deploy.member import Standing
from ailb_gen.deploy.push import Ending, Fate
from ailb_gen.errors import OutputError
from tests.deploy.machine import LIMITS, MISHAPS, STEPS, Machine, machine_of

STANDING = {Fate.CONFIRMED: Standing.NEW, Fate.UNTOUCHED: Standing.OLD, Fate.ROLLED_BACK: Standing.OLD}
Scripts = dict[str, dict[str, list[str | None]]]
PAIR = ("a", "b")


def pushed(machine: Machine, failures: int = 0, stop_after: int = 10**9) -> dict[str, Ending]:
    """Push to all devices as one wave, and make sure of what holds whatever happens."""
    push = machine.push(replace(LIMITS, failures=failures), lambda: len(machine.events) >= stop_after)
    with machine.running():
        endings = push.wave(machine.wave(), machine.members())
    assert endings.keys() == machine.devices.keys()
    assert not any(device.staged for device in machine.devices.values())
    # It is as it is said already before the timers of the devices run out.
    for name, ending in endings.items():
        if ending.fate is not Fate.ATTENTION:
            assert machine.devices[name].standing is STANDING[ending.fate], name
    failed = [name for name, ending in endings.items() if ending.reason]
    assert push.failed == len(failed)
    if push.failed > failures:
        assert not any(ending.fate is Fate.CONFIRMED for ending in endings.values())
    assert not any(ending.reason for ending in endings.values() if ending.fate is Fate.CONFIRMED)
    assert machine.events[-1] == {
        "event": "endings",
        "wave": "all",
        "devices": {name: [str(ending.fate), ending.reason] for name, ending in sorted(endings.items())},
    }
    return endings


def fates(endings: dict[str, Ending]) -> dict[str, Fate]:
    return {name: ending.fate for name, ending in endings.items()}


def test_all_goes_well() -> None:
    machine = machine_of({name: {} for name in PAIR})
    assert pushed(machine) == dict.fromkeys(PAIR, Ending(Fate.CONFIRMED))
    assert machine.devices["a"].calls == ["stage", "apply", "verify", "confirm", "release"]
    kinds = [event["event"] for event in machine.events]
    assert kinds == ["wave", "checked", "committing", "verified", "confirming", "endings"]


def test_warnings_of_a_device_are_told_and_recorded() -> None:
    machine = machine_of({"leaf1": {}, "leaf2": {}})
    assert pushed(machine) == dict.fromkeys(("leaf1", "leaf2"), Ending(Fate.CONFIRMED))
    told = [event for event in machine.events if event["event"] == "warning"]
    assert told == [{"event": "warning", "wave": "all", "device": "leaf1", "text": "it is warm"}]


@pytest.mark.parametrize(
    ("scripts", "failures", "expected"),
    [
        ({"a": {"stage": ["refused"]}, "b": {}}, 0, (Fate.UNTOUCHED, Fate.UNTOUCHED)),
        ({"a": {"stage": ["refused"]}, "b": {}}, 1, (Fate.UNTOUCHED, Fate.CONFIRMED)),
        ({"a": {"apply": ["refused"]}, "b": {}}, 0, (Fate.UNTOUCHED, Fate.ROLLED_BACK)),
        ({"a": {"apply": ["refused"]}, "b": {}}, 1, (Fate.UNTOUCHED, Fate.CONFIRMED)),
        # No answer to a commit: the device is asked, and the push goes on if it was done.
        ({"a": {"apply": ["lost after"]}, "b": {}}, 0, (Fate.CONFIRMED, Fate.CONFIRMED)),
        ({"a": {"apply": ["lost after"], "standing": ["away"] * 5}, "b": {}}, 0, (Fate.CONFIRMED, Fate.CONFIRMED)),
        ({"a": {"apply": ["bug after"]}, "b": {}}, 0, (Fate.CONFIRMED, Fate.CONFIRMED)),
        ({"a": {"apply": ["lost before"]}, "b": {}}, 0, (Fate.ROLLED_BACK, Fate.ROLLED_BACK)),
        ({"a": {"apply": ["lost before"]}, "b": {}}, 1, (Fate.ROLLED_BACK, Fate.CONFIRMED)),
        ({"a": {"verify": ["bad"] * 3}, "b": {}}, 0, (Fate.CONFIRMED, Fate.CONFIRMED)),
        ({"a": {"verify": ["lost before", "away", "bug before"]}, "b": {}}, 0, (Fate.CONFIRMED, Fate.CONFIRMED)),
        ({"a": {"verify": ["bad"] * 99}, "b": {}}, 0, (Fate.ROLLED_BACK, Fate.ROLLED_BACK)),
        ({"a": {"verify": ["bad"] * 99}, "b": {}}, 1, (Fate.ROLLED_BACK, Fate.CONFIRMED)),
        ({"a": {"confirm": ["lost after"]}, "b": {}}, 0, (Fate.CONFIRMED, Fate.CONFIRMED)),
        ({"a": {"confirm": ["refused"] * 3}, "b": {}}, 0, (Fate.CONFIRMED, Fate.CONFIRMED)),
        # It cannot be confirmed: what was confirmed beside it is undone.
        ({"a": {"confirm": ["refused"] * 999}, "b": {}}, 0, (Fate.ROLLED_BACK, Fate.ROLLED_BACK)),
        ({"a": {"confirm": ["refused"] * 999}, "b": {}}, 1, (Fate.ROLLED_BACK, Fate.CONFIRMED)),
        (
            {"a": {"verify": ["bad"] * 99, "revert": ["refused", "away"]}, "b": {}},
            1,
            (Fate.ROLLED_BACK, Fate.CONFIRMED),
        ),
        ({"a": {"verify": ["bad"] * 99, "revert": ["refused"] * 999}, "b": {}}, 1, (Fate.ATTENTION, Fate.CONFIRMED)),
        ({"a": {"confirm": ["foreign"], "revert": []}, "b": {}}, 0, (Fate.ATTENTION, Fate.ROLLED_BACK)),
    ],
)
def test_what_one_mishap_leads_to(scripts: Scripts, failures: int, expected: tuple[Fate, Fate]) -> None:
    assert fates(pushed(machine_of(scripts), failures)) == dict(zip(PAIR, expected, strict=True))


def test_the_reason_is_the_first_one() -> None:
    ending = pushed(machine_of({"a": {"verify": ["bad"] * 99, "revert": ["refused"]}}))["a"]
    assert ending == Ending(Fate.ROLLED_BACK, "a: verify: a session is down", ending.phase)


def test_a_device_that_stays_silent_has_taken_the_change_back_when_it_is_given_up() -> None:
    machine = machine_of({"a": {"apply": ["lost after"], "standing": ["away"] * 999, "revert": ["away"] * 999}})
    start = machine.clock.now
    assert fates(pushed(machine)) == {"a": Fate.ATTENTION}
    assert machine.clock.now - start >= LIMITS.minutes * LIMITS.minute_s + LIMITS.grace_s
    assert machine.standings() == {"a": Standing.OLD}


scripts = st.dictionaries(
    st.sampled_from(STEPS), st.lists(st.sampled_from([None, *MISHAPS, "bad"]), max_size=4), max_size=4
)
fleets = st.lists(scripts, min_size=1, max_size=4).map(lambda rows: {f"d{n}": row for n, row in enumerate(rows)})


@settings(max_examples=400)
@given(fleets, st.integers(0, 3), st.integers(0, 12))
def test_every_device_ends_old_or_new(rows: Scripts, failures: int, stop_after: int) -> None:
    machine = machine_of(rows)
    endings = pushed(machine, failures, stop_after if stop_after < 8 else 10**9)
    # No mishap lasts longer than the push is patient.
    assert Fate.ATTENTION not in fates(endings).values()


@given(fleets, st.integers(0, 12))
def test_a_record_that_cannot_be_written_undoes_the_wave(rows: Scripts, full_after: int) -> None:
    machine = machine_of(rows)
    machine.full_after = full_after
    push = machine.push()
    try:
        with machine.running():
            push.wave(machine.wave(), machine.members())
    except OutputError:
        assert not any(device.staged for device in machine.devices.values())
        undone = {device.standing for device in machine.devices.values()}
        # Only the last line, which announces nothing, may be missing when all is done.
        assert undone == {Standing.OLD} or machine.events[-1]["event"] in ("confirming", "error")
    assert Standing.PENDING not in {device.standing for device in machine.devices.values()}


@given(fleets)
def test_a_first_check_leaves_nothing(rows: Scripts) -> None:
    machine = machine_of(rows)
    with machine.running():
        outcomes = machine.push().check(machine.members())
    assert outcomes.keys() == machine.devices.keys()
    for name, device in machine.devices.items():
        first = (rows[name].get("stage") or [None])[0]
        assert (name in outcomes.good) == (first in (None, "bad")) or (rows[name].get("release") or [None])[0]
        assert (device.standing, device.staged) == (Standing.OLD, False)
