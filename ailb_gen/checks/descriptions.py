"""Descriptions of ports and VLANs, which people at the switch go by."""

from __future__ import annotations

import re
from collections import defaultdict
from typing import TYPE_CHECKING

from ailb_gen.checks.expected import port_override
from ailb_gen.checks.file_checks import DESCRIPTIONS
from ailb_gen.errors import Place
from ailb_gen.network.fabric import End
from ailb_gen.network.links import neighbour

if TYPE_CHECKING:
    from ailb_gen.checks.expected import ExpectedFabric
    from ailb_gen.checks.findings import Findings
    from ailb_gen.checks.speakers import WantedSpeaker
    from ailb_gen.network.fabric import Network
    from ailb_gen.network.model import Port, Switch

PORT = re.compile(r"\b[a-z]{2}-\d+/\d+/\d+(?::\d+)?\b")
RAIL = re.compile(r"\brail\s*(\d+)")


def check_descriptions(intended: ExpectedFabric, network: Network, collected: Findings) -> None:
    """Compare the descriptions of cabled and split ports with the cables, those of VLANs with their leaf."""
    cabled: dict[str, set[str]] = defaultdict(set)
    for cable in network.links:
        _check_end(intended, network, cable.a, cable.b, collected)
        _check_end(intended, network, cable.b, cable.a, collected)
        cabled[cable.a.device].add(cable.a.port)
        cabled[cable.b.device].add(cable.b.port)
    for (server, nic), end in network.attachments.items():
        _check_end(intended, network, end, End(server, nic), collected)
        cabled[end.device].add(end.port)
    for name, switch in network.switches.items():
        for port in switch.ports.values():
            if port.name not in cabled[name]:
                _check_uncabled(switch, port, collected)
        asked = intended.speakers.get(name)
        if asked is not None:
            _check_vlans(switch, asked, collected)


def _check_end(intended: ExpectedFabric, network: Network, here: End, there: End, collected: Findings) -> None:
    switch = network.switches.get(here.device)
    port = switch.ports.get(here.port) if switch is not None else None
    if switch is None or port is None:
        return
    collected.look(DESCRIPTIONS)
    said, given = port.description, port_override(intended, here).description
    if said == given if given is not None else names(said, there):
        return
    if not said:
        message = f"no description; the cable goes to {there}"
    elif given is not None:
        message = f"described as {said!r}; the intent says {given!r}"
    else:
        message = f"described as {said!r}, the cable goes to {there}"
    place = Place(switch.file, port.description_line or port.line or 1)
    collected.add(DESCRIPTIONS, str(here).replace(":", " ", 1), message, place, given or there, said)


def names(said: str, there: End) -> bool:
    """Tell whether a description names both a device and its port."""
    # What `generate` writes, first of all: the search is slow for many thousand ports.
    if said in (f"facing_{there.device}:{there.port}", f"to.{there.device}:{there.port}"):
        return True
    return all(
        re.search(rf"(?<![a-zA-Z0-9/-]){re.escape(word)}(?![\w/-]|:\d)", said) for word in (there.device, there.port)
    )


def _check_uncabled(switch: Switch, port: Port, collected: Findings) -> None:
    """Find ports without a cable that are described as if they had one, and split ports with another one's name."""
    place, scope = Place(switch.file, port.description_line or 1), f"{switch.named} {port.name}"
    other = neighbour(port)
    if other is not None:
        message = f"described as cabled to {other}, but no cable ends here"
        collected.add(DESCRIPTIONS, scope, message, place, "", port.description)
    elif port.sub_ports is not None:
        collected.look(DESCRIPTIONS)
        if not port.description:
            message = f"{port.name} is split and has no description"
            collected.add(DESCRIPTIONS, scope, message, Place(switch.file, port.line or 1))
        strange = [found for found in PORT.findall(port.description) if found.partition(":")[0] != port.name]
        if strange:
            message = f"{port.name} is described as {strange[0]}"
            collected.add(DESCRIPTIONS, scope, message, place, port.name, port.description)


def _check_vlans(switch: Switch, asked: WantedSpeaker, collected: Findings) -> None:
    """Compare the description of a leaf's VLAN with the leaf's name and rail."""
    for vlan in switch.vlans:
        if vlan.vlan_id != asked.vlan:
            continue
        collected.look(DESCRIPTIONS)
        said = vlan.description
        rails = RAIL.findall(said)
        if not names(said, End(asked.name, asked.name)) or any(int(rail) != asked.rail for rail in rails):
            message = f"VLAN {vlan.name} is described as {said!r}; it is that of {asked.name}, rail {asked.rail}"
            place = Place(switch.file, vlan.description_line or vlan.line or 1)
            collected.add(DESCRIPTIONS, f"{asked.name} {vlan.name}", message, place, asked.name, said)
