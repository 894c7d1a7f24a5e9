"""Random configurations."""

from collections.abc import Container

from hypothesis import strategies as st

from ailb_gen.junos.edit import lead_attributes
from ailb_gen.junos.tree import ENDS, INACTIVE, PROTECT, Node


@st.composite
def trees(draw: st.DrawFn, words: st.SearchStrategy[str], longest: int = 6, tagged: bool = False) -> Node:
    """Draw a tree of at most 8 statements of `longest` words; if `tagged`, some are `inactive:` or `protect:`."""
    root = Node("")
    for path in draw(st.lists(st.lists(words, min_size=1, max_size=longest), max_size=8)):
        node = root
        for word in path:
            node = node.children.setdefault(word, Node(word, 1))
            node.flags |= ENDS * draw(st.booleans())
            if tagged and draw(st.integers(0, 12)) == 0:
                node.flags |= draw(st.sampled_from([INACTIVE, PROTECT]))
                root.flags |= node.flags & (INACTIVE | PROTECT)
        node.flags |= ENDS
    return root


def every(root: Node) -> list[Node]:
    """Return all nodes."""
    found = [root]
    for node in found:
        found += node
    return found


def possible(root: Node) -> bool:
    """Return whether a device can show it: a one-line statement has a single value, with its attributes beside it."""
    pairs = ((child, lead_attributes(node.word, child.word)) for node in every(root) for child in node)
    return all(attributes is None or _is_one_line(child, attributes) for child, attributes in pairs)


def _is_one_line(statement: Node, attributes: Container[str]) -> bool:
    values = [value for value in statement if value.word not in attributes]
    # Below its value, an attribute would be read as one of the statement.
    return sum(not value.children for value in values) <= 1 and not any(
        below.word in attributes for value in values for below in value
    )
