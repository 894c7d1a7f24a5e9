"""The deployer killed at any moment: what is left is settled from its record, and ends old or new as reported.

Seeded chance decides the moment and the drivers of 100 runs.
"""

from __future__ import annotations

import random
import signal
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from select import POLLIN, poll
from threading import Event

import pytest

from ailb_gen.deploy.run_summary import UNSETTLED, RunSummary, summaries
from ailb_gen.emulator.faults import Fault, Faults
from tests.conftest import examples
from tests.deploy.fabric import ALL_NEW, DRIVERS, ORDER, Generated, Site, State, assert_sound, requests, site
from tests.forkserver import ForkServer

# How long after a request has come the program is killed at the latest, in seconds.
DELAY_S = 0.03
CHANGING = frozenset({"commit", "verify", "confirm"})
# What a run may be when no process has it any more, and its record can be read.
STATES = ("not begun", "interrupted", "unsettled", "incomplete", "rolled back", "nothing changed", "done")
NOTHING_BEGUN, ALL_DONE = "no run is recorded", "is complete"


def seeds(first: int, usual: int) -> range:
    """Return so many seeds, times AILB_EXAMPLES."""
    return range(first, first + examples(usual))


@dataclass
class Requests:
    """The steps of what devices are asked, connections included; tells when a certain number of them has come."""

    steps: list[str] = field(default_factory=list)
    awaited: int = 0
    came: Event = field(default_factory=Event)

    def expect(self, number: int) -> None:
        """Begin to count again."""
        self.awaited = number
        self.steps.clear()
        self.came.clear()

    def count(self, faults: Faults, phase: str) -> tuple[Fault, ...]:
        """Count a request to any device."""
        self.steps.append(phase)
        if len(self.steps) == self.awaited:
            self.came.set()
        return ()


@dataclass(frozen=True, slots=True)
class Bench:
    """A running fabric, the process that forks the program, and chance."""

    site: Site
    fork_server: ForkServer
    requests: Requests
    chance: random.Random

    def words(self, verb: str, *more: str) -> list[str]:
        driver = ["--driver", self.chance.choice(DRIVERS)]
        if verb == "confirm":
            return [*self.site.place(verb), "--state", str(self.site.records.path), *driver]
        # No path is kept, so that the spines are worked on at once.
        return self.site.words(verb, *more, "--min-paths", "0", *driver, minutes=60)

    def run(self, *more: str) -> tuple[int, str]:
        """Run a command line to its end."""
        return self.fork_server.start(self.words(*more), self.site.folder / "out").wait()

    def cut_off(self, whole: Sequence[str], *more: str) -> tuple[int, str]:
        """Run a command line and kill it at one of the requests of a `whole` run.

        Every second time it is one while the change is made, which is the smaller part of a run.
        """
        heart = [number for number, step in enumerate(whole, 1) if step in CHANGING and number > whole.index("commit")]
        self.requests.expect(self.chance.choice(self.chance.choice([range(1, len(whole) + 1), heart])))
        child = self.fork_server.start(self.words(*more), self.site.folder / "out")
        ended = poll()
        ended.register(child.descriptor, POLLIN)
        while not self.requests.came.wait(0.005) and not ended.poll(0):
            pass
        time.sleep(self.chance.uniform(0, DELAY_S))
        child.send(signal.SIGKILL)
        return child.wait()


@contextmanager
def bench(one_color: Generated, fork_server: ForkServer, folder: Path, seed: int) -> Iterator[Bench]:
    counted = Requests()
    with site(one_color, folder) as found, requests(counted.count):
        yield Bench(found, fork_server, counted, random.Random(seed))


@pytest.fixture(scope="module")
def whole(one_color: Generated, fork_server: ForkServer, tmp_path_factory: pytest.TempPathFactory) -> Sequence[str]:
    """The requests of a run that nobody kills."""
    with bench(one_color, fork_server, tmp_path_factory.mktemp("whole"), 0) as on:
        code, text = on.run("deploy")
        assert (code, set(assert_sound(on.site).values())) == (0, {"confirmed"}), text
        return tuple(on.requests.steps)


def assert_told(on: Bench) -> RunSummary | None:
    """Assert that the list of runs tells the truth of the last one, as the devices have it; return what it says.

    What it calls unsettled may be old or new; everything else is as it says, and has nothing pending.
    """
    listed = summaries(on.site.records, reversed(on.site.records.runs()))
    assert [one.run for one in listed] == on.site.records.runs()[::-1]
    if not listed:
        on.site.assert_all(on.site.old)
        return None
    last = listed[0]
    unsettled = {name for one in listed for name, end in one.devices.items() if end.outcome == UNSETTLED}
    new = {name for one in listed if one.kind == "deploy" for name in one.kept}
    assert unsettled <= set(ORDER)
    for name in set(ORDER) - unsettled:
        expected = on.site.new if name in new else on.site.old
        assert (name, on.site.settled(name)) == (name, State(expected[name], "", False, False)), on.site.told()
    outcomes = {end.outcome for end in last.devices.values()}
    # No process has it any more, whatever it was doing.
    assert last.state in STATES
    assert [one.run for one in listed if one.state == "unsettled"] == ([last.run] if unsettled else [])
    assert outcomes <= {"confirmed", "untouched", "rolled back", UNSETTLED}
    assert last.state != "done" or outcomes == {"confirmed"}
    assert last.state != "not begun" or not outcomes
    return last


def assert_resumed(on: Bench, code: int, text: str) -> None:
    """Assert that going on with what was cut off brought the new configuration everywhere, if there was anything."""
    outcomes = assert_sound(on.site)
    if code == 2:
        assert NOTHING_BEGUN in text or ALL_DONE in text
        assert outcomes == ({} if NOTHING_BEGUN in text else ALL_NEW)
    else:
        assert (code, outcomes) == (0, ALL_NEW), text
    last = assert_told(on)
    assert last is None or last.state == ("not begun" if NOTHING_BEGUN in text else "done")


@pytest.fixture
def killed(
    one_color: Generated, fork_server: ForkServer, whole: Sequence[str], tmp_path: Path, seed: int
) -> Iterator[Bench]:
    """A fabric in the middle of whose push the program was killed."""
    with bench(one_color, fork_server, tmp_path, seed) as on:
        on.cut_off(whole, "deploy")
        assert_told(on)
        yield on


# Each class is the work of one process of pytest.
class TestResumedAtOnce:
    @pytest.mark.sampled(20, 4)
    @pytest.mark.parametrize("seed", seeds(0, 36))
    def test_all_ends_new(self, killed: Bench) -> None:
        assert_resumed(killed, *killed.run("deploy", "--resume"))


class TestResumedWhenTheDevicesHaveTakenTheirChangesBack:
    @pytest.mark.sampled(20, 4)
    @pytest.mark.parametrize("seed", seeds(10000, 24))
    def test_all_ends_new(self, killed: Bench) -> None:
        killed.site.let_timers_fire()
        assert_resumed(killed, *killed.run("deploy", "--resume"))


class TestResumedTwice:
    @pytest.mark.sampled(20, 4)
    @pytest.mark.parametrize("seed", seeds(20000, 24))
    def test_all_ends_new(self, killed: Bench, whole: Sequence[str]) -> None:
        killed.cut_off(whole, "deploy", "--resume")
        assert_told(killed)
        assert_resumed(killed, *killed.run("deploy", "--resume"))


class TestNotResumed:
    @pytest.mark.sampled(20, 4)
    @pytest.mark.parametrize("seed", seeds(30000, 8))
    def test_rolled_back_all_is_old(self, killed: Bench) -> None:
        code, text = killed.run("rollback")
        if code == 2:
            assert NOTHING_BEGUN in text or "changed nothing that could be rolled back" in text
        else:
            assert code in (0, 4), text
        for name in ORDER:
            assert (name, killed.site.settled(name)) == (name, State(killed.site.old[name], "", False, False))
        told = assert_told(killed)
        assert told is None or told.state in ("not begun", "interrupted", "rolled back", "nothing changed", "done")
        assert killed.run("deploy")[0] == 0
        assert assert_sound(killed.site) == ALL_NEW

    @pytest.mark.sampled(20, 4)
    @pytest.mark.parametrize("seed", seeds(40000, 8))
    def test_confirmed_each_is_as_reported(self, killed: Bench) -> None:
        code, text = killed.run("confirm")
        outcomes = assert_sound(killed.site)
        if code == 2:
            assert NOTHING_BEGUN in text or "left nothing to confirm" in text
        else:
            assert code == (4 if "rolled back" in outcomes.values() else 0), text
        assert_told(killed)
        assert killed.run("deploy")[0] == 0
        killed.site.assert_all(killed.site.new)
