"""Text in pictures: how wide it is about, how long names are broken, and how it stands in XML."""

from __future__ import annotations

import re
from xml.sax import saxutils

from ailb_gen.wording import clean

# The average width of a character of a sans-serif font, in parts of its size.
WIDTH = 0.58
SIZE, SMALL = 11.0, 9.0
# Longer names are broken into two lines.
ONE_LINE = 9
PARTS = re.compile(r"[^-_.]*[-_.]?")


def width_of(text: str, size: float = SIZE) -> float:
    """Return about how wide a text is."""
    return len(text) * size * WIDTH


def lines_of(name: str) -> tuple[str, ...]:
    """Break a long name behind one of its signs, into two lines of about the same length."""
    parts = [part for part in PARTS.findall(name) if part]
    if len(name) <= ONE_LINE or len(parts) < 2:
        return (name,)
    cuts = ["".join(parts[:number]) for number in range(1, len(parts))]
    first = min(cuts, key=lambda cut: abs(2 * len(cut) - len(name)))
    return (first, name[len(first) :])


def escape(text: str) -> str:
    """Return a text as the content of an element; characters that XML cannot hold (XML 1.0, 2.2) are escaped."""
    return saxutils.escape(clean(text))


def quoteattr(text: str) -> str:
    """Return a text as the value of an attribute, in quotes; characters that XML cannot hold are escaped."""
    return saxutils.quoteattr(clean(text))
