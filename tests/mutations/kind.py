"""A kind of damage: a row of the catalogue."""

from __future__ import annotations

import random
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tests.mutations.tree import Changes, Tree, changed, sealed

if TYPE_CHECKING:
    from tests.mutations.edits import Damage, Edit

BOTH = ("lab", "jvd")


@dataclass(frozen=True, slots=True)
class Kind:
    """One kind of damage; its name says what is damaged.

    `named_by` are the ids of the checks of which one must find it. `seal` renews the manifest's digests of the files
    that change; only damage to the manifest itself leaves them.
    """

    name: str
    edit: Edit
    named_by: frozenset[str]
    examples: tuple[str, ...] = BOTH
    seal: bool = True


def kind(name: str, edit: Edit, named_by: str, examples: tuple[str, ...] = BOTH, seal: bool = True) -> Kind:
    """Write a row; the ids are separated by spaces."""
    return Kind(name, edit, frozenset(named_by.split()), examples, seal)


def places(row: Kind, tree: Tree) -> list[Damage]:
    """Return the damage at every possible place. Raises LookupError when there is none."""
    found = row.edit(tree)
    if not found:
        raise LookupError(f"{row.name}: there is nothing to damage")
    return found


def chosen(row: Kind, tree: Tree, example: str, seed: int) -> Damage:
    """Return the damage at one place, fixed by the seed."""
    return random.Random(f"{seed} {row.name} {example}").choice(places(row, tree))


def changes_of(row: Kind, tree: Tree, damage: Damage) -> Changes:
    """Return what to write, with the manifest where it is renewed. Raises ValueError when nothing would change."""
    changed(tree, damage.changes)
    return sealed(tree, damage.changes) if row.seal else damage.changes
