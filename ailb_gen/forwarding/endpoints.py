"""Endpoints of flows: NICs of servers with the address of a queue pair, and addresses of switches."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from ailb_gen.addresses import Prefix, address_text, address_value, eui64
from ailb_gen.errors import UsageError
from ailb_gen.hosts.lookup import Lookup, route
from ailb_gen.hosts.model import Host, NetplanNic
from ailb_gen.network.fabric import End, Network
from ailb_gen.network.rails import rails_of
from ailb_gen.routing.rib import Routing
from ailb_gen.wording import counted, did_you_mean, some

MAC = re.compile(r"[0-9a-f]{2}(:[0-9a-f]{2}){5}")


@dataclass(frozen=True, slots=True)
class Endpoint:
    """A NIC of a server with the address of one queue pair, or an address of a switch's own.

    `pair` counts the NIC's prefixes from 1; it is 0 at a switch. `address` has zeros for the interface identifier
    where the NIC's MAC address is not known (`known` is False). `certain` is False where the files do not tell which
    server of several has the address: it is one like this. `leaf` is the port that the NIC is cabled to, None if to
    nothing; a switch's own interface at a switch.
    """

    device: str
    port: str
    pair: int
    prefix: Prefix
    address: int
    known: bool
    certain: bool
    leaf: End | None

    @property
    def text(self) -> str:
        """The address as far as it is known."""
        return address_text(self.address) if self.known else str(self.prefix)


def flows(
    network: Network, source: str, destination: str, pair: int | None = None
) -> tuple[tuple[Endpoint, Endpoint], ...]:
    """Return both ends of every queue pair between `SERVER`, `SERVER:NIC` or addresses.

    Queue pair k goes from the source's k-th prefix to the destination's. Without a NIC the source is its server's
    first, the destination the one on the source's rail. An address belongs to one queue pair; only that is followed.
    Raises UsageError.
    """
    start = _by_address(network, source)
    if start is not None and not start.pair:
        raise UsageError(f"{source}: this is an address of {start.device}, a switch; name a server")
    if start is not None and pair not in (None, start.pair):
        raise UsageError(f"--qp {pair}: {source} is the address of queue pair {start.pair}")
    host, nic = _nic(network, source) if start is None else (network.hosts[start.device], start.port)
    rail = rails_of(network, host.name, host.profile.nics)[nic]
    end = _by_address(network, destination, (host.name, nic))
    chosen = pair or (start.pair if start is not None else 0) or (end.pair if end is not None else 0)
    found = []
    for number in (chosen,) if chosen else range(1, len(_prefixes(host, nic)) + 1):
        first = start or _endpoint(network, host, nic, number)
        found.append((first, end or _endpoint(network, *_nic(network, destination, rail), number)))
    if any((first.device, first.port) == (last.device, last.port) for first, last in found):
        raise UsageError(f"{source} and {destination}: the same NIC; such packets never leave the server")
    return tuple(found)


def leave(network: Network, source: Endpoint, destination: int) -> Lookup:
    """Return how the source's server sends a packet."""
    return route(network.hosts[source.device].profile, source.address, destination)


def _nic(network: Network, text: str, rail: int | None = None) -> tuple[Host, str]:
    """Return the server and the NIC that `SERVER[:NIC]` means; without NIC that on the rail, or the first."""
    name, _, nic = text.partition(":")
    host = network.hosts.get(name)
    if host is None:
        raise UsageError(f"{text!r}: {_unknown(network, name)}")
    names = list(host.profile.nics)
    if nic and nic not in names:
        hint = did_you_mean(nic, names) or f"it has {some(names)}"
        raise UsageError(f"{text!r}: this server has no NIC {nic!r}; {hint}")
    if not names:
        raise UsageError(f"{text!r}: this server has no NICs in its netplan files")
    if not nic and rail is None:
        return host, names[0]
    nic = nic or next((one for one, other in rails_of(network, name, names).items() if other == rail), "")
    if not nic:
        raise UsageError(
            f"{text!r}: this server has {counted(len(names), 'NIC')}, none on rail {rail}; name one of {some(names)}"
        )
    return host, nic


def _unknown(network: Network, name: str) -> str:
    if name in network.switches:
        return "this is a switch; name a server, or an address"
    if name in {server for server, _ in network.attachments}:
        return "the server has cables but no usable files"
    hint = did_you_mean(name, network.hosts) or f"there are {len(network.hosts)}: {some(network.hosts)}"
    return f"there is no server called {name!r}; {hint}"


def _prefixes(host: Host, nic: str) -> list[Prefix]:
    """Return the prefixes of a NIC, in the order of its rules: one per queue pair. Raises UsageError without any."""
    found = sources(host, host.profile.nics[nic])
    if not found:
        raise UsageError(f"{host.name}: {nic} has no usable routing rules, so no queue pair has an address there")
    return found


def sources(host: Host, nic: NetplanNic) -> list[Prefix]:
    """Return the prefixes of a NIC, in the order of its rules: one per queue pair."""
    return [rule.source for rule in host.profile.rules if rule.nic == nic.name and rule.source is not None]


def queue_pair_prefixes(network: Network) -> frozenset[Prefix]:
    """Return every prefix from which a NIC has the address of a queue pair."""
    profiles = {id(host.profile): host for host in network.hosts.values()}
    rows = (sources(host, nic) for host in profiles.values() for nic in host.profile.nics.values())
    return frozenset(prefix for row in rows for prefix in row)


def routed_prefixes(network: Network, routing: Routing) -> list[Prefix]:
    """Return the prefixes of routes that packets between NICs can match."""
    pairs = queue_pair_prefixes(network)
    return [
        prefix
        for prefix in routing.prefixes
        if prefix in pairs or any(prefix.contains(pair) or pair.contains(prefix) for pair in pairs)
    ]


def interface_identifier(nic: NetplanNic) -> int | None:
    """Return the interface identifier that SLAAC makes of the MAC address; None where that is not known."""
    return eui64(nic.mac) if nic.mac is not None and MAC.fullmatch(nic.mac) else None


def _endpoint(network: Network, host: Host, name: str, pair: int) -> Endpoint:
    nic, prefixes = host.profile.nics[name], _prefixes(host, name)
    if pair > len(prefixes):
        raise UsageError(f"--qp {pair}: {nic.name} of {host.name} has {len(prefixes)} prefixes, counted from 1")
    prefix, identifier = prefixes[pair - 1], interface_identifier(nic)
    address = prefix.value + (identifier or 0)
    leaf = network.attachments.get((host.name, nic.name))
    return Endpoint(host.name, name, pair, prefix, address, identifier is not None, True, leaf)


def _by_address(network: Network, text: str, source: tuple[str, str] = ("", "")) -> Endpoint | None:
    """Find what has an address: a switch, a NIC by its MAC address, else any on that prefix; None for other text.

    `source` is the NIC that packets to it come from, which is not any.
    """
    value = address_value(text)
    if value is None:
        return None
    for name, switch in network.switches.items():
        for unit in (unit for port in switch.ports.values() for unit in port.units):
            for address in unit.addresses:
                if address.value == value:
                    return Endpoint(name, unit.name, 0, address.prefix, value, True, True, End(name, unit.name))
    others: list[Endpoint] = []
    guess: Endpoint | None = None
    for found, identifier in _on_prefix(network, value):
        if identifier is not None and found.prefix.value + identifier == value:
            return found
        if identifier is None and (found.device, found.port) != source:
            guess = guess or found
        others.append(found)
    if guess is not None:
        return guess
    if others:
        names = some(f"{end.device} {end.port}" for end in others)
        raise UsageError(f"{text}: no server has this address; on {others[0].prefix} are {names}")
    raise UsageError(f"{text}: no server and no switch has an address there; 'ailb-gen fib SWITCH' lists the prefixes")


def _on_prefix(network: Network, value: int) -> Iterator[tuple[Endpoint, int | None]]:
    """Yield every NIC with a prefix that holds an address, as if it had it, and its interface identifier."""
    for host in network.hosts.values():
        for nic in host.profile.nics.values():
            for pair, prefix in enumerate(sources(host, nic), 1):
                if prefix.holds(value):
                    identifier = interface_identifier(nic)
                    leaf, certain = network.attachments.get((host.name, nic.name)), identifier is not None
                    yield Endpoint(host.name, nic.name, pair, prefix, value, True, certain, leaf), identifier
