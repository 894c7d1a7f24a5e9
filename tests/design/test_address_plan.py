"""Address plans that fit a pool; what is wrong with one has cases in `tests/errors/`."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from ailb_gen.design.address_plan import fitting_layout, layout_text
from ailb_gen.design.numbers import capacity


@given(st.integers(1, 64), st.tuples(st.integers(1, 2000), st.integers(1, 200), st.integers(1, 512)))
def test_a_layout_fits_wherever_one_can(pool: int, needed: tuple[int, int, int]) -> None:
    layout = fitting_layout(pool, needed)
    assert (layout is None) == (sum(count.bit_length() for count in needed) > 64 - pool)
    if layout is not None:
        assert all(capacity(bits) >= count for bits, count in zip(layout, needed, strict=True))
        bits = [bit for first, last in layout for bit in range(first, last + 1)]
        assert bits == list(range(pool, 64))


def test_fields_end_at_digits_where_there_is_room() -> None:
    layouts = [fitting_layout(pool, (6, 8, 16)) for pool in (16, 47, 48, 52, 53)]
    assert [layout and layout_text(layout) for layout in layouts] == [
        'stripe: "16-31", leaf: "32-47", uplink: "48-63"',
        'stripe: "47-51", leaf: "52-55", uplink: "56-63"',
        'stripe: "48-51", leaf: "52-55", uplink: "56-63"',
        'stripe: "52-54", leaf: "55-58", uplink: "59-63"',
        None,
    ]
