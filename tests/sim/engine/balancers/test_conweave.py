"""ConWeave moves flows off paths whose replies are late, and hosts do not notice."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import settings as drawn
from hypothesis import strategies as st

from ailb_gen.sim.clos import clos
from ailb_gen.sim.engine.run import simulate
from ailb_gen.sim.fabric import FabricArrays
from ailb_gen.sim.settings import TransportName
from ailb_gen.sim.workload import Workload
from tests.conftest import examples
from tests.sim.engine.balancers.small import LONG_US, US, G, assert_conserved, flow_list, last_state, settings

# The last switch waits until the TAIL comes, whenever that is.
PATIENT = {"resume_us": LONG_US, "slack_us": LONG_US, "inactivity_us": LONG_US}


@st.composite
def fabrics(draw: st.DrawFn) -> FabricArrays:
    spines = draw(st.integers(2, 4))
    return clos(
        leaves=draw(st.integers(2, 3)),
        spines=spines,
        hosts_per_leaf=draw(st.integers(1, 4)),
        host_bps=100 * G,
        uplink_bps=draw(st.lists(st.sampled_from((25 * G, 50 * G, 100 * G)), min_size=spines, max_size=spines)),
        leaf_spine_links=draw(st.integers(1, 2)),
        host_links=draw(st.integers(1, 2)),
        delay_ps=draw(st.sampled_from((US // 10, US))),
    )


@st.composite
def cases(draw: st.DrawFn) -> tuple[FabricArrays, Workload]:
    fabric = draw(fabrics())
    hosts = fabric.host_count
    flow = st.tuples(
        st.integers(0, hosts - 1), st.integers(1, hosts - 1), st.integers(1, 150_000), st.integers(0, 30 * US)
    )
    rows = draw(st.lists(flow, min_size=1, max_size=8))
    return fabric, flow_list([(source, (source + step) % hosts, size, at) for source, step, size, at in rows])


@pytest.mark.hypothesis
@drawn(max_examples=examples(15))
@given(cases(), st.sampled_from(("go-back-n", "selective-repeat")), st.integers(0, 1000))
def test_hosts_see_every_packet_in_order(
    case: tuple[FabricArrays, Workload], transport: TransportName, seed: int
) -> None:
    fabric, workload = case
    state = last_state(
        fabric, workload, settings(fabric, "conweave", PATIENT, transport=transport, lossless=True), seed
    )
    assert not state.tasks["out_of_order"].any()
    assert state.run[0]["nacks"] == 0
    assert state.run[0]["retransmissions"] == state.run[0]["drops"] == 0
    assert_conserved(state, workload)


@pytest.mark.hypothesis
@drawn(max_examples=examples(15))
@given(cases(), st.sampled_from((0.0, 0.01)), st.sampled_from((100_000, 9 << 20)), st.integers(0, 1000))
def test_no_packet_stays_in_a_reordering_queue(
    case: tuple[FabricArrays, Workload], loss: float, buffer_bytes: int, seed: int
) -> None:
    # TAILs are lost, buffers are full: the resume timer ends every wait.
    fabric, workload = case
    state = last_state(fabric, workload, settings(fabric, "conweave", loss=loss, buffer_bytes=buffer_bytes), seed)
    assert_conserved(state, workload)
    assert (state.steered["held_head"] <= 0).all()


def crowd(size: int) -> tuple[FabricArrays, Workload]:
    """Four flows between two switches with four paths, the last one of a tenth of the rate."""
    fabric = clos(2, 4, 4, host_bps=100 * G, uplink_bps=[100 * G] * 3 + [10 * G])
    return fabric, flow_list([(host, host + 4, size, 0) for host in range(4)])


def test_flows_leave_congested_paths() -> None:
    fabric, workload = crowd(500_000)
    means = {}
    for balancer in ("ecmp", "conweave"):
        outcomes = [simulate(fabric, workload, settings(fabric, balancer), seed) for seed in range(6)]
        means[balancer] = np.mean([outcome.finish_ps.mean() for outcome in outcomes])
        assert (sum(outcome.rerouted.sum() for outcome in outcomes) > 0) == (balancer == "conweave")
    assert means["conweave"] < 0.75 * means["ecmp"]


def test_a_flow_alone_stays_where_it_is() -> None:
    fabric = clos(2, 4, 1, host_bps=100 * G, uplink_bps=100 * G)
    outcome = simulate(fabric, flow_list([(0, 1, 200_000, 0)]), settings(fabric, "conweave"), 1)
    assert outcome.rerouted.sum() == 0
    # 4 links for every packet and its acknowledgement; 2 for every REPLY, about one per round trip.
    replies = (outcome.totals["hops"] - 2 * 4 * 200) / 2
    assert 2 <= replies <= 6


def test_flows_within_a_switch_are_left_alone() -> None:
    fabric = clos(1, 2, 4, host_bps=100 * G, uplink_bps=100 * G)
    outcome = simulate(fabric, flow_list([(0, 3, 50_000, 0), (1, 3, 50_000, 0)]), settings(fabric, "conweave"), 1)
    assert outcome.complete
    assert outcome.totals["hops"] == 2 * 2 * 100


def test_packets_wait_for_the_tail() -> None:
    # Without patience the same flows overtake themselves.
    fabric, workload = crowd(200_000)
    hasty = {"resume_us": 0.0, "slack_us": 0.0}
    overtaken = {
        name: sum(
            simulate(fabric, workload, settings(fabric, "conweave", given), seed).out_of_order.sum()
            for seed in range(4)
        )
        for name, given in (("hasty", hasty), ("patient", PATIENT))
    }
    assert overtaken["patient"] == 0
    assert overtaken["hasty"] > 0


def test_marked_paths_are_avoided_for_the_pause() -> None:
    fabric, workload = crowd(200_000)
    given = settings(fabric, "conweave", {"pause_us": 1000.0, "samples": 16}, ecn_bytes=(1000, 2000))
    state = last_state(fabric, workload, given, 1)
    avoided = np.flatnonzero(state.metrics) // fabric.forwarding[0].next_hops.shape[1]
    assert avoided.size > 0
    # Only uplinks of the first switch of a flow are avoided.
    assert set(fabric.link_source[avoided]) == {fabric.host_count}
    assert (state.metrics.max() - 1000 * US) <= state.run[0]["now"]
