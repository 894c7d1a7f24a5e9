"""IPv6 addresses and prefixes as integers; text only at the edges."""

from __future__ import annotations

import socket
from functools import lru_cache
from typing import NamedTuple

BITS = 128


class Prefix(NamedTuple):
    """An IPv6 prefix: the 128-bit value of its first address and its length."""

    value: int
    length: int

    def __str__(self) -> str:
        return f"{address_text(self.value)}/{self.length}"

    def contains(self, other: Prefix) -> bool:
        """Return whether `other` lies within this prefix."""
        return other.length >= self.length and (other.value ^ self.value) >> (BITS - self.length) == 0

    def holds(self, address: int) -> bool:
        """Return whether an address lies within this prefix."""
        return (address ^ self.value) >> (BITS - self.length) == 0


def address_text(value: int) -> str:
    """Write a 128-bit value in canonical form (RFC 5952)."""
    return socket.inet_ntop(socket.AF_INET6, value.to_bytes(16, "big"))


@lru_cache(maxsize=65536)
def address_value(text: str) -> int | None:
    """Read an IPv6 address; None if it is not one."""
    try:
        return int.from_bytes(socket.inet_pton(socket.AF_INET6, text), "big")
    except (OSError, ValueError):
        return None


@lru_cache(maxsize=65536)
def interface_value(text: str) -> tuple[int, Prefix] | None:
    """Read `ADDRESS/LENGTH`, host bits allowed: the address and its prefix; None if it is not one."""
    address, _, size = text.partition("/")
    value = address_value(address)
    if value is None or not (size.isascii() and size.isdigit() and len(size) <= 3) or int(size) > BITS:
        return None
    length = int(size)
    return value, Prefix(value >> (BITS - length) << (BITS - length), length)


def prefix_value(text: str) -> Prefix | None:
    """Read `ADDRESS/LENGTH` without host bits; None if it is not one."""
    found = interface_value(text)
    return found[1] if found is not None and found[0] == found[1].value else None


def eui64(mac: str) -> int:
    """Return the modified EUI-64 interface identifier of a MAC address (RFC 4291, appendix A)."""
    octets = bytes.fromhex(mac.replace(":", ""))
    return int.from_bytes(bytes([octets[0] ^ 2]) + octets[1:3] + b"\xff\xfe" + octets[3:], "big")
