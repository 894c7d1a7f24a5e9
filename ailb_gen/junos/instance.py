"""A container or list entry of the configuration, with its place in the schema."""

from __future__ import annotations

from ailb_gen.junos.schema import CHOICE_IDENT, CHOICE_VALUE, Definition
from ailb_gen.junos.statements import LIST, NOKEYWORD, PLAIN
from ailb_gen.junos.tree import Node


class Instance:
    """A container or list entry: `node` is its last word, `key` the keys of an entry, `parent` what it stands in.

    `cases` holds the case taken of each choice and by which word, `once` the leaves written so far where they are not
    all below one word.
    """

    __slots__ = ("cases", "definition", "key", "node", "once", "parent")

    def __init__(self, definition: Definition, node: Node, parent: Instance | None, key: tuple[str, ...] = ()) -> None:
        self.definition = definition
        self.node = node
        self.parent = parent
        self.key = key
        self.cases: dict[int, tuple[int, str]] | None = None
        self.once: dict[Definition, str] | None = None

    def path(self) -> tuple[str, ...]:
        """Return the words from the top down to this instance, as they are written."""
        levels: list[tuple[str, ...]] = []
        instance = self
        while instance.parent is not None:
            levels.append(_own_words(instance))
            instance = instance.parent
        return tuple(word for level in reversed(levels) for word in level)


def _own_words(instance: Instance) -> tuple[str, ...]:
    definition = instance.definition
    if definition.kind != LIST:
        return (definition.name,)
    bare = instance.parent is not None and definition in instance.parent.definition.bare
    words = [] if bare else [definition.name]
    names = (one for one in definition.keys if len(instance.key) == len(definition.keys) or one.name != CHOICE_VALUE)
    for one, key in zip(names, instance.key, strict=False):
        words += [one.name, key] if key_is_named(one) else [key]
    return tuple(words)


def key_is_named(key: Definition) -> bool:
    """Return whether a key's name is written in front of it (`drop-profile-map loss-priority any protocol any`)."""
    return not key.flags & (NOKEYWORD | PLAIN) and key.name not in {CHOICE_IDENT, CHOICE_VALUE}


def written(instance: Instance, definition: Definition, word: str) -> tuple[str, ...]:
    """Return the words of a leaf and its value, or of a list and its key, as they are written."""
    return (word,) if definition in instance.definition.bare else (definition.name, word)
