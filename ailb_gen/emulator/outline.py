"""The known statements of a configuration: Juniper's models, or an outline of the statements that fabrics use.

The outline, `statements.txt`, was made from the models; a statement that it lacks is refused, never guessed.
"""

from __future__ import annotations

from functools import cache, lru_cache
from pathlib import Path

from ailb_gen.junos.schema import CHOICE_IDENT, CHOICE_VALUE, Definition, Schema
from ailb_gen.junos.statements import CONTAINER, LEAF, LEAF_LIST, LIST, NOKEYWORD, USES, Json

SOURCE = "statements.txt"
# Any word is a value.
ANY_WORD: Json = ["string", "", []]
# Every block can have them. The last 0 of a statement: no limit.
APPLY_GROUPS: Json = [[LEAF_LIST, name, 0, [], ANY_WORD, 0] for name in ("apply-groups", "apply-groups-except")]
# Kinds and types of statements by their sign in the outline.
FORMS: dict[str, tuple[int, Json]] = {
    "": (CONTAINER, None),
    "=": (LEAF, ANY_WORD),
    "?": (LEAF, ["empty"]),
    "??": (LEAF, ["union", [["empty"], ANY_WORD]]),
    "~": (LEAF, ["junos", "policy-algebra"]),
    "*": (LEAF_LIST, ANY_WORD),
}


@lru_cache(maxsize=1)
def top(schema: Schema | None) -> Definition:
    """Return the statement at the top: of the models if there are any, and of the outline for the rest."""
    if schema is None:
        return read_outline()
    lacking = [raw for raw in _statements() if raw[1] not in schema.root.words]
    return Definition(schema, [CONTAINER, "configuration", 0, [], [*schema.block(0), *lacking]], ())


@cache
def read_outline() -> Definition:
    """Return the outline as models of its own, in which groups hold the statements of the top."""
    groups = [LIST, "groups", 0, [], [_key("name"), [USES, 0]], ["name"], 0]
    return Schema([[[USES, 0], groups], _statements()], SOURCE).root


@cache
def _statements() -> list[Json]:
    """Read the outline: a statement a line, indented below the one around it, as the models are stored.

    `name` is a block, `name =` takes a value, `name ?` none, `name ??` one or none, `name *` several, `name ~` an
    expression; `name [a b:]` is a list whose key b is written with its name. `-` in front: the name is not written.
    """
    blocks: list[list[Json]] = [[]]
    for line in Path(__file__).with_name(SOURCE).read_text(encoding="utf-8").splitlines():
        depth = len(line) - len(line.lstrip(" "))
        bare = line[depth] == "-"
        name, _, form = line[depth + bare :].partition(" ")
        flags, below = NOKEYWORD if bare else 0, [*APPLY_GROUPS]
        if form[:1] == "[":
            keys = form[1:-1].split()
            below = [*map(_key, keys), *below]
            made = [LIST, name, flags, [], below, [key.rstrip(":") for key in keys], 0]
        else:
            kind, type_ = FORMS[form]
            made = [kind, name, flags, [], below if kind == CONTAINER else type_, 0]
        del blocks[depth + 1 :]
        blocks[-1].append(made)
        blocks.append(below)
    return [*blocks[0], *APPLY_GROUPS]


def _key(text: str) -> Json:
    flags = 0 if text[-1] == ":" or text in (CHOICE_IDENT, CHOICE_VALUE) else NOKEYWORD
    return [LEAF, text.rstrip(":"), flags, [], ANY_WORD]
