"""Headlines that say the same of several devices."""

import pytest

from ailb_gen.checks.model import Finding
from ailb_gen.report.verdict import Headline, similar


def _of(device: str, message: str = "x", part: str = "", expected: str = "", statement: str = "") -> Headline:
    return Headline(Finding("AILB203", device, message, expected=expected, part=part, statement=statement))


def _sizes(*headlines: Headline) -> list[int]:
    return [len(group) for group in similar(headlines)]


def test_names_of_places_and_texts_may_differ() -> None:
    rows = [
        _of(
            f"leaf{n}",
            f"leaf{n} lacks fc00:{n}::/64 of spine{n}",
            f"et-0/0/{n}",
            statement=f"interfaces et-0/0/{n} unit {n} family inet6 address fc00:{n}::1/64",
        )
        for n in range(5)
    ]
    assert similar(rows) == [tuple(rows)]


@pytest.mark.parametrize(
    "other",
    [
        _of("leaf9", part="lo0"),
        _of("leaf9", expected="one"),
        _of("leaf9", statement="routing-options router-id"),
        Headline(Finding("AILB204", "leaf9", "x")),
        Headline(Finding("AILB203", "leaf9", "x"), waived=Finding("AILB201", "leaf9", "no cable")),
        Headline(Finding("AILB203", "leaf9", "x"), (Finding("AILB401", "leaf9", "no path"),)),
    ],
)
def test_a_headline_that_differs_otherwise_is_not_grouped(other: Headline) -> None:
    rows = [_of(f"leaf{n}") for n in range(3)]
    assert _sizes(*rows[:2], other, rows[2]) == [3, 1]


def test_groups_of_bgp_differ_by_their_names() -> None:
    red, blue = (
        [_of(f"leaf{n}", statement=f"protocols bgp group {c} type") for n in range(3)] for c in ("red", "blue")
    )
    assert _sizes(*red, *blue) == [3, 3]


def test_groups_stand_where_their_first_one_did_and_two_are_no_group() -> None:
    rows = [_of("leaf1", part="a"), _of("leaf1"), _of("leaf2", part="a"), _of("leaf2"), _of("leaf3")]
    assert similar(rows) == [(rows[0],), (rows[1], rows[3], rows[4]), (rows[2],)]


def test_how_many_follow_does_not_count() -> None:
    rows = [Headline(Finding("AILB203", f"leaf{n}", "x"), (Finding("AILB401", "leaf", "y"),) * n) for n in range(1, 4)]
    assert _sizes(*rows) == [3]
