"""A Junos configuration as a tree of words, the same for curly and set text.

Every word of a statement is a node: `family inet6 { mtu 9170; }` is family → inet6 → mtu → 9170. Statements that share
their first words share nodes, so that a configuration reads the same however it was grouped or repeated.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator
from typing import Protocol, TypeVar

from ailb_gen.junos.grammar import ONELINER_WORDS, one_line

T = TypeVar("T")
# Flags of a node.
ENDS = 1  # a statement ends here: in curly text, `;` or `{` stood behind this word
LIST = 2  # the values of this word were written, and are written, as `[ a b ]`
QUOTED = 4  # the word stood in quotes
INACTIVE = 8  # `inactive:`, `deactivate`
PROTECT = 16  # `protect:`
REPLACE = 32  # `replace:`
DELETE = 64  # `delete:`
TAGGED = INACTIVE | PROTECT | REPLACE | DELETE
# A root has the tags of all statements below it; besides:
FLAT = 128  # the tree comes from set text, where nothing tells which statements are blocks


class Node:
    """One word; `children` are the words behind it in the order of the text, `line` counts from 1 (0: the root)."""

    __slots__ = ("children", "comment", "flags", "line", "word")

    def __init__(self, word: str, line: int = 0, flags: int = 0) -> None:
        self.word = word
        self.line = line
        self.flags = flags
        self.children: dict[str, Node] = {}
        # Comments in front of the statement, as written; None is none.
        self.comment: list[str] | None = None

    def __iter__(self) -> Iterator[Node]:
        return iter(self.children.values())

    def get(self, *words: str) -> Node | None:
        """Return the node at a path below this one, or None."""
        node = self
        for word in words:
            child = node.children.get(word)
            if child is None:
                return None
            node = child
        return node

    def has(self, *words: str) -> bool:
        """Return whether a path exists below this node."""
        return self.get(*words) is not None

    def each(self, *words: str) -> Iterator[Node]:
        """Iterate over the nodes behind a path: the entries of a list, the values of a leaf-list."""
        node = self.get(*words)
        return iter(node.children.values() if node is not None else ())

    def values(self, *words: str) -> tuple[str, ...]:
        """Return the words behind a path, in order."""
        node = self.get(*words)
        return tuple(node.children) if node is not None else ()

    def value(self, *words: str) -> str | None:
        """Return the value behind a path, without attributes on its line; of several the last counts, as in Junos."""
        node = self.get(*words)
        if node is None:
            return None
        if node.word not in ONELINER_WORDS:
            return next(reversed(node.children), None)
        line = one_line((self.word, *words)[-2] if words else "", node.word)
        attributes = line[2] if line is not None and line[1] else ()
        return next((word for word in reversed(node.children) if word not in attributes), None)

    def below(self) -> Iterator[Node]:
        """Iterate over this node and everything below it, in no particular order."""
        stack = [self]
        while stack:
            node = stack.pop()
            yield node
            stack += node.children.values()

    def paths(self) -> Iterator[tuple[str, ...]]:
        """Iterate over the full word paths of all statements: of nodes without children, below this one."""
        path = [self.word] if self.line else []
        if not self.children:
            yield tuple(path)
            return
        stack = [iter(self.children.values())]
        while stack:
            for child in stack[-1]:
                path.append(child.word)
                if child.children:
                    stack.append(iter(child.children.values()))
                    break
                yield tuple(path)
                path.pop()
            else:
                stack.pop()
                if stack:
                    path.pop()


class Reuse(Protocol):
    """How to have what a function makes of a node, where trees share nodes."""

    def __call__(self, read: Callable[..., T], node: Node, *about: Hashable) -> T:
        """Return what `read(node, reuse, *about)` returns, from before if it was called with the same node."""
        ...


def anew(read: Callable[..., T], node: Node, *about: Hashable) -> T:
    """Call a function, whatever was read before: trees share nothing."""
    return read(node, anew, *about)


def copy(root: Node, done: bool = False) -> Node:
    """Return a copy of a tree; if `done`, as if the tags `delete:` and `replace:` had been carried out."""
    gone, cleared = (DELETE, REPLACE) if done else (0, 0)
    result = Node(root.word, root.line, root.flags & ~cleared)
    result.comment = root.comment
    stack = [(root.children, result.children)]
    while stack:
        source, target = stack.pop()
        for word, child in source.items():
            if not child.flags & gone:
                twin = target[word] = Node(child.word, child.line, child.flags & ~cleared)
                twin.comment = child.comment
                if child.children:
                    stack.append((child.children, twin.children))
    return result


def words_of(root: Node) -> set[str]:
    """Return all words below a node."""
    found: set[str] = set()
    stack = [root]
    while stack:
        children = stack.pop().children
        found.update(children)
        stack += [node for node in children.values() if node.children]
    return found
