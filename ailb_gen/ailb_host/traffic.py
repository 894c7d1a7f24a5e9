"""Packets like those of RoCEv2, numbered, over plain UDP: counted to the packet where no GPU sends any.

`receive` stays in the background until `stop`, or for so many seconds; `send` ends when everything is sent. Each holds
a lock while it runs: a second one is refused, and `stop` ends only what runs.
"""

from __future__ import annotations

import argparse
import fcntl
import json
import os
import signal
import socket
import struct
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import IO, Any

from .files import HostError

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
# Where the locks and the counts of the receiver are.
FOLDER = "run/ailb-host"
PATIENCE_S = 10.0


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


@contextmanager
def _alone(root: str, name: str) -> Iterator[IO[str]]:
    """Hold the lock of a sender or receiver, with its process number in it. Raises HostError."""
    folder = os.path.join(root, FOLDER)
    try:
        os.makedirs(folder, 0o700, exist_ok=True)
        with open(os.path.join(folder, name), "a+", encoding="ascii") as lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                raise HostError(f"traffic {name} runs already; end it: ailb-host traffic stop") from None
            yield lock
    except OSError as error:
        raise HostError(f"{error.filename or folder}: {error.strerror}") from error


def _own(lock: IO[str]) -> None:
    """Write this process into its lock."""
    lock.truncate(0)
    lock.write(str(os.getpid()))
    lock.flush()


class _Stop:
    """Whether SIGTERM or SIGINT has come, which stop in order."""

    def __init__(self) -> None:
        self.come = False
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, self._handle)

    def _handle(self, *_: object) -> None:
        self.come = True

    def wait(self, seconds: float) -> bool:
        """Wait, at most so long; returns whether there is an order to stop."""
        if not self.come and seconds:
            time.sleep(seconds)
        return self.come


def receive(arguments: argparse.Namespace) -> int:
    """Start to receive in the background; returns when the port is open."""
    with _alone(arguments.root, "receive") as lock:
        made = socket.socket(socket.AF_INET6, socket.SOCK_DGRAM)
        # Beyond the limit of the kernel only with the rights for it.
        with suppress(OSError, AttributeError):
            made.setsockopt(socket.SOL_SOCKET, getattr(socket, "SO_RCVBUFFORCE", 33), BUFFER_BYTES)
        try:
            made.bind(("::", ROCE_PORT))
        except OSError as error:
            raise HostError(f"UDP port {ROCE_PORT}: {error.strerror}; is other traffic running?") from error
        if os.fork():
            return 0
        # The lock goes with the open file to the process that stays, whatever becomes of this one.
        os.setsid()
        nowhere = os.open(os.devnull, os.O_RDWR)
        for number in range(3):
            os.dup2(nowhere, number)
        _own(lock)
        arrivals = _received(made, arguments.seconds, arguments.mark)
        with open(os.path.join(arguments.root, FOLDER, "received"), "w", encoding="ascii") as file:
            json.dump({"format": 1, "received": {str(flow): row for flow, row in arrivals.flows.items()}}, file)
        os._exit(0)


def _received(made: socket.socket, seconds: float, mark: bytes) -> Arrivals:
    arrivals, stop = Arrivals(mark), _Stop()
    until, ending = time.monotonic() + seconds, False
    while time.monotonic() < until:
        if stop.come and not ending:
            ending, until = True, time.monotonic() + DRAIN_S
        made.settimeout(0.05)
        try:
            data = made.recv(HEADER.size)
        except OSError:
            continue
        made.setblocking(False)
        if (arrivals.take(data) | arrivals.drain(made)) and ending:
            until = time.monotonic() + DRAIN_S
    return arrivals


def send(arguments: argparse.Namespace) -> int:
    """Send the flows on standard input, and print how many packets each has sent."""
    try:
        rows: list[dict[str, Any]] = json.load(sys.stdin)["flows"]
        plan = [(int(row["flow"]), str(row["source"]), int(row["port"]), str(row["target"])) for row in rows]
    except (ValueError, KeyError, TypeError) as error:
        raise HostError(f"standard input: no flows ({type(error).__name__}: {error})") from error
    if not plan:
        raise HostError("standard input: no flows")
    with _alone(arguments.root, "send") as lock:
        _own(lock)
        stop, flows = _Stop(), []
        for flow, source, port, target in plan:
            made = socket.socket(socket.AF_INET6, socket.SOCK_DGRAM)
            try:
                prepare_sender(made, source, port, arguments.dscp)
            except OSError as error:
                reason = f"cannot send from {source} port {port}: {error.strerror}"
                raise HostError(f"{reason}; does the NIC have its addresses?") from error
            flows.append((flow, made, (target, ROCE_PORT)))
        sent = send_packets(flows, arguments.size, arguments.rate, arguments.count, stop.wait, arguments.mark)
    print(json.dumps({"format": 1, "sent": {str(row[0]): count for row, count in zip(plan, sent)}}))
    return 0


def stop(arguments: argparse.Namespace) -> int:
    """End what sends and receives, and print the packets that have arrived."""
    for name in ("send", "receive"):
        _end(arguments.root, name)
    path = os.path.join(arguments.root, FOLDER, "received")
    text = json.dumps({"format": 1, "received": {}})
    with suppress(FileNotFoundError), open(path, encoding="ascii") as file:
        text = file.read()
    for name in ("received", "send", "receive"):
        with suppress(FileNotFoundError):
            os.unlink(os.path.join(arguments.root, FOLDER, name))
    with suppress(OSError):
        os.rmdir(os.path.join(arguments.root, FOLDER))
    print(text)
    return 0


def _end(root: str, name: str) -> None:
    """End a sender or receiver in order, and wait for its end. Raises HostError."""
    try:
        lock = open(os.path.join(root, FOLDER, name), encoding="ascii")  # noqa: SIM115 - closed below
    except FileNotFoundError:
        return
    with lock:
        until = time.monotonic() + PATIENCE_S
        asked = ""
        while time.monotonic() < until:
            with suppress(BlockingIOError):
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                return
            lock.seek(0)
            number = lock.read()
            if number.isdigit() and asked != number:
                asked = number
                os.kill(int(number), signal.SIGTERM)
            time.sleep(0.02)
    raise HostError(f"traffic {name} does not end; its process is {asked or 'not known'}")


def add_parser(verbs: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the verb to the command line."""
    parts = verbs.add_parser("traffic", help="packets like those of RoCE over UDP, counted").add_subparsers(
        dest="part", metavar="PART", required=True
    )
    helps = {receive: "receive in the background", send: "send flows", stop: "end both, and print what has arrived"}
    for run, text in helps.items():
        part = parts.add_parser(run.__name__, help=text)
        part.set_defaults(run=run)
        if run is not stop:
            part.add_argument("--mark", type=_mark, default=MARK, metavar="HEX", help="four octets that mark a run")
        if run is receive:
            _add_number(part, "--seconds", 60, 1, 3600, "end after N seconds")
        if run is send:
            _add_number(part, "--count", 1000, 1, 1 << 30, "packets of a flow")
            _add_number(part, "--rate", 1000, 1, 1_000_000, "packets per second of a flow")
            _add_number(part, "--size", 1024, 64, 8900, "octets of UDP payload in a packet")
            _add_number(part, "--dscp", 26, 0, 63, "DSCP of the packets")


def _mark(text: str) -> bytes:
    """Read four octets. Raises ValueError."""
    mark = bytes.fromhex(text)
    if len(mark) != len(MARK):
        raise ValueError(text)
    return mark


def _add_number(part: argparse.ArgumentParser, name: str, usual: int, least: int, most: int, text: str) -> None:
    def number(word: str) -> int:
        if not least <= int(word) <= most:
            raise ValueError(word)
        return int(word)

    part.add_argument(name, type=number, default=usual, metavar="N", help=f"{text}, {least} to {most}")
