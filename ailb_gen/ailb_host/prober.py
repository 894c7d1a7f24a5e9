"""Send numbered probes, and recognize the answers and the ICMPv6 errors that quote them.

Every probe carries a random number of its run. Whatever else arrives is ignored and counted, and never awaited.
Errors come from the error queue of the socket (IPV6_RECVERR), which is the same for all kinds of sockets.
"""

from __future__ import annotations

import errno
import heapq
import os
import select
import socket
import struct
import time
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from .addresses import Pair
from .files import HostError

ECHO_REQUEST, ECHO_REPLY = 128, 129
ROCE_PORT = 4791
# Options of sockets that Python does not name: linux/icmpv6.h, linux/in6.h, asm-generic/socket.h.
ICMPV6_FILTER, IPV6_RECVERR, SO_RCVBUFFORCE = 1, 25, 33
BUFFER = 4 << 20
# Type, code, checksum (the kernel's), identifier, sequence; then run, pair, number, hop limit.
HEADER, PAYLOAD = struct.Struct("!BBHHH"), struct.Struct("!12sIHH")
# sock_extended_err of linux/errqueue.h, and the address of the sender of the error after it.
EXTENDED, OFFENDER, FROM_ICMPV6 = struct.Struct("=IBBBBII"), struct.Struct("=HHI16s"), 3
# No opcode of RoCE begins with it: a NIC that takes port 4791 for itself drops the packet.
MARK = b"ailb"
# Packets that are sent, or taken from one socket, in a row: a flood does not keep others waiting.
IN_A_ROW = 64
# Attempts to send: an error of an earlier probe may be reported instead.
ATTEMPTS = 8

HOP, PORT = "hop limit exceeded", "port unreachable"
# RFC 4443, sections 3.1 and 3.3.
ERRORS = {
    (1, 0): "no route",
    (1, 1): "prohibited by a filter",
    (1, 2): "beyond the scope of the source",
    (1, 3): "address unreachable",
    (1, 4): PORT,
    (1, 5): "source refused by a filter",
    (1, 6): "route rejects",
    (3, 0): HOP,
}


class Limit(NamedTuple):
    """How many ICMPv6 errors a device sends: `burst` at once, then one every `interval_s`."""

    burst: int
    interval_s: float


# Linux, net.ipv6.icmp.ratelimit: 6 to one address, then one every 1 s >> (128 - prefix length of the route) / 32, which
# is 0.25 s for the /64 of a color; net.ipv4.icmp_msgs_burst and icmp_msgs_per_sec: 50 in all, then 1,000/s.
PER_ADDRESS, PER_DEVICE = Limit(6, 0.26), Limit(40, 0.002)


class Probe(NamedTuple):
    """A packet: the number of its pair, its own from 1 (0 is not counted), and its hop limit, 0 for the usual one."""

    pair: int
    number: int
    hop_limit: int = 0


class Answer(NamedTuple):
    """The first answer to a probe; `error` is empty when it is the target's, else the reason that the sender gives."""

    sender: str
    time_us: float
    error: str


def _icmp_socket() -> socket.socket:
    try:
        found = socket.socket(socket.AF_INET6, socket.SOCK_RAW | socket.SOCK_NONBLOCK, socket.IPPROTO_ICMPV6)
        passing = [0xFFFFFFFF] * 8
        passing[ECHO_REPLY >> 5] &= ~(1 << (ECHO_REPLY & 31)) & 0xFFFFFFFF
        found.setsockopt(socket.IPPROTO_ICMPV6, ICMPV6_FILTER, struct.pack("=8I", *passing))
        return found
    except PermissionError:
        pass
    try:
        return socket.socket(socket.AF_INET6, socket.SOCK_DGRAM | socket.SOCK_NONBLOCK, socket.IPPROTO_ICMPV6)
    except OSError:
        reason = "this user may not send ICMPv6; run it as root, or allow its group: sysctl net.ipv4.ping_group_range"
        raise HostError(f"{reason}; or use --udp") from None


def _socket(source: str, udp: bool, dscp: int) -> socket.socket:
    found = socket.socket(socket.AF_INET6, socket.SOCK_DGRAM | socket.SOCK_NONBLOCK) if udp else _icmp_socket()
    try:
        found.setsockopt(socket.IPPROTO_IPV6, IPV6_RECVERR, 1)
        if udp:
            found.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_TCLASS, dscp << 2)
        try:
            found.setsockopt(socket.SOL_SOCKET, SO_RCVBUFFORCE, BUFFER)
        except PermissionError:
            found.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, BUFFER)
        found.bind((source, 0))
    except OSError as error:
        found.close()
        raise HostError(f"{source}: {error.strerror}; check: ip -6 address show") from error
    return found


class Prober:
    """Probes of one run: what was sent and answered, local errors by pair, and packets ignored by reason.

    `dscp` is that of UDP by the name of the NIC; `rate` is in packets per second.
    """

    def __init__(self, pairs: list[Pair], udp: bool, dscp: dict[str, int], rate: float, timeout_s: float) -> None:
        """Open a socket per source. Raises HostError."""
        self.ends = [(str(pair.source.address), str(pair.target.address)) for pair in pairs]
        self.peers = [pair.peer for pair in pairs]
        self.udp, self.rate, self.timeout_s = udp, rate, timeout_s
        self.run = MARK + os.urandom(8)
        self.answers: dict[Probe, Answer] = {}
        self.local_errors: dict[int, str] = {}
        self.ignored: Counter[str] = Counter()
        self._sent: dict[Probe, int] = {}
        self._waiting: set[Probe] = set()
        self._free: dict[tuple[object, ...], float] = {}
        self._of_source: dict[str, socket.socket] = {}
        self._sockets: dict[int, socket.socket] = {}
        self._poll = select.poll()
        try:
            for pair, (source, _) in zip(pairs, self.ends):
                if source not in self._of_source:
                    opened = _socket(source, udp, dscp.get(pair.source.nic, 0))
                    self._of_source[source] = self._sockets[opened.fileno()] = opened
                    self._poll.register(opened, select.POLLIN)
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """Close all sockets."""
        for one in self._sockets.values():
            one.close()

    def probe(self, probes: Iterable[Probe], wait_s: float) -> None:
        """Send probes, paced, and take the answers until all are there, or `wait_s` after the last was sent."""
        queue = [(due, due, probe) for due, probe in self._schedule(probes)]
        heapq.heapify(queue)
        end = time.monotonic() + wait_s
        while True:
            for _ in range(IN_A_ROW):
                now = time.monotonic()
                if not queue or queue[0][0] > now:
                    break
                _, first, probe = heapq.heappop(queue)
                if not self._send(probe, give_up=now - first > self.timeout_s):
                    heapq.heappush(queue, (now + 0.001, first, probe))
                end = now + wait_s
            if not queue and (not self._waiting or now >= end):
                break
            self._take((queue[0][0] if queue else end) - now)
        self._waiting.clear()

    def _schedule(self, probes: Iterable[Probe]) -> Iterator[tuple[float, Probe]]:
        """Iterate over probes with the times at which they are due, `rate` in a second at most."""
        now = time.monotonic()
        timed = [(self._allowed(probe, now), number, probe) for number, probe in enumerate(probes)]
        due = now
        for allowed, _, probe in sorted(timed):
            due = max(due, allowed)
            yield due, probe
            due += 1 / self.rate

    def _allowed(self, probe: Probe, due: float) -> float:
        """Return when a probe may be sent so that the error it is to bring back is not dropped by a limit."""
        if not self.udp and not probe.hop_limit:
            return due
        device: tuple[object, ...] = (self.peers[probe.pair],)
        if probe.hop_limit:
            # Which switch it will be is not known.
            device = ("hop", probe.hop_limit)
        limits = (((*device, self.ends[probe.pair][0]), PER_ADDRESS), (device, PER_DEVICE))
        for key, limit in limits:
            due = max(due, self._free.get(key, 0.0) - (limit.burst - 1) * limit.interval_s)
        for key, limit in limits:
            self._free[key] = max(due, self._free.get(key, 0.0)) + limit.interval_s
        return due

    def _send(self, probe: Probe, give_up: bool) -> bool:
        """Send a probe; return whether it is done with: when the queue is full it must be tried again."""
        source, target = self.ends[probe.pair]
        opened = self._of_source[source]
        packet = PAYLOAD.pack(self.run, *probe)
        if not self.udp:
            packet = HEADER.pack(ECHO_REQUEST, 0, 0, probe.pair & 0xFFFF, probe.number) + packet
        limit = [(socket.IPPROTO_IPV6, socket.IPV6_HOPLIMIT, struct.pack("=i", probe.hop_limit))]
        options = limit if probe.hop_limit else []
        for _ in range(ATTEMPTS):
            try:
                now = time.monotonic_ns()
                opened.sendmsg([packet], options, 0, (target, ROCE_PORT if self.udp else 0))
            except OSError as error:
                full = error.errno in (errno.EAGAIN, errno.ENOBUFS)
                if full and not give_up:
                    return False
                self._take_errors(opened)
                reason = "the send queue stays full" if full else error.strerror or str(error)
            else:
                self._sent[probe] = now
                self._waiting.add(probe)
                return True
        self.local_errors[probe.pair] = reason
        return True

    def _take(self, wait_s: float) -> None:
        """Take packets that arrive within a time, at most some of every socket."""
        for descriptor, events in self._poll.poll(max(0.0, wait_s * 1000)):
            opened = self._sockets[descriptor]
            if events & select.POLLERR:
                self._take_errors(opened)
            if events & select.POLLIN:
                self._take_answers(opened)

    def _take_answers(self, opened: socket.socket) -> None:
        for _ in range(IN_A_ROW):
            try:
                data, sender = opened.recvfrom(2048)
            except OSError:
                # Nothing more, or an error that the other queue has, too.
                return
            source = sender[0].partition("%")[0]
            self._answer(opened, data if self.udp else data[HEADER.size :], source, source, "")

    def _take_errors(self, opened: socket.socket) -> None:
        for _ in range(IN_A_ROW):
            try:
                data, options, _, target = opened.recvmsg(2048, 512, socket.MSG_ERRQUEUE)
            except OSError:
                break
            for level, kind, value in options:
                if (level, kind) != (socket.IPPROTO_IPV6, IPV6_RECVERR) or len(value) < EXTENDED.size + OFFENDER.size:
                    continue
                _, origin, number, code, _, _, _ = EXTENDED.unpack_from(value)
                if origin == FROM_ICMPV6:
                    sender = socket.inet_ntop(socket.AF_INET6, OFFENDER.unpack_from(value, EXTENDED.size)[3])
                    error = ERRORS.get((number, code), f"ICMPv6 type {number} code {code}")
                    quoted = data if self.udp else data[HEADER.size :]
                    self._answer(opened, quoted, sender, target[0].partition("%")[0], error)
        # Reading it clears it: else the next call would fail for nothing.
        opened.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR)

    def _answer(self, opened: socket.socket, payload: bytes, sender: str, target: str, error: str) -> None:
        """Note an answer to the probe in `payload`, or why it is none; `target` is where the probe must have gone."""
        now = time.monotonic_ns()
        run, *numbers = PAYLOAD.unpack_from(payload) if len(payload) >= PAYLOAD.size else (b"",)
        probe = Probe(*numbers) if run == self.run else None
        if probe is None or probe not in self._sent:
            self.ignored["foreign"] += 1
            return
        source, aim = self.ends[probe.pair]
        time_us = (now - self._sent[probe]) / 1000
        if self._of_source[source] is not opened or target != aim:
            self.ignored["wrong_source"] += 1
        elif probe in self.answers:
            self.ignored["duplicate"] += 1
        elif time_us > self.timeout_s * 1e6:
            self.ignored["late"] += 1
        else:
            reached = self.udp and error == PORT and sender == aim
            self.answers[probe] = Answer(sender, time_us, "" if reached else error)
            self._waiting.discard(probe)
