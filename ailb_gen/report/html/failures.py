"""Failures as a section: which pairs of a leaf and a prefix each of them loses, and what it loads."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from ailb_gen.checks.context import Context
from ailb_gen.checks.failure_outcomes import FailureOutcomes
from ailb_gen.forwarding.failures import Impact
from ailb_gen.report.html.devices import device_states
from ailb_gen.report.html.page import Section

# Failures that are listed: those that lose most, those that load a link most.
LOSING, LOADING = 100, 10
# Lost pairs of a failure that are listed.
PAIRS = 5
# More leaves than this are counted by stripe.
LEAVES = 32
# What fails, and the verdicts about it.
Kinds = Sequence[tuple[str, Sequence[Impact]]]
# Loads that differ by less are the same.
DIGITS = 4


@dataclass(frozen=True, slots=True)
class FailureKind:
    """All failures of a kind together."""

    name: str
    examined: int
    losing: int
    lost: int
    moved: int
    worst: str


@dataclass(frozen=True, slots=True)
class Losing:
    """A failure that loses something: how many pairs, by column, and some of them in words.

    `leaf` and `owner` are those of the first pair.
    """

    name: str
    kind: str
    lost: int
    cells: tuple[int, ...]
    pairs: tuple[str, ...]
    more: int
    leaf: str
    owner: str


@dataclass(frozen=True, slots=True)
class Matrix:
    """Failures by leaves or stripes; `left_out` more of them lose something, `highest` is the highest cell."""

    name: str
    columns: tuple[str, ...]
    rows: tuple[Losing, ...]
    left_out: int
    highest: int


def failures_section(context: Context) -> Section:
    """Return the section; without outcomes it says why there are none."""
    outcomes = context.kept_outcomes
    if outcomes is None:
        return Section("failures", "Failures", {"kinds": [], "undelivered": context.failures_computed})
    columns = _columns(context, outcomes)
    pairs = _pairs(map(len, context.destinations.values()))
    leaves = context.expected.leaves
    asked = _pairs(len(leaf.prefixes) for leaf in leaves)
    single = (("link", outcomes.links), ("spine", outcomes.spines))
    states = device_states(context)
    values = {
        "kinds": list(_kinds(outcomes)),
        "pairs": pairs,
        "gone": max(0, asked - pairs),
        "absent": [f"{leaf.name}: {states[leaf.name]}" for leaf in leaves if leaf.name in context.absent],
        "by_stripe": len(columns) > LEAVES,
        "matrices": [
            found
            for found in (
                _matrix("Single failures", single, outcomes, columns),
                _matrix("Two links, a sample", (("two links", outcomes.pairs),), outcomes, columns),
            )
            if found.rows
        ],
        # Equal ones in the order of the cables.
        "loading": sorted(outcomes.single, key=lambda one: -round(one.worst, DIGITS))[:LOADING],
        "loaded": bool(outcomes.baseline.highest),
        "link_name": outcomes.baseline.graph.link_name,
    }
    return Section("failures", "Failures", values)


def _pairs(prefixes: Iterable[int]) -> int:
    """Return the pairs of a leaf and a prefix of another leaf; `prefixes` are those of every leaf, counted."""
    counts = list(prefixes)
    return sum(counts) * max(0, len(counts) - 1)


def _matrix(name: str, kinds: Kinds, outcomes: FailureOutcomes, columns: Mapping[int, str]) -> Matrix:
    """Return the failures that lose something, those that lose most first, by those columns that lose anything."""
    names = list(dict.fromkeys(columns.values()))
    losing = sorted(_losing(kinds, outcomes, columns, names), key=lambda row: -row.lost)
    shown = losing[:LOSING]
    kept = [at for at in range(len(names)) if any(row.cells[at] for row in shown)]
    rows = tuple(replace(row, cells=tuple(row.cells[at] for at in kept)) for row in shown)
    highest = max((cell for row in rows for cell in row.cells), default=1)
    return Matrix(name, tuple(names[at] for at in kept), rows, len(losing) - len(shown), highest)


def _columns(context: Context, outcomes: FailureOutcomes) -> dict[int, str]:
    """Return the column of every device that sends traffic: itself, or its stripe in a large fabric."""
    names = outcomes.baseline.graph.names
    devices = sorted(context.destinations)
    if len(devices) <= LEAVES:
        return {device: names[device] for device in devices}
    asked = context.expected.switches
    return {device: f"stripe {asked[names[device]].stripe}" for device in devices}


def _kinds(outcomes: FailureOutcomes) -> Iterator[FailureKind]:
    rows = (("one link", outcomes.links), ("one spine", outcomes.spines), ("two links, a sample", outcomes.pairs))
    for name, verdicts in rows:
        yield FailureKind(
            name,
            len(verdicts),
            sum(bool(one.lost) for one in verdicts),
            max((len(one.lost) for one in verdicts), default=0),
            max((one.moved for one in verdicts), default=0),
            f"{max((one.worst for one in verdicts), default=0.0):.2f}",
        )


def _losing(
    kinds: Kinds, outcomes: FailureOutcomes, columns: Mapping[int, str], names: Sequence[str]
) -> Iterator[Losing]:
    graph, baseline = outcomes.baseline.graph, outcomes.baseline
    owner = {prefix: graph.names[int(device)] for prefix, device in zip(baseline.prefixes, baseline.owner, strict=True)}
    for kind, one in ((kind, one) for kind, verdicts in kinds for one in verdicts if one.lost):
        counts = Counter(columns[device] for device, _, _ in one.lost)
        pairs = tuple(
            f"{graph.names[device]} loses {prefix} of {owner[prefix]}: {problem}"
            for device, prefix, problem in one.lost[:PAIRS]
        )
        cells = tuple(counts[name] for name in names)
        leaf, prefix, _ = one.lost[0]
        rest = len(one.lost) - len(pairs)
        yield Losing(one.failure.name, kind, len(one.lost), cells, pairs, rest, graph.names[leaf], owner[prefix])
