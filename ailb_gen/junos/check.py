"""The offline commit check: a tree of words walked along the schema, then the commit constraints of what is there."""

from __future__ import annotations

import re
from collections.abc import Set as AbstractSet
from functools import cache

from ailb_gen.junos import check_result as kinds
from ailb_gen.junos.check_result import CheckResult, Unevaluated, Violation
from ailb_gen.junos.instance import Instance
from ailb_gen.junos.must import NodePath, Scope, Unevaluable, compile_must, evaluate, fixed_words, parse_path
from ailb_gen.junos.schema import Definition, Schema
from ailb_gen.junos.tree import Node
from ailb_gen.junos.walk import Walk


def check(root: Node, schema: Schema, groups: Node | None = None) -> CheckResult:
    """Check an effective configuration: groups expanded, what is inactive removed.

    `groups` is the statement of that name, which an effective tree no longer has. What groups say is checked without
    constraints and may hold wildcards; the same goes for groups that are still in the tree.
    """
    walk = Walk()
    walk.run([(Instance(schema.root, root, None), root, False)])
    evaluated, unevaluated = _evaluate(walk, root)
    if groups is not None:
        above = Node("")
        above.children[groups.word] = groups
        walk.run([(Instance(schema.root, above, None), above, False)])
    walk.in_groups = True
    walk.run([(group, group.node, False) for group in walk.groups])
    walk.tell_later()
    for pattern, reason in schema.unreadable.items():
        unevaluated.append(Unevaluated(pattern, (), 0, f"a pattern that cannot be compiled: {reason}"))
    findings = tuple(
        sorted(
            set(walk.violations),
            key=lambda violation: (violation.line, violation.path, violation.kind, violation.message),
        )
    )
    return CheckResult(findings, evaluated, tuple(unevaluated), walk.unmodeled, walk.words, walk.unmodeled_lines)


def _evaluate(walk: Walk, root: Node) -> tuple[int, list[Unevaluated]]:
    """Evaluate the constraints that a walk met, add to its violations; return how many, and which cannot be."""
    evaluated, unevaluated = 0, []
    counts: dict[NodePath, dict[str, int]] = {}
    words = words_of(root)
    # What is left to evaluate where the same constraints have been evaluated once.
    kept: dict[tuple[int, Definition, bool], list[list[str]]] = {}
    for instance, musts, value, node, leaf, below in walk.musts:
        place = (id(musts), instance.definition, value is None)
        left = kept.get(place, musts)
        evaluated += len(musts) - len(left)
        if not left and musts:
            continue
        scope = Scope(root, walk.extra, instance, value, leaf, counts, words)
        failed = []
        for expression, message in left:
            try:
                holds = evaluate(expression, scope)
            except Unevaluable as reason:
                failed.append(expression)
                path = (*instance.path(), *below)
                unevaluated.append(Unevaluated(expression, path, node.line, str(reason)))
                continue
            evaluated += 1
            if not holds:
                path = (*instance.path(), *below)
                text = f"the commit constraint {expression} does not hold"
                juniper = message.replace("$$", value) if value is not None else message
                walk.violations.append(Violation(kinds.MUST, path, node.line, text, juniper))
        if place not in kept:
            kept[place] = [one for one in musts if one[0] in failed or not holds_without(one[0], words)]
    return evaluated, unevaluated


# Most constraints of Juniper's models forbid what most configurations nowhere have, and stand at every unit and
# address: they hold because nothing in a configuration has the words that they are about.
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
        fixed = tuple(fixed_words(parse_path("", path)) for _, path in paths)
        nothing = Scope(Node(""), {}, None, None, False, {}, frozenset(), known=True)
        holds = compile_must(_PATH.sub(_NONE, text))(nothing)
    except Unevaluable:
        return ()
    return fixed if holds and all(fixed) else ()
