"""A check finds alone what it finds among all others: its row names every function that makes its findings."""

from __future__ import annotations

import pytest

from ailb_gen.checks.catalogue import CATALOGUE
from tests.mutations.catalogue import KINDS
from tests.mutations.kind import changes_of, chosen
from tests.mutations.score import ALL, findings, golden

EXAMPLE = "lab"
ROWS = {check.id: [row for row in KINDS if check.id in row.named_by and EXAMPLE in row.examples] for check in CATALOGUE}


@pytest.mark.long
@pytest.mark.parametrize("check", [check for check, rows in ROWS.items() if rows])
def test_a_check_finds_alone_what_it_finds_among_all(check: str) -> None:
    for row in (ROWS[check][0], ROWS[check][-1]):
        tree = golden(EXAMPLE)
        changes = changes_of(row, tree, chosen(row, tree, EXAMPLE, 1))
        among = [finding for finding in findings(EXAMPLE, changes, ALL) if finding.check == check]
        assert list(findings(EXAMPLE, changes, frozenset({check}))) == among, row.name
