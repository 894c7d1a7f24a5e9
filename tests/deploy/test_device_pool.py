"""Many devices at once: what goes wrong with one is its outcome, and no others'."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Callable, Mapping
from threading import Event, Thread
from types import SimpleNamespace
from typing import Any
from unittest import mock
from weakref import WeakSet

import pytest
from nornir.core import Nornir
from nornir.core.inventory import Defaults, Groups, Host, Hosts, Inventory
from nornir.plugins.runners import ThreadedRunner

from ailb_gen.deploy.device_pool import PAUSES, ByDevice, DevicePool, Runner, UnforeseenError, unreachable
from ailb_gen.deploy.switch_driver import DeviceError, ForeignError, Phase, RequestRefusedError, UnknownOutcomeError
from ailb_gen.signals import NO_SIGNALS
from tests.deploy.machine import Clock

NAMES = ("a", "b", "c")


class Connection:
    """A connection that counts how often it is opened and closed."""

    def __init__(self, name: str, trouble: str = "") -> None:
        self.name, self.trouble = name, trouble
        self.opened = self.closed = self.rested = 0

    def open(self) -> Connection:
        self.opened += 1
        if self.trouble == "connect":
            raise DeviceError(self.name, Phase.CONNECT, "no answer")
        return self

    def rest(self) -> None:
        self.rested += 1

    def close(self) -> None:
        self.closed += 1


def device_pool(connects: Mapping[str, Callable[[], object]], jobs: int = 3) -> DevicePool:
    """Return a pool of devices that are connected to like that."""
    hosts = Hosts({name: Host(name) for name in connects})
    return DevicePool(Nornir(Inventory(hosts, Groups(), Defaults()), runner=ThreadedRunner(jobs)), connects)


def pool_of(jobs: int = 3, **trouble: str) -> tuple[DevicePool, dict[str, Connection]]:
    connections = {name: Connection(name, trouble.get(name, "")) for name in NAMES}
    return device_pool({name: one.open for name, one in connections.items()}, jobs), connections


def counts(connections: dict[str, Connection]) -> dict[str, tuple[int, int]]:
    return {name: (one.opened, one.closed) for name, one in connections.items()}


def test_every_device_gets_its_own_connection_which_is_kept() -> None:
    pool, connections = pool_of()
    done: list[int] = []
    for _ in range(2):
        found = pool.run(NAMES, lambda name, c: (name, c.name), Phase.READ, done.append)
        assert found == {name: (name, name) for name in NAMES}
        assert (found.good, found.bad) == (found, {})
    assert done == [1] * 6
    # What an answer took is free again, though the connection is kept.
    assert {one.rested for one in connections.values()} == {2}
    assert counts(connections) == dict.fromkeys(NAMES, (1, 0))
    pool.close(NAMES)
    assert counts(connections) == dict.fromkeys(NAMES, (1, 1))
    pool.close(NAMES)
    assert counts(connections) == dict.fromkeys(NAMES, (1, 1))


def test_only_those_that_are_named_or_connected() -> None:
    pool, connections = pool_of()
    assert pool.run([], lambda name, c: 1, Phase.READ) == {}
    assert pool.run(["a"], lambda name, c: 1, Phase.READ) == {"a": 1}
    assert pool.run(NAMES, lambda name, c: 2, Phase.READ, connect=False) == {"a": 2}
    pool.close(["a"])
    assert pool.run(NAMES, lambda name, c: 3, Phase.READ, connect=False) == {}
    assert counts(connections) == {"a": (1, 1), "b": (0, 0), "c": (0, 0)}


def test_connections_that_are_not_kept() -> None:
    pool, connections = pool_of()
    pool.run(NAMES, lambda name, c: 1, Phase.READ, keep=False)
    assert counts(connections) == dict.fromkeys(NAMES, (1, 1))


def work(name: str, connection: Connection) -> str:
    errors: dict[str, Exception] = {
        "a": UnknownOutcomeError("a", Phase.COMMIT, "no answer in time"),
        "b": RequestRefusedError("b", Phase.COMMIT, "syntax"),
        "c": KeyError("s3cret"),
    }
    raise errors[name]


def test_what_goes_wrong_with_one_device() -> None:
    pool, connections = pool_of()
    found = pool.run(NAMES, work, Phase.COMMIT)
    assert found.good == {}
    assert [type(found.bad[name]) for name in NAMES] == [UnknownOutcomeError, RequestRefusedError, UnforeseenError]
    # What nobody foresaw may hold anything: only its kind is told, the cause is kept.
    assert str(found.bad["c"]) == "c: commit: this is a bug: KeyError; the record of the run has more"
    assert isinstance(found.bad["c"], UnforeseenError)
    assert repr(found.bad["c"].cause) == "KeyError('s3cret')"
    # A session that gave no answer is of no use any more.
    assert counts(connections) == {"a": (1, 1), "b": (1, 0), "c": (1, 1)}
    assert pool.run(NAMES, lambda name, c: name, Phase.READ).good == {name: name for name in NAMES}
    assert counts(connections) == {"a": (2, 1), "b": (1, 0), "c": (2, 1)}


class Answer:
    """An answer that shows whether anything still has it."""


def test_an_error_does_not_keep_what_was_being_read() -> None:
    answers: WeakSet[Answer] = WeakSet()

    def read(name: str, connection: Connection) -> None:
        answer = Answer()
        answers.add(answer)
        try:
            raise ValueError(name)
        except ValueError as error:
            raise RequestRefusedError(name, Phase.READ, "it is too long") from error

    found = pool_of()[0].run(NAMES, read, Phase.READ)
    assert not answers
    assert len(found.bad) == 3


def test_a_device_that_cannot_be_connected_to() -> None:
    pool, connections = pool_of(b="connect")
    found = pool.run(NAMES, lambda name, c: name, Phase.READ)
    assert found.good == {"a": "a", "c": "c"}
    assert str(found.bad["b"]) == "b: connect: no answer"
    connections["b"].trouble = ""
    # Nornir leaves a host out for good after a failure; a pool tries it again.
    assert pool.run(NAMES, lambda name, c: name, Phase.READ).good == {name: name for name in NAMES}


def test_as_many_at_once_as_asked_for() -> None:
    pool, _ = pool_of(jobs=3)
    together = threading.Barrier(3, timeout=60)
    assert pool.run(NAMES, lambda name, c: together.wait() >= 0, Phase.READ) == dict.fromkeys(NAMES, True)


@pytest.fixture
def clock() -> Clock:
    return Clock()


def persisting(
    clock: Clock,
    errors: list[DeviceError],
    patience: float,
    again: Callable[[DeviceError], bool] | None = None,
    signal_at: int = 10**9,
) -> tuple[ByDevice[str], int]:
    """Persist with a device that fails so, and return the outcome and how often it was asked."""
    pool, _ = pool_of()
    asked: list[str] = []
    pool.signals = lambda: int(asked.count("a") >= signal_at)

    def work(name: str, connection: Connection) -> str:
        asked.append(name)
        clock.now += 0.01
        if name == "a" and errors:
            raise errors.pop(0)
        return name

    with mock.patch("ailb_gen.deploy.device_pool.time", clock):
        return pool.persist(NAMES, work, Phase.READ, clock.now + patience, again), asked.count("a")


LOST = UnknownOutcomeError("a", Phase.READ, "no answer")
AWAY = DeviceError("a", Phase.CONNECT, "no route")
REFUSED = RequestRefusedError("a", Phase.LOCK, "locked")


def test_asking_again_until_it_is_done(clock: Clock) -> None:
    found, asked = persisting(clock, [LOST, AWAY, LOST], 60)
    assert (found, asked) == ({name: name for name in NAMES}, 4)
    assert clock.now < 1000 + sum(PAUSES)


def test_asking_again_until_time_is_up(clock: Clock) -> None:
    start = clock.now
    found, asked = persisting(clock, [LOST] * 999, 60)
    assert (found["a"], found.good) == (LOST, {"b": "b", "c": "c"})
    assert 60 <= clock.now - start < 61
    assert asked > 10


def test_asking_again_is_of_no_use(clock: Clock) -> None:
    found, asked = persisting(clock, [REFUSED, LOST], 60)
    assert (found["a"], asked) == (REFUSED, 1)
    found, asked = persisting(clock, [REFUSED, LOST], 60, lambda error: True)
    assert (found["a"], asked) == ("a", 3)
    assert persisting(clock, [LOST], 0)[1] == 1


@pytest.mark.parametrize(
    ("error", "expected"),
    [(LOST, True), (AWAY, True), (REFUSED, False), (ForeignError("a", Phase.CONFIRM, "x"), False)],
)
def test_unreachable(error: DeviceError, expected: bool) -> None:
    assert unreachable(error) is expected


class Task:
    """A task of Nornir's for hosts that are waited for; `begun` is set as soon as one is, `stop` ends connections."""

    def __init__(self, act: Callable[[Task, Any], object], name: str = "waiting", **params: object) -> None:
        self.act, self.name, self.params = act, name, params
        self.stop, self.begun = Event(), Event()

    def copy(self) -> Task:
        """Return a task for one host."""
        return self

    def start(self, host: object) -> object:
        """Act for a host."""
        self.begun.set()
        return self.act(self, host)

    def run(self, jobs: int, names: str, signals: Callable[[], int] | None = None) -> Any:
        """Run it; without other signals, one comes as soon as a device is waited for."""
        task: Any = self
        hosts: Any = [SimpleNamespace(name=name) for name in names]
        return Runner(jobs, self.stop, signals or (lambda: int(self.begun.is_set()))).run(task, hosts)


def waits(task: Task, host: Any) -> object:
    """Wait until every connection is ended."""
    assert task.stop.wait(60), f"nobody ends the connection to {host.name}"
    raise RuntimeError("ended")


def answers(task: Task, host: Any) -> object:
    """Answer when it is late, but not too late."""
    return SimpleNamespace(host=host, ended=task.stop.wait(0.5))


def test_a_signal_ends_the_connections_of_devices_that_do_not_answer() -> None:
    with mock.patch("ailb_gen.deploy.device_pool.PATIENCE_S", 0.0), pytest.raises(RuntimeError, match="ended"):
        Task(waits).run(2, "abc")


def test_after_a_signal_devices_may_still_answer_and_later_connections_stay_open() -> None:
    task = Task(answers)
    assert {name: one.ended for name, one in task.run(2, "ab").items()} == {"a": False, "b": False}
    assert not task.stop.is_set()


def test_what_only_computes_is_left_and_ended_where_nothing_was_changed() -> None:
    gone = Event()

    def computes(task: Task, host: Any) -> object:
        """Do not notice that the connection has been ended."""
        try:
            for _ in range(6000):
                time.sleep(0.01)
        finally:
            gone.set()
        return None

    task = Task(computes, str(Phase.READ), at_once=True)
    done = task.run(1, "ab")
    assert {name: str(one.result) for name, one in done.items()} == {"a": "a: read: stopped", "b": "b: read: stopped"}
    assert gone.wait(30)
    assert not task.stop.is_set()


@pytest.mark.parametrize("phase", [Phase.COMMIT, Phase.CONFIRM, Phase.ROLLBACK])
def test_a_commit_is_waited_for_whatever_signals_come(phase: Phase) -> None:
    with mock.patch("ailb_gen.deploy.device_pool.PATIENCE_S", 0.0):
        assert Task(answers, str(phase)).run(1, "a")["a"].ended is False


def test_a_signal_ends_the_repetition(clock: Clock) -> None:
    found, asked = persisting(clock, [LOST] * 999, 3600, signal_at=3)
    assert (found.bad, found.good, asked) == ({"a": LOST}, {"b": "b", "c": "c"}, 3)


def test_ctrl_c_ends_the_connections_that_are_waited_for() -> None:
    task = Task(waits)

    def interrupt() -> None:
        task.begun.wait(60)
        os.kill(os.getpid(), signal.SIGINT)

    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    thread = Thread(target=interrupt)
    thread.start()
    try:
        with pytest.raises(KeyboardInterrupt):
            task.run(2, "abc", NO_SIGNALS)
    finally:
        thread.join(60)
        signal.signal(signal.SIGINT, before)
    assert task.stop.is_set()
