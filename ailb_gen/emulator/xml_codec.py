"""A configuration as Junos XML and back, by Juniper's models, or without them by the outline.

Source: how Juniper's YANG models name statements; Junos XML API Guide, "XML and Junos OS Overview".
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import reduce
from operator import or_

from lxml import etree

from ailb_gen.emulator.messages import RpcRefusedError, refusal
from ailb_gen.emulator.outline import SOURCE
from ailb_gen.junos.block_layout import lay_out
from ailb_gen.junos.instance import key_is_named
from ailb_gen.junos.schema import CHOICE_IDENT, CHOICE_VALUE, Definition
from ailb_gen.junos.statements import CONTAINER, LEAF, LEAF_LIST, LIST
from ailb_gen.junos.tree import DELETE, ENDS, FLAT, INACTIVE, PROTECT, REPLACE, Node
from ailb_gen.junos.writer import MARK

# Words of the CLI that are called otherwise in XML.
XML_NAMES = {"802.3ad": "ieee-802.3ad", "to": "end-range"}
# Elements and the words that each stands for.
Met = list[tuple[etree._Element, tuple[str, ...]]]
# In a filter: any entry of a list; and the flag of a statement that must have one of its values.
ANY = "*"
MATCH = 256
MARKS = ((INACTIVE, "inactive"), (PROTECT, "protect"))
TAGS = {
    ("operation", "delete"): DELETE,
    ("operation", "remove"): DELETE,
    ("delete", "delete"): DELETE,
    ("operation", "replace"): REPLACE,
    ("replace", "replace"): REPLACE,
    ("inactive", "inactive"): INACTIVE,
    ("protect", "protect"): PROTECT,
}


def to_xml(root: Node, known: Definition) -> etree._Element:
    """Return `<configuration>`. Raises RpcRefusedError for a statement that is not known."""
    made = etree.Element("configuration")
    _block(root, known, made, ())
    return made


def _block(node: Node, known: Definition, made: etree._Element, path: tuple[str, ...]) -> None:
    for child in node:
        definition = known.words.get(child.word)
        if definition is None:
            _bare(child, known, made, path)
        elif definition.kind == CONTAINER:
            _block(child, definition, _add(made, definition, child), (*path, child.word))
        elif definition.kind == LIST:
            for entry in child:
                _entry(entry, definition, _add(made, definition, entry), 0, (*path, child.word))
        elif child.children:
            for value in _last(child, definition):
                _text(value, definition, made, child.flags, (*path, child.word))
        else:
            _add(made, definition, child)


def _bare(node: Node, known: Definition, made: etree._Element, path: tuple[str, ...]) -> None:
    """Add a statement whose name is not written."""
    for definition in known.bare:
        if fits(definition, node.word):
            if definition.kind == LIST:
                _entry(node, definition, _add(made, definition, node), 0, path)
            else:
                _text(node, definition, made, 0, path)
            return
    raise _unknown((*path, node.word))


def _last(node: Node, definition: Definition) -> list[Node]:
    """Return the values of a statement: where only one counts, the last."""
    values = list(node)
    return values[-1:] if definition.kind == LEAF else values


def _text(node: Node, definition: Definition, made: etree._Element, flags: int, path: tuple[str, ...]) -> None:
    if node.children:
        raise _unknown((*path, node.word, next(iter(node)).word))
    element = _add(made, definition, node)
    element.text = node.word
    for flag, name in MARKS:
        if flags & flag:
            element.set(name, name)


def _entry(node: Node, definition: Definition, made: etree._Element, at: int, path: tuple[str, ...]) -> None:
    """Add the keys of a list entry from `at` on, then its content."""
    keys = definition.written_keys
    key = keys[at]
    path = (*path, node.word)
    if key_is_named(key):
        if node.word != key.name or len(node.children) != 1:
            raise _unknown(path)
        node = next(iter(node))
        path = (*path, node.word)
    if key.name == CHOICE_IDENT:
        chosen = etree.SubElement(made, node.word)
        if at + 1 < len(keys) and keys[at + 1].name == CHOICE_VALUE:
            if len(node.children) == 1 and next(iter(node)).word not in definition.words:
                node = next(iter(node))
                chosen.text = node.word
            _block(node, definition, made, path)
            return
    else:
        etree.SubElement(made, XML_NAMES.get(key.name, key.name)).text = node.word
    if at + 1 == len(keys):
        _block(node, definition, made, path)
    elif len(node.children) == 1:
        _entry(next(iter(node)), definition, made, at + 1, path)
    else:
        raise _unknown(path)


def fits(definition: Definition, word: str) -> bool:
    """Return whether a word can be the value of a statement, or the first key of a list."""
    first = definition.keys[0] if definition.kind == LIST and definition.keys else definition
    return first.check is None or first.check(word) is None


def _add(made: etree._Element, definition: Definition, node: Node) -> etree._Element:
    element = etree.SubElement(made, XML_NAMES.get(definition.name, definition.name))
    for flag, name in MARKS:
        if node.flags & flag:
            element.set(name, name)
    return element


def _unknown(path: Sequence[str]) -> RpcRefusedError:
    return refusal(
        f"the emulator does not know {' '.join(path)!r} in XML; start it with --yang and models that have it",
        "operation-not-supported",
        element=path[-1],
    )


def from_xml(element: etree._Element, known: Definition, filtering: bool = False, met: Met | None = None) -> Node:
    """Return the tree of `<configuration>`; in a filter, entries and values may be missing.

    `operation`, `delete`, `replace`, `inactive` and `protect` become flags. `met` takes every element but keys, with
    the words that it stands for. Raises RpcRefusedError.
    """
    root = Node("", 0, FLAT)
    _read(element.iterchildren(etree.Element), known, root, filtering, (), [] if met is None else met)
    lay_out(root)
    return root


def _read(
    children: Iterable[etree._Element],
    known: Definition,
    node: Node,
    filtering: bool,
    path: tuple[str, ...],
    met: Met,
) -> None:
    for child in children:
        definition, word = look_up(known, str(child.tag))
        if definition is None:
            if filtering:
                # An unknown statement is not there: it selects nothing.
                _put(node, str(child.tag), 0, True)
                continue
            why = (
                "; start the emulator with --yang if Juniper's models have it" if known.schema.source == SOURCE else ""
            )
            raise refusal(f"syntax error, <{child.tag}> is not known here{why}", element=str(child.tag))
        flags = reduce(or_, (TAGS.get((str(name), str(value)), 0) for name, value in child.attrib.items()), 0)
        node.flags |= flags & (DELETE | INACTIVE | PROTECT) if node.line == 0 and not node.word else 0
        below = (*path, word) if word else path
        if definition.kind == LIST:
            _read_entry(child, definition, _put(node, word) if word else node, flags, filtering, below, met)
            continue
        text = (child.text or "").strip() if definition.kind != CONTAINER else ""
        met.append((child, below if word and (definition.kind == LEAF or not text) else (*below, text)))
        if definition.kind == CONTAINER:
            target = _put(node, word, flags, not len(child))
            _read(child.iterchildren(etree.Element), definition, target, filtering, below, met)
        else:
            # Of several values one can be deleted.
            one = flags & DELETE if definition.kind == LEAF_LIST and text else 0
            target = _put(node, word, flags & ~one | (MATCH if filtering and text else 0), not text) if word else node
            if definition.kind == LEAF and word and not filtering:
                # Of several values the last counts.
                target.children.clear()
            if text:
                _put(target, text, one if word else flags, True)


def look_up(known: Definition, tag: str) -> tuple[Definition | None, str]:
    """Return the statement that an element stands for, and its word; no word if its name is not written."""
    bare = next((one for one in known.bare if one.name == tag), None)
    if bare is not None:
        return bare, ""
    word = next((word for word, name in XML_NAMES.items() if name == tag and word in known.words), tag)
    return known.words.get(word), word


def _read_entry(
    element: etree._Element,
    definition: Definition,
    node: Node,
    flags: int,
    filtering: bool,
    path: tuple[str, ...],
    met: Met,
) -> None:
    """Add a list entry: its keys as words, then its content."""
    rest = list(element.iterchildren(etree.Element))
    for key in definition.written_keys:
        if key.name == CHOICE_VALUE:
            continue
        name = XML_NAMES.get(key.name, key.name)
        chooses = key.name == CHOICE_IDENT
        given = [
            one
            for one in rest
            if (fits(key, str(one.tag)) and str(one.tag) not in definition.words if chooses else one.tag == name)
        ]
        # Keys that have a name of their own are no choice.
        given = [one for one in given if not chooses or str(one.tag) not in {other.name for other in definition.keys}]
        if not given:
            if not filtering:
                raise refusal("missing key", "missing-element", element=name)
            node, path = _put(node, ANY), (*path, ANY)
            continue
        rest.remove(given[0])
        if key_is_named(key):
            node, path = _put(node, key.name), (*path, key.name)
        text = (given[0].text or "").strip()
        words = [str(given[0].tag)] if chooses else [text or ANY]
        for word in [*words, text] if chooses and text else words:
            node, path = _put(node, word), (*path, word)
    node.flags |= flags | ENDS
    met.append((element, path))
    _read(rest, definition, node, filtering, path, met)


def _put(node: Node, word: str, flags: int = 0, ends: bool = False) -> Node:
    child = node.children.setdefault(word, Node(word, 1))
    child.flags |= flags | (ENDS if ends else 0)
    return child


def select(root: Node, selection: Node) -> Node:
    """Return the part of a tree that a filter selects: a word without children selects everything below it.

    Statements with a value select those beside them, or all if the filter names no others (RFC 6241 section 6.2.5).
    """
    result = Node(root.word, root.line, root.flags)
    result.comment = [text for text in root.comment or () if text == MARK] or None
    matching = [child for child in selection if child.flags & MATCH]
    if any(not set(root.values(child.word)) & set(child.children) for child in matching):
        return result
    if len(matching) == len(selection.children):
        result.children = root.children
        return result
    for child in root:
        below = selection.children.get(child.word) or selection.children.get(ANY)
        if below is not None:
            found = select(child, below)
            if found.children or not below.children:
                result.children[child.word] = found
    return result
