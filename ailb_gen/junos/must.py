"""The language of `junos:must`: commit constraints of Juniper's models, parsed once and evaluated on the tree.

    expression = and { "||" and }        and = unary { "&&" unary }
    unary = "!" unary | "(" expression ")" | [ "any" | "all" | "unique" ] '"' path '"'

A path is words of the configuration as they are written. It starts at the top, or where the constraint stands: `.` is
the statement itself, `..` the one around it. `$$` is the value that the constraint stands at, `$$-IFL` the words of
that logical interface (`et-0/0/0.0` → `et-0/0/0 unit 0`), `$$-IFD` the physical one, `$$={x}` the word x, `${name}` the
key of the list of that name around it, `<*>` or `<st*>` any word that matches.

A path is true when it exists, with `any` when one of the ways to fill the wildcards exists, with `all` when each way
to fill the first ones can be completed, with `unique` when at most one exists.

Juniper's models use one expression in several places, and in some of them a relative path names what can never be
written there. It is not true; but a constraint that fails for nothing else is not held against the configuration.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import cache
from itertools import islice

from ailb_gen.junos.grammar import is_wildcard
from ailb_gen.junos.instance import Instance
from ailb_gen.junos.schema import Definition
from ailb_gen.junos.statements import LEAF, LEAF_LIST, LIST
from ailb_gen.junos.tree import Node

Test = Callable[["Scope"], bool | None]
# What was read, and the position behind it.
Parsed = tuple[Test, int]
Parser = Callable[[list[str], int, int], Parsed]

_TOKEN = re.compile(r'\s*(?:(?P<path>"[^"]*")|(?P<sign>&&|\|\||[!()])|(?P<word>any|all|unique)\b)')
# A path of an expression, and what is said of it; one of which it is not known whether it exists.
PATH = re.compile(r'(?:(all|unique|any)\s*)?"([^"]*)"')
NOT_KNOWN = '"$?"'
_KEY = re.compile(r"\$\{([^}]*)\}")
# A path of a routing instance is empty outside of all of them.
_INSTANCE = "${instance}"
# What most statements have on their line that belongs further up.
NOTHING: Mapping[str, Node] = {}
_VALUELESS = "$$ where the statement has no value"
_DEEP = 128  # levels of brackets; no model has more than 80


class Unevaluable(Exception):  # noqa: N818 - not an error of the user's: it is counted and listed
    """A constraint that cannot be evaluated, with the reason."""


@dataclass(frozen=True, slots=True)
class NodePath:
    """A path of a constraint; `up` counts the `..`, -1 at the top. `quantifier` is "", "any", "all" or "unique"."""

    quantifier: str
    up: int
    steps: tuple[str, ...]


@dataclass(slots=True)
class Scope:
    """The node on which a constraint is evaluated.

    `instance` is the list entry or container that it stands at, or that the leaf with `value` stands in. `extra` holds,
    by the id of a node, what belongs below it and was written further on in the same line. `counts` keeps what
    was counted for other constraints of the same tree, `words` are all words of that tree. With `known` a path that can
    never be written is false, else None: not known.
    """

    root: Node
    extra: dict[int, dict[str, Node]]
    instance: Instance | None
    value: str | None
    leaf: bool
    counts: dict[NodePath, dict[str, int]]
    words: AbstractSet[str]
    known: bool = False


@cache
def compile_must(text: str) -> Callable[[Scope], bool | None]:
    """Return the function of an expression. Raises Unevaluable for text that is not one; so does the function."""
    signs = list(_signs(text))
    test, position = _or(signs, 0, 0)
    if position != len(signs):
        raise Unevaluable(f"not an expression: {signs[position]} is left over")
    return test


def evaluate(text: str, scope: Scope) -> bool:
    """Return whether a constraint holds. Raises Unevaluable with the reason when that cannot be decided."""
    test = compile_must(text)
    # What holds without the paths that can never be written holds: most constraints do, and need no look at the schema.
    scope.known = True
    if test(scope):
        return True
    scope.known = False
    if test(scope) is None:
        raise Unevaluable("it needs a statement that the models do not have in that place")
    return False


def _signs(text: str) -> Iterator[str]:
    position, end = 0, len(text.rstrip())
    while position < end:
        found = _TOKEN.match(text, position)
        if found is None:
            raise Unevaluable(f"not an expression at {text[position : position + 20]!r}")
        yield found[0].strip()
        position = found.end()


def _or(signs: list[str], position: int, depth: int) -> Parsed:
    return _chain(signs, position, depth, ("||", _and, True))


def _and(signs: list[str], position: int, depth: int) -> Parsed:
    return _chain(signs, position, depth, ("&&", _unary, False))


def _chain(signs: list[str], position: int, depth: int, level: tuple[str, Parser, bool]) -> Parsed:
    """Read parts with one operator between them; `level` says which, what reads a part, and which result decides."""
    operator, part, decisive = level
    test, position = part(signs, position, depth)
    tests = [test]
    while position < len(signs) and signs[position] == operator:
        test, position = part(signs, position + 1, depth)
        tests.append(test)
    return (tests[0] if len(tests) == 1 else lambda scope: _folded(tests, scope, decisive)), position


def _folded(tests: list[Test], scope: Scope, decisive: bool) -> bool | None:
    """Return `decisive` if any test gives that, else None if one is not known, else the opposite."""
    known: bool | None = not decisive
    for test in tests:
        result = test(scope)
        if result is decisive:
            return decisive
        if result is None:
            known = None
    return known


def _unary(signs: list[str], position: int, depth: int) -> Parsed:
    if position >= len(signs) or depth > _DEEP:
        raise Unevaluable("not an expression: it is incomplete" if depth <= _DEEP else "too many brackets")
    sign = signs[position]
    if sign == "!":
        inner, position = _unary(signs, position + 1, depth + 1)
        return (lambda scope: None if (value := inner(scope)) is None else not value), position
    if sign == "(":
        inner, position = _or(signs, position + 1, depth + 1)
        if position >= len(signs) or signs[position] != ")":
            raise Unevaluable("not an expression: a bracket is not closed")
        return inner, position + 1
    quantifier = sign if sign in {"any", "all", "unique"} else ""
    position += bool(quantifier)
    if position >= len(signs) or not signs[position].startswith('"'):
        raise Unevaluable("not an expression: a path in quotes is missing")
    return _path_test(parse_path(quantifier, signs[position][1:-1])), position + 1


def parse_path(quantifier: str, text: str) -> NodePath:
    """Return a path of an expression. Raises Unevaluable for one without words."""
    # Juniper's models write `..inner-vlan` for `.. inner-vlan` in places.
    words = re.sub(r"^(\s*(?:\.\.\s*)*\.\.)(?=[^\s.])", r"\1 ", text).split()
    up = -1
    if words and words[0] in {".", ".."}:
        up = 0
        while words and words[0] in {".", ".."}:
            up += words.pop(0) == ".."
    if not words and up < 0:
        raise Unevaluable("an empty path")
    return NodePath(quantifier, up, tuple(words))


def _path_test(path: NodePath) -> Callable[[Scope], bool | None]:
    if path.steps == (NOT_KNOWN[1:-1],):
        return lambda scope: None
    if path.quantifier == "all":
        return lambda scope: _every(path, scope)
    # Decided here and not at every evaluation: there are hundreds for each switch.
    number = _number_of_all if _is_countable(path) else _number
    if path.quantifier == "unique":
        return lambda scope: number(path, scope, 2) < 2
    # Most paths are of what a configuration nowhere has. Those with variables may have no answer: they are followed.
    words = frozenset() if any("$" in step for step in path.steps) else fixed_words(path)
    exists = _exists if not any(map(is_wildcard, path.steps)) else lambda path, scope: number(path, scope, 1)
    if len(words) == 1:
        (word,) = words
        return lambda scope: True if word in scope.words and exists(path, scope) else _absent(path, scope)
    return lambda scope: True if words <= scope.words and exists(path, scope) else _absent(path, scope)


def _exists(path: NodePath, scope: Scope) -> bool | int:
    """Return whether there is what a path without wildcards leads to."""
    found = _matches(path, scope)
    # Only what fills a wildcard is not a tuple: one in a value.
    return bool(found) if isinstance(found, tuple) else _count(found, 1) > 0


def fixed_words(path: NodePath) -> frozenset[str]:
    """Return the words of a path that have to be written as they are for the path to exist."""
    return frozenset(step for step in path.steps if "$" not in step and not is_wildcard(step))


def _absent(path: NodePath, scope: Scope) -> bool | None:
    """Return what a path that does not exist counts as."""
    return False if scope.known or path.up < 0 or _possible(path, scope) else None


def _possible(path: NodePath, scope: Scope) -> bool:
    """Return whether a path that does not exist could."""
    instance = _climb(path.up, scope)
    # What is said of a routing instance is not true of the device as a whole.
    if instance is None or instance.parent is None:
        return True
    return _leads_on(instance.definition, path.steps)


@cache
def _leads_on(definition: Definition, steps: tuple[str, ...]) -> bool:
    """Return whether the schema has the words of a path below a statement."""
    if not steps:
        return True
    word, rest = steps[0], steps[1:]
    named = definition.words.get(word)
    if named is not None:
        if named.kind in {LEAF, LEAF_LIST}:
            return len(rest) < 2
        return _leads_on(named, rest[len(named.keys) :] if named.kind == LIST else rest)
    for bare in definition.bare:
        after = steps[len(bare.keys) :] if bare.kind == LIST else rest
        # `$$-IFL` is the words of two lists.
        if _leads_on(bare, after) or (
            word == "$$-IFL" and "unit" in bare.words and _leads_on(bare.words["unit"], rest)
        ):
            return True
    return is_wildcard(word) and any(_leads_on(one, rest) for one in definition.words.values())


def _count(matches: Iterable[Node], most: int) -> int:
    return sum(1 for _ in islice(matches, most))


def _number(path: NodePath, scope: Scope, most: int) -> int:
    """Return how many ways there are to fill the wildcards of a path; at least `most` if there are that many."""
    return _count(_matches(path, scope), most)


def _number_of_all(path: NodePath, scope: Scope, most: int) -> int:
    """Return the same for a path that is countable, whatever `most` is."""
    counts = scope.counts.get(path)
    if counts is None:
        counts = scope.counts[path] = _count_all(path, scope)
    if "$$" not in path.steps:
        return counts.get("", 0)
    if scope.value is None:
        raise Unevaluable(_VALUELESS)
    return counts.get(scope.value, 0)


def _is_countable(path: NodePath) -> bool:
    """Return whether all of a path but `$$` is the same everywhere: then all values of it are counted at once."""
    variable = [step for step in path.steps if "$" in step and not step.startswith("$$={")]
    return path.up < 0 and any(map(is_wildcard, path.steps)) and variable in ([], ["$$"])


def _count_all(path: NodePath, scope: Scope) -> dict[str, int]:
    """Return for every value of `$$` how many ways a path from the top can be filled, under "" without `$$`."""
    words = ["<*>" if step == "$$" else step for step in path.steps]
    at = path.steps.index("$$") if "$$" in path.steps else -1
    found = Counter[str]()
    for node in _descend(scope.root, _words(tuple(words[:at]), scope), scope) if at >= 0 else (scope.root,):
        below = (*node.children.values(), *scope.extra.get(id(node), {}).values()) if at >= 0 else (node,)
        rest = _words(tuple(words[at + 1 :]), scope)
        for one in below:
            found[one.word if at >= 0 else ""] += _count(_descend(one, rest, scope), 2)
    return found


def _every(path: NodePath, scope: Scope) -> bool:
    last = max((number for number, step in enumerate(path.steps) if is_wildcard(step)), default=-1)
    rest = _words(path.steps[last + 1 :], scope)
    first = NodePath("", path.up, path.steps[: last + 1])
    return all(_count(_descend(node, rest, scope), 1) for node in _matches(first, scope))


def _matches(path: NodePath, scope: Scope) -> Iterable[Node]:
    if _INSTANCE in path.steps and not _key("instance", scope):
        return ()
    if path.up < 0:
        return _descend(scope.root, _words(path.steps, scope), scope)
    start = _climb(path.up, scope)
    return _descend(start.node, _words(path.steps, scope), scope) if start is not None else ()


def _climb(up: int, scope: Scope) -> Instance | None:
    """Return the instance that a relative path starts at, None above the top."""
    instance: Instance | None = scope.instance
    # What stands around a leaf is the instance itself.
    for _ in range(up - scope.leaf):
        if instance is None:
            break
        instance = instance.parent
    return instance


def _descend(start: Node, words: Sequence[str], scope: Scope) -> Iterable[Node]:
    """Return what stands behind words below a node, in any order."""
    node = start
    for done, word in enumerate(words):
        if word[:1] == "<" and is_wildcard(word):
            return _fill(node, words[done:], scope)
        found = node.children.get(word)
        if found is None and scope.extra:
            found = scope.extra.get(id(node), NOTHING).get(word)
        if found is None:
            return ()
        node = found
    return (node,)


def _fill(start: Node, words: Sequence[str], scope: Scope) -> Iterator[Node]:
    """Iterate over the ways to fill the wildcards of a path."""
    glob = words[0][1:-1]
    for one in (*start.children.values(), *scope.extra.get(id(start), NOTHING).values()):
        if glob == "*" or fnmatchcase(one.word, glob):
            yield from _descend(one, words[1:], scope)


def _words(steps: tuple[str, ...], scope: Scope) -> list[str]:
    words = []
    for step in steps:
        if "$" not in step:
            words.append(step)
        elif step.startswith("$$={") and step.endswith("}"):
            words.append(step[4:-1])
        elif step in {"$$", "$$-IFD", "$$-IFL"}:
            if scope.value is None:
                raise Unevaluable(_VALUELESS)
            words += _interface(scope.value, step[2:])
        elif "${" in step:
            words.append(_KEY.sub(lambda found: _key(found[1], scope), step))
        else:
            raise Unevaluable(f"the variable {step} is not known")
    return words


def _interface(name: str, part: str) -> tuple[str, ...]:
    physical, dot, unit = name.partition(".")
    if not part:
        return (name,)
    return (physical,) if part == "-IFD" or not dot else (physical, "unit", unit)


def _key(name: str, scope: Scope) -> str:
    instance: Instance | None = scope.instance
    while instance is not None:
        if instance.definition.kind == LIST and instance.definition.name == name and instance.key:
            return instance.key[-1]
        instance = instance.parent
    if name == "instance":
        return ""
    raise Unevaluable(f"${{{name}}} outside a list of that name")
