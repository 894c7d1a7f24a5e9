"""The verb `traffic`: numbered packets over UDP, counted.

`receive` stays in the background until `stop`, or for so many seconds; `send` ends when everything is sent. Each holds
a lock while it runs: a second one is refused, and `stop` ends only what runs.
"""

from __future__ import annotations

import argparse
import fcntl
import ipaddress
import json
import os
import signal
import socket
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import IO, Any

from ..console import DIFFERENT, OK, note, number
from ..files import HostError, read_text
from ..traffic import BUFFER_BYTES, DRAIN_S, HEADER, MARK, ROCE_PORT, Arrivals, prepare_sender, send_packets

# Where the locks and the counts of the receiver are.
FOLDER = "run/ailb-host"
COUNTS = f"{FOLDER}/received"
PATIENCE_S = 10.0


def add_traffic(verbs: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the verb to the command line."""
    parts = verbs.add_parser("traffic", help="packets like those of RoCE over UDP, counted").add_subparsers(
        dest="part", metavar="PART", required=True
    )
    helps = {
        receive: "receive in the background",
        send: "send flows",
        stop: "end both, and print the packets that arrived",
    }
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


def _add_number(part: argparse.ArgumentParser, name: str, usual: int, low: int, high: int, text: str) -> None:
    part.add_argument(name, type=number(low, high), default=usual, metavar="N", help=f"{text}, {low} to {high}")


def _mark(text: str) -> bytes:
    """Read four octets. Raises ValueError."""
    mark = bytes.fromhex(text)
    if len(mark) != len(MARK):
        raise ValueError(text)
    return mark


@contextmanager
def _alone(root: str, name: str) -> Iterator[IO[str]]:
    """Hold the lock of a sender or receiver. Raises HostError."""
    folder = os.path.join(root, FOLDER)
    os.makedirs(folder, 0o700, exist_ok=True)
    with open(os.path.join(folder, name), "a", encoding="ascii") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise HostError(f"traffic {name} runs already; end it: ailb-host traffic stop") from None
        if not os.fstat(lock.fileno()).st_nlink:
            raise HostError(f"'traffic stop' ran meanwhile; run traffic {name} again")
        # It may hold the process of one that was killed.
        lock.truncate(0)
        yield lock


class _Stop:
    """Whether SIGTERM or SIGINT has come, which stop in order; from then on this process is in its lock."""

    def __init__(self, lock: IO[str]) -> None:
        self.come = False
        for one in (signal.SIGTERM, signal.SIGINT):
            signal.signal(one, self._handle)
        lock.write(str(os.getpid()))
        lock.flush()

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
        with suppress(FileNotFoundError):
            os.unlink(os.path.join(arguments.root, COUNTS))
        if os.fork():
            return OK
        # The lock goes with the open file to the process that stays, whatever becomes of this one.
        os.setsid()
        nowhere = os.open(os.devnull, os.O_RDWR)
        for standard in range(3):
            os.dup2(nowhere, standard)
        arrivals = _received(made, arguments.seconds, arguments.mark, _Stop(lock))
        counts = os.path.join(arguments.root, COUNTS)
        with open(f"{counts}.new", "w", encoding="ascii") as file:
            json.dump({"format": 1, "received": {str(flow): row for flow, row in arrivals.flows.items()}}, file)
        os.replace(f"{counts}.new", counts)
        os._exit(0)


def _received(made: socket.socket, seconds: float, mark: bytes, stop: _Stop) -> Arrivals:
    arrivals = Arrivals(mark)
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
        plan = [_flow(row) for row in rows]
    except (ValueError, KeyError, TypeError, ArithmeticError, RecursionError) as error:
        raise HostError(f"standard input: no flows ({type(error).__name__}: {error})") from error
    if not plan:
        raise HostError("standard input: no flows")
    with _alone(arguments.root, "send") as lock:
        stop, flows = _Stop(lock), []
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
    return OK


def _flow(row: dict[str, Any]) -> tuple[int, str, int, str]:
    """Return number, source, port and target of a flow. Raises ValueError, KeyError, TypeError or ArithmeticError."""
    number, port = int(row["flow"]), int(row["port"])
    source, target = (str(ipaddress.IPv6Address(row[key])) for key in ("source", "target"))
    if not (0 <= number < 1 << 32 and 0 < port < 1 << 16):
        raise ValueError(f"flow {number} or port {port} is out of range")
    return number, source, port, target


def stop(arguments: argparse.Namespace) -> int:
    """End what sends and receives, and print the packets that have arrived: null when their number is lost."""
    _end(arguments.root, "send")
    receiver = _end(arguments.root, "receive")
    counts = read_text(arguments.root, COUNTS)
    lost = bool(receiver) and counts is None
    for name in ("received", "received.new", "send", "receive"):
        with suppress(FileNotFoundError):
            os.unlink(os.path.join(arguments.root, FOLDER, name))
    with suppress(OSError):
        os.rmdir(os.path.join(arguments.root, FOLDER))
    print(counts or json.dumps({"format": 1, "received": None if lost else {}}))
    if lost:
        note("traffic receive ended without its counts: it was killed, or /run is full; run it again")
    return DIFFERENT if lost else OK


def _end(root: str, name: str) -> str:
    """End a sender or receiver in order, wait for its end, and return its process, empty for none. Raises HostError."""
    try:
        lock = open(os.path.join(root, FOLDER, name), encoding="ascii", errors="replace")  # noqa: SIM115 - closed below
    except FileNotFoundError:
        return ""
    with lock:
        until = time.monotonic() + PATIENCE_S
        asked = ""
        while time.monotonic() < until:
            free = False
            with suppress(BlockingIOError):
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                free = True
            lock.seek(0)
            process = lock.read(20)
            if free:
                return process
            if asked != process and _has_open(process, lock):
                asked = process
                with suppress(ProcessLookupError):
                    os.kill(int(process), signal.SIGTERM)
            time.sleep(0.02)
    raise HostError(f"traffic {name} does not end; its process is {asked or 'not known'}")


def _has_open(process: str, lock: IO[str]) -> bool:
    """Return whether a process has a file open: a number in a lock may be another's by now."""
    folder, file = f"/proc/{process}/fd", os.fstat(lock.fileno())
    with suppress(OSError):
        return process.isdecimal() and any(
            os.path.samestat(os.stat(f"{folder}/{one}"), file) for one in os.listdir(folder)
        )
    return False
