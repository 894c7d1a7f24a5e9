"""Host keys: every connection verifies its peer before a credential is sent.

Which keys a device may show is decided here, from the user's known_hosts files and ssh_config; the login (`login.py`)
gets only those keys, and compares the key of the same connection that it then uses.
"""

import errno
import logging
import shlex
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from threading import Event, Lock
from typing import Any

import paramiko
from paramiko.ssh_exception import SSHException

from ailb_gen.deploy.bounded import connect
from ailb_gen.deploy.devices import Kind
from ailb_gen.deploy.inventory import Target
from ailb_gen.deploy.known_hosts import SSH_PORT, HostKey, HostKeyError, Known, KnownHosts, add
from ailb_gen.deploy.ssh_config import SshRoute, read_ssh_config, route
from ailb_gen.redact.known import causes

ED25519_AND_ECDSA = ("ssh-ed25519", "ecdsa-sha2-nistp256", "ecdsa-sha2-nistp384", "ecdsa-sha2-nistp521")
# Types of keys that can be checked, the preferred first.
USABLE = (*ED25519_AND_ECDSA, "ssh-rsa")
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
    """The address of a device, and its known host keys; `keys` are those that can be checked."""

    name: str
    kind: Kind
    port: int
    route: SshRoute
    known: Known
    keys: tuple[HostKey, ...]
    connect_timeout_s: float
    stop: Event = field(default_factory=Event)


class HostKeys:
    """The known hosts of one run; `accept_new` adds the keys of unknown hosts and reports it.

    May be used from several threads.
    """

    def __init__(self, accept_new: bool = False, tell: Callable[[str], None] = log.warning) -> None:
        self.accept_new, self.tell = accept_new, tell
        # When it is set, every connection ends.
        self.stop = Event()
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
        keys = sorted((key for key in known.keys if key.kind in USABLE), key=lambda key: USABLE.index(key.kind))
        timeout = float(target.options.connect_timeout_s)
        found = Endpoint(target.name, target.kind, target.port, way, known, tuple(keys), timeout, self.stop)
        if found.keys:
            return found
        if known.keys or known.authorities:
            raise HostKeyError(_unusable(found))
        if not self.accept_new:
            raise HostKeyError(*_unknown(found))
        key = presented(found)
        if known.is_revoked(key):
            raise HostKeyError(_revoked(found, key))
        if key.kind not in USABLE:
            raise HostKeyError(_unusable(replace(found, known=replace(known, keys=(key,)))))
        added = add(target.known_hosts[0], way.hostname, target.port, key)
        with self._lock:
            files.learn(way.hostname, target.port, added)
        self.tell(
            f"{target.name}: the {added.kind} host key {added.fingerprint} of {known.name} was added: {added.where}"
        )
        return replace(found, known=replace(known, keys=(added,)), keys=(added,))


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


@contextmanager
def _transport(endpoint: Endpoint) -> Iterator[paramiko.Transport]:
    """Exchange SSH messages with a host, within the timeout of the endpoint, with any input."""
    way = endpoint.route
    connection = connect(way.hostname, endpoint.port, way.proxy_command, endpoint.connect_timeout_s, endpoint.stop)
    connection.limit(endpoint.connect_timeout_s)
    # The stubs accept only sockets; paramiko accepts anything that behaves like one.
    channel: Any = connection
    transport = paramiko.Transport(channel)
    transport.set_log_channel(log.name)
    transport.banner_timeout = endpoint.connect_timeout_s
    try:
        yield transport
    except (SSHException, EOFError) as error:
        # Its thread has hidden why it ended.
        if connection.ended:
            raise OSError(errno.ECONNABORTED, connection.ended) from error
        raise
    finally:
        transport.close()
        connection.close()


def presented(endpoint: Endpoint) -> HostKey:
    """Fetch the key that a host shows now, without logging in. Raises HostKeyError when none comes."""
    try:
        with _transport(endpoint) as transport:
            transport.get_security_options().key_types = ALGORITHMS
            transport.start_client(timeout=endpoint.connect_timeout_s)
            key = transport.get_remote_server_key()
            return HostKey(key.get_name(), key.get_base64())
    except (OSError, EOFError, paramiko.SSHException) as error:
        reason = getattr(error, "strerror", None) or str(error)[:200] or "the connection was closed"
        raise HostKeyError(
            f"{endpoint.name}: the host key of {endpoint.known.name} cannot be fetched: {reason}"
        ) from error


def host_key_error(endpoint: Endpoint, error: BaseException) -> HostKeyError | None:
    """Return the error to show when a library refused a host key, None when its error is about something else.

    Asks the host once more which key it shows, because the libraries keep it to themselves: PyEZ calls a wrong key a
    refused connection, and a host that has no key of a known type may just hang up.
    """
    chain = list(causes(error))
    certain = any(type(one).__name__ in KEY_ERRORS or any(text in str(one) for text in NO_COMMON_KEY) for one in chain)
    if not certain and not any(type(one).__name__ in LOST for one in chain):
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


def _unknown(endpoint: Endpoint) -> tuple[str, str]:
    """Return what to say of a host without a known key, and what of many."""
    known, port = endpoint.known, endpoint.port
    unread = f" (not understood: {', '.join(known.unread[:3])})" if known.unread else ""
    where = f"is known in {', '.join(known.files)}{unread}; run with --accept-new-hostkeys, or"
    file = shlex.quote(known.files[0])
    scan = f"ssh-keyscan -p {port} {endpoint.route.hostname} >> {file}"
    scan_all = f"ssh-keyscan -p PORT -f ADDRESSES >> {file}"
    return (
        f"{endpoint.name}: no host key of {known.name} {where} compare its key with the one on the console and run: "
        f"{scan}",
        f"no host key {where} compare their keys with those on the consoles and run: {scan_all}",
    )


def _unusable(endpoint: Endpoint) -> str:
    known = endpoint.known
    if known.keys:
        kinds = ", ".join(f"{key.kind}{f' ({key.where})' if key.line else ''}" for key in known.keys)
        reason = f"of {known.name} only host keys are known that cannot be checked here: {kinds}"
    else:
        reason = f"for {known.name} only a @cert-authority is known ({known.authorities[0].where})"
    return f"{endpoint.name}: {reason}; add the key of one of the types {', '.join(USABLE)}"


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
    hint = f"another machine may answer in its place. If it is new, compare the key on its console, then run: {remove}"
    return f"{endpoint.name}: {known.name} does not have its known host key{shown}, known is {kept}; {hint}"
