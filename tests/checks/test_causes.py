"""Which findings follow from which: the rules, over findings made by hand."""

from __future__ import annotations

from itertools import groupby

from ailb_gen.checks.catalogue import EVERYTHING
from ailb_gen.checks.causes import causes
from ailb_gen.checks.device_checks import CHECKS
from ailb_gen.checks.model import Finding, Result
from ailb_gen.errors import Place

CHECK = {check.id: check for check in EVERYTHING}
LEAF = Place("switches/leaf1.conf", 7)


def explained(*findings: Finding) -> dict[Finding, Finding]:
    """Return the causes of findings, which are in the order of the checks."""
    rows = groupby(sorted(findings, key=lambda row: row.check), key=lambda row: row.check)
    return causes([Result(CHECK[check], tuple(found)) for check, found in rows])


def test_a_difference_on_a_device_never_follows_from_another() -> None:
    color, port = "protocols bgp group fabric-green fabric-color green", "interfaces et-0/0/1 disable"
    for place in (LEAF, None):
        missing = Finding("AILBD02", "leaf1", f"{color}: is missing", place, color, "")
        surplus = Finding("AILBD02", "leaf1", f"{port}: is not in the file", place, "", port)
        assert explained(missing, surplus) == {}


def test_what_is_seen_on_devices_stands_for_itself() -> None:
    found = [Finding(check.id, "leaf1", f"{what} is wrong", LEAF) for check in CHECKS for what in ("et-0/0/0", "et-1")]
    assert explained(*found) == {}
