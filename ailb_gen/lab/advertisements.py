"""Router advertisements as they arrive (RFC 4861): the routers that are heard on each link, and their prefixes."""

from __future__ import annotations

import errno
import fcntl
import os
import selectors
import socket
import struct
import time
from collections.abc import Iterable, Iterator
from contextlib import closing, suppress
from dataclasses import dataclass

from ailb_gen.addresses import BITS, Prefix, address_value
from ailb_gen.errors import LabError
from ailb_gen.lab.kernel import ADDRESSES, drain, subscribe
from ailb_gen.lab.namespaces import icmp6_socket, inside

SOLICITATION, ADVERTISEMENT = 133, 134
# The type of prefix options (RFC 4861, 4.6), and the header of an advertisement and of a prefix option.
PREFIX = 3
HEADER = struct.Struct("!BBHBBHII")
PREFIX_OPTION = struct.Struct("!BBBBIII16s")
ON_LINK, AUTONOMOUS = 0x80, 0x40
# RFC 4861, 6.1.2: a packet with less has crossed a router.
HOP_LIMIT = 255
ALL_NODES, ALL_ROUTERS = "ff02::1", "ff02::2"
LAST_ADVERTISEMENT = HEADER.pack(ADVERTISEMENT, 0, 0, 0, 0, 0, 0, 0)
# ioctl(2) of netdevice(7).
NAME_OF_INDEX, INDEX_OF_NAME = 0x8910, 0x8933
IFREQ = struct.Struct("16si20x")
# Interval of solicitations on links without a router. Seconds.
ASK_S = 1.0
LARGEST = 65535


@dataclass(frozen=True, slots=True)
class AnnouncedPrefix:
    """A prefix option (RFC 4861, 4.6.2); lifetimes in seconds, 2^32-1 is for ever."""

    prefix: Prefix
    on_link: bool
    autonomous: bool
    valid_s: int
    preferred_s: int


@dataclass(frozen=True, slots=True)
class Advertisement:
    """A router advertisement (RFC 4861, 4.2), where and when it was heard; `at` in seconds since 1970.

    `source` is the router's link-local address, `lifetime_s` how long it is a router, 0 if it no longer is.
    """

    lifetime_s: int
    prefixes: tuple[AnnouncedPrefix, ...] = ()
    device: str = ""
    link: str = ""
    source: int = 0
    at: float = 0.0


def parse(data: bytes, device: str = "", link: str = "", source: int = 0, at: float = 0.0) -> Advertisement | None:
    """Read an ICMPv6 message; None if it is no valid router advertisement (RFC 4861, 6.1.2)."""
    if len(data) < HEADER.size:
        return None
    kind, code, _, _, _, lifetime, _, _ = HEADER.unpack_from(data)
    options = _options(data[HEADER.size :])
    if kind != ADVERTISEMENT or code != 0 or options is None:
        return None
    prefixes = (_prefix(body) for number, body in options if number == PREFIX)
    return Advertisement(lifetime, tuple(one for one in prefixes if one is not None), device, link, source, at)


def _options(data: bytes) -> list[tuple[int, bytes]] | None:
    """Split options: type and the whole option; None if one of them has no length, or more than there is."""
    found = []
    while data:
        length = data[1] * 8 if len(data) >= 2 else 0
        if not 0 < length <= len(data):
            return None
        found.append((data[0], data[:length]))
        data = data[length:]
    return found


def _prefix(option: bytes) -> AnnouncedPrefix | None:
    if len(option) != PREFIX_OPTION.size:
        return None
    _, _, length, flags, valid, preferred, _, value = PREFIX_OPTION.unpack(option)
    if length > BITS:
        return None
    first = int.from_bytes(value, "big") >> (BITS - length) << (BITS - length)
    return AnnouncedPrefix(Prefix(first, length), bool(flags & ON_LINK), bool(flags & AUTONOMOUS), valid, preferred)


class RaSocket:
    """A raw socket in every namespace of some devices; messages are kept from the moment it is made.

    `readdressed` are devices whose addresses have changed meanwhile, if they are to be watched. Raises LabError when a
    socket cannot be made.
    """

    def __init__(self, names: Iterable[str], addresses: bool = False) -> None:
        self.readdressed: set[str] = set()
        self._selector = selectors.DefaultSelector()
        self._sockets: dict[str, socket.socket] = {}
        self._addresses: dict[str, socket.socket] = {}
        self._links: dict[tuple[str, int], str] = {}
        try:
            for name in names:
                self._sockets[name] = _open(name)
                self._selector.register(self._sockets[name], selectors.EVENT_READ, name)
                if addresses:
                    self._addresses[name] = subscribe(name, ADDRESSES)
                    self._selector.register(self._addresses[name], selectors.EVENT_READ, name)
        except BaseException:
            self.close()
            raise

    def watch(self, file: int) -> None:
        """Let `hear` return early when something is written to a pipe."""
        self._selector.register(file, selectors.EVENT_READ, None)

    def hear(self, timeout_s: float) -> list[Advertisement]:
        """Return the advertisements that have arrived; waits for one. Others are left out (RFC 4861, 6.1.2)."""
        ready = []
        for key, _ in self._selector.select(max(0.0, timeout_s)):
            if key.data is None:
                os.read(key.fd, LARGEST)
            elif key.fileobj is self._sockets[key.data]:
                ready.append(key.data)
            else:
                drain(self._addresses[key.data])
                self.readdressed.add(key.data)
        return [found for name in ready for found in self._drained(name)]

    def _drained(self, name: str) -> Iterator[Advertisement]:
        while True:
            try:
                data, extra, _, sender = self._sockets[name].recvmsg(LARGEST, 256, socket.MSG_DONTWAIT)
            except BlockingIOError:
                return
            except OSError as error:
                # What an earlier solicitation met with.
                if error.errno in (errno.ENETDOWN, errno.ENODEV, errno.ENETUNREACH, errno.EHOSTUNREACH):
                    continue
                raise LabError(f"{name}: router advertisements cannot be received: {error.strerror}") from error
            ancillary = {kind: value for level, kind, value in extra if level == socket.IPPROTO_IPV6}
            (limit,) = struct.unpack_from("@i", ancillary[socket.IPV6_HOPLIMIT])
            (index,) = struct.unpack_from("@i", ancillary[socket.IPV6_PKTINFO], 16)
            source = address_value(sender[0].partition("%")[0]) or 0
            link = self._link(name, index)
            heard = parse(data, name, link, source, time.time())
            if limit == HOP_LIMIT and source >> 118 == 0xFE80 >> 6 and link and heard is not None:
                yield heard

    def _link(self, name: str, index: int) -> str:
        key = (name, index)
        if key not in self._links:
            try:
                answer = fcntl.ioctl(self._sockets[name], NAME_OF_INDEX, IFREQ.pack(b"", index))
            except OSError:
                # The link is gone.
                return ""
            self._links[key] = answer[:16].rstrip(b"\0").decode()
        return self._links[key]

    def ask(self, name: str, link: str) -> None:
        """Send a router solicitation (RFC 4861, 4.1), if the link is there and up."""
        there = self._sockets[name]
        try:
            index = IFREQ.unpack(fcntl.ioctl(there, INDEX_OF_NAME, IFREQ.pack(link.encode(), 0)))[1]
            there.sendto(bytes([SOLICITATION, *bytes(7)]), socket.MSG_DONTWAIT, (ALL_ROUTERS, 0, 0, index))
        except OSError:
            # Without IPv6, or down: nobody can answer.
            return

    def close(self) -> None:
        """Close the sockets."""
        self._selector.close()
        for one in (*self._sockets.values(), *self._addresses.values()):
            one.close()


def _sending(made: socket.socket) -> socket.socket:
    """Let a socket send messages of neighbor discovery, and not hear its own."""
    made.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_MULTICAST_HOPS, HOP_LIMIT)
    made.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_MULTICAST_LOOP, 0)
    return made


def _open(name: str) -> socket.socket:
    made = _sending(icmp6_socket(name, [ADVERTISEMENT]))
    for option in (socket.IPV6_RECVPKTINFO, socket.IPV6_RECVHOPLIMIT):
        made.setsockopt(socket.IPPROTO_IPV6, option, 1)
    return made


def cease(name: str, links: Iterable[str]) -> None:
    """Send a router's last advertisement, with a lifetime of 0 (RFC 4861, 6.2.5), from links of a device.

    Junos sends it when advertisements are no longer configured. BIRD 2.0 also sends a last one, with the usual
    lifetime. Nothing is sent where a link is down or without an address. Raises LabError.
    """
    with inside(name), _sending(icmp6_socket(name)) as sending:
        for link in links:
            # Without the link there is no receiver either.
            with suppress(OSError):
                sending.sendto(LAST_ADVERTISEMENT, (ALL_NODES, 0, 0, socket.if_nametoindex(link)))


def capture(links: Iterable[tuple[str, str]], timeout_s: float) -> tuple[Advertisement, ...]:
    """Listen on links, given as device and link, until each has heard a router, or until the time is over.

    Returns all advertisements that were heard in these devices, in order. Raises LabError.
    """
    silent = set(links)
    found: list[Advertisement] = []
    end = time.monotonic() + timeout_s
    solicited = -ASK_S
    with closing(RaSocket(sorted({device for device, _ in silent}))) as receiving:
        while silent and (now := time.monotonic()) < end:
            if now - solicited >= ASK_S:
                solicited = now
                for device, link in sorted(silent):
                    receiving.ask(device, link)
            heard = receiving.hear(min(end - now, ASK_S))
            found += heard
            silent -= {(one.device, one.link) for one in heard}
    return tuple(found)
