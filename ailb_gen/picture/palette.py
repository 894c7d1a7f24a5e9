"""Hues, letters and dash patterns of fabric colors: distinct in light and dark, and without seeing hues.

Every hue has a contrast of 4.5:1 or more on its background (WCAG 2.2, 1.4.3): letters have it, too. A fabric color that
is called like a hue has that hue; others take the rest, in order.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

BACK_LIGHT, BACK_DARK = "#ffffff", "#0d1117"


@dataclass(frozen=True, slots=True)
class Hue:
    """A hue in light and in dark, and the pattern of its lines (SVG's `stroke-dasharray`, empty for solid)."""

    name: str
    light: str
    dark: str
    dash: str
    aliases: tuple[str, ...] = ()


HUES = (
    Hue("green", "#00805f", "#2fc79c", "", ("emerald", "lime", "teal")),
    Hue("blue", "#0a4fb0", "#4d96ff", "9 3", ("navy", "azure", "indigo")),
    Hue("red", "#b00a26", "#ff7b72", "3 3", ("crimson", "scarlet")),
    Hue("orange", "#a86200", "#f0a830", "11 3 2 3", ("amber", "gold")),
    Hue("purple", "#7a3fb0", "#c297ff", "16 4", ("violet",)),
    Hue("yellow", "#786a00", "#f2e24a", "6 2 2 2 2 2"),
    Hue("cyan", "#00788f", "#56d4e8", "6 6", ("turquoise", "aqua")),
    Hue("magenta", "#b5308f", "#ff8bd8", "2 2", ("pink", "fuchsia")),
    Hue("brown", "#7b4f2c", "#cfa582", "12 2 2 2 2 2", ("bronze",)),
    Hue("gray", "#56606c", "#a8b3c0", "20 3 4 3", ("grey", "silver", "slate", "black", "white")),
)


@dataclass(frozen=True, slots=True)
class Coloring:
    """How a fabric color is drawn: the class of its lines, and a letter that no other color of the fabric has."""

    style: str
    letter: str
    hue: Hue


def colorings(colors: Sequence[str]) -> dict[str, Coloring]:
    """Return how each color of a fabric is drawn."""
    hues, letters = _hues(colors), _letters(colors)
    return {color: Coloring(f"h{hues[color]}", letters[color], HUES[hues[color]]) for color in colors}


def _hues(colors: Sequence[str]) -> dict[str, int]:
    names = {name: number for number, hue in enumerate(HUES) for name in (hue.name, *hue.aliases)}
    found: dict[str, int] = {}
    for color in colors:
        number = names.get(color.lower())
        if number is not None and number not in found.values():
            found[color] = number
    rest = [number for number in range(len(HUES)) if number not in found.values()] or list(range(len(HUES)))
    others = [color for color in colors if color not in found]
    return found | {color: rest[at % len(rest)] for at, color in enumerate(others)}


def _letters(colors: Sequence[str]) -> dict[str, str]:
    """Return the first letter of a name that is free, else any letter, else a number."""
    found: dict[str, str] = {}
    for number, color in enumerate(colors, 1):
        own = [sign for sign in color.upper() if sign.isascii() and sign.isalpha()]
        taken = set(found.values())
        free = (sign for sign in (*own, *"ABCDEFGHIJKLMNOPQRSTUVWXYZ") if sign not in taken)
        found[color] = next(free, str(number))
    return found
