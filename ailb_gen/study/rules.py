"""Rules of claims: by how much numbers fulfill each of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import combinations, pairwise
from typing import Any

from pydantic import Field

from ailb_gen.study.templates import Variables, filled
from ailb_gen.validation import Model

PERCENT = 100
# Of comparisons that have no other one: numbers that differ by less are called equal.
TOLERANCE = 0.02
Group = Mapping[str, float]
Margins = list[float]


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
    tolerance: float | None = Field(None, description="relative; by default that of comparisons, and none of limits")

    def filled(self, variables: Variables) -> ClaimRule:
        """Return the rule with its variables replaced."""
        at = [str(filled(name, variables)) for name in self.at]
        return self.model_copy(update={"at": at, "value": filled(self.value, variables)})


@dataclass(frozen=True, slots=True)
class Predicate:
    """The margins of a rule: how far numbers are on its side, relative to the larger one, or as a share of shares.

    A `strict` one is about more than nothing; a `comparison` has a tolerance, where other rules have a limit.
    """

    margins: Callable[[Group, ClaimRule, bool], Margins]
    strict: bool = False
    comparison: bool = False

    def tolerance(self, rule: ClaimRule) -> float:
        """Return the tolerance of a rule; one with a factor is a limit."""
        if rule.tolerance is not None:
            return rule.tolerance
        return TOLERANCE if self.comparison and rule.factor == 1 else 0.0


def distance(high: float, low: float, shares: bool) -> float:
    """Return by how much a number is above another, relative to the larger one; the difference of shares."""
    return (high - low) / (1.0 if shares else max(abs(high), abs(low)) or 1.0)


def _constant(rule: ClaimRule, label: str) -> float:
    return rule.value[label] if isinstance(rule.value, dict) else float(rule.value)


def _above(group: Group, rule: ClaimRule, shares: bool) -> Margins:
    return [distance(found, _constant(rule, label), shares) for label, found in group.items()]


def _below(group: Group, rule: ClaimRule, shares: bool) -> Margins:
    return [distance(_constant(rule, label), found, shares) for label, found in group.items()]


def _near(group: Group, rule: ClaimRule, shares: bool) -> Margins:
    return [(rule.points - abs(found * PERCENT - _constant(rule, label))) / PERCENT for label, found in group.items()]


def _rising(group: Group, rule: ClaimRule, shares: bool) -> Margins:
    return [distance(other, one * rule.factor, shares) for one, other in pairwise(group.values())]


def _falling(group: Group, rule: ClaimRule, shares: bool) -> Margins:
    return _rising(dict(reversed(list(group.items()))), rule, shares)


def _within(group: Group, rule: ClaimRule, shares: bool) -> Margins:
    return [distance(rule.factor * min(pair), max(pair), shares) for pair in combinations(group.values(), 2)]


def _lowest(group: Group, rule: ClaimRule, shares: bool) -> Margins:
    these, others = _split(group, rule)
    return [distance(other, one * rule.factor, shares) for one in these for other in others]


def _highest(group: Group, rule: ClaimRule, shares: bool) -> Margins:
    these, others = _split(group, rule)
    return [distance(one, other * rule.factor, shares) for one in these for other in others]


def _split(group: Group, rule: ClaimRule) -> tuple[Margins, Margins]:
    these = [value for label, value in group.items() if label in rule.at]
    return these, [value for label, value in group.items() if label not in rule.at]


RULES: Mapping[str, Predicate] = {
    "above": Predicate(_above, strict=True, comparison=True),
    "below": Predicate(_below, strict=True, comparison=True),
    "at least": Predicate(_above),
    "at most": Predicate(_below),
    "near": Predicate(_near),
    "rising": Predicate(_rising, strict=True, comparison=True),
    "falling": Predicate(_falling, strict=True, comparison=True),
    "not falling": Predicate(_rising, comparison=True),
    "not rising": Predicate(_falling, comparison=True),
    "within": Predicate(_within),
    "lowest": Predicate(_lowest, strict=True, comparison=True),
    "highest": Predicate(_highest, strict=True, comparison=True),
    "none above": Predicate(_highest, comparison=True),
}
