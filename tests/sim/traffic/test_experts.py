"""Loads of experts, against Zipf's law worked out by hand."""

from __future__ import annotations

from fractions import Fraction

import pytest

from ailb_gen.errors import UsageError
from ailb_gen.sim.traffic.experts import RESOLUTION, expert_loads


def test_even_experts_are_even() -> None:
    assert len(set(expert_loads(4, 64).weights)) == 1
    assert expert_loads(4, 64).kept == 1


def test_the_loads_are_zipfs() -> None:
    """1, 1/2, 1/3 and 1/4 of the first, two experts per rank."""
    weights = expert_loads(2, 4, skew=1.0).weights
    assert weights == (RESOLUTION * 3 // 2, round(RESOLUTION / 3) + RESOLUTION // 4)


def test_capacity_drops_what_exceeds_it() -> None:
    """Loads 1, 1/2, 1/4, ... of a geometric kind: the first is limited to the mean of all."""
    free, limited = expert_loads(4, skew=2.0), expert_loads(4, skew=2.0, capacity=1.0)
    mean = Fraction(sum(free.weights), 4)
    assert limited.weights == (round(mean), *(min(one, round(mean)) for one in free.weights[1:]))
    assert limited.kept == Fraction(sum(limited.weights), sum(free.weights))


@pytest.mark.parametrize(("ranks", "experts"), [(4, 6), (1, 8192)])
def test_experts_that_cannot_be_spread_are_refused(ranks: int, experts: int) -> None:
    with pytest.raises(UsageError, match="must be a multiple of expert"):
        expert_loads(ranks, experts)
