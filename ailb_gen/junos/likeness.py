"""Blocks like those that were walked before: what a walk found in one holds of another one with other values.

That is so where the other words are values of leaves, alone, to which nothing applies but their type, and where the
constraints that are left to evaluate look at nothing but the block, and at no word that differs.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache

from ailb_gen.junos.grammar import is_wildcard
from ailb_gen.junos.instance import Instance, key_is_named
from ailb_gen.junos.kept import Constraints, KeptWalk, Open, OtherValue, Taken, place_of, renewed
from ailb_gen.junos.must import NOT_KNOWN, PATH, Scope, compile_must, parse_path
from ailb_gen.junos.schema import Definition
from ailb_gen.junos.statements import CONTAINER, LEAF, LEAF_LIST, LIST
from ailb_gen.junos.substitution import Adapted, OtherWord, Substitution


def other_words(kept: KeptWalk, node: Adapted) -> tuple[str, ...] | None:
    """Return the words that differ below a block, those of both, if a walk finds in it what it found in the other.

    The other one is that of `kept`, which the block is like.
    """
    if kept.substitution is not node.substitution:
        kept.substitution, kept.values = node.substitution, _other_values(kept, node.substitution)
        kept.before = tuple([other.path[-1] for other in node.substitution.others[id(node.like)]])
    if kept.values is None:
        return None
    words = node.words
    for leaf, number in kept.values:
        word = words[number]
        if leaf.check is not None and word not in (leaf.fine or ()) and leaf.check(word) is not None:
            return None
    found = (*kept.before, *[words[number] for _, number in kept.values])
    return found if holds_with(kept, found) else None


def holds_with(kept: KeptWalk, words: tuple[str, ...]) -> bool:
    """Return whether the constraints below a block hold whether words are there or others, whatever is around it."""
    if not kept.met:
        return True
    if kept.settled_for is not kept.open_:
        kept.settled_for, kept.looked_at = kept.open_, _looked_at(kept)
    return kept.looked_at is not None and kept.looked_at.isdisjoint(words)


def _other_values(kept: KeptWalk, substitution: Substitution) -> list[OtherValue] | None:
    """Return the values that a substitution changes below a block; None if it changes anything else, too."""
    found = []
    for other in substitution.others[id(kept.instance.node)]:
        leaf = _leaf_of(kept.instance, other)
        if leaf is None:
            return None
        found.append((leaf, other.new))
    return found


def _leaf_of(instance: Instance, other: OtherWord) -> Definition | None:
    """Return the leaf that another word is the value of, None if it is anything else, or not that alone."""
    definition, path, at = instance.definition, other.path, 0
    while at < len(path) - 1:
        below = definition.words.get(path[at])
        if below is None:
            return None
        if below.kind in {LEAF, LEAF_LIST}:
            node = instance.node.get(*path)
            alone = other.is_only and at == len(path) - 2 and node is not None and not node.children
            return below if alone and below.fine is not None and not below.is_address else None
        if below.kind == LIST:
            if len(below.written_keys) != 1 or key_is_named(below.written_keys[0]):
                return None
        elif below.kind != CONTAINER:
            return None
        definition, at = below, at + 1 + (below.kind == LIST)
    return None


def _looked_at(kept: KeptWalk) -> frozenset[str] | None:
    """Return the words that the constraints left to evaluate below a block look at.

    None if one of them does not hold, or not for what stands there alone.
    """
    found: set[str] = set()
    for (_, _, value, _, leaf, _), instance, left in _left(kept, kept.open_ or {}, kept.instance):
        if left is None:
            return None
        scope = Scope(kept.instance.node, {}, instance, value, leaf, {}, kept.names, known=True)
        for expression, _ in left:
            text, words = _within(expression, _depth(instance) + leaf)
            if not compile_must(text)(scope):
                return None
            found |= words
    return frozenset(found)


def _left(
    kept: KeptWalk, open_: Open, stands_for: Instance
) -> Iterator[tuple[Constraints, Instance, list[list[str]] | None]]:
    """Iterate over the constraints below a block, with the instances as they are below another, and what is left.

    None is left of those that are not known, such as all that stand in a block that is itself like another one.
    """
    for one in kept.met:
        instance = renewed(one.instance if isinstance(one, Taken) else one[0], kept.instance, stands_for)
        if not isinstance(one, Taken):
            yield one, instance, open_.get(place_of(one))
            continue
        for inner, inner_instance, left in _left(one.walk, open_, instance):
            yield inner, inner_instance, None if one.words else left


def _depth(instance: Instance) -> int:
    """Return in how many instances one stands."""
    return 0 if instance.parent is None else 1 + _depth(instance.parent)


@cache
def _within(expression: str, depth: int) -> tuple[str, frozenset[str]]:
    """Return a constraint of which only the paths that climb no more than `depth` are known, and their words."""
    known: set[str] = set()

    def shown(found: re.Match[str]) -> str:
        path = parse_path(found[1] or "", found[2])
        words = {_literal(step) for step in path.steps}
        if not 0 <= path.up <= depth or any("$" in word or is_wildcard(word) for word in words):
            return NOT_KNOWN
        known.update(words)
        return found[0]

    return PATH.sub(shown, expression), frozenset(known)


def _literal(step: str) -> str:
    return step[4:-1] if step.startswith("$$={") and step.endswith("}") else step
