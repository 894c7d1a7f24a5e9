"""The outline says what Juniper's models say: it is made of them here as `read_outline` reads it."""

from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from ailb_gen.emulator import outline
from ailb_gen.emulator.xml_codec import fits
from ailb_gen.junos.instance import key_is_named
from ailb_gen.junos.schema import CHOICE_VALUE, Definition
from ailb_gen.junos.statements import CONTAINER, LEAF, LIST
from ailb_gen.junos.tree import Node
from tests.emulator.test_xml_codec import trees
from tests.junos.models import schema

# What the shared models do not have.
BY_HAND = "routing-instances"


def written(known: Definition, trees: Sequence[Node]) -> str:
    """Return the part of a schema that trees use, as `read_outline` reads it."""
    return "".join(f"{line}\n" for line in _rows(known, list(trees), 0))


def _rows(known: Definition, nodes: list[Node], depth: int) -> Iterator[str]:
    below: dict[str, tuple[Definition, bool, list[Node]]] = {}
    for node in nodes:
        for child in node:
            found = known.words.get(child.word)
            bare = found is None
            if found is None:
                found = next((one for one in known.bare if fits(one, child.word)), None)
            if found is not None:
                entries = _ends(found, [child] if bare else list(child)) if found.kind == LIST else [child]
                below.setdefault(found.name, (found, bare, []))[2].extend(entries)
    for name, (found, bare, inner) in sorted(below.items()):
        yield f"{' ' * depth}{'-' if bare else ''}{name}{_form(found)}"
        if found.kind in (CONTAINER, LIST):
            yield from _rows(found, inner, depth + 1)


def _ends(found: Definition, entries: list[Node]) -> list[Node]:
    """Return the nodes behind all keys of list entries."""
    for key in found.written_keys[1:]:
        if key.name == CHOICE_VALUE:
            return entries
        entries = [child for entry in entries for child in entry]
        if key_is_named(key):
            entries = [child for entry in entries for child in entry]
    first = found.written_keys[0]
    return [child for entry in entries for child in entry] if key_is_named(first) else entries


def _form(found: Definition) -> str:
    if found.kind == LIST:
        return f" [{' '.join(f'{key.name}:' if key_is_named(key) else key.name for key in found.keys)}]"
    signs = {(LEAF, "one"): " =", (LEAF, "none"): " ?", (LEAF, "maybe"): " ??", (LEAF, "words"): " ~"}
    return signs.get((found.kind, found.value), "" if found.kind == CONTAINER else " *")


def lines(text: str) -> set[tuple[str, ...]]:
    """Return the lines of an outline, each with the lines around it."""
    found = set()
    path: list[str] = []
    for line in text.splitlines():
        path[len(line) - len(line.lstrip(" ")) :] = [line.strip()]
        found.add(tuple(path))
    return found


@pytest.mark.long
def test_the_outline_says_what_the_models_say() -> None:
    kept = lines(Path(outline.__file__).with_name(outline.SOURCE).read_text(encoding="utf-8"))
    made = lines(written(schema().root, trees()))
    assert sorted(made - kept) == [], "add these to statements.txt"
    unused = sorted(path for path in kept - made if path[0] != BY_HAND)
    assert unused == [], "nothing uses these; take them out of statements.txt"
