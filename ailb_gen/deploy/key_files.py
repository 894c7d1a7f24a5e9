"""Files with private keys: opened once for all devices, and if they cannot be opened, what is wrong with them.

Formats: OpenSSH's own (PROTOCOL.key in its sources), and PEM (RFC 7468).
"""

import binascii
import re
from base64 import b64decode
from functools import lru_cache
from pathlib import Path
from typing import Any

import paramiko

from ailb_gen.deploy.credentials import Secret

MAX_BYTES = 64 << 10
OPENSSH = b"openssh-key-v1\0"
PUBLIC = re.compile(rb"\s*(?:ssh-|ecdsa-sha2-|sk-|-+ ?BEGIN (?:SSH2 |RSA )?PUBLIC KEY)")
BEGIN, END = b"-----BEGIN ", b"-----END "


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
    # Paramiko and cryptography say it in many ways when a passphrase is wrong or a key is none.
    except Exception:  # noqa: BLE001
        if encrypted:
            raise KeyFileError("cannot be opened with this passphrase", "check key_file and passphrase") from None
        reason = "is damaged, or holds a key of a kind that cannot be used"
        raise KeyFileError(reason, "try it with 'ssh-keygen -y -f FILE'; RSA, ECDSA and Ed25519 can be used") from None


def fault_of(path: Path, data: bytes) -> KeyFileError | None:
    """Return what is wrong with the content of a key file, None if it may be one."""
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
    """Return what is in base64 in a file in OpenSSH's format; None for any other, empty for what is no base64."""
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
