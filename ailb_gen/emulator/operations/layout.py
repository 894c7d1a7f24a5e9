"""Show a reply as the command line does, by a layout: lines with fields, some once for every element of a kind.

A field `{path}` is the text of the elements at a path of lxml's ElementPath, `{path@name}` an attribute of Junos, or
the text without it, `{path:<20}` in a column, `{path!name}` converted. What is between `[[` and `]]` is left out when
its field is empty.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import NamedTuple

from lxml import etree

from ailb_gen.emulator.operations.build import JUNOS

FIELD = re.compile(r"\{([^{}:!@]+)(?:@([a-z]+))?(?:!([a-z]+))?(?::([^{}]*))?\}")
OPTIONAL = re.compile(r"\[\[(.*?)\]\]")


class Each(NamedTuple):
    """Rows that are shown for every element at a path; `//name` is every element of that name, the reply too."""

    path: str
    rows: Layout


Show = Callable[["etree._Element"], Iterator[str]]
Layout = list[str | Each | Show]


def read_layouts(text: str, functions: Mapping[str, Show]) -> dict[str, Layout]:
    """Read layouts by rpc: `= RPC ...` begins one, `|` a line, which a backslash at its end continues.

    `@PATH` begins rows for every element at a path, indented below it or one `|` after it; `!NAME` calls a function.
    """
    found: dict[str, Layout] = {}
    stack: list[Layout] = [[]]
    for row in re.sub(r"\\\n *\|", "", text).splitlines():
        body = row.lstrip(" ")
        del stack[(len(row) - len(body)) // 2 + 1 :]
        if body[0] == "=":
            stack = [[]]
            found |= dict.fromkeys(body[1:].split(), stack[0])
        elif body[0] == "@":
            path, bar, line = body[1:].partition(" |")
            inner: Layout = [line] if bar else []
            stack[-1].append(Each(path, inner))
            stack.append(inner)
        else:
            stack[-1].append(body[1:] if body[0] == "|" else functions[body[1:]])
    return found


def text_of(node: etree._Element, path: str) -> str:
    """Return the texts of the elements at a path, empty without one."""
    return " ".join((found.text or "").strip() for found in node.iterfind(path))


def lines(node: etree._Element, layout: Layout) -> Iterator[str]:
    """Iterate over the lines of a reply, or a part of it, in a layout."""
    for row in layout:
        if isinstance(row, str):
            optional = OPTIONAL.sub(lambda found: found[1] if _fields(node, found[1]) else "", row)
            yield FIELD.sub(lambda found: _field(node, found), optional)
        elif isinstance(row, Each):
            for found in node.iter(row.path[2:]) if row.path[:2] == "//" else node.iterfind(row.path):
                yield from lines(found, row.rows)
        else:
            yield from row(node)


def _fields(node: etree._Element, text: str) -> str:
    return "".join(_field(node, found) for found in FIELD.finditer(text))


def _field(node: etree._Element, found: re.Match[str]) -> str:
    path, attribute, conversion, column = found.groups()
    if attribute:
        element = node.find(path)
        text = str(element.get(f"{{{JUNOS}}}{attribute}") or element.text or "") if element is not None else ""
    elif conversion in OF_ELEMENTS:
        text = OF_ELEMENTS[conversion](node.find(path))
    else:
        text = CONVERSIONS.get(conversion, str)(text_of(node, path))
    return format(text, column or "")


def _flags(element: etree._Element | None, internal: str = "") -> str:
    """Return flags, which are elements without text, as words; those that have no name are a number."""
    rows = () if element is None else element.iterchildren("*")
    return " ".join(f"{internal}{row.text}" if row.text else FLAGS[str(row.tag)] for row in rows) or "None"


FLAGS = {
    "iff-device-down": "Device-Down", "iff-down": "Down", "iff-hardware-down": "Hardware-Down",
    "iff-snmp-traps": "SNMP-Traps", "iff-up": "Up", "ifdf-down": "Down", "ifdf-loopback": "Loopback",
    "ifdf-present": "Present", "ifdf-running": "Running", "ifmf-none": "None", "ifaf-current-default": "Is-Default",
    "ifaf-current-preferred": "Is-Preferred", "ifaf-current-primary": "Is-Primary", "ifff-is-primary": "Is-Primary",
    "ifff-sendbcast-pkt-to-re": "Sendbcast-pkt-to-re",
}  # fmt: skip
OF_ELEMENTS: dict[str | None, Callable[[etree._Element | None], str]] = {
    "flags": _flags,
    "internal": lambda element: _flags(element, "Internal: "),
    "mark": lambda element: " " if element is None else ">",
    "selected": lambda element: "" if element is None else ", selected",
}
CONVERSIONS: dict[str | None, Callable[[str], str]] = {
    "enabled": lambda text: "Enabled" if text == "up" else "Administratively down",
    "ms": lambda text: f"{int(text) / 1000:.3f}",
    "title": str.title,
}


def plain(reply: etree._Element, indent: str = "") -> Iterator[str]:
    """Show a reply without a layout: a name and a value a line, indented as they are nested."""
    for child in reply.iterchildren("*"):
        name = str(child.tag).replace("-", " ").capitalize()
        text = (child.text or "").strip()
        yield f"{indent}{name}: {text}" if text else f"{indent}{name}"
        yield from plain(child, f"{indent}  ")
    if not len(reply) and not indent:
        yield from (reply.text or "").strip("\n").splitlines()
