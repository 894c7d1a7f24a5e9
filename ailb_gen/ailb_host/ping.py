"""Probes from every address of this server to those of others that have the same color, all at once.

Answers are known by what they carry: a number of this run and that of the pair. Whatever else arrives is counted, and
keeps nobody waiting.
"""

from __future__ import annotations

import os
import select
import socket
import struct
import time
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from .addresses import ColorAddress, Peer
from .files import HostError

ECHO_REQUEST, ECHO_REPLY = 128, 129
# linux/icmpv6.h: setsockopt level IPPROTO_ICMPV6; bits of types that do not pass.
ICMPV6_FILTER = 1
# Type, code, checksum (the kernel's), identifier, sequence; number of the run, pair, probe.
HEADER, PAYLOAD = struct.Struct("!BBHHH"), struct.Struct("!8sIH")
# Datagrams taken from a socket in a row, so that a flood does not keep others from being sent.
IN_A_ROW = 64
# The first probe of a source waits for the neighbor's answer; others would only fill the queue of that.
WARM_UP_S = 0.5


class Pair(NamedTuple):
    """Two addresses of one color: of this server, and of a peer."""

    source: ColorAddress
    peer: str
    target: ColorAddress


class PairResult(NamedTuple):
    """What came of a pair: probes sent, round trips of those answered in us; `error` is why none could be sent."""

    pair: Pair
    sent: int
    times_us: tuple[float, ...]
    error: str

    @property
    def lost(self) -> int:
        """Probes without an answer."""
        return self.sent - len(self.times_us)


class Run(NamedTuple):
    """The results of all pairs, and how many datagrams arrived that answer nothing."""

    results: list[PairResult]
    strays: int


def pairs_of(own: Peer, peers: Iterable[Peer], all_rails: bool) -> list[Pair]:
    """Return the pairs of this server with others: the same color, and the same rail unless all are asked for."""
    return [
        Pair(source, peer.name, target)
        for peer in peers
        for source in own.addresses
        for target in peer.addresses
        if source.color == target.color and (all_rails or source.rail == target.rail)
    ]


def _socket(source: str) -> socket.socket:
    try:
        found = socket.socket(socket.AF_INET6, socket.SOCK_RAW | socket.SOCK_NONBLOCK, socket.IPPROTO_ICMPV6)
    except PermissionError:
        raise HostError("probes need the right to send raw packets; run ailb-host ping as root") from None
    passing = [0xFFFFFFFF] * 8
    passing[ECHO_REPLY >> 5] &= ~(1 << (ECHO_REPLY & 31)) & 0xFFFFFFFF
    found.setsockopt(socket.IPPROTO_ICMPV6, ICMPV6_FILTER, struct.pack("8I", *passing))
    try:
        found.bind((source, 0))
    except OSError as error:
        found.close()
        raise HostError(f"{source}: {error.strerror}") from error
    return found


class Prober:
    """Sends probes and takes answers; `pairs` by their numbers."""

    def __init__(self, pairs: list[Pair]) -> None:
        self.pairs = pairs
        self.run = os.urandom(8)
        self.sockets: dict[int, socket.socket] = {}
        self.of_source: dict[str, socket.socket] = {}
        self.sent: dict[tuple[int, int], int] = {}
        self.times: dict[tuple[int, int], float] = {}
        self.errors: dict[int, str] = {}
        self.strays = 0
        self.poll = select.poll()

    def open(self) -> None:
        """Open a socket per source. Raises HostError."""
        for pair in self.pairs:
            source = str(pair.source.address)
            if source not in self.of_source:
                found = _socket(source)
                self.of_source[source] = found
                self.sockets[found.fileno()] = found
                self.poll.register(found, select.POLLIN)

    def close(self) -> None:
        """Close all sockets."""
        for one in self.sockets.values():
            one.close()

    def send(self, number: int, probe: int) -> bool:
        """Send a probe of a pair; return whether it left: a full queue is tried again."""
        pair = self.pairs[number]
        packet = HEADER.pack(ECHO_REQUEST, 0, 0, number & 0xFFFF, probe) + PAYLOAD.pack(self.run, number, probe)
        try:
            now = time.monotonic_ns()
            self.of_source[str(pair.source.address)].sendto(packet, (str(pair.target.address), 0))
        except BlockingIOError:
            return False
        except OSError as error:
            self.errors[number] = error.strerror or str(error)
            return True
        self.sent.setdefault((number, probe), now)
        return True

    def take(self, timeout_ms: float) -> None:
        """Take the answers that arrive within so many milliseconds, at most some of every source."""
        for descriptor, _ in self.poll.poll(timeout_ms):
            for _ in range(IN_A_ROW):
                try:
                    data, sender = self.sockets[descriptor].recvfrom(2048)
                except OSError:
                    break
                self._answer(descriptor, data, sender[0], time.monotonic_ns())

    def _answer(self, descriptor: int, data: bytes, sender: str, now: int) -> None:
        if len(data) == HEADER.size + PAYLOAD.size:
            run, number, probe = PAYLOAD.unpack_from(data, HEADER.size)
            key = (number, probe)
            if run == self.run and key in self.sent and key not in self.times:
                pair = self.pairs[number]
                right = self.of_source[str(pair.source.address)].fileno() == descriptor
                if right and sender.partition("%")[0] == str(pair.target.address):
                    self.times[key] = (now - self.sent[key]) / 1000
                    return
        self.strays += 1


def ping(pairs: list[Pair], probes: int, rate: float, timeout_s: float) -> Run:
    """Send `probes` to every pair, `rate` a second in all, and wait `timeout_s` for the last answers.

    Raises HostError without the right to send, or for an address that this server no longer has.
    """
    prober = Prober(pairs)
    try:
        prober.open()
        _warm_up(prober)
        start = time.monotonic()
        queue = [(number, probe) for probe in range(1, probes + 1) for number in range(len(pairs))]
        for count, (number, probe) in enumerate(queue):
            if number in prober.errors:
                continue
            while not prober.send(number, probe):
                prober.take(1)
            early = start + count / rate - time.monotonic()
            prober.take(max(0.0, early * 1000))
        end = time.monotonic() + timeout_s
        while len(prober.times) < len(prober.sent) and time.monotonic() < end:
            prober.take((end - time.monotonic()) * 1000)
    finally:
        prober.close()
    return Run([_result(prober, number, probes) for number in range(len(pairs))], prober.strays)


def _warm_up(prober: Prober) -> None:
    """Let every source find its gateway."""
    first: dict[str, int] = {}
    for number, pair in enumerate(prober.pairs):
        first.setdefault(str(pair.source.address), number)
    for number in first.values():
        prober.send(number, 0)
    end = time.monotonic() + WARM_UP_S
    while len(prober.times) < len(prober.sent) and time.monotonic() < end:
        prober.take((end - time.monotonic()) * 1000)
    prober.sent.clear()
    prober.times.clear()
    prober.errors.clear()


def _result(prober: Prober, number: int, probes: int) -> PairResult:
    keys = [(number, probe) for probe in range(1, probes + 1)]
    times = tuple(prober.times[key] for key in keys if key in prober.times)
    return PairResult(prober.pairs[number], probes, times, prober.errors.get(number, ""))


COLOR_COLUMNS = ("color", "pairs", "probes", "lost", "loss %", "min us", "median us", "max us")


def by_color(results: list[PairResult]) -> list[tuple[str, ...]]:
    """Return a row of COLOR_COLUMNS for every color, in the order of the plan."""
    rows = []
    for color in dict.fromkeys(row.pair.source.color for row in results):
        own = [row for row in results if row.pair.source.color == color]
        times = sorted(one for row in own for one in row.times_us)
        sent, lost = sum(row.sent for row in own), sum(row.lost for row in own)
        shown = [f"{one:.0f}" for one in (times[0], times[len(times) // 2], times[-1])] if times else ["-"] * 3
        rows.append((color, str(len(own)), str(sent), str(lost), f"{100 * lost / sent:.1f}", *shown))
    return rows


def losses(run: Run) -> Iterator[str]:
    """Yield a line for every pair with loss, and one for what answered nothing."""
    for row in run.results:
        if row.lost:
            pair = row.pair
            ends = f"{pair.source.nic} {pair.source.address} to {pair.peer} {pair.target.nic} {pair.target.address}"
            why = row.error or f"{row.lost} of {row.sent} probes lost"
            check = "check the route of the source" if row.error else f"check color {pair.source.color} at both leaves"
            yield f"{ends} ({pair.source.color}): {why}; {check}"
    if run.strays:
        yield f"{run.strays} packets arrived that answer no probe"


def run_json(run: Run) -> dict[str, Any]:
    """Return all results."""
    pairs = [
        {
            "nic": row.pair.source.nic,
            "color": row.pair.source.color,
            "source": str(row.pair.source.address),
            "server": row.pair.peer,
            "target": str(row.pair.target.address),
            "sent": row.sent,
            "lost": row.lost,
            "times_us": [round(one, 1) for one in row.times_us],
            "error": row.error,
        }
        for row in run.results
    ]
    return {"pairs": pairs, "strays": run.strays}
