"""Outcomes of failures by kinds: the same as without kinds whatever is damaged, and work that does not grow."""

from __future__ import annotations

import random
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from ailb_gen.checks import failure_outcomes
from ailb_gen.checks.context import Context
from ailb_gen.checks.failure_outcomes import FailureOutcomes, sampled_pairs
from ailb_gen.errors import AilbError
from ailb_gen.forwarding import failure_kinds
from ailb_gen.forwarding.failures import Assessment, Impact
from ailb_gen.network.fabric import Network
from tests.checks.trees import fabric_of, network_of, rendered
from tests.conftest import SMALL, examples
from tests.mutations.catalogue import KINDS
from tests.mutations.kind import BOTH, Kind, changes_of, chosen
from tests.mutations.score import GOLDEN, golden
from tests.mutations.tree import copy_with
from tests.mutations.unchanged import reading_once

# Kinds of damage that are compared per example: all of them would take ten minutes.
DAMAGES = 120


def outcomes(context: Context, monkeypatch: pytest.MonkeyPatch, kinds: bool) -> FailureOutcomes | None:
    """The outcomes of failures; without kinds all are computed."""
    monkeypatch.setattr(failure_kinds, "MOST", 512 if kinds else 0)
    return replace(context).failure_outcomes


def assert_same(context: Context, monkeypatch: pytest.MonkeyPatch) -> None:
    """Compare both ways: everything is equal, but loads are summed in another order."""
    found, expected = outcomes(context, monkeypatch, True), outcomes(context, monkeypatch, False)
    if found is None or expected is None:
        assert found is expected
        return
    for one, other in zip(found.single + found.pairs, expected.single + expected.pairs, strict=True):
        assert replace(one, worst=0.0) == replace(other, worst=0.0)
        assert one.worst == pytest.approx(other.worst, rel=1e-9)
    assert np.array_equal(found.peaks.cause, expected.peaks.cause)
    assert np.allclose(found.peaks.load, expected.peaks.load, rtol=1e-9)


def damaged(example: str, row: Kind, folder: Path) -> Network | None:
    """The network of an example with a damage; None where the files cannot be read at all."""
    tree = golden(example)
    copy_with(GOLDEN / example, changes_of(row, tree, chosen(row, tree, example, 1)), folder)
    try:
        with reading_once(GOLDEN / example):
            return network_of(folder)
    except AilbError:
        return None


@pytest.mark.long
@pytest.mark.parametrize("example", [*BOTH, "brownfield", "mixed", "static"])
def test_damages_have_the_same_outcomes_both_ways(
    example: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A sample of the kinds of damage that routing may notice, at one place each; AILB_EXAMPLES takes more."""
    whole, compared = network_of(GOLDEN / example), 0
    rows = [row for row in KINDS if example in row.examples]
    sample = random.Random(example).sample(rows, min(len(rows), examples(DAMAGES)))
    for number, row in enumerate(sample):
        network = damaged(example, row, tmp_path / str(number))
        if network is not None and (network.switches, network.links) != (whole.switches, whole.links):
            assert_same(Context(fabric_of(example), network), monkeypatch)
            compared += 1
    assert compared


@pytest.mark.parametrize("example", ["lab", "brownfield"])
def test_examples_have_the_same_outcomes_both_ways(example: str, monkeypatch: pytest.MonkeyPatch) -> None:
    assert_same(Context(fabric_of(example), network_of(GOLDEN / example)), monkeypatch)


def test_twice_the_leaves_are_as_many_computed_failures(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Counted: pairs are sampled in any case, and left out."""
    counted: list[str] = []
    run = Assessment.run

    def counting(self: Assessment) -> Impact:
        counted.append(self.failure.name)
        return run(self)

    monkeypatch.setattr(Assessment, "run", counting)
    monkeypatch.setattr(failure_outcomes, "PAIRS", 0)
    sizes = []
    for stripes in (4, 8):
        counted.clear()
        intent, out = rendered(SMALL.replace("stripes: 2", f"stripes: {stripes}"), tmp_path / str(stripes))
        found = Context(intent.fabric, network_of(out)).failure_outcomes
        assert found is not None and len(found.links) == 4 * stripes
        sizes.append(len(counted))
    # Two kinds of links, each with a sample, and two spines of a color of their own.
    assert sizes == [6, 6]
    assert not sampled_pairs(8, 0, 1)
