"""Claims of a source as data: numbers, the rules that all must hold, the text that shows them, and reasons."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from fnmatch import fnmatchcase
from functools import partial
from statistics import median
from typing import Literal

from pydantic import Field

from ailb_gen.study.model import (
    CaseResults,
    Claim,
    ClaimVerdict,
    NotSimulatedError,
    Published,
    RowReason,
    SeedSpread,
)
from ailb_gen.study.numbers import ESTIMATES, Key, Number, Numbers, NumbersOf, numbers_of
from ailb_gen.study.quantities import Quantity
from ailb_gen.study.rows import number, spread_text
from ailb_gen.study.rules import RULES, ClaimRule, Group
from ailb_gen.study.spread import Outcome, all_of, decided, jackknife
from ailb_gen.study.templates import Axes, Variables, combinations, text
from ailb_gen.validation import Model

Quantities = Mapping[str, Quantity]


class ReasonOf(Model):
    """Why a claim does not hold: shown if all rules of `when` hold, of its own numbers and those of the claim."""

    text: str
    when: list[ClaimRule] = Field(min_length=1)
    numbers: dict[str, NumbersOf] = {}


class RowReasonOf(ReasonOf):
    """Why rows of cases and quantities (names or globs) are outside their tolerance.

    In the numbers of its condition, `{case}` is the case of the row.
    """

    cases: list[str]
    quantities: list[str]

    def reason(self, quantities: Quantities) -> RowReason:
        """Return the reason with its condition."""
        return RowReason(self.text, self.cases, self.quantities, partial(self._applies, quantities))

    def _applies(self, quantities: Quantities, case: str, results: CaseResults) -> bool:
        return _met(self, {}, {"case": case}, quantities, results)


class ClaimOf(Model):
    """A template of claims with its axes: every combination is a claim."""

    text: str
    each: Axes = {}
    numbers: dict[str, NumbersOf]
    holds: list[ClaimRule]
    shown: str
    shown_along: list[str] = Field([], description="names of numbers: shown once per value of their first axis")
    otherwise: str = Field("", description="shown instead where it does not hold; 'failed': numbers that break a rule")
    reasons: list[ReasonOf] = []


def claims_of(spec: ClaimOf, quantities: Quantities, published: CaseResults | None) -> Iterator[Claim]:
    """Yield the claims of a template; with published numbers they also show whether they hold with those."""
    for variables in combinations(spec.each, {}):
        check = partial(_verdict, partial(_evaluated, spec, variables, quantities), published)
        reasons = [found for one in spec.reasons if (found := text(one.text, variables))]
        yield Claim(text(spec.text, variables), check, reasons)


def _verdict(
    evaluated: Callable[[CaseResults], tuple[ClaimVerdict, bool]], published: CaseResults | None, results: CaseResults
) -> ClaimVerdict:
    verdict, _ = evaluated(results)
    if published is None:
        return verdict
    theirs, known = evaluated(published)
    holds = "they do not say" if not known else "it holds" if theirs.outcome == "holds" else "it does not hold"
    return replace(verdict, shown=f"{verdict.shown}. With the published numbers {holds}.")


class _Sample:
    """The numbers of a claim, and what they are without one seed each."""

    def __init__(
        self, specs: Mapping[str, NumbersOf], variables: Variables, quantities: Quantities, results: CaseResults
    ) -> None:
        def numbers(found: CaseResults) -> dict[str, Numbers]:
            return {name: numbers_of(spec, found, quantities, variables) for name, spec in specs.items()}

        plain = numbers(results)
        cases = frozenset[str]().union(*(one.cases for one in plain.values()))
        counts = [len(results.points[case]) for case in cases]
        several = [count for count in counts if count > 1]
        self.freedom = min(several, default=1) - 1
        self.parts = [numbers(results.without(place)) for place in range(max(several, default=0))]
        self.seeds = sorted({min(counts), max(counts)}) if several else []
        # Others, such as the least of the runs, are facts about these runs.
        self.estimates = {name for name, spec in specs.items() if spec.seeds in ESTIMATES}
        self.numbers = {
            name: one.with_halves([part[name] for part in self.parts], self.freedom) if name in self.estimates else one
            for name, one in plain.items()
        }

    def outcomes(self, rule: ClaimRule) -> Mapping[Key, Outcome]:
        """Return the outcome of a rule in every group of its numbers."""
        whole = self._margins(self.numbers, rule)
        parts = [self._margins(part, rule) for part in self.parts if rule.of in self.estimates]
        predicate = RULES[rule.rule]
        return {
            key: all_of(
                [
                    decided(
                        margin,
                        jackknife([part[key][place] for part in parts], self.freedom),
                        predicate.tolerance(rule),
                        predicate.strict,
                    )
                    for place, margin in enumerate(margins)
                ]
            )
            for key, margins in whole.items()
        }

    def groups(self, rule: ClaimRule) -> Mapping[Key, Group]:
        """Return the numbers of a rule by group."""
        return self.numbers[rule.of].where(rule.where).groups(rule.along)

    def _margins(self, numbers: Mapping[str, Numbers], rule: ClaimRule) -> Mapping[Key, list[float]]:
        chosen = numbers[rule.of].where(rule.where)
        groups = chosen.groups(rule.along).items()
        return {key: RULES[rule.rule].margins(group, rule, chosen.shares) for key, group in groups}


def _evaluated(
    spec: ClaimOf, variables: Variables, quantities: Quantities, results: CaseResults
) -> tuple[ClaimVerdict, bool]:
    """Return whether all rules hold with the numbers that show it, and whether the statistics have all of these."""
    sample = _Sample(spec.numbers, variables, quantities, results)
    outcomes: list[Outcome] = []
    failed: list[str] = []
    for rule in (rule.filled(variables) for rule in spec.holds):
        groups = sample.groups(rule)
        for key, one in sample.outcomes(rule).items():
            outcomes.append(one)
            if one != "holds":
                failed.append(_group_text(key, groups[key]))
    outcome = all_of(outcomes)
    known = all(one.known for one in sample.numbers.values())
    shown = _shown(spec, outcome, {**variables, "failed": "; ".join(failed)}, sample)
    reasons = [
        reason
        for why in spec.reasons
        if outcome != "holds"
        and (reason := text(why.text, variables))
        and _met(why, spec.numbers, variables, quantities, results)
    ]
    return ClaimVerdict(outcome, shown, tuple(reasons)), known


def _shown(spec: ClaimOf, outcome: Outcome, variables: Variables, sample: _Sample) -> str:
    """Return the text that shows the numbers, with the number of seeds."""
    shown = spec.shown if outcome == "holds" else spec.otherwise or spec.shown
    values = {**variables, **sample.numbers}
    rows: list[Variables] = [values]
    if spec.shown_along:
        names = spec.shown_along
        keys = dict.fromkeys(key[0] for key in sample.numbers[names[0]].values)
        rows = [{**values, "key": key, **{name: sample.numbers[name][key] for name in names}} for key in keys]
    lines = [text(shown, row) for row in rows]
    seeds = f" ({' to '.join(map(str, sample.seeds))} seeds)" if sample.seeds else ""
    return "; ".join(lines) + seeds


def _met(
    reason: ReasonOf,
    numbers: Mapping[str, NumbersOf],
    variables: Variables,
    quantities: Quantities,
    results: CaseResults,
) -> bool:
    """Return whether the condition of a reason is met."""
    used = {rule.of for rule in reason.when}
    specs = {name: spec for name, spec in {**numbers, **reason.numbers}.items() if name in used}
    try:
        sample = _Sample(specs, variables, quantities, results)
    except NotSimulatedError:
        return False
    outcomes = [sample.outcomes(rule.filled(variables)).values() for rule in reason.when]
    return all(found == "holds" for several in outcomes for found in several)


def _group_text(key: Key, group: Group) -> str:
    return f"{', '.join(key)}: " + ", ".join(f"{label} {Number(value)}" for label, value in group.items())


def _one_of_ours(ours: SeedSpread, value: float, margin: float) -> Outcome:
    """Return whether a published run is within what one more seed may give (its prediction interval)."""
    half = ours.half * math.sqrt(ours.count + 1)
    return decided(margin * abs(value) + half - abs(ours.mean - value), 0, 0, strict=False)


TESTS: Mapping[str, Callable[[SeedSpread, float, float], Outcome]] = {
    "exact": lambda ours, value, margin: "holds" if ours.least == ours.most == value else "does not hold",
    # As of a relative deviation, which zero does not have.
    "close": lambda ours, value, margin: decided(
        margin * abs(value) - abs(ours.mean - value), ours.half, 0, strict=False
    ),
    "inside": _one_of_ours,
}


class MissReason(Model):
    """Why rows are missed: shown if all that are missed are of these cases (names or globs)."""

    text: str
    cases: list[str]


class Reproduction(Model):
    """A claim about the published numbers themselves: whether those simulated are as close to them as stated."""

    text: str
    test: Literal["exact", "inside", "close"] = Field(description="inside: the interval of one more seed, widened")
    margin: float = 0
    quantities: list[str]
    cases: list[str] = Field(["*"], description="names or globs")
    reasons: list[MissReason] = []

    def claim(self, quantities: Quantities, rows: Sequence[Published]) -> Claim:
        """Return the claim about the published rows of these quantities and cases."""
        chosen = [
            (row, row.value)
            for row in rows
            if row.value is not None and row.quantity in self.quantities and _named(row.case, self.cases)
        ]

        def check(results: CaseResults) -> ClaimVerdict:
            outcomes: list[Outcome] = []
            missed: dict[str, str] = {}
            for row, value in chosen:
                ours = results.spread(row.case, quantities[row.quantity].of) if row.case in results.points else None
                if ours is None:
                    continue
                outcomes.append(TESTS[self.test](ours, value, self.margin))
                if outcomes[-1] != "holds":
                    line = f"{row.case}, {row.quantity}: published {number(value)}, ours {spread_text(ours)}"
                    missed[line] = row.case
            if not outcomes:
                raise NotSimulatedError(self.text)
            shown = "; ".join([f"{outcomes.count('holds')} of {len(outcomes)}", *missed]) + "."
            about = [one.text for one in self.reasons if all(_named(case, one.cases) for case in missed.values())]
            return ClaimVerdict(all_of(outcomes), shown, tuple(about) if missed else ())

        return Claim(self.text, check, [one.text for one in self.reasons])


def _named(name: str, patterns: Sequence[str]) -> bool:
    return any(fnmatchcase(name, pattern) for pattern in patterns)


class Prediction(Model):
    """A claim about the rows said in advance: their median deviation is at most so large."""

    text: str
    median: float

    def claim(self, quantities: Mapping[str, Quantity], rows: Sequence[Published]) -> Claim:
        """Return the claim about the published rows that are predicted."""
        predicted = [(row, row.value) for row in rows if row.role == "predicted" and row.value]

        def check(results: CaseResults) -> ClaimVerdict:
            found = [abs(results.mean(row.case, quantities[row.quantity].of) / value - 1) for row, value in predicted]
            # A median of NaNs is none.
            middle = math.nan if any(map(math.isnan, found)) else median(found)
            shown = f"median {middle:.1%}, most {max(found):.0%}, of {len(found)} rows"
            return ClaimVerdict(decided(self.median - middle, 0, 0, strict=False), shown)

        return Claim(self.text, check)
