"""Packets over real kernels: what arrives is counted, what is lost is noticed, uplinks carry what flows send."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Mapping
from pathlib import Path

import pytest

from ailb_gen.errors import LabError, UsageError
from ailb_gen.lab.namespaces import batch
from ailb_gen.lab.plan import LabPlan, PortPlan, ServerPlan, SwitchPlan
from ailb_gen.lab.plan import plan as planned
from ailb_gen.lab.traffic.flows import flows, partners
from ailb_gen.lab.traffic.model import Flow, ReceivedPackets, TrafficLoad, TrafficResult, usual_load
from ailb_gen.lab.traffic.run import flow_result, measure, running
from ailb_gen.network.fabric import End
from tests.checks.trees import GOLDEN, network_of
from tests.lab.isolated import isolated
from tests.lab.wired import ADDRESSES, build, value


def switch(name: str, number: int) -> SwitchPlan:
    far = ("spine1", "spine2")
    ports = {f"et-0/0/{k}": PortPlan(f"et-0/0/{k}", one, "", End(one, name), k) for k, one in enumerate(far)}
    return SwitchPlan(name, number, "leaf", 0, ports)


PLAN = LabPlan(
    switches={name: switch(name, n) for n, name in enumerate(("leaf1", "leaf2"), 1)}
    | {name: SwitchPlan(name, 3, "spine", 0, {}) for name in ("spine1", "spine2")},
    servers={name: ServerPlan(name, 9, {}) for name in ("h1", "h2")},
    links=(),
    neighbors_needed=0,
)


def queue_pairs(count: int, source: str = "h1", target: str = "h2", first: int = 0) -> tuple[Flow, ...]:
    return tuple(
        Flow(
            source,
            "gpu0",
            value(ADDRESSES[source][k % 2]),
            target,
            "gpu0",
            value(ADDRESSES[target][k % 2]),
            k,
            50000 + k,
        )
        for k in range(first, first + count)
    )


def both_ways() -> TrafficResult:
    build()
    return measure(PLAN, (*queue_pairs(4), *queue_pairs(4, "h2", "h1")), TrafficLoad(rate=500, count=400, size=1000))


def test_nothing_is_lost_and_pinned_flows_fill_both_uplinks_alike() -> None:
    result = isolated(both_ways)

    assert [(one.sent, one.received, one.late, one.outage_ms) for one in result.flows] == [(400, 400, 0, 0.0)] * 8
    assert {leaf: f"{spread:.3f}" for leaf, spread in result.spread().items()} == {"leaf1": "1.000", "leaf2": "1.000"}
    # Two flows of 400 packets: payload, UDP, IPv6 and Ethernet headers. Some neighbor discovery comes on top.
    own = 2 * 400 * (1000 + 8 + 40 + 14)
    assert all(own <= size < own + 2000 for size in result.uplinks.values())


def interrupted() -> TrafficResult:
    build()
    with running(PLAN, queue_pairs(2), TrafficLoad(rate=1000, count=0)) as traffic:
        time.sleep(0.5)
        batch(["link set leaf1 down"], "spine1")
        time.sleep(0.3)
        batch(["link set leaf1 up"], "spine1")
        batch(
            [
                "addr replace fd00:1:1::2/64 dev leaf1 nodad",
                *(f"route replace fc00:1:{k}::/64 via fd00:1:1::1 dev leaf1" for k in (1, 2)),
            ],
            "spine1",
            "-6",
        )
        time.sleep(0.7)
        return traffic.stop()


def test_a_link_that_fails_under_traffic() -> None:
    first, second = isolated(interrupted).flows

    assert (second.lost, second.late, second.outage_ms) == (0, 0, 0.0)
    assert 0 < first.lost < first.sent
    # At 1000 packets per second a packet is a millisecond. The first ones after the repair wait for the neighbor.
    assert first.outage_ms == pytest.approx(first.lost, rel=0.2)


def interrupted_workers() -> tuple[list[int], TrafficResult]:
    build()
    with running(PLAN, queue_pairs(2), TrafficLoad(rate=500, count=200)) as traffic:
        children = Path("/proc/self/task").glob("*/children")
        workers = [int(number) for file in children for number in file.read_text(encoding="ascii").split()]
        for number in workers:
            os.kill(number, signal.SIGINT)
        return workers, traffic.wait()


def test_ctrl_c_is_not_for_workers(capfd: pytest.CaptureFixture[str]) -> None:
    workers, result = isolated(interrupted_workers)
    assert len(workers) == 2
    assert [(one.sent, one.received) for one in result.flows] == [(200, 200)] * 2
    assert "Traceback" not in capfd.readouterr().err


def unusable() -> str:
    build()
    broken = Flow("h1", "gpu0", value("fc00:7::1"), "h2", "gpu0", value(ADDRESSES["h2"][0]), 0, 50000)
    with pytest.raises(LabError) as raised:
        measure(PLAN, (broken,), TrafficLoad(count=1))
    return str(raised.value)


def test_an_address_that_is_not_there() -> None:
    reason = "cannot send from fc00:7::1 port 50000: Cannot assign requested address"
    assert isolated(unusable) == f"h1: gpu0: {reason}; does the NIC have its addresses?"


@pytest.mark.parametrize(
    ("sent", "received", "lost", "outage_ms"),
    [
        (10, ReceivedPackets(10, 0, 0, 10), 0, 0.0),
        (10, ReceivedPackets(10, 1, 2, 10), 0, 0.0),
        (10, ReceivedPackets(7, 0, 2, 10), 3, 2.0),
        (10, ReceivedPackets(5, 0, 1, 5), 5, 5.0),
        (10, ReceivedPackets(0, 0, 0, 0), 10, 10.0),
        (0, ReceivedPackets(0, 0, 0, 0), 0, 0.0),
    ],
)
def test_outages(sent: int, received: ReceivedPackets, lost: int, outage_ms: float) -> None:
    found = flow_result(queue_pairs(1)[0], sent, received, 1000.0)
    assert (found.lost, found.outage_ms) == (lost, outage_ms)


@pytest.mark.parametrize("wrong", [{"rate": 0}, {"rate": 2e6}, {"count": -1}, {"size": 63}, {"size": 9000}])
def test_wrong_loads(wrong: Mapping[str, float]) -> None:
    with pytest.raises(UsageError, match="choose"):
        TrafficLoad(**wrong)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("flows", "rate", "count", "expected"),
    [(32, None, None, (1000, 1000)), (4000, None, None, (10, 20)), (4000, 50, None, (50, 50)), (1, None, 7, (1000, 7))],
)
def test_usual_loads(flows: int, rate: float | None, count: int | None, expected: tuple[float, int]) -> None:
    load = usual_load(flows, rate, count)
    assert (load.rate, load.count) == expected


def test_flows_of_a_fabric() -> None:
    network = network_of(GOLDEN / "lab")
    made = planned(network)
    assert partners(made, network.hosts) == {
        "gpu-s1-1": "gpu-s2-1",
        "gpu-s1-2": "gpu-s2-2",
        "gpu-s2-1": "gpu-s1-1",
        "gpu-s2-2": "gpu-s1-2",
    }
    pinned, hashed = (flows(made, network.hosts, ecmp=ecmp) for ecmp in (False, True))
    assert (len(pinned), len(hashed)) == (32, 32)
    assert all(one.source_address >> 64 & 0xFFFF == one.target_address >> 64 & 0xFFFF == one.qp + 1 for one in pinned)
    assert {one.source_address >> 64 & 0xFFFF for one in hashed} == {1}
    assert len({(one.source, one.source_address, one.port) for one in hashed}) == 32
    assert hashed == flows(made, network.hosts, ecmp=True) != flows(made, network.hosts, ecmp=True, seed=2)
    assert len(flows(made, network.hosts, qps=6)) == 48
    with pytest.raises(UsageError, match="choose fewer --qps"):
        flows(made, network.hosts, qps=1000)
