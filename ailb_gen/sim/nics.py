"""The NICs of the servers as their files and those of the leaves describe them: cables and usable addresses."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from ailb_gen.addresses import Prefix, address_text, interface_value
from ailb_gen.forwarding.endpoints import interface_identifier, sources
from ailb_gen.hosts.lookup import route
from ailb_gen.hosts.model import Host, NetplanNic
from ailb_gen.network.fabric import End, Network
from ailb_gen.network.model import Switch, Unit, vlan_interfaces
from ailb_gen.network.rails import cabled_nics, natural


@dataclass(frozen=True, slots=True)
class QueuePair:
    """An address of a NIC that a queue pair can use; without MAC address in the files it has no interface identifier.

    `number` counts the NIC's routing rules from 1.
    """

    number: int
    prefix: Prefix
    address: int


@dataclass(frozen=True, slots=True)
class ServerNic:
    """A NIC of a server; `leaf` is the port that it is cabled to, None if that carries nothing.

    `doubts` are the queue pairs that the files do not make usable, with the reason.
    """

    server: str
    nic: str
    leaf: End | None
    pairs: tuple[QueuePair, ...]
    doubts: tuple[str, ...]

    @property
    def name(self) -> str:
        """`SERVER:NIC`."""
        return f"{self.server}:{self.nic}"


@dataclass(frozen=True, slots=True)
class _Segment:
    """The gateways of a server on a leaf's port: addresses of the leaf, and prefixes that it announces there."""

    addresses: frozenset[int] = frozenset()
    announced: frozenset[Prefix] = frozenset()


@dataclass(frozen=True, slots=True)
class _Source:
    """The gateway of packets from one address: `gateway` is None if there is none or if packets do not leave."""

    pair: QueuePair
    gateway: int | None
    static: bool
    reason: str = ""


def server_nics(network: Network) -> list[ServerNic]:
    """Return the NICs of all servers that have cables or routing rules, by server, then NIC, in natural order.

    A queue pair needs a routing rule, an address that the leaf announces (or that netplan sets), and a route to other
    prefixes over this NIC and a gateway on its leaf. A NIC that lacks one is left out and listed in `doubts`.
    """
    reader = _NicReader(network)
    return [reader.nic(host, name) for host, name in _named(network)]


def _named(network: Network) -> Iterator[tuple[Host, str]]:
    cabled = cabled_nics(network)
    for host in sorted(network.hosts.values(), key=lambda host: natural(host.name)):
        ruled = (rule.nic for rule in host.profile.rules)
        names = {*cabled.get(host.name, ()), *ruled}
        yield from ((host, name) for name in sorted(names, key=natural))


class _NicReader:
    """Reads every profile and every kind of leaf port once."""

    def __init__(self, network: Network) -> None:
        self.network = network
        self.known: dict[tuple[str, str], list[_Source]] = {}
        self.segments: dict[object, _Segment] = {}
        self.vlans: dict[str, Mapping[int, frozenset[str]]] = {}
        profiles = {host.profile.folder: host.profile for host in network.hosts.values()}.values()
        self.prefixes = {
            profile.folder: tuple(rule.source for rule in profile.rules if rule.source is not None)
            for profile in profiles
        }

    def nic(self, host: Host, name: str) -> ServerNic:
        """Return a NIC of a server."""
        key = host.profile.folder, name
        if key not in self.known:
            self.known[key] = list(self._sources(host, name))
        leaf = self._leaf(host.name, name)
        segment = self._segment(leaf) if leaf is not None else None
        pairs, doubts = [], []
        for source in self.known[key]:
            reason = source.reason or (_refused(source, segment, leaf) if segment is not None else "")
            if reason:
                doubts.append(f"{host.name}:{name}, queue pair {source.pair.number}: {reason}")
            else:
                pairs.append(source.pair)
        return ServerNic(host.name, name, leaf, tuple(pairs), tuple(doubts))

    def _sources(self, host: Host, name: str) -> Iterator[_Source]:
        nic = host.profile.nics.get(name)
        if nic is None:
            return
        identifier = interface_identifier(nic) or 0
        formed = nic.value("accept-ra") is not False
        for number, prefix in enumerate(sources(host, nic), 1):
            static = next((value for value in _static(nic) if prefix.holds(value)), None)
            address = prefix.value + identifier if static is None else static
            pair = QueuePair(number, prefix, address)
            gateway, reason = self._exit(host, name, pair)
            if static is None and not formed:
                reason = f"{name} ignores router advertisements, and netplan sets no address in {prefix}"
            yield _Source(pair, gateway, static is not None, reason)

    def _exit(self, host: Host, name: str, pair: QueuePair) -> tuple[int | None, str]:
        """Return the gateway of packets to other prefixes, and why they do not leave over this NIC."""
        far = self._far(host, name)
        for target in (pair.prefix.value, *far):
            found = route(host.profile, pair.address, target)
            if found.route is None:
                return None, f"table {found.table_name} has no route to {address_text(target)}"
            if found.nic != name:
                return None, f"packets to {address_text(target)} leave over {found.nic}"
        if far and found.gateway is None:
            return None, f"packets to {address_text(target)} have no gateway"
        return found.gateway, ""

    def _far(self, host: Host, name: str) -> tuple[int, ...]:
        """Return an address that is not on the NIC's own prefixes, and if possible not on the server's; or nothing."""
        others = (one for folder, row in self.prefixes.items() if folder != host.profile.folder for one in row)
        own = {rule.source for rule in host.profile.rules if rule.nic == name}
        near = frozenset(self.prefixes[host.profile.folder])
        rest = (prefix for prefix in self.prefixes[host.profile.folder] if prefix not in own)
        found = next((prefix for prefix in others if prefix not in near), None) or next(rest, None)
        return (found.value,) if found is not None else ()

    def _leaf(self, server: str, nic: str) -> End | None:
        """Return the leaf's port that a NIC is cabled to, if it is there and enabled."""
        end = self.network.attachments.get((server, nic))
        switch = self.network.switches.get(end.device) if end is not None else None
        port = switch.ports.get(end.port) if end is not None and switch is not None else None
        return end if port is not None and not port.disabled else None

    def _segment(self, end: End) -> _Segment:
        """Return the gateways of a server on a port without tags: those of its own unit, or of its VLAN's IRB."""
        switch = self.network.switches[end.device]
        port = switch.ports[end.port]
        unit = switch.unit(f"{end.port}.0")
        if unit is None or unit.disabled:
            return _Segment()
        key = unit.name if unit.addresses else (unit.switching, unit.mode, unit.vlans, port.native_vlan)
        if (end.device, key) not in self.segments:
            if end.device not in self.vlans:
                self.vlans[end.device] = vlan_interfaces(switch)
            vlans = self.vlans[end.device]
            inside = [
                members
                for vlan, members in vlans.items()
                if unit.name in members and (unit.mode != "trunk" or vlan == port.native_vlan)
            ]
            names = {unit.name, *(name for members in inside for name in members if name.startswith("irb."))}
            units = [found for name in sorted(names) if (found := switch.unit(name)) is not None]
            self.segments[end.device, key] = _segment(switch, units)
        return self.segments[end.device, key]


def _segment(switch: Switch, units: Iterable[Unit]) -> _Segment:
    able = [unit for unit in units if not unit.disabled]
    advertised = [switch.advertisements[unit.name] for unit in able if unit.name in switch.advertisements]
    return _Segment(
        frozenset(address.value for unit in able for address in unit.addresses),
        frozenset(prefix.prefix for one in advertised for prefix in one.prefixes if prefix.autonomous),
    )


def _static(nic: NetplanNic) -> Iterator[int]:
    """Yield the addresses that netplan sets."""
    written = nic.value("addresses")
    for text in written if isinstance(written, tuple) else ():
        found = interface_value(text) if isinstance(text, str) else None
        if found is not None:
            yield found[0]


def _refused(source: _Source, segment: _Segment, leaf: End | None) -> str:
    """Return why a queue pair cannot be used on a leaf's port; empty if it can."""
    if source.gateway is not None and source.gateway not in segment.addresses:
        return f"the gateway {address_text(source.gateway)} is no address on {leaf}"
    if not source.static and source.pair.prefix not in segment.announced:
        return f"no router announces {source.pair.prefix} on {leaf}"
    return ""
