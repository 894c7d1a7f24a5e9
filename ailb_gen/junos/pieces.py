"""Texts that have blocks in common to trees: a block that many texts share is read once.

Thousands of ports and hundreds of switches are configured alike; what is left to read is what differs.
"""

from __future__ import annotations

import re

from ailb_gen.errors import JunosSyntaxError
from ailb_gen.junos.reader import is_set, read_curly
from ailb_gen.junos.tokens import oversize
from ailb_gen.junos.tree import ENDS, Node

# Statements that act elsewhere than where they stand, or not at all: such a text is read as a whole.
ELSEWHERE = ("groups", "interface-range", "inactive:", "delete:", "replace:")
HEADING = re.compile(r" *((?:[A-Za-z0-9_.:/-]+ )+)\{\n")
INDENT = "    "
# Blocks of fewer characters are not divided.
SMALL = 400


class _DividedError(Exception):
    """A text does not have the layout by which it is divided, or says the same thing in two places."""


class Pieces:
    """Reads texts laid out as Junos prints them, four spaces per level.

    Trees share nodes with each other, so nobody may change them; lines of nodes are not those of the text.
    """

    def __init__(self) -> None:
        self._known: dict[tuple[str, str], dict[str, Node]] = {}

    def read(self, text: str) -> Node | None:
        """Return the tree that `reader.read` returns, but for lines and comments; None if it must be asked instead.

        Where it would refuse the text the result is None, too. Every piece is complete in itself, or reading it
        fails: no string, comment or block goes on in the next one.
        """
        if is_set(text) or any(word in text for word in ELSEWHERE) or oversize(text):
            return None
        root = Node("")
        try:
            root.children = self._statements(text, (), "")
        except (JunosSyntaxError, _DividedError):
            return None
        return root

    def _statements(self, text: str, around: tuple[str, ...], above: str) -> dict[str, Node]:
        """Read what stands in a block; `around` are the headings of the blocks that lead there, `above` their text."""
        *blocks, rest = text.split(f"\n{INDENT * len(around)}}}\n")
        parts = [self._piece(block, around, above) for block in blocks]
        if rest and not rest.isspace():
            parts.append(_within(rest, around, above))
        found: dict[str, Node] = {}
        for part in parts:
            for word, node in part.items():
                found[word] = _merged(found[word], node) if word in found else node
        return found

    def _piece(self, text: str, around: tuple[str, ...], above: str) -> dict[str, Node]:
        """Read a block without its closing brace, and the statements in front of it."""
        known = self._known.get((above, text))
        if known is not None:
            return known
        heading = HEADING.match(text) if len(text) > SMALL else None
        end = f"\n{INDENT * len(around)}}}\n"
        if heading is None:
            found = _within(text + end, around, above)
        else:
            inside = self._statements(f"{text[heading.end() :]}\n", (*around, heading[1]), above + heading[0])
            *path, last = heading[1].split()
            node = Node(last, 1, ENDS)
            node.children = inside
            for word in reversed(path):
                outer = Node(word, 1)
                outer.children[node.word] = node
                node = outer
            found = {node.word: node}
        self._known[above, text] = found
        return found


def _within(text: str, around: tuple[str, ...], above: str) -> dict[str, Node]:
    """Read statements where they stand: what a word means can depend on the block around it."""
    root = read_curly(f"{above}{text}{'}' * len(around)}\n")
    node = root.get(*" ".join(around).split())
    if root.flags or node is None:
        raise _DividedError
    return node.children


def _merged(first: Node, second: Node) -> Node:
    """Return two nodes with the same word as one: statements that begin alike, such as the groups of BGP."""
    if first.flags or second.flags:
        raise _DividedError
    node = Node(first.word, first.line)
    node.children = dict(first.children)
    for word, child in second.children.items():
        node.children[word] = _merged(node.children[word], child) if word in node.children else child
    return node
