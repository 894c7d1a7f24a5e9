"""Check servers against the leaves that they are cabled to: prefixes, gateways, colors, MTUs; and MAC addresses."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from ailb_gen.addresses import Prefix, address_text
from ailb_gen.checks import subjects as about
from ailb_gen.checks.context import Context
from ailb_gen.checks.expected_hosts import ExpectedNic, ExpectedTable, HostGroup
from ailb_gen.checks.families.hosts import HostFindings
from ailb_gen.checks.families.ports import mtu_of
from ailb_gen.checks.layers import Layer
from ailb_gen.checks.model import Check, Findings
from ailb_gen.errors import Place
from ailb_gen.hosts.model import NetplanNic, ServerRoute
from ailb_gen.layout import server_folder
from ailb_gen.network.fabric import End
from ailb_gen.network.model import Port, Switch, Unit

# Junos counts the Ethernet header into the MTU of a port; hosts send untagged.
ETHERNET_HEADER = 14


@dataclass(frozen=True, slots=True)
class Rail:
    """The service of a leaf on the VLAN of a port: its prefixes with their gateways and colors, and the IRB."""

    switch: Switch
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
    """Return the service of a leaf for untagged packets of a VLAN, given by id or name."""
    vlan = next((v for v in switch.vlans if v.name == name or (native is not None and v.vlan_id == native)), None)
    irb = switch.unit(vlan.irb) if vlan is not None and vlan.irb is not None else None
    gateways: dict[Prefix, tuple[int, ...]] = {}
    for address in irb.addresses if irb is not None else ():
        gateways[address.prefix] = (*gateways.get(address.prefix, ()), address.value)
    colors = {route.prefix: route.color for route in switch.routes if route.color is not None}
    return Rail(switch, irb, gateways, colors)


class _Rails:
    """Rails by leaf and VLAN, each computed once."""

    __slots__ = ("context", "rails")

    def __init__(self, context: Context) -> None:
        self.context = context
        self.rails: dict[tuple[str, int | None, str], Rail] = {}

    def at(self, end: End) -> tuple[Port, Rail] | None:
        """Return the port at an end of a cable with its rail; None when the leaf's text does not have it."""
        found = self.context.port_at(end)
        if found is None:
            return None
        switch, port = found
        key = (end.device, *_untagged(port))
        if key not in self.rails:
            self.rails[key] = rail_of(switch, *key[1:])
        return port, self.rails[key]


def _check_cabling(context: Context, findings: Findings) -> None:
    """Compare every NIC with the leaf port that it is cabled to."""
    rails = _Rails(context)
    for group in context.misplaced:
        _add_misplaced(group, findings)
    for group in context.host_groups:
        _check_mtus(group, findings)
        members: dict[tuple[int, int], tuple[Rail, list[str]]] = {}
        for number, nic in enumerate(group.expected.nics):
            for server in group.servers:
                end = context.network.attachments.get((server, nic.name))
                found = rails.at(end) if end is not None else None
                if end is None or found is None:
                    continue
                port, rail = found
                members.setdefault((number, id(rail)), (rail, []))[1].append(server)
                _check_port_mtu(group, server, nic.name, end, port, rail.switch, findings)
        for (number, _), (rail, servers) in members.items():
            nic = group.expected.nics[number]
            end = context.network.attachments[servers[0], nic.name]
            _check_cabled(HostFindings(group, findings, tuple(servers)), nic, rail, end)


def _add_misplaced(group: HostGroup, findings: Findings) -> None:
    """Add a finding for every server that has the profile of others."""
    folder, expected = group.profile.folder, f"a link to {group.expected.profile}"
    for server in group.servers:
        findings.look(GATEWAYS)
        own = server_folder(server)
        message = f"{own} is a link to {folder}, the profile of other servers; it must be {expected}"
        findings.add(GATEWAYS, server, message, Place(own), expected, folder)


def _check_cabled(findings: HostFindings, expected: ExpectedNic, rail: Rail, end: End) -> None:
    """Compare the tables of a NIC of some servers with the rail that they are cabled to; `end` is that of the first."""
    tables = {table.id: table for table in expected.tables}
    nic = findings.group.profile.nics.get(expected.name)
    if nic is None:
        return
    findings.look(GATEWAYS, len(tables) * len(findings.servers))
    _check_irb_mtu(findings, nic, rail)
    if rail.irb is None:
        place = Place(rail.switch.file, rail.switch.ports[end.port].line or 1)
        message = f"{end} puts untagged packets of {nic.name} into no VLAN with an IRB: it has no gateway"
        findings.about(about.end(end)).add(GATEWAYS, message, place, nic=nic.name)
        return
    for number in dict.fromkeys(route.table for route in nic.routes):
        routes = [route for route in nic.routes if route.table == number]
        own = next((route for route in routes if route.to is not None and route.to.length and not route.text[1]), None)
        default = next((route for route in routes if route.to is not None and not route.to.length), None)
        if own is not None and own.to is not None:
            table = tables.get(number) if number is not None else None
            _check_prefix(findings, nic, rail, table, own, own.to)
            if default is not None and default.via is not None:
                _check_gateway(findings, nic, rail, default, own.to)


def _check_prefix(
    findings: HostFindings, nic: NetplanNic, rail: Rail, table: ExpectedTable | None, route: ServerRoute, prefix: Prefix
) -> None:
    """Compare a table's prefix with the leaf's; a table outside the plan has no color to compare."""
    leaf = rail.switch.named
    color = table.color if table is not None else ""
    expected = next((str(p) for p, own in rail.colors.items() if own == color and p in rail.gateways), color)
    if prefix not in rail.gateways:
        message = f"{leaf}, to which the NIC is cabled, has no prefix {prefix} (table {route.table})"
    elif color and rail.colors.get(prefix, color) != color:
        message = f"table {route.table} is for color {color}; {leaf} gives {prefix} color {rail.colors[prefix]}"
    else:
        return
    _of_route(findings, route, prefix).add(GATEWAYS, message, route.file, route.line, expected, prefix, nic.name)


def _check_gateway(findings: HostFindings, nic: NetplanNic, rail: Rail, route: ServerRoute, prefix: Prefix) -> None:
    gateways = rail.gateways.get(prefix)
    if gateways is None or route.via in gateways:
        return
    expected = " or ".join(address_text(gateway) for gateway in gateways)
    message = f"the gateway of table {route.table} must be {expected}, the address of {rail.switch.named} in {prefix}"
    own = _of_route(findings, route, prefix)
    own.add(GATEWAYS, message, route.file, route.via_line, expected, route.text[1], nic.name)


def _of_route(findings: HostFindings, route: ServerRoute, prefix: Prefix) -> HostFindings:
    return findings.about(about.table(findings.scope, route.table), about.prefix(prefix))


def _mtu(nic: NetplanNic | None) -> int | None:
    value = nic.value("mtu") if nic is not None else None
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def _check_irb_mtu(findings: HostFindings, nic: NetplanNic, rail: Rail) -> None:
    host, irb, leaf = _mtu(nic), rail.irb, rail.switch
    limit = irb.inet6_mtu if irb is not None else None
    if host is None or irb is None or limit is None or host <= limit:
        return
    message = f"the MTU of {nic.name} is {host}, {irb.name} of {leaf.named} has {limit}"
    place, involves = Place(leaf.file, irb.line or 1), (about.nic(findings.group.scope, nic.name),)
    expected, statement = f"at most {limit}", mtu_of(irb)
    subjects = (about.nic(findings.scope, nic.name), about.port(leaf.named, irb.name))
    findings.findings.add(
        MTUS,
        findings.scope,
        message,
        place,
        expected,
        host,
        involves=involves,
        part=nic.name,
        statement=statement,
        subjects=subjects,
    )


def _check_port_mtu(
    group: HostGroup, server: str, nic: str, end: End, port: Port, switch: Switch, findings: Findings
) -> None:
    host = _mtu(group.profile.nics.get(nic))
    findings.look(MTUS)
    least = (host or 0) + ETHERNET_HEADER
    if host is not None and port.mtu is not None and least > port.mtu:
        message = f"packets of {host} bytes need an MTU of {least} on {end}, it has {port.mtu}"
        place, involves = Place(switch.file, port.mtu_line or port.line or 1), (about.nic(group.scope, nic),)
        subjects = (about.nic(server, nic), about.end(end))
        expected = f"at least {least}"
        findings.add(MTUS, server, message, place, expected, port.mtu, involves=involves, part=nic, subjects=subjects)


def _check_mtus(group: HostGroup, findings: Findings) -> None:
    """Compare the MTU of every NIC with the intent's."""
    expected = group.expected.mtu
    for nic in group.nics.values():
        findings.look(MTUS)
        found = nic.value("mtu")
        if found != expected:
            message = f"the MTU must be {expected}, not {found if found is not None else 'left to the kernel'}"
            line, shown = nic.line_of("mtu"), found if found is not None else ""
            HostFindings(group, findings).at(MTUS, nic, message, line, expected, shown)


def _check_macs(context: Context, findings: Findings) -> None:
    """Compare how netplan finds every NIC with the intent, and find MAC addresses that are there twice."""
    owners: dict[str, str] = {}
    for group in context.host_groups:
        for expected in group.expected.nics:
            nic = group.profile.nics.get(expected.name)
            if nic is None:
                continue
            findings.look(MACS)
            of_group = HostFindings(group, findings)
            for defect in _mac_defects(nic, expected.mac):
                of_group.at(MACS, nic, *defect)
            if nic.mac is None:
                continue
            for server in group.servers:
                owner = owners.setdefault(nic.mac, f"{server} {nic.name}")
                if owner != f"{server} {nic.name}":
                    message = f"the MAC {nic.mac} of {nic.name} is also that of {owner}"
                    place = of_group.place(nic.file, nic.match[0].line)
                    subjects = (about.nic(server, nic.name),)
                    findings.add(MACS, server, message, place, "", nic.mac, part=nic.name, subjects=subjects)


def _mac_defects(nic: NetplanNic, expected: str) -> Iterator[tuple[str, int, str, str]]:
    """Iterate over (message, line, expected, found)."""
    given, name = nic.mac or "", nic.value("set-name")
    if given != expected:
        wrong = f"the MAC must be {expected}, not {given or 'not set'}"
        line = nic.match[0].line if nic.match else nic.line
        yield wrong if expected else "the intent knows no MAC of this NIC", line, expected, given
    for other in nic.match:
        if other.key != "macaddress":
            yield f"match {other.key} does not belong here", other.line, "", str(other.value)
    expected_name = nic.name if expected else None
    if name != expected_name:
        reason = f"set-name must be {expected_name}" if expected_name else "set-name needs a MAC to match"
        yield reason, nic.line_of("set-name"), expected_name or "", str(name) if name is not None else ""


GATEWAYS = Check(
    "AILB606",
    "prefix and gateway of every table are those of the leaf that the NIC is cabled to, in the order of the colors",
    "a prefix or gateway is not that of the leaf that the NIC is cabled to",
    "A gateway of another rail does not answer: the queue pairs of that color time out, and NCCL hangs.",
    "Correct the table, or the cable: the message names the leaf, its port and its prefixes.",
    _check_cabling,
    layer=Layer.GATEWAYS,
)
MTUS = Check(
    "AILB613",
    "the MTU of every NIC is the intent's, and fits the leaf's IRB and port",
    "the MTU of a NIC is not the intent's, or does not fit its leaf",
    "Packets larger than the leaf's MTU are dropped silently: small messages pass, large ones hang.",
    "Lower the host's MTU, or raise those of the leaf: host <= IRB, and host + 14 <= port.",
    _check_cabling,
    layer=Layer.SERVERS,
)
MACS = Check(
    "AILB614",
    "every NIC is matched by its own MAC address where the intent knows one, and no two NICs share one",
    "a NIC is not matched by its own MAC address, or shares it with another",
    "netplan configures the wrong NIC: rails are swapped although the cabling is right.",
    "Correct the MAC in the intent or its CSV file, and generate again.",
    _check_macs,
    layer=Layer.SERVERS,
)
