"""BGP groups as they are read: what a level does not say, the one above it says."""

from __future__ import annotations

import pytest

from ailb_gen.junos.reader import read
from ailb_gen.network.switch import switch

TEXT = """
interfaces {{ et-0/0/0 {{ unit 0 {{ family inet6 {{ address fd00::/127; }} }} }} }}
protocols {{
    bgp {{
        {top}
        group one {{
            type external;
            {group}
            neighbor fd00::1 {{ {neighbor} }}
        }}
    }}
}}
"""
SENDER, OFF, FIVE = (
    f"graceful-shutdown {{ {text} }}" for text in ("sender;", "receiver disable;", "receiver { local-preference 5; }")
)


@pytest.mark.parametrize(
    ("top", "group", "neighbor", "sender", "preference"),
    [
        ("", "", "", False, 0),
        (SENDER, "", "", True, 0),
        ("", SENDER, "", True, 0),
        ("", "", SENDER, True, 0),
        (OFF, "", "", False, None),
        # Each statement for itself: the level below says the one, the level above the other.
        (SENDER, FIVE, "", True, 5),
        (FIVE, "", "graceful-shutdown { receiver { local-preference 7; } }", False, 7),
        # Junos refuses it, which AILB213 says.
        (SENDER, "", OFF, True, None),
    ],
)
def test_a_graceful_shutdown(top: str, group: str, neighbor: str, sender: bool, preference: int | None) -> None:
    found = switch("a", "a.conf", read(TEXT.format(top=top, group=group, neighbor=neighbor), "a.conf"))
    (one,) = found.groups
    assert (one.shutdown_sender, one.shutdown_preference) == (sender, preference)
    assert not found.unmodeled


def test_neighbors_of_which_one_is_shut_down_are_groups_of_their_own() -> None:
    text = TEXT.format(top="", group="", neighbor=SENDER).replace(
        "neighbor fd00::1", "neighbor fd00::5;\nneighbor fd00::1"
    )
    found = switch("a", "a.conf", read(text, "a.conf"))
    assert [(row.name, row.shutdown_sender, row.neighbors[0].name) for row in found.groups] == [
        ("one", False, "fd00::5"),
        ("one", True, "fd00::1"),
    ]
