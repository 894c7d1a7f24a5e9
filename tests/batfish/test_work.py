"""Pieces of work: how often they are polled, and their rows in plain values."""

from __future__ import annotations

from ailb_gen.batfish.work import LONGEST_S, POLL_S, plain_row, poll_delay_s


def test_young_work_is_polled_every_ten_milliseconds_and_old_work_less_often() -> None:
    assert {poll_delay_s(age) for age in (0.0, 0.05, 0.2)} == {POLL_S}
    delays = [poll_delay_s(age) for age in range(600)]
    assert delays == sorted(delays)
    assert poll_delay_s(10) == 0.5
    assert max(delays) == LONGEST_S


def test_what_pandas_puts_where_nothing_is_is_nothing() -> None:
    assert plain_row({"Nodes": [float("nan"), 1], "Node": float("nan")}) == {"Nodes": [None, 1], "Node": None}
