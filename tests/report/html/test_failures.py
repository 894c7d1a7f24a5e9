"""The section of failures: what is counted where, and what it says when there is nothing to count."""

from __future__ import annotations

from pathlib import Path

import pytest

from ailb_gen.checks.context import Context
from ailb_gen.report.html import failures
from ailb_gen.report.html.failures import Matrix, failures_section
from ailb_gen.report.html.page import Page, html
from tests.checks.edited import LEAF, edited, intended, network, unchanged, without

BACKUP = "                backup-color all-colors;\n"


def examined(*edits: tuple[str, str, str]) -> Context:
    context = Context(intended().fabric, network(edited(*edits)) if edits else unchanged())
    assert context.failure_outcomes is not None
    return context


def matrices(context: Context) -> list[Matrix]:
    found = failures_section(context).values["matrices"]
    assert isinstance(found, list)
    return found


def text(context: Context) -> str:
    return html(Page("x", "info", "x", sections=(failures_section(context),)))


def test_nothing_is_lost_in_a_whole_fabric() -> None:
    values = failures_section(examined()).values
    assert values["matrices"] == [] and values["pairs"] == 4 * 4 * 3
    kinds = values["kinds"]
    assert isinstance(kinds, list)
    assert [(kind.name, kind.examined, kind.losing, kind.worst) for kind in kinds] == [
        ("one link", 16, 0, "1.33"),
        ("one spine", 4, 0, "1.33"),
        ("two links, a sample", 64, 0, "2.00"),
    ]
    assert "No reachability lost" in text(examined())


def test_a_prefix_without_backup_is_lost_by_all_other_leaves() -> None:
    context = examined((LEAF, BACKUP, ""))
    single, two = matrices(context)
    assert single.columns == ("stripe1-leaf2", "stripe2-leaf1", "stripe2-leaf2")
    rows = {row.name: row for row in single.rows}
    own = rows["stripe1-leaf1:et-0/0/0 - spine1:et-0/0/0"]
    assert (own.lost, own.cells, own.more, own.owner) == (3, (1, 1, 1), 0, LEAF)
    assert own.pairs[0] == "stripe1-leaf2 loses fc00:1:1:1::/64 of stripe1-leaf1: no route at stripe1-leaf2"
    assert rows["spine1"].cells == (1, 1, 1)
    assert len(two.rows) > 10 and two.rows[0].lost >= two.rows[-1].lost
    page = text(context)
    assert own.pairs[0] in page and 'class="f3"' in page


def test_a_large_fabric_is_counted_by_stripe_and_cut_short(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(failures, "LEAVES", 3)
    monkeypatch.setattr(failures, "LOSING", 2)
    monkeypatch.setattr(failures, "PAIRS", 1)
    context = examined((LEAF, BACKUP, ""))
    single = matrices(context)[0]
    assert single.columns == ("stripe 1", "stripe 2")
    assert [row.cells for row in single.rows] == [(1, 2), (1, 2)]
    assert single.rows[0].more == 2 and single.left_out > 0
    page = text(context)
    assert "stripe of the leaf" in page and "more failures lose pairs" in page and "and 2 more" in page


def test_pairs_that_are_unreachable_without_failures_are_counted_first() -> None:
    context = Context(intended().fabric, without("stripe2-leaf1"))
    assert context.failure_outcomes is not None
    values = failures_section(context).values
    assert (values["pairs"], values["gone"]) == (4 * 3 * 2, 4 * 4 * 3 - 4 * 3 * 2)
    page = text(context)
    assert "24 of 48 are reachable without failures" in page
    assert '<p class="failures-gone">24 pairs are unreachable without any failure (stripe2-leaf1: no file).</p>' in page
    assert "<p>No further reachability lost.</p>" in page and 'class="failures-none"' not in page


def test_a_leaf_with_an_unreadable_file_is_told_from_one_without(tmp_path: Path) -> None:
    (tmp_path / "switches").mkdir()
    (tmp_path / "switches" / "stripe2-leaf1.conf").write_text("interfaces {\n", "utf-8")
    context = Context(intended().fabric, without("stripe2-leaf1"), "", tmp_path)
    assert context.failure_outcomes is not None
    assert failures_section(context).values["absent"] == ["stripe2-leaf1: unreadable file"]


def test_it_says_why_there_is_nothing() -> None:
    assert "were not selected" in text(Context(intended().fabric, unchanged()))
    lost = Context(
        intended().fabric,
        network(edited((LEAF, BACKUP, ""), (LEAF, "                    interface et-0/0/0.0;\n", ""))),
    )
    assert lost.failure_outcomes is None
    assert "AILB402" in text(lost)
