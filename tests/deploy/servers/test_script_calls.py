"""Pushing to a real sshd: files and kernel, forth and back, and what the host does by itself."""

from __future__ import annotations

import time
from contextlib import closing

import pytest

from ailb_gen.deploy.servers.expected import ExpectedServer
from ailb_gen.deploy.servers.files import FileChange, RunState, Tree, plain
from ailb_gen.deploy.servers.script import apply, confirm, observe, restore, status
from ailb_gen.deploy.servers.ssh import ServerConnection
from ailb_gen.deploy.servers.verify import verify
from ailb_gen.deploy.switch_driver import Phase, RequestRefusedError
from tests.deploy.servers.sandbox import Host, run
from tests.deploy.servers.steps import SCRIPT, STATE, SYSCTL, edited, has, leftovers, renumbered, wait_for

QOS_WARNING = "/usr/local/sbin/ailb-qos: ailb-qos: not set, because they are no PCI devices: gpu0_eth gpu1_eth"


@pytest.mark.long
def test_first_push_confirm_and_back(
    host: Host, server: ServerConnection, files: Tree, expected: ExpectedServer
) -> None:
    files_before, kernel_before = host.tree(), host.kernel()
    state = observe(server, files)
    assert set(state.changes.values()) == {FileChange.ADDED}
    assert state.found == {}
    assert not host.inside("find", "/var/lib").count("ailb-gen"), "looking leaves nothing behind"

    assert apply(server, files, "r1", 10) == (QOS_WARNING,)
    now = status(server, "r1")
    assert (now.state, now.pending, now.current, now.busy, now.way) == (RunState.APPLIED, "r1", "", False, "ailb-net")
    assert 500 < now.remaining <= 600
    assert verify(server, expected) == ()

    confirm(server, "r1")
    confirm(server, "r1")
    now = status(server, "r1")
    assert (now.state, now.pending, now.current) == (RunState.CONFIRMED, "", "r1")
    assert has(host, files)
    assert leftovers(host) == []
    state = observe(server, files)
    assert set(state.changes.values()) == {FileChange.SAME}

    restore(server, "r1")
    restore(server, "r1")
    assert host.tree() == files_before
    assert host.kernel() == kernel_before
    assert leftovers(host) == []
    now = status(server, "r1")
    assert (now.state, now.pending, now.current) == (RunState.RESTORED, "", "")


def test_a_push_that_changes_nothing_touches_nothing(host: Host, server: ServerConnection, files: Tree) -> None:
    apply(server, files, "r1", 10)
    confirm(server, "r1")
    stamps = host.inside("stat", "-c", "%n %i %z", *(f"/{path}" for path in files))
    run("ip", "-n", host.netns, "-6", "rule", "del", "priority", "10003")
    assert apply(server, files, "r2", 10) == ()
    confirm(server, "r2")
    assert host.inside("stat", "-c", "%n %i %z", *(f"/{path}" for path in files)) == stamps
    assert "10003:" not in host.kernel()[0]
    # The network alone can be asked for.
    apply(server, files, "r3", 10, always=True)
    assert "10003:" in host.kernel()[0]
    restore(server, "r3")
    assert host.inside("stat", "-c", "%n %i %z", *(f"/{path}" for path in files)) == stamps


def test_a_changed_push_and_back(host: Host, server: ServerConnection, files: Tree) -> None:
    apply(server, files, "r1", 10)
    confirm(server, "r1")
    files_before, kernel_before = host.tree(), host.kernel()
    drop_in = "etc/systemd/network/10-netplan-gpu1_eth.network.d/50-ailb.conf"
    other = dict(edited(renumbered(files), SYSCTL, b"gpu0_eth.autoconf = 1", b"gpu0_eth.autoconf = 0"))
    del other[drop_in]
    other["etc/ailb/new/extra.env"] = plain(b"A=1\n", 0o644)
    state = observe(server, other)
    assert {path: str(change) for path, change in state.changes.items() if change is not FileChange.SAME} == {
        SCRIPT: "changed",
        SYSCTL: "changed",
        drop_in: "removed",
        "etc/ailb/new/extra.env": "added",
    }
    apply(server, other, "r2", 10)
    assert has(host, other)
    assert f"/{drop_in}" not in host.tree()
    rules, *_ = host.kernel()
    assert "20007:" in rules
    assert "10007:" not in rules, "what the former script has set is taken away"
    assert run("ip", "-n", host.netns, "-6", "route", "show", "table", "10007", check=False) == ""
    assert "gpu0_eth.autoconf = 0" in host.kernel()[-1]
    restore(server, "r2")
    assert host.tree() == files_before
    assert host.kernel() == kernel_before

    apply(server, other, "r3", 10)
    confirm(server, "r3")
    assert status(server).current == "r3"
    restore(server, "r3")
    assert host.tree() == files_before
    assert host.kernel() == kernel_before
    assert status(server).current == "r1", "what was put there before is known again"
    assert set(observe(server, files).changes.values()) == {FileChange.SAME}


def test_files_of_the_host_come_back_as_they_were(host: Host, server: ServerConnection, files: Tree) -> None:
    """Owners, modes, links and times of what stood there before."""
    host.inside(
        "sh", "-c", f"echo old >/{SYSCTL}; chown 17:18 /{SYSCTL}; chmod 640 /{SYSCTL}; touch -d 2001-02-03 /{SYSCTL}"
    )
    tables = "/etc/iproute2/rt_tables.d"
    host.inside("sh", "-c", f"mkdir -p {tables}; ln -s ../elsewhere {tables}/jnpr_nccl_net.conf")
    before, stamp = host.tree(), host.inside("stat", "-c", "%i %y %U", f"/{SYSCTL}")
    state = observe(server, files)
    assert state.changes[SYSCTL] is FileChange.CHANGED
    assert state.found[SYSCTL].owner == (17, 18)
    apply(server, files, "r1", 10)
    restore(server, "r1")
    assert host.tree() == before
    assert host.inside("stat", "-c", "%i %y %U", f"/{SYSCTL}") == stamp
    apply(server, files, "r2", 10)
    confirm(server, "r2")
    restore(server, "r2")
    assert host.tree() == before
    assert host.inside("stat", "-c", "%y", f"/{SYSCTL}").startswith("2001-02-03")


@pytest.mark.long
def test_the_host_takes_back_what_nobody_confirms(host: Host, server: ServerConnection, files: Tree) -> None:
    files_before, kernel_before = host.tree(), host.kernel()
    apply(server, files, "r1", 3 / 60)
    # The watchdog needs no session.
    server.close()
    with closing(host.connected()) as again:
        wait_for(again, "r1", RunState.RESTORED)
        assert host.tree() == files_before
        assert host.kernel() == kernel_before
        assert leftovers(host) == []
        with pytest.raises(RequestRefusedError, match="run r1 cannot be confirmed: restored") as caught:
            confirm(again, "r1")
    assert caught.value.phase is Phase.CONFIRM


def test_a_watchdog_that_died_is_replaced_by_the_next_call(host: Host, server: ServerConnection, files: Tree) -> None:
    before = host.tree()
    apply(server, files, "r1", 2 / 60)
    host.inside("pkill", "-9", "-f", f"{STATE}/runs/r1/agent watch r1")
    for _ in range(600):
        now = status(server, "r1")
        if now.remaining == 0:
            break
        time.sleep(0.1)
    assert now.state is RunState.APPLIED
    with pytest.raises(RequestRefusedError, match="run r1 cannot be confirmed: restored"):
        confirm(server, "r1")
    assert host.tree() == before


@pytest.mark.long
def test_after_a_reboot_the_old_files_come_back(host: Host, server: ServerConnection, files: Tree) -> None:
    before = host.tree()
    apply(server, files, "r1", 10)
    server.close()
    host.power_off()
    host.start()
    with closing(host.connected()) as again:
        now = status(again, "r1")
    assert (now.state, now.pending, now.remaining) == (RunState.APPLIED, "r1", 0), "nobody watches it any more"
    # What the unit ailb-gen-restore.service runs where systemd is; elsewhere the next push does the same.
    host.power_off()
    host.boot()
    with closing(host.connected()) as again:
        assert status(again, "r1").state is RunState.RESTORED
    assert host.tree() == before
