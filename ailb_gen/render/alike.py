"""Texts of switches that differ by names and numbers only: one is rendered with places, the others are filled in.

Only for the shipped templates: they print these names and numbers, and decide nothing by them but whether a Junos
string needs quotes. A shape whose places say otherwise is rendered switch by switch.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from operator import attrgetter, itemgetter
from typing import Any, TypeVar

from ailb_gen.design.model import DesignSwitch
from ailb_gen.render.environment import quoted

T = TypeVar("T")
# On both sides of the number of a place; a Junos string with it needs no quotes.
MARK = "%@%"
INTERFACE, COLOR = attrgetter("interface"), attrgetter("color")
DESCRIPTION, STATEMENTS = itemgetter(1), itemgetter(slice(2, 5))
ADDRESSES = attrgetter("addresses")


def _described(device: DesignSwitch) -> list[tuple[Any, ...]]:
    """Return the ports that have a description: name, description, then what is stated of them."""
    return [row for row in device.interfaces if isinstance(row, tuple)]


def values(device: DesignSwitch) -> list[str]:
    """Return the names and numbers of a switch that those like it have others of, as its text has them."""
    management, vlan = device.management, device.vlan
    found = [device.name, str(device.asn), device.router_id, device.loopback]
    found += (management.address, management.gateway) if management else ()
    found += (str(vlan.id), vlan.name, vlan.description) if vlan else ()
    for prefix in device.prefixes:
        found += (prefix.text, prefix.gateway)
    found += map(quoted, map(DESCRIPTION, _described(device)))
    return found


def with_places(device: DesignSwitch) -> DesignSwitch:
    """Return the switch with numbered places instead of its `values`; what is empty stays empty."""
    numbers = iter(range(len(values(device))))

    def marked(row: T, *names: str) -> T:
        places = {name: f"{MARK}{next(numbers)}{MARK}" for name in names} if row else {}
        filled = {name: place for name, place in places.items() if getattr(row, name)}
        return replace(row, **filled) if filled else row  # type: ignore[type-var]

    return replace(
        marked(device, "name", "asn", "router_id", "loopback"),
        management=marked(device.management, "address", "gateway"),
        vlan=marked(device.vlan, "id", "name", "description"),
        prefixes=tuple(marked(prefix, "text", "gateway") for prefix in device.prefixes),
        interfaces=tuple(
            row._replace(description=f"{MARK}{next(numbers)}{MARK}") if isinstance(row, tuple) else row
            for row in device.interfaces
        ),
    )


def shape(device: DesignSwitch) -> object:
    """Return all that a text depends on but `values`; None for a switch whose links have addresses.

    Colors, settings and AS lists are objects that the whole design shares and keeps.
    """
    if any(map(ADDRESSES, device.fabric_ports)):
        return None
    management, rows = device.management, _described(device)
    return (
        (device.role, device.platform, device.maximum_ecmp, device.port_types, device.extra_config),
        (id(device.device_settings), tuple(map(id, device.as_lists)), bool(device.loopback), device.graceful_shutdown),
        (management.interface, bool(management.gateway)) if management else None,
        (device.vlan is not None, tuple(id(prefix.color) for prefix in device.prefixes)),
        (tuple(map(INTERFACE, device.interfaces)), tuple(map(len, rows)), tuple(map(STATEMENTS, rows))),
        tuple(row for row in device.interfaces if not isinstance(row, tuple)),
        (tuple(map(INTERFACE, device.fabric_ports)), tuple(map(id, map(COLOR, device.fabric_ports)))),
        tuple(
            (row.name, id(row.color), row.neighbor, row.as_list, *map(INTERFACE, row.ports)) for row in device.groups
        ),
    )


class SharedTexts:
    """Texts of the switches of a design by shape; `render` renders one from the templates and may raise."""

    __slots__ = ("known", "render", "seen")

    def __init__(self, render: Callable[[DesignSwitch], str]) -> None:
        self.render = render
        # A text with places, cut at its marks; None for one that must be rendered.
        self.known: dict[object, list[str] | None] = {None: None}
        # Hashes of shapes: a large fabric may have thousands. Two of one hash cost a rendering, no more.
        self.seen: set[int] = set()

    def text(self, device: DesignSwitch) -> str:
        """Return the text of a switch: the first two of a shape are rendered."""
        case = shape(device)
        if pieces := self.known.get(case):
            return _filled(pieces, device)
        text = self.render(device)
        if case in self.known:
            return text
        if (number := hash(case)) not in self.seen:
            self.seen.add(number)
            return text
        pieces = self.render(with_places(device)).split(MARK)
        self.known[case] = pieces if MARK not in text and _filled(pieces, device) == text else None
        return text


def _filled(pieces: Sequence[str], device: DesignSwitch) -> str:
    """Return a text with the values of a switch at its places."""
    found = values(device)
    whole = list(pieces)
    whole[1::2] = [found[int(number)] for number in pieces[1::2]]
    return "".join(whole)
