"""The engine against formulas: queueing theory, idle fabrics, fair shares, shares of hashing."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from ailb_gen.sim.engine.run import simulate
from ailb_gen.sim.fabric import PS_PER_S, PS_PER_US, FabricArrays
from ailb_gen.sim.settings import (
    BalancerSettings,
    BufferSettings,
    CongestionSettings,
    PacketSettings,
    SimulationSettings,
    TransportName,
    TransportSettings,
)
from ailb_gen.sim.traffic.builder import NO_TASK, Numbers, TaskBuilder
from ailb_gen.sim.workload import Workload
from tests.sim.engine.cases import GBPS, PACKETS, flows, leaf_spine, link, marking, needs_compiler, star
from tests.sim.files import fabric as fabric_of_files
from tests.sim.walk import shares

BYTE_PS = 80
# Bits of the queue's load, on a link of 100 Gbit/s; sizes are large, so that bytes are as good as real numbers.
MEAN_BYTES = 10_000


def mean_wait(sizes: np.ndarray, load: float, seed: int) -> float:
    """The mean time that packets wait for their link, in service times, with Poisson arrivals."""
    random = np.random.default_rng(seed)
    service = MEAN_BYTES * BYTE_PS
    count = len(sizes)
    arrivals = np.cumsum(random.exponential(service / load, count)).astype(np.int64)
    fabric = star(2, delay_ps=0)
    work = flows(np.zeros(count, np.int32), np.ones(count, np.int32), sizes, arrivals)
    # Packets wait at the NIC; the switch, as fast, has them one after the other.
    settings = SimulationSettings(packets=PacketSettings(int(sizes.max()), 0, 0))
    outcome = simulate(fabric, work, settings, 1)
    assert outcome.complete
    assert outcome.link_packets[link(fabric, "host1", "leaf1")] == count
    waits = outcome.finish_ps - outcome.start_ps - 2 * sizes * BYTE_PS
    return float(waits.mean()) / service


@pytest.mark.long
@needs_compiler
@pytest.mark.parametrize("load", [0.5, 0.8])
def test_packets_of_one_size_wait_as_in_m_d_1(load: float) -> None:
    sizes = np.full(400_000, MEAN_BYTES)
    found = np.mean([mean_wait(sizes, load, seed) for seed in range(6)])
    assert found == pytest.approx(load / (2 * (1 - load)), rel=0.01)


def waits_of_fifo(arrivals: np.ndarray, service: np.ndarray) -> np.ndarray:
    """The waiting times of a queue (Lindley's recursion as a running minimum)."""
    steps = np.concatenate([[0], np.cumsum(service[:-1] - np.diff(arrivals))])
    return np.asarray(steps - np.minimum.accumulate(steps))


def run_fifo(arrivals: np.ndarray, sizes: np.ndarray) -> np.ndarray:
    """Return how long packets wait at a NIC with a link of 100 Gbit/s; that behind it is 80 times as fast."""
    fabric = star(2, delay_ps=0)
    rates = fabric.rate_bps.copy()
    rates[link(fabric, "leaf1", "host2")] = 8 * PS_PER_S
    count = len(sizes)
    work = flows(np.zeros(count, np.int32), np.ones(count, np.int32), sizes, arrivals)
    settings = SimulationSettings(packets=PacketSettings(int(sizes.max()), 0, 0))
    outcome = simulate(replace(fabric, rate_bps=rates), work, settings, 1)
    service = sizes * BYTE_PS
    first = waits_of_fifo(arrivals, service)
    second = waits_of_fifo(arrivals + first + service, sizes)
    assert np.array_equal(outcome.finish_ps, arrivals + first + service + second + sizes)
    return first


@pytest.mark.long
@needs_compiler
@pytest.mark.parametrize("load", [0.5, 0.8])
def test_packets_of_random_sizes_wait_as_in_m_m_1(load: float) -> None:
    service = MEAN_BYTES * BYTE_PS
    found = []
    for seed in range(10):
        random = np.random.default_rng(seed)
        sizes = np.maximum(1, random.exponential(MEAN_BYTES, 1_000_000)).astype(np.int64)
        arrivals = np.cumsum(random.exponential(service / load, len(sizes))).astype(np.int64)
        found.append(run_fifo(arrivals, sizes).mean() / service)
    assert np.mean(found) == pytest.approx(load / (1 - load), rel=0.01)


def test_every_packet_waits_exactly_as_long_as_the_queue_before_it() -> None:
    random = np.random.default_rng(1)
    sizes = random.integers(1, 3000, 300)
    assert run_fifo(np.sort(random.integers(0, 300 * 120_000, 300)), sizes).max() > 0


@pytest.mark.parametrize("amount", [1, 999, 1000, 1001, 25_700])
@pytest.mark.parametrize("transport", ["raw", "go-back-n", "selective-repeat", "timeout-only", "receiver-driven"])
def test_a_flow_on_an_idle_fabric_takes_what_the_formula_says(transport: TransportName, amount: int) -> None:
    """Serialization of all packets once, of the last one on every further link, and the delays."""
    fabric = leaf_spine(delay_ps=700_000)
    settings = SimulationSettings(packets=PACKETS, transport=TransportSettings(transport, window_bytes=10**6))
    outcome = simulate(fabric, flows([0], [2], amount, 12_345), settings, 1)
    packets = -(-amount // 1000)
    last = amount - 1000 * (packets - 1) + 48
    full = 1048 if packets > 1 else last
    # The last packet is the shorter one: it waits behind the one before it on every link.
    wire = (amount + 48 * packets) * BYTE_PS + 3 * (full if packets > 1 else last) * BYTE_PS
    expected = 4 * 700_000 + wire
    assert outcome.finish_ps[0] - outcome.start_ps[0] == expected
    assert outcome.start_ps[0] == 12_345
    acknowledged = replace(settings, transport=replace(settings.transport, ends_acknowledged=True))
    if transport != "raw":
        ended = simulate(fabric, flows([0], [2], amount, 12_345), acknowledged, 1).finish_ps[0]
        # Acknowledgements are longer than the shortest packets.
        behind = max(0, 60 - last) * BYTE_PS if packets > 1 else 0
        assert ended - outcome.finish_ps[0] == 4 * (700_000 + 60 * BYTE_PS) + behind


@pytest.mark.parametrize("transport", ["go-back-n", "selective-repeat", "timeout-only", "receiver-driven"])
def test_every_message_of_a_flow_waits_for_the_acknowledgement_of_the_one_before(transport: TransportName) -> None:
    fabric = leaf_spine(delay_ps=700_000)
    way = TransportSettings(transport, window_bytes=10**6, ends_acknowledged=True)
    alone = simulate(fabric, flows([0], [2], 8_000), SimulationSettings(packets=PACKETS, transport=way), 1)
    parts = SimulationSettings(packets=PACKETS, transport=replace(way, message_bytes=8_000))
    assert simulate(fabric, flows([0], [2], 40_000), parts, 1).finish_ps[0] == 5 * alone.finish_ps[0]
    # What is no multiple of a packet is rounded up to one.
    parts = SimulationSettings(packets=PACKETS, transport=replace(way, message_bytes=7_001))
    assert simulate(fabric, flows([0], [2], 40_000), parts, 1).finish_ps[0] == 5 * alone.finish_ps[0]


def test_a_lost_end_of_a_message_waits_for_the_timer() -> None:
    """Nothing comes after it that would make the receiver ask; a loss before it is repaired at once."""
    fabric = star(2)
    loss = np.zeros(fabric.link_count)
    loss[link(fabric, "leaf1", "host2")] = 0.02
    way = TransportSettings("selective-repeat", window_bytes=10**6, timeout_ps=10**10, timeout_few_ps=10**10)
    settings = SimulationSettings(packets=PACKETS, switches=BufferSettings(loss_probability=loss), transport=way)
    ends = flows([0], [1], 1_000_000)
    seeds = 20
    whole, parts = (
        sum(
            simulate(fabric, ends, replace(settings, transport=replace(way, message_bytes=size)), seed).totals[
                "timeouts"
            ]
            for seed in range(seeds)
        )
        for size in (None, 10_000)
    )
    # 100 ends, each of them lost, again and again, with the probability; within three standard deviations.
    expected = seeds * 100 * 0.02 / (1 - 0.02)
    assert abs(parts - expected) < 3 * expected**0.5
    assert whole <= seeds


@needs_compiler
@pytest.mark.parametrize("count", [2, 4, 8])
def test_flows_share_a_link_evenly_under_dcqcn(count: int) -> None:
    fabric = star(count + 1)
    settings = SimulationSettings(
        packets=PACKETS,
        switches=marking(fabric, 100_000, 400_000),
        transport=TransportSettings("go-back-n"),
        congestion=CongestionSettings("dcqcn"),
    )
    sender = np.arange(1, count + 1)
    totals: Counter[int] = Counter()
    sent = []
    for until in (20_000, 40_000):
        run = replace(settings, until_ps=until * PS_PER_US)
        outcome = simulate(fabric, flows(sender, 0 * sender, 10**9), run, 1)
        assert not outcome.complete
        sent.append(outcome.link_bytes[[link(fabric, f"host{one + 1}", "leaf1") for one in sender]])
        totals[until] = int(outcome.link_bytes[link(fabric, "leaf1", "host1")])
    rates = (sent[1] - sent[0]).astype(float)
    assert rates.sum() ** 2 / (count * (rates**2).sum()) >= 0.95
    assert (totals[40_000] - totals[20_000]) * BYTE_PS >= 0.9 * 20_000 * PS_PER_US


def messages(count: int, size: int, rounds: int) -> Workload:
    """Senders of so many messages to host 0, each after the one before, over one queue pair each."""
    builder = TaskBuilder()
    job = builder.job("job")
    sender = np.arange(1, count + 1)
    before: Numbers = NO_TASK
    for _ in range(rounds):
        before = builder.send(job, sender, 0 * sender, size, before).end
    return builder.finish()


@needs_compiler
@pytest.mark.parametrize("bps", [100 * GBPS, 400 * GBPS])
def test_messages_of_a_queue_pair_go_on_at_its_rate(bps: int) -> None:
    """Many messages take as long as one of their size together; with a new queue pair each they take much longer."""
    fabric = star(5, bps)
    settings = SimulationSettings(
        packets=PACKETS,
        switches=marking(fabric, bps // 10**6, bps // 250_000),
        transport=TransportSettings("go-back-n"),
        congestion=CongestionSettings("dcqcn"),
    )
    many = messages(4, bps // 200_000, 100)
    alone = replace(many, job=np.full(many.count, -1, np.int32))
    whole, chain, fresh = (
        int(simulate(fabric, work, settings, 1).finish_ps.max()) for work in (messages(4, bps // 2000, 1), many, alone)
    )
    assert chain == pytest.approx(whole, rel=0.1)
    assert fresh > 1.15 * whole


def bounds(share: Fraction, count: int) -> tuple[float, float]:
    """What a share of so many independent choices is within, six standard deviations around."""
    mean = float(share) * count
    spread = 6 * (mean * (1 - float(share))) ** 0.5
    return mean - spread, mean + spread


def check_shares(fabric: FabricArrays, source: int, target: int, count: int) -> None:
    work = flows(np.full(count, source), np.full(count, target), 1)
    outcome = simulate(fabric, work, SimulationSettings(packets=PACKETS), 1)
    expected, arrived = shares(fabric, source, int(fabric.first_destination[target]))
    assert arrived == 1
    assert outcome.complete
    for number in range(fabric.link_count):
        low, high = bounds(expected.get(number, Fraction(0)), count)
        assert low <= outcome.link_packets[number] <= high, fabric.link_names[number]


@pytest.mark.parametrize("links", [1, 3])
def test_hashing_spreads_flows_over_next_hops_as_they_are(links: int) -> None:
    check_shares(leaf_spine(2, 3, 1, leaf_spine_links=links), 0, 1, 2_000)


@needs_compiler
def test_hashing_spreads_flows_of_rendered_files_as_the_forwarding_reference_says() -> None:
    """What `shares` says of these next hops equals `forwarding`: tests/sim/test_from_network.py."""
    fabric = fabric_of_files("jvd-8-uplinks")
    last = fabric.host_count - 1
    check_shares(fabric, 0, last, 20_000)


def test_a_random_member_per_packet_is_any_of_them() -> None:
    fabric = leaf_spine(2, 4, 1)
    settings = SimulationSettings(packets=PACKETS, balancer=BalancerSettings("spray"))
    outcome = simulate(fabric, flows([0], [1], 2_000_000), settings, 1)
    for spine in range(1, 5):
        low, high = bounds(Fraction(1, 4), 2_000)
        assert low <= outcome.link_packets[link(fabric, "leaf1", f"spine{spine}")] <= high


def test_half_the_rate_takes_twice_as_long() -> None:
    slow, fast = star(2, 50 * GBPS, 0), star(2, 100 * GBPS, 0)
    work = flows([0], [1], 50_000)
    one, two = (simulate(fabric, work, SimulationSettings(packets=PACKETS), 1) for fabric in (slow, fast))
    assert one.finish_ps[0] == 2 * two.finish_ps[0]
