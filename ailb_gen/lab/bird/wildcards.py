"""Wildcards and regular expressions of communities (Junos: `members 65000:*`) as BIRD's sets."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from itertools import groupby

from ailb_gen.junos.regex import community_pattern
from ailb_gen.lab.bird.communities import COLOR, EXTENDED, LARGE, SHORT, STANDARD, Pattern, administered

# Which numbers a field may be, both ends included.
Ranges = tuple[tuple[int, int], ...]
ANYTHING = frozenset({"*", ".*", ".+"})
ALL = frozenset({"*", ".*", ".+", "[0-9]*", "[0-9]+", r"\d*", r"\d+"})
ENDLESS = re.compile(r"[*+{]")
CLASS = re.compile(r"\[[^\]]*\]")
# Larger sets are not translated.
MOST = 512
BIGGEST = (1 << 32) - 1
# Numbers of more digits are not tested one by one.
MOST_DIGITS = 5


def patterns(member: str) -> tuple[Pattern | None, ...]:
    """Return the attributes and sets of BIRD that a pattern stands for; None where there is no such set.

    `*` alone stands for any number in its field. Junos matches a community's text, character by character: where the
    first of two fields may be anything, it may also be what colors and large communities have before the last colon.
    """
    fields = _fields(member.removeprefix("^").removesuffix("$"))
    match fields:
        case [first, last] if first in ANYTHING:
            return _standard([first, last]), _color(["*", last]), _large(["*", "*", last])
        case [_, _]:
            return (_standard(fields),)
        case ["color", *rest] if len(rest) == 2:
            return (_color(rest),)
        case ["large", *rest] if len(rest) == 3:
            return (_large(rest),)
        case ["target" | "origin" as kind, administrator, low]:
            return (_administered(kind, administrator, low),)
    return (None,)


def _fields(text: str) -> list[str] | None:
    """Split at the colons outside of brackets; None for alternatives that reach over a colon."""
    fields, depth = [""], 0
    for letter in text:
        depth += (letter in "([") - (letter in ")]")
        if letter == "|" and not depth:
            return None
        if letter == ":" and not depth:
            fields.append("")
        else:
            fields[-1] += letter
    return fields


def _standard(fields: list[str]) -> Pattern | None:
    high, low = (ranges(text, SHORT - 1) for text in fields)
    if high is None or low is None or len(high) * len(low) > MOST:
        return None
    return _set(STANDARD, (f"({_range(one, SHORT - 1)}, {_range(two, SHORT - 1)})" for one in high for two in low))


def _color(fields: list[str]) -> Pattern | None:
    flags, low = ranges(fields[0], 3), ranges(fields[1], BIGGEST)
    if flags is None or low is None or len(low) > MOST // 4:
        return None
    modes = [mode for first, last in flags for mode in range(first, last + 1)]
    return _set(
        EXTENDED, (f"(generic, 0x{COLOR << 16 | mode << 14:08x}, {_range(one)})" for mode in modes for one in low)
    )


def _administered(kind: str, administrator: str, low: str) -> Pattern | None:
    """Translate a route target or origin, whose administrator must be given."""
    known = administered(kind, administrator)
    found = ranges(low, known.most) if known is not None else None
    if known is None or found is None or len(found) > MOST:
        return None
    spans = [(known.low + first, known.low + last) for first, last in found]
    return _set(EXTENDED, (f"(generic, 0x{known.high:08x}, {_range(one)})" for one in spans))


def _large(fields: list[str]) -> Pattern | None:
    """Translate a large community: BIRD's sets have single numbers, then one range, then anything."""
    parts = [""]
    open_end = False
    for text in fields:
        found = ranges(text, BIGGEST)
        if found is None or (open_end and found != ((0, BIGGEST),)):
            return None
        open_end = open_end or any(first != last for first, last in found)
        parts = [f"{part}, {_range(one)}" for part in parts for one in found]
    if len(parts) > MOST:
        return None
    return _set(LARGE, (f"({part[2:]})" for part in parts))


def _set(attribute: str, texts: Iterator[str]) -> Pattern:
    return Pattern(attribute, f"[{', '.join(texts)}]")


def _range(pair: tuple[int, int], biggest: int = BIGGEST) -> str:
    first, last = pair
    if first == last:
        return str(first)
    return "*" if (first, last) == (0, biggest) else f"{first}..{last}"


@lru_cache(maxsize=1024)
def ranges(text: str, biggest: int) -> Ranges | None:
    """Return the numbers up to `biggest` whose digits a pattern matches in full; None if they cannot be listed."""
    if text in ALL:
        return ((0, biggest),)
    if text.isascii() and text.isdigit():
        return ((int(text), int(text)),) if int(text) <= biggest else None
    try:
        compiled = community_pattern(text)
    except ValueError:
        return None
    if biggest >= SHORT and not _short(text):
        return None
    numbers = (one for one in range(min(biggest, 10**MOST_DIGITS - 1) + 1) if compiled.fullmatch(str(one)))
    # Numbers in a row have the same distance from their places.
    runs = ([one for _, one in run] for _, run in groupby(enumerate(numbers), lambda pair: pair[1] - pair[0]))
    return tuple((run[0], run[-1]) for run in runs) or None


def _short(text: str) -> bool:
    """Return whether a pattern matches at most five digits: a few, or one group of alternatives."""
    if ENDLESS.search(text):
        return False
    words = re.split(r"[()|]", CLASS.sub(".", text))
    alone = len(words) > 2 and not words[0] and not words[-1] and text.count("(") == 1
    return (max if alone else sum)(len(word) for word in words) <= MOST_DIGITS
