"""Styles of text on a terminal: the sixteen colors that people choose for light and dark themselves."""

from __future__ import annotations

from collections.abc import Callable
from enum import StrEnum


class Style(StrEnum):
    """What a piece of text is; the value is the parameter of SGR (ECMA-48, 8.3.117)."""

    FAIL = "1;31"
    WARN = "33"
    PASS = "32"  # noqa: S105 - no password
    HEAD = "1"
    DIM = "2"


# Returns a piece of text in a style. The piece is printable: it is laid out and cleaned before.
Paint = Callable[[str, Style], str]


def unpainted(text: str, style: Style) -> str:
    """Return the text as it is, for pipes and files."""
    return text


def painted(text: str, style: Style) -> str:
    """Return the text in a style, for a terminal."""
    return f"\x1b[{style}m{text}\x1b[0m" if text else ""


def heading(row: int, text: str, paint: Paint) -> str:
    """Return a cell of an aligned table in its style if it is of the heading, row 0, or of the rule below, row -1."""
    return paint(text, Style.HEAD if row == 0 else Style.DIM) if row < 1 else text
