"""Both drivers do the same: every method of a SwitchDriver, and every way in which a device can refuse or go away."""

from __future__ import annotations

import gc
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from operator import methodcaller
from pathlib import Path

import ncclient.transport.session
import paramiko
import pytest

from ailb_gen.deploy.credentials import Credentials, Secret
from ailb_gen.deploy.drivers import DRIVERS, PENDING
from ailb_gen.deploy.login import SshReach
from ailb_gen.deploy.switch_driver import DeviceError, Phase, RequestRefusedError, SwitchDriver, UnknownOutcomeError
from ailb_gen.emulator.faults import Fault
from ailb_gen.emulator.fleet import Fleet
from ailb_gen.junos.reader import read
from tests.deploy.program import TICK_S
from tests.emulator.fleets import LEAF, PASSWORD, SPINE, USER, bgp_of, two_devices, until

COMMANDS = "set system location building x\nset system services telnet\n"


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let ncclient look for answers often."""
    monkeypatch.setattr(ncclient.transport.session, "TICK", TICK_S)


@pytest.fixture(scope="module")
def fleet() -> Iterator[Fleet]:
    with two_devices() as found:
        yield found


@pytest.fixture(params=list(DRIVERS))
def reach(request: pytest.FixtureRequest, fleet: Fleet, tmp_path: Path) -> Iterator[tuple[str, SshReach]]:
    """Return a driver's name and how the leaf is reached; the leaf is as it was when the test is over."""
    device = fleet.devices[LEAF]
    before = len(device.commits())
    (tmp_path / "known_hosts").write_text(fleet.known_hosts())
    login = Credentials(USER, Secret(PASSWORD), None, None, None, False)
    known = paramiko.HostKeys(str(tmp_path / "known_hosts"))
    ssh = SshReach(LEAF, "127.0.0.1", fleet.port(LEAF), login, known, 10, kind="switch", timeout_s=60)
    yield request.param, ssh
    fleet.clear_faults(LEAF)
    assert len(device.commits()) - before < 40


@contextmanager
def opened(reach: tuple[str, SshReach]) -> Iterator[SwitchDriver]:
    """Connect, and disconnect."""
    switch = DRIVERS[reach[0]](reach[1])
    switch.open()
    try:
        yield switch
    finally:
        switch.close()


@pytest.fixture
def switch(reach: tuple[str, SshReach]) -> Iterator[SwitchDriver]:
    with opened(reach) as found:
        yield found


def test_sessions_leave_nothing_open(reach: tuple[str, SshReach]) -> None:
    """A run has thousands of them, as many files as its limit allows, and may have no garbage collector."""

    def waited_on() -> int:
        names = []
        for entry in Path("/proc/self/fd").iterdir():
            # Other threads close theirs.
            with suppress(FileNotFoundError):
                names.append(entry.readlink().name)
        return sum(name.startswith(("pipe:", "anon_inode:")) for name in names)

    before = waited_on()
    gc.disable()
    try:
        for _ in range(2):
            with opened(reach) as switch:
                switch.running()
            until(lambda: waited_on() == before)
    finally:
        gc.enable()


def test_looking_changes_nothing(switch: SwitchDriver) -> None:
    assert switch.name == LEAF
    assert not switch.locked
    running = switch.running()
    assert read(running).value("system", "host-name") == LEAF
    assert "## SECRET-DATA" in running
    assert switch.candidate().split("{", 1)[1] == running.split("{", 1)[1]
    assert switch.compare() == ""
    assert switch.commits()[0].pending_minutes is None
    assert [commit.number for commit in switch.commits()] == list(range(len(switch.commits())))
    assert switch.ask("get-bgp-summary-information").find("bgp-peer") is None


def test_a_push_and_the_way_back(switch: SwitchDriver) -> None:
    first, history = switch.running(), len(switch.commits())
    switch.lock()
    switch.lock()
    assert switch.locked
    switch.load(COMMANDS)
    assert switch.compare().splitlines()[0] == "[edit system]"
    added = {line.strip("+ ") for line in switch.compare().splitlines() if line.startswith("+")}
    assert {"building x;", "telnet;"} <= added
    assert read(switch.candidate()).value("system", "location", "building") == "x"
    assert not read(switch.running()).has("system", "location")
    switch.check()
    switch.commit("ailb-gen run push", 7)
    newest = switch.commits()[0]
    assert (newest.number, newest.user, newest.log, newest.pending_minutes) == (0, USER, "ailb-gen run push", 7)
    assert newest.when > 1_000_000_000
    switch.commit("ailb-gen run confirm")
    newest = switch.commits()[0]
    assert (newest.log, newest.pending_minutes) == ("ailb-gen run confirm", None)
    assert len(switch.commits()) == history + 2
    assert read(switch.running()).has("system", "services", "telnet")
    # Back to what was there two commits ago.
    assert switch.before(2).split("{", 1)[1] == first.split("{", 1)[1]
    switch.load_rollback(2)
    assert not read(switch.candidate()).has("system", "location")
    switch.commit("ailb-gen run roll back")
    assert switch.running().split("{", 1)[1] == first.split("{", 1)[1]
    switch.unlock()
    switch.unlock()
    assert not switch.locked


def test_deleting_what_is_not_there_is_no_error_and_everything_can_be_discarded(switch: SwitchDriver) -> None:
    switch.lock()
    switch.load("delete protocols bgp group nothing\nset system location building y\n")
    assert "building y" in switch.compare()
    switch.load_rollback(0)
    assert switch.compare() == ""
    switch.unlock()


def test_two_sessions_exclude_each_other(reach: tuple[str, SshReach], switch: SwitchDriver) -> None:
    switch.lock()
    with opened(reach) as other:
        with pytest.raises(
            RequestRefusedError, match=f"^{LEAF}: lock: configuration database locked by: {USER} .*; another session"
        ):
            other.lock()
        assert not other.locked
        switch.unlock()
        other.lock()
        assert other.locked
    # The end of a session releases its lock, as soon as the device has seen it.
    while not switch.locked:
        with suppress(RequestRefusedError):
            switch.lock()
    switch.unlock()


def test_state_is_asked_for(fleet: Fleet, reach: tuple[str, SshReach]) -> None:
    def commit(name: str, change: Callable[[SwitchDriver], object]) -> None:
        with opened((reach[0], replace(reach[1], name=name, port=fleet.port(name)))) as switch:
            switch.lock()
            change(switch)
            switch.commit("session")
            switch.unlock()

    for name in (LEAF, SPINE):
        lines = "".join(f"set {' '.join(path)}\n" for path in read(bgp_of(name)).paths())
        commit(name, methodcaller("load", lines))
    with opened(reach) as switch:
        peers = list(switch.ask("get-bgp-summary-information").iter("bgp-peer"))
        assert [peer.findtext("peer-state") for peer in peers] == ["Established"]
        address = peers[0].findtext("peer-address", "").partition("+")[0]
        reply = switch.ask("get-route-information", advertising_protocol_name="bgp", neighbor=address, extensive=True)
        assert reply.tag == "route-information"
    for name in (LEAF, SPINE):
        commit(name, methodcaller("load_rollback", 1))


@pytest.mark.parametrize(
    ("commands", "message"),
    [("frobnicate", "load: .*syntax error"), ("set system [ a", "load: .*")],
)
def test_commands_that_cannot_be_loaded(switch: SwitchDriver, commands: str, message: str) -> None:
    switch.lock()
    with pytest.raises(RequestRefusedError, match=f"^{LEAF}: {message}"):
        switch.load(commands)
    switch.load_rollback(0)
    switch.unlock()


def test_a_candidate_that_does_not_pass(switch: SwitchDriver) -> None:
    switch.lock()
    switch.load("delete system root-authentication\n")
    with pytest.raises(RequestRefusedError, match=r"check: .*root-authentication"):
        switch.check()
    with pytest.raises(RequestRefusedError, match=r"commit: .*root-authentication"):
        switch.commit("x")
    switch.load_rollback(0)
    switch.unlock()


def _commit(switch: SwitchDriver) -> None:
    switch.load(COMMANDS)
    switch.commit("x", 5)


ASK = methodcaller("ask", "get-bgp-summary-information")
STEPS: dict[str, tuple[Callable[[SwitchDriver], object], Phase]] = {
    "lock": (methodcaller("lock"), Phase.LOCK),
    "load": (methodcaller("load", COMMANDS), Phase.LOAD),
    "check": (methodcaller("check"), Phase.CHECK),
    "commit": (_commit, Phase.COMMIT),
    "verify": (ASK, Phase.VERIFY),
    "rollback": (methodcaller("load_rollback", 0), Phase.ROLLBACK),
    "unlock": (methodcaller("unlock"), Phase.UNLOCK),
    "running": (methodcaller("running"), Phase.READ),
}


@pytest.mark.parametrize("step", STEPS)
def test_what_the_device_refuses(fleet: Fleet, switch: SwitchDriver, step: str) -> None:
    act, phase = STEPS[step]
    if step != "lock":
        switch.lock()
    fleet.add_faults(LEAF, Fault("error", step))
    with pytest.raises(RequestRefusedError) as error:
        act(switch)
    assert (error.value.device, error.value.phase) == (LEAF, phase)
    assert "an injected fault" in error.value.reason
    # The session is as good as before.
    switch.lock()
    switch.load_rollback(0)
    assert switch.compare() == ""
    switch.unlock()


@pytest.mark.parametrize("kind", ["drop-before", "drop-after"])
@pytest.mark.parametrize("step", STEPS)
def test_a_session_that_is_lost(fleet: Fleet, reach: tuple[str, SshReach], step: str, kind: str) -> None:
    act, phase = STEPS[step]
    with opened(reach) as switch:
        if step != "lock":
            switch.lock()
        fleet.add_faults(LEAF, Fault(kind, step))
        # Only where it matters what it did.
        hint = "; its state is read again" if phase in ("commit", "confirm", "rollback") else ""
        with pytest.raises(UnknownOutcomeError, match=f"^{LEAF}: {phase}: the session was lost{hint}$"):
            act(switch)
        # Every further use of it says so as well, and none hangs.
        with pytest.raises(DeviceError):
            switch.running()
    with opened(reach) as again:
        if (step, kind) == ("commit", "drop-after"):
            assert (again.commits()[0].log, again.commits()[0].pending_minutes) == ("x", 5)
            again.lock()
            again.load_rollback(1)
            again.commit("back")
            again.unlock()
        assert not read(again.running()).has("system", "location")


def test_no_answer_in_time(fleet: Fleet, reach: tuple[str, SshReach]) -> None:
    with opened((reach[0], replace(reach[1], timeout_s=1))) as switch:
        fleet.add_faults(LEAF, Fault("slow", "verify", seconds=2.5))
        with pytest.raises(UnknownOutcomeError, match=f"^{LEAF}: verify: no answer in time$"):
            ASK(switch)


@pytest.mark.parametrize(
    ("kind", "message"),
    [
        ("refuse-auth", "the login is refused; check the inventory's username, keys and password"),
        ("wrong-host-key", "its host key has changed; compare it on the console"),
        ("drop-before", "no NETCONF session; the device closed the connection before its hello"),
    ],
)
def test_a_connection_that_does_not_come_about(
    fleet: Fleet, reach: tuple[str, SshReach], kind: str, message: str
) -> None:
    fleet.add_faults(LEAF, Fault(kind, "connect"))
    with pytest.raises(DeviceError) as error:
        DRIVERS[reach[0]](reach[1]).open()
    assert error.value.phase is Phase.CONNECT
    assert str(error.value).startswith(f"{LEAF}: connect: 127.0.0.1:{reach[1].port}: {message}")


def test_nobody_listens(reach: tuple[str, SshReach]) -> None:
    with socket.socket() as taken:
        # Bound, but nobody listens.
        taken.bind(("127.0.0.1", 0))
        nowhere = replace(reach[1], port=taken.getsockname()[1])
        with pytest.raises(DeviceError, match="is refused; is 'set system services netconf ssh' there"):
            DRIVERS[reach[0]](nowhere).open()


def test_a_wrong_password_is_in_no_message(reach: tuple[str, SshReach]) -> None:
    login = replace(reach[1].credentials, password=Secret("hunter2"))
    with pytest.raises(DeviceError, match="the login is refused") as error:
        DRIVERS[reach[0]](replace(reach[1], credentials=login)).open()
    assert "hunter2" not in str(error.value)


def test_without_a_session(reach: tuple[str, SshReach]) -> None:
    switch = DRIVERS[reach[0]](reach[1])
    switch.close()
    calls = map(methodcaller, ("lock", "running", "candidate", "compare", "check", "commits"))
    for call in (*calls, methodcaller("before", 0), methodcaller("load", "set a b"), methodcaller("commit", "x"),
                 methodcaller("load_rollback", 0), ASK):  # fmt: skip
        with pytest.raises(DeviceError, match=f"^{LEAF}: connect: there is no session$"):
            call(switch)
    switch.unlock()
    switch.close()


@pytest.mark.parametrize(
    ("text", "minutes"),
    [
        ("commit confirmed, rollback in 10mins", 10),
        ("commit confirmed, rollback in 1min", 1),
        ("commit confirmed, rollback in 120 mins", 120),
        ("rollback in 10mins", None),
        ("", None),
    ],
)
def test_how_junos_says_that_a_commit_waits(text: str, minutes: int | None) -> None:
    found = PENDING.search(text)
    assert (int(found[1]) if found else None) == minutes


def test_what_pyez_warns_of_is_told_by_this_program_alone() -> None:
    text = "An unknown exception occurred - please report."
    lines = (
        "import warnings, ailb_gen.deploy.drivers;"
        f"warnings.warn_explicit({text!r}, RuntimeWarning, 'device.py', 864, 'jnpr.junos.device')"
    )
    done = subprocess.run([sys.executable, "-c", lines], capture_output=True, text=True, check=True)
    assert done.stderr == ""
