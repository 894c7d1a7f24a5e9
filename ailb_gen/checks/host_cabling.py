"""Servers against the leaves that they are cabled to: prefixes, gateways, colors, MTUs; and their MAC addresses."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ailb_gen.addresses import address_text
from ailb_gen.checks.host_checks import GATEWAYS, MACS, MTUS, NICS, Group
from ailb_gen.errors import Place

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from ailb_gen.addresses import Prefix
    from ailb_gen.checks.expected_devices import ExpectedTable
    from ailb_gen.checks.findings import Findings
    from ailb_gen.hosts.model import Nic, Route
    from ailb_gen.network.fabric import End, Network
    from ailb_gen.network.model import Port, Switch, Unit

# Junos counts the Ethernet header into the MTU of a port; hosts send untagged.
ETHERNET_HEADER = 14


@dataclass(frozen=True, slots=True)
class Rail:
    """What a leaf offers on the VLAN of a port: its prefixes with their gateways and colors, and the IRB."""

    leaf: str
    vlan: int | None
    irb: Unit | None
    gateways: Mapping[Prefix, tuple[int, ...]]
    colors: Mapping[Prefix, str]


def _untagged(port: Port) -> tuple[int | None, str]:
    """Return the VLAN of untagged packets: its id, or its name on an access port."""
    access = next((unit for unit in port.units if unit.switching and unit.mode != "trunk"), None)
    if access is not None:
        return None, access.vlans[0][0] if access.vlans else ""
    return port.native_vlan, ""


def rail_of(switch: Switch, native: int | None, name: str) -> Rail:
    """Return what a leaf offers to untagged packets of a VLAN, given by id or name."""
    vlan = next((v for v in switch.vlans if v.name == name or (native is not None and v.vlan_id == native)), None)
    irb = switch.unit(vlan.irb) if vlan is not None and vlan.irb is not None else None
    gateways: dict[Prefix, tuple[int, ...]] = {}
    for address in irb.addresses if irb is not None else ():
        gateways[address.prefix] = (*gateways.get(address.prefix, ()), address.value)
    colors = {route.prefix: route.color for route in switch.routes if route.color is not None}
    return Rail(switch.named, vlan.vlan_id if vlan is not None else None, irb, gateways, colors)


class _Rails:
    """Rails by leaf and VLAN, each worked out once."""

    __slots__ = ("known", "network")

    def __init__(self, network: Network) -> None:
        self.network = network
        self.known: dict[tuple[str, int | None, str], Rail] = {}

    def at(self, end: End) -> tuple[Port, Rail] | None:
        """Return the port at an end of a cable with its rail; None when the leaf's text does not have it."""
        switch = self.network.switches.get(end.device)
        port = switch.ports.get(end.port) if switch is not None else None
        if switch is None or port is None:
            return None
        key = (end.device, *_untagged(port))
        if key not in self.known:
            self.known[key] = rail_of(switch, *key[1:])
        return port, self.known[key]


@dataclass(frozen=True, slots=True, eq=False)
class _Seat:
    """The servers of a group whose NIC of one number is cabled to the same rail."""

    group: Group
    number: int
    rail: Rail
    servers: tuple[str, ...]

    @property
    def scope(self) -> str:
        """The group and NIC, or the servers when they are not the whole group."""
        whole = len(self.servers) == len(self.group.servers)
        return f"{self.group.scope if whole else self.servers[0]} {self.group.intended.nics[self.number].name}"

    def add(self, collected: Findings, message: str, place: Place, expected: object, found: object) -> None:
        concerned = f" ({len(self.servers)} servers)" if len(self.servers) > 1 else ""
        collected.add(GATEWAYS, self.scope, message + concerned, place, expected, found)


def check_cabling(groups: Iterable[Group], network: Network, collected: Findings) -> None:
    """Compare every NIC with the leaf port that it is cabled to."""
    rails = _Rails(network)
    for group in groups:
        seats: dict[tuple[int, int], list[str]] = {}
        used: dict[int, Rail] = {}
        for number, nic in enumerate(group.intended.nics):
            collected.look(NICS, len(group.servers))
            for server in group.servers:
                end = network.attachments.get((server, nic.name))
                if end is None:
                    message = f"{nic.name} of {server} is cabled to no leaf"
                    collected.add(NICS, f"{server} {nic.name}", message, None, nic.name)
                    continue
                found = rails.at(end)
                if found is None:
                    continue
                port, rail = found
                used[id(rail)] = rail
                seats.setdefault((number, id(rail)), []).append(server)
                _check_port_mtu(group, server, number, end, port, network, collected)
        for (number, key), servers in seats.items():
            _check_seat(_Seat(group, number, used[key], tuple(servers)), network, collected)
    _check_strays(groups, network, collected)


def _check_strays(groups: Iterable[Group], network: Network, collected: Findings) -> None:
    """Find cables to NICs that no server has."""
    known = {(server, nic.name) for group in groups for server in group.servers for nic in group.intended.nics}
    servers = {server for server, _ in known}
    for (server, nic), end in network.attachments.items():
        if (server, nic) not in known:
            what = f"{server} has no GPU NIC {nic}" if server in servers else f"there are no files of a server {server}"
            collected.add(NICS, f"{server} {nic}", f"a cable from {end} leads to {nic}, but {what}", None, "", nic)


def _check_seat(seat: _Seat, network: Network, collected: Findings) -> None:
    intended = seat.group.intended.nics[seat.number]
    nic = seat.group.profile.nics.get(intended.name)
    if nic is None:
        return
    collected.look(GATEWAYS, len(intended.tables) * len(seat.servers))
    rail = seat.rail
    _check_irb_mtu(seat, nic, network, collected)
    if rail.irb is None:
        end = network.attachments[seat.servers[0], intended.name]
        switch = network.switches[rail.leaf]
        place = Place(switch.file, switch.ports[end.port].line or 1)
        message = f"{end} puts untagged packets of {intended.name} into no VLAN with an IRB: it has no gateway"
        seat.add(collected, message, place, "", "")
        return
    tables = {table.id: table for table in intended.tables}
    for number in dict.fromkeys(route.table for route in nic.routes):
        routes = [route for route in nic.routes if route.table == number]
        own = next((route for route in routes if route.to is not None and route.to.length and not route.text[1]), None)
        default = next((route for route in routes if route.to is not None and not route.to.length), None)
        table = tables.get(number) if number is not None else None
        if own is not None and own.to is not None:
            _check_prefix(seat, table, own, own.to, collected)
            if default is not None and default.via is not None:
                _check_gateway(seat, default, own.to, collected)


def _check_prefix(seat: _Seat, table: ExpectedTable | None, route: Route, prefix: Prefix, collected: Findings) -> None:
    """Compare a table's prefix with the leaf's; a table outside the plan has no color to compare."""
    rail = seat.rail
    place = seat.group.place(route.file, route.line)
    color = table.color if table is not None else ""
    expected = next((str(p) for p, own in rail.colors.items() if own == color and p in rail.gateways), color)
    if prefix not in rail.gateways:
        message = f"{rail.leaf}, to which the NIC is cabled, has no prefix {prefix} (table {route.table})"
        seat.add(collected, message, place, expected, prefix)
    elif color and rail.colors.get(prefix, color) != color:
        message = f"table {route.table} is for color {color}; {rail.leaf} gives {prefix} color {rail.colors[prefix]}"
        seat.add(collected, message, place, expected, prefix)


def _check_gateway(seat: _Seat, route: Route, prefix: Prefix, collected: Findings) -> None:
    gateways = seat.rail.gateways.get(prefix)
    if gateways is None or route.via in gateways:
        return
    expected = " or ".join(address_text(gateway) for gateway in gateways)
    message = f"the gateway of table {route.table} must be {expected}, the address of {seat.rail.leaf} in {prefix}"
    seat.add(collected, message, seat.group.place(route.file, route.via_line), expected, route.text[1])


def _mtu(nic: Nic | None) -> int | None:
    value = nic.value("mtu") if nic is not None else None
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def _check_irb_mtu(seat: _Seat, nic: Nic, network: Network, collected: Findings) -> None:
    host, irb = _mtu(nic), seat.rail.irb
    limit = irb.inet6_mtu if irb is not None else None
    if host is None or irb is None or limit is None or host <= limit:
        return
    message = f"the MTU of {nic.name} is {host}, {irb.name} of {seat.rail.leaf} has {limit}"
    place = Place(network.switches[seat.rail.leaf].file, irb.line or 1)
    collected.add(MTUS, seat.scope, message, place, f"at most {limit}", str(host), _nic(seat.group, nic.name))


def _check_port_mtu(
    group: Group, server: str, number: int, end: End, port: Port, network: Network, collected: Findings
) -> None:
    name = group.intended.nics[number].name
    host = _mtu(group.profile.nics.get(name))
    collected.look(MTUS)
    if host is not None and port.mtu is not None and host + ETHERNET_HEADER > port.mtu:
        message = f"packets of {host} bytes need an MTU of {host + ETHERNET_HEADER} on {end}, it has {port.mtu}"
        place = Place(network.switches[end.device].file, port.mtu_line or port.line or 1)
        least = host + ETHERNET_HEADER
        collected.add(MTUS, f"{server} {name}", message, place, f"at least {least}", str(port.mtu), _nic(group, name))


def _nic(group: Group, name: str) -> tuple[str, ...]:
    """Return what a setting of a NIC is about, for what follows from it."""
    return (f"{group.scope} {name}",)


def check_mtus(group: Group, collected: Findings) -> None:
    """Compare the MTU of every NIC with the intent's."""
    intended = group.intended.mtu
    for name, nic in group.nics.items():
        collected.look(MTUS)
        found = nic.value("mtu")
        if found != intended:
            place = group.place(nic.file, nic.line_of("mtu"))
            message = f"the MTU must be {intended}, not {found if found is not None else 'left to the kernel'}"
            group.add(collected, MTUS, message, place, intended, found if found is not None else "", name)


def check_macs(groups: Iterable[Group], collected: Findings) -> None:
    """Compare how netplan finds every NIC with the intent, and find MAC addresses that are there twice."""
    owners: dict[str, str] = {}
    for group in groups:
        for intended in group.intended.nics:
            nic = group.profile.nics.get(intended.name)
            if nic is None:
                continue
            collected.look(MACS)
            for message, line, expected, found in _mac_faults(nic, intended.mac):
                group.add(collected, MACS, message, group.place(nic.file, line), expected, found, nic.name)
            if nic.mac is None:
                continue
            line = nic.match[0].line
            for server in group.servers:
                owner = owners.setdefault(nic.mac, f"{server} {nic.name}")
                if owner != f"{server} {nic.name}":
                    message = f"the MAC {nic.mac} of {nic.name} is also that of {owner}"
                    collected.add(MACS, f"{server} {nic.name}", message, group.place(nic.file, line), "", nic.mac)


def _mac_faults(nic: Nic, intended: str) -> Iterator[tuple[str, int, str, str]]:
    """Iterate over (message, line, expected, found)."""
    given, name = nic.mac or "", nic.value("set-name")
    line = nic.match[0].line if nic.match else nic.line
    if given != intended:
        yield (
            f"the MAC must be {intended}, not {given or 'left open'}"
            if intended
            else "the intent knows no MAC of this NIC",
            line,
            intended,
            given,
        )
    for other in nic.match:
        if other.key != "macaddress":
            yield f"match {other.key} does not belong here", other.line, "", str(other.value)
    expected = nic.name if intended else None
    if name != expected:
        found = str(name) if name is not None else ""
        reason = f"set-name must be {expected}" if expected else "set-name needs a MAC to match"
        yield reason, nic.line_of("set-name"), expected or "", found
