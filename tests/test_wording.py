from __future__ import annotations

import pytest

from ailb_gen.wording import shown, some


@pytest.mark.parametrize(
    ("items", "text"),
    [
        ([], "none"),
        (["a"], "a"),
        ([1, 2, 3], "1, 2, 3"),
        ("abcd", "a, b, c and 1 more"),
        (map(str, range(12)), "0, 1, 2 and 9 more"),
    ],
)
def test_the_first_few(items: list[object], text: str) -> None:
    assert some(items) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0, "0"),
        (0.5, "0.5"),
        (12.345678, "12.35"),
        (999.4, "999.4"),
        (9999.4, "9,999"),
        (9999.5, "10,000"),
        (12_345, "12,345"),
        (99_999.4, "99,999"),
        (99_999.5, "100k"),
        (123_456, "123.5k"),
        (999_949, "999.9k"),
        (999_950, "1M"),
        (1_234_567, "1.235M"),
        (9.99e14, "999T"),
        (5e15, "5000T"),
    ],
)
def test_numbers_are_short(value: float, text: str) -> None:
    assert shown(value) == text
    assert len(text) <= 6
