"""Claims of a source as data: numbers, the rules that all must hold, and the text that shows the numbers."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from fnmatch import fnmatchcase
from functools import partial
from itertools import combinations as pairs
from itertools import pairwise
from statistics import median
from typing import Any, Literal

from pydantic import Field

from ailb_gen.study.model import CaseResults, Claim, ClaimVerdict, NotSimulatedError, Published, SeedSpread
from ailb_gen.study.numbers import Key, Number, NumbersOf, numbers_of
from ailb_gen.study.quantities import Quantity
from ailb_gen.study.rows import number
from ailb_gen.study.templates import Axes, Variables, combinations, filled, text
from ailb_gen.validation import Model

PERCENT = 100
Group = Mapping[str, float]


class ClaimRule(Model):
    """A predicate and its operands: numbers `of` a name, those `where` axes have values, `along` an axis."""

    rule: str
    of: str
    along: str = ""
    where: dict[str, Any] = {}
    at: list[str] = Field([], description="values of the axis, or labels")
    value: float | str | dict[str, float] = Field(0, description="a number, a variable in braces, or one per label")
    points: float = Field(0, description="percentage points within which a share is near a percentage")
    factor: float = Field(1, description="factor of the lower number in the comparison")
    slack: float = Field(0, description="tolerance for the higher number, as a share")

    def filled(self, variables: Variables) -> ClaimRule:
        """Return the rule with its variables replaced."""
        at = [str(filled(name, variables)) for name in self.at]
        return self.model_copy(update={"at": at, "value": filled(self.value, variables)})


def _values(compare: Callable[[float, float], bool]) -> Callable[[Group, ClaimRule], bool]:
    """Make the predicate that every number is so in relation to a constant."""
    return lambda group, rule: all(compare(found, _constant(rule, label)) for label, found in group.items())


def _constant(rule: ClaimRule, label: str) -> float:
    return rule.value[label] if isinstance(rule.value, dict) else float(rule.value)


def _near(group: Group, rule: ClaimRule) -> bool:
    return all(abs(found * PERCENT - _constant(rule, label)) <= rule.points for label, found in group.items())


def _ordered(compare: Callable[[float, float], bool], falling: bool = False) -> Callable[[Group, ClaimRule], bool]:
    """Make the predicate that each number is so in relation to the next."""

    def holds(group: Group, rule: ClaimRule) -> bool:
        values = list(group.values())[:: -1 if falling else 1]
        return all(compare(one * rule.factor, other * (1 + rule.slack)) for one, other in pairwise(values))

    return holds


def _split(group: Group, rule: ClaimRule) -> tuple[list[float], list[float]]:
    these = [value for label, value in group.items() if label in rule.at]
    return these, [value for label, value in group.items() if label not in rule.at]


def _lowest(group: Group, rule: ClaimRule) -> bool:
    these, others = _split(group, rule)
    return all(one * rule.factor < other for one in these for other in others)


def _highest(group: Group, rule: ClaimRule) -> bool:
    these, others = _split(group, rule)
    return all(one >= other * (1 - rule.slack) for one in these for other in others)


RULES: Mapping[str, Callable[[Group, ClaimRule], bool]] = {
    "above": _values(lambda found, limit: found > limit),
    "below": _values(lambda found, limit: found < limit),
    "at least": _values(lambda found, limit: found >= limit),
    "at most": _values(lambda found, limit: found <= limit),
    "near": _near,
    "rising": _ordered(lambda one, other: one < other),
    "falling": _ordered(lambda one, other: one < other, falling=True),
    "not falling": _ordered(lambda one, other: one <= other),
    "not rising": _ordered(lambda one, other: one <= other, falling=True),
    "within": lambda group, rule: all(max(pair) <= rule.factor * min(pair) for pair in pairs(group.values(), 2)),
    "lowest": _lowest,
    "highest": _highest,
}


class ClaimOf(Model):
    """A template of claims with its axes: every combination is a claim."""

    text: str
    each: Axes = {}
    numbers: dict[str, NumbersOf]
    holds: list[ClaimRule]
    shown: str
    shown_along: list[str] = Field([], description="names of numbers: shown once per value of their first axis")
    otherwise: str = Field("", description="shown instead where it does not hold; 'failed': numbers that break a rule")
    reason: str = Field("", description="why it does not hold, as far as is known")


def claims_of(spec: ClaimOf, quantities: Mapping[str, Quantity], published: CaseResults | None) -> Iterator[Claim]:
    """Yield the claims of a template; with published numbers they also show whether they hold with those."""
    for variables in combinations(spec.each, {}):
        check = partial(_verdict, partial(_evaluated, spec, variables, quantities), published)
        yield Claim(text(spec.text, variables), check, text(spec.reason, variables))


def _verdict(
    evaluated: Callable[[CaseResults], tuple[ClaimVerdict, bool]], published: CaseResults | None, results: CaseResults
) -> ClaimVerdict:
    verdict, _ = evaluated(results)
    if published is None:
        return verdict
    theirs, known = evaluated(published)
    holds = "they do not cover it" if not known else "it holds" if theirs.holds else "it does not hold"
    return ClaimVerdict(verdict.holds, f"{verdict.shown}. With the published numbers {holds}.")


def _evaluated(
    spec: ClaimOf, variables: Variables, quantities: Mapping[str, Quantity], results: CaseResults
) -> tuple[ClaimVerdict, bool]:
    """Return whether all rules hold with the numbers that show it, and whether the statistics have all of these."""
    numbers = {name: numbers_of(part, results, quantities, variables) for name, part in spec.numbers.items()}
    failed: list[str] = []
    for rule in (one.filled(variables) for one in spec.holds):
        for key, group in numbers[rule.of].where(rule.where).groups(rule.along).items():
            if not RULES[rule.rule](group, rule):
                failed.append(_group_text(key, group))
    known = all(one.known for one in numbers.values())
    shown = spec.otherwise if failed and spec.otherwise else spec.shown
    values = {**variables, **numbers, "failed": "; ".join(failed)}
    if not spec.shown_along:
        return ClaimVerdict(not failed, text(shown, values)), known
    keys = dict.fromkeys(key[0] for key in numbers[spec.shown_along[0]].values)
    lines = (
        text(shown, {**values, "key": key, **{name: numbers[name][key] for name in spec.shown_along}}) for key in keys
    )
    return ClaimVerdict(not failed, "; ".join(lines)), known


def _group_text(key: Key, group: Group) -> str:
    return f"{', '.join(key)}: " + ", ".join(f"{label} {Number(value)}" for label, value in group.items())


TESTS: Mapping[str, Callable[[SeedSpread, float, float], bool]] = {
    "exact": lambda ours, value, margin: ours.least == ours.most == value,
    "close": lambda ours, value, margin: abs(ours.mean / value - 1) <= margin,
    "inside": lambda ours, value, margin: (1 - margin) * ours.least <= value <= (1 + margin) * ours.most,
}


class Reproduction(Model):
    """A claim about the published numbers themselves: whether those simulated are as close to them as stated."""

    text: str
    test: Literal["exact", "inside", "close"] = Field(description="inside: the range over seeds, widened by the margin")
    margin: float = 0
    quantities: list[str]
    cases: list[str] = Field(["*"], description="names or globs")
    reason: str = ""

    def claim(self, quantities: Mapping[str, Quantity], rows: Sequence[Published]) -> Claim:
        """Return the claim about the published rows of these quantities and cases."""
        chosen = [
            (row, row.value)
            for row in rows
            if row.value is not None
            and row.quantity in self.quantities
            and any(fnmatchcase(row.case, pattern) for pattern in self.cases)
        ]

        def check(results: CaseResults) -> ClaimVerdict:
            count, missed = 0, []
            for row, value in chosen:
                ours = results.spread(row.case, quantities[row.quantity].of) if row.case in results.points else None
                if ours is None:
                    continue
                count += 1
                if not TESTS[self.test](ours, value, self.margin):
                    limits = f"{number(ours.least)} to {number(ours.most)}"
                    missed.append(f"{row.case}, {row.quantity}: published {number(value)}, ours {limits}")
            if not count:
                raise NotSimulatedError(self.text)
            return ClaimVerdict(not missed, "; ".join([f"{count - len(missed)} of {count}", *missed]) + ".")

        return Claim(self.text, check, self.reason)


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
            return ClaimVerdict(middle <= self.median, shown)

        return Claim(self.text, check)
