"""The process that sends all flows, and the one that receives them: packets as RoCEv2's, numbered.

Each says over its pipe that it is ready, begins at the next word, and ends at the one after; a sender also stops by
itself after its last packet. What goes back is True and a value, or False and an error.
"""

from __future__ import annotations

import select
import selectors
import socket
import time
from collections.abc import Callable
from contextlib import ExitStack, suppress
from multiprocessing.connection import Connection
from typing import Any

from ailb_gen.addresses import address_text
from ailb_gen.ailb_host.traffic import BUFFER_BYTES, DRAIN_S, ROCE_PORT, Arrivals, prepare_sender, send_packets
from ailb_gen.errors import LabError
from ailb_gen.lab.namespaces import end_with_parent, open_socket, widen
from ailb_gen.lab.traffic.model import Flow, ReceivedPackets, TrafficLoad

# `send` or `receive`.
Work = Callable[[tuple[Flow, ...], TrafficLoad, "Connection[Any, Any]"], object]


def send(flows: tuple[Flow, ...], load: TrafficLoad, pipe: Connection[Any, Any]) -> list[int]:
    """Send all flows, evenly over time, until every one has its packets or a word comes; returns their numbers."""
    with ExitStack() as stack:
        rows = [
            (at, _sender(flow, load.dscp, stack), (address_text(flow.target_address), ROCE_PORT))
            for at, flow in enumerate(flows)
        ]
        _announce(pipe)
        stopped = lambda seconds: bool(select.select([pipe], [], [], seconds)[0])  # noqa: E731
        return send_packets(rows, load.size, load.rate, load.count, stopped)


def _sender(flow: Flow, dscp: int, stack: ExitStack) -> socket.socket:
    made = stack.enter_context(open_socket(flow.source, socket.AF_INET6, socket.SOCK_DGRAM))
    source = address_text(flow.source_address)
    try:
        prepare_sender(made, source, flow.port, dscp)
    except OSError as error:
        reason = f"cannot send from {source} port {flow.port}: {error.strerror}"
        raise LabError(f"{flow.source}: {flow.source_nic}: {reason}; does the NIC have its addresses?") from error
    return made


def receive(flows: tuple[Flow, ...], _load: TrafficLoad, pipe: Connection[Any, Any]) -> list[ReceivedPackets]:
    """Receive all flows until a word comes and nothing more arrives."""
    arrivals, until = Arrivals(), 0.0
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
                elif arrivals.drain(key.data) and until:
                    until = time.monotonic() + DRAIN_S
    return [ReceivedPackets(*arrivals.flows.get(at, (0, 0, 0, 0))) for at in range(len(flows))]


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
