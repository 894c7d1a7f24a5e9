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

from ailb_gen.errors import LabError
from ailb_gen.lab.namespaces import inside

# The port that traceroute(8) starts with: nothing listens there, the target answers "port unreachable".
PORT = 33434
TIME_EXCEEDED, UNREACHABLE, PORT_UNREACHABLE = 3, 1, 4
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


@dataclass(frozen=True, slots=True)
class Probe:
    """A trace to make: from an address of a server to another address; `port` is the UDP source port."""

    server: str
    source: int
    target: int
    port: int = 49152


@dataclass(frozen=True, slots=True)
class Trace:
    """The path of a probe: the hop that answered at hop limit 1, 2, …, None without an answer.

    `hops` are addresses, without the target. `end` is "" if the target answered, else why the trace ended.
    """

    probe: Probe
    hops: tuple[int | None, ...]
    end: str = ""


@dataclass(slots=True)
class _Way:
    """A probe, with the answers by hop limit."""

    probe: Probe
    answers: dict[int, int] = field(default_factory=dict)
    last: int = 0
    end: str = ""

    def trace(self, limit: int) -> Trace:
        """Return the result."""
        if self.last:
            return Trace(self.probe, tuple(map(self.answers.get, range(1, self.last))), self.end)
        heard = max(self.answers, default=0)
        text = f"no answer beyond hop {heard}" if heard < limit else f"not there within {limit} hops"
        return Trace(self.probe, tuple(map(self.answers.get, range(1, heard + 1))), text)


def trace(probes: Sequence[Probe], hops: int = 8, timeout_s: float = 0.5, tries: int = 2) -> list[Trace]:
    """Trace all probes at once, one hop limit after the other; returns them in the same order.

    A probe that is not answered for `timeout_s` is sent again, `tries` times in all; a trace ends after two silent hops
    in a row. Raises LabError when a server's namespace is not there.
    """
    ways = [_Way(probe) for probe in probes]
    with ExitStack() as stack:
        servers = list(dict.fromkeys(probe.server for probe in probes))
        sockets = {name: _sockets(name, stack) for name in servers}
        senders = {(probe.server, probe.port) for probe in probes}
        udp = {(name, port): _sender(name, port, stack) for name, port in sorted(senders)}
        selector = stack.enter_context(selectors.DefaultSelector())
        for icmp in sockets.values():
            selector.register(icmp, selectors.EVENT_READ, icmp)
        for limit in range(1, hops + 1):
            for _ in range(tries):
                waiting = {
                    number
                    for number, way in enumerate(ways)
                    if not way.last and limit not in way.answers and limit - max(way.answers, default=0) <= 2
                }
                if not waiting:
                    break
                _round(waiting, limit, ways, udp, selector, timeout_s)
    return [way.trace(hops) for way in ways]


def _sockets(name: str, stack: ExitStack) -> socket.socket:
    """Open the socket that hears the errors for a server."""
    with inside(name):
        icmp = stack.enter_context(socket.socket(socket.AF_INET6, socket.SOCK_RAW, socket.IPPROTO_ICMPV6))
    blocked = bytearray(b"\xff" * 32)
    for kind in (UNREACHABLE, TIME_EXCEEDED):
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
    try:
        udp.bind(("::", port))
    except OSError as error:
        raise LabError(f"{name}: UDP port {port} cannot be used: {error.strerror}") from error
    return udp


def _round(
    waiting: set[int],
    limit: int,
    ways: list[_Way],
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
    target = socket.inet_ntop(socket.AF_INET6, probe.target.to_bytes(16, "big"))
    try:
        udp.sendmsg([PAYLOAD.pack(MARK, number, limit)], told, 0, (target, PORT))
    except OSError:
        # No route, no such address, or an error that an earlier packet met: there is no answer, and that is the result.
        return


def _hear(selector: selectors.BaseSelector, timeout_s: float, waiting: set[int], limit: int, ways: list[_Way]) -> bool:
    """Take in the answers that are there; returns whether one of them was waited for."""
    progress = False
    for key, _ in selector.select(timeout_s):
        for data, address in _packets(key.data):
            found = answer(data)
            if found is None or found[0] != limit or found[1] >= len(ways):
                continue
            _, number, reason = found
            way = ways[number]
            if way.last or limit in way.answers:
                continue
            if reason is None:
                way.answers[limit] = address
            else:
                way.last, way.end = _end(way, limit, address, reason)
            waiting.discard(number)
            progress = True
    return progress


def _end(way: _Way, limit: int, address: int, reason: int) -> tuple[int, str]:
    if reason == PORT_UNREACHABLE and address == way.probe.target:
        return limit, ""
    way.answers[limit] = address
    return limit + 1, CODES.get(reason, f"unreachable (code {reason})")


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


def answer(data: bytes) -> tuple[int, int, int | None] | None:
    """Read an ICMPv6 message: hop limit and number of the probe, and the code of "unreachable", None for time exceeded.

    Returns None for what is no answer to a probe.
    """
    if len(data) < QUOTED + PAYLOAD.size or data[0] not in (TIME_EXCEEDED, UNREACHABLE):
        return None
    if data[8 + 6] != socket.IPPROTO_UDP or struct.unpack_from("!H", data, 8 + 40 + 2)[0] != PORT:
        return None
    mark, number, limit = PAYLOAD.unpack_from(data, QUOTED)
    if mark != MARK:
        return None
    return limit, number, data[1] if data[0] == UNREACHABLE else None


def named(found: Iterable[Trace], owners: Mapping[int, str]) -> Iterator[tuple[Trace, tuple[str, ...]]]:
    """Yield every trace with the names of its hops: an unknown address as text, `*` for no answer."""
    for one in found:
        names = ("*" if hop is None else owners.get(hop) or _text(hop) for hop in one.hops)
        yield one, tuple(names)


def _text(value: int) -> str:
    return socket.inet_ntop(socket.AF_INET6, value.to_bytes(16, "big"))
