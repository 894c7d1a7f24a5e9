"""Pushing to a real sshd: files, kernel, the way back, and what happens when something is in the way."""

from __future__ import annotations

import threading
import time
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from ailb_gen.deploy.servers import agent
from ailb_gen.deploy.servers import push as push_module
from ailb_gen.deploy.servers.model import Change, HostFiles, RunState, plain
from ailb_gen.deploy.servers.push import apply, confirm, look, restore, status
from ailb_gen.deploy.servers.verify import verify
from ailb_gen.deploy.switch import DeviceError, Phase, RefusedError, UnknownOutcomeError
from tests.deploy.servers.sandbox import PASSWORD, Host, run

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ailb_gen.deploy.servers.expected import Expected
    from ailb_gen.deploy.servers.ssh import SshServer

SCRIPT = "usr/local/sbin/ailb-net"
NETPLAN = "etc/netplan/60-ailb-gpu.yaml"
SYSCTL = "etc/sysctl.d/99-accept-ra.conf"
QOS_WARNING = "/usr/local/sbin/ailb-qos: ailb-qos: mlnx_qos is missing; install the NIC vendor's RDMA tools"
STATE = "/var/lib/ailb-gen"


def edited(files: HostFiles, path: str, old: bytes, new: bytes) -> HostFiles:
    """Return files of which one has another text in one place."""
    file = files.tree[path]
    assert old in file.content
    changed = replace(file, content=file.content.replace(old, new))
    return HostFiles(files.name, {**files.tree, path: changed})


def without(files: HostFiles, *paths: str) -> HostFiles:
    return HostFiles(files.name, {path: file for path, file in files.tree.items() if path not in paths})


def slow(files: HostFiles, seconds: int) -> HostFiles:
    """Return files whose script takes its time to set the network."""
    return edited(files, SCRIPT, b"set -eu\n", f"set -eu\nsleep {seconds}\n".encode())


def wait_for(server: SshServer, run_name: str, *states: RunState) -> None:
    """Ask until a run has one of the states; that it never has is told after a long time."""
    for _ in range(600):
        now = status(server, run_name, wait_s=5)
        if now.state in states and not now.busy:
            return
        time.sleep(0.1)
    raise AssertionError(f"{run_name} is {status(server, run_name).state}, not one of {states}")


def has(host: Host, files: HostFiles) -> bool:
    """Tell whether a host has just these files."""
    tree = host.tree()
    return all(
        path in tree and tree[path][1:] == (file.mode, file.owner, file.content) for path, file in files.tree.items()
    )


def leftovers(host: Host) -> list[str]:
    """Return what a run that has ended must not leave beside the files."""
    hidden = [path for path in host.tree() if path.endswith((".ailb-new", ".ailb-old", ".new"))]
    pending = [path for path in host.tree() if "ailb-gen-restore" in path]
    return hidden + pending + host.inside("find", STATE, "-maxdepth", "1", "-name", "pending*", check=False).split()


def test_first_push_confirm_and_back(host: Host, server: SshServer, files: HostFiles, expected: Expected) -> None:
    files_before, kernel_before = host.tree(), host.kernel()
    state = look(server, files)
    assert set(state.changes.values()) == {Change.ADDED}
    assert state.found == {}
    assert not host.inside("find", "/var/lib").count("ailb-gen"), "looking leaves nothing behind"

    assert apply(server, files, "r1", 10) == (QOS_WARNING,)
    now = status(server, "r1")
    assert (now.state, now.pending, now.current, now.busy, now.way) == (RunState.APPLIED, "r1", "", False, "ailb-net")
    assert 500 < now.remaining <= 600
    verdict = verify(server, expected)
    assert verdict.findings == ()
    assert verdict.compared == len(files.tree) + 2 + 8 + 16 + 8 + len(expected.sysctls)

    confirm(server, "r1")
    confirm(server, "r1")
    now = status(server, "r1")
    assert (now.state, now.pending, now.current) == (RunState.CONFIRMED, "", "r1")
    assert has(host, files)
    assert leftovers(host) == []
    state = look(server, files)
    assert set(state.changes.values()) == {Change.SAME}
    assert state.edited == ()

    restore(server, "r1")
    restore(server, "r1")
    assert host.tree() == files_before
    assert host.kernel() == kernel_before
    assert leftovers(host) == []
    now = status(server, "r1")
    assert (now.state, now.pending, now.current) == (RunState.RESTORED, "", "")


def test_a_push_that_changes_nothing_touches_nothing(host: Host, server: SshServer, files: HostFiles) -> None:
    apply(server, files, "r1", 10)
    confirm(server, "r1")
    stamps = host.inside("stat", "-c", "%n %i %z", *(f"/{path}" for path in files.tree))
    run("ip", "-n", host.netns, "-6", "rule", "del", "priority", "10003")
    assert apply(server, files, "r2", 10) == ()
    confirm(server, "r2")
    assert host.inside("stat", "-c", "%n %i %z", *(f"/{path}" for path in files.tree)) == stamps
    assert "10003:" not in host.kernel()[0]
    # The network alone can be asked for.
    apply(server, files, "r3", 10, always=True)
    assert "10003:" in host.kernel()[0]
    restore(server, "r3")
    assert host.inside("stat", "-c", "%n %i %z", *(f"/{path}" for path in files.tree)) == stamps


def test_a_changed_push_and_back(host: Host, server: SshServer, files: HostFiles) -> None:
    apply(server, files, "r1", 10)
    confirm(server, "r1")
    files_before, kernel_before = host.tree(), host.kernel()
    drop_in = "etc/systemd/network/10-netplan-gpu1_eth.network.d/50-ailb.conf"
    script = files.tree[SCRIPT].content
    row = next(line for line in script.splitlines(keepends=True) if line.startswith(b"gpu1_eth 10007 "))
    other = edited(files, SCRIPT, row, row.replace(b"10007", b"20007"))
    other = edited(other, SYSCTL, b"gpu0_eth.autoconf = 1", b"gpu0_eth.autoconf = 0")
    other = without(other, drop_in)
    other = HostFiles(other.name, {**other.tree, "etc/ailb/new/extra.env": plain(b"A=1\n", 0o644)})
    state = look(server, other)
    assert {path: str(change) for path, change in state.changes.items() if change is not Change.SAME} == {
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
    assert set(look(server, files).changes.values()) == {Change.SAME}


def test_files_of_the_host_come_back_as_they_were(host: Host, server: SshServer, files: HostFiles) -> None:
    """Owners, modes, links and times of what stood there before."""
    host.inside(
        "sh", "-c", f"echo old >/{SYSCTL}; chown 17:18 /{SYSCTL}; chmod 640 /{SYSCTL}; touch -d 2001-02-03 /{SYSCTL}"
    )
    host.inside(
        "sh",
        "-c",
        f"mkdir -p /etc/iproute2/rt_tables.d; ln -s ../elsewhere /{'etc/iproute2/rt_tables.d/jnpr_nccl_net.conf'}",
    )
    before, stamp = host.tree(), host.inside("stat", "-c", "%i %y %U", f"/{SYSCTL}")
    state = look(server, files)
    assert state.changes[SYSCTL] is Change.CHANGED
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


def test_the_host_takes_back_what_nobody_confirms(host: Host, server: SshServer, files: HostFiles) -> None:
    files_before, kernel_before = host.tree(), host.kernel()
    apply(server, files, "r1", 3 / 60)
    # The watchdog needs no session.
    server.close()
    again = host.server()
    again.open()
    wait_for(again, "r1", RunState.RESTORED)
    assert host.tree() == files_before
    assert host.kernel() == kernel_before
    assert leftovers(host) == []
    with pytest.raises(RefusedError, match="run r1 cannot be confirmed: restored") as caught:
        confirm(again, "r1")
    assert caught.value.phase is Phase.CONFIRM
    again.close()


def test_a_watchdog_that_died_is_replaced_by_the_next_call(host: Host, server: SshServer, files: HostFiles) -> None:
    before = host.tree()
    apply(server, files, "r1", 2 / 60)
    host.inside("pkill", "-9", "-f", f"{STATE}/runs/r1/agent watch r1")
    for _ in range(600):
        now = status(server, "r1")
        if now.remaining == 0:
            break
        time.sleep(0.1)
    assert now.state is RunState.APPLIED
    with pytest.raises(RefusedError, match="run r1 cannot be confirmed: restored"):
        confirm(server, "r1")
    assert host.tree() == before


def test_after_a_reboot_the_old_files_come_back(host: Host, server: SshServer, files: HostFiles) -> None:
    before = host.tree()
    apply(server, files, "r1", 10)
    server.close()
    host.power_off()
    host.start()
    again = host.server()
    again.open()
    now = status(again, "r1")
    assert (now.state, now.pending, now.remaining) == (RunState.APPLIED, "r1", 0), "nobody watches it any more"
    # What the unit ailb-gen-restore.service runs where systemd is; elsewhere the next push does the same.
    again.close()
    host.power_off()
    host.boot()
    again.open()
    assert status(again, "r1").state is RunState.RESTORED
    assert host.tree() == before
    again.close()


def test_one_run_at_a_time(host: Host, server: SshServer, files: HostFiles) -> None:
    apply(server, files, "r1", 10)
    other = edited(files, SYSCTL, b"gpu0_eth.autoconf = 1", b"gpu0_eth.autoconf = 0")
    with pytest.raises(RefusedError, match="run r1 is neither confirmed nor restored") as caught:
        apply(server, other, "r2", 10)
    assert caught.value.phase is Phase.LOCK
    confirm(server, "r1")
    with pytest.raises(RefusedError, match="run r1 is there already: confirmed"):
        apply(server, other, "r1", 10)
    with pytest.raises(DeviceError, match="cannot be the name of a run"):
        apply(server, other, "../r2", 10)
    assert has(host, files)


def test_two_at_once(host: Host, files: HostFiles) -> None:
    """Of two programs that push at the same time one is refused; the host has the files of the other."""
    pushes = {"a": slow(files, 1), "b": edited(slow(files, 1), SYSCTL, b"autoconf = 1", b"autoconf = 0")}
    outcome: dict[str, DeviceError | None] = {}

    def one(name: str) -> None:
        connection = host.server()
        try:
            connection.open()
            apply(connection, pushes[name], name, 10)
            confirm(connection, name)
            outcome[name] = None
        except DeviceError as error:
            outcome[name] = error
        finally:
            connection.close()

    threads = [threading.Thread(target=one, args=(name,)) for name in pushes]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    (winner,) = (name for name, error in outcome.items() if error is None)
    (loser,) = (error for error in outcome.values() if error is not None)
    assert isinstance(loser, RefusedError)
    assert loser.phase is Phase.LOCK
    assert has(host, pushes[winner])


def test_a_run_that_was_restored_before_it_arrived_never_begins(
    host: Host, server: SshServer, files: HostFiles
) -> None:
    before = host.tree()
    assert status(server, "r1").state is RunState.UNKNOWN
    restore(server, "r1")
    with pytest.raises(RefusedError, match="run r1 was restored before it arrived"):
        apply(server, files, "r1", 10)
    assert host.tree() == before


def test_wrong_content_is_found_and_taken_back(
    host: Host, server: SshServer, files: HostFiles, expected: Expected
) -> None:
    before = host.tree()
    wrong = edited(files, SCRIPT, b"fc00:1:1:2::1", b"fc00:1:1:2::99")
    apply(server, wrong, "r1", 10)
    told = list(map(str, verify(server, expected).findings))
    assert told == [
        "/usr/local/sbin/ailb-net: has another content than the file that was pushed",
        "table 10001: 'default via fc00:1:1:2::1 dev gpu0_eth' is not there",
        "table 10001: 'default via fc00:1:1:2::99 dev gpu0_eth' does not belong",
    ]
    restore(server, "r1")
    assert host.tree() == before


def test_files_that_netplan_does_not_take_are_refused_before_anything_changes(
    host: Host, server: SshServer, files: HostFiles
) -> None:
    before = host.tree()
    with pytest.raises(RefusedError, match="netplan does not take the files") as caught:
        apply(server, edited(files, NETPLAN, b"mtu: 9000", b"mtu: many"), "r1", 10)
    assert caught.value.phase is Phase.CHECK
    assert "many" in str(caught.value)
    assert host.tree() == before
    assert leftovers(host) == []
    # A file of the host's own that does not go with the new ones.
    host.inside(
        "sh", "-c", "printf 'network:\\n  ethernets:\\n    gpu0_eth: {gateway6: x}\\n' >/etc/netplan/01-own.yaml"
    )
    with pytest.raises(RefusedError, match="netplan does not take the files"):
        apply(server, files, "r2", 10)
    assert set(host.tree()) - set(before) == {"etc/netplan/01-own.yaml"}


def test_what_is_in_the_way_is_not_replaced(host: Host, server: SshServer, files: HostFiles) -> None:
    host.inside("mkdir", f"/{SYSCTL}")
    before = host.tree()
    with pytest.raises(RefusedError, match="is neither a file nor a link on this host"):
        apply(server, files, "r1", 10)
    assert host.tree() == before
    host.inside("rmdir", f"/{SYSCTL}")
    host.inside("touch", "/etc/ailb")
    before = host.tree()
    with pytest.raises(RefusedError, match="File exists") as caught:
        apply(server, files, "r2", 10)
    assert caught.value.hint == "the old files are in place"
    assert host.tree() == before
    assert status(server, "r2").state is RunState.RESTORED


@pytest.mark.parametrize("place", ["/etc", "/var/lib"])
def test_a_read_only_file_system(host: Host, server: SshServer, files: HostFiles, place: str) -> None:
    before = host.tree()
    host.inside("mount", "-o", "remount,ro,bind", place)
    with pytest.raises(RefusedError, match="Read-only file system"):
        apply(server, files, "r1", 10)
    assert host.tree() == before
    host.inside("mount", "-o", "remount,rw,bind", place)
    apply(server, files, "r2", 10)
    assert has(host, files)


@pytest.mark.parametrize("place", ["/etc/ailb", STATE])
@pytest.mark.parametrize("kilobytes", [16, 64, 128, 160, 192, 512])
def test_a_full_disk(host: Host, server: SshServer, files: HostFiles, place: str, kilobytes: int) -> None:
    """Refused with the old files in place, or applied and then taken back on a disk without room."""
    host.inside("mkdir", "-p", place)
    host.inside("mount", "-t", "tmpfs", "-o", f"size={kilobytes}k,mode=755", "tmpfs", place)
    large = HostFiles(files.name, {**files.tree, "etc/ailb/large.env": plain(b"#" * 70_000, 0o644)})
    before = host.inside("find", "/etc", "/usr/local", "-type", "f", "-size", "-200k", "-exec", "sha256sum", "{}", "+")
    try:
        apply(server, large, "r1", 10)
        host.inside("sh", "-c", f"cat /dev/zero >{place}/fill", check=False)
        restore(server, "r1")
        host.inside("rm", f"{place}/fill")
        assert status(server, "r1").state is RunState.RESTORED
    except RefusedError as error:
        assert "No space left on device" in str(error) or "did not arrive whole" in str(error)
    after = host.inside("find", "/etc", "/usr/local", "-type", "f", "-size", "-200k", "-exec", "sha256sum", "{}", "+")
    assert after == before
    assert status(server, "r1").pending == ""
    assert leftovers(host) == []


@contextmanager
def later(seconds: float, *words: str) -> Iterator[None]:
    """Run a program a while after the work has begun."""
    timer = threading.Timer(seconds, run, words)
    timer.start()
    yield
    timer.join()


def test_the_session_dies_during_an_apply(host: Host, server: SshServer, files: HostFiles, expected: Expected) -> None:
    """The host goes on by itself; asked again, it knows the run."""
    target = slow(files, 3)
    kill = "kill -9 $(pgrep -f '[s]shd: root@notty')"
    with (
        later(1.5, "nsenter", "-t", str(host.init), "-m", "-n", "-p", "--", "sh", "-c", kill),
        pytest.raises(UnknownOutcomeError) as caught,
    ):
        apply(server, target, "r1", 10)
    assert caught.value.phase is Phase.COMMIT
    server.close()
    again = host.server()
    again.open()
    assert status(again, "r1").state is RunState.APPLIED
    confirm(again, "r1")
    assert has(host, target)
    assert [str(one) for one in verify(again, expected).findings] == [
        "/usr/local/sbin/ailb-net: has another content than the file that was pushed"
    ]
    again.close()


def test_the_network_dies_during_an_apply(
    host: Host, server: SshServer, files: HostFiles, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing is heard any more, not even a reset; what the host did shows when it is back."""
    before = host.tree()
    monkeypatch.setattr(push_module, "CHANGE_S", 4.0)
    link = f"ailb{host.number}"
    with (
        later(1.5, "ip", "link", "set", link, "down"),
        pytest.raises(UnknownOutcomeError, match="no answer in time"),
    ):
        apply(server, slow(files, 3), "r1", 5 / 60)
    server.close()
    run("ip", "link", "set", link, "up")
    again = host.server()
    again.open()
    wait_for(again, "r1", RunState.RESTORED)
    assert host.tree() == before
    again.close()


def test_a_text_that_was_cut_off_does_nothing(host: Host, server: SshServer, files: HostFiles) -> None:
    before = host.tree()
    data, digest = agent.pack(files.tree)
    text = agent.call("apply", "r1", "600", digest, "changed", data=data)
    start = text.index("\nmain apply")
    for size in (0, 1000, start - 1, start + 8, start + 30, start + 5000, len(text) - len("exit\n}\n"), len(text) - 2):
        server.run(text[:size], Phase.COMMIT, 60)
        assert host.tree() == before
        assert "ailb-gen" not in host.inside("ls", "/var/lib")
    damaged = text[: start + 5000] + text[start + 5100 :]
    answer = server.run(damaged, Phase.COMMIT, 60)
    assert answer.code == 14
    assert host.tree() == before


def test_no_password_in_a_list_of_processes_or_a_file(host: Host, files: HostFiles) -> None:
    connection = host.server(user="asked", password=PASSWORD, sudo_password=PASSWORD)
    connection.open()
    seen: list[str] = []
    done = threading.Event()

    def watch() -> None:
        while not done.is_set():
            seen.append(
                run("sh", "-c", "cat /proc/[0-9]*/cmdline /proc/[0-9]*/environ 2>/dev/null | tr '\\0' ' '", check=False)
            )

    thread = threading.Thread(target=watch)
    thread.start()
    try:
        apply(connection, slow(files, 1), "r1", 10)
    finally:
        done.set()
        thread.join()
    assert any("ailb-net apply" in one for one in seen), "the processes were looked at while it ran"
    assert not any(PASSWORD in one for one in seen)
    confirm(connection, "r1")
    connection.close()
    assert run("grep", "-rlF", PASSWORD, str(host.root), check=False) == ""
    assert PASSWORD not in repr(connection.reach)


def test_many_runs_leave_few_behind(host: Host, server: SshServer, files: HostFiles) -> None:
    one = HostFiles(files.name, {"etc/ailb/nccl.env": files.tree["etc/ailb/nccl.env"]})
    apply(server, one, "first", 10)
    confirm(server, "first")
    for number in range(12):
        apply(server, one, f"r{number}", 10)
        restore(server, f"r{number}")
    names = host.inside("ls", f"{STATE}/runs").split()
    assert "first" in names, "what is confirmed is never thrown away"
    assert len(names) <= 12
    assert status(server).current == "first"
