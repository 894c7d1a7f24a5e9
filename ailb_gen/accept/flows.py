"""Which NIC sends to which: every one to a NIC of its rail on another leaf, in every color; the same on every run."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import count

from ailb_gen.addresses import Prefix, address_value
from ailb_gen.network.fabric import End, Network
from ailb_gen.network.rails import natural, rails_of

# RoCEv2 senders choose source ports from here on (InfiniBand Architecture, annex A17.9.3).
LEAST_PORT = 0xC000


@dataclass(frozen=True, slots=True)
class FabricNic:
    """A NIC of a server on a rail, the port of its leaf, and the prefix of every color that its files give it.

    `server_rail` is the rail as the server's files count it.
    """

    end: End
    rail: int
    leaf: End
    prefixes: tuple[tuple[str, Prefix], ...]
    server_rail: int


@dataclass(frozen=True, slots=True)
class AcceptFlow:
    """A flow of numbered packets between two NICs in a color; addresses as text, `port` is its UDP source port."""

    number: int
    color: str
    source: FabricNic
    source_address: str
    target: FabricNic
    target_address: str
    prefix: Prefix
    port: int

    def __str__(self) -> str:
        return f"{self.source.end} to {self.target.end} in color {self.color}"


# The addresses that servers have: by server, NIC and color.
Addresses = Mapping[tuple[str, str, str], str]


def fabric_nics(network: Network, servers: Sequence[str]) -> tuple[FabricNic, ...]:
    """Return the cabled NICs of some servers, by rail, leaf and server."""
    found = []
    for server in servers:
        nics = {nic.name: nic for nic in network.hosts[server].profile.host_nics}
        for name, rail in rails_of(network, server, nics).items():
            leaf = network.attachments.get((server, name))
            prefixes = tuple((one.name, one.prefix) for one in nics[name].colors if one.prefix is not None)
            if leaf is not None and prefixes:
                found.append(FabricNic(End(server, name), rail, leaf, prefixes, nics[name].rail))
    return tuple(sorted(found, key=lambda nic: (nic.rail, natural(nic.leaf.device), natural(nic.end.device))))


def peers(nics: Sequence[FabricNic]) -> Iterator[tuple[FabricNic, FabricNic]]:
    """Yield who sends to whom: every NIC sends to one and receives from one, across leaves where there are others.

    Within a rail; rails of one leaf only send to each other.
    """
    rails: dict[int, list[FabricNic]] = defaultdict(list)
    for nic in nics:
        rails[nic.rail].append(nic)
    across = [row for row in rails.values() if len({nic.leaf.device for nic in row}) > 1]
    alone = [nic for row in rails.values() if row not in across for nic in row]
    for row in (*across, alone):
        shifts = sorted(range(1, len(row)), key=lambda shift: abs(2 * shift - len(row)))
        shift = min(shifts, key=lambda shift: _together(row, shift), default=0)
        yield from zip(row, row[shift:] + row[:shift], strict=True) if shift else ()


def _together(row: list[FabricNic], shift: int) -> int:
    """Count the pairs of a rotation that are on one leaf."""
    pairs = zip(row, row[shift:] + row[:shift], strict=True)
    return sum(one.leaf.device == other.leaf.device for one, other in pairs)


def with_addresses(nics: Sequence[FabricNic], addresses: Addresses) -> list[FabricNic]:
    """Return the NICs that have an address of any color: others would only leave their peers without one."""
    return [nic for nic in nics if any((nic.end.device, nic.end.port, color) in addresses for color, _ in nic.prefixes)]


def flows_of(nics: Sequence[FabricNic], addresses: Addresses) -> tuple[AcceptFlow, ...]:
    """Return a flow of every NIC and color to its peer; colors without an address at either end are left out."""
    numbers, ports, found = count(), defaultdict[str, Iterator[int]](lambda: count(LEAST_PORT)), []
    for source, target in peers(with_addresses(nics, addresses)):
        prefixes = dict(target.prefixes)
        for color, _ in source.prefixes:
            ends = [addresses.get((nic.end.device, nic.end.port, color), "") for nic in (source, target)]
            if all(ends) and color in prefixes:
                port = next(ports[source.end.device])
                found.append(AcceptFlow(next(numbers), color, source, ends[0], target, ends[1], prefixes[color], port))
    return tuple(found)


def missing(nics: Sequence[FabricNic], addresses: Addresses) -> Iterator[tuple[FabricNic, str, Prefix]]:
    """Yield every color of a NIC in which it has no address, with the prefix of the address."""
    for nic in nics:
        for color, prefix in nic.prefixes:
            value = address_value(addresses.get((nic.end.device, nic.end.port, color), ""))
            if value is None or not prefix.holds(value):
                yield nic, color, prefix
