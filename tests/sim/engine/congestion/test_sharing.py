"""Long flows into one link by congestion control: they fill it, share it evenly, and keep its queue short."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache
from itertools import pairwise

import numpy as np
import pytest

from ailb_gen.sim.congestion import CONGESTION
from ailb_gen.sim.engine.run import simulate
from ailb_gen.sim.fabric import PS_PER_US, FabricArrays, Int64
from ailb_gen.sim.outcome import SimulationOutcome
from ailb_gen.sim.settings import BufferSettings, CongestionSettings, SimulationSettings, TransportSettings
from tests.sim.engine.cases import PACKETS, flows, link, marking, needs_compiler, star
from tests.sim.engine.test_run_theory import messages

pytestmark = needs_compiler

BYTE_PS = 80
MS = 1000 * PS_PER_US


@dataclass(frozen=True, slots=True)
class Share:
    """What flows into one link do between two times: its utilization, Jain's index of fairness, queues found."""

    utilization: float
    fairness: float
    queue: float
    last: SimulationOutcome


def mean_queue(histogram: Int64) -> float:
    """Return how many packets a packet found waiting on average, at least: histograms have powers of two."""
    least = np.array([0, *(2.0**number for number in range(len(histogram) - 1))])
    return float((histogram * least).sum() / histogram.sum())


def share(name: str, count: int, switches: BufferSettings, times_ms: tuple[int, int], **given: float) -> Share:
    """Return how long flows to one host share its link."""
    fabric = star(count + 1)
    senders = np.arange(1, count + 1)
    settings = SimulationSettings(
        PACKETS, switches, transport=TransportSettings("go-back-n"), congestion=CongestionSettings(name, given)
    )
    work = flows(senders, 0 * senders, 10**9)
    before, after = (simulate(fabric, work, replace(settings, until_ps=time * MS), 1) for time in times_ms)
    port = link(fabric, "leaf1", "host1")
    own = [link(fabric, f"host{sender + 1}", "leaf1") for sender in senders]
    rates = (after.link_bytes[own] - before.link_bytes[own]).astype(float)
    sent = float(after.link_bytes[port] - before.link_bytes[port])
    return Share(
        sent * BYTE_PS / ((times_ms[1] - times_ms[0]) * MS),
        float(rates.sum() ** 2 / (count * (rates**2).sum())),
        mean_queue(after.histogram[port] - before.histogram[port]),
        after,
    )


def switches(name: str, fabric: FabricArrays) -> BufferSettings:
    """A buffer of 9 MiB: with PFC where flows start at the rate of their links and have no window."""
    marks = marking(fabric, 20_000, 20_001) if name == "dctcp" else marking(fabric, 100_000, 400_000)
    paused = name in ("dcqcn", "timely", "ztr-rtt")
    return replace(marks, shared_buffer_bytes=9 << 20, pfc=paused, headroom_bytes=60_000 if paused else 0)


# Least utilization and fairness, and the longest mean queue, in packets. HPCC leaves 5 % of the link free. TIMELY has
# no single fixed point (Zhu et al., CoNEXT 2016), and goes by a queue of T_low = 50 us, which is 600 packets.
LIMITS = {
    "dcqcn": (0.95, 0.95, 128),
    "dctcp": (0.99, 0.95, 32),
    "timely": (0.90, 0.95, 600),
    "swift": (0.99, 0.95, 64),
    "hpcc": (0.94, 0.95, 4),
    "ztr-rtt": (0.95, 0.95, 4096),
}


@cache
def eight(name: str) -> Share:
    """Eight flows, after six milliseconds."""
    return share(name, 8, switches(name, star(9)), (6, 8))


def test_all_of_them_are_tested() -> None:
    assert set(LIMITS) == set(CONGESTION) - {"none"}


@pytest.mark.parametrize("name", LIMITS)
def test_flows_fill_a_link_and_share_it_evenly(name: str) -> None:
    least, fairness, longest = LIMITS[name]
    found = eight(name)
    assert found.utilization >= least
    assert found.fairness >= fairness
    assert found.queue <= longest
    assert found.last.totals["drops"] == 0


def test_the_order_of_queues_is_that_of_the_papers() -> None:
    """HPCC keeps hardly any queue, DCTCP its threshold, Swift its target, DCQCN the ramp of its marks, TIMELY more."""
    queues = [eight(name).queue for name in ("hpcc", "dctcp", "swift", "dcqcn", "timely", "ztr-rtt")]
    assert all(shorter < longer for shorter, longer in pairwise(queues)), queues


def test_the_queue_of_swift_is_what_its_target_leaves() -> None:
    """All windows together fill the target: n W packets last as long as the target for W says."""
    packet, base = 1048 * BYTE_PS, 4 * PS_PER_US + 2 * (1048 + 60) * BYTE_PS
    windows = np.linspace(1, 100, 100_000)
    slope = 5 * 1.5 * base / (1 / np.sqrt(0.1) - 0.1)
    target = 1.5 * base + np.maximum(0, slope * (1 / np.sqrt(windows) - 0.1))
    window = windows[np.argmin(abs(8 * windows * packet - target))]
    queue = 8 * window - base / packet
    assert eight("swift").queue <= queue < 2 * eight("swift").queue


def test_hpcc_and_swift_survive_an_incast_without_pfc() -> None:
    """Everyone starts with a bandwidth-delay product, and the buffer holds those of all."""
    for name, count in (("hpcc", 32), ("swift", 64)):
        found = share(name, count, switches(name, star(count + 1)), (2, 3))
        assert found.last.totals["drops"] == found.last.totals["timeouts"] == 0
        assert found.utilization >= 0.94
        assert found.fairness >= 0.95


def test_swift_paces_where_not_even_a_packet_of_each_flow_fits() -> None:
    """200 flows, and 50 packets in an idle round trip: windows become shorter than a packet."""
    infinite = replace(switches("swift", star(201)), shared_buffer_bytes=None)
    found = share("swift", 200, infinite, (6, 8), range_factor=1)
    assert found.utilization >= 0.9
    assert found.fairness >= 0.7
    # One packet of each would be 150 in the queue.
    assert found.queue <= 128


def test_what_switches_write_for_hpcc_takes_room_on_the_wire() -> None:
    fabric = star(2)
    work = flows([0], [1], 100_000)
    sizes = []
    for given in ({"int_bytes": 0.0}, {}):
        settings = SimulationSettings(
            PACKETS, transport=TransportSettings("go-back-n"), congestion=CongestionSettings("hpcc", given)
        )
        outcome = simulate(fabric, work, settings, 1)
        sizes.append(outcome.link_bytes[[link(fabric, "host1", "leaf1"), link(fabric, "host2", "leaf1")]])
    assert (sizes[1] - sizes[0]).tolist() == [42 * 100, 42 * 100]
    assert sizes[0].tolist() == [1048 * 100, 60 * 100]


@pytest.mark.parametrize("name", ["swift", "hpcc", "dctcp", "timely"])
def test_messages_of_a_queue_pair_go_on_with_its_window(name: str) -> None:
    """Messages, one after the other, find shorter queues than with new queue pairs, which all start at full rate."""
    fabric = star(9)
    many = messages(8, 100_000, 20)
    alone = replace(many, job=np.full(many.count, -1, np.int32))
    settings = SimulationSettings(
        PACKETS, switches(name, fabric), transport=TransportSettings("go-back-n"), congestion=CongestionSettings(name)
    )
    port = link(fabric, "leaf1", "host1")
    kept, fresh = (mean_queue(simulate(fabric, work, settings, 1).histogram[port]) for work in (many, alone))
    assert kept < 0.8 * fresh
