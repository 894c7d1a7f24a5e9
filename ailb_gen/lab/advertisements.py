"""Router advertisements as they arrive (RFC 4861): who is heard on which link, and what he announces."""

from __future__ import annotations

import errno
import fcntl
import os
import selectors
import socket
import struct
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from types import TracebackType

from ailb_gen.addresses import BITS, Prefix
from ailb_gen.errors import LabError
from ailb_gen.lab.namespaces import inside
from ailb_gen.lab.plan import Plan, link_local

SOLICITATION, ADVERTISEMENT = 133, 134
# Types of options (RFC 4861, 4.6), and the header of an advertisement and of a prefix option.
SOURCE_MAC, PREFIX, MTU = 1, 3, 5
HEADER = struct.Struct("!BBHBBHII")
PREFIX_OPTION = struct.Struct("!BBBBIII16s")
MANAGED, OTHER = 0x80, 0x40
ON_LINK, AUTONOMOUS = 0x80, 0x40
# RFC 4861, 6.1.2: a packet with less has crossed a router.
HOP_LIMIT = 255
ALL_ROUTERS = "ff02::2"
# setsockopt(2) of raw sockets: RFC 3542, 3.2; a bit that is set blocks the type. ioctl(2) of netdevice(7).
ICMP6_FILTER = 1
NAME_OF_INDEX, INDEX_OF_NAME = 0x8910, 0x8933
IFREQ = struct.Struct("16si20x")
# Changes are told when a device has heard nothing new for this long, or has waited for the other. Seconds.
QUIET_S, LATEST_S = 0.05, 0.5
# How long until somebody is told again who could not use it. Seconds.
AGAIN_S = 1.0
# How often is asked where nobody is heard: sooner at first.
ASK_S, ASK_MOST_S = 1.0, 16.0
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

    `source` is the router's link-local address, `lifetime_s` how long it is a router, 0 if it no longer is. `hop_limit`
    is what it tells hosts to use, `mtu` and `mac` are 0 and empty where it says nothing.
    """

    lifetime_s: int
    hop_limit: int
    managed: bool
    other: bool
    prefixes: tuple[AnnouncedPrefix, ...]
    mtu: int = 0
    mac: str = ""
    device: str = ""
    link: str = ""
    source: int = 0
    at: float = 0.0


def parse(data: bytes, device: str = "", link: str = "", source: int = 0, at: float = 0.0) -> Advertisement | None:
    """Read an ICMPv6 message; None if it is no valid router advertisement (RFC 4861, 6.1.2)."""
    if len(data) < HEADER.size:
        return None
    kind, code, _, hop_limit, flags, lifetime, _, _ = HEADER.unpack_from(data)
    options = _options(data[HEADER.size :])
    if kind != ADVERTISEMENT or code != 0 or options is None:
        return None
    prefixes = (_prefix(body) for number, body in options if number == PREFIX)
    macs = [body[2:].hex(":") for number, body in options if number == SOURCE_MAC and len(body) == 8]
    mtus = [int.from_bytes(body[4:], "big") for number, body in options if number == MTU and len(body) == 8]
    return Advertisement(
        lifetime_s=lifetime,
        hop_limit=hop_limit,
        managed=bool(flags & MANAGED),
        other=bool(flags & OTHER),
        prefixes=tuple(prefix for prefix in prefixes if prefix is not None),
        mtu=mtus[-1] if mtus else 0,
        mac=macs[-1] if macs else "",
        device=device,
        link=link,
        source=source,
        at=at,
    )


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


class Ears:
    """A raw socket in every namespace of some devices; what arrives is kept from the moment it is made.

    Raises LabError when one cannot be made.
    """

    def __init__(self, names: Iterable[str]) -> None:
        self._selector = selectors.DefaultSelector()
        self._sockets: dict[str, socket.socket] = {}
        self._links: dict[tuple[str, int], str] = {}
        try:
            for name in names:
                self._sockets[name] = _open(name)
                self._selector.register(self._sockets[name], selectors.EVENT_READ, name)
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
            else:
                ready.append(key.data)
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
            index, limit = _arrival(extra)
            source = int.from_bytes(socket.inet_pton(socket.AF_INET6, sender[0].partition("%")[0]), "big")
            link = self._link(name, index)
            if limit == HOP_LIMIT and source >> 118 == 0xFE80 >> 6 and link:
                found = parse(data, name, link, source, time.time())
                if found is not None:
                    yield found

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
            # Without IPv6, or down: nobody is there to be asked.
            return

    def close(self) -> None:
        """Close the sockets."""
        self._selector.close()
        for one in self._sockets.values():
            one.close()


def _open(name: str) -> socket.socket:
    with inside(name):
        try:
            made = socket.socket(socket.AF_INET6, socket.SOCK_RAW, socket.IPPROTO_ICMPV6)
        except OSError as error:
            raise LabError(f"{name}: no raw socket for router advertisements: {error.strerror}") from error
    blocked = bytearray(b"\xff" * 32)
    blocked[ADVERTISEMENT // 32 * 4 : ADVERTISEMENT // 32 * 4 + 4] = (0xFFFFFFFF & ~(1 << ADVERTISEMENT % 32)).to_bytes(
        4, "little"
    )
    made.setsockopt(socket.IPPROTO_ICMPV6, ICMP6_FILTER, bytes(blocked))
    for option in (socket.IPV6_RECVPKTINFO, socket.IPV6_RECVHOPLIMIT):
        made.setsockopt(socket.IPPROTO_IPV6, option, 1)
    made.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_MULTICAST_HOPS, HOP_LIMIT)
    made.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_MULTICAST_LOOP, 0)
    return made


def _arrival(extra: list[tuple[int, int, bytes]]) -> tuple[int, int]:
    """Return the index of the link that a packet came in on, and its hop limit."""
    index = limit = 0
    for level, kind, data in extra:
        if level == socket.IPPROTO_IPV6 and kind == socket.IPV6_PKTINFO:
            index = struct.unpack_from("@i", data, 16)[0]
        elif level == socket.IPPROTO_IPV6 and kind == socket.IPV6_HOPLIMIT:
            limit = struct.unpack_from("@i", data)[0]
    return index, limit


def capture(wanted: Iterable[tuple[str, str]], timeout_s: float) -> tuple[Advertisement, ...]:
    """Listen on links, given as device and link, until each has heard a router, or until the time is over.

    Returns everything that was heard in these devices, in order. Raises LabError.
    """
    silent = set(wanted)
    ears = Ears(sorted({device for device, _ in silent}))
    found: list[Advertisement] = []
    end = time.monotonic() + timeout_s
    asked = -ASK_S
    try:
        while silent and (now := time.monotonic()) < end:
            if now - asked >= ASK_S:
                asked = now
                for device, link in sorted(silent):
                    ears.ask(device, link)
            heard = ears.hear(min(end - now, ASK_S))
            found += heard
            silent -= {(one.device, one.link) for one in heard}
    finally:
        ears.close()
    return tuple(found)


@dataclass(slots=True)
class _Device:
    """What a switch hears: the last advertisement of every router, by link and address, with its monotonic time.

    `told` is what was last told, `changed` when something changed first since then, `quiet` when it did last.
    """

    last: dict[tuple[str, int], tuple[Advertisement, float]] = field(default_factory=dict)
    told: Mapping[str, int] = field(default_factory=dict)
    changed: float | None = None
    quiet: float = 0.0

    def change(self, now: float) -> None:
        """Note that routers are others than were told."""
        self.changed = now if self.changed is None else self.changed
        self.quiet = now

    def due(self, now: float) -> bool:
        """Return whether it is time to tell."""
        return self.changed is not None and (now - self.quiet >= QUIET_S or now - self.changed >= LATEST_S)


class RaListener:
    """Listens on the cables between switches, and tells when a router comes or goes.

    It hears from the moment it is made, and tells from `start` on; to be used as a context manager. A router is gone
    when it says so, by a lifetime of 0, or when its lifetime is over. Raises LabError.
    """

    def __init__(self, plan: Plan) -> None:
        # With its own address, which an advertisement that comes back has.
        self._ports = {
            name: {
                port.link: link_local(port.mac) for port in switch.ports.values() if port.far.device in plan.switches
            }
            for name, switch in plan.switches.items()
        }
        self._ears = Ears(plan.switches)
        self._lock = threading.Lock()
        self._devices = {name: _Device() for name in plan.switches}
        self._wake_read, self._wake_write = os.pipe()
        self._ears.watch(self._wake_read)
        self._thread: threading.Thread | None = None
        self._ended = False
        self._ask_at, self._ask_pause_s, self._swept = 0.0, ASK_S, 0.0

    def __enter__(self) -> RaListener:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def start(self, tell: Callable[[str, Mapping[str, int]], None]) -> None:
        """Begin to tell, in a thread of its own: the device, and the link-local address of the router by link.

        What `tell` raises as LabError is written to the standard error, and the device is told again.
        """
        self._thread = threading.Thread(target=self._run, args=(tell,), name="router advertisements", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Stop listening."""
        self._ended = True
        os.write(self._wake_write, b"x")
        if self._thread is not None:
            self._thread.join()
        self._ears.close()
        os.close(self._wake_read)
        os.close(self._wake_write)

    def routers(self, device: str) -> dict[str, int]:
        """Return the link-local addresses of the routers that a switch hears, by link: of several the lowest."""
        with self._lock:
            return self._routers(device)

    def advertisements(self, device: str) -> tuple[Advertisement, ...]:
        """Return the last advertisement of every router that a switch hears."""
        with self._lock:
            return tuple(heard for heard, _ in self._devices[device].last.values())

    def ask(self) -> None:
        """Ask at once on all links where no router is heard, and then again as often as in the beginning."""
        with self._lock:
            self._ask_at, self._ask_pause_s = 0.0, ASK_S
        os.write(self._wake_write, b"x")

    def _routers(self, device: str) -> dict[str, int]:
        found: dict[str, int] = {}
        for link, source in self._devices[device].last:
            found[link] = min(source, found.get(link, source))
        return found

    def _run(self, tell: Callable[[str, Mapping[str, int]], None]) -> None:
        while not self._ended:
            self._ask_silent(time.monotonic())
            heard = self._ears.hear(self._patience_s(time.monotonic()))
            now = time.monotonic()
            with self._lock:
                self._note(heard, now)
                due = [(name, self._routers(name)) for name, device in self._devices.items() if device.due(now)]
                for name, _ in due:
                    self._devices[name].changed = None
            for name, routers in due:
                self._tell(tell, name, routers)

    def _tell(self, tell: Callable[[str, Mapping[str, int]], None], name: str, routers: Mapping[str, int]) -> None:
        device = self._devices[name]
        if routers == device.told:
            return
        try:
            tell(name, routers)
        except LabError as error:
            sys.stderr.write(f"{name}: routers heard on {', '.join(routers)}: {error}\n")
            device.change(time.monotonic() + AGAIN_S)
            return
        device.told = routers

    def _patience_s(self, now: float) -> float:
        pending = any(device.changed is not None for device in self._devices.values())
        return min(QUIET_S if pending else ASK_S, max(0.0, self._ask_at - now))

    def _ask_silent(self, now: float) -> None:
        with self._lock:
            if now < self._ask_at:
                return
            self._ask_at, self._ask_pause_s = now + self._ask_pause_s, min(2 * self._ask_pause_s, ASK_MOST_S)
            silent = [(name, links.keys() - self._routers(name).keys()) for name, links in self._ports.items()]
        for name, links in silent:
            for link in links:
                self._ears.ask(name, link)

    def _note(self, heard: Iterable[Advertisement], now: float) -> None:
        """Note what was heard, and, once in a while, whose lifetime is over."""
        for one in heard:
            if self._ports[one.device].get(one.link, one.source) == one.source:
                continue
            device, key = self._devices[one.device], (one.link, one.source)
            if (one.lifetime_s > 0) != (key in device.last):
                device.change(now)
            device.last.pop(key, None)
            if one.lifetime_s:
                device.last[key] = (one, now)
        if now < self._swept + ASK_S:
            return
        self._swept = now
        for device in self._devices.values():
            for key in [key for key, (last, at) in device.last.items() if at + last.lifetime_s <= now]:
                del device.last[key]
                device.change(now)
