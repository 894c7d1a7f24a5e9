"""Texts that are alike to trees: what differs from a text before in plain words only is copied from its tree.

One leaf differs from the next by names and numbers. A tree that is made so shares with the other one every node below
which nothing differs, and nobody may change either.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator
from itertools import compress, count
from operator import ne
from typing import Any, TypeVar

from ailb_gen.garbage import no_garbage_collection
from ailb_gen.junos.capture import format_fault, line_fault, second_device, second_heading
from ailb_gen.junos.line_layout import LineLayout, line_layout
from ailb_gen.junos.reader import read_whole, stands_alone
from ailb_gen.junos.substitution import Substitution, substitution
from ailb_gen.junos.tokens import oversize
from ailb_gen.junos.tree import FLAT, Node

T = TypeVar("T")
# Texts whose trees are kept to compare others with.
MOST = 8


class Reference:
    """A text that was read, its tree, and what was made of its nodes."""

    __slots__ = ("_layout", "_made", "_substitutions", "lines", "root")

    def __init__(self, lines: list[str], root: Node) -> None:
        self.lines, self.root = lines, root
        self._layout: LineLayout | None = None
        # By the lines that differ.
        self._substitutions: dict[tuple[int, ...], Substitution] = {}
        # By function, id of the node, and what else the function was given.
        self._made: dict[tuple[Hashable, ...], Any] = {}

    def reuse(self, read: Callable[..., T], node: Node, *about: Hashable) -> T:
        """Be a Reuse for this text and for those that share nodes with it."""
        key = (read, id(node), *about)
        if key in self._made:
            found: T = self._made[key]
            return found
        made = read(node, self.reuse, *about)
        # Before another text is compared with this one, there are no other nodes. Those of others do not come again.
        if self._layout is None or id(node) in self._layout.parents:
            self._made[key] = made
        return made

    def lay_out(self) -> bool:
        """Find where the lines are in the tree; return whether each has a place there."""
        if self._layout is None:
            self._layout = line_layout(self.lines, self.root)
        return self._layout is not None

    def adapted(self, lines: list[str]) -> Node | None:
        """Return the tree of another text of as many lines; None if it differs in more than plain words."""
        changed = list(compress(count(), map(ne, self.lines, lines)))
        if not changed:
            return self.root
        if self._layout is None:
            return None
        key = tuple(changed)
        known = self._substitutions.get(key)
        root = known.carried_out(self.root, self.lines, lines) if known is not None else None
        if root is not None:
            return root
        found = substitution(self._layout, self.root, self.lines, lines, changed)
        if found is None:
            return None
        if len(self._substitutions) >= MOST:
            self._substitutions.clear()
        self._substitutions[key] = found
        return found.carried_out(self.root, self.lines, lines)


class AlikeReader:
    """Reads configurations of whole devices as `read_whole` does, many of which are alike.

    Trees share nodes with each other, so nobody may change them.
    """

    __slots__ = ("_references",)

    def __init__(self) -> None:
        # The one that served last is in front.
        self._references: list[Reference] = []

    def read(self, text: str, file: str) -> tuple[Node, Reference]:
        """Return the tree of a text, and the text that it shares nodes with, which may be itself.

        Raises JunosSyntaxError.
        """
        lines = text.split("\n")
        for reference in self._alike(lines):
            with no_garbage_collection():
                root = reference.adapted(lines)
            if root is not None and _is_whole(root, text, file):
                self._references.remove(reference)
                self._references.insert(0, reference)
                return root, reference
        root = read_whole(text, file)
        made = Reference(lines, root)
        if _is_regular(text, root):
            self._references = [made, *self._references[: MOST - 1]]
        return root, made

    def _alike(self, lines: list[str]) -> Iterator[Reference]:
        """Yield the texts of as many lines; those that others cannot be compared with are dropped."""
        for reference in [one for one in self._references if len(one.lines) == len(lines)]:
            if reference.lay_out():
                yield reference
            else:
                self._references.remove(reference)


def _is_regular(text: str, root: Node) -> bool:
    """Return whether others can be compared with a text: nothing stands around it, and nothing in it has tags."""
    return not root.flags & ~FLAT and text.isascii() and "\r" not in text and stands_alone(text)


def _is_whole(root: Node, text: str, file: str) -> bool:
    """Return whether the ordinary reader takes a text whose lines it takes."""
    if oversize(text) or format_fault(text, 0) or line_fault(text, 0):
        return False
    return not second_device(root, text, bool(root.flags & FLAT)) and not second_heading(root, text, file)
