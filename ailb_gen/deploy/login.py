"""Connecting and logging in over SSH: the same for switches and servers, bounded in time and in what may come.

The host key of the very connection that is used is checked before a credential is sent. An error names its cause:
refused, silent, hung up, a key that cannot be used. No text of a library about a login gets into a message.
"""

import socket
from dataclasses import dataclass, field
from pathlib import Path
from threading import Event
from typing import Any

import paramiko
from paramiko.ssh_exception import (
    AuthenticationException,
    BadHostKeyException,
    SSHException,
)

from ailb_gen.deploy.bounded import STOPPED, TOO_MUCH, BoundedSocket, connect
from ailb_gen.deploy.credentials import Credentials
from ailb_gen.deploy.devices import Kind
from ailb_gen.deploy.key_files import KeyFileError, open_key
from ailb_gen.deploy.switch import DeviceError, Phase

# Interval of keepalives on a silent connection.
KEEPALIVE_S = 15
# Deadlines of the libraries, as multiples of the connection's: only that one knows why it is over.
AFTER = 2
COMPARE = "compare it on the console before you accept a new one"


@dataclass(frozen=True, slots=True)
class SshReach:
    """Connection settings of a device, times in seconds; `known_hosts` holds exactly the host keys that are accepted.

    `user`, `identity_files` and `proxy_command` are what an ssh_config says, and hold where the login says nothing.
    `connect_s` is for all until the login is over. When `stop` is set, every connection ends. Of NETCONF, `timeout_s`
    is an answer's, and `keepalive_s` is how often a silent session is asked.
    """

    name: str
    hostname: str
    port: int
    credentials: Credentials
    known_hosts: paramiko.HostKeys
    connect_s: float = 30
    user: str = ""
    identity_files: tuple[Path, ...] = ()
    proxy_command: str = ""
    kind: Kind = "server"
    stop: Event = field(default_factory=Event)
    timeout_s: int = 120
    keepalive_s: int = 30

    @property
    def address(self) -> str:
        """The address as people write it."""
        return f"[{self.hostname}]:{self.port}" if ":" in self.hostname else f"{self.hostname}:{self.port}"


def log_in(reach: SshReach) -> tuple[paramiko.SSHClient, BoundedSocket]:
    """Connect, check the host key, log in. Raises DeviceError.

    The deadline of the connection stays in force until the caller sets another one.
    """
    login = reach.credentials
    keys = _keys(reach)
    try:
        connection = connect(reach.hostname, reach.port, reach.proxy_command, reach.connect_s, reach.stop)
    except OSError as error:
        raise _failed(reach, error) from None
    connection.limit(reach.connect_s)
    client = paramiko.SSHClient()
    client.set_missing_host_key_policy(_Unknown())
    client.get_host_keys().update(reach.known_hosts)
    # The stubs accept only sockets and one name; paramiko accepts anything like a socket, and several names.
    channel: Any = connection
    named: Any = _named(reach)
    try:
        client.connect(
            reach.hostname,
            reach.port,
            login.user(reach.user),
            login.password.reveal() if login.password else None,
            pkey=keys[0] if keys else None,
            key_filename=named,
            sock=channel,
            passphrase=login.passphrase.reveal() if login.passphrase else None,
            allow_agent=login.agent,
            look_for_keys=login.agent,
            # All of it ends with the connection, whose deadline comes first.
            banner_timeout=AFTER * reach.connect_s,
            auth_timeout=AFTER * reach.connect_s,
            channel_timeout=AFTER * reach.connect_s,
        )
    except (SSHException, OSError, EOFError, ValueError) as error:
        transport = client.get_transport()
        stage = "during" if transport is not None and transport.initial_kex_done else "before"
        client.close()
        connection.close()
        raise _failed(reach, error, connection, stage) from None
    connection.trust()
    return client, connection


def _keys(reach: SshReach) -> list[paramiko.PKey]:
    """Open the key file of a login. Raises DeviceError."""
    login = reach.credentials
    if login.key_file is None:
        return []
    try:
        return [open_key(login.key_file, login.passphrase or login.password)]
    except KeyFileError as error:
        reason = f"the key file {login.key_file} {error.reason}"
        raise DeviceError(reach.name, Phase.CONNECT, reason, error.hint) from error


def _named(reach: SshReach) -> list[str]:
    """Return the keys that an ssh_config names and that are here."""
    login = reach.credentials
    if login.key_file is not None or not login.agent:
        return []
    return [str(file) for file in reach.identity_files if file.is_file()]


def _failed(reach: SshReach, error: Exception, connection: BoundedSocket | None = None, stage: str = "") -> DeviceError:
    reason, hint = _diagnosis(reach, error, connection.ended if connection is not None else "", stage)
    return DeviceError(reach.name, Phase.CONNECT, f"{reach.address}: {reason}", hint)


def _diagnosis(reach: SshReach, error: Exception, ended: str, stage: str) -> tuple[str, str]:
    """Return why there is no login, and what to do about it; `ended` is why the connection was ended from here."""
    if ended == TOO_MUCH:
        return ended, "something else than SSH answers there: is the port right?"
    if reach.stop.is_set():
        return STOPPED, ""
    if ended or isinstance(error, TimeoutError):
        return f"no answer in time{f': it hangs {stage} the login' if stage else ''}", LATE_HINTS[reach.kind]
    for kind, reason, hints in _REFUSALS:
        if isinstance(error, kind) and not any(text in str(error) for text in HUNG_UP):
            return reason, hints[reach.kind]
    if any(text in str(error) for text in HUNG_UP) or isinstance(error, EOFError | ConnectionResetError):
        return HUNG[reach.kind]
    cause = error.strerror if isinstance(error, OSError) and error.strerror else type(error).__name__
    return f"no connection ({cause})", "is it up?"


class _UnknownKeyError(SSHException):
    """A host whose key has not been accepted."""


class _Unknown(paramiko.MissingHostKeyPolicy):
    def missing_host_key(self, client: paramiko.SSHClient, hostname: str, key: paramiko.PKey) -> None:
        raise _UnknownKeyError


# How paramiko says that the other end hung up: before SSH, and during the login.
HUNG_UP = ("Error reading SSH protocol banner", "transport shut down or saw EOF")
LATE_HINTS: dict[Kind, str] = {
    "switch": "is the management network up, is the device busy?",
    "server": "is it up, and is the address right?",
}
HUNG: dict[Kind, tuple[str, str]] = {
    "switch": ("no NETCONF session", "the device closed the connection before it said hello"),
    "server": ("the connection was closed before the login was over", "is sshd running there, is it full?"),
}
# In this order: the first that fits; hints for switches and for servers.
_REFUSALS: tuple[tuple[type[Exception], str, dict[Kind, str]], ...] = (
    (BadHostKeyException, "its host key is not the known one", {"switch": COMPARE, "server": COMPARE}),
    (
        _UnknownKeyError,
        "its host key is not known",
        dict.fromkeys(("switch", "server"), "compare it on the console, then accept it"),
    ),
    (
        AuthenticationException,
        "the login is refused",
        {
            "switch": "check username, keys and password references in the inventory",
            "server": "check username, key and password",
        },
    ),
    (
        ConnectionRefusedError,
        "the connection is refused",
        {
            "switch": "is 'set system services netconf ssh' there, is the port right",
            "server": "is sshd running there?",
        },
    ),
    (
        socket.gaierror,
        "no connection: the name has no address",
        dict.fromkeys(("switch", "server"), "set hostname in hosts.yaml, or management in the fabric"),
    ),
)
