"""A configuration as Junos JSON and back, through its XML.

Source: Juniper, "Mapping Junos OS Command Output to JSON": lists and values of leaf-lists are arrays, a statement
without value is `[null]`, attributes stand in `@` or `@NAME`. Every value is a string here, numbers too.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from lxml import etree

from ailb_gen.emulator.messages import refusal
from ailb_gen.emulator.xml_codec import look_up
from ailb_gen.junos.schema import Definition
from ailb_gen.junos.statements import CONTAINER, LEAF_LIST, LIST

# No configuration is deeper.
MAX_DEPTH = 100


def to_json(configuration: etree._Element, known: Definition, attributes: Mapping[str, str] | None = None) -> str:
    """Return the JSON of `<configuration>`, with attributes of its own."""
    head = {"@": dict(attributes)} if attributes else {}
    return json.dumps({"configuration": {**head, **_object(configuration, known)}}, indent=4)


def _object(element: etree._Element, known: Definition) -> dict[str, Any]:
    made: dict[str, Any] = {"@": dict.fromkeys(map(str, element.attrib), True)} if element.attrib else {}
    for child in element.iterchildren(etree.Element):
        tag = str(child.tag)
        found = look_up(known, tag)[0]
        if found is not None and found.kind == CONTAINER:
            made[tag] = _object(child, found)
        elif found is not None and found.kind == LIST:
            made.setdefault(tag, []).append(_object(child, found))
        elif found is not None and found.kind == LEAF_LIST:
            made.setdefault(tag, []).append(child.text)
        else:
            # Keys of the list around it are values too.
            made[tag] = child.text if child.text else [None]
            if child.attrib:
                made[f"@{tag}"] = dict.fromkeys(map(str, child.attrib), True)
    return made


def from_json(text: str) -> etree._Element:
    """Return `<configuration>` for a JSON text. Raises RpcRefusedError."""
    try:
        data = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise refusal(f"syntax error, not JSON: {error}") from error
    if not isinstance(data, dict) or not isinstance(data.get("configuration"), dict):
        raise refusal('syntax error, the JSON is not {"configuration": {...}}')
    made = etree.Element("configuration")
    _fill(made, data["configuration"], 0)
    return made


def _fill(element: etree._Element, data: dict[str, Any], depth: int) -> None:
    if depth > MAX_DEPTH:
        raise refusal(f"syntax error, JSON more than {MAX_DEPTH} levels deep")
    for name, value in data.items():
        if name[:1] == "@":
            continue
        for one in value if isinstance(value, list) else [value]:
            child = _made(element, name)
            if isinstance(one, dict):
                _fill(child, one, depth + 1)
                _set_attributes(child, one.get("@"))
            elif one is not None:
                child.text = str(one)
            _set_attributes(child, data.get(f"@{name}"))


def _made(element: etree._Element, name: str) -> etree._Element:
    try:
        return etree.SubElement(element, name)
    except ValueError as error:
        raise refusal("syntax error", element=name) from error


def _set_attributes(element: etree._Element, attributes: object) -> None:
    """Set the attributes that Junos knows: `"operation": "delete"`, `"inactive": true`."""
    for name, value in attributes.items() if isinstance(attributes, dict) else ():
        if value is True or isinstance(value, str):
            element.set(name, name if value is True else value)
