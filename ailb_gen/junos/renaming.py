"""Renaming, copying and replacing what is in a configuration: `rename`, `copy` and `replace pattern`.

Source: Juniper, CLI User Guide, "Rename an Identifier", "Copy a Statement", "Use Global Replace in a Configuration".
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Sequence
from typing import TYPE_CHECKING

from ailb_gen.junos.grammar import FORMS, PLUS, VALUE, VALUES, form_of, inside
from ailb_gen.junos.regex import regex
from ailb_gen.junos.tree import ENDS, Node, copy

if TYPE_CHECKING:
    import re2

NOT_FOUND, EXISTS = "statement not found", "statement already exists"
REFERENCE = re.compile(r"\\([0-9])")


def statement_ends(path: Sequence[str]) -> list[int]:
    """Return how many words of a path end a statement: `unit 0` is one."""
    ends, parent, at = [], "", 0
    while at < len(path):
        keys, _ = form_of(parent, path[at])
        parent = inside(parent, path[at])
        at += 1 + keys
        ends.append(min(at, len(path)))
    return ends


def rename(root: Node, words: Sequence[str]) -> None:
    """Rename an entry in place: `PATH unit 0 to unit 1`. Raises ValueError."""
    source, target = _places(root, words)
    around = root.get(*source[:-1])
    if around is None or source[:-1] != target[:-1]:
        copy_entry(root, words)
        _remove(root, source)
        return
    around.children = {
        target[-1] if word == source[-1] else word: _named(child, target[-1]) if word == source[-1] else child
        for word, child in around.children.items()
    }


def copy_entry(root: Node, words: Sequence[str]) -> None:
    """Copy an entry to another name, behind the others: `PATH unit 0 to unit 1`. Raises ValueError."""
    source, target = _places(root, words)
    found = root.get(*source)
    around = root
    for depth, word in enumerate(target[:-1]):
        like = root.get(*source[: depth + 1])
        around = around.children.setdefault(word, Node(word, like.line if like else 0, like.flags if like else 0))
    if found is not None:
        around.children[target[-1]] = _named(copy(found), target[-1])


def _remove(root: Node, path: list[str]) -> None:
    """Take an entry out, and its first keys if nothing else has them."""
    keys = _last_statement(path)
    for depth in range(len(path), len(path) - len(keys) + 1, -1):
        around = root.get(*path[: depth - 1])
        if around is None:
            return
        del around.children[path[depth - 1]]
        if around.children:
            return


def _named(node: Node, word: str) -> Node:
    node.word = word
    return node


def _last_statement(path: Sequence[str]) -> list[str]:
    ends = [0, *statement_ends(path)]
    return list(path[ends[-2] :])


def _places(root: Node, words: Sequence[str]) -> tuple[list[str], list[str]]:
    """Return the paths of an entry and of what it becomes. Raises ValueError."""
    at = len(words) - 1 - list(reversed(words)).index("to") if "to" in words else 0
    source, new = list(words[:at]), list(words[at + 1 :])
    if not source or not new:
        raise ValueError("syntax error, expecting 'STATEMENT to STATEMENT'")
    last = _last_statement(source)
    if len(last) == 1 and len(new) == 2 and source[-2:-1] == new[:1] and not _around(source)[1]:
        # A list that the grammar does not know: its keyword is written again.
        last = source[-2:]
    if len(new) != len(last) or (len(last) > 1 and new[0] != last[0]):
        raise ValueError(f"syntax error, expecting 'to {' '.join([*last[:-1], 'NAME'])}'")
    if len(last) == 1 and not _is_name(source):
        raise ValueError(f"syntax error, {last[0]!r} is not an identifier")
    target = [*source[: -len(last)], *new]
    if not root.has(*source):
        raise ValueError(NOT_FOUND)
    if root.has(*target):
        raise ValueError(EXISTS)
    return source, target


def _is_name(path: Sequence[str]) -> bool:
    """Return whether the last word of a path, which is a statement of its own, is a name that the user gave."""
    parent, form = _around(path)
    known = path[-1] in FORMS or f"{parent}/{path[-1]}" in FORMS
    return form not in (VALUE, VALUES) and not known


def _around(path: Sequence[str]) -> tuple[str, str]:
    """Return as what the grammar knows the block around the last word of a path, and the form of the word before it."""
    parent, form = "", ""
    for word in path[:-1]:
        form = form_of(parent, word)[1]
        parent = inside(parent, word)
    return parent, form


def replace_pattern(root: Node, path: Sequence[str], pattern: str, by: str, most: int = 0) -> int:
    r"""Replace a pattern in the names and values below a path, in place, at most so often; 0 is always.

    What is nearer to the top comes first; `\1` in `by` is the first group of the pattern. Returns how many were
    replaced. Raises ValueError.
    """
    try:
        expression = regex(pattern)
    except ValueError as error:
        raise ValueError(f"syntax error, not a regular expression: {error}") from error
    start = root.get(*path)
    if start is None:
        raise ValueError(NOT_FOUND)
    parent, form = _around([*path, ""])
    done = 0
    # A node, what the grammar knows around it, the keys still to come, and the form of its statement.
    queue = deque([(start, parent, 0, form)])
    while queue:
        node, parent, keys, form = queue.popleft()
        children: dict[str, Node] = {}
        for child in node:
            below = _below(child, node, parent, keys, form)
            if below[0] and (not most or done < most):
                word = expression.sub(lambda found: _filled(found, by), child.word)
                done += word != child.word
                child.word = word
            if not child.word or child.word in children:
                raise ValueError(f"{EXISTS}: {child.word}" if child.word else "syntax error, nothing is left of a name")
            children[child.word] = child
            queue.append((child, *below[1:]))
        node.children = children
    return done


def _filled(found: re2._Match[str], by: str) -> str:
    """Return what replaces a match. Raises ValueError for a group that the pattern does not have."""
    try:
        return REFERENCE.sub(lambda one: found[int(one[1])] or "", by)
    except IndexError as error:
        raise ValueError(f"syntax error, the pattern has no group as in {by!r}") from error


def _below(child: Node, node: Node, parent: str, keys: int, form: str) -> tuple[bool, str, int, str]:
    """Return whether a word is a name or a value, and what the grammar knows behind it: block, keys to come, form."""
    if keys:
        return True, parent, keys - 1, form
    if form in (VALUE, VALUES):
        return True, parent, 0, form
    behind, own = form_of(parent, child.word)
    known = child.word in FORMS or f"{parent}/{child.word}" in FORMS
    name = not known and (
        f"{parent}/*" in FORMS
        or node.word == "groups"
        or (not child.children and form != PLUS and not node.flags & ENDS and bool(node.word))
    )
    return name, inside(parent, child.word), behind, own
