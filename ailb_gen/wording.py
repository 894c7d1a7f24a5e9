"""Words of messages: lists cut short, hints at the likely spelling."""

from __future__ import annotations

from difflib import get_close_matches
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

SHOWN = 3


def some(items: Iterable[object]) -> str:
    """Return the first few of many things, and how many more there are; `none` without any."""
    listed = list(map(str, items))
    more = f" and {len(listed) - SHOWN} more" if len(listed) > SHOWN else ""
    return (", ".join(listed[:SHOWN]) or "none") + more


def did_you_mean(word: object, known: Iterable[str]) -> str:
    """Return a hint naming the closest known word, or nothing."""
    # Case counts in names, but a wrong case is the most frequent mistake.
    names = {name.lower(): name for name in known}
    close = [names[one] for one in get_close_matches(str(word).lower(), list(names), n=1, cutoff=0.6)]
    return f"did you mean {close[0]!r}?" if close else ""
