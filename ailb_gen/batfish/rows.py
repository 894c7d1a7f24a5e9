"""Rows of Batfish's answers in plain values; importing this needs pybatfish."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NoReturn

from pybatfish.datamodel.flow import Flow

from ailb_gen.batfish.model import Row
from ailb_gen.errors import BatfishError


class AnsweredRow(Row):
    """A row whose missing columns are the server's fault: another version names them differently."""

    def __init__(self, values: Row, error: Callable[[str], BatfishError]) -> None:
        super().__init__(values)
        self.error = error

    def __missing__(self, column: str) -> NoReturn:
        raise self.error(column)


def plain_row(row: dict[str, object]) -> Row:
    """Return a row in plain values; a flow is text and three columns more."""
    plain: Row = {}
    for column, value in row.items():
        plain[column] = _plain(value)
        if isinstance(value, Flow):
            for part in ("ingressNode", "ingressInterface", "dstIp"):
                plain[f"{column}.{part}"] = getattr(value, part)
    return plain


def _plain(value: object) -> object:
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return None
    if isinstance(value, list | tuple | set | frozenset):
        return [_plain(element) for element in value]
    return value if isinstance(value, str | int) else str(value)
