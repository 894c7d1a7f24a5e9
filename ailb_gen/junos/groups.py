"""The effective configuration: groups inherited where they are applied, inactive statements left out.

Source: Junos CLI User Guide, "Use Configuration Groups".
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from fnmatch import fnmatchcase
from graphlib import CycleError, TopologicalSorter

from ailb_gen.errors import ExpansionError
from ailb_gen.junos.block_layout import lay_out
from ailb_gen.junos.choices import excluded
from ailb_gen.junos.grammar import LINE, PREFIX, VALUE, form_of, inside, is_wildcard
from ailb_gen.junos.tree import DELETE, ENDS, FLAT, INACTIVE, LIST, Node, copy
from ailb_gen.wording import some

APPLY, EXCEPT = "apply-groups", "apply-groups-except"
Applied = dict[str, tuple[str, ...]]
# Wildcards match names, not these, which stand beside names.
KEYWORDS = frozenset({APPLY, EXCEPT, "interface-range"})
# Steps of applying groups; a switch with 512 ports and 20 groups takes a fifth of it.
MAX_STEPS = 1_000_000


def inherited(root: Node) -> Node:
    """Return a tree after `active` and `expand_groups`; the tree itself if neither changes anything.

    What a device checks at a commit. What counts in the end is `interface_ranges.effective`.
    """
    return expand_groups(active(root))


def active(root: Node) -> Node:
    """Return the tree without inactive statements and those tagged `delete:`; the tree itself if there are none.

    A word is gone with its last value, an entry of a list with its attributes is not.
    """
    if not root.flags & (INACTIVE | DELETE):
        return root
    result = copy(root)
    if result.flags & FLAT:
        lay_out(result)
    result.flags &= ~(INACTIVE | DELETE)
    # Nodes with the word of the block around, and the number of keys that are still to come.
    stack = [(result, "", 0)]
    order: list[tuple[Node, Node, bool]] = []
    while stack:
        node, around, keys = stack.pop()
        for child in list(node):
            if child.flags & (INACTIVE | DELETE):
                del node.children[child.word]
                continue
            left = keys - 1 if keys else _keys(around, child.word)
            order.append((node, child, keys == 1))
            if child.children:
                stack.append((child, around if keys else inside(around, child.word), left))
    for parent, child, is_entry in reversed(order):
        if not child.children and not child.flags & ENDS:
            if is_entry:
                child.flags |= ENDS
            else:
                del parent.children[child.word]
    return result


def _known(path: tuple[str, ...]) -> str:
    """Return as what the grammar knows the node at a path."""
    parent, keys = "", 0
    for word in path:
        if keys:
            keys -= 1
        else:
            parent, keys = inside(parent, word), _keys(parent, word)
    return parent


def _keys(around: str, word: str) -> int:
    """Return how many words behind a word name the same object as it does."""
    keys, form = form_of(around, word)
    return 1 if word == PREFIX and form == LINE else keys


def expand_groups(root: Node) -> Node:
    """Return the tree with the statements of groups where `apply-groups` inherits them, and without `groups`.

    What is configured wins over a group, an inner level over an outer one, an earlier group over a later one.
    Wildcards such as `<et-*>` match what is there. Statements keep the line they have in their group. Names of groups
    that do not exist stay in `apply-groups`. Raises ExpansionError when groups apply each other in a circle, and for
    what takes more than MAX_STEPS.
    """
    groups = root.get("groups")
    if groups is None:
        return root
    result = copy(root)
    if result.flags & FLAT:
        lay_out(result)
    groups = result.children.pop("groups")
    steps = Steps("groups", groups.line)
    # By node, which groups were applied there, and which ones they apply at the same place.
    applied: dict[int, tuple[Node, Applied]] = {}
    # What is inherited may apply groups further down; a group says nothing deeper than it is itself.
    while levels := sorted(_levels(result, groups, steps), key=lambda level: -len(level[1])):
        for node, path in levels:
            _, here = applied.setdefault(id(node), (node, {}))
            _apply(node, path, groups, here, steps)
    for node in result.below():
        if EXCEPT in node.children:
            # Its work is done.
            _drop(node, EXCEPT, list(groups.children))
    return result


class Steps:
    """Counts what applying groups or interface ranges takes; `line` is where they stand."""

    __slots__ = ("left", "line", "what")

    def __init__(self, what: str, line: int) -> None:
        self.left, self.what, self.line = MAX_STEPS, what, line

    def take(self, number: int) -> None:
        """Count some. Raises ExpansionError when there are too many."""
        self.left -= number
        if self.left < 0:
            reason = f"applying them takes more than {MAX_STEPS:,} steps; delete unused ones"
            raise ExpansionError(self.what, self.line, reason)


def _apply(node: Node, path: tuple[str, ...], groups: Node, applied: Applied, steps: Steps) -> None:
    """Inherit at a node what is applied there, and then what those groups apply at the same place."""
    parent = _known(path)
    waiting = deque(name for name in node.values(APPLY) if name in groups.children)
    while waiting:
        name = waiting.popleft()
        if name in applied:
            continue
        sources = _matching(groups.children[name], path, steps)
        for source in sources:
            inherit(node, source, parent, steps, name)
        named = dict.fromkeys(word for source in sources for word in source.values(APPLY))
        applied[name] = tuple(word for word in named if word in groups.children)
        waiting.extend(applied[name])
        _drop(node, APPLY, [word for word in node.values(APPLY) if word in groups.children])
    # What was applied here before may be inherited once more.
    _drop(node, APPLY, [word for word in node.values(APPLY) if word in groups.children])
    try:
        TopologicalSorter(applied).prepare()
    except CycleError as error:
        circle = [name for name in groups.children if name in error.args[1]]
        names = f"{some(circle)} apply each other" if len(circle) > 1 else f"{circle[0]} applies itself"
        raise ExpansionError("groups", groups.children[circle[0]].line, f"{names} in a cycle") from error


def _levels(root: Node, groups: Node, steps: Steps) -> Iterator[tuple[Node, tuple[str, ...]]]:
    """Iterate over the nodes at which known groups are applied, with the words that lead there."""
    path: list[str] = []
    stack = [iter((root,))]
    while stack:
        node = next(stack[-1], None)
        if node is None:
            stack.pop()
            if path:
                path.pop()
            continue
        path.append(node.word)
        steps.take(1)
        if not groups.children.keys().isdisjoint(node.values(APPLY)):
            yield node, tuple(path[1:])
        stack.append(iter(node.children.values()))


def _matching(group: Node, path: tuple[str, ...], steps: Steps) -> list[Node]:
    """Return the nodes of a group that speak of a path: the exact one first, then those with wildcards."""
    found = [group]
    for word in path:
        steps.take(sum(len(node.children) for node in found))
        found = [child for node in found for child in _speaking(node, word)]
    return found


def _speaking(node: Node, word: str) -> Iterator[Node]:
    exact = node.children.get(word)
    if exact is not None:
        yield exact
    for child in node:
        if word not in KEYWORDS and is_wildcard(child.word) and fnmatchcase(word, child.word[1:-1]):
            yield child


def inherit(node: Node, source: Node, parent: str, steps: Steps, group: str = "") -> None:
    """Add to a node what another one says there, such as that of the group of a name; what is there wins.

    `parent` is as what the grammar knows the node. Raises ExpansionError when it takes too many `steps`.
    """
    take = steps.take
    added: list[tuple[Node, Node]] = []
    # The words behind a keyword that are keys are names of the user's own: `keys` says how many are still to come.
    stack = [(node, source, parent, 0)]
    while stack:
        target, source, parent, keys = stack.pop()
        take(1 + len(source.children) + len(target.children))
        taken = [] if keys else [word for word in target.children if word not in KEYWORDS]
        for child in source:
            word = child.word
            if word == "when" and not parent:
                continue
            below = parent if keys else inside(parent, word)
            left = keys - 1 if keys else _keys(parent, word)
            if is_wildcard(word):
                # A pattern is compiled, and compared with every name.
                take(len(word) + len(target.children))
                stack += [(there, child, below, left) for there in target if _takes(there, word, parent, group)]
                continue
            there = target.children.get(word)
            if there is None:
                if excluded(parent, target.word, word, taken):
                    continue
                there = target.children[word] = Node(word, child.line, child.flags)
                there.comment = child.comment
                if child.children:
                    added.append((target, there))
            elif there.has(EXCEPT, group) or (_is_value(there, parent) and not child.flags & (LIST | ENDS)):
                # What is configured wins.
                continue
            else:
                there.flags |= child.flags & (ENDS | LIST)
            if child.children:
                stack.append((there, child, below, left))
    for target, there in reversed(added):
        # Nothing matched the wildcards below it.
        if not there.children:
            del target.children[there.word]


def _takes(node: Node, wildcard: str, parent: str, group: str) -> bool:
    """Return whether a wildcard of a group speaks of a node."""
    if node.word in KEYWORDS or node.has(EXCEPT, group) or _is_value(node, parent):
        return False
    return fnmatchcase(node.word, wildcard[1:-1])


def _is_value(node: Node, parent: str) -> bool:
    """Return whether a word is a setting with its one value, not an entry or a block."""
    keys, form = form_of(parent, node.word)
    if keys or form not in (VALUE, "") or len(node.children) != 1 or node.flags & (LIST | ENDS):
        return False
    return not any(value.children for value in node)


def _drop(node: Node, word: str, names: list[str]) -> None:
    if not names:
        return
    listed = node.children[word].children
    for name in names:
        listed.pop(name, None)
    if not listed:
        del node.children[word]
