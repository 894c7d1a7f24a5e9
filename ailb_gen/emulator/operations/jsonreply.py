"""Replies of operational commands as JSON.

Source: Juniper, "Mapping Junos OS Command Output to JSON": every element is an array of objects, its text is `data`,
its attributes are `attributes`; an element without text is `[null]`.
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
    made: dict[str, Any] = {}
    if element.attrib:
        made["attributes"] = {_name(str(name)): str(value) for name, value in element.attrib.items()}
    children = list(element.iterchildren(etree.Element))
    for child in children:
        made.setdefault(str(child.tag), []).append(_object(child))
    if not children:
        made["data"] = element.text if element.text else [None]
    return made


def _name(name: str) -> str:
    return name.replace(f"{{{JUNOS}}}", "junos:")
