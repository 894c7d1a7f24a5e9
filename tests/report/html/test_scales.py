"""Texts of ticks: as short as they can be while neighbors are told apart."""

from __future__ import annotations

import pytest

from ailb_gen.report.html.scales import Axis, scale_of, tick_texts


@pytest.mark.parametrize(
    ("ticks", "texts"),
    [
        ((0, 0.5, 1), ["0", "0.5", "1"]),
        ((0, 1_000_000, 2_000_000), ["0", "1M", "2M"]),
        ((2718, 2718.5, 2719, 2719.5), ["2,718.0", "2,718.5", "2,719.0", "2,719.5"]),
        ((2718, 2718.25, 2718.5), ["2,718.00", "2,718.25", "2,718.50"]),
        ((100_000, 100_001, 100_002), ["100,000", "100,001", "100,002"]),
        ((), []),
    ],
)
def test_ticks_are_told_apart(ticks: tuple[float, ...], texts: list[str]) -> None:
    assert tick_texts(ticks) == texts


@pytest.mark.parametrize(("least", "most"), [(2717.6, 2720.1), (1e9, 1e9 + 3), (1e-7, 1.00001e-7), (0, 7)])
def test_no_axis_has_the_same_text_twice(least: float, most: float) -> None:
    texts = tick_texts(scale_of((least, most), Axis("us"), 0, 100, zero=False).ticks())
    assert len(set(texts)) == len(texts) > 1
