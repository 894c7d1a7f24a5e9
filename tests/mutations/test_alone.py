"""A check finds alone what it finds among all others: its row names every function that makes its findings."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import pytest

from ailb_gen.checks.catalogue import CATALOGUE
from ailb_gen.checks.model import Finding
from tests.mutations.catalogue import KINDS
from tests.mutations.kind import Kind, changes_of, chosen
from tests.mutations.score import ALL, findings, golden
from tests.mutations.tree import Changes

EXAMPLE = "lab"
ROWS = {check.id: [row for row in KINDS if check.id in row.named_by and EXAMPLE in row.examples] for check in CATALOGUE}


def changes(row: Kind) -> Changes:
    tree = golden(EXAMPLE)
    return changes_of(row, tree, chosen(row, tree, EXAMPLE, 1))


@cache
def among_all(row: Kind) -> tuple[Finding, ...]:
    """Return what all checks find; several checks have the same kind of damage."""
    return findings(EXAMPLE, changes(row), ALL)


@pytest.mark.long
@pytest.mark.parametrize("check", [check for check, rows in ROWS.items() if rows])
def test_a_check_finds_alone_what_it_finds_among_all(check: str) -> None:
    for row in dict.fromkeys((ROWS[check][0], ROWS[check][-1])):
        # What stands in the place of what another check misses depends on that check.
        among = [replace(finding, gap="") for finding in among_all(row) if finding.check == check]
        alone = findings(EXAMPLE, changes(row), frozenset({check}))
        assert [replace(finding, gap="") for finding in alone] == among, row.name
