"""Repair of losses: go-back-N against its closed form, and timeouts that follow from round trips."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from ailb_gen.sim.engine.memory import LEAST_TIMEOUT
from ailb_gen.sim.engine.run import simulate
from ailb_gen.sim.fabric import PS_PER_US, FabricArrays, LinkChange
from ailb_gen.sim.outcome import SimulationOutcome
from ailb_gen.sim.settings import BufferSettings, SimulationSettings, TransportName, TransportSettings
from tests.sim.engine.cases import PACKETS, flows, link, needs_compiler, star

WIRE_PS = 1048 * 80
DELAY_PS = 5 * PS_PER_US
# Two links there and two back: a packet and its NACK.
ROUND_TRIP_PS = 4 * DELAY_PS + 2 * WIRE_PS + 2 * 60 * 80


def lossy(fabric: FabricArrays, probability: float, packets: int, transport: TransportSettings) -> SimulationOutcome:
    """One flow over a star whose last link loses data at random."""
    loss = np.zeros(fabric.link_count)
    loss[link(fabric, "leaf1", "host2")] = probability
    settings = SimulationSettings(PACKETS, BufferSettings(loss_probability=loss), transport=transport)
    outcome = simulate(fabric, flows([0], [1], packets * 1000), settings, 1)
    assert outcome.complete
    return outcome


def goodput(outcome: SimulationOutcome) -> float:
    """The share of the time in which a flow sent what arrived."""
    return float(outcome.totals["packets"] * WIRE_PS / (outcome.finish_ps[0] - outcome.start_ps[0]))


@needs_compiler
@pytest.mark.parametrize(
    ("probability", "packets"), [(1e-5, 100_000), (1e-4, 400_000), (1e-3, 400_000), (1e-2, 100_000)]
)
def test_goodput_of_go_back_n_is_that_of_the_formula(probability: float, packets: int) -> None:
    """(1 - p) / (1 - p + p n) with losses of p, where n packets fit into a round trip (Schwartz 1987)."""
    outcome = lossy(star(2, delay_ps=DELAY_PS), probability, packets, TransportSettings("go-back-n"))
    count = ROUND_TRIP_PS / WIRE_PS
    assert goodput(outcome) == pytest.approx((1 - probability) / (1 - probability + probability * count), rel=0.03)
    assert outcome.totals["timeouts"] == 0


def test_a_loss_costs_one_round_trip_and_two_with_a_repetition_for_every_nack() -> None:
    """ConWeave's simulator goes back at every NACK; the receiver sends one every 4 us until the packet arrives."""
    fabric = star(2, delay_ps=DELAY_PS)
    cable = link(fabric, "leaf1", "host2")
    # The link is down for the time of one packet.
    changes = (LinkChange(100 * PS_PER_US, cable, False), LinkChange(100 * PS_PER_US + WIRE_PS, cable, True))
    repeated = []
    for every in (False, True):
        way = TransportSettings("go-back-n", every_nack=every)
        run = simulate(
            replace(fabric, changes=changes), flows([0], [1], 2_000_000), SimulationSettings(PACKETS, transport=way), 1
        )
        lost = run.totals["lost"]
        assert lost >= 1
        repeated.append(run.totals["retransmissions"] - lost)
    assert repeated[0] == pytest.approx(ROUND_TRIP_PS / WIRE_PS, rel=0.02)
    assert repeated[1] == pytest.approx(2 * ROUND_TRIP_PS / WIRE_PS, rel=0.05)


@pytest.mark.parametrize("transport", ["go-back-n", "selective-repeat", "timeout-only", "receiver-driven"])
def test_a_lost_end_is_sent_again_after_the_least_timeout(transport: TransportName) -> None:
    """Nothing reveals it but the timer, which a given timeout replaces; it doubles when the repetition is lost, too."""
    fabric = star(2, delay_ps=DELAY_PS)
    cable = link(fabric, "leaf1", "host2")
    longest = 8 * DELAY_PS + 4 * WIRE_PS
    for down_us, given_us, doublings in ((10, None, 1), (10_000, None, 2), (10, 300, 0)):
        changes = (LinkChange(0, cable, False), LinkChange(down_us * PS_PER_US, cable, True))
        given = None if given_us is None else given_us * PS_PER_US
        way = TransportSettings(transport, timeout_ps=given)
        run = simulate(
            replace(fabric, changes=changes), flows([0], [1], 1000), SimulationSettings(PACKETS, transport=way), 1
        )
        waited = 300 * PS_PER_US if given else (2**doublings - 1) * LEAST_TIMEOUT * longest
        assert run.finish_ps[0] == waited + 2 * DELAY_PS + 2 * WIRE_PS


def test_timeouts_grow_with_the_round_trips_that_are_measured() -> None:
    """A queue that makes round trips long makes nothing be sent again."""
    fabric = star(9)
    senders = np.arange(1, 9)
    way = TransportSettings("go-back-n")
    run = simulate(fabric, flows(senders, 0 * senders, 300_000), SimulationSettings(PACKETS, transport=way), 1)
    assert run.complete
    # The last packets wait for 7/8 of all others: ten times the least timeout of 83 us would have passed otherwise.
    assert run.finish_ps.max() > 180 * PS_PER_US
    assert run.totals["timeouts"] == run.totals["retransmissions"] == 0
