"""Check descriptions of ports, neighbors and VLANs, by which engineers at the switch identify cables (AILB007)."""

from __future__ import annotations

import re
from collections.abc import Collection

from ailb_gen.checks import subjects as about
from ailb_gen.checks.context import Context
from ailb_gen.checks.expected import port_override
from ailb_gen.checks.expected_switches import ExpectedSwitch
from ailb_gen.checks.layers import Layer
from ailb_gen.checks.model import Check, Findings
from ailb_gen.network.fabric import End
from ailb_gen.network.links import neighbor
from ailb_gen.network.model import Neighbor, Port, Switch

PORT = re.compile(r"\b[a-z]{2}-\d+/\d+/\d+(?::\d+)?\b")
RAIL = re.compile(r"\brail\s*(\d+)")


def _check_descriptions(context: Context, findings: Findings) -> None:
    """Compare the descriptions of cabled and split ports and of neighbors with the cables, of VLANs with their leaf."""
    network = context.network
    for cable in network.links:
        _check_end(context, cable.a, cable.b, findings)
        _check_end(context, cable.b, cable.a, findings)
    for (server, nic), end in network.attachments.items():
        _check_end(context, end, End(server, nic), findings)
    for name, switch in network.switches.items():
        cabled = context.cabled_ports(name)
        missing = cabled.keys() - switch.ports.keys()
        for port in switch.ports.values():
            if port.name not in cabled:
                _check_uncabled(switch, port, missing, findings)
    for switch, expected in context.switches:
        _check_vlans(switch, expected, findings)


def _check_end(context: Context, here: End, there: End, findings: Findings) -> None:
    switch_and_port = context.port_at(here)
    if switch_and_port is None:
        return
    switch, port = switch_and_port
    given = port_override(context.expected, here).description
    _check_end_of(port, f"interfaces {here.port}", switch, (here, there), given, findings)
    for group in switch.groups:
        if (static := group.neighbor(f"{here.port}.0")) is not None:
            above = f"protocols bgp group {group.name} neighbor {static.name}"
            _check_end_of(static, above, switch, (here, there), given, findings)


def _check_end_of(
    described: Port | Neighbor, above: str, switch: Switch, ends: tuple[End, End], given: str | None, findings: Findings
) -> None:
    """Compare a description with the other end of the cable, or with the one that the intent gives the port."""
    here, there = ends
    findings.look(DESCRIPTIONS)
    found = described.description
    if found == given if given is not None else names(found, there):
        return
    if not found:
        message = f"no description; the cable goes to {there}"
    elif given is not None:
        message = f"described as {found!r}; the intent says {given!r}"
    else:
        message = f"described as {found!r}, the cable goes to {there}"
    line, statement = described.description_line or described.line, f"{above} description"
    if isinstance(described, Neighbor):
        message = f"neighbor {described.name}: {message}"
    findings.at(DESCRIPTIONS, switch, message, line, given or there, found, part=here.port, statement=statement)


def names(description: str, there: End) -> bool:
    """Return whether a description names both a device and its port."""
    # What `generate` writes, first of all: the search is slow for many thousand ports.
    if description in (f"facing_{there.device}:{there.port}", f"to.{there.device}:{there.port}"):
        return True
    return all(
        re.search(rf"(?<![a-zA-Z0-9/-]){re.escape(word)}(?![\w/-]|:\d)", description)
        for word in (there.device, there.port)
    )


def _check_uncabled(switch: Switch, port: Port, missing: Collection[str], findings: Findings) -> None:
    """Find ports without a cable that are described as if they had one, and split ports with another one's name.

    Where cabled ports are `missing`, the port may be one of them under a wrong name: then that is what is wrong.
    """
    renamed = f"interfaces {port.name}" if missing else ""
    other = neighbor(port)
    if other is not None:
        message = f"described as cabled to {other}, but no cable ends here"
        _add_renamed(findings, switch, port, message, "", renamed)
    elif port.sub_ports is not None:
        findings.look(DESCRIPTIONS)
        if not port.description:
            message = f"{port.name} is split and has no description"
            findings.at(DESCRIPTIONS, switch, message, port.line, part=port.name)
        strange = [found for found in PORT.findall(port.description) if found.partition(":")[0] != port.name]
        if strange:
            message = f"{port.name} is described as {strange[0]}"
            renamed = f"interfaces {port.name}" if strange[0] not in switch.ports else ""
            _add_renamed(findings, switch, port, message, port.name, renamed)


def _add_renamed(findings: Findings, switch: Switch, port: Port, message: str, expected: str, statement: str) -> None:
    """Add a finding about the description of a port; with a statement that is a port under a wrong name."""
    line, found, instead = port.description_line, port.description, bool(statement)
    findings.at(
        DESCRIPTIONS, switch, message, line, expected, found, part=port.name, statement=statement, instead=instead
    )


def _check_vlans(switch: Switch, expected: ExpectedSwitch, findings: Findings) -> None:
    """Compare the description of a leaf's VLAN with the leaf's name and rail."""
    for vlan in switch.vlans:
        if vlan.vlan_id is None or vlan.vlan_id != expected.vlan:
            continue
        findings.look(DESCRIPTIONS)
        name, found, rail = switch.named, vlan.description, expected.rail
        if not names(found, End(name, name)) or any(int(number) != rail for number in RAIL.findall(found)):
            message = f"VLAN {vlan.name} is described as {found!r}; it is that of {name}, rail {rail}"
            line, subjects = vlan.description_line or vlan.line, (about.vlan(name, vlan.name),)
            findings.at(DESCRIPTIONS, switch, message, line, name, found, part=vlan.name, subjects=subjects)


DESCRIPTIONS = Check(
    "AILB007",
    "descriptions of cabled ports and neighbors name the other end, or are the intent's; those of VLANs their leaf",
    "a description is missing, or does not match the cabling",
    "A wrong description, a missing one, or a cable in the wrong port sends the next engineer to the wrong link.",
    "Move the cable in the files, or correct the description.",
    _check_descriptions,
    layer=Layer.DESCRIPTIONS,
)
