"""Connecting and logging in over SSH: the same for switches and servers, bounded in time and in what may come.

The host key of the connection that is used is checked before a credential is sent. An error names its cause: refused,
silent, hung up, a key that cannot be used. No text of a library about a login gets into a message.

PyEZ and ncclient each read the user's ssh_config in a way of their own, so it is read here, once, by asyncssh. Used:
HostName, User, IdentityFile, ProxyCommand (split into words, not run by a shell), ProxyJump, in Host and Match blocks
and included files. Not used: Port, UserKnownHostsFile, StrictHostKeyChecking and HostKeyAlias, because the inventory
says these.
"""

import getpass
import shlex
import socket
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from threading import Event
from typing import Any

import paramiko
from asyncssh.config import SSHClientConfig
from paramiko.ssh_exception import (
    AuthenticationException,
    BadHostKeyException,
    SSHException,
)

from ailb_gen.deploy.credentials import Credentials, KeyFileError, open_key
from ailb_gen.deploy.resource_limits import STOPPED, TOO_MUCH, BoundedSocket, connect
from ailb_gen.deploy.switch_driver import DeviceError, Phase
from ailb_gen.design.devices import Kind
from ailb_gen.errors import DeployError

# What of an ssh_config says how a device is reached.
KEYWORDS = (
    *("host", "match", "include", "tag", "port", "hostname", "user", "identityfile", "proxycommand", "proxyjump"),
    *("canonicalizehostname", "canonicaldomains", "canonicalizemaxdots", "canonicalizefallbacklocal"),
)


class SshConfigError(DeployError):
    """The user's ssh_config cannot be used."""


@dataclass(frozen=True, slots=True)
class SshRoute:
    """Connection data of a host: its real name or address, and the values from ssh_config; empty if it has none."""

    hostname: str
    user: str = ""
    identity_files: tuple[Path, ...] = ()
    proxy_command: str = ""


class _UserConfig(SSHClientConfig):
    """The keywords that say how a device is reached; any other may have any value.

    `%` is expanded when all files have been read: an included one may come before the HostName.
    """

    _handlers = {key: SSHClientConfig._handlers[key] for key in KEYWORDS}  # noqa: RUF012 - asyncssh's own
    _percent_expand = set()  # noqa: RUF012
    _no_split = {*SSHClientConfig._no_split, "proxyjump"}  # noqa: RUF012

    def expanded(self, option: str) -> str:
        return self._expand_val(str(self.get(option) or ""))

    @property
    def identity_files(self) -> tuple[Path, ...]:
        names: Any = self.get("IdentityFile", ())
        return tuple(Path(self._expand_val(name)).expanduser() for name in names)

    @property
    def proxy_kind(self) -> str:
        """The one of ProxyCommand and ProxyJump that counts: the first."""
        return next((key for key in self.get_options(False) if key in ("ProxyCommand", "ProxyJump")), "")

    def canonical(self, hostname: str) -> str:
        """Return the first name in CanonicalDomains that has an address; empty for none. Raises ValueError."""
        domains: Any = self.get("CanonicalDomains", ())
        dots: Any = self.get("CanonicalizeMaxDots", 1)
        if not self.get("CanonicalizeHostname") or hostname.count(".") > dots:
            return ""
        for domain in domains:
            with suppress(OSError):
                socket.getaddrinfo(f"{hostname}.{domain}", None)
                return f"{hostname}.{domain}"
        if self.get("CanonicalizeFallbackLocal") is False:
            raise ValueError(f"{hostname} is in none of the CanonicalDomains")
        return ""


def route(path: Path | None, hostname: str, port: int) -> SshRoute:
    """Look up a host as written in the inventory; without a file it is reached as it is. Raises SshConfigError."""
    if path is None or not (path.exists() or path.is_symlink()):
        return SshRoute(hostname)
    # The first value wins, so that %p in a ProxyCommand is the port that is meant. To asyncssh `()` is no value.
    words: Any = (getpass.getuser(), (), hostname, port)
    try:
        config: Any = _UserConfig.load(None, path, False, False, False, *words)
        canonical = config.canonical(hostname)
        if canonical or config.has_match_final():
            words = (*words[:2], canonical or hostname, port)
            config = _UserConfig.load(None, path, False, bool(canonical), config.has_match_final(), *words)
        name = str(config.get("Hostname") or canonical or hostname)
        return SshRoute(name, str(config.get("User") or ""), config.identity_files, _proxy(config, path, name, port))
    except (ValueError, OSError) as error:
        if isinstance(error, OSError | UnicodeDecodeError):
            reason = f"cannot be read: {getattr(error, 'strerror', None) or 'not UTF-8 text'}"
        else:
            reason = f"cannot be used for {hostname}: {error}"
        hint = "correct it, or name another file under data.ssh_config; 'none' uses no file"
        raise SshConfigError(f"{path}: {reason}; {hint}") from error


def _proxy(config: _UserConfig, path: Path, hostname: str, port: int) -> str:
    """Return the command that stands for the connection; of ProxyCommand and ProxyJump the first counts."""
    kind = config.proxy_kind
    value = config.expanded(kind)
    if not value or kind == "ProxyCommand":
        return value.removeprefix("=").strip()
    *before, last = (hop.strip() for hop in value.split(","))
    words = ["ssh", "-o", "BatchMode=yes"]
    if path != Path("~/.ssh/config").expanduser():
        words += ["-F", str(path)]
    if before:
        words += ["-J", ",".join(before)]
    hop = last if last.startswith("ssh://") else f"ssh://{last}"
    return shlex.join([*words, "-W", f"[{hostname}]:{port}", "--", hop])


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
    is an answer's, and `keepalive_s` is the interval of keepalives on a silent session.
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
        raise _failed(reach, error, connection.ended, stage) from None
    connection.trust()
    return client, connection


def _keys(reach: SshReach) -> list[paramiko.PKey]:
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


def _failed(reach: SshReach, error: Exception, ended: str = "", stage: str = "") -> DeviceError:
    reason, hint = _diagnosis(reach, error, ended, stage)
    shared = f"{reason}; {hint}" if hint else reason
    return DeviceError(reach.name, Phase.CONNECT, f"{reach.address}: {reason}", hint, shared)


def _diagnosis(reach: SshReach, error: Exception, ended: str, stage: str) -> tuple[str, str]:
    """Return why there is no login, and what to do about it; `ended` is why the connection was ended from here."""
    if ended == TOO_MUCH:
        return ended, "another service than SSH answers: is the port right?"
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
    "switch": ("no NETCONF session", "the device closed the connection before its hello"),
    "server": ("the connection was closed during the login", "is sshd running, does it have free sessions?"),
}
LOGIN_REFUSED = "the login is refused"
# In this order: the first that fits; hints for switches and for servers.
_REFUSALS: tuple[tuple[type[Exception], str, dict[Kind, str]], ...] = (
    (BadHostKeyException, "its host key has changed", {"switch": COMPARE, "server": COMPARE}),
    (
        _UnknownKeyError,
        "its host key is not known",
        dict.fromkeys(("switch", "server"), "compare it on the console, then accept it"),
    ),
    (
        AuthenticationException,
        LOGIN_REFUSED,
        {
            "switch": "check the inventory's username, keys and password",
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
