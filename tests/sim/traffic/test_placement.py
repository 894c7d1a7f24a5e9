"""Placement: every job has its hosts, none has another's."""

from __future__ import annotations

from typing import Any, cast

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ailb_gen.errors import UsageError
from ailb_gen.sim.traffic.placement import place
from tests.conftest import examples

HOSTS = np.arange(12, dtype=np.int32)


def test_packed_strided_and_random() -> None:
    assert [one.tolist() for one in place([3, 2], HOSTS)] == [[0, 1, 2], [3, 4]]
    rails = place([4, 4], HOSTS, "strided", stride=4)
    assert [one.tolist() for one in rails] == [[0, 4, 8, 1], [5, 9, 2, 6]]
    drawn = place([5, 5], HOSTS, "random", seed=1)
    again, other = place([5, 5], HOSTS, "random", seed=1), place([5, 5], HOSTS, "random", seed=2)
    assert np.array_equal(drawn, again)
    assert not np.array_equal(drawn, other)


@settings(max_examples=examples(60))
@given(
    st.lists(st.integers(1, 5), min_size=1, max_size=5),
    st.sampled_from(["packed", "strided", "random"]),
    st.integers(0, 2**40),
    st.integers(1, 40),
)
def test_no_host_has_two_jobs(counts: list[int], placement: Any, seed: int, stride: int) -> None:
    hosts = np.arange(100, 125, dtype=np.int32)
    placed = place(counts, hosts, placement, seed, stride)
    assert [len(one) for one in placed] == counts
    every = np.concatenate(placed)
    assert len(set(every.tolist())) == sum(counts)
    assert set(every.tolist()) <= set(hosts.tolist())


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda: place([7, 6], HOSTS), "need 13 hosts, and there are 12"),
        (lambda: place([0], HOSTS), "at least 1 host"),
        (lambda: place([1], HOSTS, "strided", stride=0), "stride"),
        (lambda: place([1], HOSTS, cast(Any, "dense")), "unknown placement 'dense'; known: packed, strided, random"),
    ],
)
def test_impossible_placements_are_refused(call: Any, text: str) -> None:
    with pytest.raises(UsageError, match=text):
        call()
