"""The process that sends all flows, and the one that receives them: packets as RoCEv2's, numbered.

Each says over its pipe that it is ready, begins at the next word, and ends at the one after; a sender also stops by
itself after its last packet. What goes back is True and a value, or False and an error.
"""

from __future__ import annotations

import select
import selectors
import socket
import struct
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack, suppress
from multiprocessing.connection import Connection
from typing import Any

from ailb_gen.addresses import address_text
from ailb_gen.errors import LabError
from ailb_gen.lab.namespaces import end_with_parent, open_socket, widen
from ailb_gen.lab.traffic.model import ROCE_PORT, Flow, ReceivedPackets, TrafficLoad

# The base transport header of an RC SEND Only: opcode, flags, partition key, QP and packet sequence number
# (InfiniBand Architecture, 9.2). Then numbers of the flow and of the packet.
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


# `send` or `receive`.
Work = Callable[[tuple[Flow, ...], TrafficLoad, "Connection[Any, Any]"], object]


def send(flows: tuple[Flow, ...], load: TrafficLoad, pipe: Connection[Any, Any]) -> list[int]:
    """Send all flows, evenly over time, until every one has its packets or a word comes; returns their numbers."""
    count = len(flows)
    packets = [0] * count
    with ExitStack() as stack:
        sockets = [_sender(flow, load.dscp, stack) for flow in flows]
        targets = [(address_text(flow.target_address), ROCE_PORT) for flow in flows]
        buffer = bytearray(load.size)
        _announce(pipe)
        step = 1 / (load.rate * count)
        start, number = time.monotonic(), 0
        end = load.count * count
        while not end or number < end:
            now = time.monotonic()
            due = start + number * step
            if due > now or number % LOOK == 0:
                if select.select([pipe], [], [], max(0.0, due - now))[0]:
                    break
                if due > now:
                    continue
            if now - due > LATE_S:
                # The machine had no time: the flows go on at their rate, later.
                start = now - number * step
            at, sequence = number % count, number // count
            psn = sequence & PSN_MASK
            HEADER.pack_into(buffer, 0, SEND_ONLY, 0, PARTITION, LEAST_QP + at, psn, MARK, at, sequence)
            # Without carrier or route at the NIC the packet is lost like any other.
            with suppress(OSError):
                sockets[at].sendto(buffer, targets[at])
            packets[at] = sequence + 1
            number += 1
    return packets


def _sender(flow: Flow, dscp: int, stack: ExitStack) -> socket.socket:
    made = stack.enter_context(open_socket(flow.source, socket.AF_INET6, socket.SOCK_DGRAM))
    made.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_TCLASS, dscp << 2 | ECT0)
    made.setblocking(False)
    source = address_text(flow.source_address)
    try:
        made.bind((source, flow.port))
    except OSError as error:
        reason = f"cannot send from {source} port {flow.port}: {error.strerror}"
        raise LabError(f"{flow.source}: {flow.source_nic}: {reason}; does the NIC have its addresses?") from error
    return made


def receive(flows: tuple[Flow, ...], _load: TrafficLoad, pipe: Connection[Any, Any]) -> list[ReceivedPackets]:
    """Receive all flows until a word comes and nothing more arrives."""
    count = len(flows)
    packets, late, run, expected = ([0] * count for _ in range(4))
    unpack, size = HEADER.unpack_from, HEADER.size
    until = 0.0
    with ExitStack() as stack:
        selector = stack.enter_context(selectors.DefaultSelector())
        for name in dict.fromkeys(flow.target for flow in flows):
            made = _receiver(name, stack)
            selector.register(made, selectors.EVENT_READ, made)
        _announce(pipe)
        selector.register(pipe, selectors.EVENT_READ)
        while not until or time.monotonic() < until:
            for key, _ in selector.select(max(0.0, until - time.monotonic()) if until else None):
                if key.data is None:
                    selector.unregister(pipe)
                    until = time.monotonic() + DRAIN_S
                    continue
                for data in _datagrams(key.data, size):
                    *_, mark, at, sequence = unpack(data)
                    if mark != MARK or at >= count:
                        continue
                    packets[at] += 1
                    if sequence < expected[at]:
                        late[at] += 1
                        continue
                    run[at] = max(run[at], sequence - expected[at])
                    expected[at] = sequence + 1
                    if until:
                        until = time.monotonic() + DRAIN_S
    return [ReceivedPackets(*row) for row in zip(packets, late, run, expected, strict=True)]


def _datagrams(made: socket.socket, size: int) -> Sequence[bytes]:
    found = []
    for _ in range(64):
        try:
            data = made.recv(size)
        except BlockingIOError:
            break
        if len(data) == size:
            found.append(data)
    return found


def _receiver(name: str, stack: ExitStack) -> socket.socket:
    made = stack.enter_context(open_socket(name, socket.AF_INET6, socket.SOCK_DGRAM))
    widen(made, BUFFER_BYTES)
    made.setblocking(False)
    try:
        made.bind(("::", ROCE_PORT))
    except OSError as error:
        raise LabError(f"{name}: UDP port {ROCE_PORT}: {error.strerror}; is other traffic running?") from error
    return made


def _announce(pipe: Connection[Any, Any]) -> None:
    """Say that all sockets are open, and wait for the word to begin."""
    pipe.send((True, None))
    pipe.recv()


def run(work: Work, flows: tuple[Flow, ...], load: TrafficLoad, pipe: Connection[Any, Any]) -> None:
    """Do the work of a process that ends with the one that started it; an error goes out instead of a result."""
    end_with_parent()
    with suppress(BrokenPipeError, EOFError):
        try:
            pipe.send((True, work(flows, load, pipe)))
        except LabError as error:
            pipe.send((False, str(error)))
