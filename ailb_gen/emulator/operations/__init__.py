"""Operational commands of an emulated device, by RPC and by show command: their replies as XML, JSON and text.

Source of the JSON: Juniper, "Mapping Junos OS Command Output to JSON": every element is an array of objects, its text
is `data`, its attributes are `attributes`, in front of other elements and behind text; a flag is `[null]`, text that
is empty is left out.
"""

from __future__ import annotations

import json
from typing import Any
from xml.sax.saxutils import escape

from lxml import etree

from ailb_gen.emulator.device import EmulatedDevice
from ailb_gen.emulator.messages import refusal
from ailb_gen.emulator.operations.build import JUNOS, RELEASE, output
from ailb_gen.emulator.operations.commands import OPERATIONS, check_arguments
from ailb_gen.emulator.operations.layout import LAYOUTS, lines, plain

# The module of Junos that a reply is from, by the tag of the reply; those of the management daemon have none.
ROUTING, CHASSIS, PROBES, SWITCHING = "junos-routing", "junos-chassis", "junos-probe-tests", "junos-l2al"
MODULES = {
    "alarm-information": "junos-alarm",
    "arp-table-information": "junos-arp",
    "bfd-session-information": "junos-bfd",
    "bgp-group-information": ROUTING,
    "bgp-information": ROUTING,
    "chassis-inventory": CHASSIS,
    "environment-information": CHASSIS,
    "fpc-information": CHASSIS,
    "instance-information": ROUTING,
    "interface-information": "junos-interface",
    "l2ng-l2ald-rtb-macdb": SWITCHING,
    "l2ng-l2ald-vlan-instance-information": SWITCHING,
    "ping-results": PROBES,
    "power-usage-information": CHASSIS,
    "route-engine-information": CHASSIS,
    "route-information": ROUTING,
    "route-summary-information": ROUTING,
    "temperature-threshold-information": CHASSIS,
    "traceroute-results": PROBES,
}
FORMS = ("text", "ascii", "xml", "json")


def reply_of(device: EmulatedDevice, rpc: etree._Element) -> etree._Element:
    """Carry out an operation; return the reply. Raises RpcRefusedError like the operation, and for other arguments."""
    check_arguments(rpc)
    return OPERATIONS[str(rpc.tag)](device, rpc)


def run(device: EmulatedDevice, rpc: etree._Element, form: str) -> str:
    """Carry out an operation; return the reply in a form: `xml`, `json`, or `text`, which Junos also calls `ascii`.

    Raises RpcRefusedError like the operation, and for another form.
    """
    _check_form(form)
    reply = reply_of(device, rpc)
    if form == "json":
        return escape(to_json(declared(reply)))
    return as_xml(declared(reply)) if form == "xml" else etree.tostring(as_text(rpc, reply), encoding="unicode")


def declared(reply: etree._Element) -> etree._Element:
    """Declare the default namespace of a reply, which Junos has for each module."""
    for node in (reply, *reply.iterfind("multi-routing-engine-item/*")):
        module = MODULES.get(str(node.tag))
        if module is not None:
            node.set("xmlns", f"{RELEASE}/{module}")
    return reply


def as_xml(reply: etree._Element) -> str:
    """Write a reply with a newline in front of every tag, as Junos does: some clients read the text between them."""
    for node in reply.iter():
        if len(node):
            node.text = node.text or "\n"
            for child in node:
                child.tail = "\n"
    return etree.tostring(reply, encoding="unicode")


def as_text(rpc: etree._Element, reply: etree._Element) -> etree._Element:
    """Return a reply as `<output>`, with the text of the command line."""
    if reply.tag == "output":
        return reply
    options = (f"{rpc.tag}+{child.tag}" for child in rpc)
    name = next((option for option in options if option in LAYOUTS), str(rpc.tag))
    return output(lines(reply, LAYOUTS.get(name, [plain])))


def check_named(rpc: etree._Element) -> None:
    """Refuse a request by the name that this emulator has for a command without an RPC. Raises RpcRefusedError."""
    if "." in str(rpc.tag):
        raise refusal("xml rpc equivalent of this command is not available.")


def _check_form(form: str) -> None:
    if form not in FORMS:
        raise refusal(f"output is available as {', '.join(FORMS)}, not as {form!r}", "invalid-value")


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
