"""Loads into a tree: merge, replace, override, and set commands.

Source: Juniper, "Junos XML Management Protocol Developer Guide", `<load-configuration>`; CLI User Guide, "Load
Configuration Files". A load with an error changes nothing.
"""

from __future__ import annotations

from typing import Literal

from ailb_gen.errors import JunosSyntaxError
from ailb_gen.junos.edit import apply, merge
from ailb_gen.junos.grammar import VALUE, form_of, inside
from ailb_gen.junos.tree import DELETE, INACTIVE, PROTECT, QUOTED, REPLACE, Node, copy
from ailb_gen.junos.writer import MARK

Action = Literal["merge", "replace", "override", "update"]
ACTIONS: tuple[Action, ...] = ("merge", "replace", "override", "update")
# No configuration is deeper; walking one that is would exhaust the stack.
MAX_DEPTH = 100
# Statements whose value Junos shows only to those who may see secrets, and marks.
SECRETS = frozenset(
    {
        *("authentication-key", "authentication-password", "encrypted-password", "plain-text-password"),
        *("privacy-password", "secret", "simple-password", "ssh-dsa", "ssh-ecdsa", "ssh-ed25519", "ssh-rsa"),
    }
)


def load(candidate: Node, loaded: Node, action: Action) -> Node:
    """Return the candidate after a load of curly text or XML; neither tree is changed.

    `replace` takes statements tagged `replace:` whole; those tagged `delete:` go, unless everything is new anyway.
    Raises JunosSyntaxError for a tree that is too deep.
    """
    result = Node("") if action in ("override", "update") else copy(candidate)
    merge(result, _last_values(loaded), replace=action == "replace")
    if action in ("override", "update"):
        result.comment = loaded.comment
    return normal(result)


def _last_values(loaded: Node) -> Node:
    """Return a tree in which a statement that takes one value has the last of those that were written."""
    result = copy(loaded)
    stack = [(result, 0, "", "")]
    while stack:
        node, keys, parent, form = stack.pop()
        if form == VALUE and not keys and not any(child.children for child in node):
            for word in [child.word for child in node if not child.flags & DELETE][:-1]:
                del node.children[word]
            continue
        for child in node:
            left, own = (keys - 1, form) if keys else form_of(parent, child.word)
            stack.append((child, left, parent if keys else inside(parent, child.word), own))
    return result


def load_set(candidate: Node, text: str) -> tuple[Node, list[str]]:
    """Return the candidate after a list of set commands, and warnings (`statement not found`). Raises JunosSyntaxError.

    Takes the commands of `ailb_gen.junos.edit.apply`.
    """
    result, warnings = apply(candidate, text)
    return normal(result), warnings


def normal(root: Node) -> Node:
    """Drop parts that a device does not keep, in place: `#` comments, tags that are done. Marks secrets.

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
