"""Colors that people tell apart: by hue, by lightness, by pattern and by letter, in light and dark."""

from __future__ import annotations

from itertools import combinations

import pytest

from ailb_gen.picture.palette import BACK_DARK, BACK_LIGHT, HUES, colorings
from ailb_gen.picture.style import DARK, LIGHT, LOADS

# Machado, Oliveira and Fernandes, "A Physiologically-based Model for Simulation of Color Vision Deficiency" (2009),
# severity 1.0, on linear RGB.
DEFICIENCIES = {
    "protanopia": ((0.152286, 1.052583, -0.204868), (0.114503, 0.786281, 0.099216), (-0.003882, -0.048116, 1.051998)),
    "deuteranopia": ((0.367322, 0.860646, -0.227968), (0.280085, 0.672501, 0.047413), (-0.011820, 0.042940, 0.968881)),
    "tritanopia": ((1.255528, -0.076749, -0.178779), (-0.078411, 0.930809, 0.147602), (0.004733, 0.691367, 0.303900)),
}
# How far apart colors are at least, with any sight: distances in OKLab, of which 0.02 is just noticeable.
SIGHTS = {"full": (((1, 0, 0), (0, 1, 0), (0, 0, 1)), 0.1)} | {name: (row, 0.04) for name, row in DEFICIENCIES.items()}
SHIPPED = ("green", "blue", "red", "orange", "purple", "yellow", "cyan", "magenta")


def linear(color: str) -> list[float]:
    parts = [int(color[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    return [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]


def luminance(color: str) -> float:
    red, green, blue = linear(color)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: str, other: str) -> float:
    """WCAG 2.2."""
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


def oklab(rgb: list[float]) -> tuple[float, ...]:
    """Ottosson, "A perceptual color space for image processing" (2020)."""
    red, green, blue = (min(1.0, max(0.0, part)) for part in rgb)
    long = (0.4122214708 * red + 0.5363325363 * green + 0.0514459929 * blue) ** (1 / 3)
    middle = (0.2119034982 * red + 0.6806995451 * green + 0.1073969566 * blue) ** (1 / 3)
    short = (0.0883024619 * red + 0.2817188376 * green + 0.6299787005 * blue) ** (1 / 3)
    return (
        0.2104542553 * long + 0.7936177850 * middle - 0.0040720468 * short,
        1.9779984951 * long - 2.4285922050 * middle + 0.4505937099 * short,
        0.0259040371 * long + 0.7827717662 * middle - 0.8086757660 * short,
    )


def distance(one: str, other: str, matrix: tuple[tuple[float, ...], ...]) -> float:
    seen = [
        oklab([sum(factor * part for factor, part in zip(row, linear(color), strict=True)) for row in matrix])
        for color in (one, other)
    ]
    return float(sum((a - b) ** 2 for a, b in zip(*seen, strict=True)) ** 0.5)


@pytest.mark.parametrize("mode", ["light", "dark"])
def test_lines_have_contrast_on_their_background(mode: str) -> None:
    back = BACK_LIGHT if mode == "light" else BACK_DARK
    values = LIGHT if mode == "light" else DARK
    lines = {hue.name: getattr(hue, mode) for hue in HUES}
    lines |= {name: values[name] for name in ("line", "accent", *(f"load{step}" for step in range(LOADS)))}
    assert {name: value for name, value in lines.items() if contrast(value, back) < 3} == {}


@pytest.mark.parametrize("mode", ["light", "dark"])
def test_text_has_contrast_on_everything_that_it_stands_on(mode: str) -> None:
    values = LIGHT if mode == "light" else DARK
    pairs = [(text, back) for text in ("front", "soft") for back in ("back", "frame", "leaf", "spine", "server")]
    pairs += [("badge", severity) for severity in ("error", "warning", "note")]
    assert [pair for pair in pairs if contrast(values[pair[0]], values[pair[1]]) < 4.5] == []
    letters = [getattr(hue, mode) for hue in HUES]
    assert [one for one in letters if contrast(one, values["back"]) < 4.5] == []


@pytest.mark.parametrize("mode", ["light", "dark"])
@pytest.mark.parametrize("name", DEFICIENCIES)
def test_the_four_colors_of_small_fabrics_differ_for_the_color_blind(name: str, mode: str) -> None:
    four = HUES[:4]
    near = [
        (one.name, other.name, round(found, 3))
        for one, other in combinations(four, 2)
        if (found := distance(getattr(one, mode), getattr(other, mode), DEFICIENCIES[name])) < 0.05
    ]
    assert near == []


@pytest.mark.parametrize("mode", ["light", "dark"])
def test_no_fabric_color_is_like_a_load_or_like_the_gray_of_failures(mode: str) -> None:
    values = LIGHT if mode == "light" else DARK
    own = ["line", *(f"load{step}" for step in range(LOADS))]
    near = [
        (name, hue.name, sight)
        for name in own
        for hue in HUES
        for sight, (matrix, least) in SIGHTS.items()
        if distance(values[name], getattr(hue, mode), matrix) < least
    ]
    assert near == []


@pytest.mark.parametrize("mode", ["light", "dark"])
def test_loads_differ_from_step_to_step_and_grow_darker_or_in_dark_lighter(mode: str) -> None:
    values = [(LIGHT if mode == "light" else DARK)[f"load{step}"] for step in range(LOADS)]
    for matrix, _ in SIGHTS.values():
        assert min(distance(one, other, matrix) for one, other in combinations(values, 2)) >= 0.06
    loads = [luminance(value) for value in values[1:]]
    assert loads == sorted(loads, reverse=mode == "light")


def test_every_hue_has_a_pattern_of_its_own() -> None:
    assert len({hue.dash for hue in HUES}) == len(HUES)


def test_colors_are_drawn_in_what_they_are_called() -> None:
    found = colorings(SHIPPED)
    assert {color: look.hue.name for color, look in found.items()} == {color: color for color in SHIPPED}
    assert "".join(look.letter for look in found.values()) == "GBROPYCM"


def test_other_names_take_what_is_left_and_letters_never_repeat() -> None:
    found = colorings(("amber", "violet", "plane-a", "plane-b", "Green", "gold"))
    assert [look.hue.name for look in found.values()][:2] == ["orange", "purple"]
    assert found["Green"].hue.name == "green"
    assert len({look.style for look in found.values()}) == 6
    assert [look.letter for look in found.values()] == ["A", "V", "P", "L", "G", "O"]


def test_there_may_be_more_colors_than_hues_and_letters() -> None:
    found = colorings([f"color{number}" for number in range(1, 41)])
    assert len({look.letter for look in found.values()}) == 40
    assert {look.style for look in found.values()} == {f"h{number}" for number in range(len(HUES))}
