"""With systemd as the first process, networkd, netplan, and leaves that advertise: timer, boot and way back."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from ailb_gen.deploy.servers import script
from ailb_gen.deploy.servers.expected import ExpectedServer
from ailb_gen.deploy.servers.files import RunState, Tree
from ailb_gen.deploy.servers.observed import observe as observe_all
from ailb_gen.deploy.servers.script import apply, confirm, observe, restore, status
from ailb_gen.deploy.servers.ssh import ServerConnection
from ailb_gen.deploy.servers.verify import compare_all
from ailb_gen.deploy.switch_driver import RequestRefusedError, UnknownOutcomeError
from ailb_gen.design.model import HostConfig
from tests.deploy.servers.machine import Machine, MachineWithoutNetplan
from tests.deploy.servers.sandbox import Host, host_at, run
from tests.deploy.servers.steps import NETPLAN, edited, leftovers, wait_for
from tests.deploy.servers.test_script_crashes import mortal

UNIT = "/etc/systemd/system/ailb-gen-restore.service"


@pytest.fixture
def machine(tmp_path: Path, config: HostConfig) -> Iterator[Host]:
    yield from host_at(tmp_path / "machine", config, Machine)


@pytest.fixture
def bare(tmp_path: Path, config: HostConfig) -> Iterator[Host]:
    yield from host_at(tmp_path / "machine", config, MachineWithoutNetplan)


def rebooted(host: Host, server: ServerConnection) -> ServerConnection:
    server.close()
    host.power_off()
    host.boot()
    return host.connected()


def settled(server: ServerConnection, expected: ExpectedServer) -> list[str]:
    """Verify until all is well, because addresses take a while; return what is wrong even after a long one."""
    found: list[str] = []
    for _ in range(60):
        found = [finding.message for finding in compare_all(server.name, expected, observe_all(server, expected))]
        if not found:
            break
        time.sleep(0.5)
    return found


def becomes(wanted: int, host: Host) -> bool:
    """Tell whether there are so many rules of the fabric, at once or after a while: networkd takes its time."""
    for _ in range(300):
        if run("ip", "-n", host.netns, "-6", "rule", "show").count("from fc00") == wanted:
            return True
        time.sleep(0.1)
    return False


def timers(host: Host) -> str:
    return host.inside("systemctl", "list-units", "--all", "--no-legend", "ailb-gen-r[0-9].*")


def test_netplan_sets_it_and_it_survives_a_reboot(machine: Host, files: Tree, expected: ExpectedServer) -> None:
    before = machine.tree()
    server = machine.connected()
    assert status(server).way == "netplan"
    apply(server, files, "r1", 10)
    assert "ailb-gen-r1.timer" in timers(machine)
    assert machine.inside("systemd-analyze", "verify", UNIT) == ""
    assert settled(server, expected) == []
    confirm(server, "r1")
    assert timers(machine) == ""
    assert leftovers(machine) == []

    server = rebooted(machine, server)
    assert settled(server, expected) == []
    assert becomes(8, machine)
    assert set(observe(server, files).changed) == set()
    # No default route of the leaves' advertisements in the main table: the drop-in holds.
    assert "default" not in run("ip", "-n", machine.netns, "-6", "route", "show")

    restore(server, "r1")
    assert machine.tree() == before
    assert becomes(0, machine)
    server.close()


@pytest.mark.long
def test_the_timer_takes_back_what_nobody_confirms(machine: Host, files: Tree) -> None:
    before = machine.tree()
    server = machine.connected()
    apply(server, files, "r1", 6 / 60)
    server.close()
    server = machine.connected()
    wait_for(server, "r1", RunState.RESTORED)
    assert machine.tree() == before
    assert becomes(0, machine)
    assert leftovers(machine) == []
    with pytest.raises(RequestRefusedError, match="cannot be confirmed: restored"):
        confirm(server, "r1")
    server.close()


@pytest.mark.long
def test_the_timer_takes_back_what_a_dead_call_has_begun(
    machine: Host, files: Tree, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = machine.tree()
    server = machine.connected()
    with monkeypatch.context() as patched:
        patched.setattr(script, "call", mortal("apply", 60))
        with pytest.raises(UnknownOutcomeError):
            apply(server, files, "r1", 5 / 60)
    server.close()
    server = machine.connected()
    assert status(server, "r1").state is RunState.MOVING
    assert machine.tree() != before
    wait_for(server, "r1", RunState.RESTORED)
    assert machine.tree() == before
    server.close()


@pytest.mark.long
def test_a_boot_takes_back_what_was_not_confirmed(machine: Host, files: Tree, expected: ExpectedServer) -> None:
    server = machine.connected()
    apply(server, files, "r1", 10)
    confirm(server, "r1")
    before = machine.tree()
    apply(server, edited(files, NETPLAN, b"mtu: 9000", b"mtu: 1400"), "r2", 10)
    server = rebooted(machine, server)
    assert status(server, "r2").state is RunState.RESTORED
    assert status(server).current == "r1"
    assert machine.tree() == before
    assert leftovers(machine) == []
    # Networkd has never seen the unconfirmed files: they were gone when it started.
    for nic in machine.config.nics:
        unit = machine.inside("cat", f"/run/systemd/network/10-netplan-{nic.name}.network")
        assert "MTUBytes=9000" in unit
    assert settled(server, expected) == []
    server.close()


@pytest.mark.long
def test_without_netplan_the_script_and_its_service_do_it(bare: Host, files: Tree, expected: ExpectedServer) -> None:
    before = bare.tree()
    server = bare.connected()
    assert status(server).way == "ailb-net"
    apply(server, files, "r1", 10)
    assert settled(server, expected) == []
    confirm(server, "r1")
    server = rebooted(bare, server)
    assert settled(server, expected) == []
    assert becomes(8, bare)
    restore(server, "r1")
    assert bare.tree() == before
    assert becomes(0, bare)
    apply(server, files, "r2", 10)
    server = rebooted(bare, server)
    assert status(server, "r2").state is RunState.RESTORED
    assert bare.tree() == before
    assert becomes(0, bare)
    server.close()
