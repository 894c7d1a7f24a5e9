"""Traffic of the servers themselves: all receive, then all send, and whatever comes, nothing of it keeps running."""

from __future__ import annotations

import json
import secrets
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ailb_gen.accept.flows import AcceptFlow
from ailb_gen.accept.hosts import ask_host, wrong_answer
from ailb_gen.deploy.servers.files import whole
from ailb_gen.deploy.servers.ssh import ServerConnection
from ailb_gen.deploy.session import DeploySession
from ailb_gen.deploy.switch_driver import DeviceError, Phase, RequestRefusedError

# Seconds that a receiver waits for more than the packets take.
SPARE_S = 60.0
MOST_PACKETS = 1 << 63


@dataclass(frozen=True, slots=True)
class AcceptLoad:
    """The packets of every flow: their number, those per second, the octets of UDP payload, and the DSCP."""

    count: int
    rate: int
    size: int
    dscp: int = 26


@dataclass(frozen=True, slots=True)
class TrafficCounts:
    """By flow: packets sent, received, and received after one that was sent later; errors by server."""

    sent: Mapping[int, int]
    received: Mapping[int, int]
    late: Mapping[int, int]
    errors: Mapping[str, DeviceError]


def run_traffic(session: DeploySession, flows: Sequence[AcceptFlow], load: AcceptLoad) -> TrafficCounts:
    """Send all flows, and count; in the end no server sends or receives any more.

    A server with traffic of another run refuses; that run goes on.
    """
    mark, seconds = secrets.token_hex(4), load.count / load.rate
    of_server: dict[str, list[dict[str, object]]] = defaultdict(list)
    for flow in flows:
        row = {"flow": flow.number, "source": flow.source_address, "port": flow.port, "target": flow.target_address}
        of_server[flow.source.end.device].append(row)
    servers = sorted({flow.target.end.device for flow in flows} | of_server.keys())

    def receive(_: str, server: ServerConnection) -> None:
        words = ("--mark", mark, "--seconds", str(round(seconds + SPARE_S)))
        ask_host(server, "traffic", "receive", *words)

    def send(name: str, server: ServerConnection) -> dict[int, int]:
        words = [f"--{key}={value}" for key, value in vars_of(load).items()]
        data, most_s = json.dumps({"flows": of_server[name]}), 3 * seconds + SPARE_S
        answer = ask_host(server, "traffic", "send", "--mark", mark, *words, data=data, timeout_s=most_s)
        return _numbers(name, answer, "sent")

    def stop(name: str, server: ServerConnection) -> dict[int, tuple[int, ...]]:
        return _rows(name, ask_host(server, "traffic", "stop"))

    pool = session.pool
    ours = servers
    try:
        ready = pool.run(servers, receive, Phase.READ)
        there = ready.good
        ours = [name for name in servers if not isinstance(ready.bad.get(name), RequestRefusedError)]
        sent = pool.run([name for name in of_server if name in there], send, Phase.READ)
    finally:
        ended = pool.run(ours, stop, Phase.READ)
    rows = {flow: row for found in ended.good.values() for flow, row in found.items()}
    return TrafficCounts(
        {flow: number for found in sent.good.values() for flow, number in found.items()},
        {flow: row[0] for flow, row in rows.items()},
        {flow: row[1] for flow, row in rows.items()},
        {**ended.bad, **sent.bad, **ready.bad},
    )


def vars_of(load: AcceptLoad) -> dict[str, int]:
    """Return a load as options of `ailb-host traffic send`."""
    return {"count": load.count, "rate": load.rate, "size": load.size, "dscp": load.dscp}


def _numbers(name: str, answer: Mapping[str, object], key: str) -> dict[int, int]:
    try:
        rows = answer[key]
        if not isinstance(rows, dict):
            raise TypeError(type(rows).__name__)
        return {int(flow): whole(number) for flow, number in rows.items()}
    except (KeyError, TypeError, ValueError) as error:
        raise wrong_answer(name, "traffic send", error) from error


def _rows(name: str, answer: Mapping[str, object]) -> dict[int, tuple[int, ...]]:
    try:
        rows = answer["received"]
        if not isinstance(rows, dict):
            raise TypeError(type(rows).__name__)
        found = {int(flow): tuple(map(whole, row)) for flow, row in rows.items()}
        if any(len(row) != 4 for row in found.values()):
            raise ValueError("a flow without its four numbers")
    except (KeyError, TypeError, ValueError) as error:
        raise wrong_answer(name, "traffic stop", error) from error
    return found
