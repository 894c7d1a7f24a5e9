"""Devices picked by patterns, and left out by those with `!`."""

from __future__ import annotations

import pytest

from ailb_gen.errors import UsageError
from ailb_gen.selection import limit_without, pick_devices

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


def test_the_option_that_leaves_devices_out_is_for_a_shell() -> None:
    assert limit_without(["leaf2", "spine1"]) == "--limit '!leaf2,!spine1'"
    assert limit_without([f"leaf{number}" for number in range(9)]) == "--limit '!NAME,...'"
