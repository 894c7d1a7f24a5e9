"""Things of a kind are evaluated once, and the verdict is that of evaluating each."""

from __future__ import annotations

import shutil
from collections import Counter
from collections.abc import Hashable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from unittest.mock import patch

import pytest

from ailb_gen.checks.families.paths import BALANCED, PINNED
from ailb_gen.checks.kinds import Evaluation, Kinds
from ailb_gen.checks.model import Findings, Result, RunOptions
from ailb_gen.checks.run import run
from ailb_gen.intent.load import load
from ailb_gen.routing import rib
from tests.conftest import EXAMPLES
from tests.mutations.catalogue import KINDS
from tests.mutations.kind import BOTH, Kind, changes_of, chosen
from tests.mutations.score import CHECKS, GOLDEN, golden
from tests.mutations.tree import Changes, copy_with
from tests.mutations.unchanged import reading_once

CASES = [(example, row) for row in KINDS for example in BOTH if example in row.examples]


def each(kinds: Kinds, _: object, evaluation: Evaluation) -> None:
    """Evaluate a thing by itself."""
    evaluation(kinds.findings)


@contextmanager
def without_kinds() -> Iterator[None]:
    """Evaluate each thing, and compute the routes of each prefix."""
    with patch.object(Kinds, "evaluate", each), patch.object(rib, "is_symmetric", lambda *_: False):
        yield


def results(example: str, changes: Changes, folder: Path) -> tuple[Result, ...]:
    """Run all checks but failures and the commit check over an example with changes."""
    copy_with(GOLDEN / example, changes, folder)
    checks = frozenset(check for check in CHECKS if not check.startswith("AILB5"))
    try:
        with reading_once(GOLDEN / example):
            return run(load(EXAMPLES / example / "fabric.yaml"), folder, RunOptions(checks, executor="serial")).results
    finally:
        shutil.rmtree(folder)


@contextmanager
def counting() -> Iterator[Counter[str]]:
    """Count the things that have a kind, and those that are evaluated."""
    counts, evaluate = Counter[str](), Kinds.evaluate

    def counted(kinds: Kinds, kind: Hashable, evaluation: Evaluation) -> None:
        def evaluated(findings: Findings) -> None:
            counts["evaluated"] += 1
            evaluation(findings)

        counts["things"] += 1
        evaluate(kinds, kind, evaluated)

    with patch.object(Kinds, "evaluate", counted):
        yield counts


@pytest.mark.parametrize("example", [*BOTH, "brownfield", "mixed"])
def test_the_examples(example: str, tmp_path: Path) -> None:
    with counting() as counts:
        found = results(example, {}, tmp_path / "out")
    assert 0 < counts["evaluated"] < counts["things"]
    with without_kinds():
        assert results(example, {}, tmp_path / "out") == found


@pytest.mark.sampled(100, 20)
@pytest.mark.parametrize(("example", "row"), CASES, ids=lambda value: value if isinstance(value, str) else value.name)
def test_damage(example: str, row: Kind, tmp_path: Path) -> None:
    tree = golden(example)
    changes = changes_of(row, tree, chosen(row, tree, example, 1))
    found = results(example, changes, tmp_path / "out")
    with without_kinds():
        assert results(example, changes, tmp_path / "out") == found


def test_some_of_a_kind_are_evaluated_and_all_are_counted() -> None:
    findings, evaluated = Findings(), list[int]()
    kinds = Kinds(findings)

    def look(number: int, into: Findings) -> None:
        evaluated.append(number)
        into.look(PINNED, 3)

    for number in range(1, 11):
        kinds.evaluate("kind", partial(look, number))
    assert evaluated == [1, 2, 4, 8]
    assert findings.counts == {PINNED.id: 30}


def test_where_one_has_findings_all_are_evaluated() -> None:
    findings = Findings()
    kinds = Kinds(findings)

    def uneven(name: str, into: Findings) -> None:
        into.add(BALANCED, name, "uneven")

    for name in ("one", "two", "three"):
        kinds.evaluate("kind", partial(uneven, name))
    assert [finding.device for finding in findings.found[BALANCED.id]] == ["one", "two", "three"]


def test_a_kind_that_is_none_is_an_error() -> None:
    kinds = Kinds(Findings())
    kinds.evaluate("kind", lambda into: into.look(PINNED))
    with pytest.raises(AssertionError, match="should not tell apart differ: kind"):
        kinds.evaluate("kind", lambda into: into.add(BALANCED, "two", "uneven"))
