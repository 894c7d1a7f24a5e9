"""Rates as users write them, and those of a collective."""

import pytest

from ailb_gen.emulator.rates import load_rates, parse_load, parse_rate
from ailb_gen.emulator.traffic import LinkRate
from ailb_gen.errors import UsageError
from ailb_gen.network.fabric import End
from tests.emulator.operations.lab import LEAF, SPINE
from tests.network.lab import LAB

GIGABIT = 10**9


def test_an_even_load_is_even() -> None:
    """Every link of the lab carries 40 % of 400 Gbit/s, in both directions, from the lossless queue."""
    rates = load_rates(LAB, "all-to-all", 0.4)
    assert len(rates) == 32
    assert {(round(rate.bits_s), rate.queue, rate.dropped) for rate in rates.values()} == {(160 * GIGABIT, 4, 0)}


@pytest.mark.parametrize(
    ("text", "end", "rate"),
    [
        ("spine1:et-0/0/0=0", End(SPINE, "et-0/0/0"), LinkRate()),
        ("stripe1-leaf1:et-0/0/0:1=100g", End(LEAF, "et-0/0/0:1"), LinkRate(100 * GIGABIT)),
        ("spine1:et-0/0/0=10m/2.5", End(SPINE, "et-0/0/0"), LinkRate(10**7, 0.025)),
    ],
)
def test_a_rate(text: str, end: End, rate: LinkRate) -> None:
    assert parse_rate(text) == (end, rate)


@pytest.mark.parametrize("text", ["", "spine1=1g", "spine1:et-0/0/0", "spine1:et-0/0/0=-1g", "a:b=1g/101", "a:b=1"])
def test_a_rate_that_is_none(text: str) -> None:
    with pytest.raises(UsageError, match="write DEVICE:PORT=SPEED"):
        parse_rate(text)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("rings=40", "no pattern 'rings'; did you mean 'ring'"),
        ("ring", "write PATTERN=PERCENT"),
        ("ring=x", "write PATTERN=PERCENT"),
        ("ring=0", "write PATTERN=PERCENT"),
        ("ring=101", "write PATTERN=PERCENT"),
        ("ring=nan", "write PATTERN=PERCENT"),
    ],
)
def test_a_load_that_is_none(text: str, told: str) -> None:
    with pytest.raises(UsageError, match=told):
        parse_load(text)
    assert parse_load("ring=40") == ("ring", 0.4)
