"""Credentials by reference: what the inventory says, and the values it stands for at the time of a push.

No file of the project ever holds a secret. A `Login` names where its secrets are; `resolve` fetches them into
`Credentials`, whose secrets print as `***` wherever they are printed.
"""

import binascii
import getpass
import os
import re
import subprocess
from base64 import b64decode
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from threading import Lock
from typing import Any, NoReturn

import paramiko

from ailb_gen.errors import DeployError
from ailb_gen.redact import MARK
from ailb_gen.redact.known import Redactor

COMMAND_TIMEOUT_S = 30.0
# What is read of a command's output, where a secret is one line, and of a key file.
MAX_BYTES = 64 * 1024
# Formats of key files: OpenSSH's own (PROTOCOL.key in its sources), and PEM (RFC 7468).
OPENSSH = b"openssh-key-v1\0"
PUBLIC = re.compile(rb"\s*(?:ssh-|ecdsa-sha2-|sk-|-+ ?BEGIN (?:SSH2 |RSA )?PUBLIC KEY)")
BEGIN, END = b"-----BEGIN ", b"-----END "


class CredentialError(DeployError):
    """A credential cannot be had: the reference, the reason and what to do; never a value."""


class Secret:
    """A value that prints as `***` and is neither pickled nor copied; `reveal()` is the one way to it."""

    __slots__ = ("_value",)

    def __init__(self, value: str) -> None:
        self._value = value

    def reveal(self) -> str:
        """Return the value."""
        return self._value

    def __repr__(self) -> str:
        return MARK

    def __format__(self, specification: str) -> str:
        return format(MARK, specification)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Secret) and other._value == self._value

    def __hash__(self) -> int:
        return hash(self._value)

    def __reduce_ex__(self, protocol: object) -> NoReturn:
        raise TypeError("a secret is not pickled or copied")


@dataclass(frozen=True, slots=True)
class EnvironmentReference:
    """A variable of the environment."""

    name: str

    def __str__(self) -> str:
        return f"the environment variable {self.name}"


@dataclass(frozen=True, slots=True)
class KeyringReference:
    """An entry of the system's keyring."""

    service: str
    username: str

    def __str__(self) -> str:
        return f"the keyring entry of service {self.service!r}, user {self.username!r}"


@dataclass(frozen=True, slots=True)
class CommandReference:
    """A program with its arguments, run without a shell; the first line it prints is the value."""

    argv: tuple[str, ...]

    def __str__(self) -> str:
        # Arguments may be private: which program it is, is enough to find it in the inventory.
        return f"the command {self.argv[0]!r}"


Reference = EnvironmentReference | KeyringReference | CommandReference


@dataclass(frozen=True, slots=True)
class LoginReference:
    """Credentials of a device, by reference.

    Without a username it is that of the user's ssh_config, else of the user who runs the program. `agent`: the keys of
    the SSH agent, and those that OpenSSH looks for, are tried.
    """

    username: str | EnvironmentReference | None = None
    password: Reference | None = None
    passphrase: Reference | None = None
    sudo_password: Reference | None = None
    key_file: Path | None = None
    agent: bool = True


@dataclass(frozen=True, slots=True)
class Credentials:
    """A login whose references are resolved."""

    username: str | None
    password: Secret | None
    passphrase: Secret | None
    sudo_password: Secret | None
    key_file: Path | None
    agent: bool

    def user(self, configured: str | None = None) -> str:
        """Return the username; `configured` is that of the user's ssh_config."""
        return self.username or configured or getpass.getuser()


@dataclass(slots=True)
class SecretCache:
    """Secrets resolved in one run, with failures; the redactor learns every secret before it is handed out."""

    redactor: Redactor = field(default_factory=Redactor)
    timeout_s: float = COMMAND_TIMEOUT_S
    _lock: Lock = field(default_factory=Lock, repr=False)
    _found: dict[Reference, Secret | str] = field(default_factory=dict, repr=False)

    def get(self, reference: Reference) -> Secret:
        """Return the secret behind a reference, fetched the first time only. Raises CredentialError.

        One at a time: a command may ask the user something.
        """
        with self._lock:
            if reference not in self._found:
                try:
                    value = _fetch(reference, self.timeout_s)
                    self.redactor.add(value)
                    self._found[reference] = Secret(value)
                except CredentialError as error:
                    self._found[reference] = str(error)
            found = self._found[reference]
        if isinstance(found, str):
            raise CredentialError(found)
        return found

    def forget(self, *, failures: bool = False) -> None:
        """Fetch secrets anew the next time, with `failures` only those that could not be had.

        Never waits: while one is being fetched, nothing is forgotten.
        """
        if self._lock.acquire(blocking=False):
            try:
                for reference, found in list(self._found.items()):
                    if not failures or isinstance(found, str):
                        del self._found[reference]
            finally:
                self._lock.release()


def resolve(login: LoginReference, cache: SecretCache) -> Credentials:
    """Fetch what a login refers to. Raises CredentialError, which names the reference and never a value."""

    def secret(reference: Reference | None) -> Secret | None:
        return cache.get(reference) if reference else None

    username = login.username
    if isinstance(username, EnvironmentReference):
        username = _environment(username)
    if login.key_file is not None:
        _check_key_file(login.key_file)
    return Credentials(
        username=username,
        password=secret(login.password),
        passphrase=secret(login.passphrase),
        sudo_password=secret(login.sudo_password),
        key_file=login.key_file,
        agent=login.agent,
    )


def _check_key_file(path: Path) -> None:
    try:
        with path.open("rb"):
            return
    except OSError as error:
        raise CredentialError(f"the key file {path} cannot be read: {error.strerror}; check key_file") from error


def _fetch(reference: Reference, timeout_s: float) -> str:
    if isinstance(reference, EnvironmentReference):
        return _environment(reference)
    if isinstance(reference, KeyringReference):
        return _keyring(reference)
    return _command(reference, timeout_s)


def _environment(reference: EnvironmentReference) -> str:
    value = os.environ.get(reference.name)
    if value is None:
        raise CredentialError(f"{reference} is not set; set it before you run this")
    if not value:
        raise CredentialError(f"{reference} is empty; set it before you run this")
    return value


def _keyring(reference: KeyringReference) -> str:
    import keyring  # noqa: PLC0415 - its backends take long to load, and most inventories use none
    from keyring.errors import KeyringError, NoKeyringError  # noqa: PLC0415

    try:
        value = keyring.get_password(reference.service, reference.username)
    except NoKeyringError as error:
        hint = "install or unlock one, or use {env: NAME} or {command: [...]}"
        raise CredentialError(f"{reference}: this system has no keyring; {hint}") from error
    except (KeyringError, OSError) as error:
        # Its text comes from a backend and may hold anything.
        raise CredentialError(f"{reference}: the keyring denies access ({type(error).__name__}); unlock it") from None
    if not value:
        raise CredentialError(f"{reference}: there is no such entry; add it with 'keyring set SERVICE USER'")
    return value


def _command(reference: CommandReference, timeout_s: float) -> str:
    """Run a command; nothing that it prints is ever shown, because all of it may hold the secret."""
    try:
        done = subprocess.run(reference.argv, capture_output=True, timeout=timeout_s, check=False)
    except FileNotFoundError as error:
        raise CredentialError(f"{reference} is not installed; install it, or give its full path") from error
    except subprocess.TimeoutExpired:
        # Not chained: the exception holds what the command has printed.
        raise CredentialError(f"{reference} did not end within {timeout_s:g} s; does it wait for input?") from None
    except (OSError, ValueError) as error:
        raise CredentialError(f"{reference} cannot be run: {getattr(error, 'strerror', None) or error}") from error
    if done.returncode:
        raise CredentialError(f"{reference} failed with exit code {done.returncode}; run it by hand to see why")
    line = done.stdout[:MAX_BYTES].split(b"\n", 1)[0].rstrip(b"\r")
    if not line:
        raise CredentialError(f"{reference} printed nothing on its first line; that line must be the secret")
    try:
        return line.decode("utf-8")
    except UnicodeDecodeError:
        raise CredentialError(f"{reference} printed text that is not UTF-8") from None


class KeyFileError(Exception):
    """A key file that cannot be used: what about it, and what to do."""

    def __init__(self, reason: str, hint: str) -> None:
        self.reason, self.hint = reason, hint
        super().__init__(f"{reason}; {hint}")


def open_key(path: Path, passphrase: Secret | None) -> paramiko.PKey:
    """Open a key file; without need, the passphrase is not used. Raises KeyFileError."""
    try:
        status = path.stat()
        return _opened(path, (status.st_mtime_ns, status.st_size), passphrase)
    except OSError as error:
        raise KeyFileError(f"cannot be read: {error.strerror}", "check key_file") from error


@lru_cache(maxsize=64)
def _opened(path: Path, stamp: tuple[int, int], passphrase: Secret | None) -> paramiko.PKey:
    """Open a key file; once for all devices, because a passphrase costs a tenth of a second."""
    with path.open("rb") as stream:
        data = stream.read(MAX_BYTES + 1)
    fault = fault_of(path, data)
    if fault is not None:
        raise fault
    encrypted = _is_encrypted(data)
    if encrypted and passphrase is None:
        hint = "give a passphrase in the inventory, or add the key to the SSH agent"
        raise KeyFileError("needs a passphrase", hint)
    # The stubs want text, the library bytes.
    secret: Any = passphrase.reveal().encode() if encrypted and passphrase else None
    try:
        return paramiko.PKey.from_path(path, secret)
    except OSError:
        raise
    # Paramiko and cryptography raise many kinds of errors for a wrong passphrase or key.
    except Exception:  # noqa: BLE001
        if encrypted:
            raise KeyFileError("cannot be opened with this passphrase", "check key_file and passphrase") from None
        reason = "is damaged, or holds a key of a kind that cannot be used"
        raise KeyFileError(reason, "try it with 'ssh-keygen -y -f FILE'; RSA, ECDSA and Ed25519 can be used") from None


def fault_of(path: Path, data: bytes) -> KeyFileError | None:
    """Return the error in the content of a key file; None if it may be one."""
    private = path.with_suffix("") if path.suffix == ".pub" else None
    other = "give the file with the private key" + (f": {private}" if private else "")
    if not data.strip():
        return KeyFileError("is empty", "check key_file")
    if PUBLIC.match(data):
        kind = "a certificate" if b"-cert-v01@openssh.com" in data.split(b" ", 1)[0] else "a public key"
        return KeyFileError(f"holds {kind}, not a private one", other)
    if data.startswith(b"PuTTY-User-Key-File"):
        return KeyFileError("is in PuTTY's format", "convert it: puttygen FILE -O private-openssh -o NEW")
    if BEGIN not in data or len(data) > MAX_BYTES:
        return KeyFileError("is not a private key", "check key_file")
    if END not in data or not _is_whole(data):
        return KeyFileError("is cut off: its end is missing", "copy the whole file once more")
    return None


def _openssh(data: bytes) -> bytes | None:
    """Return the decoded content of a file in OpenSSH's format; None for any other, empty if it is not base64."""
    head, _, rest = data[data.index(BEGIN) :].partition(b"\n")
    if b"OPENSSH PRIVATE KEY" not in head:
        return None
    try:
        return b64decode(b"".join(rest.partition(END)[0].split()), validate=True)
    except binascii.Error:
        return b""


def _is_whole(data: bytes) -> bool:
    """Return whether all is there that the lengths in an OpenSSH key speak of; of other formats nothing is known."""
    blob = _openssh(data)
    if blob is None:
        return True
    if not blob.startswith(OPENSSH):
        return False
    at = len(OPENSSH)
    # Cipher, key derivation and its options; the number of keys; the public key, and what is private.
    for skipped in (0, 0, 0, 4, 0):
        at += skipped
        at += 4 + int.from_bytes(blob[at : at + 4])
    return at <= len(blob)


def _is_encrypted(data: bytes) -> bool:
    blob = _openssh(data)
    if blob is None:
        return b"ENCRYPTED" in data
    length = int.from_bytes(blob[len(OPENSSH) : len(OPENSSH) + 4])
    return blob[len(OPENSSH) + 4 : len(OPENSSH) + 4 + length] != b"none"
