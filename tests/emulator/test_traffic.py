"""Counters that grow at rates, on links that carry something."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ailb_gen.emulator.fabric_state import QueueCounters, TrafficCounters
from ailb_gen.emulator.traffic import PACKET_BYTES, EmulatedTraffic, LinkRate
from ailb_gen.errors import UsageError
from ailb_gen.network.fabric import End
from tests.emulator.operations.lab import LEAF, SPINE, Fake, lab

if TYPE_CHECKING:
    from ailb_gen.emulator.fabric import EmulatedFabric

PORT = "et-0/0/0"
NEAR, FAR = End(LEAF, PORT), End(SPINE, PORT)
# A thousand packets in a second.
BITS = 8000 * PACKET_BYTES


class Ticking:
    """The lab and its time."""

    def __init__(self) -> None:
        self.now = 0.0
        self.fabric: EmulatedFabric = lab(clock=lambda: self.now)


@pytest.fixture
def ticking() -> Ticking:
    return Ticking()


def test_what_one_end_sends_the_other_receives(ticking: Ticking) -> None:
    fabric = ticking.fabric
    fabric.send({NEAR: LinkRate(BITS, queue=3)})
    ticking.now = 2
    octets = 2000 * PACKET_BYTES
    assert fabric.counters(LEAF, PORT) == fabric.counters(LEAF, f"{PORT}.0") == TrafficCounters(0, octets, 0, 2000)
    assert fabric.counters(SPINE, PORT) == TrafficCounters(octets, 0, 2000, 0)
    assert fabric.queue_counters(LEAF, PORT, 3) == QueueCounters(2000, octets)
    assert fabric.queue_counters(LEAF, PORT, 4) == fabric.queue_counters(SPINE, PORT, 3) == QueueCounters()
    assert fabric.counters(LEAF, "irb.2") == fabric.counters(LEAF, "et-0/0/16") == TrafficCounters()


def test_dropped_packets_are_not_received(ticking: Ticking) -> None:
    ticking.fabric.send({NEAR: LinkRate(BITS, 0.25)})
    ticking.now = 4
    sent, dropped = 3000 * PACKET_BYTES, 1000 * PACKET_BYTES
    assert ticking.fabric.queue_counters(LEAF, PORT, 4) == QueueCounters(3000, sent, 1000, dropped)
    assert ticking.fabric.counters(LEAF, PORT).output_drops == 1000
    assert ticking.fabric.counters(SPINE, PORT).input_packets == 3000


def test_a_session_that_is_down_carries_nothing(ticking: Ticking) -> None:
    fabric = ticking.fabric
    fabric.send({NEAR: LinkRate(BITS)})
    ticking.now = 1
    fabric.keep_down(SPINE, f"{PORT}.0")
    ticking.now = 10
    assert fabric.counters(LEAF, PORT).output_packets == 1000
    fabric.restore(SPINE, f"{PORT}.0")
    ticking.now = 11
    assert fabric.counters(LEAF, PORT).output_packets == 2000
    fabric.power_off(SPINE)
    ticking.now = 20
    assert fabric.counters(LEAF, PORT).output_packets == 2000


def test_cleared_counters_begin_at_zero(ticking: Ticking) -> None:
    device = Fake(LEAF, ticking.fabric)
    ticking.fabric.send({NEAR: LinkRate(BITS, 0.5)})
    ticking.now = 2
    device.clear_counters(PORT)
    assert device.queue_counters(PORT, 4) == QueueCounters()
    ticking.now = 4
    assert device.queue_counters(PORT, 4) == QueueCounters(1000, 1000 * PACKET_BYTES, 1000, 1000 * PACKET_BYTES)
    assert device.counters(PORT).output_drops == 1000


def test_a_port_without_a_cable(ticking: Ticking) -> None:
    with pytest.raises(UsageError, match="has no cable to another switch"):
        ticking.fabric.send({End(LEAF, "et-0/0/16"): LinkRate(BITS)})


@given(st.lists(st.tuples(st.integers(1, 9), st.integers(0, 10**12), st.floats(0, 1), st.booleans(), st.booleans())))
def test_counters_are_the_sum_of_rates(rows: list[tuple[int, int, float, bool, bool]]) -> None:
    """However often they are looked at, and whatever changes in between."""
    now, carries, expected = 0.0, True, 0.0
    traffic = EmulatedTraffic(lambda end: carries, lambda: now)
    last = QueueCounters()
    for seconds, bits_s, dropped, on, look in rows:
        carries = on
        traffic.changed(NEAR)
        traffic.send(NEAR, LinkRate(bits_s, dropped))
        now += seconds
        expected += bits_s / 8 * seconds if on else 0
        if look:
            before, last = last, traffic.sent(NEAR)
            assert all(a <= b for a, b in zip(before, last, strict=True))
    assert traffic.sent(NEAR).queued_octets == pytest.approx(expected, rel=1e-9, abs=2)
