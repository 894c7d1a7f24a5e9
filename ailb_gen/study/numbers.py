"""Numbers of claims: values of cases by axes, alone or in relation to those of other cases."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal, Self

from pydantic import Field

from ailb_gen.study.model import CaseResults, NotSimulatedError
from ailb_gen.study.quantities import Quantity
from ailb_gen.study.rows import brief, number, with_half
from ailb_gen.study.spread import jackknife
from ailb_gen.study.templates import Axes, Variables, combinations, filled, text
from ailb_gen.validation import Model

# Flows of a bin of sizes, over all seeds, from which on its numbers count.
ENOUGH_FLOWS = 100
SHORT_BYTES = 2_000
Key = tuple[str, ...]

# How the values of a case's seeds become one.
OVER_SEEDS: Mapping[str, Callable[[Sequence[float]], float]] = {
    "mean": lambda values: math.fsum(values) / len(values) if values else math.nan,
    "least": lambda values: min(values, default=math.nan),
    "most": lambda values: max(values, default=math.nan),
    "sum": sum,
    "count": len,
    "nonzero": lambda values: sum(map(bool, values)),
}
RELATIONS: Mapping[str, Callable[[float, float], float]] = {
    "ratio": lambda one, base: one / base if base else math.nan,
    "excess": lambda one, base: one / base - 1 if base else math.nan,
    "gain": lambda one, base: 1 - one / base if base else math.nan,
    "difference": lambda one, base: one - base,
}


class Number(float):
    """A value in text: by default with four digits; as `percent` with its sign and one decimal.

    Half of its confidence interval follows, unless it is none or too small to be shown.
    """

    half: float

    def __new__(cls, value: float, half: float = 0.0) -> Self:
        """Make a number with half of its confidence interval."""
        made = super().__new__(cls, value)
        made.half = half
        return made

    def __format__(self, spec: str) -> str:
        """Return the text of a value."""
        if spec == "percent":
            return f"{with_half(f'{self * 100:+.1f}', f'{self.half * 100:.1f}')} %"
        if spec:
            return with_half(float.__format__(self, spec), format(self.half, spec.replace("+", "")))
        return "nan" if math.isnan(self) else with_half(number(float(self)), brief(self.half))


# Relations that give a share.
SHARES = ("excess", "gain")
# How values over seeds are folded whose confidence interval is shown.
ESTIMATES = ("mean", "sum")


class RelativeTo(Model):
    """The operand that a number is compared with: the case (or quantity, or seeds) with these variables changed."""

    to: dict[str, Any]
    by: Literal["ratio", "excess", "gain", "difference"]


class NumbersOf(Model):
    """Numbers of cases, one per combination of the axes that is not folded."""

    case: str
    of: str = Field("", description="name of a quantity")
    path: str = Field("", description="or its path in the statistics of a point")
    fold: str = Field("first", description="of the values at the path")
    each: Axes = {}
    given: dict[str, Any] = Field({}, description="variables that relations change")
    seeds: str = "mean"
    relations: list[RelativeTo] = []
    bins: Literal["", "every", "up to", "above"] = Field("", description="of flows, by size; an axis 'bin'")
    bin_edge: int = Field(SHORT_BYTES, description="bytes: of 'up to' and 'above'")
    largest: list[str] = Field([], description="axes along which only the largest number counts")
    smallest: list[str] = []
    at_least: float | None = None
    label: str = ""
    simulated: bool = Field(False, description="cases that were not simulated are left out")


@dataclass(frozen=True, slots=True)
class Numbers:
    """Numbers by the values of their axes, with halves of their confidence intervals; in text with their labels.

    `shares` are compared by their difference. The numbers are those of `cases`.
    """

    axes: tuple[str, ...]
    values: Mapping[Key, float]
    labels: Mapping[Key, str]
    halves: Mapping[Key, float] = field(default_factory=dict)
    shares: bool = False
    cases: frozenset[str] = frozenset()

    def __getitem__(self, key: object) -> Numbers | Number:
        """Return the numbers with a value of the first axis, or the only number. Raises NotSimulatedError."""
        inside = {own[1:]: value for own, value in self.values.items() if own[0] == str(key)}
        if not inside:
            raise NotSimulatedError(str(key))
        halves = {own[1:]: half for own, half in self.halves.items() if own[0] == str(key)}
        if len(self.axes) == 1:
            return Number(inside[()], halves.get((), 0.0))
        return Numbers(self.axes[1:], inside, {rest: " ".join(rest) for rest in inside}, halves)

    def __format__(self, spec: str) -> str:
        """Return all numbers as text."""
        return ", ".join(f"{self.labels[key]} {self._number(key):{spec}}".lstrip() for key in self.values)

    def _number(self, key: Key) -> Number:
        return Number(self.values[key], self.halves.get(key, 0.0))

    @property
    def least(self) -> Number:
        """The smallest number."""
        return self._number(min(self.values, key=lambda key: self.values[key]))

    @property
    def most(self) -> Number:
        """The largest number."""
        return self._number(max(self.values, key=lambda key: self.values[key]))

    @property
    def lowest(self) -> str:
        """The label of the smallest number."""
        return self.labels[min(self.values, key=lambda key: self.values[key])]

    @property
    def highest(self) -> str:
        """The label of the largest number."""
        return self.labels[max(self.values, key=lambda key: self.values[key])]

    @property
    def count(self) -> int:
        """How many there are."""
        return len(self.values)

    @property
    def positive(self) -> int:
        """How many are not below zero."""
        return sum(value >= 0 for value in self.values.values())

    @property
    def known(self) -> bool:
        """Whether the statistics have all of them."""
        return not any(map(math.isnan, self.values.values()))

    def where(self, chosen: Mapping[str, Any]) -> Numbers:
        """Return those with these values of axes."""
        lists = {axis: values if isinstance(values, list) else [values] for axis, values in chosen.items()}
        allowed = {axis: set(map(str, values)) for axis, values in lists.items()}
        kept = [
            key
            for key in self.values
            if all(value in allowed.get(axis, {value}) for axis, value in zip(self.axes, key, strict=True))
        ]
        if not kept:
            raise KeyError(str(chosen))
        values, labels = {key: self.values[key] for key in kept}, {key: self.labels[key] for key in kept}
        return replace(self, values=values, labels=labels)

    def with_halves(self, parts: Sequence[Numbers], freedom: int) -> Numbers:
        """Return them with halves of their confidence intervals, from those without one seed each."""
        halves = {key: jackknife([part.values[key] for part in parts], freedom) for key in self.values}
        return replace(self, halves=halves)

    def groups(self, along: str) -> Mapping[Key, Mapping[str, float]]:
        """Return the numbers along an axis, for every combination of the others; without an axis all in one group."""
        if not along:
            return {(): {self.labels[key]: value for key, value in self.values.items()}}
        place = self.axes.index(along)
        found: dict[Key, dict[str, float]] = {}
        for key, value in self.values.items():
            found.setdefault(key[:place] + key[place + 1 :], {})[key[place]] = value
        return found


def numbers_of(spec: NumbersOf, results: CaseResults, quantities: Mapping[str, Quantity], given: Variables) -> Numbers:
    """Return the numbers. Raises NotSimulatedError."""
    axes = [*spec.each, *(["bin"] if spec.bins else [])]
    folded = {*spec.largest, *spec.smallest}
    kept = tuple(axis for axis in axes if axis not in folded)
    every: dict[Key, list[float]] = {}
    labels: dict[Key, str] = {}
    cases: set[str] = set()
    for chosen in combinations(spec.each, given):
        variables = {**filled(spec.given, chosen), **chosen}
        if spec.simulated and not results.points.keys() >= set(_cases(spec, variables)):
            continue
        cases.update(_cases(spec, variables))
        for place in _bins(spec, results, variables):
            inside = {**variables, **place}
            key = tuple(str(inside[axis]) for axis in kept)
            every.setdefault(key, []).append(_value(spec, results, quantities, inside, spec.relations))
            labels[key] = text(spec.label, inside) if spec.label else " ".join(key)
    if not every:
        raise NotSimulatedError(spec.case)
    fold = min if spec.smallest else max
    floor = -math.inf if spec.at_least is None else spec.at_least
    values = {key: math.nan if any(map(math.isnan, found)) else max(fold(found), floor) for key, found in every.items()}
    shares = bool(spec.relations) and spec.relations[-1].by in SHARES
    return Numbers(kept, values, labels, shares=shares, cases=frozenset(cases))


def _value(
    spec: NumbersOf,
    results: CaseResults,
    quantities: Mapping[str, Quantity],
    variables: Variables,
    relations: Sequence[RelativeTo],
) -> float:
    if relations:
        first, last = relations[:-1], relations[-1]
        other = {**variables, **filled(last.to, variables)}
        values = (_value(spec, results, quantities, one, first) for one in (variables, other))
        return RELATIONS[last.by](*values)
    name = text(spec.of, variables)
    quantity = quantities[name] if name else Quantity("", text(spec.path, variables), text(spec.fold, variables))
    return OVER_SEEDS[text(spec.seeds, variables)](results.values(text(spec.case, variables), quantity.of))


def _cases(spec: NumbersOf, variables: Variables) -> list[str]:
    """Return the case and those that it is compared with."""
    others = ({**variables, **filled(relation.to, variables)} for relation in spec.relations)
    return [text(spec.case, one) for one in (variables, *others)]


def _bins(spec: NumbersOf, results: CaseResults, variables: Variables) -> Iterator[Variables]:
    """Yield the bins of sizes with enough flows in all cases that are compared; nothing to choose without bins."""
    if not spec.bins:
        yield {}
        return
    cases = _cases(spec, variables)
    edges = [row["edge"] for row in results.of(cases[0])[0]["extras"]["sizes"]]
    for place in full_bins(results, cases):
        small = edges[place] is not None and edges[place] <= spec.bin_edge
        if spec.bins == "every" or small == (spec.bins == "up to"):
            yield {"bin": place}


def full_bins(results: CaseResults, cases: Sequence[str]) -> list[int]:
    """Return the places of the bins with enough flows in all cases, over all seeds. Raises NotSimulatedError."""
    whole = results.whole or results
    sizes = [[point["extras"]["sizes"] for point in whole.of(case)] for case in cases]
    places = range(len(sizes[0][0]))
    return [
        place for place in places if all(sum(one[place]["flows"] for one in seeds) >= ENOUGH_FLOWS for seeds in sizes)
    ]
