"""Capacity left between leaves, compared with adding it up pair by pair."""

import random
from itertools import combinations

import pytest

from ailb_gen.design.build import build
from ailb_gen.design.capacity import CapacityLeft, capacity_left
from ailb_gen.design.model import Design
from ailb_gen.errors import IntentError
from tests.conftest import SMALL, examples, intent_of
from tests.intents import random_intent


def naive(design: Design) -> dict[tuple[int, int], int]:
    """Count pairs of leaves by the capacity that they have, and would have without drains."""
    disabled = {(one.name, port.interface): port.disabled for one in design.switches for port in one.fabric_ports}
    counts: dict[tuple[int, int], int] = {}
    for near, far in combinations([leaf.name for leaf in design.leaves], 2):
        now = whole = 0
        for spine in design.spines:
            for color in design.colors:
                sums = []
                for leaf in (near, far):
                    links = [
                        one for one in design.links if (one.leaf, one.spine, one.color) == (leaf, spine.name, color)
                    ]
                    up = [
                        one
                        for one in links
                        if not spine.graceful_shutdown
                        and not disabled[leaf, one.leaf_interface]
                        and not disabled[spine.name, one.spine_interface]
                    ]
                    sums.append((sum(one.speed_gbps for one in up), sum(one.speed_gbps for one in links)))
                now += min(sums[0][0], sums[1][0])
                whole += min(sums[0][1], sums[1][1])
        if whole:
            counts[now, whole] = counts.get((now, whole), 0) + 1
    return counts


def test_it_is_what_adding_up_gives() -> None:
    source, compared = random.Random(5), 0
    for seed in range(examples(150)):
        text = random_intent(seed)
        if "drain:" not in text:
            text += f"drain: ['stripe1-leaf1 spine1', 'spine{source.randint(1, 2)} et-0/0/*']\n"
        try:
            design = build(intent_of(text))[0]
        except IntentError:
            continue
        found = capacity_left(design)
        assert {(one.now, one.whole): one.pairs for one in found} == naive(design)
        assert [one.now / one.whole for one in found] == sorted(one.now / one.whole for one in found)
        compared += any(one.now < one.whole for one in found)
    assert compared > 2


@pytest.mark.parametrize(
    ("more", "told"),
    [
        ("", [("100", 6)]),
        ("drain: spine1\n", [("50", 6)]),
        ("drain: ['stripe1-leaf1 spine1']\n", [("50", 3), ("100", 3)]),
        ("drain: ['stripe1-leaf1 spine1', 'stripe2-leaf1 spine1']\n", [("50", 5), ("100", 1)]),
        ("overrides: {spines: {spine1: {ports: {et-0/0/0: {disabled: true}}}}}\n", [("50", 3), ("100", 3)]),
        ("drain: server-001\n", [("100", 6)]),
    ],
)
def test_pairs_are_counted_by_what_they_have_left(more: str, told: list[tuple[str, int]]) -> None:
    found = capacity_left(build(intent_of(SMALL + more))[0])
    assert [(one.percent, one.pairs) for one in found] == told


def test_one_leaf_has_no_pair() -> None:
    assert capacity_left(build(intent_of("name: f\nplatform: generic\nstripes: 1\nrails: 1\nspines: 2\n"))[0]) == ()


def test_a_share_is_rounded_down() -> None:
    least = CapacityLeft(2999, 4000, 1, ("a", "b"))
    assert (least.percent, least.is_under(75), least.is_under(74.975)) == ("74.9", True, False)
