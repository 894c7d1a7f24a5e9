"""A fabric to its picture: the devices that the intent asks for or the files have, and the cables of the files."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path

from ailb_gen.checks.expected_hosts import places
from ailb_gen.checks.expected_switches import Outline
from ailb_gen.layout import SUFFIXES, switch_file
from ailb_gen.network.fabric import Cable, Defect, End, Network
from ailb_gen.network.model import speed_text
from ailb_gen.network.read import network_of, switch_count
from ailb_gen.network.routed import listed
from ailb_gen.network.topology import Topology
from ailb_gen.picture.model import DrawnDevice, Picture


def picture_of(expected: Outline, network: Network) -> Picture:
    """Return the picture of a network, which may lack files, or have devices that the intent does not know."""
    attachments = tuple(
        Cable(leaf, End(server, nic), "", network.attachment_bps.get(leaf))
        for (server, nic), leaf in network.attachments.items()
    )
    return picture_from(expected, Topology(network.roles, network.links, attachments))


def picture_in(expected: Outline, root: Path) -> tuple[Picture, tuple[Defect, ...]]:
    """Return the picture of an artifact directory, and the defects of its lists of cables.

    Reads as little as it can: `cabling.csv`, else `topology.json`, else the descriptions of all ports. Raises
    UsageError when `root` is no artifact directory.
    """
    switch_count(root)
    found = listed(root)
    if not found.links:
        network = network_of(root)
        return picture_of(expected, network), network.defects
    return picture_from(expected, found), found.defects


def without_file(picture: Picture, root: Path) -> list[str]:
    """Return the switches of a picture that have no file below `root`."""
    return [
        name
        for name in _switches(picture)
        if not any((root / switch_file(name, suffix)).exists() for suffix in SUFFIXES)
    ]


def unread(picture: Picture, network: Network) -> frozenset[str]:
    """Return the switches of a picture of which a network has no usable file."""
    return frozenset(_switches(picture)) - network.switches.keys()


def _switches(picture: Picture) -> Iterator[str]:
    return (device.name for device in picture.devices if device.role != "server")


def picture_from(expected: Outline, cables: Topology) -> Picture:
    """Return the picture of some cables."""
    colors = tuple(color.name for color in expected.colors)
    carried = _colors_by_spine(cables.links, colors)
    devices = {
        switch.name: DrawnDevice(switch.name, "leaf", switch.stripe, switch.rail)
        if switch.role == "leaf"
        else DrawnDevice(switch.name, "spine", colors=carried.get(switch.name, ()))
        for switch in expected.switches.values()
    }
    for place in places(expected.fabric):
        server = DrawnDevice(place.name, "server", place.stripe, kind=place.kind_name, gpus=bool(place.kind.gpus))
        devices.setdefault(place.name, server)
    for device in _unexpected(cables, devices, carried):
        devices.setdefault(device.name, device)
    for name, speeds in _nic_speeds(cables.attachments).items():
        devices[name] = replace(devices[name], speeds=speeds)
    return Picture(
        fabric=expected.fabric.name,
        colors=tuple(dict.fromkeys((*colors, *(cable.color for cable in cables.links if cable.color)))),
        devices=tuple(devices.values()),
        links=cables.links,
        attachments=cables.attachments,
    )


def _colors_by_spine(links: Iterable[Cable], order: tuple[str, ...]) -> dict[str, tuple[str, ...]]:
    """Return the colors of every spine's links, in the order of the fabric, others behind them."""
    found: dict[str, dict[str, None]] = defaultdict(dict)
    for cable in links:
        if cable.color:
            found[cable.b.device][cable.color] = None
    rank = {color: number for number, color in enumerate(order)}
    return {name: tuple(sorted(row, key=lambda color: rank.get(color, len(rank)))) for name, row in found.items()}


def _nic_speeds(attachments: Iterable[Cable]) -> dict[str, str]:
    """Return the speeds of every server's NICs, such as `200G`; of none if all NICs have the same."""
    found: dict[str, set[int]] = defaultdict(set)
    for cable in attachments:
        if cable.speed_bps:
            found[cable.b.device].add(cable.speed_bps)
    if len(set().union(*found.values())) < 2:
        return {}
    return {name: "/".join(speed_text(bps).upper() for bps in sorted(speeds)) for name, speeds in found.items()}


def _unexpected(
    cables: Topology, known: Mapping[str, DrawnDevice], carried: Mapping[str, tuple[str, ...]]
) -> Iterator[DrawnDevice]:
    """Yield devices that cables or files have and the intent does not; a server is in the stripe of its leaf."""
    for name, role in cables.roles.items():
        if role == "leaf":
            yield DrawnDevice(name, "leaf")
        elif role == "spine":
            yield DrawnDevice(name, "spine", colors=carried.get(name, ()))
    for cable in cables.links:
        yield DrawnDevice(cable.a.device, "leaf")
        yield DrawnDevice(cable.b.device, "spine", colors=carried.get(cable.b.device, ()))
    for cable in cables.attachments:
        leaf = known.get(cable.a.device)
        yield DrawnDevice(cable.a.device, "leaf")
        yield DrawnDevice(cable.b.device, "server", leaf.stripe if leaf is not None else 0)
