"""Peaks: by hand, and the same in chunks as in one go."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from ailb_gen.forwarding.peaks import LEAST, STEADY, Peaks

STEADY_LOAD = np.array([1.0, 1.0, 0.5, 0.0])
loads = st.lists(st.lists(st.sampled_from((0.0, 0.5, 1.0, 1.25, 1.5, 2.0)), min_size=4, max_size=4), max_size=9)


def test_only_what_is_higher_is_noted() -> None:
    peaks = Peaks(STEADY_LOAD)
    peaks.note(3, np.array([1.0 + LEAST / 2, 1.5, 0.0, 0.0]))
    peaks.note(4, np.array([0.0, 1.5, 0.75, 0.0]))
    assert peaks.load.tolist() == [1.0, 1.5, 0.75, 0.0]
    assert peaks.cause.tolist() == [STEADY, 3, 4, STEADY]
    assert peaks.raised().links.tolist() == [1, 2]


@given(loads, st.integers(0, 9))
def test_chunks_find_the_same(rows: list[list[float]], cut: int) -> None:
    alone, merged = Peaks(STEADY_LOAD), Peaks(STEADY_LOAD)
    for number, row in enumerate(rows):
        alone.note(number, np.array(row))
    for start, part in ((0, rows[:cut]), (cut, rows[cut:])):
        chunk = Peaks(STEADY_LOAD)
        for number, row in enumerate(part, start):
            chunk.note(number, np.array(row))
        merged.merge(chunk.raised())
    assert merged.load.tolist() == alone.load.tolist()
    assert merged.cause.tolist() == alone.cause.tolist()
