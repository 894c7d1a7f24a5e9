"""An SSH server on loopback that lets nobody do anything, and remembers who tried to log in."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache, partial
from io import StringIO

import asyncssh
import paramiko

from ailb_gen.deploy.host_keys import HostKey
from tests.deploy.hostile import Host, serving, ssh


def _ed25519() -> paramiko.PKey:
    text = asyncssh.generate_private_key("ssh-ed25519").export_private_key().decode()
    return paramiko.Ed25519Key.from_private_key(StringIO(text))


MADE: dict[str, Callable[[], paramiko.PKey]] = {
    "ssh-ed25519": _ed25519,
    **{f"ecdsa-sha2-nistp{bits}": partial(paramiko.ECDSAKey.generate, bits=bits) for bits in (256, 384, 521)},
    "ssh-rsa": partial(paramiko.RSAKey.generate, 2048),
}
KINDS = tuple(MADE)


@cache
def private_key(kind: str, number: int = 0) -> paramiko.PKey:
    """A key of a type; the same number gives the same key."""
    assert number >= 0
    return MADE[kind]()


def public(key: paramiko.PKey) -> HostKey:
    """The public half, as a line of known_hosts has it."""
    return HostKey(key.get_name(), key.get_base64())


@dataclass
class Running:
    """A server that runs: its port and every attempt to log in, as (user, password)."""

    port: int = 0
    tried: list[tuple[str, str]] = field(default_factory=list)


@contextmanager
def ssh_server(keys: Sequence[paramiko.PKey], port: int = 0) -> Iterator[Running]:
    """Run a server with these host keys until the block ends."""
    running = Running()

    class Nothing(Host):
        def check_auth_none(self, username: str) -> int:
            running.tried.append((username, ""))
            return int(paramiko.common.AUTH_FAILED)

        def check_auth_password(self, username: str, password: str) -> int:
            running.tried.append((username, password))
            return int(paramiko.common.AUTH_SUCCESSFUL)

        def check_channel_request(self, kind: str, chanid: int) -> int:
            return int(paramiko.common.OPEN_FAILED_ADMINISTRATIVELY_PROHIBITED)

    with serving(ssh(keys=keys, host=Nothing), port) as running.port:
        yield running
