"""Ctrl-C in every step of a push: it ends in order, and pending changes are rolled back."""

from __future__ import annotations

import signal
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from queue import SimpleQueue

import pytest

from ailb_gen.emulator.faults import Fault, Faults
from tests.deploy.fabric import CANARY, DRIVERS, SPINES, Site, requests
from tests.forkserver import Child, ForkServer

# The program has this long to hear of the signal before it gets its answer.
HEARING_S = 0.3
LOOK, CHECK, WAVE = 1, 2, 3
# A connection to the device, a step on it, which one of its kind, and the exit code and what becomes of the device.
# Questions are asked on all: when it is looked at, about its history before the commit, and for the verification.
MOMENTS = [
    *((LOOK, step, 1, 3, "untouched") for step in ("connect", "running", "verify")),
    *((CHECK, step, 1, 3, "untouched") for step in ("connect", "lock", "load", "check", "unlock")),
    *((WAVE, step, 1, 3, "untouched") for step in ("connect", "lock", "load", "check")),
    (WAVE, "commit", 1, 4, "rolled back"),
    (WAVE, "verify", 2, 4, "rolled back"),
    # It is confirmed by then, and taken back as the rest of its wave.
    (WAVE, "confirm", 1, 4, "rolled back"),
    (WAVE, "unlock", 1, 3, "confirmed"),
]


@contextmanager
def at(
    tiny: Site, name: str, moment: tuple[int, str, int], act: Callable[[], None], silent_s: float
) -> Iterator[list[str]]:
    """Act once when a device gets a certain request, then let it be silent; give the steps that it was asked to do."""
    connection, step, number = moment
    steps: list[str] = []
    watched = tiny.device(name).faults
    acted = False

    def seen(faults: Faults, phase: str) -> tuple[Fault, ...]:
        nonlocal acted
        if faults is not watched:
            return ()
        steps.append(phase)
        here = steps[len(steps) - steps[::-1].index("connect") - 1 :]
        if acted or (steps.count("connect"), phase, here.count(step)) != (connection, step, number):
            return ()
        acted = True
        act()
        return (Fault("slow", phase, seconds=silent_s),)

    with requests(seen):
        yield steps
    assert acted, steps


def interrupted(
    tiny: Site,
    fork_server: ForkServer,
    name: str,
    moment: tuple[int, str, int],
    *more: str,
    signals: Sequence[signal.Signals] = (signal.SIGINT,),
    pause_s: float = 0,
    silent_s: float = HEARING_S,
) -> tuple[int, str]:
    """Push, and send signals at a moment, one after the other; then the device gives its answer after some time."""
    started: SimpleQueue[Child] = SimpleQueue()

    def act() -> None:
        child = started.get()
        for number in signals:
            child.send(number)
            time.sleep(pause_s)

    with at(tiny, name, moment, act, silent_s):
        child = fork_server.start(tiny.words("deploy", *more, minutes=60), tiny.folder / "out")
        started.put(child)
        return child.wait()


def ends(tiny: Site) -> list[str]:
    """Return how the devices of a run ended that came to its end."""
    assert [event["event"] for event in tiny.events()[-1:]] in ([], ["done"])
    return tiny.ends()


@pytest.mark.sampled(3)
@pytest.mark.parametrize("driver", DRIVERS)
@pytest.mark.parametrize(
    ("connection", "step", "number", "code", "outcome"), MOMENTS, ids=[f"{row[0]}-{row[1]}" for row in MOMENTS]
)
def test_an_interrupted_push_ends_in_order(
    tiny: Site, fork_server: ForkServer, driver: str, connection: int, step: str, number: int, code: int, outcome: str
) -> None:
    done, text = interrupted(tiny, fork_server, CANARY, (connection, step, number), "--driver", driver)
    assert (done, ends(tiny)) == (code, [outcome, *["untouched"] * 3]), text
    assert "stopping; pending changes are rolled back" in text
    # Devices that are looked at are not waited for: no run has begun then.
    ended = ["it was interrupted", *["stopped"] * (connection == LOOK)]
    assert any(words in text for words in ended) or code == 4, text
    assert tiny.events() or connection == LOOK


@pytest.mark.parametrize("way", ["stop", "rollback-all"])
def test_earlier_waves(tiny: Site, fork_server: ForkServer, way: str) -> None:
    moment = (WAVE, "commit", 1)
    done, text = interrupted(tiny, fork_server, SPINES[1], moment, "--on-failure", way, signals=[signal.SIGTERM])
    earlier = "confirmed" if way == "stop" else "rolled back"
    assert (done, ends(tiny)) == (4, [earlier, earlier, "rolled back", "untouched"]), text
    # Nothing is unsettled: another run may begin.
    assert tiny.deploy().code == 0
    tiny.assert_all(tiny.new)


def test_signals_together_are_one(tiny: Site, fork_server: ForkServer) -> None:
    """As of a terminal that closes."""
    signals = [signal.SIGHUP, signal.SIGHUP, signal.SIGTERM]
    done, text = interrupted(tiny, fork_server, CANARY, (WAVE, "commit", 1), signals=signals)
    assert (done, ends(tiny)) == (4, ["rolled back", *["untouched"] * 3]), text
    assert text.count("stopping") == 1


@pytest.mark.parametrize("step", ["lock", "commit", "verify", "confirm"])
def test_the_second_signal_leaves_devices_that_are_silent_to_their_timers(
    tiny: Site, fork_server: ForkServer, step: str
) -> None:
    """Whatever the device was asked; the record says what is left, and the run can be continued."""
    moment = (WAVE, step, 2 if step == "verify" else 1)
    signals = [signal.SIGINT, signal.SIGTERM]
    done, text = interrupted(tiny, fork_server, CANARY, moment, signals=signals, pause_s=HEARING_S, silent_s=30)
    assert (done, "stopping at once" in text) == (3 if step == "lock" else 5, True), text
    assert "is the management network up" not in text
    assert tiny.events()[-1]["event"] == "done"
    tiny.let_timers_fire()
    assert tiny.deploy(*([] if step == "lock" else ["--resume"])).code == 0
    tiny.assert_all(tiny.new)


@pytest.mark.parametrize("step", ["connect", "running", "verify"])
def test_devices_that_are_looked_at_are_not_waited_for(tiny: Site, fork_server: ForkServer, step: str) -> None:
    done, text = interrupted(tiny, fork_server, CANARY, (LOOK, step, 1), silent_s=10)
    assert (done, ends(tiny)) == (3, ["untouched"] * 4), text
    assert (tiny.events(), "nothing was changed" in text, ": stopped" in text) == ([], True, True), text
    assert "lost" not in text
