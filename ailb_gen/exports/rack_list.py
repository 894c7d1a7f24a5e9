"""Rack-and-stack list: the devices of a technician in order of work, and their ports in the order of cabling."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from typing import NamedTuple

from ailb_gen.design.ports import sort_key
from ailb_gen.exports.cable_labels import LabeledCable, labeled
from ailb_gen.exports.kind import ExportInput
from ailb_gen.exports.places import NOWHERE, RackPosition, read_places
from ailb_gen.exports.plant import CableEnd
from ailb_gen.textio import csv_text

COLUMNS = (
    *("group", "order", "device", "role", "model", "serial", "rack", "unit", "port", "cable_id"),
    *("peer_device", "peer_port", "peer_rack", "peer_unit", "media", "length_m", "color", "rail", "optic", "done"),
)


class PortWork(NamedTuple):
    """A port to cable: its own end, the other one, and the optic to plug in."""

    here: CableEnd
    there: CableEnd
    optic: str
    cable: LabeledCable


class DeviceWork(NamedTuple):
    """A device to mount, with its ports in order; `order` counts from 1 in its group."""

    order: int
    device: str
    role: str
    model: str
    position: RackPosition
    ports: tuple[PortWork, ...]


class WorkGroup(NamedTuple):
    """The work of a technician: a rack, or a stripe or the spines where the racks are unknown."""

    name: str
    devices: tuple[DeviceWork, ...]


def work_groups(given: ExportInput) -> tuple[WorkGroup, ...]:
    """Return all devices by rack, from the lowest unit upwards; by stripe those whose rack is unknown.

    Raises IntentError and UsageError for options and tables.
    """
    design = given.design
    places = read_places(given.printed.racks, given.printed.lengths, design.roles)
    ports: dict[str, list[PortWork]] = defaultdict(list)
    for one in labeled(given):
        ports[one.cable.a.device].append(PortWork(one.cable.a, one.cable.b, one.optics[0], one))
        ports[one.cable.b.device].append(PortWork(one.cable.b, one.cable.a, one.optics[1], one))
    groups: dict[str, list[tuple[str, str, str, RackPosition]]] = defaultdict(list)
    switches = [(one.name, one.role, one.platform, one.stripe) for one in design.switches]
    for name, role, model, stripe in (*switches, *((one.name, "server", "", one.stripe) for one in design.servers)):
        position = places.position(name)
        unplaced = "spines" if role == "spine" else f"stripe {stripe}"
        groups[f"rack {position.rack}" if position is not NOWHERE else unplaced].append((name, role, model, position))
    return tuple(WorkGroup(name, tuple(_devices(rows, ports))) for name, rows in groups.items())


def _devices(rows: list[tuple[str, str, str, RackPosition]], ports: dict[str, list[PortWork]]) -> Iterator[DeviceWork]:
    rows.sort(key=lambda row: row[3].unit or 0)
    for order, (name, role, model, position) in enumerate(rows, 1):
        own = ports.get(name, [])
        if role != "server":
            own.sort(key=lambda work: sort_key(work.here.port))
        yield DeviceWork(order, name, role, model, position, tuple(own))


def table(given: ExportInput) -> str:
    """Return a row per port, one for a device without ports; `serial` and `done` are for people to fill in."""
    return csv_text(COLUMNS, _rows(given))


def _rows(given: ExportInput) -> Iterator[tuple[object, ...]]:
    for group in work_groups(given):
        for device in group.devices:
            start = (group.name, device.order, device.device, device.role, device.model, "", *device.position)
            if not device.ports:
                yield (*start, *[""] * 12)
            for work in device.ports:
                cable = work.cable.cable
                there = (cable.id, work.there.device, work.there.port, *work.there.position)
                more = (work.cable.media, work.cable.length, cable.color, cable.rail, work.optic, "")
                yield (*start, work.here.port, *there, *more)
