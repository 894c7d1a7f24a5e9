"""A push among other people's work: their locks, their candidates, their commits, and those that wait."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from ailb_gen.emulator.device import EmulatedDevice
from ailb_gen.emulator.faults import Fault
from ailb_gen.emulator.load_config import load_set
from ailb_gen.junos.tree import Node
from tests.deploy.fabric import (
    ALL_NEW,
    CANARY,
    DRIVERS,
    ORDER,
    SPINES,
    Hooks,
    Outcome,
    Site,
    State,
    assert_sound,
    outcomes_of,
    run,
    state_of,
    statements,
)

BUSY = SPINES[0]
THEIRS = "set system location building HQ"


# Both drivers are held to the same by test_drivers.py.
@pytest.fixture(params=[DRIVERS[0], *(pytest.param(name, marks=pytest.mark.long) for name in DRIVERS[1:])])
def driver(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def changed(tree: Node) -> Node:
    """Return a configuration with what somebody else wants in it."""
    return load_set(tree, THEIRS)[0]


def edit(device: EmulatedDevice) -> None:
    """Change the shared candidate, as `configure` without `exclusive` does."""
    device.database.edit(device.other_operator(), changed(device.database.candidate))


def commit(device: EmulatedDevice, confirm_s: float = 0) -> None:
    """Change and commit."""
    somebody = device.other_operator()
    device.database.edit(somebody, changed(device.database.candidate))
    device.database.commit(somebody, "theirs", confirm_s, int(confirm_s // 60))


def commit_confirmed(device: EmulatedDevice) -> None:
    """Change, and wait for what becomes of it, longer than any test takes."""
    commit(device, 3600)


def lock(device: EmulatedDevice) -> None:
    """Take the lock, as `configure exclusive` does."""
    device.database.lock(device.other_operator())


def confirm_nothing(device: EmulatedDevice) -> None:
    """Commit what is active, confirmed: it waits, and nothing has changed."""
    device.database.commit(device.other_operator(), "theirs", 3600, 60)


def assert_others(tiny: Site, outcomes: Mapping[str, str]) -> None:
    """Assert what became of all devices but the busy one, by their databases."""
    for name in ORDER:
        if name != BUSY:
            expected = tiny.new if outcomes.get(name) == "confirmed" else tiny.old
            assert (name, tiny.settled(name)) == (name, State(expected[name], "", False, False)), tiny.told()


def with_theirs(before: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(sorted([*before, THEIRS]))


# What somebody is in the middle of on a device, and what the push says then.
WORK: dict[str, tuple[Callable[[EmulatedDevice], None], str]] = {
    "lock": (lock, "lock: configuration database locked by: operator terminal"),
    "candidate": (edit, "lock: configuration database modified"),
    "pending": (commit_confirmed, "lock: a commit of operator waits for its confirmation"),
    "pending, nothing changed": (confirm_nothing, "lock: a commit of operator waits for its confirmation"),
}


@pytest.mark.parametrize("work", WORK)
def test_what_somebody_is_in_the_middle_of_stays(tiny: Site, driver: str, work: str) -> None:
    begin, told = WORK[work]
    tiny.fleet.do(BUSY, begin)
    before, pending = tiny.fleet.do(BUSY, state_of), tiny.device(BUSY).database.pending
    candidate = tiny.device(BUSY).database.candidate
    done = tiny.deploy("--driver", driver)
    assert done.code == 3
    assert "nothing was changed" in done.err
    assert f"{BUSY}: {told}" in done.err
    assert tiny.fleet.do(BUSY, state_of) == before
    assert before.holder or before.modified or before.pending
    assert (tiny.device(BUSY).database.candidate, tiny.device(BUSY).database.pending) == (candidate, pending)
    assert_others(tiny, {})


# What somebody does after the check of all devices, and what the wave says then.
MEANWHILE: dict[str, tuple[Callable[[EmulatedDevice], None], str]] = {
    "commit": (commit, "load: its configuration is not the planned one; it was changed since"),
    "pending": (confirm_nothing, "lock: a commit of operator waits for its confirmation"),
}


@pytest.mark.sampled(3)
@pytest.mark.parametrize("when", ["begin", "results"])
@pytest.mark.parametrize("what", MEANWHILE)
def test_what_somebody_does_during_the_push_stays(tiny: Site, driver: str, what: str, when: str) -> None:
    act, told = MEANWHILE[what]
    with Hooks({when: lambda: tiny.fleet.do(BUSY, act)}).watching():
        done = tiny.deploy("--driver", driver)
    assert done.code == 3
    assert f"{BUSY}: {told}" in done.err
    active = with_theirs(tiny.old[BUSY]) if what == "commit" else tiny.old[BUSY]
    assert tiny.settled(BUSY) == State(active, "", False, what == "pending")
    assert_others(tiny, {CANARY: "confirmed"} if when == "results" else {})


@pytest.mark.parametrize(
    ("clone", "code", "told"),
    [
        ("another", 3, f"{CANARY}: lock: configuration database locked by:"),
        ("the same", 2, "another run uses it; wait until it has ended, or name another --state"),
    ],
)
def test_a_second_push_meanwhile_is_refused(tiny: Site, tmp_path: Path, clone: str, code: int, told: str) -> None:
    """Two clones have two state directories: then the lock of the device is what keeps the second push out."""
    second: list[Outcome] = []
    records = ("--state", str(tmp_path / "clone")) if clone == "another" else ()
    with Hooks({"committing": lambda: second.append(tiny.deploy(*records))}).watching():
        first = tiny.deploy()
    assert (first.code, [one.code for one in second]) == (0, [code])
    assert told in second[0].err
    assert ("nothing was changed" in second[0].err) == (clone == "another")
    assert_others(tiny, ALL_NEW)


def test_what_somebody_committed_before_stays(tiny: Site, driver: str) -> None:
    tiny.fleet.do(BUSY, commit)
    done = tiny.deploy("--driver", driver)
    assert (done.code, done.err) == (0, "")
    assert tiny.settled(BUSY) == State(with_theirs(tiny.new[BUSY]), "", False, False)
    assert_others(tiny, ALL_NEW)


# While a commit waits, a session of the program is lost; here is what somebody else does before it is back.


def push_and_lose(tiny: Site, driver: str, act: Callable[[], object], minutes: int = 30) -> tuple[int, str]:
    """Push; the answer to the commit on the busy device is lost, and then somebody acts."""
    fault = Fault("drop-after", "commit")
    hooks = Hooks({"committing 2": lambda: tiny.fleet.add_faults(BUSY, fault), "asked again": act})
    with hooks.watching():
        done = tiny.deploy("--driver", driver, minutes=minutes, verify_s=2)
    assert fault not in tiny.device(BUSY).faults.active()
    return done.code, done.err


def test_a_lock_that_is_released_in_time_is_waited_for(tiny: Site, driver: str) -> None:
    done = push_and_lose(tiny, driver, lambda: tiny.fleet.add_faults(BUSY, Fault("locked", "lock", 3)))
    assert (done, tiny.device(BUSY).faults.active()) == ((0, ""), ())
    assert assert_sound(tiny) == ALL_NEW


@pytest.mark.parametrize("work", ["lock", "candidate"])
def test_what_keeps_a_device_busy_is_left_alone_and_the_device_to_its_timer(tiny: Site, driver: str, work: str) -> None:
    act, reason = WORK[work]
    code, told = push_and_lose(tiny, driver, lambda: tiny.fleet.do(BUSY, act), minutes=4)
    assert (code, outcomes_of(tiny.events())) == (4, {CANARY: "confirmed", BUSY: "rolled back"})
    assert f"{BUSY}: {reason}" in told
    holder, modified = ("operator cli", False) if work == "lock" else ("", True)
    assert tiny.fleet.do(BUSY, state_of) == State(tiny.old[BUSY], holder, modified, False)
    if modified:
        assert statements(tiny.device(BUSY).database.candidate) == with_theirs(tiny.new[BUSY])
    assert_others(tiny, {CANARY: "confirmed"})


def test_a_confirmation_by_somebody_is_as_good(tiny: Site, driver: str) -> None:
    done = push_and_lose(tiny, driver, lambda: tiny.fleet.do(BUSY, lambda device: device.database.confirm()))
    assert done == (0, "")
    assert assert_sound(tiny) == ALL_NEW


@pytest.mark.parametrize("waits", [False, True], ids=["commit", "commit-confirmed"])
def test_a_commit_of_somebody_on_top_needs_attention(tiny: Site, driver: str, waits: bool) -> None:
    act = commit_confirmed if waits else commit
    code, told = push_and_lose(tiny, driver, lambda: tiny.fleet.do(BUSY, act))
    assert (code, outcomes_of(tiny.events())) == (5, {CANARY: "confirmed", BUSY: "needs attention"})
    assert f"{BUSY} could not be brought to its old or new configuration" in told
    assert "another session committed since; check 'show system commit' and roll back by hand" in told
    assert tiny.settled(BUSY) == State(with_theirs(tiny.new[BUSY]), "", False, waits)
    assert_others(tiny, {CANARY: "confirmed"})


# A plan that somebody approved.


def test_a_plan_does_not_hold_when_somebody_has_committed(tiny: Site, driver: str) -> None:
    plan = tiny.planned("--driver", driver)
    tiny.fleet.do(BUSY, commit)
    done = tiny.deploy("--driver", driver, "--plan", plan)
    assert done.code == 2
    assert f"plan again:\n  {BUSY}: the configuration has changed\n" in done.err
    assert tiny.settled(BUSY).active == with_theirs(tiny.old[BUSY])
    assert_others(tiny, {})


def test_a_run_is_not_rolled_back_over_a_later_commit(tiny: Site, driver: str) -> None:
    assert tiny.deploy("--driver", driver).code == 0
    tiny.fleet.do(BUSY, commit)
    done = run(*tiny.words("rollback", "--driver", driver, "--min-paths", "0"))
    assert done.code == 3
    assert f"{BUSY}: rollback: it has changed since the run" in done.err
    assert "(operator, theirs)" in done.err
    assert tiny.settled(BUSY) == State(with_theirs(tiny.new[BUSY]), "", False, False)
    assert_others(tiny, ALL_NEW)
