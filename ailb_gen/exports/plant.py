"""The cable plant: every cable with an id and both ends, the physical ports and where they are split."""

from __future__ import annotations

import hashlib
from base64 import b32encode
from collections.abc import Iterator
from decimal import Decimal
from typing import NamedTuple

from ailb_gen.design.model import Breakout, Design, HostPort
from ailb_gen.exports.places import Places, RackPosition


class Cage(NamedTuple):
    """A physical port of a device; `speed_gbps` is that of each of its `sub_ports`."""

    device: str
    port: str
    sub_ports: int
    speed_gbps: int
    on_switch: bool

    @property
    def total_gbps(self) -> int:
        """The speed of the whole port."""
        return self.sub_ports * self.speed_gbps

    @property
    def split(self) -> str:
        """The split as people write it, `2x400g`; the speed where it is not split."""
        return f"{self.sub_ports}x{self.speed_gbps}g" if self.sub_ports > 1 else f"{self.speed_gbps}g"


class CableEnd(NamedTuple):
    """One end of a cable; `leg` is the number of the sub-port, empty where the port is not split."""

    device: str
    port: str
    leg: str
    cage: Cage
    position: RackPosition


class PlantCable(NamedTuple):
    """A cable: fabric cables have a color, host cables a rail; `length_m` is None where the tables do not tell."""

    id: str
    a: CableEnd
    b: CableEnd
    speed_gbps: int
    kind: str
    color: str
    rail: str
    length_m: Decimal | None

    @property
    def mark(self) -> str:
        """The color, or the rail: people tell cables apart by it."""
        return self.color or f"rail {self.rail}"


def cable_id(a_device: str, a_port: str, b_device: str, b_port: str) -> str:
    """Return the id of a cable, which depends on its two ends alone: another stripe changes none.

    Ten characters of base 32 (no 0, 1, 8 and 9) are 50 bits: among 65,536 cables two are the same in one of
    500,000 fabrics.
    """
    ends = "\0".join((a_device, a_port, b_device, b_port))
    text = b32encode(hashlib.sha256(ends.encode()).digest()).decode()
    return f"{text[:5]}-{text[5:10]}"


def plant(design: Design, places: Places) -> tuple[PlantCable, ...]:
    """Return all cables in the order of `cabling.csv`: leaf to spine, then leaf to server."""
    splits = {
        (switch.name, port.interface): port.sub_ports
        for switch in design.switches
        for port in switch.interfaces
        if isinstance(port, Breakout)
    }

    def end(device: str, port: str, speed: int, *, on_switch: bool = True) -> CableEnd:
        physical, _, leg = port.partition(":") if on_switch else (port, "", "")
        cage = Cage(device, physical, splits.get((device, physical), 1) if leg else 1, speed, on_switch)
        return CableEnd(device, port, leg, cage, places.position(device))

    def rows() -> Iterator[PlantCable]:
        for link in design.links:
            a = end(link.leaf, link.leaf_interface, link.speed_gbps)
            b = end(link.spine, link.spine_interface, link.speed_gbps)
            yield cable(a, b, link.speed_gbps, "fabric", link.color.name, "")
        for leaf in design.leaves:
            for port in leaf.interfaces:
                if isinstance(port, HostPort):
                    a = end(leaf.name, port.interface, port.speed_gbps)
                    b = end(port.server, port.nic, port.speed_gbps, on_switch=False)
                    yield cable(a, b, port.speed_gbps, "host", "", str(leaf.number - 1))

    def cable(a: CableEnd, b: CableEnd, speed: int, kind: str, color: str, rail: str) -> PlantCable:
        name = cable_id(a.device, a.port, b.device, b.port)
        return PlantCable(name, a, b, speed, kind, color, rail, places.length_m(a.device, b.device))

    return tuple(rows())
