"""Host keys: every connection verifies its peer before a credential is sent.

Which keys a host may show is decided here, from the user's ssh_config and known_hosts files, which asyncssh reads
(sshd(8), SSH_KNOWN_HOSTS FILE FORMAT). The login (`login.py`) gets only those keys, and compares the key of the
connection that it then uses. Certificates of hosts are not supported: neither ncclient nor PyEZ can check them.
"""

import errno
import fcntl
import logging
import os
import re
import shlex
import stat
from base64 import b64decode, b64encode
from collections.abc import Callable, Iterable
from contextlib import closing
from dataclasses import dataclass, field, replace
from hashlib import sha256
from pathlib import Path
from threading import Event, Lock
from typing import Any, cast

import paramiko
from asyncssh import KeyImportError, SSHKey, import_public_key
from asyncssh.known_hosts import SSHKnownHosts
from paramiko.ssh_exception import SSHException

from ailb_gen.deploy.inventory import Target
from ailb_gen.deploy.login import SshRoute, route
from ailb_gen.deploy.resource_limits import connect
from ailb_gen.errors import DeployError
from ailb_gen.redact.known import causes

SSH_PORT = 22
MAX_BYTES = 64 * 1024 * 1024
WORDS = re.compile(r"[^ \t\r]+")
REVOKED, AUTHORITY = "@revoked", "@cert-authority"
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


class HostKeyError(DeployError):
    """A host key that is not known, not the known one, revoked, or that cannot be looked up; nothing was sent to it.

    `shared` is the same text for many hosts, where one text fits all.
    """

    def __init__(self, text: str, shared: str = "") -> None:
        self.shared = shared
        super().__init__(text)


@dataclass(frozen=True, slots=True)
class HostKey:
    """A public key: its type as RFC 4253 names it, the key as in base64, and where it was read (line 0: nowhere)."""

    kind: str
    text: str
    file: str = ""
    line: int = 0

    @property
    def fingerprint(self) -> str:
        """The fingerprint as OpenSSH prints it."""
        return f"SHA256:{b64encode(sha256(b64decode(self.text)).digest()).decode().rstrip('=')}"

    @property
    def where(self) -> str:
        """File and line."""
        return f"{self.file}:{self.line}"

    def same(self, other: "HostKey") -> bool:
        """Return whether both are the same key, wherever they were read."""
        return (self.kind, self.text) == (other.kind, other.text)


@dataclass(frozen=True, slots=True)
class Known:
    """The entries for one host and port; `unread` are lines that cannot be parsed."""

    host: str
    port: int
    files: tuple[str, ...]
    keys: tuple[HostKey, ...] = ()
    revoked: tuple[HostKey, ...] = ()
    authorities: tuple[HostKey, ...] = ()
    unread: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """The name that the host has in a file."""
        return host_name(self.host, self.port)

    def is_revoked(self, key: HostKey) -> bool:
        """Return whether a key must not be used any more."""
        return any(key.same(one) for one in self.revoked)


def host_name(host: str, port: int) -> str:
    """Return the name of a host and port in a known_hosts file: `host`, or `[host]:port` for other ports than 22."""
    return host.lower() if port == SSH_PORT else f"[{host.lower()}]:{port}"


class KnownHosts:
    """The lines of known_hosts files in order, matched by asyncssh; a file that does not exist has none."""

    def __init__(self, files: tuple[Path, ...]) -> None:
        """Read the files. Raises HostKeyError for one that cannot be read, and for an unknown marker."""
        self.files = tuple(map(str, files))
        self.unread: list[str] = []
        self._hosts = SSHKnownHosts()
        # asyncssh hands the comment of a key through: here it is the number of the place where the key was read.
        self._places: list[tuple[str, int]] = []
        for path in files:
            for number, text in enumerate(_text(path).split("\n"), 1):
                # OpenSSH separates at these only (hostfile.c); a byte of another blank belongs to a word.
                words = WORDS.findall(text)
                if words and not words[0].startswith("#"):
                    self._read(words, str(path), number)

    def _read(self, words: list[str], file: str, number: int) -> None:
        """Read a line that is no comment; note it if it cannot be understood."""
        marker = words.pop(0) if words[0].startswith("@") else ""
        if marker not in ("", REVOKED, AUTHORITY):
            raise HostKeyError(f"{file}:{number}: the marker {marker!r} is not known; it may forbid a key; correct it")
        try:
            self._load(marker, words[:3], (file, number))
        except (KeyImportError, ValueError) as error:
            if marker == REVOKED:
                reason = "this line revokes a key, but which one cannot be read; correct it"
                raise HostKeyError(f"{file}:{number}: {reason}") from error
            self.unread.append(f"{file}:{number}")

    def _load(self, marker: str, words: list[str], place: tuple[str, int]) -> None:
        """Hand a line to asyncssh, which passes over keys that it cannot read. Raises KeyImportError, ValueError."""
        names, kind, text = words
        # To asyncssh an empty name would be any host, and one with a slash a network.
        hashed = names.startswith("|")
        if not "".join(words).isprintable() or not (hashed or ("/" not in names and all(names.split(",")))):
            raise ValueError(names)
        import_public_key(f"{kind} {text}")
        names = names if hashed else names.lower()
        self._hosts.load(f"{marker} {names} {kind} {text} {len(self._places)}")
        self._places.append(place)

    def lookup(self, host: str, port: int) -> Known:
        """Return the known keys of a host.

        As OpenSSH does, keys of the bare name count for another port when the name with the port has none; what is
        revoked counts under either.
        """
        own, bare = (self._hosts.match(name, "", None) for name in (host_name(host, port), host.lower()))
        revoked = self._keys((*own[2], *bare[2]))
        keys = self._keys(own[0]) or self._keys(bare[0])
        return Known(
            host=host,
            port=port,
            files=self.files,
            keys=tuple(key for key in keys if not any(key.same(one) for one in revoked)),
            revoked=revoked,
            authorities=self._keys((*own[1], *bare[1])),
            unread=tuple(self.unread),
        )

    def learn(self, host: str, port: int, key: HostKey) -> None:
        """Add a key that was added to a file since."""
        self._load("", [host_name(host, port), key.kind, key.text], (key.file, key.line))

    def _keys(self, keys: Iterable[SSHKey]) -> tuple[HostKey, ...]:
        """Return keys with their places, each once."""
        found: dict[bytes, HostKey] = {}
        for key in keys:
            file, line = self._places[int(key.get_comment() or 0)]
            kind, text = key.algorithm.decode(), b64encode(key.public_data).decode()
            found.setdefault(key.public_data, HostKey(kind, text, file, line))
        return tuple(found.values())


def _text(path: Path) -> str:
    try:
        status = path.stat()
        if not stat.S_ISREG(status.st_mode) or status.st_size > MAX_BYTES:
            raise HostKeyError(f"{path}: not a known_hosts file: no regular file, or larger than {MAX_BYTES >> 20} MiB")
        # What counts is ASCII; a comment may be in any encoding.
        return path.read_text(encoding="latin-1")
    except FileNotFoundError:
        return ""
    except OSError as error:
        raise HostKeyError(f"{path}: the known host keys cannot be read: {error.strerror}") from error


def add(path: Path, host: str, port: int, key: HostKey) -> HostKey:
    """Append the key of a host that no line of the file knows yet; returns it with its place.

    Others that add at the same time wait; a reader sees all of the line or none. Raises HostKeyError when the file
    cannot be written, or has got another key of the host meanwhile.
    """
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        # Not replaced but appended to: OpenSSH does the same, and the file may be a link.
        descriptor = os.open(path, os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX)
            known = KnownHosts((path,)).lookup(host, port)
            for one in known.keys:
                if one.same(key):
                    return one
            if known.keys or known.is_revoked(key):
                raise HostKeyError(f"{path}: another key of {known.name} was added or revoked meanwhile; start again")
            text = _text(path)
            line = f"{known.name} {key.kind} {key.text}\n"
            before = "" if text.endswith("\n") or not text else "\n"
            os.write(descriptor, f"{before}{line}".encode())
            os.fsync(descriptor)
            return HostKey(key.kind, key.text, str(path), f"{text}{before}".count("\n") + 1)
        finally:
            os.close(descriptor)
    except OSError as error:
        raise HostKeyError(f"{path}: a host key cannot be added: {error.strerror}") from error


@dataclass(frozen=True, slots=True)
class SshEndpoint:
    """The address of a device, and its known host keys; `keys` are those that can be checked."""

    name: str
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

    def endpoint(self, target: Target) -> SshEndpoint:
        """Return how a device is reached.

        Nothing is sent to it, unless it is unknown and new keys are accepted: then its key is fetched and added, and
        the connection that follows is held to it. Raises HostKeyError, SshConfigError.
        """
        with self._lock:
            if target.known_hosts not in self._known:
                self._known[target.known_hosts] = KnownHosts(target.known_hosts)
            files = self._known[target.known_hosts]
        way = route(target.ssh_config, target.hostname, target.port)
        with self._lock:
            known = files.lookup(way.hostname, target.port)
        keys = sorted((key for key in known.keys if key.kind in USABLE), key=lambda key: USABLE.index(key.kind))
        timeout = float(target.options.connect_timeout_s)
        found = SshEndpoint(target.name, target.port, way, known, tuple(keys), timeout, self.stop)
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


def paramiko_host_keys(endpoint: SshEndpoint) -> paramiko.HostKeys:
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


def presented(endpoint: SshEndpoint) -> HostKey:
    """Fetch the key that a host shows now, without logging in. Raises HostKeyError when none comes."""
    way, seconds = endpoint.route, endpoint.connect_timeout_s
    try:
        with closing(connect(way.hostname, endpoint.port, way.proxy_command, seconds, endpoint.stop)) as connection:
            connection.limit(seconds)
            # The stubs accept only sockets; paramiko accepts anything that behaves like one.
            with closing(paramiko.Transport(cast("Any", connection))) as transport:
                transport.set_log_channel(log.name)
                transport.banner_timeout = seconds
                transport.get_security_options().key_types = ALGORITHMS
                try:
                    transport.start_client(timeout=seconds)
                except (SSHException, EOFError) as error:
                    # Its thread has hidden why it ended.
                    if connection.ended:
                        raise OSError(errno.ECONNABORTED, connection.ended) from error
                    raise
                key = transport.get_remote_server_key()
                return HostKey(key.get_name(), key.get_base64())
    except (OSError, EOFError, SSHException) as error:
        reason = getattr(error, "strerror", None) or str(error)[:200] or "the connection was closed"
        failure, hint = (
            f"cannot be fetched: {reason}",
            "is the device up, are its address and port in the inventory right",
        )
        text = f"{endpoint.name}: the host key of {endpoint.known.name} {failure}; {hint}"
        raise HostKeyError(text, f"the host key {failure}; {hint}") from error


def host_key_error(endpoint: SshEndpoint, error: BaseException) -> HostKeyError | None:
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


def _unknown(endpoint: SshEndpoint) -> tuple[str, str]:
    """Return the message about a host without a known key, and that about many."""
    known = endpoint.known
    unread = f" (not understood: {', '.join(known.unread[:3])})" if known.unread else ""
    where = f"is known in {', '.join(known.files)}{unread}; run with --accept-new-hostkeys, or"
    file = shlex.quote(known.files[0])
    scan = f"ssh-keyscan -p {endpoint.port} {endpoint.route.hostname} >> {file}"
    own = f"no host key of {known.name} {where} compare its key with the one on the console and run: {scan}"
    scan = f"ssh-keyscan -p PORT -f ADDRESSES >> {file}"
    many = f"no host key {where} compare their keys with those on the consoles and run: {scan}"
    return f"{endpoint.name}: {own}", many


def _unusable(endpoint: SshEndpoint) -> str:
    if (known := endpoint.known).keys:
        kinds = ", ".join(f"{key.kind}{f' ({key.where})' if key.line else ''}" for key in known.keys)
        reason = f"the known host keys of {known.name} are of types that cannot be checked here: {kinds}"
    else:
        reason = f"for {known.name} only a @cert-authority is known ({known.authorities[0].where})"
    return f"{endpoint.name}: {reason}; add the key of one of the types {', '.join(USABLE)}"


def _revoked(endpoint: SshEndpoint, key: HostKey) -> str:
    where = next(one.where for one in endpoint.known.revoked if one.same(key))
    text = f"{endpoint.name}: {endpoint.known.name} shows the host key {key.kind} {key.fingerprint}"
    return f"{text}, which {where} revokes; give the device a new key, because the old one may be compromised"


def _changed(endpoint: SshEndpoint, key: HostKey | None) -> str:
    known = endpoint.known
    # No colon after the word: what follows "key:" is taken for a secret, and replaced.
    shown = f"; it shows {key.kind} {key.fingerprint}" if key else ""
    kept = ", ".join(f"{one.kind} {one.fingerprint} ({one.where})" for one in endpoint.keys)
    files = dict.fromkeys(one.file for one in endpoint.keys)
    remove = " and ".join(shlex.join(["ssh-keygen", "-f", file, "-R", known.name]) for file in files)
    text = f"{endpoint.name}: {known.name} does not have its known host key{shown}, known is {kept}; "
    hint = "another machine may answer at its address. If it is new, compare the key on its console, then run"
    return f"{text}{hint}: {remove}"
