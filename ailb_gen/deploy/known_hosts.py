"""OpenSSH's known_hosts: which keys a host may show, read exactly, and new ones added.

sshd(8), SSH_KNOWN_HOSTS FILE FORMAT: names separated by commas, `[host]:port` for other ports than 22, `*`, `?` and
`!`, hashed names `|1|salt|hash`, the markers `@revoked` and `@cert-authority`. Certificates of hosts are not supported,
because neither ncclient nor PyEZ can check them.
"""

import binascii
import fcntl
import hmac
import os
import re
import stat
from base64 import b64decode, b64encode
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from fnmatch import translate
from hashlib import sha256
from pathlib import Path

from ailb_gen.errors import DeployError

SSH_PORT = 22
MAX_BYTES = 64 * 1024 * 1024
WORDS = re.compile(r"[^ \t\r]+")
REVOKED, AUTHORITY = "@revoked", "@cert-authority"


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


@dataclass(frozen=True, slots=True)
class _Line:
    """A line: its marker, the names as written, and the key."""

    marker: str
    names: str
    key: HostKey


class KnownHosts:
    """The lines of known_hosts files in order; a file that is not there has none.

    Plain names are looked up directly; only hashed names and patterns are tried one by one.
    """

    def __init__(self, files: tuple[Path, ...]) -> None:
        """Read the files. Raises HostKeyError for one that cannot be read, and for an unknown marker."""
        self.files = tuple(map(str, files))
        self.unread: list[str] = []
        self.plain: dict[str, list[_Line]] = defaultdict(list)
        self.others: list[tuple[_Line, re.Pattern[str] | None]] = []
        for path in files:
            for line in _lines(path, self.unread):
                names = line.names.lower().split(",")
                if line.names.startswith("|"):
                    self.others.append((line, None))
                elif any(sign in line.names for sign in "*?!"):
                    self.others.append((line, _pattern(names)))
                else:
                    for name in dict.fromkeys(names):
                        self.plain[name].append(line)

    def lookup(self, host: str, port: int) -> Known:
        """Return what is known of a host.

        As OpenSSH does, keys of the bare name count for another port when the name with the port has none; what is
        revoked counts under either.
        """
        own = list(self._matching(host_name(host, port)))
        bare = list(self._matching(host.lower())) if port != SSH_PORT else []
        revoked = _unique(line.key for line in own + bare if line.marker == REVOKED)
        keys = _unique(line.key for line in own if not line.marker) or _unique(
            line.key for line in bare if not line.marker
        )
        return Known(
            host=host,
            port=port,
            files=self.files,
            keys=tuple(key for key in keys if not any(key.same(one) for one in revoked)),
            revoked=revoked,
            authorities=_unique(line.key for line in own + bare if line.marker == AUTHORITY),
            unread=tuple(self.unread),
        )

    def learn(self, host: str, port: int, key: HostKey) -> None:
        """Take in a key that was added to a file since."""
        self.plain[host_name(host, port)].append(_Line("", host_name(host, port), key))

    def _matching(self, name: str) -> Iterator[_Line]:
        yield from self.plain.get(name, ())
        for line, pattern in self.others:
            if pattern.fullmatch(name) if pattern else _is_hash_of(name, line.names):
                yield line


def _unique(keys: Iterator[HostKey]) -> tuple[HostKey, ...]:
    found: dict[tuple[str, str], HostKey] = {}
    for key in keys:
        found.setdefault((key.kind, key.text), key)
    return tuple(found.values())


def _is_hash_of(name: str, hashed: str) -> bool:
    """Return whether `|1|salt|hash` is the HMAC-SHA1 of a name (OpenSSH, hostfile.c)."""
    _, _, salt, digest = hashed.split("|")
    return hmac.compare_digest(hmac.digest(b64decode(salt), name.encode(), "sha1"), b64decode(digest))


def _pattern(names: list[str]) -> re.Pattern[str]:
    """Return one pattern for a list of patterns; a negated one that matches rules the others out."""

    def glob(text: str) -> str:
        # Only `*` and `?` have a meaning in these files; brackets belong to `[host]:port`.
        return translate(text.replace("[", "[[]"))

    without = "".join(f"(?!{glob(name[1:])})" for name in names if name.startswith("!"))
    names_matched = "|".join(glob(name) for name in names if not name.startswith("!"))
    return re.compile(f"{without}(?:{names_matched or '(?!)'})")


def _lines(path: Path, unread: list[str]) -> Iterator[_Line]:
    """Iterate over the lines of a file that hold a key; notes those that cannot be understood."""
    for number, text in enumerate(_text(path).split("\n"), 1):
        # OpenSSH separates at these only (hostfile.c); a byte of another blank belongs to a word.
        words = WORDS.findall(text)
        if not words or words[0].startswith("#"):
            continue
        marker = words.pop(0) if words[0].startswith("@") else ""
        if marker not in ("", REVOKED, AUTHORITY):
            raise HostKeyError(f"{path}:{number}: the marker {marker!r} is not known; it may forbid a key: correct it")
        if len(words) >= 3 and _is_name(words[0]) and _is_key(words[1], words[2]):
            yield _Line(marker, words[0], HostKey(words[1], words[2], str(path), number))
        elif marker == REVOKED:
            raise HostKeyError(f"{path}:{number}: this line revokes a key, but which one cannot be read; correct it")
        else:
            unread.append(f"{path}:{number}")


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


def _is_name(text: str) -> bool:
    if not text.startswith("|"):
        return True
    parts = text.split("|")
    return len(parts) == 4 and parts[1] == "1" and len(_decoded(parts[2])) == len(_decoded(parts[3])) == 20


def _is_key(kind: str, text: str) -> bool:
    """Return whether base64 text is a key of that type, which its first string names (RFC 4253, section 6.6)."""
    blob = _decoded(text)
    return blob[4:].startswith(kind.encode()) and int.from_bytes(blob[:4]) == len(kind.encode())


def _decoded(text: str) -> bytes:
    try:
        return b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        return b""


def add(path: Path, host: str, port: int, key: HostKey) -> HostKey:
    """Append the key of a host that no line of the file knows yet; returns it with its place.

    Others that add at the same time wait; a reader sees all of the line or none. Raises HostKeyError when the file
    cannot be written, or has got another key of the host meanwhile.
    """
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        # Not replaced but appended to: OpenSSH does the same, and the file may be a link.
        descriptor = os.open(path, os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o600)
    except OSError as error:
        raise HostKeyError(f"{path}: a host key cannot be added: {error.strerror}") from error
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
    except OSError as error:
        raise HostKeyError(f"{path}: a host key cannot be added: {error.strerror}") from error
    finally:
        os.close(descriptor)
