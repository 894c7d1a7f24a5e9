"""Curly and set text to a tree."""

from ailb_gen.intent.junos_text import statements
from ailb_gen.junos.tree import ENDS, Node


def read(text: str, file: str = "") -> Node:
    """Read curly or set text."""
    root = Node("")
    for words in statements(text):
        node = root
        for word in words:
            child = node.children.get(word)
            if child is None:
                child = node.children[word] = Node(word.strip('"'), 1)
            node = child
        node.flags |= ENDS
    return root
