"""The mutation score: which damage is found by a check that names it.

    python -m tests.mutations.score [--example lab] [--kinds GLOB] [--everywhere] [--all-checks] [--seed N]

prints what is not, and the score. `--everywhere` does every kind at every place instead of one.
"""

from __future__ import annotations

import argparse
import os
import shutil
import sys
import tempfile
from collections.abc import Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING

from ailb_gen.checks.catalogue import BY_ID
from ailb_gen.checks.model import Finding, RunOptions
from ailb_gen.checks.run import run
from ailb_gen.errors import AilbError
from ailb_gen.intent.load import load
from tests.conftest import EXAMPLES, ROOT, SHARED
from tests.mutations.catalogue import KINDS
from tests.mutations.kind import BOTH, Kind, changes_of, chosen, places
from tests.mutations.tree import Changes, Tree, copy_with, read_tree
from tests.mutations.unchanged import reading_once

if TYPE_CHECKING:
    from tests.mutations.edits import Damage

GOLDEN = ROOT / "tests" / "golden"
YANG = SHARED / "yang" / "24.4R1-EVO"
ALL = frozenset(BY_ID)
# The commit check costs most of the time, and needs the models.
CHECKS = frozenset(check for check in ALL if not check.startswith("AILB9"))
LEAST = 0.97


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of one mutation: `named` says whether a check that names it found it, in a file that was changed."""

    example: str
    kind: str
    place: str
    named: bool
    findings: tuple[Finding, ...] = ()
    error: str = ""

    def __str__(self) -> str:
        told = [self.error] if self.error else sorted({f"{f.check} {f.scope}: {f.message}" for f in self.findings})
        lines = "".join(f"\n    {line}" for line in told[:4] or ["nothing was found"])
        return f"{self.example} {self.kind}: {self.place}{lines}"


@cache
def golden(example: str) -> Tree:
    """Return the rendered tree of an example."""
    return read_tree(GOLDEN / example)


def findings(example: str, changes: Changes, checks: frozenset[str]) -> tuple[Finding, ...]:
    """Run checks over an example with changes. Raises AilbError when the files cannot be checked at all."""
    folder = Path(tempfile.mkdtemp(prefix="mutation-"))
    try:
        copy_with(GOLDEN / example, changes, folder / "artifacts")
        options = RunOptions(checks, YANG if YANG.is_dir() else None, executor="serial")
        with reading_once(GOLDEN / example):
            done = run(load(EXAMPLES / example / "fabric.yaml"), folder / "artifacts", options)
    finally:
        shutil.rmtree(folder)
    return tuple(finding for result in done.results for finding in result.findings)


def judge(row: Kind, example: str, damage: Damage, thorough: bool = False) -> Outcome:
    """Do one mutation and run the checks that name it; if they find nothing, or with `thorough`, all others too."""
    try:
        changes = changes_of(row, golden(example), damage)
        found = findings(example, changes, ALL if thorough else row.named_by & ALL)
        named = any(f.check in row.named_by and (f.place is None or f.place.file in damage.changes) for f in found)
        if not named and not thorough:
            found = findings(example, changes, ALL)
    except Exception as error:  # noqa: BLE001  a traceback is one of the things that are looked for
        crash = "" if isinstance(error, AilbError) else "crash, "
        return Outcome(example, row.name, damage.label, False, error=f"{crash}{type(error).__name__}: {error}")
    return Outcome(example, row.name, damage.label, named, found)


def judge_kind(example: str, row: Kind, seed: int, everywhere: bool, thorough: bool) -> list[Outcome]:
    """Do a kind of damage at the place that the seed chooses, or at every place."""
    tree = golden(example)
    damages = places(row, tree) if everywhere else [chosen(row, tree, example, seed)]
    return [judge(row, example, damage, thorough) for damage in damages]


def outcomes(
    example: str, kinds: Iterable[Kind], seed: int = 1, everywhere: bool = False, thorough: bool = False, jobs: int = 1
) -> Iterator[Outcome]:
    """Yield what comes of every kind that the example has, with `jobs` processes."""
    rows = [row for row in kinds if example in row.examples]
    work = partial(judge_kind, example, seed=seed, everywhere=everywhere, thorough=thorough)
    if jobs == 1:
        for row in rows:
            yield from work(row)
        return
    with ProcessPoolExecutor(jobs) as executor:
        # Kinds hold functions, which do not cross process borders: their names do.
        for found in executor.map(partial(_by_name, example, seed, everywhere, thorough), [row.name for row in rows]):
            yield from found


def _by_name(example: str, seed: int, everywhere: bool, thorough: bool, name: str) -> list[Outcome]:
    (row,) = (row for row in KINDS if row.name == name)
    return judge_kind(example, row, seed, everywhere, thorough)


def main() -> int:
    """Print what is not named, and the score."""
    parser = argparse.ArgumentParser(prog="python -m tests.mutations.score")
    parser.add_argument("--example", action="append", help="lab, jvd, brownfield, mixed or static; default: all")
    parser.add_argument("--kinds", default="*", help="a glob over names of kinds")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--everywhere", action="store_true", help="every place of every kind")
    parser.add_argument("--all-checks", action="store_true", help="run all checks, not only those that name the kind")
    parser.add_argument("--jobs", type=int, default=len(os.sched_getaffinity(0)))
    options = parser.parse_args()
    rows = [row for row in KINDS if fnmatchcase(row.name, options.kinds)]
    total = missed = 0
    for example in options.example or [*BOTH, "brownfield", "mixed", "static"]:
        for outcome in outcomes(example, rows, options.seed, options.everywhere, options.all_checks, options.jobs):
            total += 1
            if not outcome.named:
                missed += 1
                sys.stdout.write(f"{outcome}\n")
                sys.stdout.flush()
    if not total:
        sys.stdout.write(f"no kind of damage is called {options.kinds}\n")
        return 2
    score = 1 - missed / total
    sys.stdout.write(f"{total - missed} of {total} mutations named: {score:.2%}\n")
    return int(score < LEAST)


if __name__ == "__main__":
    sys.exit(main())
