"""`maintain` killed at any event of its record: what is left is told truly, and gone on with to the same end.

Also other ends that come from outside: signals, a command that outlives the program, and devices that stop in the
middle of an answer.
"""

from __future__ import annotations

import random
import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from select import POLLIN, poll

import pytest

from ailb_gen.emulator.faults import Fault
from tests.deploy.maintenance import NEW, Pod, pod, write_image
from tests.forkserver import ForkServer

# Events of the record of two spines: the head, the part, five steps begun and done with two pushes each, the end.
EVENTS = 27
DELAY_S = 0.4
NOTHING = "no maintenance is unfinished here"
SPINES = ["spine1", "spine2"]
# Requests of all steps. Their answers stop for good, or once for longer than the program waits.
STALLED = ("lock", "load", "compare", "check", "commit", "verify", "confirm", "unlock", "running")
STALLS = [Fault("stall", phase, count, 3600) for phase in STALLED for count in (0, 1)]


@pytest.fixture(scope="module")
def fork_server() -> Iterator[ForkServer]:
    """A process that forks the program, which looks for answers often."""
    with ForkServer(hurried=True) as found:
        yield found


def _log(on: Pod) -> Path | None:
    return next((on.folder / ".ailb/runs/maintenance").glob("*/log.jsonl"), None)


def _events(on: Pod) -> int:
    log = _log(on)
    return log.read_bytes().count(b"\n") if log is not None else 0


def _killed_at(on: Pod, server: ForkServer, events: int, after_s: float, *words: str) -> tuple[int, str]:
    """Run the verb, and kill it some time after so many events are recorded; events 0: from the start."""
    child = server.start(on.command_line(*words), on.folder / "out")
    until = time.monotonic() + 60
    while _events(on) < events and time.monotonic() < until and not _ended(child.descriptor):
        time.sleep(0.003)
    time.sleep(after_s)
    child.send(signal.SIGKILL)
    return child.wait()


def _ended(descriptor: int) -> bool:
    ended = poll()
    ended.register(descriptor, POLLIN)
    return bool(ended.poll(0))


@pytest.mark.sampled(40, 14)
@pytest.mark.parametrize("events", range(EVENTS + 1))
def test_killed_it_is_told_and_gone_on_with(
    generated_pod: Path, fork_server: ForkServer, tmp_path: Path, events: int
) -> None:
    chance = random.Random(events)
    with pod(generated_pod, tmp_path) as on:
        after_s = chance.choice((0.0, chance.uniform(0, DELAY_S)))
        words = ("spines", "--", "sh", "-c", f"echo $AILB_DEVICE >> {tmp_path}/done")
        code, text = _killed_at(on, fork_server, events, after_s, *words)
        assert code in (0, -signal.SIGKILL), text
        on.assert_told()
        ended = on.maintain("--resume")
        if ended.code == 2:
            assert NOTHING in ended.err
            assert on.states() in ({}, dict.fromkeys(SPINES, "done"))
        else:
            assert ended.code == 0, ended.err
            assert on.states() == dict.fromkeys(SPINES, "done")
            # The work of each was done, that which was cut off once more.
            assert sorted(set((tmp_path / "done").read_text().split())) == SPINES
        on.assert_as_before()


@pytest.mark.sampled(40, 12)
@pytest.mark.parametrize("seed", range(12))
def test_killed_twice_it_is_given_up(generated_pod: Path, fork_server: ForkServer, tmp_path: Path, seed: int) -> None:
    chance = random.Random(1000 + seed)
    with pod(generated_pod, tmp_path) as on:
        _killed_at(on, fork_server, chance.randint(2, EVENTS - 2), chance.uniform(0, DELAY_S), "spines", "--", "true")
        on.assert_told()
        _killed_at(on, fork_server, _events(on) + chance.randint(1, 4), chance.uniform(0, DELAY_S), "--give-up")
        on.assert_told()
        ended = on.maintain("--give-up")
        assert ended.code == 0 or NOTHING in ended.err, ended.err
        on.assert_as_before()


@pytest.mark.sampled(200, 30)
@pytest.mark.parametrize("fault", STALLS, ids=lambda fault: f"{fault.phase}*{fault.count}")
@pytest.mark.parametrize("events", range(0, EVENTS, 2))
def test_devices_that_stop_in_an_answer(generated_pod: Path, tmp_path: Path, events: int, fault: Fault) -> None:
    with pod(generated_pod, tmp_path, timeout_s=1) as on:
        words = ("spines", "--quiet-timeout", "2", "--return-timeout", "2", "--", "true")
        with _stalled_from(on, events, fault) as left:
            ended = on.maintain(*words)
            # What did not happen proves nothing: every request comes at the first spine.
            assert events > 0 or fault.count == 0 or left() < len(SPINES)
        # 3: no device is out of service.
        assert ended.code in (0, 3, 5), ended.err
        assert (ended.code == 0) is (on.states() == dict.fromkeys(SPINES, "done")), ended.err
        if on.last() is not None:
            on.assert_told()
        # What a device that hangs was asked to take back, it takes back by itself.
        ended = on.maintain(*(("--resume",) if ended.code and on.last() is not None else words))
        assert ended.code == 0, ended.err
        assert on.states() == dict.fromkeys(SPINES, "done")
        on.assert_as_before()


@contextmanager
def _stalled_from(on: Pod, events: int, fault: Fault) -> Iterator[Callable[[], int]]:
    """Let answers of both spines stop from the time when so many events are recorded; yield how many may still stop."""
    over = threading.Event()

    def wait() -> None:
        while _events(on) < events and not over.wait(0.003):
            pass
        for name in SPINES:
            on.fleet.add_faults(name, fault)

    waiting = threading.Thread(target=wait)
    waiting.start()
    try:
        yield lambda: sum(len(on.fleet.devices[name].faults.active()) for name in SPINES)
    finally:
        over.set()
        waiting.join()
        for name in SPINES:
            on.fleet.clear_faults(name)


@pytest.mark.sampled(40, 8)
@pytest.mark.parametrize("back", ["--resume", "--give-up"])
@pytest.mark.parametrize("part", range(20))
def test_killed_under_an_upgrade(
    generated_pod: Path, fork_server: ForkServer, tmp_path: Path, part: int, back: str
) -> None:
    """The upgrade of the first spine, killed in the middle of it."""
    chance = random.Random(f"{part} {back}")
    with pod(generated_pod, tmp_path) as on:
        words = ("spines", "--software", str(write_image(tmp_path)))
        # The work is the third step, its begin the tenth event; the installation and the restart take some seconds.
        code, text = _killed_at(on, fork_server, 10, chance.uniform(0, 5), *words)
        assert code in (0, -signal.SIGKILL), text
        on.assert_told()
        ended = on.maintain(back)
        assert ended.code == 0 or NOTHING in ended.err, ended.err
        on.assert_as_before()
        releases = {name: on.fleet.devices[name].version for name in SPINES}
        if back == "--resume":
            assert releases == dict.fromkeys(SPINES, NEW)
        elif on.states() and on.states()["spine1"] == "given up, work not done":
            assert releases["spine2"] != NEW


@pytest.mark.parametrize("number", [signal.SIGINT])
def test_a_signal_ends_the_command_and_is_told(
    generated_pod: Path, fork_server: ForkServer, tmp_path: Path, number: signal.Signals
) -> None:
    with pod(generated_pod, tmp_path) as on:
        begun = tmp_path / "begun"
        words = ("spine1", "--", "sh", "-c", f"touch {begun}; sleep 1000")
        child = fork_server.start(on.command_line(*words), on.folder / "out")
        while not begun.exists() and not _ended(child.descriptor):
            time.sleep(0.01)
        other = on.maintain("spine2", "--", "true")
        assert (other.code, "another maintenance uses it" in other.err) == (2, True), other.err
        child.send(number)
        code, text = child.wait()
        assert code == 5, text
        assert "spine1: the command was ended by a signal to this program" in text
        assert on.states() == {"spine1": "in graceful shutdown, work begun"}
        on.assert_told()
        assert on.maintain("--resume", "--", "true").code == 0
        on.assert_as_before()


@pytest.mark.long
def test_a_signal_under_an_answer_that_stops_changes_nothing(
    generated_pod: Path, fork_server: ForkServer, tmp_path: Path
) -> None:
    with pod(generated_pod, tmp_path) as on:
        on.fleet.add_faults("spine1", Fault("stall", "verify", seconds=3600))
        child = fork_server.start(on.command_line("spine1", "--", "true"), on.folder / "out")
        while on.fleet.devices["spine1"].faults.active() and not _ended(child.descriptor):
            time.sleep(0.01)
        child.send(signal.SIGINT)
        code, text = child.wait()
        assert (code, "nothing was changed: a signal asked for the end\n" in text) == (3, True), text
        assert "not all is as designed" not in text
        assert on.last() is None
        on.assert_as_before()


@pytest.mark.long
def test_a_command_that_outlives_the_program_is_not_begun_again(
    generated_pod: Path, fork_server: ForkServer, tmp_path: Path
) -> None:
    with pod(generated_pod, tmp_path) as on:
        begun, end = tmp_path / "begun", tmp_path / "end"
        script = f"echo begun >> {begun}; until test -e {end}; do sleep 0.05; done; echo over"
        child = fork_server.start(on.command_line("spine1", "--", "sh", "-c", script), on.folder / "out")
        while not begun.exists() and not _ended(child.descriptor):
            time.sleep(0.01)
        child.send(signal.SIGKILL)
        child.wait()
        for verb in ("--resume", "--give-up"):
            ended = on.maintain(verb)
            assert ended.code == 5
            assert "spine1: the command of an earlier call still runs" in ended.err
            assert on.in_shutdown() == {"spine1"}
            assert on.states() == {"spine1": "in graceful shutdown, work begun"}
        end.touch()
        for _ in range(100):
            output = next((tmp_path / ".ailb/runs/maintenance").glob("*/spine1.output"))
            if output.read_text().endswith("over\n"):
                break
            time.sleep(0.05)
        time.sleep(0.1)
        assert on.maintain("--resume").code == 0
        assert begun.read_text() == "begun\n" * 2
        on.assert_as_before()
