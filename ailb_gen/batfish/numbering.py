"""IPv4 numbers that stand for the fabric's IPv6 ones: a /24 for every prefix, a /31 for every cable.

The order of the prefixes is kept, so that adjacent IPv6 prefixes stay adjacent and a policy's range stays a
range.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from ipaddress import AddressValueError, IPv4Address, IPv4Network, collapse_addresses

from ailb_gen.addresses import BITS, Prefix
from ailb_gen.errors import UsageError
from ailb_gen.network.fabric import Cable, End, Network
from ailb_gen.network.model import Address, Switch

# Private addresses (RFC 1918), cut so that a fabric of 512 leaves with 64 colors fits.
PREFIXES = IPv4Network("10.0.0.0/9")
LINKS = IPv4Network("10.128.0.0/10")
HOSTS = IPv4Network("10.192.0.0/10")
PREFIX_LENGTH = 24
MOST_ADDRESSES = 2 ** (32 - PREFIX_LENGTH) - 2


@dataclass(frozen=True)
class Numbering:
    """The numbering of the shadow: a network per prefix, an address in it per address, two addresses per cable."""

    prefixes: Mapping[Prefix, IPv4Network]
    places: Mapping[tuple[int, Prefix], int]
    links: tuple[tuple[Cable, IPv4Address, IPv4Address], ...]

    @cached_property
    def ends(self) -> Mapping[IPv4Address, tuple[End, End]]:
        """The end that has an address, and the other end of its cable."""
        found = {a: (cable.a, cable.b) for cable, a, _ in self.links}
        return found | {b: (cable.b, cable.a) for cable, _, b in self.links}

    def ends_at(self, text: object) -> tuple[End, End] | None:
        """Return the end that has an address and the other end of its cable; None for an address of no cable."""
        try:
            return self.ends.get(IPv4Address(str(text)))
        except AddressValueError:
            return None

    @cached_property
    def meanings(self) -> Mapping[IPv4Network, Prefix]:
        """The IPv6 prefix that an IPv4 one stands for."""
        return {network: prefix for prefix, network in self.prefixes.items()}

    def interface(self, address: Address) -> str:
        """Return `ADDRESS/LENGTH` of an interface's address."""
        network = self.prefixes[address.prefix]
        return f"{network.network_address + self.places[address.value, address.prefix]}/{network.prefixlen}"

    def ranges(self, prefixes: Iterable[Prefix]) -> tuple[IPv4Network, ...]:
        """Return the fewest networks that hold exactly some prefixes."""
        return tuple(collapse_addresses(self.prefixes[prefix] for prefix in prefixes))


def number(network: Network) -> Numbering:
    """Assign numbers to all prefixes, addresses and cables in the files. Raises UsageError when a pool is too small."""
    values: dict[Prefix, set[int]] = {}
    for switch in network.switches.values():
        for address in addresses_of(switch):
            values.setdefault(address.prefix, set()).add(address.value)
        # A route without its prefix is not announced; it still needs a number that nothing else has.
        for route in switch.routes:
            values.setdefault(route.prefix, set())
    single = sorted(prefix for prefix in values if prefix.length == BITS)
    wide = sorted(prefix for prefix in values if prefix.length < BITS)
    table = dict(zip(wide, _subnets(PREFIXES, PREFIX_LENGTH, len(wide), "prefixes"), strict=True))
    table |= dict(zip(single, _subnets(HOSTS, 32, len(single), "single addresses"), strict=True))
    return Numbering(table, dict(_places(values)), tuple(_links(network)))


def addresses_of(switch: Switch) -> Iterator[Address]:
    """Iterate over all IPv6 addresses of a switch, also those of disabled interfaces."""
    return (address for port in switch.ports.values() for unit in port.units for address in unit.addresses)


def _subnets(pool: IPv4Network, length: int, count: int, kind: str) -> list[IPv4Network]:
    room = 2 ** (length - pool.prefixlen)
    if count > room:
        raise UsageError(f"the IPv4 shadow has addresses for {room:,} {kind}, the files have {count:,}")
    step = 2 ** (32 - length)
    first = int(pool.network_address)
    return [IPv4Network((first + index * step, length)) for index in range(count)]


def _places(values: Mapping[Prefix, set[int]]) -> Iterator[tuple[tuple[int, Prefix], int]]:
    """Assign every address its place in its prefix: equal addresses stay equal, different ones different."""
    for prefix, found in values.items():
        if len(found) > MOST_ADDRESSES:
            raise UsageError(
                f"the IPv4 shadow has {MOST_ADDRESSES} addresses in {prefix}, the files have {len(found):,}"
            )
        first = 0 if prefix.length == BITS else 1
        for place, value in enumerate(sorted(found), first):
            yield (value, prefix), place


def _links(network: Network) -> Iterator[tuple[Cable, IPv4Address, IPv4Address]]:
    pairs = _subnets(LINKS, 31, len(network.links), "cables between switches")
    for pair, cable in zip(pairs, network.links, strict=True):
        yield cable, pair[0], pair[1]
