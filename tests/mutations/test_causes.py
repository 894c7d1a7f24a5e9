"""One damage gives one headline, and a second one somewhere else gives a second: no finding hides another damage."""

from __future__ import annotations

import random
from functools import cache

import pytest

from ailb_gen.checks.catalogue import BY_ID
from ailb_gen.checks.causes import causes
from ailb_gen.checks.model import Finding, Result
from tests.mutations.catalogue import KINDS
from tests.mutations.kind import changes_of, chosen
from tests.mutations.score import ALL, findings, golden
from tests.mutations.tree import MANIFEST, Changes, sealed

EXAMPLE = "lab"
# The commit check costs most of the time, and needs the models.
CHECKS = frozenset(check for check in ALL if not check.startswith("AILB9"))
SEED = 11
# So many are tried; python -m tests.mutations.score does all of them, one by one.
SINGLES, PAIRS = 60, 40
# Of all kinds, seven eighths gave one headline when this was written; a swap is two damages, and so are some others.
LEAST = 0.85
# What only happens between the findings of one switch and its own file is left to the tests of single rules.
UNREADABLE = ("AILB001", "AILB002", "AILB601", "AILB901")


def results(found: tuple[Finding, ...]) -> list[Result]:
    return [
        Result(BY_ID[check], tuple(f for f in found if f.check == check)) for check in sorted({f.check for f in found})
    ]


def headlines(found: tuple[Finding, ...]) -> set[Finding]:
    explained = causes(results(found))
    assert not set(explained.values()) & set(explained), "a cause is never a consequence itself"
    return set(found) - set(explained)


@cache
def sample() -> list[tuple[str, Changes, tuple[Finding, ...]]]:
    """Return some damages with what is found of each."""
    rows = random.Random(SEED).sample([row for row in KINDS if EXAMPLE in row.examples and row.seal], SINGLES)
    tree = golden(EXAMPLE)
    done = []
    for row in rows:
        damage = chosen(row, tree, EXAMPLE, SEED)
        done.append((row.name, damage.changes, findings(EXAMPLE, changes_of(row, tree, damage), CHECKS)))
    return [row for row in done if row[2]]


@pytest.mark.long
def test_most_single_damages_give_one_headline() -> None:
    counts = {name: len(headlines(found)) for name, _, found in sample()}
    assert all(counts.values())
    single = sum(count == 1 for count in counts.values())
    assert single >= LEAST * len(counts), {name: count for name, count in counts.items() if count > 1}


@pytest.mark.long
def test_two_damages_give_two_headlines() -> None:
    rows = sample()
    source = random.Random(SEED)
    tried = 0
    while tried < PAIRS:
        (one, here, of_one), (other, there, of_other) = source.sample(rows, 2)
        unreadable = any(f.check in UNREADABLE for f in (*of_one, *of_other))
        if here.keys() & there.keys() or unreadable:
            continue
        tried += 1
        changes = sealed(golden(EXAMPLE), {path: entry for path, entry in (here | there).items() if path != MANIFEST})
        found = findings(EXAMPLE, changes, CHECKS)
        left = headlines(found)
        assert len(left) >= 2, (one, other, left)
        # Each shows with a finding of its own.
        for name, own, others in ((one, of_one, of_other), (other, of_other, of_one)):
            mine = {(f.check, f.scope) for f in own} - {(f.check, f.scope) for f in others}
            assert not mine or mine & {(f.check, f.scope) for f in left}, (name, (one, other), left)


@pytest.mark.parametrize("example", ["lab", "jvd"])
def test_one_wrong_color_is_one_headline(example: str) -> None:
    (row,) = (row for row in KINDS if row.name == "fabric-color-of-another-spine")
    tree = golden(example)
    found = findings(example, changes_of(row, tree, chosen(row, tree, example, 1)), CHECKS)
    (headline,) = headlines(found)
    assert headline.check == "AILB302"
    assert headline.place is not None and headline.place.line > 1
    assert len(found) > 30


@pytest.mark.parametrize(
    ("one", "other", "check"),
    [
        ("uplink-inactive", "topology-leaf", "AILB108"),
        ("host-port-inactive", "topology-nic-port", "AILB106"),
        ("host-port-no-mode", "topology-device-extra", "AILB106"),
    ],
)
def test_a_port_is_not_made_wrong_by_a_cable_that_the_intent_wants_there(one: str, other: str, check: str) -> None:
    tree = golden(EXAMPLE)
    rows = {row.name: row for row in KINDS}
    port, cable = (chosen(rows[name], tree, EXAMPLE, SEED).changes for name in (one, other))
    found = findings(EXAMPLE, sealed(tree, port | cable), CHECKS)
    assert check in {headline.check for headline in headlines(found)}
