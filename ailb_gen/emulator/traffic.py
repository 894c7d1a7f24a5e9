"""Traffic of an emulated fabric: nothing is forwarded, counters grow at rates that somebody has set.

A rate is what a port sends over its cable while a BGP session is up on it; the port at the other end receives it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from ailb_gen.emulator.fabric_state import QueueCounters
from ailb_gen.network.fabric import End

# Of a packet on the wire: an RDMA payload of 4,096 bytes with its headers.
PACKET_BYTES = 4178
# The queue of RDMA where it is known by no other: that of the class `no-loss` from the factory.
NO_LOSS = 4


class LinkRate(NamedTuple):
    """What a port sends: bit/s, and the queue that it leaves from; `dropped` is the part that the queue drops."""

    bits_s: float = 0.0
    dropped: float = 0.0
    queue: int = NO_LOSS


class _Meter:
    """What a port has sent by queue, in octets sent and dropped, until `at_s`; `on` is None where it is not known."""

    __slots__ = ("at_s", "on", "queues", "rate")

    def __init__(self, at_s: float) -> None:
        self.rate, self.at_s = LinkRate(), at_s
        self.on: bool | None = None
        self.queues: dict[int, tuple[float, float]] = {}

    def settle(self, now_s: float) -> None:
        octets = self.rate.bits_s / 8 * (now_s - self.at_s) if self.on else 0.0
        self.at_s = now_s
        if octets > 0:
            sent, dropped = self.queues.get(self.rate.queue, (0.0, 0.0))
            lost = octets * self.rate.dropped
            self.queues[self.rate.queue] = sent + octets - lost, dropped + lost


class EmulatedTraffic:
    """The rates of all ports and what they have counted; `carries` tells whether a port sends at all."""

    def __init__(self, carries: Callable[[End], bool], clock: Callable[[], float]) -> None:
        self._carries, self._clock = carries, clock
        self._meters: dict[End, _Meter] = {}

    def send(self, end: End, rate: LinkRate) -> None:
        """Let a port send at a rate from now on; what it has counted stays."""
        meter = self._meters.setdefault(end, _Meter(self._clock()))
        self._update(end, meter)
        meter.rate = rate

    def changed(self, end: End) -> None:
        """Note that a port may carry something else from now on."""
        if (meter := self._meters.get(end)) is not None:
            meter.settle(self._clock())
            meter.on = None

    def sent(self, end: End, queue: int | None = None) -> QueueCounters:
        """Return what a port has sent and dropped, of one queue or of all."""
        meter = self._meters.get(end)
        if meter is None:
            return QueueCounters()
        self._update(end, meter)
        rows = [found for number, found in meter.queues.items() if queue in (None, number)]
        sent, dropped = (int(sum(row[at] for row in rows)) for at in (0, 1))
        return QueueCounters(sent // PACKET_BYTES, sent, dropped // PACKET_BYTES, dropped)

    def _update(self, end: End, meter: _Meter) -> None:
        if meter.on is None:
            meter.on = self._carries(end)
        meter.settle(self._clock())
