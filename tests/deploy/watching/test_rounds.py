"""Rounds over SSH and NETCONF: somebody changes a device by hand, one hangs, one dies and returns, files change."""

from __future__ import annotations

import re
import shutil
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from threading import Event

import pytest

from ailb_gen.api.connect import connect
from ailb_gen.api.watch import watch
from ailb_gen.deploy.verification import drift, verify
from ailb_gen.deploy.watching import rounds
from ailb_gen.deploy.watching.changes import ChangeKind
from ailb_gen.deploy.watching.pace import THREADS
from ailb_gen.deploy.watching.rounds import WatchReport
from ailb_gen.emulator.faults import Fault
from tests.cli.verbs import by_hand, committed
from tests.deploy.fabric import CANARY, ORDER, PASSWORD, SPINES, Site, generated, site

LINE = "protocols bgp group fabric-blue description"
TOLD = f"{LINE}: is not in the file"
Told = list[tuple[str, str, str]]


@pytest.fixture
def pushed(tmp_path: Path) -> Iterator[Site]:
    """Switches with what their files say."""
    with site(generated(tmp_path), tmp_path) as found:
        for name, tree in found.generated.after.items():
            found.fleet.do(name, partial(committed, tree=tree))
        yield found


class Watcher:
    """A watch whose rounds are taken one by one."""

    def __init__(self, reports: Iterator[WatchReport], stop: Event) -> None:
        self.reports, self.stop, self.others = reports, stop, Told()

    def round(self) -> Told:
        """Return what changed until the end of the next round; `others` gets what was told before that end."""
        self.others = Told()
        while True:
            report = next(self.reports)
            told = [(str(one.kind), one.device, one.message) for one in report.changes]
            if report.whole:
                self.last = report
                return told
            self.others += told

    def next_change(self) -> Told:
        """Return what is told next, in a round or after it."""
        for _ in range(200):
            if told := self.round() + self.others:
                return told
        raise AssertionError("nothing has changed in 200 rounds")


@contextmanager
def watched(site: Site, deadline_s: float = 60.0) -> Iterator[Watcher]:
    """Watch the switches, with a round as soon as the one before is over."""
    stop = Event()
    where = site.generated.fabric, site.generated.artifacts
    with watch(*where, inventory=site.inventory, every_s=0.05, deadline_s=deadline_s, signals=stop.is_set) as found:
        yield Watcher(found.rounds(), stop)


def readings() -> list[str]:
    return [thread.name for thread in threading.enumerate() if thread.name.startswith(THREADS)]


def test_a_finding_comes_and_goes_and_nothing_else_is_told(pushed: Site) -> None:
    with watched(pushed) as found:
        assert found.round() == []
        assert (found.last.well, found.last.read, found.last.findings) == (True, len(ORDER), 0)
        by_hand(pushed, CANARY, f"set {LINE} x\n")
        assert found.round() == [("finding came", CANARY, TOLD)]
        assert found.round() == []
        assert (found.last.well, found.last.findings) == (False, 1)
        by_hand(pushed, CANARY, f"delete {LINE}\n")
        assert found.round() == [("finding went", CANARY, TOLD)]
        # What only `verify` observes, at both ends of a link.
        by_hand(pushed, SPINES[0], "set interfaces et-0/0/0 disable\n")
        told = found.round()
        assert {(kind, device) for kind, device, _ in told} == {
            ("finding came", SPINES[0]),
            ("finding came", CANARY),
        }
        by_hand(pushed, SPINES[0], "delete interfaces et-0/0/0 disable\n")
        assert sorted((device, message) for _, device, message in found.round()) == sorted(
            (device, message) for _, device, message in told
        )
        assert found.last.well
    assert readings() == []


def test_the_findings_are_those_of_drift_and_verify(pushed: Site) -> None:
    by_hand(pushed, CANARY, f"set {LINE} x\nset chassis maximum-ecmp 2\n")
    by_hand(pushed, SPINES[1], "set interfaces et-0/0/1 mtu 1500\nset groups G interfaces <et-*> disable\n")
    with connect(pushed.generated.fabric, pushed.generated.artifacts, inventory=pushed.inventory) as connection:
        results = [*drift(connection.context), *verify(connection.context)]
    expected = {(one.check, one.device, one.message) for result in results for one in result.findings}
    assert len(expected) > 4
    with watched(pushed) as found:
        report = next(found.reports)
    assert {(one.check, one.device, one.message) for one in report.changes} == expected
    assert {one.kind for one in report.changes} == {ChangeKind.CAME}


def test_a_device_that_hangs_delays_nobody_and_is_told(pushed: Site) -> None:
    with watched(pushed, deadline_s=5.0) as found:
        assert found.round() == []
        pushed.fleet.add_faults(SPINES[0], Fault("slow", "running", count=0, seconds=600))
        told = found.next_change()
        assert [(kind, device) for kind, device, _ in told] == [("does not answer", SPINES[0])]
        assert told[0][2] == "read: it was not read within 5 s"
        assert (found.last.read, found.last.silent) == (len(ORDER) - 1, 1)
        # Rounds of the others go on, whole, and it holds one thread.
        by_hand(pushed, CANARY, f"set {LINE} x\n")
        assert found.round() == [("finding came", CANARY, TOLD)]
        left = []
        for _ in range(3):
            assert found.round() == []
            left.append(readings())
        # Rounds end while it is still being read.
        assert [f"{THREADS} {SPINES[0]}"] in left
        assert all(names in ([], [f"{THREADS} {SPINES[0]}"]) for names in left)
        pushed.fleet.clear_faults(SPINES[0])
        assert found.next_change() == [("answers", SPINES[0], "")]
    assert readings() == []


def test_a_session_that_is_lost_once_is_no_silence(pushed: Site) -> None:
    """A large device loses it, too, when others need the memory for their answers."""
    with watched(pushed) as found:
        pushed.fleet.add_faults(SPINES[0], Fault("drop-before", "running", count=1))
        assert (found.round(), found.last.well) == ([], True)
        pushed.fleet.add_faults(SPINES[0], Fault("drop-before", "running", count=2))
        ((kind, device, message),) = found.next_change()
        assert (kind, device) == ("does not answer", SPINES[0])
        assert message.startswith("read: the session was lost")


def test_one_that_hangs_does_not_keep_the_room_of_those_that_are_read_again(
    pushed: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rounds, "LONG_AT_ONCE", 1)
    with watched(pushed, deadline_s=6.0) as found:
        for name in (SPINES[0], CANARY):
            pushed.fleet.add_faults(name, Fault("drop-before", "running", count=1))
        assert (found.round(), found.last.well) == ([], True)
        pushed.fleet.add_faults(SPINES[0], Fault("slow", "running", count=0, seconds=600))
        while (SPINES[0], "does not answer") not in {(device, kind) for kind, device, _ in found.next_change()}:
            pass
        # It hangs in every round, and the other one is read in every round.
        until = time.monotonic() + 5.0
        while time.monotonic() < until:
            assert CANARY not in {device for kind, device, _ in found.round() + found.others if kind != "answers"}
        assert found.last.silent == 1


def test_a_device_that_refuses_returns(pushed: Site) -> None:
    with watched(pushed) as found:
        pushed.fleet.add_faults(CANARY, Fault("refuse-auth", "connect", count=0))
        told = found.round()
        assert [(kind, device) for kind, device, _ in told] == [("does not answer", CANARY)]
        assert told[0][2].startswith("connect: ")
        pushed.fleet.clear_faults(CANARY)
        assert found.next_change() == [("answers", CANARY, "")]


def test_files_that_change_count_from_the_next_round_on(pushed: Site) -> None:
    """The files become those of another intent; before that they are being written, and cannot be used."""
    fabric = pushed.generated.fabric
    before = fabric.parent.parent / "before"
    with watched(pushed) as found:
        assert found.round() == []
        text = fabric.read_text()
        fabric.write_text("name: [\n")
        assert found.round() == []
        ((kind, _, message),) = found.others
        assert kind == "files unusable" and str(fabric) in message
        # It is told once, and the devices are compared with what was read.
        assert (found.round(), found.others) == ([], [])
        by_hand(pushed, CANARY, f"set {LINE} x\n")
        assert found.round() == [("finding came", CANARY, TOLD)]
        # Back to the files before the change: all switches differ from them now.
        shutil.rmtree(pushed.generated.artifacts)
        shutil.copytree(before / "artifacts", pushed.generated.artifacts)
        fabric.write_text((before / "fabric.yaml").read_text())
        told = found.round()
        assert found.others == [("files changed", "", "")]
        assert {device for _, device, _ in told} == set(ORDER)
        assert text != fabric.read_text()


def test_files_that_are_back_where_they_were_are_told(pushed: Site) -> None:
    place = pushed.generated.artifacts
    with watched(pushed) as found:
        assert found.round() == []
        for _ in range(2):
            aside = place.rename(place.with_suffix(".aside"))
            assert found.round() == []
            assert [kind for kind, _, _ in found.others] == ["files unusable"]
            aside.rename(place)
            assert found.round() == []
            assert found.others == [("files changed", "", "")]
            assert (found.round(), found.others) == ([], [])


def test_a_password_that_cannot_be_had_is_asked_for_again(pushed: Site, tmp_path: Path) -> None:
    defaults, secret = pushed.inventory / "defaults.yaml", tmp_path / "secret"
    text = defaults.read_text()
    with_command = re.sub(r"password:\s*\{?\s*env: \w+\}?", f"password: {{command: [cat, {secret}]}}", text)
    assert with_command != text
    defaults.write_text(with_command)
    with watched(pushed) as found:
        assert {kind for kind, _, _ in found.round()} == {"does not answer"}
        assert found.last.silent == len(ORDER)
        secret.write_text(PASSWORD)
        back: set[str] = set()
        while len(back) < len(ORDER):
            back |= {device for kind, device, _ in found.next_change() if kind == "answers"}
        # With another password, when the files have changed.
        secret.write_text("another")
        assert (found.round(), found.last.silent) == ([], 0)
        defaults.write_text(f"{with_command}# changed\n")
        assert {kind for kind, _, _ in found.next_change()} == {"files changed", "does not answer"}


def test_the_limit_and_the_last_round(pushed: Site) -> None:
    pushed.fleet.add_faults(SPINES[0], Fault("slow", "running", count=0, seconds=600))
    where = pushed.generated.fabric, pushed.generated.artifacts
    with watch(*where, inventory=pushed.inventory, rounds=1, deadline_s=5.0, limit=["spine"]) as found:
        assert found.devices == SPINES
        # The last round waits for everybody: what is not told in it, nobody tells.
        (report,) = found.rounds()
    assert [(str(one.kind), one.device) for one in report.changes] == [("does not answer", SPINES[0])]
    assert not report.well


def test_a_signal_in_the_middle_of_a_round_ends_it_soon(pushed: Site) -> None:
    pushed.fleet.add_faults(SPINES[0], Fault("slow", "running", count=0, seconds=600))
    with watched(pushed) as found:
        threading.Timer(0.5, found.stop.set).start()
        began = time.monotonic()
        assert list(found.reports) == []
        # A tenth of what the device takes.
        assert time.monotonic() - began < 60
    assert readings() == []
