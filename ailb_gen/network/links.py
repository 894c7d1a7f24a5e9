"""Cables from two files, checked against each other; without both, from the descriptions of the ports."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace

from ailb_gen.errors import Place, UsageError
from ailb_gen.layout import CABLING, TOPOLOGY
from ailb_gen.network.fabric import Cable, Defect, End
from ailb_gen.network.model import Port, Switch, speed_text
from ailb_gen.network.topology import Topology
from ailb_gen.wording import did_you_mean

# What the descriptions of generated ports look like: `facing_spine1:et-0/0/0:0`, `to.h100-01:gpu0_eth`.
FACING = re.compile(r"facing_([^:\s]+):(\S+)")
TO_SERVER = re.compile(r"to\.([^:\s]+):(\S+)")


def cables(switches: Mapping[str, Switch], roles: Mapping[str, str], topology: Topology, cabling: Topology) -> Topology:
    """Merge what `cabling.csv`, `topology.json` and the descriptions say; the defects are contradictions between them.

    The cabling table, by which cables are laid, goes first, then the topology, then the descriptions.
    """
    found = cabling.completed(topology)
    if not found.links or not found.attachments:
        found = found.completed(_described(switches, roles))
    compared = _compared(cabling.links + cabling.attachments, topology.links + topology.attachments)
    return replace(found, roles=roles, defects=(*_twice(found.links, found.attachments), *compared))


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
    if not table or not topology:
        return
    expected = {cable.a: cable for cable in topology}
    for cable in table:
        other = expected.pop(cable.a, None)
        if other is None:
            yield _contradiction(cable, CABLING, f"{CABLING} has a cable to {cable.b}, {TOPOLOGY} has none")
            continue
        here = there = ""
        if other.b != cable.b:
            here, there = str(cable.b), str(other.b)
        elif cable.color != other.color:
            here, there = f"color {cable.color or 'none'}", other.color or "none"
        elif other.speed_bps is not None and cable.speed_bps != other.speed_bps:
            here, there = speed_text(cable.speed_bps), speed_text(other.speed_bps)
        if here:
            yield _contradiction(cable, CABLING, f"{CABLING} has {here}, {TOPOLOGY} has {there}")
    for cable in expected.values():
        yield _contradiction(cable, TOPOLOGY, f"{TOPOLOGY} has a cable to {cable.b}, {CABLING} has none")


def _contradiction(cable: Cable, file: str, message: str) -> Defect:
    return Defect("cabling", f"{cable.a.device} {cable.a.port}", message, Place(file, cable.line or 1))


def cables_named(known: Iterable[tuple[End, End]], word: str, asked: str = "") -> list[tuple[End, End]]:
    """Return the cables that a word means.

    `DEVICE` for all of a device, `DEVICE:PORT` or `DEVICE PORT` by either end, with or without the unit of the
    interface, `DEVICE:DEVICE` for all between two devices, and `END - END` as checks print it. Raises UsageError, which
    begins with what was `asked`, such as an option.
    """
    cables = list(known)
    devices = {end.device for ends in cables for end in ends}
    one, dash, other = word.partition(" - ")
    if not dash:
        first, _, second = word.partition(":")
        one, other = (first, second) if second in devices else (word.replace(" ", ":", 1), "")
    found = [ends for ends in cables if _joins(ends, one, other) or _joins(ends[::-1], one, other)]
    if not found:
        names = [*sorted(devices), *(str(end) for ends in cables for end in ends)]
        hint = did_you_mean(word, names) or "name one end as DEVICE:PORT, both as DEVICE:DEVICE, or a switch"
        raise UsageError(f"{asked}{' ' if asked else ''}{word!r}: there is no such cable or switch; {hint}")
    return found


def _joins(ends: tuple[End, ...], one: str, other: str) -> bool:
    return _is(ends[0], one) and (not other or _is(ends[1], other))


def _is(end: End, text: str) -> bool:
    return text in (end.device, str(end), f"{end}.0")
