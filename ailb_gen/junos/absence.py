"""Commit constraints that hold because nothing in a configuration has the words that they are about.

Most constraints of Juniper's models forbid what most configurations nowhere have, and stand at every unit and address.
"""

from __future__ import annotations

import re
from collections.abc import Set as AbstractSet
from functools import cache

from ailb_gen.junos.grammar import is_wildcard
from ailb_gen.junos.must import Scope, Unevaluable, compile_must, parse_path
from ailb_gen.junos.tree import Node

_PATH = re.compile(r'(?:(all|unique|any)\s*)?"([^"]*)"')
# A path that no configuration has.
_NONE = '"nowhere"'


def words_of(root: Node) -> AbstractSet[str]:
    """Return all words of a tree."""
    found: set[str] = set()
    stack = [root]
    while stack:
        children = stack.pop().children
        found.update(children)
        stack += [node for node in children.values() if node.children]
    return found


def holds_without(text: str, words: AbstractSet[str]) -> bool:
    """Return whether a constraint holds in every place of a tree because of the words that the tree lacks."""
    fixed = _fixed_words(text)
    return bool(fixed) and not any(one <= words for one in fixed)


@cache
def _fixed_words(text: str) -> tuple[frozenset[str], ...]:
    """Return what has to be written for each path of a constraint to exist; none if it may fail without all of them."""
    paths = [(found[1], found[2]) for found in _PATH.finditer(text)]
    if any(quantifier in {"all", "unique"} for quantifier, _ in paths):
        # They are true of a path that does not exist.
        return ()
    try:
        steps = [parse_path("", path).steps for _, path in paths]
        holds = compile_must(_PATH.sub(_NONE, text))(Scope(Node(""), {}, None, None, False, {}, known=True))
    except Unevaluable:
        return ()
    fixed = tuple(frozenset(word for word in one if "$" not in word and not is_wildcard(word)) for one in steps)
    return fixed if holds and all(fixed) else ()
