"""Cost and power from a table of prices: by name, description or category."""

from __future__ import annotations

import pytest

from ailb_gen.design.build import build
from ailb_gen.errors import IntentError
from ailb_gen.intent.load import load
from ailb_gen.study.reliability.costs import Prices, cost_of, read_prices
from tests.conftest import EXAMPLES

DESIGN, _ = build(load(EXAMPLES / "study" / "months" / "fabric.yaml"))
# 16 leaves and 4 spines; 64 links between them and 64 to servers, an optic of the switches for two links.
TABLE = "item,price,watts\nqfx5240-64od,1000,100\nOptic,10,5\ncable,1,\n"


def priced(text: str) -> Prices:
    return read_prices(text, "prices.csv")


def test_sums_are_those_of_the_bill_of_materials() -> None:
    found = cost_of(DESIGN, "smf", priced(TABLE))
    assert found.counts == {"switch": 20, "optic": 64 + 64 + 64, "cable": 128}
    assert found.price == 20 * 1000 + 192 * 10 + 128
    assert found.watts == 20 * 100 + 192 * 5
    assert found.missing == ()


def test_a_name_comes_before_its_category() -> None:
    found = cost_of(DESIGN, "smf", priced(TABLE + "OSFP-800G-DR8-2-P,20,\n"))
    assert found.price == 20 * 1000 + 128 * 20 + 64 * 10 + 128
    assert found.watts == 20 * 100 + 192 * 5


def test_numbers_may_be_long() -> None:
    """In a currency of small units, or with every digit of a spreadsheet."""
    found = priced("item,price,watts\nswitch,1525000000.50,0.123456789\n")
    assert (found.price["switch"], found.watts["switch"]) == (1_525_000_000.5, 0.123456789)


def test_what_has_no_number_is_named_and_there_is_no_sum() -> None:
    found = cost_of(DESIGN, "smf", priced("item,price,watts\nqfx5240-64od,,100\noptic,10,\ncable,1,\n"))
    assert (found.price, found.watts) == (None, None)
    assert found.missing == (
        "qfx5240-64od (price)",
        "OSFP-800G-DR8-2-P (watts)",
        "NIC optic, 400G, single-mode (watts)",
    )
    assert cost_of(DESIGN, "smf", None).missing == ()


def test_a_table_without_items_is_refused() -> None:
    with pytest.raises(IntentError, match="item: this column is required and missing"):
        priced("price,watts\n1,2\n")
