"""Counters: how many packets of a size are among those counted, and differences of readings."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ailb_gen.accept.counters import HEADERS, OVERHEADS, PortCounters, Readings, packets_of_size
from ailb_gen.network.fabric import End

PAYLOAD = 8852
SIZE = PAYLOAD + HEADERS + 14
NIC = End("gpu-s1-1", "gpu0_eth")


@given(st.integers(0, 5000), st.lists(st.integers(66, 220), max_size=20), st.sampled_from(OVERHEADS))
def test_packets_of_others_are_told_apart(count: int, others: list[int], overhead: int) -> None:
    size = PAYLOAD + HEADERS + overhead
    assert packets_of_size(count + len(others), count * size + sum(others), size, count) == count


@given(st.integers(1, 5000), st.lists(st.integers(66, 220), max_size=20), st.data())
def test_a_packet_that_is_missing_is_missed(count: int, others: list[int], data: st.DataObject) -> None:
    there = count - data.draw(st.integers(1, count))
    assert packets_of_size(there + len(others), there * SIZE + sum(others), SIZE, count) == there


def test_differences_of_readings() -> None:
    spine, cleared = End("spine1", "et-0/0/0"), End("spine1", "et-0/0/1")
    before = Readings(
        {spine: PortCounters(1, 100, 2, 200), cleared: PortCounters(9, 900, 9, 900)}, {NIC: {"cnp_sent": 3}}
    )
    after = Readings(
        {spine: PortCounters(4, 400, 2, 200), cleared: PortCounters(1, 100, 9, 900), NIC: PortCounters()},
        {NIC: {"cnp_sent": 5, "ecn_marked": 7}},
    )
    found = after.since(before)
    # A counter that was cleared says nothing, and neither does one that was not there before.
    assert found.ports == {spine: PortCounters(3, 300, 0, 0)}
    assert found.suspicious == {NIC: {"cnp_sent": 2, "ecn_marked": 0}}


@pytest.mark.parametrize(("packets", "expected", "found"), [(0, 0, 0), (0, 100, 0), (3, 100, 0)])
def test_a_port_without_packets(packets: int, expected: int, found: int) -> None:
    assert packets_of_size(packets, packets * 90, SIZE, expected) == found
