"""Rows in plain values."""

from __future__ import annotations

from ailb_gen.batfish.rows import plain_row


def test_what_pandas_puts_where_nothing_is_is_nothing() -> None:
    assert plain_row({"Nodes": [float("nan"), 1], "Node": float("nan")}) == {"Nodes": [None, 1], "Node": None}
