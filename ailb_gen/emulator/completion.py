"""Completion in configuration mode, for `?` and the tab key: from the models and the configuration."""

from __future__ import annotations

from collections.abc import Sequence

from ailb_gen.emulator.load_config import ACTIONS
from ailb_gen.junos.instance import key_is_named
from ailb_gen.junos.schema import Definition
from ailb_gen.junos.statements import CONTAINER, LIST
from ailb_gen.junos.tree import Node

# Words that may follow a command that takes no statement.
WORDS: dict[str, tuple[str, ...]] = {
    "commit": ("and-quit", "check", "comment", "confirmed", "synchronize"),
    "exit": ("configuration-mode",),
    "load": (*ACTIONS, "set"),
    "quit": ("configuration-mode",),
    "replace": ("pattern",),
    "rollback": ("<number>", "rescue"),
    "wildcard": ("delete", "range"),
}
# Commands whose statement need not be there yet.
ADDING = frozenset({"edit", "set"})
# Commands whose statement is there already.
EXISTING = frozenset({"activate", "annotate", "copy", "deactivate", "delete", "insert", "protect", "rename", "show"})


def next_words(command: str, known: Definition, tree: Node, path: Sequence[str]) -> list[str]:
    """Return the words that can follow a command and the beginning of a statement, from the top level."""
    if command in ADDING:
        return sorted({*_statements(known, path), *tree.values(*path)})
    if command in EXISTING or command == "unprotect":
        return sorted(tree.values(*path))
    return sorted(WORDS.get(command, ()))


def _statements(known: Definition, path: Sequence[str]) -> list[str]:
    """Return the words that the models have below a path; `<name>` for a value."""
    keys: list[Definition] = []
    # The word in front of a key that is written with its name has been given.
    named = False
    value: Definition | None = None
    for word in path:
        if keys:
            if key_is_named(keys[0]) and not named:
                named = True
                continue
            keys, named = keys[1:], False
            continue
        if value is not None:
            return []
        definition = known.words.get(word)
        if definition is None:
            definition = next((bare for bare in known.bare if bare.kind == LIST), None)
            if definition is None:
                return []
            keys = list(definition.written_keys)[1:]
        elif definition.kind == LIST:
            keys = list(definition.written_keys)
        if definition.kind in (CONTAINER, LIST):
            known = definition
        else:
            value = definition
    if keys:
        return [keys[0].name] if key_is_named(keys[0]) and not named else [f"<{keys[0].name}>"]
    if value is not None:
        return [] if value.value == "none" else [f"<{value.name}>"]
    return [*known.words, *(f"<{bare.name}>" for bare in known.bare)]
