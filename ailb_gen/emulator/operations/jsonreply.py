"""Replies of operational commands as JSON.

Source: Juniper, "Mapping Junos OS Command Output to JSON": every element is an array of objects, its text is `data`,
its attributes are `attributes`, in front of other elements and behind text; a flag is `[null]`, text that is empty is
left out.
"""

from __future__ import annotations

import json
from typing import Any

from lxml import etree

from ailb_gen.emulator.operations.build import JUNOS


def to_json(reply: etree._Element) -> str:
    """Return a reply as Junos writes it in JSON."""
    return json.dumps({str(reply.tag): [_object(reply)]}, indent=4)


def _object(element: etree._Element) -> dict[str, Any]:
    attributes = {_name(str(name)): str(value) for name, value in element.attrib.items()}
    if not len(element):
        text: dict[str, Any] = {} if element.text is not None else {"data": [None]}
        if element.text and element.text.strip():
            text = {"data": element.text}
        return {**text, "attributes": attributes} if attributes else text
    made: dict[str, Any] = {"attributes": attributes} if attributes else {}
    for child in element.iterchildren(etree.Element):
        made.setdefault(str(child.tag), []).append(_object(child))
    return made


def _name(name: str) -> str:
    return name.replace(f"{{{JUNOS}}}", "junos:")
