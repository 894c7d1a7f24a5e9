from __future__ import annotations

import pytest

from ailb_gen.wording import some


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
