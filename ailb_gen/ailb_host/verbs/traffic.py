"""The verb `traffic`: numbered packets over UDP, counted.

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
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import IO, Any

from ..console import OK, number
from ..files import HostError
from ..traffic import BUFFER_BYTES, DRAIN_S, HEADER, MARK, ROCE_PORT, Arrivals, prepare_sender, send_packets

# Where the locks and the counts of the receiver are.
FOLDER = "run/ailb-host"
PATIENCE_S = 10.0


def add_traffic(verbs: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
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
        for one in (signal.SIGTERM, signal.SIGINT):
            signal.signal(one, self._handle)

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
            return OK
        # The lock goes with the open file to the process that stays, whatever becomes of this one.
        os.setsid()
        nowhere = os.open(os.devnull, os.O_RDWR)
        for standard in range(3):
            os.dup2(nowhere, standard)
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
    return OK


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
    return OK


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
            process = lock.read()
            if process.isdigit() and asked != process:
                asked = process
                os.kill(int(process), signal.SIGTERM)
            time.sleep(0.02)
    raise HostError(f"traffic {name} does not end; its process is {asked or 'not known'}")
