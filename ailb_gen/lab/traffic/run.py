"""Run traffic: start the workers, count the bytes of uplinks meanwhile, join the results."""

from __future__ import annotations

import pickle
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from ailb_gen.errors import LabError
from ailb_gen.lab import run_directory
from ailb_gen.lab.kernel import counters
from ailb_gen.lab.plan import LabPlan
from ailb_gen.lab.traffic.model import Flow, FlowResult, ReceivedPackets, TrafficLoad, TrafficResult, Uplink
from ailb_gen.lab.traffic.worker import Task

MODULE = "ailb_gen.lab.traffic.worker"


class Worker:
    """A process that sends or receives."""

    def __init__(self, what: str, task: Task) -> None:
        # Ctrl-C reaches all processes of a terminal; this one ends its workers. What is blocked stays so in a child.
        before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
        try:
            self._process = subprocess.Popen(
                (sys.executable, "-m", MODULE, what, run_directory.root()),
                pass_fds=run_directory.descriptors(),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
            )
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)
        data = pickle.dumps(task)
        self._write(len(data).to_bytes(8, "big") + data)

    def ready(self) -> None:
        """Wait until all sockets are open. Raises LabError."""
        line = self._process.stdout.readline() if self._process.stdout is not None else b""
        if line != b"ready\n":
            said = self.result() if line == b"failed\n" else f"it ended with {self._process.wait()}"
            raise LabError(str(said))

    def tell(self, word: bytes) -> None:
        """Send `go` or `stop`; a worker that has ended gets nothing."""
        self._write(word + b"\n")

    def result(self) -> Any:  # noqa: ANN401 - of the kind that the worker returns
        """Wait for the end of the work, and return its result. Raises LabError."""
        try:
            return pickle.load(self._process.stdout)  # type: ignore[arg-type]  # noqa: S301 - from the worker
        except (EOFError, pickle.UnpicklingError) as error:
            raise LabError(f"traffic: a worker ended with {self._process.wait()}") from error

    def end(self) -> None:
        """End the process."""
        self._process.kill()
        self._process.communicate()

    def _write(self, data: bytes) -> None:
        try:
            if self._process.stdin is not None:
                self._process.stdin.write(data)
                self._process.stdin.flush()
        except BrokenPipeError:
            return


class Running:
    """Traffic that runs."""

    def __init__(
        self, plan: LabPlan, flows: tuple[Flow, ...], load: TrafficLoad, workers: tuple[Worker, Worker]
    ) -> None:
        self._plan, self._flows, self._load = plan, flows, load
        self._sender, self._receiver = workers
        self._before = uplink_bytes(plan)
        for worker in workers:
            worker.tell(b"go")
        self._began = time.monotonic()

    def stop(self) -> TrafficResult:
        """Stop sending now, and return the results. Raises LabError."""
        self._sender.tell(b"stop")
        return self.wait()

    def wait(self) -> TrafficResult:
        """Wait until everything is sent, and return the results. Raises LabError."""
        sent: list[int] = self._sender.result()
        seconds = time.monotonic() - self._began
        self._receiver.tell(b"stop")
        received: list[ReceivedPackets] = self._receiver.result()
        after = uplink_bytes(self._plan)
        uplinks = {uplink: size - self._before.get(uplink, 0) for uplink, size in after.items()}
        # A machine that is too slow sends fewer packets per second than the load says.
        rates = [number / seconds if number else self._load.rate for number in sent]
        found = (flow_result(*row) for row in zip(self._flows, sent, received, rates, strict=True))
        return TrafficResult(tuple(found), uplinks, self._load, seconds)


@contextmanager
def running(plan: LabPlan, flows: tuple[Flow, ...], load: TrafficLoad) -> Iterator[Running]:
    """Start traffic, and end it with the block. Raises LabError."""
    workers: list[Worker] = []
    try:
        for what in ("receive", "send"):
            workers.append(Worker(what, Task(flows, load)))
        for worker in workers:
            worker.ready()
        yield Running(plan, flows, load, (workers[1], workers[0]))
    finally:
        for worker in workers:
            worker.end()


def measure(plan: LabPlan, flows: Sequence[Flow], load: TrafficLoad) -> TrafficResult:
    """Send all packets of a load, and return the results. Raises LabError."""
    with running(plan, tuple(flows), load) as traffic:
        return traffic.wait()


def flow_result(flow: Flow, sent: int, received: ReceivedPackets, rate: float) -> FlowResult:
    """Join the numbers of sent and received packets; packets that were lost at the end are a run, too."""
    row = max(received.run, sent - received.expected) if received.packets < sent else 0
    return FlowResult(flow, sent, received.packets, received.late, 1e3 * row / rate)


def uplink_bytes(plan: LabPlan) -> dict[Uplink, int]:
    """Return the bytes that every leaf has sent on every port to another switch."""
    found = {}
    for name, switch in plan.switches.items():
        ports = [port for port in switch.ports.values() if port.far.device in plan.switches]
        if switch.role != "leaf" or not ports:
            continue
        seen = counters(name)
        for port in ports:
            found[Uplink(name, port.port, port.far.device)] = seen[port.link].output_bytes
    return found
