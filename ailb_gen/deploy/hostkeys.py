"""Host keys: every connection proves whom it is with before a credential is sent.

What the libraries do by themselves: NAPALM's `junos` has no way to ask for it, and PyEZ does not check unless
`hostkey_verify` is set. Both connect through ncclient, which then reads the file that `UserKnownHostsFile` of the
ssh_config names, compares the key of the very connection that it goes on with, and only then authenticates. So each
device gets an ssh_config and a known_hosts file of its own, made for one run (`ssh_files`), and the PyEZ device, also
the one inside NAPALM's driver, is told to check (`verify_host_key`). What ncclient does not know, `@revoked`, patterns
and several files, is decided before: only keys that are good stand in that file.

RSA host keys cannot be used for switches: with one in the file, ncclient asks for the algorithm `ssh-rsa`, that is
SHA-1, which paramiko has given up.
"""

from __future__ import annotations

import logging
import shlex
import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from ipaddress import ip_address
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any

import paramiko

from ailb_gen.deploy.credentials import CredentialError, Credentials
from ailb_gen.deploy.devices import Kind
from ailb_gen.deploy.inventory import Target
from ailb_gen.deploy.known_hosts import SSH_PORT, HostKey, HostKeyError, Known, KnownHosts, add
from ailb_gen.deploy.ssh_config import Route, read_ssh_config, route

if TYPE_CHECKING:
    from jnpr.junos.device import Device

ED25519_AND_ECDSA = ("ssh-ed25519", "ecdsa-sha2-nistp256", "ecdsa-sha2-nistp384", "ecdsa-sha2-nistp521")
# Types of keys that can be checked, the preferred first.
USABLE: dict[Kind, tuple[str, ...]] = {"switch": ED25519_AND_ECDSA, "server": (*ED25519_AND_ECDSA, "ssh-rsa")}
# The same as algorithms: an RSA key signs with SHA-2 (RFC 8332).
ALGORITHMS = (*ED25519_AND_ECDSA, "rsa-sha2-512", "rsa-sha2-256")
# How ncclient, paramiko and asyncssh say that a host key is not the one they know.
KEY_ERRORS = frozenset({"SSHUnknownHostError", "BadHostKeyException", "HostKeyNotVerifiable"})
NO_COMMON_KEY = ("no acceptable host key", "Unable to find compatible server host key")
# How they say that the host hung up.
LOST = frozenset({"ConnectionLost", "EOFError", "ConnectionResetError", "BrokenPipeError", "SSHError"})

log = logging.getLogger(__name__)
log.addHandler(logging.NullHandler())


@dataclass(frozen=True, slots=True)
class Endpoint:
    """Where a device is reached, and the keys that it may show; `keys` are those that can be checked."""

    name: str
    kind: Kind
    port: int
    route: Route
    known: Known
    keys: tuple[HostKey, ...]
    connect_timeout_s: float

    @property
    def alias(self) -> str:
        """What PyEZ is given as host: it takes no IPv6 address, and gets the real one from the ssh_config."""
        host = self.route.hostname
        return f"ipv6-{ip_address(host).exploded.replace(':', '-')}" if ":" in host else host


class HostKeys:
    """The known hosts of one run; `accept_new` adds the keys of hosts that nobody knows and tells so.

    May be used from several threads.
    """

    def __init__(self, accept_new: bool = False, tell: Callable[[str], None] = log.warning) -> None:
        self.accept_new, self.tell = accept_new, tell
        self._lock = Lock()
        self._known: dict[tuple[Path, ...], KnownHosts] = {}
        self._configs: dict[Path | None, str] = {}

    def endpoint(self, target: Target) -> Endpoint:
        """Return how a device is reached.

        Nothing is sent to it, unless it is unknown and new keys are accepted: then its key is fetched and added, and
        the connection that follows is held to it. Raises HostKeyError, SshConfigError.
        """
        with self._lock:
            if target.ssh_config not in self._configs:
                self._configs[target.ssh_config] = read_ssh_config(target.ssh_config)
            if target.known_hosts not in self._known:
                self._known[target.known_hosts] = KnownHosts(target.known_hosts)
            text, files = self._configs[target.ssh_config], self._known[target.known_hosts]
        way = route(text, target.ssh_config, target.hostname, target.port)
        with self._lock:
            known = files.lookup(way.hostname, target.port)
        found = _endpoint(target, way, known)
        if found.keys:
            return found
        if known.keys or known.authorities:
            raise HostKeyError(_unusable(found))
        if not self.accept_new:
            raise HostKeyError(_unknown(found))
        key = presented(found)
        if known.is_revoked(key):
            raise HostKeyError(_revoked(found, key))
        if key.kind not in USABLE[target.kind]:
            raise HostKeyError(_unusable(replace(found, known=replace(known, keys=(key,)))))
        added = add(target.known_hosts[0], way.hostname, target.port, key)
        with self._lock:
            files.learn(way.hostname, target.port, added)
        self.tell(
            f"{target.name}: the {added.kind} host key {added.fingerprint} of {known.name} was added: {added.where}"
        )
        return replace(found, known=replace(known, keys=(added,)), keys=(added,))


def _endpoint(target: Target, way: Route, known: Known) -> Endpoint:
    usable = USABLE[target.kind]
    keys = sorted((key for key in known.keys if key.kind in usable), key=lambda key: usable.index(key.kind))
    timeout = float(target.options.connect_timeout_s)
    return Endpoint(target.name, target.kind, target.port, way, known, tuple(keys), timeout)


def known_hosts_text(endpoint: Endpoint) -> str:
    """Return a known_hosts file with the good keys of one host: for ncclient, or for asyncssh's import_known_hosts."""
    host = endpoint.route.hostname
    names = host if endpoint.port == SSH_PORT else f"[{host}]:{endpoint.port},{host}"
    return "".join(f"{names} {key.kind} {key.text}\n" for key in endpoint.keys)


def paramiko_host_keys(endpoint: Endpoint) -> paramiko.HostKeys:
    """Return the good keys of one host for paramiko's SSHClient, which is to have RejectPolicy."""
    host = endpoint.route.hostname
    name = host if endpoint.port == SSH_PORT else f"[{host}]:{endpoint.port}"
    result = paramiko.HostKeys()
    for key in endpoint.keys:
        entry = paramiko.hostkeys.HostKeyEntry.from_line(f"{name} {key.kind} {key.text}")
        if entry is None or entry.key is None:
            raise HostKeyError(f"{endpoint.name}: {key.where}: paramiko cannot read this key; correct the line")
        result.add(name, key.kind, entry.key)
    return result


def ssh_files(endpoint: Endpoint, directory: Path, credentials: Credentials) -> Path:
    """Write the ssh_config and known_hosts of one device into a folder of this run; returns the ssh_config.

    The folder should be readable for its owner alone. The ssh_config holds no secret.
    """
    known = directory / f"{endpoint.name}.known_hosts"
    known.write_text(known_hosts_text(endpoint), encoding="utf-8")
    way = endpoint.route
    lines = ["Host *", f"HostName {way.hostname}", f"UserKnownHostsFile {known.resolve()}"]
    lines += [f"User {credentials.user(way.user)}"]
    if credentials.agent and credentials.key_file is None:
        lines += [f"IdentityFile {path}" for path in way.identity_files]
    if way.proxy_command:
        lines.append(f"ProxyCommand {way.proxy_command}")
    config = directory / f"{endpoint.name}.ssh_config"
    config.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return config


def verify_host_key(device: Device, credentials: Credentials) -> None:
    """Make a PyEZ device, before it is opened, check the host key and offer no more keys than the login says.

    The device must have been made with `ssh_config` from `ssh_files`. Raises CredentialError for a passphrase: ncclient
    has one argument for it and for the password, and would send it to a device that refuses the key.
    """
    if credentials.passphrase is not None:
        hint = "add the key to the SSH agent with ssh-add and set agent: true"
        raise CredentialError(f"a passphrase cannot be used for switches: it could be sent to them; {hint}")
    device._hostkey_verify = True
    device._allow_agent = device._look_for_keys = credentials.agent


def ncclient_arguments(endpoint: Endpoint, config: Path) -> dict[str, object]:
    """Return what `ncclient.manager.connect` needs besides the login to check the host key; `config` of `ssh_files`."""
    return {
        "host": endpoint.alias,
        "port": endpoint.port,
        "ssh_config": str(config),
        "hostkey_verify": True,
        "timeout": endpoint.connect_timeout_s,
    }


@contextmanager
def _channel(endpoint: Endpoint) -> Iterator[Any]:
    """Open what SSH runs over: a connection, or the command that stands for it."""
    way = endpoint.route
    if not way.proxy_command:
        with socket.create_connection((way.hostname, endpoint.port), endpoint.connect_timeout_s) as connection:
            yield connection
        return
    proxy = paramiko.ProxyCommand(way.proxy_command)
    try:
        yield proxy
    finally:
        # Paramiko leaves the process and its pipes to others.
        with proxy.process:
            proxy.process.terminate()


@contextmanager
def _transport(channel: Any) -> Iterator[paramiko.Transport]:
    """Speak SSH over a channel; its thread has ended when the block has."""
    transport = paramiko.Transport(channel)
    transport.set_log_channel(log.name)
    try:
        yield transport
    finally:
        transport.close()
        while transport.is_alive():
            transport.join(1)


def presented(endpoint: Endpoint) -> HostKey:
    """Fetch the key that a host shows now, without logging in. Raises HostKeyError when none comes."""
    try:
        with _channel(endpoint) as channel, _transport(channel) as transport:
            transport.get_security_options().key_types = ALGORITHMS
            transport.start_client(timeout=endpoint.connect_timeout_s)
            key = transport.get_remote_server_key()
            return HostKey(key.get_name(), key.get_base64())
    except (OSError, EOFError, paramiko.SSHException) as error:
        reason = getattr(error, "strerror", None) or str(error) or "the connection was closed"
        raise HostKeyError(
            f"{endpoint.name}: the host key of {endpoint.known.name} cannot be fetched: {reason}"
        ) from error


def host_key_error(endpoint: Endpoint, error: BaseException) -> HostKeyError | None:
    """Return the error to show when a library refused a host key, None when its error is about something else.

    Asks the host once more which key it shows, because the libraries keep it to themselves: PyEZ calls a wrong key a
    refused connection, and a host that has no key of a known type may just hang up.
    """
    causes = list(_causes(error))
    certain = any(type(one).__name__ in KEY_ERRORS or any(text in str(one) for text in NO_COMMON_KEY) for one in causes)
    if not certain and not any(type(one).__name__ in LOST for one in causes):
        return None
    try:
        key = presented(endpoint)
    except HostKeyError as failure:
        return HostKeyError(f"{_changed(endpoint, None)} ({failure})") if certain else None
    if endpoint.known.is_revoked(key):
        return HostKeyError(_revoked(endpoint, key))
    if certain or key.kind not in {one.kind for one in endpoint.keys}:
        # By now it may show the right one: then the wrong one is not known.
        right = any((key.kind, key.text) == (one.kind, one.text) for one in endpoint.keys)
        return HostKeyError(_changed(endpoint, None if right else key))
    return None


def _causes(error: BaseException) -> Iterator[BaseException]:
    """Iterate over an error and all that led to it."""
    waiting: list[BaseException | None] = [error]
    seen: set[int] = set()
    while waiting:
        one = waiting.pop()
        if one is None or id(one) in seen:
            continue
        seen.add(id(one))
        yield one
        # PyEZ keeps the first error under a name of its own.
        waiting += [one.__cause__, one.__context__, getattr(one, "_orig", None)]


def _unknown(endpoint: Endpoint) -> str:
    known = endpoint.known
    unread = f" (not understood: {', '.join(known.unread[:3])})" if known.unread else ""
    scan = f"ssh-keyscan -p {endpoint.port} {endpoint.route.hostname} >> {shlex.quote(known.files[0])}"
    hint = f"run with --accept-new-hostkeys, or compare its key with the one on the console and run: {scan}"
    return f"{endpoint.name}: no host key of {known.name} is known in {', '.join(known.files)}{unread}; {hint}"


def _unusable(endpoint: Endpoint) -> str:
    known = endpoint.known
    if known.keys:
        kinds = ", ".join(f"{key.kind}{f' ({key.where})' if key.line else ''}" for key in known.keys)
        reason = f"of {known.name} only host keys are known that cannot be checked here: {kinds}"
    else:
        reason = f"for {known.name} only a @cert-authority is known ({known.authorities[0].where})"
    return f"{endpoint.name}: {reason}; add the key of one of the types {', '.join(USABLE[endpoint.kind])}"


def _revoked(endpoint: Endpoint, key: HostKey) -> str:
    where = next(one.where for one in endpoint.known.revoked if one.same(key))
    shown = f"{key.kind} {key.fingerprint}"
    hint = "give the device a new key, and look at who has the old one"
    return f"{endpoint.name}: {endpoint.known.name} shows the host key {shown}, which {where} revokes; {hint}"


def _changed(endpoint: Endpoint, key: HostKey | None) -> str:
    known = endpoint.known
    shown = f": it shows {key.kind} {key.fingerprint}" if key else ""
    kept = ", ".join(f"{one.kind} {one.fingerprint} ({one.where})" for one in endpoint.keys)
    files = dict.fromkeys(one.file for one in endpoint.keys)
    remove = " and ".join(shlex.join(["ssh-keygen", "-f", file, "-R", known.name]) for file in files)
    hint = f"somebody may be in between. If it is a new device, compare the key on its console, then run: {remove}"
    return f"{endpoint.name}: {known.name} does not have its known host key{shown}, known is {kept}; {hint}"
