"""Cables from two files, checked against each other; without both, from the descriptions of the ports."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from ailb_gen.errors import Place
from ailb_gen.layout import CABLING, TOPOLOGY
from ailb_gen.network.fabric import Cable, Defect, End
from ailb_gen.network.model import Port, Switch
from ailb_gen.network.speeds import speed_text
from ailb_gen.network.topology import Topology

# What the descriptions of generated ports look like: `facing_spine1:et-0/0/0:0`, `to.h100-01:gpu0_eth`.
FACING = re.compile(r"facing_([^:\s]+):(\S+)")
TO_SERVER = re.compile(r"to\.([^:\s]+):(\S+)")


@dataclass(frozen=True, slots=True)
class Cables:
    """The cables of the fabric, and the contradictions between their sources."""

    links: tuple[Cable, ...]
    attachments: tuple[Cable, ...]
    defects: tuple[Defect, ...]


def cables(switches: Mapping[str, Switch], roles: Mapping[str, str], topology: Topology, cabling: Topology) -> Cables:
    """Merge what `cabling.csv`, `topology.json` and the descriptions say.

    The cabling table, by which cables are laid, goes first, then the topology, then the descriptions.
    """
    described = _described(switches, roles)
    links = cabling.links or topology.links or described.links
    attachments = cabling.attachments or topology.attachments or described.attachments
    compared = _compared(cabling.links + cabling.attachments, topology.links + topology.attachments)
    return Cables(links, attachments, (*_twice(links, attachments), *compared))


def neighbor(port: Port) -> End | None:
    """Return the other end that a port's description names; None when it names none."""
    found = FACING.fullmatch(port.description) or TO_SERVER.fullmatch(port.description)
    return End(found[1], found[2]) if found else None


def _described(switches: Mapping[str, Switch], roles: Mapping[str, str]) -> Topology:
    """Make cables of the descriptions, from the leaf's side; a link needs both ends to agree."""
    links, attachments = [], []
    for name, switch in switches.items():
        for port in switch.ports.values():
            other = neighbor(port)
            if other is None:
                continue
            here = End(name, port.name)
            if TO_SERVER.fullmatch(port.description):
                attachments.append(Cable(here, other, speed_bps=port.speed_bps, line=port.description_line))
            elif roles[name] == "leaf" and other.device in switches:
                far = switches[other.device].ports.get(other.port)
                if far is not None and neighbor(far) == here:
                    links.append(Cable(here, other, speed_bps=port.speed_bps, line=port.description_line))
    return Topology(links=tuple(links), attachments=tuple(attachments))


def _twice(links: tuple[Cable, ...], attachments: tuple[Cable, ...]) -> Iterator[Defect]:
    used = Counter(end for cable in (*links, *attachments) for end in (cable.a, cable.b))
    for cable in (*links, *attachments):
        for end in (cable.a, cable.b):
            if used[end] > 1:
                message = f"{end.port} of {end.device} has {used[end]} cables; a port takes one"
                yield Defect("cabling", f"{end.device} {end.port}", message, Place(CABLING, cable.line or 1))


def _compared(table: tuple[Cable, ...], topology: tuple[Cable, ...]) -> Iterator[Defect]:
    """Compare the two files cable by cable, found by the first end."""
    if not table or not topology:
        return
    expected = {cable.a: cable for cable in topology}
    for cable in table:
        other = expected.pop(cable.a, None)
        scope = f"{cable.a.device} {cable.a.port}"
        place = Place(CABLING, cable.line or 1)
        if other is None:
            yield Defect("cabling", scope, f"{CABLING} has a cable to {cable.b}, {TOPOLOGY} has none", place)
        elif other.b != cable.b:
            yield Defect("cabling", scope, f"{CABLING} says {cable.b}, {TOPOLOGY} says {other.b}", place)
        elif cable.color != other.color:
            colors = f"{CABLING} says color {cable.color or 'none'}, {TOPOLOGY} says {other.color or 'none'}"
            yield Defect("cabling", scope, colors, place)
        elif other.speed_bps is not None and cable.speed_bps != other.speed_bps:
            speeds = f"{CABLING} says {speed_text(cable.speed_bps)}, {TOPOLOGY} says {speed_text(other.speed_bps)}"
            yield Defect("cabling", scope, speeds, place)
    for cable in expected.values():
        scope = f"{cable.a.device} {cable.a.port}"
        yield Defect(
            "cabling",
            scope,
            f"{TOPOLOGY} has a cable to {cable.b}, {CABLING} has none",
            Place(TOPOLOGY, cable.line or 1),
        )
