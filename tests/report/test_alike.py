"""Headlines that say the same of many devices."""

import pytest

from ailb_gen.checks.model import Finding
from ailb_gen.report.alike import alike
from ailb_gen.report.verdict import Headline


def _of(device: str, message: str, part: str = "", expected: str = "", check: str = "AILB203") -> Headline:
    return Headline(Finding(check, device, message, expected=expected, part=part))


def _sizes(*headlines: Headline) -> list[int]:
    return [len(group) for group in alike(headlines)]


def test_names_ports_addresses_and_numbers_may_differ() -> None:
    rows = [
        _of(f"leaf{n}", f"leaf{n} lacks fc00:{n}::/64 of spine{n} at et-0/0/{n}:0", f"et-0/0/{n}") for n in range(5)
    ]
    assert alike(rows) == [tuple(rows)]


def test_a_device_without_a_number_is_a_name_too() -> None:
    assert _sizes(*(_of(name, f"{name} has no file") for name in ("north", "south", "east"))) == [3]


@pytest.mark.parametrize(
    "other",
    [
        _of("leaf9", "another thing is wrong"),
        _of("leaf9", "no session", part="lo"),
        _of("leaf9", "no session", expected="one"),
        _of("leaf9", "no session", check="AILB204"),
        Headline(Finding("AILB203", "leaf9", "no session"), waived=Finding("AILB201", "leaf9", "no cable")),
        Headline(Finding("AILB203", "leaf9", "no session"), (Finding("AILB401", "leaf9", "no path"),)),
    ],
)
def test_what_differs_otherwise_stays_apart(other: Headline) -> None:
    rows = [_of(f"leaf{n}", "no session") for n in range(3)]
    assert _sizes(*rows[:2], other, rows[2]) == [3, 1]


def test_groups_stand_where_their_first_one_did_and_two_are_no_group() -> None:
    rows = [_of("leaf1", "a"), _of("leaf1", "b"), _of("leaf2", "a"), _of("leaf2", "b"), _of("leaf3", "b")]
    assert alike(rows) == [(rows[0],), (rows[1], rows[3], rows[4]), (rows[2],)]


def test_how_many_follow_does_not_count() -> None:
    rows = [Headline(Finding("AILB203", f"leaf{n}", "x"), (Finding("AILB401", "leaf", "y"),) * n) for n in range(1, 4)]
    assert _sizes(*rows) == [3]
