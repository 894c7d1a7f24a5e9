"""Texts that are alike to trees: what differs from a text before in plain words only is copied from its tree.

One leaf differs from the next by names and numbers. A tree that is made so shares with the other one every node below
which nothing differs, and nobody may change either.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from itertools import compress, count
from operator import ne
from typing import TypeVar

from ailb_gen.junos.capture import format_fault, line_fault, second_device, second_heading
from ailb_gen.junos.commands import COMMANDS, REFUSED
from ailb_gen.junos.grammar import KEYWORDS
from ailb_gen.junos.line_layout import LineLayout, line_layout, words_of
from ailb_gen.junos.reader import read_whole, stands_alone
from ailb_gen.junos.tokens import MAX_DIGITS, TAGS, oversize
from ailb_gen.junos.tree import FLAT, Node

T = TypeVar("T")
# Texts whose trees are kept to compare others with.
MOST = 4
# Of more lines that differ, the ordinary reader is as fast.
SHARE = 2
# Words with a meaning to the readers, in some place or other.
MEANING = KEYWORDS | TAGS.keys() | COMMANDS | REFUSED
PLAIN = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_.:/-"
AROUND = b' \n;{"'
COMMENT = re.compile(r" *#[\w .,:/#=-]*", re.ASCII)


class Reference:
    """A text that was read, its tree, and what was made of its nodes; `once` says how to have that."""

    __slots__ = ("__weakref__", "_chains", "_layout", "lines", "root")

    def __init__(self, lines: list[str], root: Node) -> None:
        self.lines, self.root = lines, root
        self._layout: LineLayout | None = None
        # The words and nodes of statements that differed in another text, by line.
        self._chains: dict[int, tuple[list[str], list[Node]]] = {}

    def holds(self, node: Node) -> bool:
        """Return whether a node is one of this text's; before another text is compared with it, all are."""
        return self._layout is None or id(node) in self._layout.parents

    def once(self, read: Callable[[Node], T]) -> Callable[[Node], T]:
        """Return a function that calls `read` once for each node of this text, and as often as asked for others."""
        known: dict[int, T] = {}

        def look(node: Node) -> T:
            key = id(node)
            if key in known:
                return known[key]
            made = read(node)
            if self.holds(node):
                known[key] = made
            return made

        return look

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
        if len(changed) * SHARE > len(lines) or self._layout is None:
            return None
        statements = [at for at in changed if self._layout.blocks[at] is not None]
        if not _same_shape([self.lines[at] for at in statements], [lines[at] for at in statements]):
            return None
        names = self._names(statements, lines)
        if names is None:
            return None
        copies = _Copies(self.root, self._layout.parents)
        if len(statements) < len(changed):
            for at in set(changed).difference(statements):
                if not self._comment(self.lines[at], lines[at], copies):
                    return None
        return copies.root if copies.rename(names) else None

    def _names(self, changed: list[int], lines: list[str]) -> dict[int, tuple[Node, str]] | None:
        """Return the new words by the id of the node that has the old one; None where lines disagree."""
        layout = self._layout
        if layout is None:
            return None
        names: dict[int, tuple[Node, str]] = {}
        votes: dict[int, int] = {}
        is_set = bool(self.root.flags & FLAT)
        for at in changed:
            line = lines[at]
            words = words_of(line, is_set) if '"' in line or is_set else _plain(line)
            old, nodes = self._chains.get(at) or self._chain(at, layout.blocks[at], is_set)
            if not words or len(words) != len(old) or line[-1] != self.lines[at][-1]:
                return None
            if '"' in line and line_fault(line, 0):
                return None
            for node, before, word in zip(nodes, old, words, strict=True):
                if before == word:
                    continue
                key = id(node)
                if key in names:
                    if names[key][1] != word:
                        return None
                    votes[key] += 1
                elif _may_be(word, before):
                    names[key] = node, word
                    votes[key] = 1
                else:
                    return None
        # What a line that is the same names, too, is something else now.
        return names if all(layout.uses[key] == number for key, number in votes.items()) else None

    def _chain(self, at: int, block: Node | None, is_set: bool) -> tuple[list[str], list[Node]]:
        """Return the words of a line and their nodes."""
        words = words_of(self.lines[at], is_set) or []
        nodes = []
        for word in words:
            block = block.children[word] if block is not None else None
            if block is not None:
                nodes.append(block)
        self._chains[at] = words, nodes
        return words, nodes

    def _comment(self, old: str, new: str, copies: _Copies) -> bool:
        """Replace a comment that is alone on its line; return whether that is all there is to do."""
        if not (COMMENT.fullmatch(old) and COMMENT.fullmatch(new)) or self._layout is None:
            return False
        before, after = old.lstrip(" "), new.lstrip(" ")
        node = self._layout.noted.get(before)
        if node is None:
            return False
        twin = copies.of(node)
        twin.comment = [after if text == before else text for text in twin.comment or ()]
        return True


class AlikeReader:
    """Reads configurations of whole devices as `read_whole` does, many of which are alike.

    Trees share nodes with each other, so nobody may change them.
    """

    __slots__ = ("_references",)

    def __init__(self) -> None:
        # The one that served last is in front.
        self._references: list[Reference] = []

    def read(self, text: str, file: str) -> tuple[Node, Reference]:
        """Return the tree of a text, and the text that it shares nodes with: itself or another. Raises JunosSyntaxError."""
        lines = text.split("\n")
        for reference in self._alike(lines):
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


class _Copies:
    """Copies of nodes of a tree up to a root of their own; what is not copied, both trees have."""

    __slots__ = ("_made", "_parents", "root")

    def __init__(self, root: Node, parents: dict[int, Node]) -> None:
        self._parents = parents
        self.root = _twin(root)
        self._made = {id(root): self.root}

    def of(self, node: Node) -> Node:
        """Return the copy of a node, which is in that of its parent."""
        made, parents = self._made, self._parents
        found = made.get(id(node))
        if found is not None:
            return found
        result = twin = made[id(node)] = _twin(node)
        while True:
            around = parents[id(node)]
            above = made.get(id(around))
            if above is not None:
                above.children[node.word] = twin
                return result
            above = made[id(around)] = _twin(around)
            above.children[node.word] = twin
            node, twin = around, above

    def rename(self, names: dict[int, tuple[Node, str]]) -> bool:
        """Give nodes other words; return whether no two beside each other have the same then."""
        around: dict[int, Node] = {}
        for key, (node, word) in names.items():
            self.of(node).word = word
            parent = self._parents[key]
            around[id(parent)] = self._made[id(parent)]
        for one in around.values():
            number = len(one.children)
            one.children = {child.word: child for child in one.children.values()}
            if len(one.children) != number:
                return False
        return True


def _twin(node: Node) -> Node:
    twin = Node(node.word, node.line, node.flags)
    if node.children:
        twin.children = node.children.copy()
    twin.comment = node.comment
    return twin


def _same_shape(old: list[str], new: list[str]) -> bool:
    """Return whether lines differ in plain words only, as far as their other characters tell."""
    before, after = ("\n".join(lines).encode("ascii", "replace").translate(None, PLAIN) for lines in (old, new))
    return before == after and not after.translate(None, AROUND)


def _plain(line: str) -> list[str]:
    return line[:-1].split()


def _may_be(word: str, before: str) -> bool:
    """Return whether a word can stand for another one: neither means anything to the readers."""
    if not word or word in MEANING or before in MEANING:
        return False
    return word[-1] != ":" and word[0] != "-" and len(word) <= MAX_DIGITS


def _is_regular(text: str, root: Node) -> bool:
    """Return whether others can be compared with a text: nothing stands around it, and nothing in it has tags."""
    return not root.flags & ~FLAT and text.isascii() and "\r" not in text and stands_alone(text)


def _is_whole(root: Node, text: str, file: str) -> bool:
    """Return whether the ordinary reader takes a text whose lines it takes."""
    if oversize(text) or format_fault(text, 0) or line_fault(text, 0):
        return False
    return not second_device(root, text, bool(root.flags & FLAT)) and not second_heading(root, text, file)
