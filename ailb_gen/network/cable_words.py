"""Cables as users name them."""

from __future__ import annotations

from collections.abc import Iterable

from ailb_gen.errors import UsageError
from ailb_gen.network.fabric import End
from ailb_gen.wording import did_you_mean


def cables_named(known: Iterable[tuple[End, End]], word: str, asked: str = "") -> list[tuple[End, End]]:
    """Return the cables that a word means.

    `DEVICE` for all of a device, `DEVICE:PORT` or `DEVICE PORT` by either end, with or without the unit of the
    interface, `DEVICE:DEVICE` for all between two devices, and `END - END` as checks print it. Raises UsageError, which
    begins with what was `asked`, such as an option.
    """
    cables = list(known)
    devices = {end.device for ends in cables for end in ends}
    one, dash, other = word.partition(" - ")
    if not dash:
        first, _, second = word.partition(":")
        one, other = (first, second) if second in devices else (word.replace(" ", ":", 1), "")
    found = [ends for ends in cables if _joins(ends, one, other) or _joins(ends[::-1], one, other)]
    if not found:
        names = [*sorted(devices), *(str(end) for ends in cables for end in ends)]
        hint = did_you_mean(word, names) or "name one end as DEVICE:PORT, both as DEVICE:DEVICE, or a switch"
        raise UsageError(f"{asked}{' ' if asked else ''}{word!r}: there is no such cable or switch; {hint}")
    return found


def _joins(ends: tuple[End, ...], one: str, other: str) -> bool:
    return _is(ends[0], one) and (not other or _is(ends[1], other))


def _is(end: End, text: str) -> bool:
    return text in (end.device, str(end), f"{end}.0")
