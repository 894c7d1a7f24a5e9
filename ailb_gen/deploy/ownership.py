"""The owned parts of a switch's configuration, and the target configuration computed from the running one.

The generated files hold what the fabric needs, not what makes a switch reachable. So a push never replaces the whole
configuration: users, root authentication and management stay. Below the paths of OWNED the switch is to hold exactly
what its file says; of everything else in the file, only that it is there.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from hashlib import sha256

from ailb_gen.errors import UsageError
from ailb_gen.junos.block_layout import lay_out
from ailb_gen.junos.diff import COMMUNITIES, diff
from ailb_gen.junos.edit import merge
from ailb_gen.junos.grammar import FIRST_COUNTS, step
from ailb_gen.junos.tree import FLAT, Node, copy
from ailb_gen.junos.writer import to_set
from ailb_gen.textio import character_name, odd_characters

Pattern = tuple[str, ...]

# Prefix lists are missing: those of the filters that protect a routing engine stand beside the fabric's policies.
OWNED: tuple[Pattern, ...] = (
    ("interfaces", "et-*"),
    ("interfaces", "irb"),
    ("vlans", "vn*"),
    ("forwarding-options", "enhanced-hash-key"),
    ("policy-options", "policy-statement"),
    ("policy-options", "community"),
    ("policy-options", "as-list"),
    ("class-of-service",),
    ("routing-options", "forwarding-table"),
    ("protocols", "router-advertisement"),
    ("protocols", "bgp"),
)


@dataclass(frozen=True, slots=True)
class Ownership:
    """Patterns of paths, word by word with `*` and `?`: what is owned, and what of it is left alone."""

    owned: tuple[Pattern, ...] = OWNED
    kept: tuple[Pattern, ...] = ()


def ownership(own: Iterable[str] = (), keep: Iterable[str] = ()) -> Ownership:
    """Make an Ownership of what the inventory adds, paths such as `interfaces et-0/0/63`. Raises UsageError."""
    return Ownership((*OWNED, *map(_pattern, own)), tuple(map(_pattern, keep)))


def _pattern(text: str) -> Pattern:
    odd = odd_characters(text)
    if odd:
        raise UsageError(f"{text!a}: {character_name(min(odd))} is not valid in a path; write a space")
    words = tuple(text.split())
    if not words or words[0] == "*":
        raise UsageError(f"{text!r} does not name a part of the configuration; write a path, 'interfaces et-0/0/63'")
    return words


def expected_configuration(running: Node, file: Node, rights: Ownership) -> Node:
    """Return the configuration that a switch is to have: what it has, with what its file says. Changes neither tree.

    Where both have a value for a statement that takes one, the file's counts. The result has nodes in common with the
    file.
    """
    source = copy(file) if file.flags & FLAT or rights.kept else file
    if source.flags & FLAT:
        lay_out(source)
    laid_out = running
    if running.flags & FLAT:
        lay_out(laid_out := copy(running))
    target = _without(laid_out, rights.owned)
    # The file says whether a statement is active.
    merge(target, source, marks=True, share=True)
    for pattern in rights.kept:
        _drop(target, pattern)
        _graft(target, running, pattern)
    _prune(target, running, source)
    return target


def commands(running: Node, target: Node) -> str:
    """Return the set and delete commands that make the target of what is running; empty for nothing to do."""
    return "".join(f"{change}\n" for change in diff(running, target))


def digest(change: str) -> str:
    """Return the digest of a change: the SHA-256 of its commands, secrets included, in hexadecimal."""
    return sha256(change.encode("utf-8", "backslashreplace")).hexdigest()


def fingerprint(tree: Node) -> str:
    """Return the digest of a configuration: SHA-256 over its statements, and over their order where it counts.

    Comments and grouping do not count.
    """
    lines = sorted(to_set(tree, comments=False).splitlines())
    text = "\n".join([*lines, *sorted(_orders(tree))])
    return sha256(text.encode("utf-8", "backslashreplace")).hexdigest()


def _orders(tree: Node) -> Iterator[str]:
    """Yield the order of the words behind each word for which it counts: what `diff` goes by."""
    path: list[str] = []
    stack = [(tree, 0)]
    while stack:
        node, depth = stack.pop()
        # One list for all: a path of its own for each would take the square of the depth.
        path[max(0, depth - 1) :] = [node.word] if depth else []
        # Nothing has an order that has less than two words behind it.
        stack += [(child, depth + 1) for child in node if child.children]
        if len(node.children) > 1 and (path[-2:] == COMMUNITIES or (node.word in FIRST_COUNTS and _is_keyword(path))):
            yield f"order  {' '.join(path)}: {list(node.children)}"


def _is_keyword(path: Sequence[str]) -> bool:
    """Return whether the last word of a path is a statement's, not the name of an entry or a value."""
    parent, keys, keyword = "", 0, True
    for word in path:
        keyword = not keys
        parent, keys = step(parent, keys, word)
    return keyword


def _without(root: Node, patterns: Iterable[Pattern]) -> Node:
    """Return a copy of a tree without what the patterns match, which is most of it."""
    result = _twin(root)
    stack = [(root, result, tuple(patterns))]
    while stack:
        source, target, globs = stack.pop()
        for child in source:
            below = tuple(rest for glob, *rest in globs if fnmatchcase(child.word, glob))
            if not below:
                target.children[child.word] = copy(child)
            elif all(below):
                twin = target.children[child.word] = _twin(child)
                stack.append((child, twin, tuple(map(tuple, below))))
    return result


def _drop(root: Node, pattern: Pattern) -> None:
    for path, parent, _ in matches(root, pattern):
        del parent.children[path[-1]]


def matches(root: Node, pattern: Pattern) -> list[tuple[Pattern, Node, Node]]:
    """Return the matches of a pattern: the path, the parent node, the node."""
    found: list[tuple[Pattern, Node, Node]] = [((), root, root)]
    for glob in pattern:
        found = [
            ((*path, child.word), node, child)
            for path, _, node in found
            for child in node
            if fnmatchcase(child.word, glob)
        ]
    return found


def _graft(target: Node, running: Node, pattern: Pattern) -> None:
    """Put back what a pattern matches in the running configuration."""
    stack: list[tuple[Node, Node, Pattern]] = [(target, running, pattern)]
    while stack:
        here, there, (glob, *rest) = stack.pop()
        for child in there:
            if not fnmatchcase(child.word, glob):
                continue
            if not rest:
                here.children[child.word] = copy(child)
                continue
            if child.word not in here.children:
                here.children[child.word] = _twin(child)
            stack.append((here.children[child.word], child, tuple(rest)))


def _twin(node: Node) -> Node:
    """Return a copy of a node without all below it."""
    twin = Node(node.word, node.line, node.flags)
    twin.comment = node.comment
    return twin


def _prune(target: Node, running: Node, file: Node) -> None:
    """Remove blocks that only removing what was in them has emptied; what the file has is meant, empty or not."""
    stack: list[tuple[Node, Node, Node | None]] = [(target, running, file)]
    order: list[tuple[Node, Node]] = []
    while stack:
        here, there, meant = stack.pop()
        for child in here:
            twin = there.children.get(child.word)
            in_file = meant.children.get(child.word) if meant is not None else None
            # What is the file's own is in the file, all of it.
            if twin is not None and twin.children and child is not in_file:
                if in_file is None:
                    order.append((here, child))
                stack.append((child, twin, in_file))
    for parent, child in reversed(order):
        if not child.children:
            del parent.children[child.word]
