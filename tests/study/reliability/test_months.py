"""Drawn months: their means are those of the closed forms, and the same seed gives the same days."""

from __future__ import annotations

import numpy as np
import pytest

from ailb_gen.study.reliability.elements import HOURS_PER_MONTH, Elements, FailingParts, Parts
from ailb_gen.study.reliability.months import HOURS_PER_DAY, drawn_months
from ailb_gen.study.reliability.states import Checkpoints, SpeedCurve, running_share
from tests.study.reliability.made import CHECKPOINTS, LINKS, SPINES, inventory

DAYS, DRAWS = 365, 20
FULL = SpeedCurve({})


@pytest.mark.parametrize(("more", "used"), [(1, 5), (1, 6), (0.1, 4)])
def test_means_are_those_of_the_closed_form(more: float, used: int) -> None:
    """Goodput, stops and failures by kind, within four standard errors of the draws."""
    made = inventory(more, used)
    draws = [drawn_months(made, CHECKPOINTS, DAYS, (7, draw)) for draw in range(DRAWS)]

    def agree(found: list[float], expected: float) -> None:
        error = np.std(found, ddof=1) / np.sqrt(len(found))
        assert abs(np.mean(found) - expected) < 4 * error, (np.mean(found), expected, error)

    running = running_share(made)
    goodput = running * CHECKPOINTS.share(made.kills_per_h) * LINKS.mean(made.links) * SPINES.mean(made.spines)
    agree([float(one.goodput(LINKS, SPINES).mean()) for one in draws], goodput)
    agree([one.kills for one in draws], made.kills_per_h * running * DAYS * HOURS_PER_DAY)
    for kind, monthly in made.failures_per_month().items():
        agree([one.failures[kind] for one in draws], monthly * DAYS * HOURS_PER_DAY / HOURS_PER_MONTH)


def test_the_number_that_is_down_is_binomial_at_any_time() -> None:
    """Links that are down for a fifth of the time: mean and variance at 800 times that are far apart."""
    none = Parts(1, ())
    links = Parts(40, (Elements("links", 1, 4, 1),))
    months = drawn_months(FailingParts(links, none, none, none, 1), CHECKPOINTS, 800, (1,))
    down = months.links.at(np.arange(800.0) * HOURS_PER_DAY)
    assert down.mean() == pytest.approx(40 / 5, abs=4 * np.sqrt(6.4 / 800))
    assert down.var() == pytest.approx(40 / 5 * 4 / 5, rel=0.25)


def test_days_without_failures_are_full_but_for_checkpoints() -> None:
    none = Parts(8, ())
    months = drawn_months(FailingParts(none, none, none, none, 8), Checkpoints(0.9, 0.1, 0), 30, (1,))
    assert months.goodput(FULL, FULL) == pytest.approx(np.full(30, 0.9))
    assert (months.kills, sum(months.failures.values())) == (0, 0)


def test_a_seed_gives_the_same_days() -> None:
    one, again, other = (drawn_months(inventory(), CHECKPOINTS, 30, seed) for seed in ((1, 2), (1, 2), (1, 3)))
    days = one.goodput(LINKS, SPINES)
    assert days.shape == (30,)
    assert (days == again.goodput(LINKS, SPINES)).all()
    assert (days != other.goodput(LINKS, SPINES)).any()
    assert one.failures == again.failures
