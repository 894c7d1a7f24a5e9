"""What `load-configuration` makes of the candidate: trees merged, replaced, overridden, or changed by set commands.

Source: Juniper, "Junos XML Management Protocol Developer Guide", `<load-configuration>`; CLI User Guide, "Load
Configuration Files". A load with an error changes nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from ailb_gen.errors import JunosSyntaxError
from ailb_gen.junos.grammar import BLOCK, PREFIX, VALUE, form_of, inside, one_line
from ailb_gen.junos.groups import copy
from ailb_gen.junos.shape import shape
from ailb_gen.junos.tree import DELETE, ENDS, FLAT, INACTIVE, LIST, PROTECT, QUOTED, REPLACE, Node
from ailb_gen.junos.words import TOKEN, Words, bad, put, unquote, wrong
from ailb_gen.junos.writer import MARK

if TYPE_CHECKING:
    from collections.abc import Iterator

Action = Literal["merge", "replace", "override", "update"]
ACTIONS: tuple[Action, ...] = ("merge", "replace", "override", "update")
NOT_FOUND = "statement not found"
# No configuration is deeper; walking one that is would exhaust the stack.
MAX_DEPTH = 100
# Statements whose value Junos shows only to those who may see secrets, and marks.
SECRETS = frozenset(
    {
        *("authentication-key", "authentication-password", "encrypted-password", "plain-text-password"),
        *("privacy-password", "secret", "simple-password", "ssh-dsa", "ssh-ecdsa", "ssh-ed25519", "ssh-rsa"),
    }
)
FLAGS = {
    "deactivate": (INACTIVE, 0),
    "activate": (0, INACTIVE),
    "protect": (PROTECT, 0),
    "unprotect": (0, PROTECT),
}


def load(candidate: Node, loaded: Node, action: Action) -> Node:
    """Return the candidate after a load of curly text or XML; neither tree is changed.

    `replace` takes whole what is tagged `replace:`; what is tagged `delete:` goes, unless everything is new anyway.
    Raises JunosSyntaxError for a tree that is too deep.
    """
    if loaded.flags & FLAT:
        shape(loaded)
    if action in ("override", "update"):
        return normal(_kept(loaded))
    result = copy(candidate)
    _merge(result, loaded, "", action == "replace")
    result.flags |= loaded.flags & (INACTIVE | PROTECT)
    return normal(result)


def load_set(candidate: Node, text: str) -> tuple[Node, list[str]]:
    """Return the candidate after a list of set commands, and warnings (`statement not found`). Raises JunosSyntaxError.

    Knows set, delete, activate, deactivate, protect, unprotect, annotate, insert, edit, up, top and exit.
    """
    result = copy(candidate)
    warnings: list[str] = []
    level: Words = []
    for verb, words, offset, line in _commands(text):
        try:
            level = _run(result, verb, words, level, line, warnings)
        except ValueError as error:
            raise wrong("", text, offset, str(error)) from error
    return normal(result), warnings


def normal(root: Node) -> Node:
    """Drop what a device does not keep, in place: `#` comments, tags that are done. Marks secrets.

    Raises JunosSyntaxError for a tree deeper than MAX_DEPTH.
    """
    inherited = INACTIVE | PROTECT
    root.flags &= inherited
    root.comment = None
    stack = [(root, 0)]
    while stack:
        node, depth = stack.pop()
        if depth > MAX_DEPTH:
            raise JunosSyntaxError("", node.line, 1, f"statements more than {MAX_DEPTH} words deep")
        for child in node:
            child.flags &= ~(REPLACE | DELETE)
            if child.comment is not None:
                child.comment = [text for text in child.comment if text[0] != "#"] or None
            if child.word in SECRETS and child.children:
                child.comment = [*(child.comment or ()), MARK]
                for value in child:
                    value.flags |= QUOTED
            stack.append((child, depth + 1))
    return root


def _kept(root: Node) -> Node:
    """Return a copy of a tree without what is tagged to be deleted."""
    result = copy(root)
    if root.flags & DELETE:
        stack = [result]
        while stack:
            node = stack.pop()
            for child in list(node):
                if child.flags & DELETE:
                    del node.children[child.word]
                else:
                    stack.append(child)
    return result


def _merge(target: Node, source: Node, parent: str, replace: bool) -> None:
    """Merge the statements of a block; `parent` is as what the grammar knows it."""
    for child in source:
        keys, form = form_of(parent, child.word)
        _statement(target, child, keys, form, inside(parent, child.word), replace)


def _statement(block: Node, child: Node, keys: int, form: str, below: str, replace: bool) -> None:
    """Merge one statement, or one key of it; `keys` are those still behind its word."""
    if child.flags & DELETE:
        block.children.pop(child.word, None)
        return
    there = block.children.get(child.word)
    if there is None or (replace and child.flags & REPLACE):
        block.children[child.word] = _kept(child)
        return
    there.flags |= child.flags & (ENDS | LIST | QUOTED | INACTIVE | PROTECT)
    there.comment = child.comment or there.comment
    if keys:
        for entry in child:
            _statement(there, entry, keys - 1, BLOCK, below, replace)
        return
    if _one_value(there, child, form):
        there.children.clear()
    else:
        line = one_line(block.word, child.word)
        if line is not None and line[1]:
            _replace_lead(there, child, line[2])
    _merge(there, child, below, replace)


def _one_value(old: Node, new: Node, form: str) -> bool:
    """Tell whether two statements set the one value of the same word."""
    if form not in (VALUE, "") or (old.flags | new.flags) & LIST:
        return False
    return all(len(node.children) == 1 and not any(child.children for child in node) for node in (old, new))


def _replace_lead(old: Node, new: Node, attributes: dict[str, int]) -> None:
    """Put the value in front of the attributes of a one-line statement in the place of another one."""
    lead = next((child for child in new if child.word not in attributes), None)
    if lead is not None:
        rest = {word: child for word, child in old.children.items() if word in attributes}
        old.children = {lead.word: _kept(lead), **rest}


def _commands(text: str) -> Iterator[tuple[str, Words, int, int]]:
    """Iterate over the commands of a set text: verb, words as written, offset, line."""
    words: Words = []
    values: list[str] | None = None
    first = line = 1
    offset = 0
    for found in TOKEN.finditer(text):
        kind, token, start = found.lastgroup, found[0], found.start()
        if kind == "bad":
            raise bad("", text, start)
        if kind == "space" and "\n" in token:
            if values is not None:
                raise wrong("", text, offset, "a list is not closed at the end of the line")
            if words:
                yield str(words[0]), words[1:], offset, first
            words = []
        elif kind == "mark":
            values = _bracket(token, words, values, text, start)
        elif kind in ("word", "string"):
            if not words:
                first, offset = line, start
            (words if values is None else values).append(token)
        line += token.count("\n")
    if values is not None:
        raise wrong("", text, offset, "a list is not closed at the end of the line")
    if words:
        yield str(words[0]), words[1:], offset, first


def _bracket(mark: str, words: Words, values: list[str] | None, text: str, start: int) -> list[str] | None:
    """Take a bracket of a set line; return the list that is open then."""
    if mark == "[" and values is None and len(words) > 1:
        return []
    if mark == "]" and values:
        words.append(values)
        return None
    raise wrong("", text, start, f"{mark!r} cannot stand here in a set line")


def _run(root: Node, verb: str, words: Words, level: Words, line: int, warnings: list[str]) -> Words:
    """Carry out one command; return the level that is edited then. Raises ValueError."""
    if verb in ("top", "up", "exit"):
        return [] if verb == "top" else level[:-1]
    if verb not in {"set", "delete", "annotate", "insert", "edit", *FLAGS}:
        raise ValueError(f"syntax error, {verb[:40]!r} is not a command that can be loaded")
    if not words and (verb != "delete" or not level):
        raise ValueError(f"syntax error, nothing behind {verb!r}")
    path = [*level, *words]
    if verb == "edit":
        return path
    if verb == "set":
        small = Node("", 0, FLAT)
        put(small, path, line)
        shape(small)
        _merge(root, small, "", False)
    elif verb == "insert":
        _insert(root, _plain(path))
    elif not _change(root, verb, path):
        warnings.append(NOT_FOUND)
    return level


def _plain(words: Words) -> list[str]:
    """Return words without quotes. Raises ValueError for a list."""
    if any(isinstance(word, list) for word in words):
        raise ValueError("syntax error, a list cannot stand here")
    return [unquote(word) if word[0] == '"' else word for word in words if isinstance(word, str)]


def _change(root: Node, verb: str, path: Words) -> bool:
    """Delete, annotate or mark a statement; tell whether it is there."""
    words = _plain(path)
    note = words.pop() if verb == "annotate" else ""
    node = root.get(*words)
    if node is None or not words:
        return False
    if verb == "delete":
        _delete(root, words)
    elif verb == "annotate":
        if "*/" in note:
            raise ValueError("syntax error, a comment cannot hold '*/'")
        node.comment = [f"/* {note} */"] if note else None
    else:
        on, off = FLAGS[verb]
        node.flags = (node.flags | on) & ~off
        root.flags |= on
    return True


def _delete(root: Node, words: list[str]) -> None:
    """Take a statement out, and the words around it that then stand for nothing."""
    way = [root]
    for word in words:
        way.append(way[-1].children[word])
    del way[-2].children[words[-1]]
    for depth in range(len(words) - 1, 0, -1):
        node = way[depth]
        if node.children or (node.flags & ENDS and not _vanishes(words[:depth])):
            return
        del way[depth - 1].children[node.word]


def _vanishes(words: list[str]) -> bool:
    """Tell whether an empty block means nothing: a container of the hierarchy, no entry, no family."""
    if len(words) > 1 and words[-2] == PREFIX:
        return False
    return form_of(words[-2] if len(words) > 1 else "", words[-1]) == (0, BLOCK)


def _insert(root: Node, words: list[str]) -> None:
    """Put an entry before or after another one. Raises ValueError."""
    at = next((at for at, word in enumerate(words) if word in ("before", "after") and at), 0)
    around = root.get(*words[: at - 1]) if at else None
    if (
        around is None
        or words[at - 1] not in around.children
        or words[-1] not in around.children
        or not words[at + 1 :]
    ):
        raise ValueError(f"{NOT_FOUND}: insert takes an entry, 'before' or 'after', and another entry beside it")
    moved, other = words[at - 1], words[-1]
    order = [word for word in around.children if word != moved]
    if moved != other:
        order.insert(order.index(other) + (words[at] == "after"), moved)
        around.children = {word: around.children[word] for word in order}
