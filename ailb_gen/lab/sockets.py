"""Sockets in the namespaces of devices; a socket stays in the namespace that it was made in."""

from __future__ import annotations

import socket
import struct
from collections.abc import Iterable

from ailb_gen.errors import LabError
from ailb_gen.lab.namespaces import inside

# setsockopt(2) of raw sockets: RFC 3542, 3.2; a bit that is set blocks the type.
ICMP6_FILTER = 1
# SO_RCVBUFFORCE of asm-generic/socket.h.
RECEIVE_BUFFER_FORCE = 33


def open_socket(name: str, family: int, kind: int, protocol: int = 0) -> socket.socket:
    """Open a socket in the namespace of a device. Raises LabError."""
    with inside(name):
        try:
            return socket.socket(family, kind, protocol)
        except OSError as error:
            raise LabError(f"{name}: a socket cannot be opened: {error.strerror}") from error


def icmp6_socket(name: str, types: Iterable[int] = ()) -> socket.socket:
    """Open a raw socket that receives some types of ICMPv6 messages. Raises LabError."""
    made = open_socket(name, socket.AF_INET6, socket.SOCK_RAW, socket.IPPROTO_ICMPV6)
    blocked = [0xFFFFFFFF] * 8
    for number in types:
        blocked[number // 32] &= ~(1 << number % 32)
    made.setsockopt(socket.IPPROTO_ICMPV6, ICMP6_FILTER, struct.pack("@8I", *blocked))
    return made


def widen(receiving: socket.socket, size: int) -> None:
    """Give a socket room for a burst; without the right to force it, as much as the system allows."""
    try:
        receiving.setsockopt(socket.SOL_SOCKET, RECEIVE_BUFFER_FORCE, size)
    except PermissionError:
        receiving.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, size)
