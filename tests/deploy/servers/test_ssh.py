"""Connections to a real sshd: host keys, logins, root by sudo, bounds of time and size."""

from __future__ import annotations

import logging
from contextlib import closing
from pathlib import Path

import pytest

from ailb_gen.deploy import resource_limits
from ailb_gen.deploy.credentials import Credentials
from ailb_gen.deploy.login import SshReach
from ailb_gen.deploy.resource_limits import Share, Shared
from ailb_gen.deploy.servers.ssh import ServerConnection
from ailb_gen.deploy.switch_driver import DeviceError, Phase, RequestRefusedError, UnknownOutcomeError
from tests.deploy.servers.sandbox import PASSWORD, Host, run

NO_ROOT = "no root shell: "


def who(server: ServerConnection) -> str:
    """Return who the scripts of a connection are run by."""
    with closing(server):
        server.open()
        return server.run("id -un\n", Phase.READ, 30).out.decode().strip()


@pytest.mark.parametrize(
    ("user", "password", "sudo_password"),
    [
        ("root", None, None),
        ("free", None, None),
        ("free", PASSWORD, None),
        ("asked", None, PASSWORD),
        # It is not asked for, so it is not sent: were it, the shell would run it as a command.
        ("free", None, PASSWORD),
        ("root", None, PASSWORD),
    ],
)
def test_root_by_key_password_and_sudo(
    shared: Host, user: str, password: str | None, sudo_password: str | None
) -> None:
    assert who(shared.server(user, password, sudo_password)) == "root"


@pytest.mark.parametrize(
    ("user", "sudo_password", "reason"),
    [
        ("asked", None, f"{NO_ROOT}sudo: a password is required; log in as root, allow sudo without a password"),
        ("asked", "wrong-password", "sudo rejects the password; check sudo_password"),
        ("barred", None, f"{NO_ROOT}sudo: "),
        ("barred", PASSWORD, f"{NO_ROOT}.*barred is not in the sudoers file"),
    ],
)
def test_no_root(shared: Host, user: str, sudo_password: str | None, reason: str) -> None:
    with pytest.raises(RequestRefusedError, match=reason) as caught:
        who(shared.server(user, None, sudo_password))
    assert caught.value.phase is Phase.CONNECT
    assert "wrong-password" not in str(caught.value)


def test_sudo_that_is_not_installed(shared: Host) -> None:
    hidden = shared.root / "hidden"
    hidden.write_text("", encoding="utf-8")
    shared.inside("mount", "--bind", str(hidden), "/usr/bin/sudo")
    try:
        with pytest.raises(RequestRefusedError, match=f"{NO_ROOT}.*sudo: Permission denied"):
            who(shared.server("free"))
    finally:
        shared.inside("umount", "/usr/bin/sudo")


def test_a_login_that_is_refused(shared: Host) -> None:
    with pytest.raises(DeviceError, match=r"connect: .*:22: the login is refused; check username, key and password"):
        who(shared.server("free", "wrong-password"))
    with pytest.raises(DeviceError, match="the login is refused"):
        who(shared.server("nobody-here"))


def test_a_host_key_that_is_another_or_unknown(shared: Host, tmp_path: Path) -> None:
    run("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(tmp_path / "other"))
    address = shared.known_hosts.read_text(encoding="utf-8").split()[0]
    wrong = tmp_path / "known_hosts"
    wrong.write_text(f"{address} {(tmp_path / 'other.pub').read_text(encoding='utf-8')}", encoding="utf-8")
    log = (shared.root / "sshd.log").read_text(encoding="utf-8")
    with pytest.raises(DeviceError, match="its host key has changed; compare it on the console"):
        who(shared.server("free", PASSWORD, known_hosts=wrong))
    with pytest.raises(DeviceError, match="its host key is not known; compare it on the console, then accept it"):
        who(shared.server("free", PASSWORD, known_hosts=tmp_path / "missing"))
    told = (shared.root / "sshd.log").read_text(encoding="utf-8").removeprefix(log)
    assert "password" not in told, "no credential is sent to a host whose key is not the known one"


def test_nobody_there(shared: Host) -> None:
    reach = shared.server().reach
    login = Credentials("root", None, None, None, shared.key, False)
    closed = ServerConnection(SshReach("gpu-1", reach.hostname, 23, login, reach.known_hosts, 5))
    with pytest.raises(DeviceError, match="connection is refused; is sshd running there"):
        closed.open()
    unnamed = ServerConnection(SshReach("gpu-1", "no-such-host.invalid", 22, login, reach.known_hosts, 5))
    with pytest.raises(DeviceError, match=r"no-such-host\.invalid:22: no connection"):
        unnamed.open()
    with pytest.raises(DeviceError, match="there is no session"):
        closed.run("true", Phase.READ, 5)


def test_exit_codes_and_both_streams(shared_server: ServerConnection) -> None:
    answer = shared_server.run("echo out\necho err >&2\nexit 7\n", Phase.READ, 30)
    assert (answer.code, answer.out, answer.err) == (7, b"out\n", "err\n")
    many = shared_server.run("seq 200000\nseq 200000 >&2\n", Phase.READ, 60, 4 << 20)
    assert many.out.decode() == many.err == "".join(f"{n}\n" for n in range(1, 200001))
    long = "# " + "x" * 3_000_000 + "\necho end\n"
    assert shared_server.run(long, Phase.READ, 60).out == b"end\n"


def test_what_the_login_says_before_is_not_the_answer(shared: Host) -> None:
    """A shell that greets everybody."""
    greeting = shared.root / "etc/greeting"
    greeting.write_text('#!/bin/sh\necho hello\necho you >&2\nexec /bin/sh "$@"\n', encoding="utf-8")
    greeting.chmod(0o755)
    passwd = shared.root / "etc/passwd"
    text = passwd.read_text(encoding="utf-8")
    try:
        passwd.write_text(text.replace("free:x:4001:65534::/tmp:/bin/sh", "free:x:4001:65534::/tmp:/etc/greeting"))
        assert who(shared.server("free")) == "root"
        passwd.write_text(text.replace("free:x:4001:65534::/tmp:/bin/sh", "free:x:4001:65534::/tmp:/usr/sbin/nologin"))
        with pytest.raises(RequestRefusedError, match=f"{NO_ROOT}it exits at once"):
            who(shared.server("free"))
    finally:
        passwd.write_text(text)


@pytest.mark.parametrize(
    ("script", "phase", "timeout_s", "kind", "reason"),
    [
        ("sleep 300\n", Phase.VERIFY, 0.5, UnknownOutcomeError, "verify: no answer in time; its state is read again"),
        ("kill -9 $$\n", Phase.COMMIT, 30, UnknownOutcomeError, "commit: the session was lost"),
        ("exec cat /dev/zero\n", Phase.READ, 60, RequestRefusedError, "its answer is longer than 2048 KiB"),
        ("exec cat /dev/zero\n", Phase.COMMIT, 60, UnknownOutcomeError, "its answer is longer than 2048 KiB"),
    ],
)
def test_a_script_that_does_not_end_well(
    shared: Host, script: str, phase: Phase, timeout_s: float, kind: type[DeviceError], reason: str
) -> None:
    with closing(shared.connected()) as server:
        with pytest.raises(kind, match=reason):
            server.run(script, phase, timeout_s, 2 << 20)
        server.close()


def test_servers_share_memory(shared: Host, monkeypatch: pytest.MonkeyPatch) -> None:
    """A short answer always fits; a long one is refused where others have what it needs, and gives back what it had."""
    monkeypatch.setattr(resource_limits, "PATIENCE_S", 0.01)
    server = shared.server()
    server.share = Share(Shared(8 << 20))
    server.open()
    assert len(server.run("head -c 100000 /dev/zero\n", Phase.READ, 30, 2 << 20).out) == 100_000
    with pytest.raises(RequestRefusedError, match="use fewer at once"):
        server.run("head -c 1000000 /dev/zero\n", Phase.READ, 30, 2 << 20)
    assert server.share.shared.left == 8 << 20
    assert len(server.run("head -c 400000 /dev/zero\n", Phase.READ, 30, 2 << 20).out) == 400_000
    assert server.share.shared.left < 8 << 20
    server.close()
    assert server.share.shared.left == 8 << 20


def test_the_library_logs_no_password(shared: Host, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.DEBUG):
        assert who(shared.server("asked", PASSWORD, PASSWORD)) == "root"
    assert caplog.records
    assert PASSWORD not in caplog.text
