"""Place braces in the tree of a set text, which has none: mark the nodes at which `{` would stand."""

from __future__ import annotations

from collections.abc import Iterator

from ailb_gen.junos.grammar import BLOCK, LINE, PLUS, PREFIX, VALUE, VALUES, form_of, inside
from ailb_gen.junos.tree import ENDS, FLAT, LIST, TAGGED, Node


def lay_out(root: Node) -> None:
    """Mark in place where statements end and which words take a list, as curly text would have it.

    The tables of the grammar decide; a word that they do not know is a value if it is alone, else a block.
    """
    root.flags &= ~FLAT
    stack = [(root, "")]
    while stack:
        block, parent = stack.pop()
        for child in block:
            keys, form = form_of(parent, child.word)
            for entry in _entries(child, keys):
                if not entry.children:
                    continue
                if child.word != PREFIX and any(behind.flags & TAGGED for behind in entry):
                    # On one line, the tag would be that of the whole.
                    entry.flags |= ENDS
                elif form == VALUES and not _deep(entry):
                    entry.flags |= LIST if len(entry.children) > 1 else 0
                elif not _inline(entry, child.word, form):
                    entry.flags |= ENDS
                if entry.flags & ENDS and block.flags & TAGGED:
                    # Braces further on would take the tag with them.
                    block.flags |= ENDS
                # The entries of a block have names of their own: what they hold goes by the word of the block.
                stack.append((entry, inside(parent, child.word)))


def _entries(node: Node, keys: int) -> Iterator[Node]:
    """Iterate over the nodes `keys` words below a node, or where the words end before.

    A tag on one in between needs a brace behind it: on one line, it would be that of the entry.
    """
    if not keys or not node.children:
        yield node
        return
    if node.flags & TAGGED:
        node.flags |= ENDS
    for child in node:
        yield from _entries(child, keys - 1)


def _deep(node: Node) -> bool:
    """Return whether anything stands behind the words behind a node."""
    return any(child.children for child in node)


def _inline(node: Node, word: str, form: str) -> bool:
    """Return whether the text after a node belongs on its line."""
    if node.flags & LIST or form in (LINE, VALUE):
        return True
    if form == BLOCK or len(node.children) > 1:
        return False
    (child,) = node
    if form == PLUS:
        if any(text.startswith("/*") for text in child.comment or ()):
            return False
        keys, inner = form_of(word, child.word)
        return not child.children or (keys == 0 and inner in ("", VALUE, VALUES) and not _deep(child))
    return not child.children
