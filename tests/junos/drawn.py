"""Random configurations."""

from hypothesis import strategies as st

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
