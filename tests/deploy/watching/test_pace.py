"""Devices at their own pace: one that hangs delays no other, and holds one thread at most."""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Event

import pytest

from ailb_gen.deploy.switch_driver import DeviceError, Phase, UnknownOutcomeError
from ailb_gen.deploy.watching import pace as module
from ailb_gen.deploy.watching.pace import THREADS, DevicePace

NAMES = ("a", "b", "c", "d")
Read = list[tuple[str, str | DeviceError]]


class Devices:
    """Devices that answer with their name at once, hang until they are stopped, or refuse."""

    def __init__(self) -> None:
        self.hanging: set[str] = set()
        self.refusing: set[str] = set()
        self.reading: set[str] = set()
        self.most = 0

    def read(self, name: str, stop: Event) -> str | DeviceError:
        assert name not in self.reading
        self.reading.add(name)
        self.most = max(self.most, len(self.reading))
        try:
            if name in self.hanging:
                stop.wait(60)
                return UnknownOutcomeError(name, Phase.READ, "the other end has gone")
            return DeviceError(name, Phase.CONNECT, "no") if name in self.refusing else name
        finally:
            self.reading.discard(name)


@contextmanager
def paced(devices: Devices, jobs: int = 4, deadline_s: float = 60.0) -> Iterator[DevicePace[str]]:
    pace = DevicePace[str](NAMES, devices.read, jobs, deadline_s)
    try:
        yield pace
    finally:
        pace.close()


def threads(left: int) -> list[str]:
    """Return which threads there are, as soon as no more than `left` are: one that has told what it read ends later."""
    until = time.monotonic() + 10
    while True:
        found = [thread.name for thread in threading.enumerate() if thread.name.startswith(f"{THREADS} ")]
        if len(found) <= left or time.monotonic() > until:
            return found
        time.sleep(0.01)


def one_round(pace: DevicePace[str], everyone: bool = False, patience_s: float = 10.0) -> Read:
    """Read a round to its end."""
    pace.begin()
    found: Read = []
    until = time.monotonic() + patience_s
    while pace.awaited(everyone):
        assert time.monotonic() < until, "the round does not end"
        found += [(name, value) for name, value, _ in pace.step(0.02)]
    return found


def test_all_are_read_in_every_round_and_no_thread_is_left() -> None:
    with paced(Devices()) as pace:
        for _ in range(3):
            assert sorted(one_round(pace)) == [(name, name) for name in NAMES]
        assert pace.threads == 0
    assert threads(0) == []


def test_no_more_at_once_than_jobs() -> None:
    devices = Devices()
    with paced(devices, jobs=1) as pace:
        assert len(one_round(pace)) == len(NAMES)
    assert devices.most == 1


def test_one_that_hangs_delays_the_first_round_only_a_little_and_holds_one_thread(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(module, "MORE_S", 1.0)
    devices = Devices()
    devices.hanging.add("b")
    # A single job: a device that is late gives its place up.
    with paced(devices, jobs=1) as pace:
        for _ in range(20):
            assert sorted(name for name, _ in one_round(pace)) == ["a", "c", "d"]
            assert threads(1) == [f"{THREADS} b"]
            # Later rounds would never end if they waited for it.
            monkeypatch.setattr(module, "MORE_S", math.inf)


def test_at_its_deadline_a_device_is_ended_and_asked_again_in_the_next_round() -> None:
    devices = Devices()
    devices.hanging.add("b")
    with paced(devices, deadline_s=0.3) as pace:
        found = dict(one_round(pace, everyone=True))
        assert isinstance(found["b"], UnknownOutcomeError)
        assert found["b"].reason == "it was not read within 0.3 s"
        assert threads(0) == []
        # Nobody waits for it, but it is asked.
        assert "b" not in dict(one_round(pace))
        assert pace.threads == 1
        devices.hanging.clear()
        assert "b" in dict(one_round(pace, everyone=True))
        assert dict(one_round(pace, everyone=True))["b"] == "b"


def test_where_nobody_answers_the_round_ends_at_once_and_all_are_asked_later() -> None:
    devices = Devices()
    devices.refusing |= set(NAMES)
    with paced(devices, jobs=2) as pace:
        assert len(one_round(pace)) == len(NAMES)
        assert one_round(pace) == []
        found: Read = []
        while pace.awaited(everyone=True):
            found += [(name, value) for name, value, _ in pace.step(0.02)]
        assert sorted(name for name, _ in found) == list(NAMES)
        assert devices.most <= 2


def test_without_room_for_a_thread_devices_wait(monkeypatch: pytest.MonkeyPatch) -> None:
    start, failures = threading.Thread.start, [True, True, False]

    def failing(thread: threading.Thread) -> None:
        if thread.name.startswith(THREADS) and failures and failures.pop(0):
            raise RuntimeError("can't start new thread")
        start(thread)

    monkeypatch.setattr(threading.Thread, "start", failing)
    with paced(Devices()) as pace:
        assert len(one_round(pace)) == len(NAMES)
