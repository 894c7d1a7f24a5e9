"""Loads and queues over time: intervals that add up, and fewer, longer ones the longer a run takes."""

from __future__ import annotations

import numpy as np
import pytest

from ailb_gen.sim.fabric import PS_PER_US, Int64
from ailb_gen.sim.series import MOST, Counters, Sampler, sampler_of
from ailb_gen.sim.settings import SimulationSettings
from ailb_gen.sim.unloaded import PS_BITS
from tests.sim.engine.cases import flows, leaf_spine

FABRIC = leaf_spine(2, 2, 2)
LINKS = FABRIC.link_count
TIERS = ("host to leaf", "leaf to host", "leaf to spine", "spine to leaf")


def counted(sent: Int64 | int = 0, peak: int = 0, marks: int = 0) -> Counters:
    """The same of every link; what it sent may differ."""
    none = np.zeros(LINKS, np.int64)
    return Counters(none + sent, none + peak, none + marks, none, none)


def per_interval(interval_ps: int) -> float:
    """How many bytes a link sends at full rate."""
    return interval_ps * float(FABRIC.rate_bps[0]) / PS_BITS


def test_loads_are_shares_of_the_rate_and_marks_sums_over_links() -> None:
    sampler = Sampler(FABRIC, PS_PER_US)
    full = int(per_interval(PS_PER_US))
    half = np.where(np.arange(LINKS) % 2, full // 2, full)
    sampler.take(counted(half, peak=3, marks=1))
    series = sampler.finish(counted(half + full, peak=1, marks=3), 2 * PS_PER_US)
    assert series.tiers == TIERS
    assert series.edges_ps.tolist() == [0, PS_PER_US, 2 * PS_PER_US]
    assert series.max_load == pytest.approx(np.ones((4, 2)), rel=1e-3)
    assert series.mean_load[:, 1] == pytest.approx(np.ones(4), rel=1e-3)
    assert (series.mean_load[:, 0] < 0.9).all()
    assert series.peak_packets.tolist() == [[3, 1]] * 4
    links = [
        int(((FABRIC.tier[FABRIC.link_source] == a) & (FABRIC.tier[FABRIC.link_target] == b)).sum())
        for a, b in ((0, 1), (1, 0), (1, 2), (2, 1))
    ]
    assert series.marks.tolist() == [[count, 2 * count] for count in links]
    assert sampler.peak.tolist() == [3] * LINKS


def test_intervals_double_when_there_are_too_many_and_keep_their_sums() -> None:
    sampler = Sampler(FABRIC, 1000)
    for number in range(1, 3 * MOST):
        assert sampler.next_ps >= 1000 * number
        sampler.take(counted(sampler.next_ps, peak=number % 7, marks=sampler.next_ps))
    end = sampler.next_ps
    series = sampler.finish(counted(end, marks=end), end)
    widths = np.diff(series.edges_ps)
    assert MOST / 2 <= len(widths) < MOST
    assert len(set(widths[:-1].tolist())) == 1
    assert series.edges_ps[-1] == end
    assert int(series.marks.sum()) == end * LINKS
    assert float((series.mean_load * widths).sum(axis=1)[0]) == pytest.approx(end * PS_BITS / float(FABRIC.rate_bps[0]))
    assert series.peak_packets.max() == 6


@pytest.mark.parametrize(
    ("end", "edges"),
    [
        (2400, [0, 1000, 2400]),  # a short rest belongs to the one before
        (2800, [0, 1000, 2000, 2800]),
        (1900, [0, 1000, 1900]),  # the engine went on after the last task
        (700, [0, 700]),
        (0, [0, 1]),
    ],
)
def test_the_last_interval_ends_with_the_run(end: int, edges: list[int]) -> None:
    sampler = Sampler(FABRIC, 1000)
    for _ in range(2):
        sampler.take(counted(5))
    assert sampler.finish(counted(6), end).edges_ps.tolist() == edges


def test_the_first_interval_holds_packets_and_fits_the_busiest_host() -> None:
    fabric = FABRIC
    small, large = (flows([0, 1], [2, 3], amount) for amount in (1000, 10**9))
    rate = float(fabric.rate_bps[0])
    assert sampler_of(fabric, small, SimulationSettings()).next_ps == int(
        8 * (4096 + 48) * PS_BITS / fabric.rate_bps.min()
    )
    assert sampler_of(fabric, large, SimulationSettings()).next_ps == pytest.approx(
        2 * 10**9 * PS_BITS / rate / MOST, rel=1e-6
    )
