"""Trimming, and receivers that ask for packets: incasts, permutations, shares, losses of all kinds, in closed form."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ailb_gen.sim.engine.memory import FIRST_PACKETS, first_window, longest_round_trip, new_state
from ailb_gen.sim.engine.run import simulate
from ailb_gen.sim.fabric import PS_PER_US, FabricArrays, LinkChange
from ailb_gen.sim.memory import BASE, needed_bytes
from ailb_gen.sim.outcome import SimulationOutcome
from ailb_gen.sim.settings import BalancerSettings, BufferSettings, SimulationSettings, TransportName, TransportSettings
from ailb_gen.sim.workload import Workload
from tests.conftest import examples
from tests.sim.engine.cases import PACKETS, flows, leaf_spine, link, small_clos, star, workloads

BYTE_PS = 80
WIRE_PS = 1048 * BYTE_PS
CONTROL_PS = 60 * BYTE_PS
WAY = TransportSettings("receiver-driven")
SETTINGS = SimulationSettings(PACKETS, transport=WAY)


def run(fabric: FabricArrays, work: Workload, way: SimulationSettings = SETTINGS, seed: int = 1) -> SimulationOutcome:
    """The outcome of flows that all arrive."""
    outcome = simulate(fabric, work, way, seed)
    assert outcome.complete
    assert outcome.totals["drops"] == 0
    return outcome


def delivered_once(outcome: SimulationOutcome) -> None:
    """No timer was needed, and nothing was sent twice but what was trimmed."""
    assert outcome.totals["timeouts"] == 0
    assert outcome.totals["retransmissions"] == outcome.totals["trimmed"] == outcome.totals["nacks"]
    assert outcome.totals["acks"] == outcome.totals["packets"]


@pytest.mark.parametrize("count", [2, 8, 32])
def test_an_incast_fills_the_link_of_its_receiver(count: int) -> None:
    """Its time is that of all data, of the headers that were trimmed, and one round trip."""
    fabric = star(count + 1)
    packets = 6_400 // count
    outcome = run(fabric, flows(np.arange(1, count + 1), np.zeros(count), packets * 1000))
    delivered_once(outcome)
    assert outcome.totals["trimmed"] > 0
    round_trip = 4 * PS_PER_US + 2 * WIRE_PS + 2 * CONTROL_PS
    expected = count * packets * WIRE_PS + outcome.totals["trimmed"] * CONTROL_PS + round_trip
    assert outcome.end_ps == pytest.approx(expected, rel=0.02)
    assert outcome.link_peak_bytes[link(fabric, "leaf1", "host1")] <= 8 * 1048 + 60 * outcome.totals["trimmed"]


def test_flows_in_step_are_trimmed_alike() -> None:
    """Their packets come to a full queue in the same order all the time; the last one or the new one is trimmed."""
    work = flows([1, 2], [0, 0], 400_000)
    ends = run(star(3), work, replace(SETTINGS, transport=replace(WAY, window_bytes=400_000))).finish_ps
    assert ends.min() > 0.8 * ends.max()


def test_a_receiver_takes_turns_among_its_flows() -> None:
    """A second flow has half of the link as soon as it comes, whatever the first one has in flight."""
    alone = 1000 * WIRE_PS
    ends = run(star(3), flows([1, 2], [0, 0], 1_000_000, [0, alone // 2])).finish_ps
    assert ends[0] == pytest.approx(1.5 * alone, rel=0.04)
    assert ends[1] == pytest.approx(2 * alone, rel=0.04)


@pytest.mark.parametrize("balancer", ["adaptive", "spray"])
def test_a_permutation_on_a_fabric_without_contention_takes_as_long_as_a_flow_alone(balancer: str) -> None:
    """Links also have an acknowledgement and a pull per packet; two flows with one path would take twice as long."""
    fabric = leaf_spine(4, 4, 4)
    work = flows(np.arange(16), (np.arange(16) + 4) % 16, 2_000_000)
    outcome = run(fabric, work, replace(SETTINGS, balancer=BalancerSettings(balancer)))
    delivered_once(outcome)
    alone = 2000 * (WIRE_PS + 2 * CONTROL_PS) + 3 * WIRE_PS + 4 * PS_PER_US
    assert alone * WIRE_PS / (WIRE_PS + 2 * CONTROL_PS) <= outcome.end_ps <= 1.25 * alone


@settings(max_examples=examples(30))
@given(st.data())
def test_everything_arrives_once_whatever_is_trimmed(data: st.DataObject) -> None:
    fabric = data.draw(small_clos())
    way = replace(WAY, trim_above_packets=data.draw(st.integers(1, 3)), window_bytes=data.draw(st.integers(1, 20_000)))
    buffer = data.draw(st.sampled_from((None, 3_000)))
    switches = BufferSettings(shared_buffer_bytes=buffer)
    balancer = BalancerSettings(data.draw(st.sampled_from(("ecmp", "spray", "adaptive", "drill"))))
    settings = SimulationSettings(PACKETS, switches, balancer, way)
    delivered_once(run(fabric, data.draw(workloads(fabric)), settings))


@pytest.mark.parametrize("ends", [("leaf1", "host2"), ("host2", "leaf1")])
def test_losses_are_repaired_by_the_timer(ends: tuple[str, str]) -> None:
    """Of data and headers, or of acknowledgements and pulls."""
    fabric = star(2)
    loss = np.zeros(fabric.link_count)
    loss[link(fabric, *ends)] = 0.02
    outcome = run(fabric, flows([0], [1], 1_000_000), replace(SETTINGS, switches=BufferSettings(loss_probability=loss)))
    assert outcome.totals["lost"] > 0
    # One round of repairs sends no more than a window again.
    assert outcome.totals["retransmissions"] <= 1000


def test_lost_data_is_sent_again_once_after_the_timeout() -> None:
    """The last link is down for the time of one packet in the middle of a flow."""
    fabric = star(2)
    cable = link(fabric, "leaf1", "host2")
    changes = (LinkChange(20 * PS_PER_US, cable, False), LinkChange(20 * PS_PER_US + WIRE_PS, cable, True))
    way = replace(SETTINGS, transport=replace(WAY, timeout_ps=60 * PS_PER_US))
    outcome = run(replace(fabric, changes=changes), flows([0], [1], 400_000), way)
    assert outcome.totals["timeouts"] == 1
    assert outcome.totals["lost"] <= outcome.totals["retransmissions"] <= first_window(fabric, way)
    assert outcome.end_ps < 400 * WIRE_PS + 80 * PS_PER_US


def test_pulls_that_are_all_lost_are_made_up_for() -> None:
    """What is under way is sent at every timeout of the failure; afterwards 1, 2, 4, ... packets, up to a window."""
    fabric = star(2)
    cable = link(fabric, "host2", "leaf1")
    changes = (LinkChange(20 * PS_PER_US, cable, False), LinkChange(300 * PS_PER_US, cable, True))
    way = replace(SETTINGS, transport=replace(WAY, timeout_ps=60 * PS_PER_US))
    outcome = run(replace(fabric, changes=changes), flows([0], [1], 400_000), way)
    window = first_window(fabric, way)
    rounds = window.bit_length() + 1
    assert 300 * PS_PER_US < outcome.end_ps < (300 + 60 * rounds) * PS_PER_US
    assert outcome.totals["timeouts"] <= 300 // 60 + rounds


def test_the_first_window_is_a_bandwidth_delay_product_and_a_queue() -> None:
    fabric = star(2)
    product = int(longest_round_trip(fabric, SETTINGS) / BYTE_PS / 1000)
    assert first_window(fabric, SETTINGS) == product + 8
    given_window = replace(SETTINGS, transport=replace(WAY, window_bytes=12_345))
    assert first_window(fabric, given_window) == 12
    state = new_state(fabric, flows([0], [1], 10_000), given_window, 1)
    assert int(state.config[0]["first_window"]) == 12
    assert len(state.packets) == FIRST_PACKETS


@pytest.mark.parametrize("name", ["receiver-driven", "timeout-only", "selective-repeat"])
def test_the_estimate_of_memory_has_the_bits_of_packets(name: TransportName) -> None:
    """Short flows have as many as the longest one."""
    fabric, way = star(2), replace(SETTINGS, transport=TransportSettings(name))
    work = flows(np.zeros(2000), np.ones(2000), np.append(np.full(1999, 1000), 10**8))
    state = new_state(fabric, work, way, 1)
    bits = sum(one.nbytes for one in (state.arrived, state.acknowledged, state.refused))
    assert bits < needed_bytes(fabric, work, way) - BASE
