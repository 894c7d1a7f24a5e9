"""Which interfaces of an IPv4 shadow are up, who owns which address, and which BGP sessions that gives."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from ipaddress import IPv4Address, IPv4Interface, IPv4Network

    from tests.batfish.plain_model import Device, Neighbor, Port


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
