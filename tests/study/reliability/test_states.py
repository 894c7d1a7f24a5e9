"""Closed forms of failures: numbers that are down, speeds, checkpoints, and how long the job can run."""

from __future__ import annotations

from dataclasses import replace
from math import fsum, sqrt

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ailb_gen.study.reliability.elements import Elements, Parts
from ailb_gen.study.reliability.states import (
    Checkpoints,
    SpeedCurve,
    best_interval_h,
    binomial,
    running_share,
    simulated_numbers,
)
from tests.study.reliability.made import CHECKPOINTS, LINKS, inventory

COUNTS = st.integers(1, 300)
SHARES = st.floats(1e-6, 0.999)


@given(COUNTS, SHARES)
def test_numbers_that_are_down_have_the_mean_and_variance_of_a_binomial(count: int, share: float) -> None:
    chances = binomial(count, share)
    mean = fsum(down * chance for down, chance in enumerate(chances))
    assert fsum(chances) == pytest.approx(1, rel=1e-9)
    assert mean == pytest.approx(count * share, rel=1e-9)
    variance = fsum((down - mean) ** 2 * chance for down, chance in enumerate(chances))
    assert variance == pytest.approx(count * share * (1 - share), rel=1e-6)


def test_what_never_or_always_fails() -> None:
    assert binomial(2, 0) == [1, 0, 0]
    assert binomial(2, 1) == [0, 0, 1]


def test_speeds_are_interpolated_and_extrapolated_downwards() -> None:
    curve = SpeedCurve({1: 0.95, 4: 0.8, 8: 0.4})
    assert [curve(down) for down in (0, 1, 2, 4, 6, 8, 10, 12, 20)] == pytest.approx(
        [1, 0.95, 0.9, 0.8, 0.6, 0.4, 0.2, 0, 0]
    )
    assert SpeedCurve({1: 0.9, 2: 0.95})(9) == 0.95
    assert SpeedCurve({})(3) == 1


@given(COUNTS, st.floats(1, 1e6), st.floats(0.1, 100))
def test_the_mean_of_a_linear_slowdown_is_that_of_the_mean_number(count: int, mtbf: float, mttr: float) -> None:
    parts = Parts(count, (Elements("links", 1, mtbf, mttr),))
    curve = SpeedCurve({count: 0.5})
    assert curve.mean(parts) == pytest.approx(1 - 0.5 * parts.unavailability, rel=1e-6)


def test_which_numbers_are_simulated() -> None:
    """Powers of two, the last one exceeded in less than 0.1 % of the time, never more than there are."""
    parts = inventory().links
    numbers = simulated_numbers(parts, 64)
    assert numbers == [1, 2, 4]
    chances = binomial(parts.count, parts.unavailability)
    assert fsum(chances[:3]) < 0.999 <= fsum(chances[:5])
    assert simulated_numbers(parts, 3) == [1, 2, 3]
    assert simulated_numbers(parts, 0) == simulated_numbers(Parts(9, ()), 9) == []


@given(st.floats(1e-7, 1e-4), st.floats(0.01, 1))
def test_rare_kills_cost_what_young_and_daly_say(kills: float, write: float) -> None:
    """To first order: writing, half an interval and a write per kill, and the restart."""
    every = best_interval_h(write, kills)
    assert every == pytest.approx(sqrt(2 * write / kills))
    checkpoints = Checkpoints(every, write, restart_h=0.2)
    lost = write / every + kills * (every / 2 + write + 0.2)
    assert 1 - checkpoints.share(kills) == pytest.approx(lost, rel=4 * lost)
    for factor in (0.5, 2):
        assert replace(checkpoints, every_h=every * factor).share(kills) < checkpoints.share(kills)


def test_without_kills_only_writing_costs_and_with_many_nothing_is_done() -> None:
    assert Checkpoints(0.9, 0.1, 1).share(0) == pytest.approx(0.9)
    assert Checkpoints(0.9, 0.1, 1).share(1e6) == 0


def test_the_job_runs_while_all_leaves_and_enough_servers_are_up() -> None:
    made = inventory()
    down, leaf = made.servers.unavailability, 8 / 4008
    six = (1 - down) ** 6
    assert running_share(inventory(used=6)) == pytest.approx(six * (1 - leaf) ** 4)
    assert running_share(made) == pytest.approx((six + 6 * down * (1 - down) ** 5) * (1 - leaf) ** 4)
    assert made.kills_per_h == pytest.approx(5 * (8 / 4000 + 8 / 3000) + 4 / 4000)


@given(st.floats(0.1, 100), st.floats(1.001, 10))
def test_a_longer_mtbf_is_never_worse(more: float, better: float) -> None:
    one, other = inventory(more), inventory(more * better)
    assert running_share(other) >= running_share(one)
    assert LINKS.mean(other.links) >= LINKS.mean(one.links)
    assert CHECKPOINTS.share(other.kills_per_h) >= CHECKPOINTS.share(one.kills_per_h)
