"""Where a flow starts and ends: servers, their NICs, and the address that belongs to a queue pair."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ailb_gen.addresses import address_text, address_value, eui64
from ailb_gen.errors import UsageError
from ailb_gen.hosts.lookup import Lookup, route
from ailb_gen.intent.messages import did_you_mean

if TYPE_CHECKING:
    from ailb_gen.addresses import Prefix
    from ailb_gen.hosts.model import Host, Nic, Rule
    from ailb_gen.network.fabric import End, Network


@dataclass(frozen=True, slots=True)
class Endpoint:
    """A NIC of a server with the address of one queue pair.

    `address` has zeros for the interface identifier where the NIC's MAC address is not known (`known` is False).
    """

    server: str
    nic: str
    rail: int
    prefix: Prefix
    address: int
    known: bool
    port: End | None

    @property
    def text(self) -> str:
        """The address as far as it is known."""
        return address_text(self.address) if self.known else str(self.prefix)


def endpoint(network: Network, text: str, pair: int, rail: int | None = None) -> Endpoint:
    """Find what `SERVER`, `SERVER:NIC` or an address means.

    `pair` is the queue pair, from 1: it uses the NIC's prefix of that number. Without a NIC it is that of `rail`, or
    the first. Raises UsageError.
    """
    value = address_value(text)
    if value is not None:
        return _by_address(network, value)
    name, _, nic_name = text.partition(":")
    host = network.hosts.get(name)
    if host is None:
        hint = (
            did_you_mean(name, network.hosts) or f"there are {len(network.hosts)} servers; SERVER[:NIC] or an address"
        )
        raise UsageError(f"{text!r}: there is no server called {name!r}; {hint}")
    nics = list(host.profile.nics.values())
    names = [nic.name for nic in nics]
    if nic_name and nic_name not in names:
        raise UsageError(f"{text!r}: {name} has no NIC {nic_name!r}; it has {', '.join(names) or 'none'}")
    number = names.index(nic_name) if nic_name else rail or 0
    if number >= len(nics):
        raise UsageError(f"{text!r}: {name} has {len(nics)} NICs, none on rail {number}")
    rules = _rules(host, nics[number])
    if not 1 <= pair <= len(rules):
        raise UsageError(f"--qp {pair}: {nics[number].name} of {name} has {len(rules)} prefixes, counted from 1")
    source = rules[pair - 1].source
    assert source is not None  # noqa: S101 - _rules returns none without
    return _endpoint(network, host, number, source, None)


def pairs_of(network: Network, end: Endpoint) -> int:
    """Return how many queue pairs a connection of a NIC has: one per prefix."""
    host = network.hosts[end.server]
    return len(_rules(host, list(host.profile.nics.values())[end.rail]))


def _rules(host: Host, nic: Nic) -> list[Rule]:
    """Return the rules of a NIC by priority: one per prefix."""
    return [rule for rule in host.profile.rules if rule.nic == nic.name and rule.source is not None]


def _endpoint(network: Network, host: Host, number: int, prefix: Prefix, address: int | None) -> Endpoint:
    nic = list(host.profile.nics.values())[number]
    known = address is not None or nic.mac is not None
    if address is None:
        address = prefix.value + (eui64(nic.mac) if nic.mac is not None else 0)
    port = network.attachments.get((host.name, nic.name))
    return Endpoint(host.name, nic.name, number, prefix, address, known, port)


def _by_address(network: Network, value: int) -> Endpoint:
    """Find the NIC that has an address: by its MAC, else the only one on that prefix."""
    found: list[Endpoint] = []
    for host in network.hosts.values():
        for number, nic in enumerate(host.profile.nics.values()):
            for rule in _rules(host, nic):
                if rule.source is not None and rule.source.holds(value):
                    mine = nic.mac is not None and rule.source.value + eui64(nic.mac) == value
                    end = _endpoint(network, host, number, rule.source, value)
                    if mine:
                        return end
                    found.append(end)
    if not found:
        raise UsageError(f"{address_text(value)}: no server has a prefix with this address")
    # Any server of the rail will do: they share leaf, prefix and tables.
    return found[0]


def leave(network: Network, source: Endpoint, destination: int) -> Lookup:
    """Return how the source's server sends a packet."""
    return route(network.hosts[source.server].profile, source.address, destination)
