"""Traceroutes of many pairs at once: UDP from the servers' own namespaces, answers by ICMPv6 (RFC 4443).

Packets of a trace differ in nothing but the hop limit, so that a hash over addresses, ports and flow label sends all of
them the same way. What an answer belongs to is in the payload, of which routers quote as much as fits (RFC 4443, 2.4).
"""

from __future__ import annotations

import selectors
import socket
import struct
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import NamedTuple

from ailb_gen.addresses import address_text
from ailb_gen.errors import LabError
from ailb_gen.lab.namespaces import inside

# The port that traceroute(8) starts with: nothing listens there, the target answers "port unreachable".
PORT = 33434
# Below those of RoCE traffic, which may run meanwhile.
SOURCE_PORT = 0xC000 - 1
UNREACHABLE, TOO_BIG, TIME_EXCEEDED = 1, 2, 3
PORT_UNREACHABLE = 4
# setsockopt(2) of raw sockets: RFC 3542, 3.2; a bit that is set blocks the type.
ICMP6_FILTER = 1
MARK = b"ailb"
PAYLOAD = struct.Struct("!4sIB")
# ICMPv6 header, quoted IPv6 header and quoted UDP header.
QUOTED = 8 + 40 + 8
# So many packets are under way at once; answers are read in between.
BURST = 64
RECEIVE_BYTES = 1 << 23
# SO_RCVBUFFORCE of asm-generic/socket.h.
RECEIVE_BUFFER_FORCE = 33
# IPV6_MTU_DISCOVER and IPV6_PMTUDISC_PROBE of linux/in6.h: whatever smaller MTU was heard of, packets go out whole.
MTU_DISCOVER, PROBE_MTU = 23, 3
IPV6_HEADER, UDP_HEADER = 40, 8
# A packet that is not traced.
FAR = 64


@dataclass(frozen=True, slots=True)
class Probe:
    """A trace to make: from an address of a server to another address; `port` is the UDP source port.

    `size` is that of the packets with all headers of IPv6, in bytes; 0 is the least.
    """

    server: str
    source: int
    target: int
    port: int = SOURCE_PORT
    size: int = 0


@dataclass(frozen=True, slots=True)
class PacketTrace:
    """The path of a probe: the hop that answered at hop limit 1, 2, …, None without an answer.

    `hops` are addresses, without the target. `end` is "" if the target answered, else why the trace ended.
    """

    probe: Probe
    hops: tuple[int | None, ...]
    end: str = ""


@dataclass(slots=True)
class _Tracing:
    """A probe, with the answers by hop limit."""

    probe: Probe
    answers: dict[int, int] = field(default_factory=dict)
    last: int = 0
    end: str = ""

    def trace(self, first: int, limit: int) -> PacketTrace:
        """Return the result of all hop limits from the first to the last."""
        if self.last:
            return PacketTrace(self.probe, tuple(map(self.answers.get, range(first, self.last))), self.end)
        heard = max(self.answers, default=0)
        if not heard:
            return PacketTrace(self.probe, (), "no answer")
        text = f"no answer beyond hop {heard}" if heard < limit else f"not there within {limit} hops"
        return PacketTrace(self.probe, tuple(map(self.answers.get, range(first, heard + 1))), text)


class IcmpError(NamedTuple):
    """An ICMPv6 error about a probe: hop limit and number of the probe, type, and the code, or the MTU if too big."""

    limit: int
    number: int
    kind: int
    value: int


def arrive(probes: Sequence[Probe], timeout_s: float = 0.5) -> list[PacketTrace]:
    """Send all probes to their targets and trace none; returns them in the same order. Raises LabError.

    The only hop of one that did not arrive is the router that said so.
    """
    return trace(probes, (FAR,), timeout_s)


def trace(
    probes: Sequence[Probe], limits: Sequence[int] = range(1, 9), timeout_s: float = 0.5, tries: int = 2
) -> list[PacketTrace]:
    """Trace all probes at once, one hop limit after the other; returns them in the same order.

    A probe that is not answered for `timeout_s` is sent again, `tries` times in all; a trace ends after two silent hops
    in a row. Raises LabError when a server's namespace is not there.
    """
    ways = [_Tracing(probe) for probe in probes]
    with ExitStack() as stack:
        servers = list(dict.fromkeys(probe.server for probe in probes))
        sockets = {name: _sockets(name, stack) for name in servers}
        senders = {(probe.server, probe.port) for probe in probes}
        udp = {(name, port): _sender(name, port, stack) for name, port in sorted(senders)}
        selector = stack.enter_context(selectors.DefaultSelector())
        for icmp in sockets.values():
            selector.register(icmp, selectors.EVENT_READ, icmp)
        before = limits[0] - 1
        for limit in limits:
            for _ in range(tries):
                waiting = {
                    number
                    for number, way in enumerate(ways)
                    if not way.last and limit not in way.answers and limit - max(way.answers, default=before) <= 2
                }
                if not waiting:
                    break
                _round(waiting, limit, ways, udp, selector, timeout_s)
    return [way.trace(limits[0], limits[-1]) for way in ways]


def _sockets(name: str, stack: ExitStack) -> socket.socket:
    """Open the socket that hears the errors for a server."""
    with inside(name):
        icmp = stack.enter_context(socket.socket(socket.AF_INET6, socket.SOCK_RAW, socket.IPPROTO_ICMPV6))
    blocked = bytearray(b"\xff" * 32)
    for kind in (UNREACHABLE, TOO_BIG, TIME_EXCEEDED):
        blocked[0] &= ~(1 << kind)
    icmp.setsockopt(socket.IPPROTO_ICMPV6, ICMP6_FILTER, _host_words(bytes(blocked)))
    _wide(icmp)
    icmp.setblocking(False)
    return icmp


def _host_words(mask: bytes) -> bytes:
    """Return a mask of octets as the 32-bit words of the machine."""
    return struct.pack("=8I", *struct.unpack("<8I", mask))


def _wide(icmp: socket.socket) -> None:
    """Give a socket room for the answers of a burst; without the right to force it, as much as the system allows."""
    try:
        icmp.setsockopt(socket.SOL_SOCKET, RECEIVE_BUFFER_FORCE, RECEIVE_BYTES)
    except PermissionError:
        icmp.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, RECEIVE_BYTES)


def _sender(name: str, port: int, stack: ExitStack) -> socket.socket:
    """Open the socket that sends from one port of a server, from any of its addresses."""
    with inside(name):
        udp = stack.enter_context(socket.socket(socket.AF_INET6, socket.SOCK_DGRAM))
    udp.setblocking(False)
    udp.setsockopt(socket.IPPROTO_IPV6, MTU_DISCOVER, PROBE_MTU)
    try:
        udp.bind(("::", port))
    except OSError as error:
        raise LabError(f"{name}: UDP port {port} cannot be used: {error.strerror}") from error
    return udp


def _round(
    waiting: set[int],
    limit: int,
    ways: list[_Tracing],
    udp: Mapping[tuple[str, int], socket.socket],
    selector: selectors.BaseSelector,
    timeout_s: float,
) -> None:
    """Send the probes that wait at one hop limit, and hear the answers until all are there or none come any more."""
    for count, number in enumerate(sorted(waiting), 1):
        probe = ways[number].probe
        _send(udp[probe.server, probe.port], probe, number, limit)
        if count % BURST == 0:
            _hear(selector, 0, waiting, limit, ways)
    until = time.monotonic() + timeout_s
    while waiting and (left := until - time.monotonic()) > 0:
        if _hear(selector, left, waiting, limit, ways):
            until = time.monotonic() + timeout_s


def _send(udp: socket.socket, probe: Probe, number: int, limit: int) -> None:
    source = probe.source.to_bytes(16, "big") + struct.pack("=I", 0)
    told = [
        (socket.IPPROTO_IPV6, socket.IPV6_PKTINFO, source),
        (socket.IPPROTO_IPV6, socket.IPV6_HOPLIMIT, struct.pack("=i", limit)),
    ]
    target = address_text(probe.target)
    payload = PAYLOAD.pack(MARK, number, limit).ljust(probe.size - IPV6_HEADER - UDP_HEADER, b"\0")
    try:
        udp.sendmsg([payload], told, 0, (target, PORT))
    except OSError:
        # No route, no such address, or an error that an earlier packet met: there is no answer, and that is the result.
        return


def _hear(
    selector: selectors.BaseSelector, timeout_s: float, waiting: set[int], limit: int, ways: list[_Tracing]
) -> bool:
    """Take in the answers that are there; returns whether one of them was waited for."""
    progress = False
    for key, _ in selector.select(timeout_s):
        for data, address in _packets(key.data):
            found = answer(data)
            if found is None or found.limit != limit or found.number >= len(ways):
                continue
            way = ways[found.number]
            if way.last or limit in way.answers:
                continue
            if found.kind == TIME_EXCEEDED:
                way.answers[limit] = address
            else:
                way.last, way.end = _end(way, found, address)
            waiting.discard(found.number)
            progress = True
    return progress


def _end(way: _Tracing, found: IcmpError, address: int) -> tuple[int, str]:
    if (found.kind, found.value) == (UNREACHABLE, PORT_UNREACHABLE) and address == way.probe.target:
        return found.limit, ""
    way.answers[found.limit] = address
    if found.kind == TOO_BIG:
        return found.limit + 1, f"the next link takes {found.value} bytes"
    return found.limit + 1, CODES.get(found.value, f"unreachable (code {found.value})")


# RFC 4443, 3.1, and RFC 8754 for 7.
CODES: Mapping[int, str] = {
    0: "no route",
    1: "administratively prohibited",
    2: "beyond scope of the source address",
    3: "address unreachable",
    4: "port unreachable, from another address than the target's",
    5: "source address failed policy",
    6: "reject route",
}


def _packets(icmp: socket.socket) -> Iterator[tuple[bytes, int]]:
    while True:
        try:
            data, address = icmp.recvfrom(2048)
        except BlockingIOError:
            return
        text = address[0].partition("%")[0]
        yield data, int.from_bytes(socket.inet_pton(socket.AF_INET6, text), "big")


def answer(data: bytes) -> IcmpError | None:
    """Read an ICMPv6 message; returns None for what is no answer to a probe."""
    if len(data) < QUOTED + PAYLOAD.size or data[0] not in (TIME_EXCEEDED, UNREACHABLE, TOO_BIG):
        return None
    if data[8 + 6] != socket.IPPROTO_UDP or struct.unpack_from("!H", data, 8 + 40 + 2)[0] != PORT:
        return None
    mark, number, limit = PAYLOAD.unpack_from(data, QUOTED)
    if mark != MARK:
        return None
    # RFC 4443, 3.2.
    value = int.from_bytes(data[4:8], "big") if data[0] == TOO_BIG else data[1]
    return IcmpError(limit, number, data[0], value)


def named(found: Iterable[PacketTrace], owners: Mapping[int, str]) -> Iterator[tuple[PacketTrace, tuple[str, ...]]]:
    """Yield every trace with the names of its hops: an unknown address as text, `*` for no answer."""
    for one in found:
        names = ("*" if hop is None else owners.get(hop) or address_text(hop) for hop in one.hops)
        yield one, tuple(names)
