"""Blocks like those that were walked before: what a walk found in one holds of another one with other values.

That is so where the other words are values of leaves, alone, to which nothing applies but their type, and where the
constraints that are left to evaluate look at nothing but the block, and at no word that differs.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from functools import cache

from ailb_gen.junos.grammar import is_wildcard
from ailb_gen.junos.instance import Instance, key_is_named
from ailb_gen.junos.kept import BlockPart, Constraints, KeptWalk, KeptWalks, Open, Taken, place_of, renewed
from ailb_gen.junos.must import NOT_KNOWN, PATH, Scope, compile_must, parse_path
from ailb_gen.junos.schema import Definition
from ailb_gen.junos.statements import LEAF, LEAF_LIST, LIST
from ailb_gen.junos.substitution import Adapted, OtherWord
from ailb_gen.junos.tree import Node


def part_of(
    definition: Definition, node: Adapted, kept: KeptWalks, walk_of: Callable[[Instance], KeptWalk | None]
) -> BlockPart:
    """Return the part of the block that a block is like of which a walk finds the same in both.

    `walk_of` returns what is found in such a part; None if anything is wrong in it, or depends on what is around.
    """
    like, substitution = node.like, node.substitution
    others = substitution.others[id(like)]
    leaves = [_leaf_of(definition, like, other) for other in others]
    apart = {other.path[0]: len(other.path) for other, leaf in zip(others, leaves, strict=True) if leaf is None}

    def walk_with(words: Iterable[str]) -> KeptWalk | None:
        block = Node(like.word, like.line, like.flags)
        block.children = {word: like.children[word] for word in words if word not in apart}
        return walk_of(Instance(definition, block, None))

    walk = kept.walks.get(id(like)) if not apart else None
    if walk is None and 1 not in apart.values():
        walk = walk_with(like.children)
        if walk is None:
            apart |= {word: 2 for word in like.children if word not in apart and walk_with([word]) is None}
            walk = walk_with(like.children)
    if apart and (2 * len(apart) > len(like.children) or not _can_stand_alone(definition, apart)):
        walk = None
    pairs = [(leaf, other) for leaf, other in zip(leaves, others, strict=True) if leaf and other.path[0] not in apart]
    values = tuple([(leaf, other.new) for leaf, other in pairs])
    before = tuple([other.path[-1] for _, other in pairs])
    return BlockPart(like, substitution, walk if walk is not None and walk.file else None, values, before, tuple(apart))


def _can_stand_alone(definition: Definition, statements: Iterable[str]) -> bool:
    """Return whether nothing in a block excludes some of its statements, or says the same as they."""
    named = [one for word in statements if (one := definition.words.get(word)) is not None]
    return not any(one.cases for one in (*named, *definition.bare)) and all(one.kind != LEAF for one in definition.bare)


def other_words(part: BlockPart, walk: KeptWalk, node: Adapted) -> tuple[str, ...] | None:
    """Return the words that differ below a block, those of both, if a walk finds in it what it found in that part."""
    if walk.open_ is not None and not holds_with(walk, part.before):
        return None
    words = node.words
    for leaf, number in part.values:
        word = words[number]
        if leaf.check is not None and word not in (leaf.fine or ()) and leaf.check(word) is not None:
            return None
    found = tuple([words[number] for _, number in part.values])
    return (*part.before, *found) if walk.open_ is None or holds_with(walk, found) else None


def holds_with(kept: KeptWalk, words: tuple[str, ...]) -> bool:
    """Return whether the constraints below a block hold whether words are there or others, whatever is around it."""
    if not kept.met:
        return True
    if kept.settled_for is not kept.open_:
        kept.settled_for, kept.looked_at = kept.open_, _looked_at(kept)
    return kept.looked_at is not None and kept.looked_at.isdisjoint(words)


def _leaf_of(definition: Definition, block: Node, other: OtherWord) -> Definition | None:
    """Return the leaf that another word is the value of, None if it is anything else, or not that alone."""
    path, at = other.path, 0
    while at < len(path) - 1:
        named = definition.words.get(path[at])
        below = named or _bare(definition, path[at])
        if below is None or (below.kind == LIST and (len(below.written_keys) != 1 or key_is_named(below.keys[0]))):
            return None
        if below.kind in {LEAF, LEAF_LIST}:
            node = block.get(*path)
            alone = other.is_only and at == len(path) - 2 and node is not None and not node.children
            return below if alone and named and below.fine is not None and not below.is_address else None
        definition, at = below, at + 1 + (below.kind == LIST and named is not None)
    return None


def _bare(definition: Definition, word: str) -> Definition | None:
    """Return the list whose entries stand in a block without its name, if a word is the key of one."""
    for one in definition.bare:
        check = (one.keys[0] if one.kind == LIST and one.keys else one).check
        if one.plain_key or check is None or check(word) is None:
            return one if one.kind == LIST else None
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
