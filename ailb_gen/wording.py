"""How messages speak of many things."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

SHOWN = 3


def some(items: Iterable[object]) -> str:
    """Return the first few of many things, and how many more there are; `none` without any."""
    listed = list(map(str, items))
    more = f" and {len(listed) - SHOWN} more" if len(listed) > SHOWN else ""
    return (", ".join(listed[:SHOWN]) or "none") + more
