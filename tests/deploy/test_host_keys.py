"""Host keys against a real SSH server: nobody is told a password whose key is not the known one."""

import logging
import shlex
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import asyncssh
import pytest

from ailb_gen.deploy.credentials import Credentials, Secret
from ailb_gen.deploy.drivers import DRIVERS
from ailb_gen.deploy.host_keys import (
    HostKey,
    HostKeyError,
    HostKeys,
    SshEndpoint,
    host_key_error,
    paramiko_host_keys,
    presented,
)
from ailb_gen.deploy.inventory import Target, read_inventory
from ailb_gen.deploy.login import SshConfigError, SshReach, SshRoute
from ailb_gen.deploy.servers.ssh import ServerConnection
from ailb_gen.deploy.switch_driver import SwitchDriver
from ailb_gen.redact.text import redact
from tests.conftest import EXAMPLES
from tests.deploy.ssh_server import KINDS, Running, private_key, public, ssh_server

pytestmark = [
    pytest.mark.filterwarnings("ignore::RuntimeWarning:jnpr"),
    pytest.mark.filterwarnings("ignore::DeprecationWarning:napalm"),
]

PASSWORD = "hunter2-never-sent"
LOGIN = Credentials("admin", Secret(PASSWORD), None, None, None, agent=False)
FIRST = public(private_key("ssh-ed25519"))
ED448_KIND, ED448_TEXT = asyncssh.generate_private_key("ssh-ed448").export_public_key().decode().split()[:2]
ED448 = HostKey(ED448_KIND, ED448_TEXT)
SECOND = public(private_key("ssh-ed25519", 1))


@pytest.fixture(autouse=True)
def quiet_libraries(caplog: pytest.LogCaptureFixture) -> None:
    """Paramiko prints failures of its threads where nobody has set up logging."""
    for name in ("ncclient.transport.ssh", "paramiko"):
        caplog.set_level(logging.CRITICAL, name)


def target(port: int, known_hosts: Path, ssh_config: Path | None = None, kind: str = "switch") -> Target:
    found = read_inventory(EXAMPLES / "lab" / "fabric.yaml", EXAMPLES / "lab").targets["spine1"]
    role = "server" if kind == "server" else found.role
    files = replace(found, role=role, known_hosts=(known_hosts,), ssh_config=ssh_config)
    return replace(files, hostname="127.0.0.1", port=port)


def reach_of(endpoint: SshEndpoint, login: Credentials = LOGIN) -> SshReach:
    way, keys = endpoint.route, paramiko_host_keys(endpoint)
    return SshReach(
        endpoint.name, way.hostname, endpoint.port, login, keys, 10, way.user, way.identity_files, way.proxy_command,
        "switch",
    )  # fmt: skip


Way = Callable[[SshReach], SwitchDriver | ServerConnection]
WAYS: tuple[Way, ...] = (DRIVERS["napalm"], DRIVERS["pyez"], ServerConnection)


def attempt(way: Way, endpoint: SshEndpoint) -> BaseException | None:
    """Connect; the server offers no NETCONF, so that a login that goes through may fail afterwards."""
    connection = way(reach_of(endpoint))
    try:
        connection.open()
    except Exception as error:  # noqa: BLE001 - three ways, each with errors of its own
        return error
    connection.close()
    return None


def refused(way: Way, endpoint: SshEndpoint) -> str:
    """Connect in vain; return what is said of the host key."""
    error = attempt(way, endpoint)
    assert error is not None
    return str(host_key_error(endpoint, error))


def known_line(port: int, key: HostKey, marker: str = "") -> str:
    return f"{marker} [127.0.0.1]:{port} {key.kind} {key.text}\n".lstrip()


def listed(folder: Path, *lines: str) -> Path:
    path = folder / "known_hosts"
    path.write_text("".join(lines), encoding="utf-8")
    return path


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("kind", KINDS)
def test_a_known_key_lets_the_login_begin(way: Way, kind: str, tmp_path: Path) -> None:
    key, other = private_key(kind), private_key("ssh-ed25519" if kind == "ssh-rsa" else "ssh-rsa")
    with ssh_server([key, other]) as server:
        known = listed(tmp_path, known_line(server.port, public(key)))
        kind_of = "server" if way is ServerConnection else "switch"
        endpoint = HostKeys().endpoint(target(server.port, known, kind=kind_of))
        error = attempt(way, endpoint)
    assert ("admin", PASSWORD) in server.tried
    assert error is None or host_key_error(endpoint, error) is None


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("kind", KINDS)
def test_a_wrong_key_ends_it_before_the_login(way: Way, kind: str, tmp_path: Path) -> None:
    """The key is another one of the same type, or of a type that is not known."""
    with ssh_server([private_key(kind, 7)]) as server:
        endpoint = HostKeys().endpoint(target(server.port, listed(tmp_path, known_line(server.port, FIRST))))
        told = refused(way, endpoint)
    assert server.tried == []
    shown = public(private_key(kind, 7))
    assert told == (
        f"spine1: [127.0.0.1]:{server.port} does not have its known host key; it shows {kind} {shown.fingerprint}, "
        f"known is ssh-ed25519 {FIRST.fingerprint} ({tmp_path}/known_hosts:1); another machine may answer "
        f"at its address. If it is new, compare the key on its console, then run: "
        f"ssh-keygen -f {tmp_path}/known_hosts -R '[127.0.0.1]:{server.port}'"
    )
    # The verbs print it through the filter of secrets.
    assert redact(told) == told


@pytest.mark.parametrize("way", WAYS)
def test_a_revoked_key_ends_it_before_the_login(way: Way, tmp_path: Path) -> None:
    with ssh_server([private_key("ssh-ed25519")]) as server:
        lines = [known_line(server.port, key) for key in (FIRST, SECOND)]
        known = listed(tmp_path, *lines, known_line(server.port, FIRST, "@revoked"))
        endpoint = HostKeys().endpoint(target(server.port, known))
        told = refused(way, endpoint)
    assert server.tried == []
    assert f"shows the host key ssh-ed25519 {FIRST.fingerprint}, which {known}:3 revokes" in told


def test_an_unknown_host_is_not_even_asked(tmp_path: Path) -> None:
    known = listed(tmp_path, known_line(9, FIRST), "what is this\n")
    with pytest.raises(HostKeyError) as caught:
        HostKeys().endpoint(target(1, known))
    assert str(caught.value) == (
        f"spine1: no host key of [127.0.0.1]:1 is known in {known} (not understood: {known}:2); run with "
        f"--accept-new-hostkeys, or compare its key with the one on the console and run: "
        f"ssh-keyscan -p 1 127.0.0.1 >> {known}"
    )
    # What is said of hundreds names none of them.
    assert caught.value.shared == (
        f"no host key is known in {known} (not understood: {known}:2); run with --accept-new-hostkeys, or compare "
        f"their keys with those on the consoles and run: ssh-keyscan -p PORT -f ADDRESSES >> {known}"
    )


@pytest.mark.parametrize(
    ("key", "marker", "reason"),
    [
        (ED448, "", "are of types that cannot be checked here: ssh-ed448"),
        (FIRST, "@cert-authority", "only a @cert-authority is known"),
    ],
)
def test_what_cannot_be_checked_is_refused(key: HostKey, marker: str, reason: str, tmp_path: Path) -> None:
    known = listed(tmp_path, known_line(1, key, marker))
    for accept_new in (False, True):
        with pytest.raises(HostKeyError, match=reason):
            HostKeys(accept_new).endpoint(target(1, known))


def accept(server: Running, known: Path, kind: str = "switch") -> tuple[SshEndpoint, list[str]]:
    told: list[str] = []
    return HostKeys(accept_new=True, tell=told.append).endpoint(target(server.port, known, kind=kind)), told


@pytest.mark.parametrize("way", WAYS)
def test_a_new_key_is_accepted_once_and_held_to(way: Way, tmp_path: Path) -> None:
    known = tmp_path / "ssh" / "known_hosts"
    with ssh_server([private_key("ssh-rsa"), private_key("ssh-ed25519")]) as server:
        endpoint, told = accept(server, known)
        assert server.tried == []
        attempt(way, endpoint)
        assert ("admin", PASSWORD) in server.tried
        assert accept(server, known)[1] == []
    name = f"[127.0.0.1]:{server.port}"
    assert told == [f"spine1: the ssh-ed25519 host key {FIRST.fingerprint} of {name} was added: {known}:1"]
    assert known.read_text() == known_line(server.port, FIRST)
    assert known.stat().st_mode & 0o777 == 0o600
    with ssh_server([private_key("ssh-ed25519", 1)], port=server.port) as other:
        again, told = accept(other, known)
        assert "another machine may answer at its address" in refused(way, again)
    assert told == []
    assert other.tried == []
    assert known.read_text() == known_line(server.port, FIRST)


def test_a_revoked_key_is_not_accepted_as_new(tmp_path: Path) -> None:
    with ssh_server([private_key("ssh-ed25519")]) as server:
        known = listed(tmp_path, known_line(server.port, FIRST, "@revoked"))
        with pytest.raises(HostKeyError, match=r"known_hosts:1 revokes"):
            accept(server, known)
    assert server.tried == []


def test_a_device_with_an_rsa_key_alone_is_accepted(tmp_path: Path) -> None:
    known = tmp_path / "known_hosts"
    with ssh_server([private_key("ssh-rsa")]) as server:
        assert accept(server, known)[0].keys[0].same(public(private_key("ssh-rsa")))


def test_a_host_that_does_not_answer_is_told_as_such(tmp_path: Path) -> None:
    with ssh_server([private_key("ssh-ed25519")]) as server:
        pass
    with pytest.raises(HostKeyError, match=r"cannot be fetched: Connection refused; is the device up") as raised:
        accept(server, tmp_path / "known_hosts")
    # For many devices without their addresses: they share a line.
    assert raised.value.shared.startswith("the host key cannot be fetched: Connection refused; is the device up, ")


def test_an_error_of_the_login_is_not_about_the_key(tmp_path: Path) -> None:
    endpoint = HostKeys().endpoint(target(1, listed(tmp_path, known_line(1, FIRST))))
    assert host_key_error(endpoint, OSError("connection refused")) is None


@pytest.mark.parametrize("way", WAYS)
def test_the_users_ssh_config_leads_through_a_proxy(way: Way, tmp_path: Path) -> None:
    """The name of the inventory is an alias, its Port is not taken, the proxy's %h and %p are those that are meant."""
    relay = tmp_path / "relay.py"
    relay.write_text(RELAY, encoding="utf-8")
    config = tmp_path / "config"
    with ssh_server([private_key("ssh-ed25519")]) as server:
        command = f"{sys.executable} {shlex.quote(str(relay))} %h %p"
        config.write_text(f"Host gate\n HostName 127.0.0.1\n Port 1\n ProxyCommand {command}\n", encoding="utf-8")
        known = listed(tmp_path, known_line(server.port, FIRST))
        endpoint = HostKeys().endpoint(replace(target(server.port, known, config), hostname="gate"))
        attempt(way, endpoint)
        assert presented(endpoint).same(FIRST)
    assert ("admin", PASSWORD) in server.tried
    assert (tmp_path / "relayed").read_text() == f"127.0.0.1 {server.port}\n"


RELAY = """
import os, pathlib, select, socket, sys
(pathlib.Path(__file__).parent / "relayed").write_text(" ".join(sys.argv[1:]) + "\\n")
peer = socket.create_connection((sys.argv[1], int(sys.argv[2])))
while True:
    for one in select.select([0, peer], [], [])[0]:
        data = os.read(0, 65536) if one == 0 else peer.recv(65536)
        if not data:
            sys.exit()
        peer.sendall(data) if one == 0 else os.write(1, data)
"""


def way_of(tmp_path: Path, text: str, hostname: str = "spine1") -> SshRoute:
    config = tmp_path / "config"
    config.write_text(text, encoding="utf-8")
    known = tmp_path / "known_hosts"
    known.write_text(f"* {FIRST.kind} {FIRST.text}\n", encoding="utf-8")
    return HostKeys().endpoint(replace(target(830, known, config), hostname=hostname)).route


def test_jump_hosts_become_a_command(tmp_path: Path) -> None:
    words = f"ssh -o BatchMode=yes -F {tmp_path}/config"
    assert way_of(tmp_path, "ProxyJump me@gate:2222\n").proxy_command == (
        f"{words} -W '[spine1]:830' -- ssh://me@gate:2222"
    )
    assert way_of(tmp_path, "ProxyJump a, b,c\n").proxy_command == f"{words} -J a,b -W '[spine1]:830' -- ssh://c"
    for text in ("ProxyJump none\n", "ProxyCommand none\nProxyJump gate\n", "Host other\nProxyJump gate\n"):
        assert way_of(tmp_path, text).proxy_command == ""


def test_users_and_identities_of_the_ssh_config_are_taken(tmp_path: Path) -> None:
    text = "Host spine*\nUser ops\nIdentityFile ~/one\nIdentityFile /two\n"
    assert way_of(tmp_path, text) == SshRoute("spine1", "ops", (Path("~/one").expanduser(), Path("/two")))


def test_blocks_and_included_files_count(tmp_path: Path) -> None:
    (tmp_path / "more").write_text("Host spine*\nUser ops\nProxyCommand relay %h %p %%\n", encoding="utf-8")
    text = f"Include {tmp_path}/mo*\nMatch originalhost spine1\nHostName 192.0.2.1\nServerAliveInterval 1m\n"
    assert way_of(tmp_path, text) == SshRoute("192.0.2.1", "ops", (), "relay 192.0.2.1 830 %")
    assert way_of(tmp_path, text, "spine2") == SshRoute("spine2", "ops", (), "relay spine2 830 %")
    assert way_of(tmp_path, "Match final host spine1\nUser ops\n").user == "ops"


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("IdentityFile %k\n", "Invalid token expansion: k"),
        ("CanonicalizeHostname yes\nCanonicalDomains invalid\nCanonicalizeFallbackLocal no\n", "in none of the"),
        ("Match nothing\n", "cannot be used"),
        ("Host '\n", "cannot be used"),
    ],
)
def test_an_ssh_config_that_cannot_be_used_is_refused(text: str, reason: str, tmp_path: Path) -> None:
    with pytest.raises(SshConfigError, match=reason):
        way_of(tmp_path, text)


def test_an_ssh_config_that_cannot_be_read_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SshConfigError, match="cannot be read: Is a directory"):
        HostKeys().endpoint(target(830, tmp_path / "known_hosts", tmp_path))
