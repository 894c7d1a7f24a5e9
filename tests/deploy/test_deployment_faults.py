"""Every fault of the emulator at every step of a push, with both drivers: exit code, message, and what is left.

The faulty device is the one of the second wave: an earlier wave has been confirmed by then, later ones have not begun.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import pytest

from ailb_gen.emulator.faults import KINDS, Fault
from ailb_gen.errors import UsageError
from tests.deploy.fabric import CANARY, LAST, SPINES, Generated, Hooks, Site, run, site

FAULTY = SPINES[0]
# The steps of a wave, and the announcement of it in the record after which the next of its kind is that step:
# connections, locks and checks happen before as well, and so do the requests that verifying consists of.
STEPS = {
    "connect": "wave",
    "lock": "wave",
    "load": "wave",
    "check": "wave",
    "commit": "wave",
    "verify": "committing",
    "confirm": "committing",
    "unlock": "wave",
}
# Shorter than the usual ones, longer than what the program waits before it asks again.
SECONDS = {"slow": 0.3, "stall": 0.3, "reboot": 0.5}


@dataclass(frozen=True, slots=True)
class Expected:
    """The exit code, what becomes of the faulty device, and a part of the message."""

    code: int
    outcome: str
    message: str = ""

    @property
    def outcomes(self) -> list[str]:
        """How all devices end, in the order of the waves: the earlier wave stays, the later ones do not begin."""
        later = "confirmed" if self.outcome == "confirmed" else "untouched"
        return ["confirmed", self.outcome, later, later]


# A push that does not mind; one that stops before the device is changed; one that takes the change back.
DONE = Expected(0, "confirmed")
stops = partial(Expected, 3, "untouched")
undone = partial(Expected, 4, "rolled back")
# The same for several steps.
LOST = "{step}: the session was lost"
LOCKED = "{step}: configuration database locked by: operator terminal"
TOLD = "{step}: {step} fails: an injected fault"
FULL = "{step}: could not write /config/juniper.conf+: No space left on device"
NO_KEY = "connect: [127.0.0.1]:{port} does not have its known host key"
NO_HELLO = "connect: 127.0.0.1:{port}: no NETCONF session; the device closed the connection"


# What a fault does that happens once. A lost answer to a commit is asked for again: if the commit came about, the push
# goes on. Requests that change nothing and the confirmation are simply repeated; an unlock that fails ends with the
# session.
ONCE: Mapping[str, Mapping[str, Expected]] = {
    "refuse-auth": {"connect": stops("connect: 127.0.0.1:{port}: the login is refused")},
    "wrong-host-key": {"connect": stops(NO_KEY)},
    "slow": dict.fromkeys(STEPS, DONE),
    "stall": dict.fromkeys([step for step in STEPS if step != "connect"], DONE),
    "drop-before": {
        "connect": stops(NO_HELLO),
        **dict.fromkeys(("lock", "load", "check"), stops(LOST)),
        "commit": undone(LOST),
        **dict.fromkeys(("verify", "confirm", "unlock"), DONE),
    },
    "drop-after": {
        "connect": stops(NO_HELLO),
        **dict.fromkeys(("lock", "load", "check"), stops(LOST)),
        **dict.fromkeys(("commit", "verify", "confirm", "unlock"), DONE),
    },
    "locked": {
        **dict.fromkeys(("lock", "load", "check", "commit"), stops(LOCKED)),
        **dict.fromkeys(("confirm", "unlock"), DONE),
    },
    "error": {
        **dict.fromkeys(("lock", "load", "check", "commit"), stops(TOLD)),
        **dict.fromkeys(("verify", "confirm", "unlock"), DONE),
    },
    "session-down": {
        "commit": undone(f"verify: the session with {CANARY} on et-0/0/0.0 is Active"),
        # Nobody looks any more; see test_a_session_that_goes_down_late_is_found_by_verify.
        "confirm": DONE,
    },
    "reboot": {
        "connect": stops(NO_HELLO),
        **dict.fromkeys(("lock", "load", "check"), stops(LOST)),
        "commit": undone(LOST),
        "verify": undone("confirm: there is nothing to confirm: it has the old configuration"),
        **dict.fromkeys(("confirm", "unlock"), DONE),
    },
    "disk-full": {**dict.fromkeys(("check", "commit"), stops(FULL)), "confirm": DONE},
}
# What it does when it happens every time, where that is something else.
ALWAYS: Mapping[str, Mapping[str, Expected]] = {
    "drop-before": dict.fromkeys(("verify", "confirm"), undone(LOST)),
    "drop-after": {"verify": undone(LOST)},
    "locked": {"confirm": undone(LOCKED)},
    "error": dict.fromkeys(("verify", "confirm"), undone(TOLD)),
    "reboot": {"verify": undone(LOST)},
    "disk-full": {"confirm": undone(FULL)},
}
# Why the other combinations do not exist.
IMPOSSIBLE = {
    "refuse-auth": "a login is judged once, when a session begins",
    "wrong-host-key": "a host key is shown once, when a session begins",
    "locked": "neither a connection nor a question takes the lock",
    "error": "a connection is no request that could be answered with an error",
    "stall": "a connection is no request with an answer that could stop",
    "session-down": "sessions change when a configuration becomes active",
    "disk-full": "the disk is written to when a configuration is checked or committed",
}


@pytest.mark.parametrize("kind", [kind for kind, (phases, _) in KINDS.items() if not phases.isdisjoint(STEPS)])
def test_the_table_is_complete(kind: str) -> None:
    for step in STEPS:
        if step in ONCE[kind]:
            Fault(kind, step)
        else:
            assert IMPOSSIBLE[kind]
            with pytest.raises(UsageError, match="happens only at"):
                Fault(kind, step)
    assert set(ALWAYS.get(kind, {})) <= set(ONCE[kind])


ROWS = [
    *((kind, step, 1, expected) for kind, row in ONCE.items() for step, expected in row.items()),
    *((kind, step, 0, expected) for kind, row in ALWAYS.items() for step, expected in row.items()),
]
# In the first check of all devices, before any wave.
EARLY = [(kind, step) for kind, row in ONCE.items() for step in row if step not in ("commit", "verify", "confirm")]


def ids(row: tuple[object, ...]) -> str:
    return f"{row[0]}@{row[1]}{'' if row[2:3] != (0,) else '*0'}"


def told(expected: Expected, site: Site, name: str, step: str) -> str:
    """Return what must stand in the message."""
    text = expected.message.format(step=step, port=site.fleet.port(name))
    return f"{name}: {text}" if text else ""


def fault(kind: str, step: str, count: int = 1) -> Fault:
    return Fault(kind, step, count, SECONDS.get(kind))


def second_wave(site: Site, step: str, fault: Fault) -> AbstractContextManager[None]:
    """Let a step of the second wave fail."""
    return Hooks({f"{STEPS[step]} 2": lambda: site.fleet.add_faults(FAULTY, fault)}).watching()


# The emulator does not carry out what it is too slow for; Junos may. A lost answer leaves both open. What an answer
# stops in the middle of has been carried out.
TOO_SLOW = [
    ("slow", "load", stops()),
    ("slow", "commit", undone()),
    ("slow", "verify", DONE),
    ("slow", "confirm", DONE),
    ("stall", "load", stops()),
    ("stall", "commit", DONE),
    ("stall", "verify", DONE),
    ("stall", "confirm", DONE),
]


@pytest.mark.sampled(6, 3)
class _EveryFault:
    """The tables with one driver."""

    driver = ""

    @pytest.mark.parametrize("row", ROWS, ids=ids)
    def test_in_a_wave(self, tiny: Site, row: tuple[str, str, int, Expected]) -> None:
        kind, step, count, expected = row
        device = tiny.device(FAULTY)
        # Where a device has to take the change back by itself, its time is short.
        minutes, verify_s = (4, 1) if count == 0 else (30, 2)
        with second_wave(tiny, step, fault(kind, step, count)):
            done = tiny.deploy("--driver", self.driver, minutes=minutes, verify_s=verify_s)
        # What did not happen proves nothing.
        assert bool(device.faults.active()) is (count == 0)
        tiny.fleet.clear_faults(FAULTY)
        assert (done.code, tiny.ends()) == (expected.code, expected.outcomes)
        assert told(expected, tiny, FAULTY, step) in done.err
        assert done.err == "" or done.code != 0

    @pytest.mark.sampled(4)
    @pytest.mark.parametrize("row", EARLY, ids=ids)
    def test_in_the_first_check(self, tiny: Site, row: tuple[str, str]) -> None:
        kind, step = row
        device = tiny.device(LAST)
        hooks = Hooks({"begin": lambda: tiny.fleet.add_faults(LAST, fault(kind, step))})
        with hooks.watching():
            done = tiny.deploy("--driver", self.driver)
        assert not device.faults.active()
        expected = ONCE[kind][step]
        if expected is DONE:
            assert (done.code, done.err, tiny.ends()) == (0, "", ["confirmed"] * 4)
        else:
            assert (done.code, tiny.ends()) == (3, ["untouched"] * 4)
            assert "nothing was changed" in done.err
            assert told(expected, tiny, LAST, step) in done.err
            assert "wave" not in hooks.seen

    @pytest.mark.parametrize("kind", [kind for kind, row in ONCE.items() if row.get("connect", DONE) is not DONE])
    def test_in_the_first_look(self, tiny: Site, kind: str) -> None:
        tiny.fleet.add_faults(LAST, fault(kind, "connect"))
        done = tiny.deploy("--driver", self.driver)
        assert (done.code, tiny.ends(), tiny.events()) == (3, ["untouched"] * 4, [])
        assert "nothing was changed" in done.err
        assert told(ONCE[kind]["connect"], tiny, LAST, "connect") in done.err

    @pytest.mark.parametrize("row", TOO_SLOW, ids=ids)
    def test_an_answer_that_comes_too_late(
        self, small_fabric: Generated, tmp_path: Path, row: tuple[str, str, Expected]
    ) -> None:
        kind, step, expected = row
        with site(small_fabric, tmp_path, timeout_s=2) as slow:
            with second_wave(slow, step, Fault(kind, step, seconds=4)):
                done = slow.deploy("--driver", self.driver, minutes=30)
            assert (done.code, slow.ends()) == (expected.code, expected.outcomes)
            assert f"{FAULTY}: {step}: no answer in time" in done.err or expected is DONE


class TestNapalm(_EveryFault):
    driver = "napalm"


class TestPyez(_EveryFault):
    driver = "pyez"


# A later wave, and the canary: kind, step, exit code, and how all devices end without and with --on-failure.
PLACES = [
    (CANARY, "error", "commit", 3, ["untouched"] * 4, 3, ["untouched"] * 4),
    (CANARY, "session-down", "commit", 4, ["rolled back", *["untouched"] * 3], 4, ["rolled back", *["untouched"] * 3]),
    (LAST, "error", "commit", 3, [*["confirmed"] * 3, "untouched"], 4, [*["rolled back"] * 3, "untouched"]),
    (LAST, "session-down", "commit", 4, [*["confirmed"] * 3, "rolled back"], 4, ["rolled back"] * 4),
]


@pytest.mark.sampled(4, 3)
@pytest.mark.parametrize("all_of_it", [False, True], ids=["stop", "rollback-all"])
@pytest.mark.parametrize("place", PLACES, ids=lambda place: f"{place[0]}-{place[1]}")
def test_what_becomes_of_earlier_waves(
    tiny: Site, place: tuple[str, str, str, int, list[str], int, list[str]], all_of_it: bool
) -> None:
    name, kind, step, stop_code, stop_ends, all_code, all_ends = place
    tiny.fleet.add_faults(name, fault(kind, step))
    done = tiny.deploy("--on-failure", "rollback-all" if all_of_it else "stop", verify_s=2)
    assert (done.code, tiny.ends()) == ((all_code, all_ends) if all_of_it else (stop_code, stop_ends))
    assert f"{name}: " in done.err


@pytest.mark.parametrize(("kind", "outcome", "code"), [("error", "untouched", 3), ("session-down", "rolled back", 4)])
def test_as_many_failures_as_are_allowed(tiny: Site, kind: str, outcome: str, code: int) -> None:
    tiny.fleet.add_faults(FAULTY, fault(kind, "commit"))
    done = tiny.deploy("--max-failures", "1", verify_s=2)
    assert (done.code, tiny.ends()) == (code, ["confirmed", outcome, "confirmed", "confirmed"])
    assert f"{FAULTY}: " in done.err


def test_one_failure_more_than_allowed(tiny: Site) -> None:
    for name in SPINES:
        tiny.fleet.add_faults(name, fault("error", "commit"))
    done = tiny.deploy("--max-failures", "1")
    assert (done.code, tiny.ends()) == (3, ["confirmed", *["untouched"] * 3])
    assert all(f"{name}: commit: " in done.err for name in SPINES)


def test_a_session_that_goes_down_late_is_found_by_verify(tiny: Site) -> None:
    tiny.fleet.add_faults(FAULTY, fault("session-down", "confirm"))
    assert tiny.deploy().code == 0
    found = run(*tiny.place("verify"))
    assert found.code == 1
    assert f"the session with {CANARY} on et-0/0/0.0 is" in found.out


@pytest.mark.parametrize(
    ("kind", "failures", "ends"),
    [
        ("error", "0", ["confirmed", "untouched", "rolled back", "untouched"]),
        ("session-down", "1", ["confirmed", "rolled back", "confirmed", "confirmed"]),
    ],
)
def test_the_rest_of_a_wave_stays_only_if_a_failure_is_allowed(
    one_color: Generated, tmp_path: Path, kind: str, failures: str, ends: list[str]
) -> None:
    with site(one_color, tmp_path) as found:
        found.fleet.add_faults(SPINES[0], fault(kind, "commit"))
        done = found.deploy("--min-paths", "0", "--max-failures", failures, verify_s=2)
        assert (done.code, found.ends()) == (4, ends)
