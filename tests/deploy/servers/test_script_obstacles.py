"""Pushing when something is in the way: others, full disks, lost sessions, what is there already."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager

import pytest

from ailb_gen.deploy.servers import script
from ailb_gen.deploy.servers.expected import ExpectedServer
from ailb_gen.deploy.servers.files import RunState, Tree, plain
from ailb_gen.deploy.servers.script import apply, confirm, restore, status
from ailb_gen.deploy.servers.ssh import ServerConnection
from ailb_gen.deploy.servers.verify import verify
from ailb_gen.deploy.switch_driver import DeviceError, Phase, RequestRefusedError, UnknownOutcomeError
from tests.deploy.servers.sandbox import PASSWORD, Host, run
from tests.deploy.servers.steps import NETPLAN, SCRIPT, STATE, SYSCTL, edited, has, leftovers, slow, wait_for


def refused(host: Host, server: ServerConnection, files: Tree, run_name: str, reason: str) -> RequestRefusedError:
    """Push what is refused, and changes no file; return the error."""
    before = host.tree()
    with pytest.raises(RequestRefusedError, match=reason) as caught:
        apply(server, files, run_name, 10)
    assert host.tree() == before
    return caught.value


def test_one_run_at_a_time(host: Host, server: ServerConnection, files: Tree) -> None:
    apply(server, files, "r1", 10)
    other = edited(files, SYSCTL, b"gpu0_eth.autoconf = 1", b"gpu0_eth.autoconf = 0")
    error = refused(host, server, other, "r2", "run r1 is neither confirmed nor restored")
    assert error.phase is Phase.LOCK
    confirm(server, "r1")
    refused(host, server, other, "r1", "run r1 is there already: confirmed")
    with pytest.raises(DeviceError, match="cannot be the name of a run"):
        apply(server, other, "../r2", 10)
    assert has(host, files)


def test_two_at_once(host: Host, files: Tree) -> None:
    """Of two programs that push at the same time one is refused; the host has the files of the other."""
    pushes = {"a": slow(files, 1), "b": edited(slow(files, 1), SYSCTL, b"autoconf = 1", b"autoconf = 0")}

    def one(name: str) -> DeviceError | None:
        with closing(host.connected()) as connection:
            try:
                apply(connection, pushes[name], name, 10)
                confirm(connection, name)
            except DeviceError as error:
                return error
        return None

    with ThreadPoolExecutor() as pool:
        outcome = dict(zip(pushes, pool.map(one, pushes), strict=True))
    (winner,) = (name for name, error in outcome.items() if error is None)
    (loser,) = filter(None, outcome.values())
    assert isinstance(loser, RequestRefusedError)
    assert loser.phase is Phase.LOCK
    assert has(host, pushes[winner])


def test_a_run_that_was_restored_before_it_arrived_never_begins(
    host: Host, server: ServerConnection, files: Tree
) -> None:
    assert status(server, "r1").state is RunState.UNKNOWN
    restore(server, "r1")
    refused(host, server, files, "r1", "run r1 was restored before it arrived")


def test_wrong_content_is_found_and_taken_back(
    host: Host, server: ServerConnection, files: Tree, expected: ExpectedServer
) -> None:
    before = host.tree()
    wrong = edited(files, SCRIPT, b"fc00:1:1:2::1", b"fc00:1:1:2::99")
    apply(server, wrong, "r1", 10)
    told = [finding.message for finding in verify(server, expected)]
    assert told == [
        "/usr/local/sbin/ailb-net: has another content than the file that was pushed"
        "; push the server's files again: ailb-gen deploy",
        "table 10001: 'default via fc00:1:1:2::99 dev gpu0_eth' must be 'default via fc00:1:1:2::1 dev gpu0_eth'; "
        "remove it: ip -6 route del default via fc00:1:1:2::99 dev gpu0_eth table 10001, and run: ailb-net apply",
    ]
    restore(server, "r1")
    assert host.tree() == before


def test_files_that_netplan_does_not_take_are_refused_before_anything_changes(
    host: Host, server: ServerConnection, files: Tree
) -> None:
    wrong = edited(files, NETPLAN, b"mtu: 9000", b"mtu: many")
    error = refused(host, server, wrong, "r1", "netplan does not take the files")
    assert error.phase is Phase.CHECK
    assert "many" in str(error)
    assert leftovers(host) == []
    # A file of the host's own that does not go with the new ones.
    host.inside(
        "sh", "-c", "printf 'network:\\n  ethernets:\\n    gpu0_eth: {gateway6: x}\\n' >/etc/netplan/01-own.yaml"
    )
    refused(host, server, files, "r2", "netplan does not take the files")


def test_what_is_in_the_way_is_not_replaced(host: Host, server: ServerConnection, files: Tree) -> None:
    host.inside("mkdir", f"/{SYSCTL}")
    refused(host, server, files, "r1", "is neither a file nor a link on this host")
    host.inside("rmdir", f"/{SYSCTL}")
    host.inside("touch", "/etc/ailb")
    assert refused(host, server, files, "r2", "File exists").hint == "the old files are in place"
    assert status(server, "r2").state is RunState.RESTORED


@pytest.mark.parametrize("place", ["/etc", "/var/lib"])
def test_a_read_only_file_system(host: Host, server: ServerConnection, files: Tree, place: str) -> None:
    host.inside("mount", "-o", "remount,ro,bind", place)
    refused(host, server, files, "r1", "Read-only file system")
    host.inside("mount", "-o", "remount,rw,bind", place)
    apply(server, files, "r2", 10)
    assert has(host, files)


@pytest.mark.sampled(4)
@pytest.mark.parametrize("place", ["/etc/ailb", STATE])
@pytest.mark.parametrize("kilobytes", [16, 64, 128, 160, 192, 512])
def test_a_full_disk(host: Host, server: ServerConnection, files: Tree, place: str, kilobytes: int) -> None:
    """Refused with the old files in place, or applied and then taken back on a disk without room."""
    host.inside("mkdir", "-p", place)
    host.inside("mount", "-t", "tmpfs", "-o", f"size={kilobytes}k,mode=755", "tmpfs", place)
    large = {**files, "etc/ailb/large.env": plain(b"#" * 70_000, 0o644)}
    words = ("find", "/etc", "/usr/local", "-type", "f", "-size", "-200k", "-exec", "sha256sum", "{}", "+")
    before = host.inside(*words)
    try:
        apply(server, large, "r1", 10)
        host.inside("sh", "-c", f"cat /dev/zero >{place}/fill", check=False)
        restore(server, "r1")
        host.inside("rm", f"{place}/fill")
        assert status(server, "r1").state is RunState.RESTORED
    except RequestRefusedError as error:
        assert "No space left on device" in str(error) or "did not arrive whole" in str(error)
    assert host.inside(*words) == before
    assert status(server, "r1").pending == ""
    assert leftovers(host) == []


@contextmanager
def later(seconds: float, *words: str) -> Iterator[None]:
    """Run a program a while after the work has begun."""
    timer = threading.Timer(seconds, run, words)
    timer.start()
    yield
    timer.join()


def test_the_session_dies_during_an_apply(
    host: Host, server: ServerConnection, files: Tree, expected: ExpectedServer
) -> None:
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
    with closing(host.connected()) as again:
        assert status(again, "r1").state is RunState.APPLIED
        confirm(again, "r1")
        assert has(host, target)
        assert [finding.message for finding in verify(again, expected)] == [
            "/usr/local/sbin/ailb-net: has another content than the file that was pushed"
            "; push the server's files again: ailb-gen deploy"
        ]


@pytest.mark.long
def test_the_network_dies_during_an_apply(
    host: Host, server: ServerConnection, files: Tree, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing is heard any more, not even a reset; what the host did shows when it is back."""
    before = host.tree()
    monkeypatch.setattr(script, "CHANGE_S", 4.0)
    link = f"ailb{host.number}"
    with (
        later(1.5, "ip", "link", "set", link, "down"),
        pytest.raises(UnknownOutcomeError, match="no answer in time"),
    ):
        apply(server, slow(files, 3), "r1", 5 / 60)
    server.close()
    run("ip", "link", "set", link, "up")
    with closing(host.connected()) as again:
        wait_for(again, "r1", RunState.RESTORED)
    assert host.tree() == before


def test_a_text_that_was_cut_off_does_nothing(host: Host, server: ServerConnection, files: Tree) -> None:
    before = host.tree()
    data, digest = script.pack(files)
    text = script.call("apply", "r1", "600", digest, "changed", data=data)
    start = text.index("\nmain apply")
    for size in (0, 1000, start - 1, start + 8, start + 30, start + 5000, len(text) - len("exit\n}\n"), len(text) - 2):
        server.run(text[:size], Phase.COMMIT, 60)
        assert host.tree() == before
        assert "ailb-gen" not in host.inside("ls", "/var/lib")
    damaged = text[: start + 5000] + text[start + 5100 :]
    answer = server.run(damaged, Phase.COMMIT, 60)
    assert answer.code == 14
    assert host.tree() == before


@pytest.mark.long
def test_no_password_in_a_list_of_processes_or_a_file(host: Host, files: Tree) -> None:
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


def test_many_runs_leave_few_behind(host: Host, server: ServerConnection, files: Tree) -> None:
    one = {"etc/ailb/nccl.env": files["etc/ailb/nccl.env"]}
    apply(server, one, "first", 10)
    confirm(server, "first")
    for number in range(12):
        apply(server, one, f"r{number}", 10)
        restore(server, f"r{number}")
    names = host.inside("ls", f"{STATE}/runs").split()
    assert "first" in names, "what is confirmed is never thrown away"
    assert len(names) <= 12
    assert status(server).current == "first"
