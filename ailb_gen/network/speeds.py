"""Link speeds: bit/s everywhere but in files and messages."""

from __future__ import annotations

import re

GIGABIT = 10**9
_UNITS = {"m": 10**6, "g": GIGABIT}
_SPEED = re.compile(r"([0-9]{1,9})([mg])", re.IGNORECASE)


def read_speed(text: str | None) -> int | None:
    """Return the bit/s of `400g` or `100m`; None without a text, 0 for one that is no such speed, as `auto`."""
    if not text:
        return None
    found = _SPEED.fullmatch(text)
    return int(found[1]) * _UNITS[found[2].lower()] if found is not None else 0


def speed_text(bps: int | None) -> str:
    """Write a speed as Junos takes it."""
    if not bps:
        return "unknown"
    return f"{bps // GIGABIT}g" if bps % GIGABIT == 0 else f"{bps // _UNITS['m']}m"
