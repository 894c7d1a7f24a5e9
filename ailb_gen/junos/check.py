"""The offline commit check: a tree of words walked along the schema, then the commit constraints of what is there."""

from __future__ import annotations

from collections.abc import Iterator
from collections.abc import Set as AbstractSet
from functools import cache

from ailb_gen.junos import check_result as kinds
from ailb_gen.junos.check_result import CheckResult, Unevaluated, Violation
from ailb_gen.junos.instance import Instance
from ailb_gen.junos.kept import Constraints, KeptWalk, KeptWalks, Taken, place_of, renewed
from ailb_gen.junos.likeness import holds_with
from ailb_gen.junos.must import PATH, NodePath, Scope, Unevaluable, compile_must, evaluate, fixed_words, parse_path
from ailb_gen.junos.schema import Schema
from ailb_gen.junos.tree import Node
from ailb_gen.junos.walk import Walk


def check(root: Node, schema: Schema, groups: Node | None = None, kept: KeptWalks | None = None) -> CheckResult:
    """Check an effective configuration: groups expanded, what is inactive removed.

    `groups` is the statement of that name, which an effective tree no longer has. What groups say is checked without
    constraints and may hold wildcards; the same goes for groups that are still in the tree. With `kept`, blocks that
    were checked before as the same object are not walked again; it does not change the result.
    """
    try:
        walk, unevaluated = _walked(root, schema, kept)
    except NotAlikeError:
        walk, unevaluated = _walked(root, schema, kept, alike=False)
    evaluated = walk.constraints - len(unevaluated)
    if kept is not None:
        kept.add(walk.made, walk.used)
    if groups is not None:
        above = Node("")
        above.children[groups.word] = groups
        walk.run([(Instance(schema.root, above, None), above, False)])
    walk.in_groups = True
    walk.run([(group, group.node, False) for group in walk.groups])
    walk.tell_later()
    for pattern, reason in sorted(walk.unreadable.items()):
        unevaluated.append(Unevaluated(pattern, (), 0, f"a pattern that cannot be compiled: {reason}"))
    findings = tuple(
        sorted(
            set(walk.violations),
            key=lambda violation: (violation.line, violation.path, violation.kind, violation.message),
        )
    )
    return CheckResult(findings, evaluated, tuple(unevaluated), walk.unmodeled, walk.words, walk.unmodeled_lines)


def _walked(
    root: Node, schema: Schema, kept: KeptWalks | None, *, alike: bool = True
) -> tuple[Walk, list[Unevaluated]]:
    """Walk a tree and evaluate its constraints; return the walk, and what cannot be evaluated.

    Raises NotAlikeError, but not without `alike`: then blocks that are like others are walked, too.
    """
    walk = Walk(kept or KeptWalks(), keeps=kept is not None, alike=alike)
    walk.run([(Instance(schema.root, root, None), root, False)])
    return walk, Evaluation(root, walk, kept or KeptWalks()).run()


class NotAlikeError(Exception):
    """A block that is like another one has constraints that have to be evaluated where it stands."""


class Evaluation:
    """The evaluation of the constraints that a walk met; those that fail are added to its violations."""

    def __init__(self, root: Node, walk: Walk, kept: KeptWalks) -> None:
        self._root = root
        self._walk = walk
        self._kept = kept
        self._words = walk.names
        self._counts: dict[NodePath, dict[str, int]] = {}
        self._open = kept.open_of(walk.names)
        self._deciding: set[str] = set()

    def run(self) -> list[Unevaluated]:
        """Evaluate all; return those that cannot be evaluated."""
        unevaluated: list[Unevaluated] = []
        for (_, _, value, node, leaf, below), instance, left in self._each(self._walk.met, None, None):
            scope = Scope(self._root, self._walk.extra, instance, value, leaf, self._counts, self._words)
            for expression, message in left:
                try:
                    holds = evaluate(expression, scope)
                except Unevaluable as reason:
                    path = (*instance.path(), *below)
                    unevaluated.append(Unevaluated(expression, path, node.line, str(reason)))
                    continue
                if not holds:
                    path = (*instance.path(), *below)
                    text = f"the commit constraint {expression} does not hold"
                    juniper = message.replace("$$", value) if value is not None else message
                    self._walk.violations.append(Violation(kinds.MUST, path, node.line, text, juniper))
        self._kept.keep_open(self._words, self._open, self._deciding)
        return unevaluated

    def _each(
        self, met: list[Constraints | Taken], old: Instance | None, new: Instance | None
    ) -> Iterator[tuple[Constraints, Instance, list[list[str]]]]:
        """Iterate over what has to be evaluated, each with its instance; `new` replaces `old`."""
        known = self._open.get
        for one in met:
            if isinstance(one, Taken):
                if one.walk.open_ is self._open and not one.walk.rest:
                    continue
                instance = _renewed(one.instance, old, new)
                rest = self._rest(one.walk, instance)
                if rest and one.words:
                    # What is left was evaluated at the block that this one is like, to which nothing else belongs.
                    if not holds_with(one.walk, one.words) or id(instance.node) in self._walk.extra:
                        raise NotAlikeError
                elif rest:
                    yield from self._each(rest, one.walk.instance, instance)
                continue
            left = known(place_of(one))
            if left is None or left:
                instance = _renewed(one[0], old, new)
                yield one, instance, left if left is not None else self._left(one, instance)

    def _rest(self, walk: KeptWalk, instance: Instance) -> list[Constraints | Taken]:
        """Return what has to be evaluated of the constraints of a kept walk, which is taken over for an instance."""
        if walk.open_ is not self._open:
            walk.rest = []
            for one in walk.met:
                if isinstance(one, Taken):
                    left = bool(self._rest(one.walk, renewed(one.instance, walk.instance, instance)))
                else:
                    left = bool(self._left(one, renewed(one[0], walk.instance, instance)))
                if left:
                    walk.rest.append(one)
            walk.open_ = self._open
        return walk.rest

    def _left(self, one: Constraints, instance: Instance) -> list[list[str]]:
        """Return which constraints of a place have to be evaluated wherever they stand.

        What holds without the words that the tree lacks is not, unless it cannot be evaluated: that depends on the
        place alone, as none of its paths exists.
        """
        musts = one[1]
        place = place_of(one)
        left = self._open.get(place)
        if left is None:
            left = self._open[place] = []
            for must in musts:
                self._deciding.update(*_fixed_words(must[0]))
                if not holds_without(must[0], self._words) or not self._can_be_evaluated(must[0], one, instance):
                    left.append(must)
        return left

    def _can_be_evaluated(self, expression: str, one: Constraints, instance: Instance) -> bool:
        scope = Scope(self._root, self._walk.extra, instance, one[2], one[4], self._counts, self._words)
        try:
            evaluate(expression, scope)
        except Unevaluable:
            return False
        return True


def _renewed(instance: Instance, old: Instance | None, new: Instance | None) -> Instance:
    return renewed(instance, old, new) if old is not None and new is not None else instance


# Most constraints of Juniper's models forbid what most configurations nowhere have, and stand at every unit and
# address: they hold because nothing in a configuration has the words that they are about.
# A path that no configuration has.
_NONE = '"nowhere"'


def holds_without(text: str, words: AbstractSet[str]) -> bool:
    """Return whether a constraint holds in every place of a tree because of the words that the tree lacks."""
    fixed = _fixed_words(text)
    return bool(fixed) and not any(one <= words for one in fixed)


@cache
def _fixed_words(text: str) -> tuple[frozenset[str], ...]:
    """Return what has to be written for each path of a constraint to exist; none if it may fail without all of them."""
    paths = [(found[1], found[2]) for found in PATH.finditer(text)]
    if any(quantifier in {"all", "unique"} for quantifier, _ in paths):
        # They are true of a path that does not exist.
        return ()
    try:
        fixed = tuple(fixed_words(parse_path("", path)) for _, path in paths)
        nothing = Scope(Node(""), {}, None, None, False, {}, frozenset(), known=True)
        holds = compile_must(PATH.sub(_NONE, text))(nothing)
    except Unevaluable:
        return ()
    return fixed if holds and all(fixed) else ()
