"""A snapshot, some of whose interfaces are down: sessions of BGP, and where packets end.

It takes eBGP over one hop between interfaces of one network, as Junos does it. Links are found by address:
`layer1_topology.json` is not read. Of the next hops of a packet all are followed.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING

from tests.batfish.fake.model import Device, Neighbor, Port, is_set, real_device, shadow_device
from tests.batfish.fake.routes import Route, Tables
from tests.batfish.fake.text import PlainError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from ipaddress import IPv4Address, IPv4Interface, IPv4Network
    from pathlib import Path

DELIVERED, DROPPED, LOOP = "DELIVERED_TO_SUBNET", "NO_ROUTE", "LOOP"


@dataclass(frozen=True, slots=True)
class Session:
    """One side of a BGP session.

    `status` and `configured` are Batfish's words; `local` is the address that it speaks from, if that is known,
    `remote` the other side if it is established, `match` the one other side whose configuration fits.
    """

    neighbor: Neighbor
    local: IPv4Address | None
    status: str
    configured: str
    remote: Neighbor | None
    match: Neighbor | None


@dataclass(frozen=True)
class Links:
    """The interfaces of all switches, some of which are down."""

    devices: Mapping[str, Device]
    down: frozenset[tuple[str, str]]

    @cached_property
    def active(self) -> Mapping[str, frozenset[str]]:
        """The interfaces of every switch that are up, units and IRBs too."""
        return {name: self._active(device) for name, device in self.devices.items()}

    def is_active(self, node: str, port: Port) -> bool:
        """Say whether an interface is up."""
        return port.name in self.active[node]

    def addresses(self, node: str) -> Iterator[tuple[Port, IPv4Interface]]:
        """Iterate over the addresses of the interfaces of a switch that are up."""
        for port in self.devices[node].ports:
            if self.is_active(node, port):
                yield from ((port, address) for address in port.addresses)

    @cached_property
    def owners(self) -> Mapping[IPv4Address, frozenset[str]]:
        """The switches that have an address on an interface that is up."""
        found: dict[IPv4Address, frozenset[str]] = {}
        for node in self.devices:
            for _, address in self.addresses(node):
                found[address.ip] = found.get(address.ip, frozenset()) | {node}
        return found

    @cached_property
    def direct(self) -> Mapping[str, frozenset[IPv4Network]]:
        """The networks on the interfaces of every switch that are up."""
        return {node: frozenset(address.network for _, address in self.addresses(node)) for node in self.devices}

    @cached_property
    def sessions(self) -> tuple[Session, ...]:
        """Both sides of every session, established or not."""
        return tuple(self._session(neighbor) for neighbor in self._neighbors())

    def _active(self, device: Device) -> frozenset[str]:
        ports = [port for port in device.ports if not port.is_irb and not self._is_down(device, port)]
        carried = {number for port in ports for number in device.vlans_of(port)}
        irbs = [port for port in device.ports if port.is_irb and not self._is_down(device, port)]
        up = [irb for irb in irbs if device.vlans.get(device.gateways.get(irb.name, "")) in carried]
        return frozenset(port.name for port in [*ports, *up])

    def _is_down(self, device: Device, port: Port) -> bool:
        return port.disabled or (device.name, port.physical) in self.down

    def _neighbors(self) -> Iterator[Neighbor]:
        return (neighbor for device in self.devices.values() for neighbor in device.neighbors)

    def _session(self, neighbor: Neighbor) -> Session:
        matches = [other for other in self._neighbors() if self._fit(neighbor, other)]
        reached = [other for other in matches if self._reach(neighbor, other)]
        configured = self._configured(neighbor, len(matches))
        match = matches[0] if configured == "UNIQUE_MATCH" else None
        if len(reached) == 1:
            return Session(neighbor, reached[0].address, "ESTABLISHED", configured, reached[0], match)
        status = "NOT_ESTABLISHED" if match else "NOT_COMPATIBLE"
        return Session(neighbor, neighbor.local_address, status, configured, None, match)

    def _fit(self, one: Neighbor, other: Neighbor) -> bool:
        """Say whether two sides name each other: by address, by AS and by local address."""
        return (
            one.node != other.node
            and one.peer_as == other.local_as
            and other.peer_as == one.local_as
            and one.local_address in (None, other.address)
            and other.local_address in (None, one.address)
            and one.node in self.owners.get(other.address, ())
            and other.node in self.owners.get(one.address, ())
        )

    def _reach(self, one: Neighbor, other: Neighbor) -> bool:
        """Say whether each side's address is in a network of the other side."""
        return all(
            any(address.ip == own and peer in address.network for _, address in self.addresses(node))
            for node, own, peer in ((one.node, other.address, one.address), (other.node, one.address, other.address))
        )

    def _configured(self, neighbor: Neighbor, matches: int) -> str:
        """Return bgpSessionCompatibility's word; it asks in this order."""
        if neighbor.local_address is None:
            return "NO_LOCAL_IP"
        if neighbor.peer_as is None:
            return "NO_REMOTE_AS"
        if neighbor.node not in self.owners.get(neighbor.local_address, ()):
            return "INVALID_LOCAL_IP"
        if neighbor.address not in self.owners:
            return "UNKNOWN_REMOTE"
        return {0: "HALF_OPEN", 1: "UNIQUE_MATCH"}.get(matches, "MULTIPLE_REMOTES")


@dataclass(frozen=True)
class Snapshot:
    """The switches of a snapshot, and the interfaces (node, physical port) that are down."""

    devices: Mapping[str, Device]
    down: frozenset[tuple[str, str]] = field(default_factory=frozenset)

    def without(self, nodes: Iterable[str] = (), interfaces: Iterable[tuple[str, str]] = ()) -> Snapshot:
        """Return the snapshot with switches and physical ports down; names that are not there are ignored."""
        physical = {(node, port.physical) for node, one in self.devices.items() for port in one.ports}
        down = {pair for pair in physical if pair[0] in set(nodes) or (pair in set(interfaces) and pair[1] != "irb")}
        return replace(self, down=self.down | down)

    @cached_property
    def links(self) -> Links:
        """The interfaces that are up, and the sessions over them."""
        return Links(self.devices, self.down)

    @cached_property
    def tables(self) -> Tables:
        """The routes of all switches."""
        return Tables(self.links)

    @property
    def sessions(self) -> Sequence[Session]:
        """Every side of every BGP session."""
        return self.links.sessions

    def routes(self, node: str) -> Mapping[IPv4Network, Sequence[Route]]:
        """Return the BGP routes of a switch's main RIB: for each network all equal next hops."""
        return self.tables.main[node]

    def bgp_rib(self, node: str) -> list[tuple[Route, str]]:
        """Return the BGP routes that a switch holds, each as `BEST` or `BACKUP`."""
        chosen, received = self.tables.chosen[node], self.tables.received[node]
        return [
            (route, "BEST" if route in chosen[network] else "BACKUP")
            for network in sorted(received)
            for route in received[network]
        ]


def read(folder: Path) -> Snapshot:
    """Read the snapshot in a folder: all of `configs/`. Raises PlainError."""
    return from_texts({f"configs/{path.name}": path.read_text("utf-8") for path in folder.glob("configs/*")})


def from_texts(texts: Mapping[str, str]) -> Snapshot:
    """Read a snapshot from the texts of its files, by name. Raises PlainError."""
    # Real files are curly, or have IPv6.
    real = any("inet6" in text or not is_set(text) for text in texts.values())
    devices = [(real_device if real else shadow_device)(texts[file], file) for file in sorted(texts)]
    counts = Counter(device.name for device in devices)
    if not real and max(counts.values(), default=0) > 1:
        raise PlainError(f"two files have one host-name: {counts.most_common(1)}")
    # Batfish gives devices of one name names of their own, made of the name and the file.
    named = {
        device.name
        if counts[device.name] == 1
        else f"{device.name}__{re.sub(r'[/.]', '_', device.file).lower()}": device
        for device in devices
    }
    return Snapshot({name: replace(device, name=name) for name, device in sorted(named.items())})


@dataclass(frozen=True, slots=True)
class Flow:
    """A packet and where it starts: on a switch, or on one of its interfaces; its text is that of pybatfish."""

    node: str
    interface: str | None
    address: IPv4Address

    def __str__(self) -> str:
        interface = f" interface={self.interface}" if self.interface else ""
        return f"start={self.node}{interface} [0.0.0.0:49152->{self.address}:33434 UDP]"


@dataclass(frozen=True, slots=True)
class Walk:
    """The switches that a packet passes, and how it ends."""

    nodes: tuple[str, ...]
    end: str


def target(network: IPv4Network) -> IPv4Address:
    """Return an address that stands for a network: its first host."""
    return network.network_address + (1 if network.prefixlen < network.max_prefixlen - 1 else 0)


def walks(tables: Tables, node: str, address: IPv4Address, passed: tuple[str, ...] = ()) -> Iterator[Walk]:
    """Iterate over the walks from a switch to an address."""
    nodes = (*passed, node)
    if node in passed:
        yield Walk(nodes, LOOP)
        return
    direct = [network for network in tables.links.direct[node] if address in network]
    routes = [network for network in tables.main[node] if address in network]
    if not direct and not routes:
        yield Walk(nodes, DROPPED)
        return
    longest = max([*direct, *routes], key=lambda network: network.prefixlen)
    if longest in direct:
        yield Walk(nodes, DELIVERED)
        return
    for route in tables.main[node][longest]:
        for neighbor in sorted(tables.links.owners[route.peer] - {node}):
            yield from walks(tables, neighbor, address, nodes)


def ends(tables: Tables, node: str, network: IPv4Network) -> frozenset[str]:
    """Return all ends of paths from a switch to a network."""
    return frozenset(walk.end for walk in walks(tables, node, target(network)))


def networks(tables: Tables) -> list[IPv4Network]:
    """Return every network that some switch has on an interface or learned by BGP."""
    found = {network for direct in tables.links.direct.values() for network in direct}
    return sorted(found.union(*(table for table in tables.main.values())))


def all_flows(tables: Tables) -> Iterator[tuple[Flow, frozenset[str]]]:
    """Iterate over the flows from every switch to every network, each with its ends."""
    for node in tables.links.devices:
        for network in networks(tables):
            yield Flow(node, None, target(network)), ends(tables, node, network)
