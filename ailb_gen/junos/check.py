"""The offline commit check: a tree of words walked along the schema, then the commit constraints of what is there."""

from __future__ import annotations

from ailb_gen.junos import check_result as kinds
from ailb_gen.junos.absence import holds_without, words_of
from ailb_gen.junos.check_result import CheckResult, Unevaluated, Violation
from ailb_gen.junos.instance import Instance
from ailb_gen.junos.must import NodePath, Scope, Unevaluable, evaluate
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
        scope = Scope(root, walk.extra, instance, value, leaf, counts)
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
