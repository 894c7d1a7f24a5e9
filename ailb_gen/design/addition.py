"""What a larger fabric has beyond a smaller one: devices, numbers, cables, and the devices that would change."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

from ailb_gen.design.model import Design, DesignServer, DesignSwitch
from ailb_gen.design.switches import ranges
from ailb_gen.wording import counted, plural, some

# The ends of a cable: device and port, then the other device and port.
Ends = tuple[str, str, str, str]


class DesignCable(NamedTuple):
    """A cable of the larger fabric alone; `color` is empty towards a server."""

    device: str
    port: str
    other: str
    other_port: str
    speed_gbps: int
    color: str

    @property
    def ends(self) -> Ends:
        """What is plugged in."""
        return self[:4]


@dataclass(frozen=True, slots=True)
class Addition:
    """What a larger fabric has in addition.

    `renumbered` are existing devices by what changes of them besides new ports, `recolored` counts existing links that
    get another color, `moved` are cables of the smaller fabric that the larger one does not have.
    """

    switches: tuple[DesignSwitch, ...]
    servers: tuple[DesignServer, ...]
    cables: tuple[DesignCable, ...]
    moved: tuple[DesignCable, ...]
    renumbered: dict[str, tuple[str, ...]]
    recolored: int

    @property
    def keeps_all(self) -> bool:
        """Whether existing devices keep their numbers, cables and colors."""
        return not (self.moved or self.renumbered or self.recolored)


def cables(design: Design) -> tuple[DesignCable, ...]:
    """Return the cables of a fabric: leaf to spine, then leaf to server."""
    links = [DesignCable(a, port, b, other, speed, color.name) for a, port, b, other, color, speed in design.links]
    hosts = [
        DesignCable(nic.leaf, port, server.name, nic.name, nic.speed_gbps, "")
        for server in design.servers
        for nic, port in zip(server.config.nics, server.ports, strict=True)
    ]
    return (*links, *hosts)


def addition(before: Design, after: Design) -> Addition:
    """Compare a design with that of a larger fabric."""
    switches = {switch.name: switch for switch in before.switches}
    servers = {server.name: server for server in before.servers}
    old, new = ({cable.ends: cable for cable in cables(design)} for design in (before, after))
    renumbered: dict[str, list[str]] = {}
    devices: tuple[DesignSwitch | DesignServer, ...] = (*after.switches, *after.servers)
    for device in devices:
        known: Any = switches.get(device.name) or servers.get(device.name)
        for what in _differences(known, device) if known is not None else ():
            renumbered.setdefault(what, []).append(device.name)
    return Addition(
        switches=tuple(switch for switch in after.switches if switch.name not in switches),
        servers=tuple(server for server in after.servers if server.name not in servers),
        cables=tuple(cable for ends, cable in new.items() if ends not in old),
        moved=tuple(cable for ends, cable in old.items() if ends not in new),
        renumbered={what: tuple(names) for what, names in renumbered.items()},
        recolored=sum(old[ends].color != cable.color for ends, cable in new.items() if ends in old),
    )


def _differences(old: Any, new: Any) -> Iterator[str]:  # noqa: ANN401 - two switches or two servers
    """Yield which numbers of a device change, of those that do not follow from new neighbors."""
    keys = SWITCH_NUMBERS if isinstance(new, DesignSwitch) else SERVER_NUMBERS
    for what, value in keys.items():
        if not _keeps(value(old), value(new)):
            yield what


def _keeps(old: Any, new: Any) -> bool:  # noqa: ANN401 - a number or a row of them
    """Return whether a number stays, or all numbers of a row, which may become longer."""
    if isinstance(old, tuple):
        return len(new) >= len(old) and all(map(_keeps, old, new))
    return bool(old == new)


def _tables(server: DesignServer) -> tuple[tuple[int, ...], ...]:
    return tuple(tuple(table.id for table in nic.tables) for nic in server.config.nics)


SWITCH_NUMBERS: dict[str, Any] = {
    "AS numbers": lambda switch: switch.asn,
    "router-ids": lambda switch: switch.router_id,
    "loopbacks": lambda switch: switch.loopback,
    "management addresses": lambda switch: switch.management,
    "VLANs": lambda switch: switch.vlan,
    # More of them, for more colors, are a change: servers get addresses and tables.
    "prefixes": lambda switch: [row.text for row in switch.prefixes],
}
SERVER_NUMBERS: dict[str, Any] = {
    "stripes": lambda server: server.stripe,
    "leaf ports": lambda server: server.ports,
    "management addresses": lambda server: server.management,
    "routing tables": _tables,
}


def lines(more: Addition) -> Iterator[tuple[str, str]]:
    """Yield what is new, then what changes, as pairs of a word and a text."""
    for role in ("leaf", "spine"):
        names = [switch.name for switch in more.switches if switch.role == role]
        yield from _row(plural(role, 2), names)
    yield from _row("servers", [server.name for server in more.servers])
    yield from _row("AS numbers", ranges(switch.asn for switch in more.switches))
    yield from _row("router-ids", [switch.router_id for switch in more.switches])
    yield from _row("loopbacks", [switch.loopback for switch in more.switches if switch.loopback])
    managed = [row.management.address for row in more.switches if row.management]
    yield from _row("management", [*managed, *(server.management for server in more.servers if server.management)])
    yield from _row("VLANs", ranges(switch.vlan.id for switch in more.switches if switch.vlan))
    yield from _row("prefixes", [row.text for switch in more.switches for row in switch.prefixes])
    yield from _cabled(more)
    for what, text in changes(more):
        yield f"{what} that change", text


def changes(more: Addition) -> Iterator[tuple[str, str]]:
    """Yield what changes of what is there, as pairs of a word and a text."""
    for what, devices in more.renumbered.items():
        yield what, f"{counted(len(devices), 'device')}: {some(devices)}"
    if more.recolored:
        yield "colors", counted(more.recolored, "existing link")
    if more.moved:
        yield "cables", str(len(more.moved))


def _row(what: str, items: Iterable[str]) -> Iterator[tuple[str, str]]:
    listed = list(items)
    if listed:
        ends = listed[0] if len(listed) == 1 else f"{listed[0]} to {listed[-1]}" if len(listed) > 2 else some(listed)
        yield what, ends if len(listed) == 1 else f"{len(listed)}: {ends}"


def _cabled(more: Addition) -> Iterator[tuple[str, str]]:
    """Yield new cables, and the ports that they take on switches that are there."""
    new = {switch.name for switch in more.switches}
    for what, colored in (("links", True), ("server cables", False)):
        found = [cable for cable in more.cables if bool(cable.color) is colored]
        if found:
            speeds = ", ".join(f"{speed}g" for speed in sorted({cable.speed_gbps for cable in found}))
            yield what, f"{len(found)} of {speeds}"
    ports: dict[str, list[str]] = {}
    for cable in more.cables:
        ends = ((cable.device, cable.port), (cable.other, cable.other_port)) if cable.color else (cable[:2],)
        for device, port in ends:
            if device not in new:
                ports.setdefault(device, []).append(port)
    alike: dict[tuple[str, ...], list[str]] = {}
    for device, names in ports.items():
        alike.setdefault(tuple(names), []).append(device)
    for taken, devices in alike.items():
        who = f"{devices[0]} to {devices[-1]}" if len(devices) > 1 else devices[0]
        shown = taken[0] if len(taken) == 1 else f"{len(taken)}: {taken[0]} to {taken[-1]}"
        yield f"ports of {who}", shown
