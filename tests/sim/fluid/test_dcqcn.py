"""DCQCN on flows: what a flow alone does, a cut and its recovery by hand, and rates that no link contradicts."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ailb_gen.sim.clos import clos
from ailb_gen.sim.congestion import CONGESTION
from ailb_gen.sim.fabric import PS_PER_S, PS_PER_US, FabricArrays, LinkChange
from ailb_gen.sim.fluid.run import advanced, prepared, simulate
from ailb_gen.sim.fluid.state import FOREVER, FluidState
from ailb_gen.sim.memory import needed_bytes
from ailb_gen.sim.settings import (
    BalancerSettings,
    BufferSettings,
    CongestionSettings,
    PacketSettings,
    SimulationSettings,
)
from ailb_gen.sim.workload import Workload
from tests.conftest import examples
from tests.sim.fluid.tasks import workload
from tests.sim.processes import check_both_ways

GBPS = 10**9
RATE = 100 * GBPS
US = PS_PER_US


def marking(
    fabric: FabricArrays, balancer: str = "ecmp", least: int = 100_000, most: int = 100_001
) -> SimulationSettings:
    """DCQCN, and switches that mark every packet of queues above `most` bytes."""
    count = fabric.link_count
    return SimulationSettings(
        packets=PacketSettings(1000, 0),
        switches=BufferSettings(
            ecn_min_bytes=np.full(count, least), ecn_max_bytes=np.full(count, most), ecn_probability=np.ones(count)
        ),
        balancer=BalancerSettings(balancer),
        congestion=CongestionSettings("dcqcn"),
    )


def one_leaf() -> FabricArrays:
    return clos(1, 1, 3, host_bps=RATE, uplink_bps=RATE)


def without(given: SimulationSettings) -> SimulationSettings:
    return replace(given, congestion=CongestionSettings())


def test_flows_that_share_only_their_host_are_not_marked() -> None:
    built = one_leaf()
    work = workload([(0, 1, 10**6, 0), (0, 1, 10**7, 0), (0, 2, 10**6, 5 * US)])
    limited, fair = (simulate(built, work, one, 1) for one in (marking(built), without(marking(built))))
    assert limited.finish_ps.tolist() == fair.finish_ps.tolist()
    assert limited.totals == fair.totals


def test_the_first_cuts_of_two_flows_to_one_host() -> None:
    built = one_leaf()
    given = marking(built)
    state = prepared(built, workload([(0, 2, 10**9, 0), (1, 2, 10**9, 0)]), given, 1)
    hops, link = built.forwarding[0].next_hops, built.link_names.index("leaf1:host3")

    def until(at: int) -> None:
        nonlocal state
        state, _ = advanced(state, hops, at + 1, FOREVER // 4)

    # Both send at 100 Gbit/s: the queue takes 12.5 kB per us, and is long enough after 8 us.
    until(8 * US - 1000)
    assert state.limits["ticks"].tolist() == [0, 0]
    until(8 * US)
    assert state.limits["ticks"].tolist() == [1, 1]
    assert state.limits["rate"].tolist() == [RATE, RATE]
    # The first mark comes back, and the first cut halves the rate one interval later: alpha is 1.
    until(20 * US)
    first = state.limits["rate"].copy()
    assert np.all((first == RATE / 2) | (first == RATE / 4))
    # Cuts go on until marks end; then nothing but the timer, 300 us after the last one, to half of what was lost.
    until(290 * US)
    assert state.links["queue"][link] == 0 or state.links["inflow"][link] < RATE
    low, due = state.limits["rate"].copy(), state.limits["increase_at"].copy()
    assert np.all(low < RATE / 4)
    assert np.all(state.limits["tick_at"] == FOREVER)
    assert np.all((due > 300 * US) & (due < 400 * US))
    until(int(due.max()))
    assert state.limits["rate"] == pytest.approx((low + RATE) / 2)
    assert np.all(state.limits["stage"] == 1)


def test_a_queue_pair_goes_on_at_its_rate() -> None:
    built = one_leaf()
    rows = [(0, 2, 4_000_000, 0), (1, 2, 4_000_000, 0), (0, 2, 1_000_000, 0), (0, 2, 1_000_000, 0)]
    work = workload(rows, [(0, 2), (2, 3)])
    alone = replace(work, job=np.zeros(4, np.int32), jobs=("job",), queue_pair=np.zeros(4, np.int32))
    fresh, kept = (simulate(built, one, marking(built), 1) for one in (work, alone))
    assert fresh.finish_ps[0] == kept.finish_ps[0]
    # A new queue pair starts at the rate of the link.
    assert fresh.finish_ps[2] - fresh.finish_ps[0] == 80 * US + 2 * US + 80_000
    assert kept.finish_ps[2] - kept.finish_ps[0] > 120 * US


def test_a_message_goes_on_at_the_rate_of_the_one_before_that_is_still_sent() -> None:
    built = one_leaf()
    work = workload([(0, 2, 10**8, 0), (1, 2, 10**8, 0), (0, 2, 10**6, 250 * US)])
    work = replace(work, job=np.zeros(3, np.int32), jobs=("job",), queue_pair=np.zeros(3, np.int32))
    state = prepared(built, work, marking(built), 1)
    state, _ = advanced(state, built.forwarding[0].next_hops, 250 * US + 1, FOREVER // 4)
    # The queue is empty again, and the timer has not raised the rate yet.
    assert state.limits["rate"][2] == state.limits["rate"][0] < RATE / 4
    assert state.limits["alpha"][2] == state.limits["alpha"][0]
    assert state.pairs["running"].max() == 3


def test_a_failed_link_stops_its_flows_and_nothing_is_lost() -> None:
    built = one_leaf()
    link = built.link_names.index("leaf1:host3")
    failing = replace(built, changes=(LinkChange(5 * US, link, up=False), LinkChange(25 * US, link, up=True)))
    work = workload([(0, 2, 10**6, 0)])
    plain, failed = (simulate(one, work, marking(built), 1) for one in (built, failing))
    assert failed.finish_ps[0] == plain.finish_ps[0] + 20 * US
    assert failed.link_bytes.tolist() == plain.link_bytes.tolist()


def test_marks_under_way_are_part_of_the_memory() -> None:
    built, work = one_leaf(), workload([(0, 2, 10**6, 0), (1, 2, 10**6, 0)])
    usual = marking(built)
    often = replace(usual, congestion=CongestionSettings("dcqcn", {"cut_interval_us": 0.001}))
    more = needed_bytes(built, work, often, "flow") - needed_bytes(built, work, usual, "flow")
    few, many = (prepared(built, work, one, 1).echo[0].nbytes for one in (usual, often))
    assert many > 100 * few
    assert more >= 2 * (many - few)


def incast() -> list[object]:
    """What comes of flows that are marked, with the same for every queue pair."""
    built = clos(2, 2, 4, host_bps=RATE, uplink_bps=RATE)
    rows = [(a, 4 + (a + k) % 3, 400_000 + 7_000 * a, k * US) for a in range(4) for k in range(3)]
    work = replace(workload(rows), job=np.zeros(12, np.int32), jobs=("job",), queue_pair=np.zeros(12, np.int32))
    done = [simulate(built, work, marking(built, name, 20_000, 80_000), 1) for name in ("ecmp", "spray")]
    return [[one.finish_ps.tolist(), one.link_bytes.tolist(), one.totals] for one in done]


def test_it_runs_the_same_without_a_compiler() -> None:
    check_both_ways(incast)


HOSTS = st.integers(0, 7)
ROWS = st.lists(st.tuples(HOSTS, HOSTS, st.integers(1, 400), st.integers(0, 20)), min_size=1, max_size=16)


def check_rates(built: FabricArrays, state: FluidState) -> None:
    """No host's link carries more than it can, no flow sends more than it may, no rate is below the least."""
    hosts = built.link_source < built.host_count
    assert np.all(state.links["load"][hosts] <= RATE * (1 + 1e-9))
    slots = state.flowing[: state.run[0]["flowing"]]
    assert np.all(state.flows["rate"][slots] <= state.limits["rate"][slots] * (1 + 1e-9))
    assert np.all(state.limits["rate"][slots] >= 1e6 * CONGESTION["dcqcn"].values({})["minimum_mbps"])
    assert np.all(state.limits["rate"][slots] <= state.limits["line"][slots])
    assert np.all(state.links["queue"] >= 0)


@settings(max_examples=examples(20), deadline=None)
@given(ROWS, st.sampled_from(["ecmp", "dlb", "spray"]), st.sampled_from([2_000, 50_000]))
def test_rates_keep_to_their_limits(rows: list[tuple[int, int, int, int]], balancer: str, least: int) -> None:
    built = clos(2, 2, 4, host_bps=RATE, uplink_bps=RATE)
    work: Workload = workload([(a, b if b != a else (a + 1) % 8, c * 5_000, d * US) for a, b, c, d in rows])
    given_ = marking(built, balancer, least, 2 * least)
    state, more = prepared(built, work, given_, 1), True
    while more:
        state, more = advanced(state, built.forwarding[0].next_hops, FOREVER, 20)
        check_rates(built, state)
    done, fair = (simulate(built, work, one, 1) for one in (given_, without(given_)))
    assert done.complete
    assert done.link_bytes.sum() == pytest.approx(fair.link_bytes.sum(), rel=1e-6)
    # The last byte of the fullest link cannot be there earlier than that link allows.
    assert done.finish_ps.max() > int(done.link_bytes.max()) * 8 * PS_PER_S // RATE
