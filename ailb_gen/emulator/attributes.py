"""Attributes of Junos XML beyond a merge: activate, insert, rename, replace a pattern.

Source: Juniper, "Junos XML Management Protocol Developer Guide", attributes of `<load-configuration>`.
"""

from __future__ import annotations

from lxml import etree

from ailb_gen.emulator.messages import refusal
from ailb_gen.emulator.xml_codec import Met
from ailb_gen.junos.edit import insert
from ailb_gen.junos.renaming import NOT_FOUND, rename, replace_pattern, statement_ends
from ailb_gen.junos.tree import INACTIVE, PROTECT, Node

CLEARS = {"active": INACTIVE, "unprotect": PROTECT}


def carry_out(tree: Node, content: etree._Element, met: Met, before: Node) -> None:
    """Do to a tree, in place, what attributes of a `<configuration>` ask for that has been loaded on top of `before`.

    `met` are its elements, each with the words that it stands for. Raises RefusedError.
    """
    for element, path in [(content, ()), *met]:
        try:
            if element.get("rename") is not None and not before.has(*path):
                raise ValueError(NOT_FOUND)
            _carry_out(tree, element, path)
        except ValueError as error:
            raise refusal(str(error), "bad-attribute", element=str(element.tag)) from error


def _carry_out(tree: Node, element: etree._Element, path: tuple[str, ...]) -> None:
    """Do what the attributes of one element ask for. Raises ValueError."""
    for name, flag in CLEARS.items():
        node = tree.get(*path)
        if element.get(name) == name and node is not None:
            node.flags &= ~flag
    pattern = element.get("replace-pattern")
    if pattern is not None:
        replace_pattern(tree, path, pattern, str(element.get("with", "")), _number(element.get("upto", "0")))
    name = str(element.get("name", ""))
    keyword = path[([0, *statement_ends(path)])[-2] : -1] if path else ()
    if element.get("rename") is not None:
        rename(tree, [*path, "to", *keyword, name])
    place = element.get("insert")
    if place in ("before", "after"):
        insert(tree, [*path, place, *keyword, name])
    elif place in ("first", "last"):
        others = [word for word in tree.get(*path[:-1]) or () if word.word != path[-1]]
        if others:
            at, other = ("before", others[0]) if place == "first" else ("after", others[-1])
            insert(tree, [*path, at, *keyword, other.word])
    elif place is not None:
        raise ValueError(f"insert is first, last, before or after, not {place!r}")


def _number(text: str) -> int:
    if not text.isdecimal():
        raise ValueError(f"upto is a number, not {text!r}")
    return int(text)
