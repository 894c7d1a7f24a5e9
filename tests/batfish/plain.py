"""A second reading of IPv4 shadows: a small and plain interpreter of their `set` lines, for tests.

A Batfish service cannot run where the tests run. This interpreter shares nothing with the program: not its parser,
not its simulator, not its translation. What it says of recorded snapshots is compared with what a real service
said (`test_plain.py`); `plain_rows` writes its answers as that service does.

It judges eBGP over one hop between interfaces of one network, as Junos does it. Links are found by address:
`layer1_topology.json` is not read.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING

from tests.batfish.plain_links import Links, Session
from tests.batfish.plain_model import Device, Port, device
from tests.batfish.plain_routes import Route, Tables
from tests.batfish.plain_text import PlainError
from tests.batfish.plain_walk import DELIVERED, LOOP, Flow, ends, flows

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from ipaddress import IPv4Address, IPv4Interface, IPv4Network
    from pathlib import Path

__all__ = ["Interface", "PlainError", "Route", "Session", "Snapshot", "read"]


@dataclass(frozen=True, slots=True)
class Interface:
    """An interface of a switch, and whether it is up."""

    node: str
    port: Port
    active: bool
    access_vlan: int | None


@dataclass(frozen=True)
class Snapshot:
    """An IPv4 shadow, some of whose interfaces are down."""

    devices: Mapping[str, Device]
    down: frozenset[tuple[str, str]] = field(default_factory=frozenset)

    def without(self, nodes: Iterable[str] = (), interfaces: Iterable[tuple[str, str]] = ()) -> Snapshot:
        """Return the snapshot with switches and physical ports down. Raises PlainError for one it does not have."""
        physical = {(node, port.physical) for node, one in self.devices.items() for port in one.ports}
        down = set(interfaces)
        for node, port in sorted(down):
            if (node, port) not in physical or port == "irb":
                raise PlainError(f"there is no physical port {node}[{port}]")
        for node in nodes:
            if node not in self.devices:
                raise PlainError(f"there is no switch {node}")
            down |= {pair for pair in physical if pair[0] == node}
        return replace(self, down=self.down | down)

    @cached_property
    def links(self) -> Links:
        """The interfaces that are up, and the sessions over them."""
        return Links(self.devices, self.down)

    @cached_property
    def tables(self) -> Tables:
        """The routes of all switches."""
        return Tables(self.links)

    def interfaces(self) -> list[Interface]:
        """Return all interfaces: physical ports, their units, and units of `irb`."""
        return [
            Interface(name, port, self.links.is_active(name, port), _access_vlan(one, port))
            for name, one in self.devices.items()
            for port in one.ports
        ]

    def sessions(self) -> Sequence[Session]:
        """Return every side of every BGP session."""
        return self.links.sessions

    def compatibility(self) -> dict[tuple[str, IPv4Address], str]:
        """Return what bgpSessionCompatibility says of every switch and neighbor address."""
        return {(one.neighbor.node, one.neighbor.address): one.configured for one in self.links.sessions}

    def duplicates(self) -> list[tuple[Interface, IPv4Interface]]:
        """Return the addresses that several switches have, also on interfaces that are down."""
        owned = [(one, address) for one in self.interfaces() for address in one.port.addresses]
        nodes: dict[IPv4Address, set[str]] = {}
        for one, address in owned:
            nodes.setdefault(address.ip, set()).add(one.node)
        return [(one, address) for one, address in owned if len(nodes[address.ip]) > 1]

    def routes(self, node: str) -> Mapping[IPv4Network, Sequence[Route]]:
        """Return the BGP routes of a switch's main RIB: for each network all equal next hops."""
        return self.tables.main[node]

    def bgp_rib(self, node: str) -> list[tuple[Route, str]]:
        """Return the BGP routes that a switch holds, each as `BEST` or `BACKUP`."""
        chosen = self.tables.chosen[node]
        received = self.tables.received[node]
        return [
            (route, "BEST" if route in chosen[network] else "BACKUP")
            for network in sorted(received)
            for route in received[network]
        ]

    def reaches(self, node: str, network: IPv4Network) -> bool:
        """Say whether some path from a switch to a network ends there."""
        return DELIVERED in ends(self.tables, node, network)

    def loops(self) -> list[Flow]:
        """Return the flows, from every switch to every network, that some path sends round."""
        return [flow for flow, found in flows(self.tables) if LOOP in found]

    def inconsistent(self) -> list[Flow]:
        """Return the flows that some paths deliver and others do not."""
        return [flow for flow, found in flows(self.tables) if DELIVERED in found and len(found) > 1]


def read(folder: Path) -> Snapshot:
    """Read the snapshot in a folder: all of `configs/*.cfg`.

    Raises PlainError for a line that is no statement of an IPv4 shadow, and for a name that two files have.
    """
    return from_texts({f"configs/{path.name}": path.read_text("utf-8") for path in folder.glob("configs/*.cfg")})


def from_texts(texts: Mapping[str, str]) -> Snapshot:
    """Read a snapshot from the texts of its files, by name. Raises PlainError."""
    devices: dict[str, Device] = {}
    for file in sorted(texts):
        one = device(texts[file], file)
        if one.name in devices:
            raise PlainError(f"{file}: {devices[one.name].file} has host-name {one.name}, too")
        devices[one.name] = one
    if not devices:
        raise PlainError("there is no configs/*.cfg")
    return Snapshot(dict(sorted(devices.items())))


def _access_vlan(one: Device, port: Port) -> int | None:
    vlans = one.vlans_of(port)
    return min(vlans) if port.mode == "access" and vlans else None
