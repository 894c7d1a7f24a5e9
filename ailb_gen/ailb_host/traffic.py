"""Packets like those of RoCEv2, numbered, over plain UDP: counted to the packet where no GPU sends any."""

from __future__ import annotations

import socket
import struct
import time
from collections.abc import Callable, Sequence
from contextlib import suppress

# The UDP port of RoCEv2 (IANA: roce).
ROCE_PORT = 4791
# The base transport header of an RC SEND Only: opcode, flags, partition key, QP and packet sequence number
# (InfiniBand Architecture, 9.2). Then a mark of the run, and the numbers of the flow and of the packet.
HEADER = struct.Struct("!BBHII4sIQ")
SEND_ONLY, PARTITION, LEAST_QP, PSN_MASK, MARK = 0x04, 0xFFFF, 0x10, 0xFFFFFF, b"ailb"
BUFFER_BYTES = 1 << 24
# How long a receiver waits for packets in flight after the order to stop. Seconds.
DRAIN_S = 0.25
# A sender that is late by more does not catch up with a burst. Seconds.
LATE_S = 0.1
# A sender looks for the order to stop after this many packets.
LOOK = 256
# ECN-capable, as RoCE's congestion control wants it (RFC 3168).
ECT0 = 2
# Packets of a run may come from anywhere: flows beyond these are not counted.
MOST_FLOWS = 1 << 16


class Arrivals:
    """The packets that have arrived of every flow of a run.

    By flow: packets; late ones, which came after one that was sent later (RFC 4737, 3.3); the largest number of packets
    in a row that did not come before the next one; the number of the packet that would be the next.
    """

    def __init__(self, mark: bytes = MARK) -> None:
        self.mark = mark
        self.flows: dict[int, list[int]] = {}

    def take(self, data: bytes) -> bool:
        """Count a packet; returns whether it is one of the run."""
        if len(data) < HEADER.size:
            return False
        *_, mark, flow, sequence = HEADER.unpack_from(data)
        if mark != self.mark or (flow not in self.flows and len(self.flows) >= MOST_FLOWS):
            return False
        row = self.flows.setdefault(flow, [0, 0, 0, 0])
        row[0] += 1
        if sequence < row[3]:
            row[1] += 1
        else:
            row[2:] = max(row[2], sequence - row[3]), sequence + 1
        return True

    def drain(self, made: socket.socket) -> bool:
        """Count what waits in a socket that does not block, at most 64 packets; returns whether any was of the run."""
        found = False
        with suppress(BlockingIOError):
            for _ in range(64):
                found = self.take(made.recv(HEADER.size)) or found
        return found


def send_packets(
    flows: Sequence[tuple[int, socket.socket, tuple[str, int]]],
    size: int,
    rate: float,
    count: int,
    stopped: Callable[[float], bool],
    mark: bytes = MARK,
) -> list[int]:
    """Send all flows, given as number, socket and target, evenly over time; returns the packets sent of each.

    `rate` is packets per second of a flow, `count` the packets of a flow, 0 without end. `stopped` waits so many
    seconds, or until there is an order to stop, and returns whether there is.
    """
    packets, buffer = [0] * len(flows), bytearray(size)
    step, end = 1 / (rate * len(flows)), count * len(flows)
    start, number = time.monotonic(), 0
    while not end or number < end:
        now = time.monotonic()
        due = start + number * step
        if due > now or number % LOOK == 0:
            if stopped(max(0.0, due - now)):
                break
            if due > now:
                continue
        if now - due > LATE_S:
            # The machine had no time: the flows go on at their rate, later.
            start = now - number * step
        at, sequence = number % len(flows), number // len(flows)
        flow, made, target = flows[at]
        HEADER.pack_into(buffer, 0, SEND_ONLY, 0, PARTITION, LEAST_QP + at, sequence & PSN_MASK, mark, flow, sequence)
        # Without carrier or route at the NIC the packet is lost like any other.
        with suppress(OSError):
            made.sendto(buffer, target)
        packets[at] = sequence + 1
        number += 1
    return packets


def prepare_sender(made: socket.socket, source: str, port: int, dscp: int) -> None:
    """Bind a socket to a flow's source, with its DSCP. Raises OSError."""
    made.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_TCLASS, dscp << 2 | ECT0)
    made.setblocking(False)
    made.bind((source, port))
