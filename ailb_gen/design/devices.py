"""The devices of a fabric as an inventory names them: role, place, management address."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from ailb_gen.design import check, numbers
from ailb_gen.design.build import DesignBuilder
from ailb_gen.design.colors import color_of, step_of
from ailb_gen.design.inventory import Slot
from ailb_gen.design.model import Color
from ailb_gen.design.numbers import ipv4_text
from ailb_gen.errors import Place
from ailb_gen.intent.load import Intent

Role = Literal["leaf", "spine", "server"]
Kind = Literal["switch", "server"]


@dataclass(frozen=True, slots=True)
class FabricDevice:
    """A device as the intent names it.

    `stripe` counts from 1 and is 0 on spines; `rail` counts from 0 and is None where a device has none or all;
    `colors` are those of a spine's links, in the fabric's order. `address` is the management address, empty without
    one, and `place` is where it was decided. `server_kind` is the key in `server_kinds`, empty for other devices.
    """

    name: str
    role: Role
    stripe: int
    rail: int | None
    colors: tuple[str, ...]
    address: str
    place: Place
    server_kind: str

    @property
    def kind(self) -> Kind:
        """Data to connect."""
        return "server" if self.role == "server" else "switch"


def devices(intent: Intent) -> tuple[FabricDevice, ...]:
    """Return leaves, spines and servers in order. Raises IntentError when they have no names or addresses to go by."""
    builder = DesignBuilder(intent)
    fabric, problems = builder.fabric, builder.problems
    seated = [(stripe, seat) for stripe, row in enumerate(builder.seats, 1) for seat in row]
    check.check_names(builder.slots, builder.seated, problems)
    given = builder.hand_out()
    rows = [(n, seat.given.management, problems.where(seat.levels, "management")) for n, (_, seat) in enumerate(seated)]
    managed = numbers.management(rows, fabric.management.servers, ("management", "servers"), problems)
    problems.stop_on_errors()

    result = []
    for one in given:
        slot, (cidr, path) = one.slot, one.management
        address = ipv4_text(cidr.address) if cidr else ""
        rail, own = (slot.number - 1, ()) if slot.role == "leaf" else (None, _colors(slot, builder.colors, intent))
        result.append(
            FabricDevice(slot.name, slot.role, slot.stripe, rail, own, address, intent.source.locate(path), "")
        )
    for (stripe, seat), (cidr, path) in zip(seated, managed, strict=True):
        address = ipv4_text(cidr.address) if cidr else ""
        place = intent.source.locate(path)
        result.append(FabricDevice(seat.name, "server", stripe, None, (), address, place, seat.kind.name))
    return tuple(result)


def _colors(spine: Slot, palette: tuple[Color, ...], intent: Intent) -> tuple[str, ...]:
    links, step = intent.fabric.links_per_spine, step_of(intent.fabric)
    found = {color_of(palette, step, spine.index, link) for link in range(links)}
    return tuple(color.name for color in sorted(found, key=lambda color: color.number))


def automatic_groups(device: FabricDevice) -> tuple[str, ...]:
    """Return the groups that a device belongs to by what it is, the most specific first."""
    rail = () if device.rail is None else (f"rail{device.rail}",)
    stripe = (f"stripe{device.stripe}",) if device.stripe else ()
    own = (device.server_kind,) if device.server_kind else ()
    return tuple(dict.fromkeys((*own, *rail, *stripe, device.role, device.kind)))
