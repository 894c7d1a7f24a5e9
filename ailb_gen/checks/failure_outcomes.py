"""Outcomes of all single failures of links and spines, and of a sample of pairs: one pass, kept for reports."""

from __future__ import annotations

import gc
import gzip
import json
import pickle
import random
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from pathlib import Path
from tempfile import TemporaryDirectory

from ailb_gen.forwarding.baseline import Baseline
from ailb_gen.forwarding.failure_kinds import FailureKinds, failure_kinds
from ailb_gen.forwarding.failures import Assessment, Failure, Impact
from ailb_gen.forwarding.fib_changes import FibChanges, Row
from ailb_gen.forwarding.peaks import Peaks, Raised

# Pairs of links that are examined: all of them in a small fabric, else a sample.
PAIRS = 64
CHUNK = 64
# Of compressing what changes: more costs time, and gains little.
LEVEL = 6


@dataclass(frozen=True, slots=True)
class Material:
    """The fabric without failures, and the switches whose changes are wanted; None: of none.

    `kinds` are outcomes that need not be computed again; None where all are.
    """

    baseline: Baseline
    changes: FibChanges | None = None
    kinds: FailureKinds | None = None


@dataclass(frozen=True, slots=True)
class FailureOutcomes:
    """The outcomes of failures in the fabric of `baseline`, in the order of its sessions and of the spines.

    `peaks` are the highest loads over single failures; a cause is an index into `links` followed by `spines`. `changes`
    are what these change in FIBs (see FibChanges), CHUNK failures each, if that was asked for.
    """

    baseline: Baseline
    links: tuple[Impact, ...]
    spines: tuple[Impact, ...]
    pairs: tuple[Impact, ...]
    peaks: Peaks
    changes: tuple[bytes, ...] = ()

    @property
    def single(self) -> tuple[Impact, ...]:
        """All single failures."""
        return self.links + self.spines


@dataclass(frozen=True, slots=True)
class Chunk:
    """Failures that are assessed in one go; `first` is the number of the first one, `noted` of them raise peaks."""

    first: int
    failures: Sequence[Failure]
    noted: int


def failure_outcomes(
    material: Material, spines: Iterable[str], seed: int, executor: Executor | None, begin: Callable[[int], Advance]
) -> FailureOutcomes:
    """Assess every link and spine, and pairs of links by the seed; `begin` is called once with how many they are."""
    baseline = material.baseline
    graph = baseline.graph
    up = range(len(graph.sessions.up))
    single = [Failure(graph.link_name(at), frozenset({at})) for at in up]
    single += [Failure(name, dead=frozenset({graph.index[name]})) for name in spines]
    pairs = [
        Failure(f"{graph.link_name(a)} and {graph.link_name(b)}", frozenset({a, b}))
        for a, b in sampled_pairs(len(up), PAIRS, seed)
    ]
    everything = single + pairs
    if material.changes is None:
        material = replace(material, kinds=failure_kinds(baseline, single, seed))
    chunks = [
        Chunk(start, everything[start : start + CHUNK], max(0, len(single) - start))
        for start in range(0, len(everything), CHUNK)
    ]
    peaks, found, changes, advance = Peaks(baseline.load), list[Impact](), list[bytes](), begin(len(everything))
    for verdicts, raised, changed in _assessed(material, chunks, executor):
        found += verdicts
        peaks.merge(raised)
        changes += [changed] if changed else []
        advance(len(verdicts))
    links, rest = tuple(found[: len(up)]), found[len(up) :]
    count = len(single) - len(up)
    return FailureOutcomes(baseline, links, tuple(rest[:count]), tuple(rest[count:]), peaks, tuple(changes))


Advance = Callable[[int], None]
Assessed = tuple[list[Impact], Raised, bytes]


def sampled_pairs(count: int, size: int, seed: int) -> list[tuple[int, int]]:
    """Return `size` different pairs of numbers below `count`, or all if there are not more."""
    if count * (count - 1) // 2 <= size:
        return [(a, b) for a in range(count) for b in range(a + 1, count)]
    source = random.Random(seed)  # noqa: S311 - a sample, not a secret
    found: dict[tuple[int, int], None] = {}
    while len(found) < size:
        a, b = sorted(source.sample(range(count), 2))
        found[a, b] = None
    return list(found)


def packed(rows: Sequence[Row]) -> bytes:
    """Return the changes by failures as compressed JSON; empty for none."""
    return gzip.compress(json.dumps(rows, separators=(",", ":")).encode(), LEVEL, mtime=0) if rows else b""


def _assessed(material: Material, chunks: Sequence[Chunk], executor: Executor | None) -> Iterator[Assessed]:
    """Assess every failure, in order; chunks go to the executor if there is one and enough to compute."""
    if executor is None or _uncomputed(material, chunks) <= CHUNK:
        yield from (_assess_all(material, chunk) for chunk in chunks)
        return
    with TemporaryDirectory(prefix="ailb-gen-") as folder:
        # Written once for all chunks: each worker reads it once, and not with every chunk.
        path = Path(folder) / "baseline"
        path.write_bytes(pickle.dumps(material, pickle.HIGHEST_PROTOCOL))
        yield from executor.map(partial(assess_stored, path), chunks)


def _uncomputed(material: Material, chunks: Iterable[Chunk]) -> int:
    kinds = material.kinds
    failures = (chunk.failures[: chunk.noted] for chunk in chunks)
    known = sum(kinds is not None and kinds.knows(failure) for row in failures for failure in row)
    return sum(len(chunk.failures) for chunk in chunks) - known


def assess_stored(path: Path, chunk: Chunk) -> Assessed:
    """Assess some failures of the baseline in a file of this program's own."""
    return _assess_all(_stored(path), chunk)


@lru_cache(maxsize=1)
def _stored(path: Path) -> Material:
    gc.disable()
    material = pickle.loads(path.read_bytes())  # noqa: S301 - written by the process that started this one
    if not isinstance(material, Material):
        raise TypeError(f"{path} holds no baseline")
    return material


def _assess_all(material: Material, chunk: Chunk) -> Assessed:
    baseline, changes, kinds = material.baseline, material.changes, material.kinds
    peaks, verdicts, rows = Peaks(baseline.load), list[Impact](), list[Row]()
    for at, failure in enumerate(chunk.failures):
        noted = at < chunk.noted
        known = kinds.effect(failure, chunk.first + at) if noted and kinds is not None else None
        if known is not None:
            verdicts.append(known.impact)
            peaks.merge(known.raised)
            continue
        assessment = Assessment(baseline, failure)
        verdicts.append(assessment.run())
        if noted:
            peaks.note(chunk.first + at, assessment.load)
            if changes is not None:
                rows.append(changes.of(assessment))
    return verdicts, peaks.raised(), packed(rows)
