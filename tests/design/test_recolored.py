"""Fabrics that grow: existing links keep their colors, existing devices only gain, and what moves is told."""

import re

import pytest

from ailb_gen.design.build import build
from ailb_gen.design.model import Design
from ailb_gen.design.recolored import OldColors, recolored
from ailb_gen.errors import IntentError
from ailb_gen.render.artifacts import RenderOptions, render
from tests.conftest import design_of, intent_of

FABRIC = """\
name: pod
stripes: 2
rails: 2
servers: 2
uplinks: {speed: 400g}
host_ports: {speed: 400g, first_port: 56}
"""
GROWTHS = [(2, 4), (4, 8), (8, 16), (2, 6), (4, 12)]
# The one statement of a switch whose value follows the number of its links.
RISES = re.compile(r"set chassis maximum-ecmp [0-9]+")


def grown(spines: int, links: int, colors: str = "") -> str:
    return f"{FABRIC}spines: {spines}\nlinks_per_spine: {links}\n{colors}"


def colors_of(design: Design) -> dict[tuple[str, str, str, str], str]:
    return {
        (row.leaf, row.leaf_interface, row.spine, row.spine_interface): f"{row.color.name} {row.color.community}"
        for row in design.links
    }


def files(design: Design) -> dict[str, set[str]]:
    tree = render(design, RenderOptions("set", None))
    return {path: set(artifact.content.decode(errors="replace").splitlines()) for path, artifact in tree.items()}


def fits(spines: int, links: int) -> bool:
    """Tell whether so many uplinks of 400G fit onto the 56 ports of a leaf before those of its servers."""
    return spines * -(-links // 2) <= 56


# How the colors are given: before, and with more spines. As few as spines, one per uplink, one per rail, of the user's
# own naming; and with several links per spine with the step that the first number of spines gave.
PLANS = [
    ("colors: {first}", "colors: {{count: {first}, step: {first}}}"),
    ("", "colors: {{count: {uplinks}, step: {first}}}"),
    ("colors: {{count: {uplinks}, backup: none}}", "colors: {{count: {uplinks}, step: {first}, backup: none}}"),
    ("colors: 2", "colors: {{count: 2, step: {first}}}"),
    ("colors: {{names: [a, b], backup: {{a: b}}}}", "colors: {{names: [a, b], backup: {{a: b}}, step: {first}}}"),
]


@pytest.mark.sampled(5)
@pytest.mark.parametrize("links", [1, 2, 3])
@pytest.mark.parametrize(("first", "then"), GROWTHS)
@pytest.mark.parametrize("plan", PLANS)
def test_existing_links_keep_their_colors_and_existing_devices_only_gain(
    first: int, then: int, links: int, plan: tuple[str, str]
) -> None:
    assert fits(then, links)
    given = {"first": first, "uplinks": first * links}
    old, new = (
        design_of(grown(spines, links, text.format(**given) + "\n"))
        for spines, text in zip((first, then), plan, strict=True)
    )
    before, after = colors_of(old), colors_of(new)
    assert {cable: after.get(cable) for cable in before} == before
    now = files(new)
    for path, lines in files(old).items():
        there = now[path]
        lost = {line for line in lines - there if not RISES.fullmatch(line)}
        assert not lost, path
        assert path.startswith("switches/") or lines == there, path


@pytest.mark.parametrize(("first", "then"), GROWTHS)
def test_one_link_per_spine_keeps_its_color_whatever_is_added(first: int, then: int) -> None:
    old, new = design_of(grown(first, 1)), design_of(grown(then, 1))
    before, after = colors_of(old), colors_of(new)
    assert {cable: after[cable] for cable in before} == before
    now = files(new)
    assert all(lines <= now[path] for path, lines in files(old).items() if path.startswith("switches/"))


@pytest.mark.parametrize("colors", ["", "colors: 4\n"])
def test_a_second_link_on_a_split_port_leaves_the_first_as_it_is(colors: str) -> None:
    old, new = design_of(grown(4, 1, colors)), design_of(grown(4, 2, colors))
    before, after = colors_of(old), colors_of(new)
    assert {cable: after[cable] for cable in before} == before
    now = files(new)
    assert all(lines <= now[path] for path, lines in files(old).items() if path.startswith("switches/"))


def told(before: str, after: str) -> str:
    """Return the warning when the second fabric replaces the first."""
    old, intent = design_of(before), intent_of(after)
    links = {(row.leaf, row.leaf_interface, row.spine, row.spine_interface): row.color.name for row in old.links}
    names = tuple(color.name for color in old.colors)
    warnings = recolored(intent, build(intent)[0], OldColors(names, links), "build/pod")
    assert len(warnings) <= 1
    return str(warnings[0]) if warnings else ""


@pytest.mark.parametrize("links", [1, 2, 3])
@pytest.mark.parametrize(("first", "then"), GROWTHS)
def test_a_color_that_moves_is_told_with_the_way_out(first: int, then: int, links: int) -> None:
    before, after = grown(first, links), grown(then, links)
    warning = told(before, after)
    assert bool(warning) == (links > 1)
    if not warning:
        return
    existing = 4 * first * links
    assert f"{existing - 4 * first} of {existing} existing links get another color than in build/pod" in warning
    assert warning.endswith(f"'colors.count: {first * links}' and 'colors.step: {first}' keep them")
    assert not told(before, after + f"colors: {{count: {first * links}, step: {first}}}\n")


@pytest.mark.parametrize(
    ("before", "after", "hint"),
    [
        # Fewer colors than uplinks: the count stays, the step has to be given.
        (grown(4, 2, "colors: 8\n"), grown(8, 2, "colors: 8\n"), "'colors.step: 4' keeps them"),
        # A step of the old fabric goes on.
        (
            grown(4, 2, "colors: {count: 4, step: 1}\n"),
            grown(8, 2, "colors: {count: 4, step: 4}\n"),
            "'colors.step: 1' keeps them",
        ),
        # The same links in other colors.
        (grown(2, 1), grown(2, 1, "colors: [a, b]\n"), "'colors.names: [green, blue]' keeps them"),
        (
            grown(2, 1, "colors: [a, b]\n"),
            grown(4, 1, "colors: [x, a, b, y]\n"),
            "'colors.names: [a, b, x, y]' keeps them",
        ),
        (grown(4, 1, "colors: 2\n"), grown(4, 1), "'colors.count: 2' keeps them"),
        # No plan of colors fits 6 spines, one fits 8.
        (
            grown(4, 2),
            grown(6, 2),
            "with 8 spines, a multiple of 4, 'colors.count: 8' and 'colors.step: 4' keep them",
        ),
    ],
)
def test_ways_out(before: str, after: str, hint: str) -> None:
    assert told(before, after).endswith(f"; {hint}")


def test_what_cannot_be_kept_is_told_without_a_way_out() -> None:
    old, intent = design_of(grown(4, 2)), intent_of(grown(4, 2))
    links = {(row.leaf, row.leaf_interface, row.spine, row.spine_interface): "green" for row in old.links}
    (warning,) = recolored(intent, build(intent)[0], OldColors(("green", "blue"), links), "out")
    assert str(warning).endswith("no colors.count and colors.step keep them: push this in a maintenance window")


def test_an_uneven_step_is_still_refused() -> None:
    with pytest.raises(IntentError, match="uneven-colors"):
        design_of(grown(6, 2, "colors: {count: 8, step: 4}\n"))
