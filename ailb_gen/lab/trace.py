"""Traceroutes of many pairs at once: UDP from the servers' own namespaces, answers by ICMPv6 (RFC 4443).

Packets of a trace differ in nothing but the hop limit, so that a hash over addresses, ports and flow label sends all of
them the same way. An answer quotes the payload, as much as fits, which names its probe (RFC 4443, 2.4).
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

from ailb_gen.addresses import address_text, address_value
from ailb_gen.errors import LabError
from ailb_gen.lab.namespaces import icmp6_socket, open_socket, widen

# The port that traceroute(8) starts with: nothing listens there, the target answers "port unreachable".
PORT = 33434
# Below those of RoCE traffic, which may run meanwhile.
SOURCE_PORT = 0xC000 - 1
UNREACHABLE, TOO_BIG, TIME_EXCEEDED = 1, 2, 3
PORT_UNREACHABLE = 4
MARK = b"ailb"
PAYLOAD = struct.Struct("!4sIB")
# ICMPv6 header, quoted IPv6 header and quoted UDP header.
QUOTED = 8 + 40 + 8
# Packets that are under way at once; answers are read in between.
BURST = 64
RECEIVE_BYTES = 1 << 23
# IPV6_MTU_DISCOVER and IPV6_PMTUDISC_PROBE of linux/in6.h: packets go out whole, whatever path MTU is known.
MTU_DISCOVER, PROBE_MTU = 23, 3
IPV6_HEADER, UDP_HEADER = 40, 8
# A packet that is not traced.
FAR = 64
# How often a packet is sent that is not answered.
TRIES = 2


@dataclass(frozen=True, slots=True)
class Probe:
    """A trace to make: from an address of a server to another address.

    `size` is that of the packets with all headers of IPv6, in bytes; 0 is the least.
    """

    server: str
    source: int
    target: int
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
        text = f"no answer beyond hop {heard}" if heard < limit else f"not reached within {limit} hops"
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


def trace(probes: Sequence[Probe], limits: Sequence[int] = range(1, 9), timeout_s: float = 0.5) -> list[PacketTrace]:
    """Trace all probes at once, one hop limit after the other; returns them in the same order.

    A probe that is not answered for `timeout_s` is sent once more; a trace ends after two silent hops
    in a row. Raises LabError when a server's namespace is not there.
    """
    tracings = [_Tracing(probe) for probe in probes]
    with ExitStack() as stack:
        servers = list(dict.fromkeys(probe.server for probe in probes))
        selector = stack.enter_context(selectors.DefaultSelector())
        for name in servers:
            icmp = _receiver(name, stack)
            selector.register(icmp, selectors.EVENT_READ, icmp)
        udp = {name: _sender(name, stack) for name in servers}
        before = limits[0] - 1
        for limit in (limit for limit in limits for _ in range(TRIES)):
            waiting = {
                number
                for number, one in enumerate(tracings)
                if not one.last and limit not in one.answers and limit - max(one.answers, default=before) <= 2
            }
            for count, number in enumerate(sorted(waiting), 1):
                probe = tracings[number].probe
                _send(udp[probe.server], probe, number, limit)
                if count % BURST == 0:
                    _hear(selector, 0, waiting, limit, tracings)
            until = time.monotonic() + timeout_s
            while waiting and (left := until - time.monotonic()) > 0:
                if _hear(selector, left, waiting, limit, tracings):
                    until = time.monotonic() + timeout_s
    return [one.trace(limits[0], limits[-1]) for one in tracings]


def _receiver(name: str, stack: ExitStack) -> socket.socket:
    icmp = stack.enter_context(icmp6_socket(name, (UNREACHABLE, TOO_BIG, TIME_EXCEEDED)))
    widen(icmp, RECEIVE_BYTES)
    icmp.setblocking(False)
    return icmp


def _sender(name: str, stack: ExitStack) -> socket.socket:
    udp = stack.enter_context(open_socket(name, socket.AF_INET6, socket.SOCK_DGRAM))
    udp.setblocking(False)
    udp.setsockopt(socket.IPPROTO_IPV6, MTU_DISCOVER, PROBE_MTU)
    try:
        udp.bind(("::", SOURCE_PORT))
    except OSError as error:
        raise LabError(f"{name}: UDP port {SOURCE_PORT} cannot be used: {error.strerror}") from error
    return udp


def _send(udp: socket.socket, probe: Probe, number: int, limit: int) -> None:
    source = probe.source.to_bytes(16, "big") + struct.pack("=I", 0)
    ancillary = [
        (socket.IPPROTO_IPV6, socket.IPV6_PKTINFO, source),
        (socket.IPPROTO_IPV6, socket.IPV6_HOPLIMIT, struct.pack("=i", limit)),
    ]
    target = address_text(probe.target)
    payload = PAYLOAD.pack(MARK, number, limit).ljust(probe.size - IPV6_HEADER - UDP_HEADER, b"\0")
    try:
        udp.sendmsg([payload], ancillary, 0, (target, PORT))
    except OSError:
        # No route, no such address, or an error that an earlier packet met: there is no answer, and that is the result.
        return


def _hear(
    selector: selectors.BaseSelector, timeout_s: float, waiting: set[int], limit: int, tracings: list[_Tracing]
) -> bool:
    """Take in the answers that are there; returns whether one of them was waited for."""
    progress = False
    for key, _ in selector.select(timeout_s):
        for data, address in _packets(key.data):
            error = answer(data)
            if error is None or error.limit != limit or error.number >= len(tracings):
                continue
            one = tracings[error.number]
            if one.last or limit in one.answers:
                continue
            if error.kind == TIME_EXCEEDED:
                one.answers[limit] = address
            else:
                one.last, one.end = _end(one, error, address)
            waiting.discard(error.number)
            progress = True
    return progress


def _end(one: _Tracing, error: IcmpError, address: int) -> tuple[int, str]:
    if (error.kind, error.value) == (UNREACHABLE, PORT_UNREACHABLE) and address == one.probe.target:
        return error.limit, ""
    one.answers[error.limit] = address
    if error.kind == TOO_BIG:
        return error.limit + 1, f"the MTU of the next link is {error.value} bytes"
    return error.limit + 1, CODES.get(error.value, f"unreachable (code {error.value})")


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
        yield data, address_value(address[0].partition("%")[0]) or 0


def answer(data: bytes) -> IcmpError | None:
    """Read an ICMPv6 message; None if it answers no probe."""
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
