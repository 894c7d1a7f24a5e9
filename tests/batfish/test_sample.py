"""Which failures Batfish is asked for: all where that is cheap, else some of every kind."""

from types import SimpleNamespace
from typing import Any

import pytest

from ailb_gen.batfish.run import second_opinion
from ailb_gen.batfish.sample import ALL, LINKS, MOST_ROUTES, link_sample, picked, sizes, spine_sample
from ailb_gen.intent.load import load
from tests.batfish.fake.near import Counted, Near, opinion
from tests.conftest import EXAMPLES
from tests.mutations.score import GOLDEN


def fabric(leaves: int, spines: int) -> Any:
    sessions = SimpleNamespace(up=tuple(range(leaves * spines)))
    return SimpleNamespace(names=tuple(map(str, range(leaves + spines))), sessions=sessions)


@pytest.mark.parametrize(
    ("leaves", "spines", "colors", "expected"),
    [
        (4, 4, 4, (4, LINKS)),
        (8, 4, 4, (4, LINKS)),
        (32, 8, 8, (8, 3)),
        (64, 16, 16, (1, 1)),
        (512, 64, 16, (1, 1)),
        (2, 1, 1, (1, 2)),
    ],
)
def test_the_work_is_bounded(leaves: int, spines: int, colors: int, expected: tuple[int, int]) -> None:
    found = sizes(fabric(leaves, spines), leaves * colors, spines)
    assert found == expected
    assert sum(found) <= max(2, MOST_ROUTES // ((leaves + spines) * leaves * colors))


@pytest.mark.parametrize(
    ("most", "expected"),
    [(2, (1, 1)), (5, (4, 1)), (10, (8, 2)), (40, (16, 24)), (1000, (16, 984)), (ALL, (16, 1024))],
)
def test_as_many_fail_as_are_asked_for(most: int, expected: tuple[int, int]) -> None:
    """Both together; 64 leaves and 16 spines, of which one each fails by default."""
    assert sizes(fabric(64, 16), 64 * 16, 16, most) == expected
    assert sizes(fabric(0, 0), 0, 0, most) == (0, 0)
    assert sizes(fabric(2, 1), 2, 1, most) == (1, min(2, most - 1))


def test_nothing_to_fail_is_nothing() -> None:
    assert sizes(fabric(0, 0), 0, 0) == (0, 0)
    assert picked([], 0, 1).chosen == ()


def test_one_of_every_kind_goes_first() -> None:
    kinds = ["a"] * 90 + ["b"] * 9 + ["c"]
    for seed in range(10):
        found = picked(kinds, 3, seed)
        assert {kinds[number] for number in found.chosen} == {"a", "b", "c"}
        assert (found.total, found.kinds, len(found.chosen)) == (100, 3, 3)
        assert len(picked(kinds, 10, seed).chosen) == 10
        assert len(picked(kinds, 2, seed).chosen) == 2
    assert picked(kinds, 5, 1) == picked(kinds, 5, 1) != picked(kinds, 5, 2)
    assert str(picked(kinds, 3, 1)) == "3 of 100, of 3 kinds; those of one kind differ only in color and neighbors"
    assert picked(kinds, 200, 1).chosen == tuple(range(100))
    assert str(picked(kinds, 200, 1)) == "all 100"


@pytest.mark.parametrize("example", ["lab", "jvd"])
def test_spines_that_differ_by_their_color_alone_are_of_one_kind(example: str) -> None:
    context = opinion(load(EXAMPLES / example / "fabric.yaml"), GOLDEN / example).context
    graph = context.routing.graph
    names = [spine.name for spine in context.expected.spines]
    assert spine_sample(graph, names, 2, 1).kinds == 1
    assert link_sample(graph, 2, 1).kinds == 1


def test_the_report_says_how_many_failed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ailb_gen.batfish.sample.MOST_ROUTES", 1)
    near = Near()
    chosen = frozenset({"AILB818", "AILB819", "AILB822"})
    results = list(
        second_opinion(near, opinion(load(EXAMPLES / "lab" / "fabric.yaml"), GOLDEN / "lab", chosen), Counted())
    )
    assert set(near.snapshots) == {"shadow", "spine-1", "link-1"}
    kind = "of 1 kind; those of one kind differ only in color and neighbors"
    assert {result.check.id: result.figures for result in results} == {
        "AILB818": (("spines deactivated in Batfish", f"1 of 4, {kind}"),),
        "AILB822": (),
        "AILB819": (("links deactivated in Batfish", f"1 of 16, {kind}"),),
    }
    assert not [finding for result in results for finding in result.findings]
