"""Where packets end in an IPv4 shadow: every choice among equal next hops is followed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator
    from ipaddress import IPv4Address, IPv4Network

    from tests.batfish.plain_routes import Tables

DELIVERED, DROPPED, LOOP = "DELIVERED_TO_SUBNET", "NO_ROUTE", "LOOP"


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
class Path:
    """The switches that a packet passes, and how it ends."""

    nodes: tuple[str, ...]
    end: str


def target(network: IPv4Network) -> IPv4Address:
    """Return an address that stands for a network: its first host."""
    return network.network_address + (1 if network.prefixlen < network.max_prefixlen - 1 else 0)


def paths(tables: Tables, node: str, address: IPv4Address, passed: tuple[str, ...] = ()) -> Iterator[Path]:
    """Iterate over the paths from a switch to an address."""
    nodes = (*passed, node)
    if node in passed:
        yield Path(nodes, LOOP)
        return
    direct = [network for network in tables.links.direct[node] if address in network]
    routes = [network for network in tables.main[node] if address in network]
    if not direct and not routes:
        yield Path(nodes, DROPPED)
        return
    longest = max([*direct, *routes], key=lambda network: network.prefixlen)
    if longest in direct:
        yield Path(nodes, DELIVERED)
        return
    for route in tables.main[node][longest]:
        for neighbor in sorted(tables.links.owners[route.peer] - {node}):
            yield from paths(tables, neighbor, address, nodes)


def ends(tables: Tables, node: str, network: IPv4Network) -> frozenset[str]:
    """Return all ends of paths from a switch to a network."""
    return frozenset(path.end for path in paths(tables, node, target(network)))


def networks(tables: Tables) -> list[IPv4Network]:
    """Return every network that some switch has on an interface or learned by BGP."""
    found = {network for direct in tables.links.direct.values() for network in direct}
    return sorted(found.union(*(table for table in tables.main.values())))


def flows(tables: Tables) -> Iterator[tuple[Flow, frozenset[str]]]:
    """Iterate over the flows from every switch to every network, each with its ends."""
    for node in tables.links.devices:
        for network in networks(tables):
            yield Flow(node, None, target(network)), ends(tables, node, network)
