"""Devices picked by patterns, and left out by those with `!`."""

from __future__ import annotations

import shlex

import pytest

from ailb_gen.errors import UsageError
from ailb_gen.selection import limit_to, limit_without, pick_devices

ROLES = {"leaf1": "leaf", "leaf2": "leaf", "spine1": "spine", "gpu1": "server"}


@pytest.mark.parametrize(
    ("values", "picked"),
    [
        ([], None),
        (["leaf"], {"leaf1", "leaf2"}),
        (["leaf", "!leaf2"], {"leaf1"}),
        (["!leaf2,leaf"], {"leaf1"}),
        (["!spine1"], {"leaf1", "leaf2", "gpu1"}),
        (["!servers", "!leaf*"], {"spine1"}),
    ],
)
def test_devices_that_patterns_pick(values: list[str], picked: set[str] | None) -> None:
    assert pick_devices(ROLES, values) == picked


@pytest.mark.parametrize(
    ("pattern", "reason"),
    [
        ("!spine9", "--limit '!spine9': no device is called that; did you mean 'spine1'?"),
        ("leaf1,!leaf", "--limit 'leaf1,!leaf': no device is left"),
        ("!", "--limit: an empty pattern; leave the option out to mean everything"),
    ],
)
def test_patterns_that_pick_nothing(pattern: str, reason: str) -> None:
    with pytest.raises(UsageError) as error:
        pick_devices(ROLES, [pattern])
    assert str(error.value) == reason


@pytest.mark.parametrize(
    ("new", "option"),
    [
        (["pod3-leaf1", "pod3-leaf2"], "--limit 'pod3-leaf*'"),
        (["pod1-leaf3", "pod2-leaf3"], "--limit 'pod*-leaf3'"),
        (["pod3-leaf1", "pod3-leaf2", "pod4-leaf1", "pod4-leaf2"], "--limit 'pod3-leaf*,pod4-leaf*'"),
        (["spine3", "spine4"], "--limit spine3,spine4"),
        (["pod3-leaf1"], "--limit pod3-leaf1"),
        (["pod3-leaf1", "pod3-leaf2", "spine3"], "--limit 'pod3-leaf*,spine3'"),
    ],
)
def test_the_option_that_picks_exactly_some_devices(new: list[str], option: str) -> None:
    old = [*(f"pod{pod}-leaf{leaf}" for pod in (1, 2) for leaf in (1, 2)), "spine1", "spine2", "gpu-1"]
    assert limit_to(new, [*old, *new]) == option
    roles = dict.fromkeys([*old, *new], "leaf")
    assert pick_devices(roles, shlex.split(option)[1:]) == set(new)


def test_the_option_that_leaves_devices_out_is_for_a_shell() -> None:
    assert limit_without(["leaf2", "spine1"]) == "--limit '!leaf2,!spine1'"
    assert limit_without([f"leaf{number}" for number in range(9)]) == "--limit '!NAME,...'"
