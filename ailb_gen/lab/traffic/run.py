"""Run traffic: start the workers, count the bytes of uplinks meanwhile, join the results."""

from __future__ import annotations

import multiprocessing
import signal
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Any

from ailb_gen.errors import LabError
from ailb_gen.lab.kernel import counters
from ailb_gen.lab.plan import LabPlan
from ailb_gen.lab.traffic.model import Flow, FlowResult, ReceivedPackets, TrafficLoad, TrafficResult, Uplink
from ailb_gen.lab.traffic.worker import Work, receive, run, send


class Worker:
    """A process that sends or receives."""

    def __init__(self, work: Work, flows: tuple[Flow, ...], load: TrafficLoad) -> None:
        context = multiprocessing.get_context("fork")
        self._pipe, far = context.Pipe()
        self._process = context.Process(target=run, args=(work, flows, load, far), daemon=True)
        # Ctrl-C reaches all processes of a terminal; this one ends its workers. What is blocked stays so in a child.
        before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
        try:
            self._process.start()
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)
        far.close()

    def tell(self) -> None:
        """Send the word to begin, or to end; a worker that has ended gets nothing."""
        with suppress(BrokenPipeError):
            self._pipe.send(True)

    def result(self) -> Any:  # noqa: ANN401 - of the kind that the worker returns
        """Wait until all sockets are open or, after that, for the result, and return it. Raises LabError."""
        try:
            fine, value = self._pipe.recv()
        except (EOFError, ConnectionResetError) as error:
            self._process.join()
            raise LabError(f"traffic: a worker ended with {self._process.exitcode}") from error
        if not fine:
            raise LabError(value)
        return value

    def end(self) -> None:
        """End the process."""
        self._process.kill()
        self._process.join()
        self._pipe.close()


class Running:
    """Traffic that runs."""

    def __init__(
        self, plan: LabPlan, flows: tuple[Flow, ...], load: TrafficLoad, workers: tuple[Worker, Worker]
    ) -> None:
        self._plan, self._flows, self._load = plan, flows, load
        self._sender, self._receiver = workers
        self._before = uplink_bytes(plan)
        for worker in workers:
            worker.tell()
        self._began = time.monotonic()

    def stop(self) -> TrafficResult:
        """Stop sending now, and return the results. Raises LabError."""
        self._sender.tell()
        return self.wait()

    def wait(self) -> TrafficResult:
        """Wait until everything is sent, and return the results. Raises LabError."""
        sent: list[int] = self._sender.result()
        seconds = time.monotonic() - self._began
        self._receiver.tell()
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
        for work in (receive, send):
            workers.append(Worker(work, flows, load))
        for worker in workers:
            worker.result()
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
