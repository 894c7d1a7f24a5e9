"""Kinds of elements: what the documentation says of their rates, parts of several elements, failures per month."""

from __future__ import annotations

import pytest

from ailb_gen.study.reliability.elements import HOURS_PER_MONTH, KINDS, Elements, Parts
from ailb_gen.study.reliability.models import ElementRates
from tests.conftest import ROOT
from tests.study.reliability.made import inventory


def test_the_documentation_has_the_rates_and_their_sources() -> None:
    page = (ROOT / "docs" / "what-if.md").read_text(encoding="utf-8")
    assert list(ElementRates.model_fields) == list(KINDS)
    for kind, about in KINDS.items():
        (row,) = [line for line in page.splitlines() if line.startswith("| `") and f"`{kind}`" in line.split("|")[1]]
        assert ("none" if about.mtbf_h is None else f"{about.mtbf_h:,.0f} h") in row
        assert about.source in row or "the same" in row


def test_a_part_is_down_while_one_of_its_elements_is() -> None:
    """Cable 1/10, two optics 1/5 each: up for 9/10 * 4/5 * 4/5."""
    parts = Parts(3, (Elements("links", 1, 90, 10), Elements("optics", 2, 4, 1)))
    assert parts.unavailability == pytest.approx(1 - 0.9 * 0.64)
    assert parts.rate_per_h == pytest.approx(1 / 90 + 2 / 4)


def test_failures_per_month_count_each_element_once_per_cycle() -> None:
    found = inventory().failures_per_month()
    assert found["spines"] == pytest.approx(4 * HOURS_PER_MONTH / 5020)
    assert found["links"] == pytest.approx((64 + 48) * HOURS_PER_MONTH / 3010)
