"""Colors: evenly over the uplinks, stable when links are added, and backed up as asked."""

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ailb_gen.design.colors import color_of
from ailb_gen.design.model import Color
from tests.conftest import SMALL, design_of, example


def palette(count: int) -> tuple[Color, ...]:
    return tuple(Color(n, f"c{n}", f"color:0:{n}", "") for n in range(1, count + 1))


@given(st.integers(1, 64), st.integers(1, 8), st.data())
def test_every_color_gets_the_same_number_of_uplinks(spines: int, links: int, data: st.DataObject) -> None:
    uplinks = spines * links
    count = data.draw(st.sampled_from([n for n in range(1, uplinks + 1) if uplinks % n == 0]))
    colors = palette(count)
    got = Counter(color_of(colors, spines, k, j).name for k in range(spines) for j in range(links))
    assert set(got.values()) == {uplinks // count}
    assert len(got) == count


@given(st.integers(1, 64))
def test_adding_links_does_not_recolor_the_old_ones(spines: int) -> None:
    for k in range(spines):
        assert color_of(palette(spines), spines, k, 0).number == k + 1
        assert color_of(palette(2 * spines), spines, k, 0).number == k + 1


def test_sixty_four_spines_share_eight_colors() -> None:
    design = design_of("name: f\nplatform: generic\nstripes: 1\nrails: 1\nspines: 64\ncolors: 8\n")
    leaf = design.leaves[0]
    assert [port.color.number for port in leaf.fabric_ports] == [k % 8 + 1 for k in range(64)]
    assert len(leaf.prefixes) == 8
    assert [len(group.interfaces) for group in leaf.groups] == [8] * 8
    assert leaf.maximum_ecmp == 64
    # The green group accepts the eight green spines and no other.
    assert leaf.as_lists[0].members == tuple(str(4200000001 + k) for k in range(0, 64, 8))


def test_two_links_per_spine_have_two_colors_on_the_spine() -> None:
    design = example("jvd-8-uplinks")
    leaf, spine = design.leaves[0], design.spines[0]
    assert [(p.peer, p.interface, p.color.name) for p in leaf.fabric_ports[:4]] == [
        ("spine1", "et-0/0/0:0", "green"),
        ("spine1", "et-0/0/0:1", "purple"),
        ("spine2", "et-0/0/1:0", "blue"),
        ("spine2", "et-0/0/1:1", "yellow"),
    ]
    assert [(g.color and g.color.name, len(g.interfaces)) for g in spine.groups] == [("green", 16), ("purple", 16)]


@pytest.mark.parametrize(
    ("backup", "expected"),
    [
        ("all", ["all-colors", "all-colors"]),
        ("none", ["", ""]),
        ("[blue]", ["blue", ""]),
        ("[green, blue]", ["blue", "green"]),
        ("{green: blue}", ["blue", ""]),
    ],
)
def test_backups(backup: str, expected: list[str]) -> None:
    design = design_of(SMALL + f"colors: {{names: [green, blue], backup: {backup}}}\n")
    assert [color.backup for color in design.colors] == expected


def test_a_list_of_backups_is_handed_out_in_turn() -> None:
    text = SMALL.replace("spines: 2", "spines: 6") + "colors: {names: [a, b, c, d, e, f], backup: [e, f]}\n"
    assert [color.backup for color in design_of(text).colors] == ["e", "f", "e", "f", "f", "e"]


def test_the_only_color_has_no_other_to_back_it_up() -> None:
    assert [color.backup for color in design_of(SMALL + "colors: 1\n").colors] == [""]


def test_color_names_go_on_after_the_palette() -> None:
    names = [c.name for c in design_of(SMALL.replace("spines: 2", "spines: 10")).colors]
    assert names[0] == "green" and names[8:] == ["color9", "color10"]
