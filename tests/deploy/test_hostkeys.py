"""Host keys against a real SSH server: nobody is told a password whose key is not the known one."""

import asyncio
import logging
import shlex
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import asyncssh
import paramiko
import pytest
from jnpr.junos.device import Device
from napalm.junos.junos import JunOSDriver
from ncclient import manager

from ailb_gen.deploy.credentials import CredentialError, Credentials, Login, Secret
from ailb_gen.deploy.hostkeys import (
    Endpoint,
    HostKeys,
    host_key_error,
    known_hosts_text,
    ncclient_arguments,
    paramiko_host_keys,
    presented,
    ssh_files,
    verify_host_key,
)
from ailb_gen.deploy.inventory import Options, Target
from ailb_gen.deploy.known_hosts import HostKey, HostKeyError
from ailb_gen.deploy.ssh_config import Route, SshConfigError
from tests.deploy.ssh_server import KINDS, Running, private_key, public, ssh_server

pytestmark = [
    pytest.mark.filterwarnings("ignore::RuntimeWarning:jnpr"),
    pytest.mark.filterwarnings("ignore::DeprecationWarning:napalm"),
]

PASSWORD = "hunter2-never-sent"
LOGIN = Credentials("admin", Secret(PASSWORD), None, None, None, agent=False)
FIRST = public(private_key("ssh-ed25519"))
SECOND = public(private_key("ssh-ed25519", 1))


@pytest.fixture(autouse=True)
def quiet_libraries() -> Iterator[None]:
    """Paramiko prints failures of its threads where nobody has set up logging."""
    logger = logging.getLogger("ncclient.transport.ssh")
    handler = logging.NullHandler()
    for one in (logger, logging.getLogger("paramiko")):
        one.addHandler(handler)
    yield
    for one in (logger, logging.getLogger("paramiko")):
        one.removeHandler(handler)


@pytest.fixture
def reaped(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """End the proxies that ncclient leaves behind."""
    started: list[subprocess.Popen[bytes]] = []

    class Recorded(subprocess.Popen[bytes]):
        def __init__(self, *args: Any, **options: Any) -> None:
            super().__init__(*args, **options)
            started.append(self)

    monkeypatch.setattr(subprocess, "Popen", Recorded)
    yield
    # Paramiko's threads end with the server, and signal their process once more.
    for thread in threading.enumerate():
        if isinstance(thread, paramiko.Transport):
            thread.join(30)
    for process in started:
        with process:
            process.terminate()


def target(port: int, known_hosts: Path, ssh_config: Path | None = None, kind: str = "switch") -> Target:
    return Target(
        name="spine1",
        role="server" if kind == "server" else "spine",
        kind="server" if kind == "server" else "switch",
        stripe=0,
        rail=None,
        colors=(),
        groups=(),
        hostname="127.0.0.1",
        port=port,
        platform="junos",
        login=Login(),
        options=Options(30, 10, 30),
        known_hosts=(known_hosts,),
        ssh_config=ssh_config,
        managed=True,
        own=(),
        keep=(),
        labels={},
    )


def napalm(endpoint: Endpoint, folder: Path) -> None:
    config = ssh_files(endpoint, folder, LOGIN)
    arguments = {"port": endpoint.port, "ssh_config_file": str(config)}
    driver = JunOSDriver(endpoint.alias, "admin", PASSWORD, optional_args=arguments)
    device: Any = driver.device
    verify_host_key(device, LOGIN)
    driver.open()


def pyez(endpoint: Endpoint, folder: Path) -> None:
    config = ssh_files(endpoint, folder, LOGIN)
    device = Device(host=endpoint.alias, port=endpoint.port, user="admin", passwd=PASSWORD, ssh_config=str(config))
    verify_host_key(device, LOGIN)
    device.open()


def ncclient(endpoint: Endpoint, folder: Path) -> None:
    arguments = ncclient_arguments(endpoint, ssh_files(endpoint, folder, LOGIN))
    manager.connect(**arguments, username="admin", password=PASSWORD, allow_agent=False, look_for_keys=False)


def with_paramiko(endpoint: Endpoint, folder: Path) -> None:
    assert folder.is_dir()
    with paramiko.SSHClient() as client:
        client.set_missing_host_key_policy(paramiko.RejectPolicy())
        client.get_host_keys().update(paramiko_host_keys(endpoint))
        client.connect(
            endpoint.route.hostname, endpoint.port, "admin", PASSWORD, allow_agent=False, look_for_keys=False
        )


def with_asyncssh(endpoint: Endpoint, folder: Path) -> None:
    assert folder.is_dir()

    async def connect() -> None:
        known = asyncssh.import_known_hosts(known_hosts_text(endpoint))
        async with asyncssh.connect(
            endpoint.route.hostname, endpoint.port, username="admin", password=PASSWORD, known_hosts=known, config=[]
        ):
            pass

    asyncio.run(connect())


SWITCH_WAYS = (napalm, pyez, ncclient)
WAYS = (*SWITCH_WAYS, with_paramiko, with_asyncssh)


def attempt(way: Callable[[Endpoint, Path], None], endpoint: Endpoint, folder: Path) -> BaseException | None:
    """Connect; the server offers no NETCONF, so that a login that goes through may fail afterwards."""
    try:
        way(endpoint, folder)
    except Exception as error:  # noqa: BLE001 - five libraries, each with errors of its own
        return error
    return None


def known_line(port: int, key: HostKey, marker: str = "") -> str:
    return f"{marker} [127.0.0.1]:{port} {key.kind} {key.text}\n".lstrip()


def listed(folder: Path, *lines: str) -> Path:
    path = folder / "known_hosts"
    path.write_text("".join(lines), encoding="utf-8")
    return path


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("kind", KINDS[:4])
def test_a_known_key_lets_the_login_begin(way: Callable[[Endpoint, Path], None], kind: str, tmp_path: Path) -> None:
    key = private_key(kind)
    with ssh_server([key, private_key("ssh-rsa")]) as server:
        endpoint = HostKeys().endpoint(target(server.port, listed(tmp_path, known_line(server.port, public(key)))))
        error = attempt(way, endpoint, tmp_path)
    assert ("admin", PASSWORD) in server.tried
    assert error is None or host_key_error(endpoint, error) is None


@pytest.mark.parametrize("way", [with_paramiko, with_asyncssh])
def test_an_rsa_key_is_good_for_servers(way: Callable[[Endpoint, Path], None], tmp_path: Path) -> None:
    key = private_key("ssh-rsa")
    with ssh_server([key, private_key("ssh-ed25519")]) as server:
        known = listed(tmp_path, known_line(server.port, public(key)))
        endpoint = HostKeys().endpoint(target(server.port, known, kind="server"))
        assert attempt(way, endpoint, tmp_path) is None
    assert ("admin", PASSWORD) in server.tried


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("kind", KINDS)
def test_a_wrong_key_ends_it_before_the_login(way: Callable[[Endpoint, Path], None], kind: str, tmp_path: Path) -> None:
    """The key is another one of the same type, or of a type that is not known."""
    with ssh_server([private_key(kind, 7)]) as server:
        endpoint = HostKeys().endpoint(target(server.port, listed(tmp_path, known_line(server.port, FIRST))))
        error = attempt(way, endpoint, tmp_path)
        assert error is not None
        told = host_key_error(endpoint, error)
    assert server.tried == []
    shown = public(private_key(kind, 7))
    assert str(told) == (
        f"spine1: [127.0.0.1]:{server.port} does not have its known host key: it shows {kind} {shown.fingerprint}, "
        f"known is ssh-ed25519 {FIRST.fingerprint} ({tmp_path}/known_hosts:1); somebody may be in between. If it is a "
        f"new device, compare the key on its console, then run: "
        f"ssh-keygen -f {tmp_path}/known_hosts -R '[127.0.0.1]:{server.port}'"
    )


@pytest.mark.parametrize("way", WAYS)
def test_a_revoked_key_ends_it_before_the_login(way: Callable[[Endpoint, Path], None], tmp_path: Path) -> None:
    with ssh_server([private_key("ssh-ed25519")]) as server:
        lines = [known_line(server.port, key) for key in (FIRST, SECOND)]
        known = listed(tmp_path, *lines, known_line(server.port, FIRST, "@revoked"))
        endpoint = HostKeys().endpoint(target(server.port, known))
        error = attempt(way, endpoint, tmp_path)
        assert error is not None
        told = host_key_error(endpoint, error)
    assert server.tried == []
    assert f"shows the host key ssh-ed25519 {FIRST.fingerprint}, which {known}:3 revokes" in str(told)


def test_an_unknown_host_is_not_even_asked(tmp_path: Path) -> None:
    known = listed(tmp_path, known_line(9, FIRST), "what is this\n")
    with pytest.raises(HostKeyError) as caught:
        HostKeys().endpoint(target(1, known))
    assert str(caught.value) == (
        f"spine1: no host key of [127.0.0.1]:1 is known in {known} (not understood: {known}:2); run with "
        f"--accept-new-hostkeys, or compare its key with the one on the console and run: "
        f"ssh-keyscan -p 1 127.0.0.1 >> {known}"
    )


@pytest.mark.parametrize(
    ("key", "marker", "reason"),
    [
        (public(private_key("ssh-rsa")), "", "only host keys are known that cannot be checked here: ssh-rsa"),
        (FIRST, "@cert-authority", "only a @cert-authority is known"),
    ],
)
def test_what_cannot_be_checked_is_refused(key: HostKey, marker: str, reason: str, tmp_path: Path) -> None:
    known = listed(tmp_path, known_line(1, key, marker))
    for accept_new in (False, True):
        with pytest.raises(HostKeyError, match=reason):
            HostKeys(accept_new).endpoint(target(1, known))


def accept(server: Running, known: Path, kind: str = "switch") -> tuple[Endpoint, list[str]]:
    told: list[str] = []
    return HostKeys(accept_new=True, tell=told.append).endpoint(target(server.port, known, kind=kind)), told


@pytest.mark.parametrize("way", WAYS)
def test_a_new_key_is_accepted_once_and_held_to(way: Callable[[Endpoint, Path], None], tmp_path: Path) -> None:
    known = tmp_path / "ssh" / "known_hosts"
    with ssh_server([private_key("ssh-rsa"), private_key("ssh-ed25519")]) as server:
        endpoint, told = accept(server, known)
        assert server.tried == []
        attempt(way, endpoint, tmp_path)
        assert ("admin", PASSWORD) in server.tried
        assert accept(server, known)[1] == []
    name = f"[127.0.0.1]:{server.port}"
    assert told == [f"spine1: the ssh-ed25519 host key {FIRST.fingerprint} of {name} was added: {known}:1"]
    assert known.read_text() == known_line(server.port, FIRST)
    assert known.stat().st_mode & 0o777 == 0o600
    with ssh_server([private_key("ssh-ed25519", 1)], port=server.port) as other:
        again, told = accept(other, known)
        error = attempt(way, again, tmp_path)
        assert error is not None
        assert "somebody may be in between" in str(host_key_error(again, error))
    assert told == []
    assert other.tried == []
    assert known.read_text() == known_line(server.port, FIRST)


def test_a_revoked_key_is_not_accepted_as_new(tmp_path: Path) -> None:
    with ssh_server([private_key("ssh-ed25519")]) as server:
        known = listed(tmp_path, known_line(server.port, FIRST, "@revoked"))
        with pytest.raises(HostKeyError, match=r"known_hosts:1 revokes"):
            accept(server, known)
    assert server.tried == []


def test_a_switch_with_an_rsa_key_alone_is_not_accepted(tmp_path: Path) -> None:
    known = tmp_path / "known_hosts"
    with ssh_server([private_key("ssh-rsa")]) as server:
        with pytest.raises(HostKeyError, match="cannot be checked here: ssh-rsa"):
            accept(server, known)
        assert accept(server, known, "server")[0].keys[0].same(public(private_key("ssh-rsa")))


def test_a_host_that_does_not_answer_is_told_as_such(tmp_path: Path) -> None:
    with ssh_server([private_key("ssh-ed25519")]) as server:
        pass
    with pytest.raises(HostKeyError, match=r"cannot be fetched: Connection refused"):
        accept(server, tmp_path / "known_hosts")


def test_an_error_of_the_login_is_not_about_the_key(tmp_path: Path) -> None:
    endpoint = HostKeys().endpoint(target(1, listed(tmp_path, known_line(1, FIRST))))
    assert host_key_error(endpoint, OSError("connection refused")) is None


def test_a_passphrase_is_refused_because_it_could_be_sent() -> None:
    device = Device(host="spine1")
    with pytest.raises(CredentialError, match="could be sent to them"):
        verify_host_key(device, replace(LOGIN, passphrase=Secret("x")))


@pytest.mark.parametrize("way", SWITCH_WAYS)
@pytest.mark.usefixtures("reaped")
def test_the_users_ssh_config_leads_through_a_proxy(way: Callable[[Endpoint, Path], None], tmp_path: Path) -> None:
    """The name of the inventory is an alias, its Port is not taken, the proxy's %h and %p are those that are meant."""
    relay = tmp_path / "relay.py"
    relay.write_text(RELAY, encoding="utf-8")
    config = tmp_path / "config"
    with ssh_server([private_key("ssh-ed25519")]) as server:
        command = f"{sys.executable} {shlex.quote(str(relay))} %h %p"
        config.write_text(f"Host gate\n HostName 127.0.0.1\n Port 1\n ProxyCommand {command}\n", encoding="utf-8")
        known = listed(tmp_path, known_line(server.port, FIRST))
        endpoint = HostKeys().endpoint(replace(target(server.port, known, config), hostname="gate"))
        attempt(way, endpoint, tmp_path)
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


def test_an_ipv6_address_gets_an_alias_that_pyez_takes(tmp_path: Path) -> None:
    known = tmp_path / "known_hosts"
    known.write_text(f"[::1]:830 {FIRST.kind} {FIRST.text}\n", encoding="utf-8")
    endpoint = HostKeys().endpoint(replace(target(830, known), hostname="::1"))
    assert endpoint.alias == "ipv6-0000-0000-0000-0000-0000-0000-0000-0001"
    assert "HostName ::1\n" in ssh_files(endpoint, tmp_path, LOGIN).read_text()


def way_of(tmp_path: Path, text: str, hostname: str = "spine1") -> Route:
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
    assert way_of(tmp_path, text) == Route("spine1", "ops", (Path("~/one").expanduser(), Path("/two")))
    endpoint = HostKeys().endpoint(
        replace(target(830, tmp_path / "known_hosts", tmp_path / "config"), hostname="spine1")
    )
    keys = replace(LOGIN, username=None, agent=True)
    assert "User ops\nIdentityFile " in ssh_files(endpoint, tmp_path, keys).read_text()
    for login in (LOGIN, replace(keys, key_file=Path("/three"))):
        assert "IdentityFile" not in ssh_files(endpoint, tmp_path, login).read_text()


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("Include other\n", "'Include' is not supported"),
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
