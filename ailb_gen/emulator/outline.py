"""The known statements of a configuration: Juniper's models, or an outline of the statements that fabrics use.

The outline, `statements.txt`, was made from the models; a statement that it lacks is refused, never guessed.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Protocol

from ailb_gen.junos.schema import CHOICE_IDENT, CHOICE_VALUE, Schema
from ailb_gen.junos.statements import CONTAINER, LEAF, LEAF_LIST, LIST, NOKEYWORD


class StatementDefinition(Protocol):
    """The definition of a statement: `ailb_gen.junos.schema.Definition`, or `Outlined`."""

    kind: int
    name: str
    flags: int
    value: str

    @property
    def check(self) -> Callable[[str], object] | None:
        """The function of its type: None for a word that fits."""

    @property
    def words(self) -> Mapping[str, StatementDefinition]:
        """The statements below, by the word that is written."""

    @property
    def bare(self) -> Sequence[StatementDefinition]:
        """The statements below whose name is not written."""

    @property
    def keys(self) -> Sequence[StatementDefinition]:
        """The keys of a list, in their order."""


class Outlined:
    """A statement of the outline."""

    check = None

    def __init__(self, name: str, kind: int, value: str = "one", flags: int = 0) -> None:
        self.name, self.kind, self.value, self.flags = name, kind, value, flags
        self.words: dict[str, StatementDefinition] = {}
        self.bare: list[StatementDefinition] = []
        self.keys: list[StatementDefinition] = []


def top(schema: Schema | None) -> StatementDefinition:
    """Return the statement at the top: of the models if there are any, and of the outline for the rest."""
    if schema is None:
        return read_outline()
    root = Outlined("configuration", CONTAINER)
    root.words = {**read_outline().words, **schema.root.words}
    return root


@cache
def read_outline() -> Outlined:
    """Read the outline: a statement a line, indented below the one around it.

    `name` is a block, `name =` takes a value, `name ?` none, `name ??` one or none, `name *` several, `name ~` an
    expression; `name [a b:]` is a list whose key b is written with its name. `-` in front: the name is not written.
    """
    root = Outlined("configuration", CONTAINER)
    stack = [root]
    text = Path(__file__).with_name("statements.txt").read_text(encoding="utf-8")
    for line in text.splitlines():
        depth = len(line) - len(line.lstrip(" "))
        bare = line[depth] == "-"
        name, _, form = line[depth + bare :].partition(" ")
        made = Outlined(name, *FORMS.get(form, (LIST, "one")))
        if form[:1] == "[":
            for key in form[1:-1].split():
                flags = 0 if key[-1] == ":" or key in (CHOICE_IDENT, CHOICE_VALUE) else NOKEYWORD
                made.keys.append(Outlined(key.rstrip(":"), LEAF, flags=flags))
        del stack[depth + 1 :]
        if bare:
            stack[-1].bare.append(made)
        else:
            stack[-1].words[name] = made
        stack.append(made)
        if made.kind in (CONTAINER, LIST):
            _add_apply_groups(made)
    _add_apply_groups(root)
    # A group holds the statements of the top.
    groups = root.words["groups"] = Outlined("groups", LIST)
    groups.keys = [Outlined("name", LEAF, flags=NOKEYWORD)]
    groups.words = root.words
    return root


def _add_apply_groups(block: Outlined) -> None:
    for name in ("apply-groups", "apply-groups-except"):
        block.words.setdefault(name, Outlined(name, LEAF_LIST))


FORMS = {
    "": (CONTAINER, "one"),
    "=": (LEAF, "one"),
    "?": (LEAF, "none"),
    "??": (LEAF, "maybe"),
    "~": (LEAF, "words"),
    "*": (LEAF_LIST, "one"),
}
