"""SSH to the servers of a lab: OpenSSH's own sshd, one process per connection, behind a port of the machine.

A socket stays in the network namespace that it was made in. Connections are accepted on sockets that were opened before
the lab was isolated, and are handed to an sshd that runs in the server.
"""

from __future__ import annotations

import selectors
import socket
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from threading import Event, Thread

import asyncssh

from ailb_gen.errors import LabError, OutputError
from ailb_gen.lab.namespaces import located, spawn
from ailb_gen.lab.servers.boot import command, other_users
from ailb_gen.lab.servers.files import SSH
from ailb_gen.programs import program
from ailb_gen.shipped import template

USER = "root"
# Where a server finds it: see templates/lab/mounts.sh.
INSIDE = Path("/run/ailb-ssh")
# How often processes that have ended are looked for. Seconds.
REAP_S = 1.0


@dataclass(frozen=True, slots=True)
class Keys:
    """The key that logs in to all servers of a lab, and their common host key, public part, as OpenSSH writes it."""

    client: Path
    host: str


def why_not() -> str:
    """Return why servers cannot be reached over SSH, empty if they can."""
    if program("sshd") is None:
        return "sshd is not installed (openssh-server)"
    # It changes to users that a namespace without root does not have.
    return "" if other_users() else "sshd needs root"


def make_keys(client: Path) -> Keys:
    """Make a host key and a client key, and keep them where the servers that boot find them.

    `client` is the file of the private key, which only its owner may read. Raises OutputError.
    """
    SSH.mkdir(parents=True, exist_ok=True, mode=0o700)
    host, own = (asyncssh.generate_private_key("ssh-ed25519") for _ in range(2))
    _secret(SSH / "host_key", host.export_private_key("openssh"))
    (SSH / "authorized_keys").write_bytes(own.export_public_key("openssh"))
    (SSH / "config").write_text(template("lab", "sshd_config.j2").render(inside=INSIDE), encoding="ascii")
    try:
        client.parent.mkdir(parents=True, exist_ok=True)
        _secret(client, own.export_private_key("openssh"))
    except OSError as error:
        raise OutputError(f"{client}: cannot be written: {error.strerror}") from error
    return Keys(client, host.export_public_key("openssh").decode().strip())


def _secret(path: Path, data: bytes) -> None:
    """Write a file that was never readable for others."""
    path.unlink(missing_ok=True)
    path.touch(0o600, exist_ok=False)
    path.write_bytes(data)


def entries(keys: Keys, address: str, ports: Mapping[str, int]) -> dict[str, object]:
    """Return the servers' entries of an inventory's `hosts.yaml`."""
    login = {"username": USER, "key_file": str(keys.client), "agent": False}
    return {name: {"hostname": address, "port": port, **login} for name, port in ports.items()}


def known_hosts(keys: Keys, address: str, ports: Mapping[str, int]) -> str:
    """Return the servers' lines of `known_hosts`."""
    return "".join(f"[{address}]:{port} {keys.host}\n" for port in ports.values())


@contextmanager
def accepted(listening: Mapping[str, socket.socket]) -> Iterator[None]:
    """Accept connections to servers, in a thread of its own; `listening` are sockets by server."""
    running: list[subprocess.Popen[bytes]] = []
    stop = Event()
    thread = Thread(target=_accept, args=(listening, running, stop), name="ssh", daemon=True)
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join()
        for process in running:
            process.kill()
            process.wait()


def _accept(listening: Mapping[str, socket.socket], running: list[subprocess.Popen[bytes]], stop: Event) -> None:
    with selectors.DefaultSelector() as selector:
        for name, one in listening.items():
            one.setblocking(False)
            selector.register(one, selectors.EVENT_READ, name)
        while not stop.is_set():
            for key, _ in selector.select(REAP_S):
                # A connection is closed if no sshd can run.
                with suppress(OSError, LabError):
                    running.append(_sshd(key.data, listening[key.data]))
            running[:] = [process for process in running if process.poll() is None]


def _sshd(name: str, listening: socket.socket) -> subprocess.Popen[bytes]:
    connection, _ = listening.accept()
    with connection:
        connection.setblocking(True)
        words = command(name, (located("sshd"), "-i", "-f", f"{INSIDE}/config"))
        return spawn(name, words, stdin=connection, stdout=connection)
