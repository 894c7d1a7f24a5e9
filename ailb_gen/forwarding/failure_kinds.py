"""Outcomes of failures that are alike: one of a kind is computed, and a sample of the others to be certain of it."""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

import numpy as np

from ailb_gen.forwarding.baseline import Baseline
from ailb_gen.forwarding.failures import SAME, Assessment, Failure, Impact, most_loaded
from ailb_gen.forwarding.loads import Indices, Volumes
from ailb_gen.forwarding.peaks import Peaks, Raised
from ailb_gen.forwarding.twins import Twins

# A kind with fewer failures beside its representative gains nothing: that and a sample of them are computed.
LEAST = 2
# Kinds that are kept, the largest ones: each holds thousands of loads.
MOST = 512


@dataclass(frozen=True, slots=True)
class Effect:
    """The outcome of a failure, the links it raises, and those that then carry the most."""

    impact: Impact
    raised: Raised
    worst: Indices


@dataclass(frozen=True, slots=True)
class FailureKinds:
    """The effect of every failure that stands for a kind."""

    twins: Twins
    effects: Mapping[Failure, Effect]

    def knows(self, failure: Failure) -> bool:
        """Return whether the effect of a single failure is known."""
        return self.twins.representative(failure)[0] in self.effects

    def effect(self, failure: Failure, number: int) -> Effect | None:
        """Return the effect of a single failure, by its number in peaks; None where it is to be computed."""
        representative, exchanges = self.twins.representative(failure)
        known = self.effects.get(representative)
        if known is None:
            return None
        raised, count = known.raised, len(known.raised.links)
        links, worst = np.split(self.twins.back(np.append(raised.links, known.worst), exchanges), [count])
        impact = replace(known.impact, failure=failure, worst_link=int(worst.min()) if len(worst) else 0)
        return Effect(impact, Raised(links, raised.loads, np.full(count, number)), worst)


def failure_kinds(baseline: Baseline, failures: Iterable[Failure], seed: int) -> FailureKinds:
    """Compute one single failure of every kind; another of each by the seed is computed, too, and compared.

    Kinds whose failures lose or reroute packets needlessly are left out: findings name the first of them. Raises
    AssertionError when a member differs.
    """
    twins, source = Twins(baseline), random.Random(seed)  # noqa: S311 - a sample, not a secret
    others: dict[Failure, list[Failure]] = defaultdict(list)
    for failure in failures:
        representative, exchanges = twins.representative(failure)
        if exchanges:
            others[representative].append(failure)
    kinds = sorted((kind for kind in others.items() if len(kind[1]) >= LEAST), key=lambda kind: -len(kind[1]))
    effects = {}
    for representative, row in kinds[:MOST]:
        first = assessed(baseline, representative)
        if first.impact.lost or first.impact.strayed:
            continue
        sample = source.choice(row)
        if problem := difference(twins, first, assessed(baseline, sample)):
            raise AssertionError(f"failures that should be alike are not: {sample.name}: {problem}")
        effects[representative] = effect_of(baseline, first)
    return FailureKinds(twins, effects)


@dataclass(frozen=True, slots=True)
class Assessed:
    """A computed failure: its impact and the loads of all links."""

    impact: Impact
    load: Volumes


def assessed(baseline: Baseline, failure: Failure) -> Assessed:
    """Compute a failure."""
    assessment = Assessment(baseline, failure)
    return Assessed(assessment.run(), assessment.load)


def effect_of(baseline: Baseline, found: Assessed) -> Effect:
    """Return the effect of a computed failure."""
    peaks = Peaks(baseline.load)
    peaks.note(0, found.load)
    return Effect(found.impact, peaks.raised(), most_loaded(baseline, found.load))


def difference(twins: Twins, first: Assessed, other: Assessed) -> str:
    """Return how a failure differs from its representative; empty if it does not."""
    representative, exchanges = twins.representative(other.impact.failure)
    if representative.sessions != first.impact.failure.sessions or representative.dead != first.impact.failure.dead:
        return f"it is of the kind of {representative}, not of {first.impact.failure}"
    if (other.impact.moved, other.impact.lost, other.impact.strayed) != (first.impact.moved, (), ()):
        return f"{other.impact}, not {first.impact}"
    back = twins.back(np.arange(len(first.load)), exchanges)
    far = np.abs(other.load[back] - first.load) > SAME * twins.highest
    return f"{int(far.sum())} links carry other loads" if far.any() else ""
