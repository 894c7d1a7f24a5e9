"""Failures of one kind: all members against their own computation, and what happens when a kind is none."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given

from ailb_gen.forwarding import failure_kinds as kinds_module
from ailb_gen.forwarding.baseline import Baseline
from ailb_gen.forwarding.failure_kinds import assessed, difference, effect_of, failure_kinds
from ailb_gen.forwarding.failures import Failure
from ailb_gen.forwarding.twins import Twins
from ailb_gen.routing.rib import Routing
from tests.checks.variants import VARIANTS
from tests.forwarding.examples import advertised, generated, network
from tests.forwarding.test_failures import limited
from tests.routing.fabrics import Case, random_fabrics

counts: Counter[str] = Counter()


def baseline_of(name: str) -> Baseline:
    routing = Routing(generated(VARIANTS[name]) if name in VARIANTS else network(name))
    return Baseline(routing, advertised(routing))


def single(baseline: Baseline) -> list[Failure]:
    """Every failure of a link, and of a switch without traffic of its own."""
    graph = baseline.graph
    links = [Failure(f"link {at}", frozenset({at})) for at in range(len(graph.sessions.up))]
    spines = [device for device in range(len(graph.names)) if device not in baseline.destinations]
    return links + [Failure(graph.names[device], dead=frozenset({device})) for device in spines]


def check_all(baseline: Baseline) -> int:
    """Compute every member of every kind; return how many had a representative other than themselves."""
    twins, moved = Twins(baseline), 0
    found = failure_kinds(baseline, single(baseline), 1)
    for number, failure in enumerate(single(baseline)):
        representative, exchanges = twins.representative(failure)
        own, first = assessed(baseline, failure), assessed(baseline, representative)
        moved += bool(exchanges)
        if not first.impact.lost and not first.impact.strayed:
            assert not difference(twins, first, own)
        else:
            assert len(own.impact.lost) == len(first.impact.lost) and own.impact.moved == first.impact.moved
        known = found.effect(failure, number)
        assert (known is not None) == found.knows(failure)
        if known is not None:
            expected = effect_of(baseline, own)
            assert known.impact.worst == pytest.approx(own.impact.worst)
            assert (known.impact.worst_link, known.impact.failure) == (own.impact.worst_link, failure)
            assert sorted(known.raised.links) == sorted(expected.raised.links)
            assert set(known.raised.causes) <= {number}
            assert sorted(known.worst) == sorted(expected.worst)
    return moved


@pytest.mark.parametrize(
    "name",
    [
        "lab",
        "brownfield",
        "static",
        pytest.param("jvd", marks=pytest.mark.long),
        pytest.param("mixed", marks=pytest.mark.long),
    ],
)
def test_members_of_a_kind_have_its_outcome(name: str) -> None:
    baseline = baseline_of(name)
    assert check_all(baseline) or name in ("brownfield", "static")


def test_spines_of_one_color_have_kinds() -> None:
    baseline = baseline_of("fewer-colors-than-spines")
    found = failure_kinds(baseline, single(baseline), 1)
    # Four leaves, two colors of two spines each: a kind of link for each color.
    assert sorted(len(one.sessions) for one in found.effects) == [1, 1]
    assert check_all(baseline)


@pytest.mark.long
@random_fabrics(150)
@given(limited())
def test_random_fabrics(case: Case) -> None:
    routing = Routing(case.network)
    counts["alike"] += check_all(Baseline(routing, advertised(routing)))


def test_a_kind_that_is_none_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever twins are taken to be, a member that differs ends the run."""
    baseline = baseline_of("lab")
    assessed_before = kinds_module.assessed

    def other(base: Baseline, failure: Failure) -> kinds_module.Assessed:
        found = assessed_before(base, failure)
        return kinds_module.Assessed(found.impact, found.load * 1.1) if failure.name else found

    monkeypatch.setattr(kinds_module, "assessed", other)
    with pytest.raises(AssertionError, match=r"failures that should be alike are not: .*links carry other loads"):
        failure_kinds(baseline, single(baseline), 1)


def test_the_sample_of_a_kind_is_never_its_representative(monkeypatch: pytest.MonkeyPatch) -> None:
    baseline, computed = baseline_of("lab"), list[frozenset[int]]()

    def noting(base: Baseline, failure: Failure) -> kinds_module.Assessed:
        computed.append(failure.sessions)
        return assessed(base, failure)

    monkeypatch.setattr(kinds_module, "assessed", noting)
    for seed in range(8):
        failure_kinds(baseline, single(baseline), seed)
    # Four kinds of links, of four leaves each: the representative, then the sample.
    assert len(computed) == 8 * 4 * 2
    assert all(first != sample for first, sample in zip(computed[::2], computed[1::2], strict=True))
