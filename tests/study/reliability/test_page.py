"""Where the time of a job goes, and what the page says of it."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ailb_gen.study.reliability.costs import FabricCost
from ailb_gen.study.reliability.elements import Elements, Parts
from ailb_gen.study.reliability.outlook import Period, PricedFabric, TimeShares, drawings, share_of
from ailb_gen.study.reliability.page import Outlook
from ailb_gen.study.reliability.states import Checkpoints, SpeedCurve
from tests.conftest import examples
from tests.study.reliability.made import CHECKPOINTS, inventory

PERIOD = Period(1, 2, CHECKPOINTS)
NO_PRICES = FabricCost({"switch": 20, "optic": 64, "cable": 32}, None, None, ())


def fabric(spines: int, price: float | None = None, watts: float | None = None, more: float = 1.0) -> PricedFabric:
    cost = FabricCost(NO_PRICES.counts, price, watts, ())
    return PricedFabric(spines, inventory(more), (1, 2, 4), (1,), cost)


def share(goodput: float) -> TimeShares:
    return TimeShares(goodput, 0.1, 0.01, 0.02, 0.03, goodput - 0.2)


@settings(max_examples=examples(20), deadline=None)
@given(st.floats(0.1, 10), st.floats(0.05, 1), st.floats(0.1, 1), st.floats(0.1, 1))
def test_the_shares_are_the_whole_time(more: float, speed: float, slow: float, slower: float) -> None:
    links, spines = SpeedCurve({1: slow}), SpeedCurve({1: slower})
    one = fabric(4, more=more)
    found = share_of(one, PERIOD, speed, links, spines, list(drawings(one.inventory, PERIOD)))
    parts = (found.goodput, found.waiting, found.slower, found.restarts, found.stopped)
    assert sum(parts) == pytest.approx(1)
    assert min(parts) >= -1e-9
    assert 0 <= found.worst <= speed + 1e-9


@given(st.floats(0.1, 10), st.floats(1, 10))
def test_goodput_grows_with_the_mtbf(more: float, better: float) -> None:
    links, spines = SpeedCurve({1: 0.9}), SpeedCurve({1: 0.8})
    period = Period(1, 1, CHECKPOINTS)
    fabrics = [fabric(4, more=factor) for factor in (more, more * better)]
    one, other = (
        share_of(each, period, 0.9, links, spines, list(drawings(each.inventory, period))) for each in fabrics
    )
    assert other.goodput >= one.goodput - 1e-12


def test_what_follows_with_prices() -> None:
    fabrics = {2: fabric(2, 900_000, 20_000), 4: fabric(4, 1_000_000, 22_000)}
    shares = {(2, "rlb"): share(0.6), (2, "ecmp"): share(0.5), (4, "rlb"): share(0.8), (4, "ecmp"): share(0.8004)}
    found = Outlook(PERIOD, fabrics, shares)
    assert list(found.conclusions()) == [
        "2 spines: 60.00 % goodput under rlb, 40.00 % on the worst day of 100.",
        "4 spines: 80.00 % goodput under rlb, 60.00 % on the worst day of 100.",
        "The job stops 17 times a month. With a checkpoint every 30 min, lost work, checkpoints and restarts cost up "
        "to 15 hours of work a month.",
        "4 spines instead of 2: +20.0 points of goodput for +100,000 of cost.",
        "The fabric costs the least per goodput with 4 spines.",
    ]
    goodput, failures, costs = found.tables()
    assert goodput.table[1] == ["2", "rlb", "60.00", "40.00", "10.00", "1.00", "2.00", "3.00"]
    assert [row[0] for row in failures.table[1:]] == ["links", "optics", "leaves", "spines", "nics"]
    assert costs.table[2] == ("4", "20", "64", "32", "1,000,000", "22.0", "1,250,000")
    assert found.figure().bars["2 spines"]["rlb"].mean == pytest.approx(60)


def test_no_goodput_has_no_cost() -> None:
    fabrics = {2: fabric(2, 900_000), 4: fabric(4, 1_000_000)}
    none = TimeShares(1e-9, 0.1, 0.0, 0.0, 0.9, 0.0)
    found = Outlook(PERIOD, fabrics, {(2, "rlb"): none, (4, "rlb"): none})
    assert [row[-1] for row in list(found.tables())[-1].table[1:]] == ["-", "-"]
    assert "per goodput" not in " ".join(found.conclusions())


def test_large_numbers_are_written_out() -> None:
    often = TimeShares(0.3, 0.1, 0.0, 0.5, 0.1, 0.1)
    made = replace(fabric(2), inventory=replace(inventory(0.1), leaves=Parts(4, (Elements("leaves", 1, 5, 1234),))))
    found = Outlook(Period(1, 1, Checkpoints(2000, 0.1, 0.1)), {2: made}, {(2, "rlb"): often})
    text = "\n".join([*found.conclusions(), *(" ".join(row) for part in found.tables() for row in part.table)])
    assert "checkpoint every 2,000 h" in text
    assert "up to 365 hours" in text
    assert "leaves 5 1,234 2.4" in text
    assert "links 300 10 264" in text
    assert "e+" not in text


def test_what_is_not_known_is_said() -> None:
    unpriced = FabricCost(NO_PRICES.counts, None, None, ("qfx (price)",))
    beyond = PricedFabric(2, inventory(0.05), (1,), (1,), unpriced)
    said = list(Outlook(PERIOD, {2: beyond}, {(2, "rlb"): share(0.6)}).conclusions())
    assert said[-2:] == [
        "Without a number in 'prices' there is no sum: qfx (price).",
        f"During up to {beyond.beyond * 100:.1f} % of the time more is down than was simulated: those speeds are "
        "extrapolated.",
    ]
    (line,) = Outlook(PERIOD, {2: fabric(2)}, {}).conclusions()
    assert line == "Cost and power are shown with 'prices', a table with the price and the watts of every item."


def test_spines_that_bring_nothing_are_told() -> None:
    shares = {(2, "rlb"): share(0.6), (3, "rlb"): share(0.6004)}
    said = list(Outlook(PERIOD, {2: fabric(2), 3: fabric(3)}, shares).conclusions())
    assert "3 spines instead of 2: no more goodput." in said
