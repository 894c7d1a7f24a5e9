"""Cabled ports of switches: what their cables need of them, speeds and splits."""

from __future__ import annotations

from collections import Counter
from functools import partial
from typing import TYPE_CHECKING

from ailb_gen.checks.address_checks import ACCESS, FABRIC_PORTS, SPEEDS
from ailb_gen.checks.expected import port_override
from ailb_gen.checks.speakers import native_speeds
from ailb_gen.errors import Place
from ailb_gen.network.fabric import End

if TYPE_CHECKING:
    from collections.abc import Callable, Container, Iterator, Mapping

    from ailb_gen.checks.expected import ExpectedFabric
    from ailb_gen.checks.expected_cabling import ExpectedCabling
    from ailb_gen.checks.findings import Findings
    from ailb_gen.checks.model import Check
    from ailb_gen.network.fabric import Network
    from ailb_gen.network.model import Port, Switch, Unit

UNSPLIT: Mapping[str, int] = {}
# A message and the line that it is about; 0 is that of the port.
Told = tuple[str, int]


def check_ports(
    intended: ExpectedFabric, expected_cabling: ExpectedCabling, network: Network, collected: Findings
) -> None:
    """Compare every port at which a cable ends with what the cable needs.

    Findings involve the port where the files have another kind of cable than the intent: that may be their cause.
    """
    vlan_of = {leaf.name: leaf.vlan for leaf in intended.leaves}
    links = {
        end
        for cable in expected_cabling.links
        for end in ((cable.a_device, cable.a_port), (cable.b_device, cable.b_port))
    }
    servers = {(cable.a_device, cable.a_port) for cable in expected_cabling.hosts}
    for end in network.link_ends():
        as_asked = (end.device, end.port) in links
        _check_end(intended, network, end, as_asked, FABRIC_PORTS, _link_port, collected)
    for end in network.attachments.values():
        as_asked = (end.device, end.port) in servers
        _check_end(intended, network, end, as_asked, ACCESS, partial(_server_port, vlan_of.get(end.device)), collected)
    _check_uncabled(intended, servers, network, collected)


def _check_uncabled(
    intended: ExpectedFabric, servers: Container[tuple[str, str]], network: Network, collected: Findings
) -> None:
    """Find ports that carry VLANs of the fabric where no cable of it ends."""
    cabled = {*network.link_ends(), *network.attachments.values()}
    for name, switch in network.switches.items():
        if name not in intended.speakers:
            continue
        for port in switch.ports.values():
            for unit in port.units:
                if unit.switching and End(name, port.name) not in cabled:
                    message = f"{unit.name} switches frames, and no cable of the fabric ends there"
                    scope = f"{name} {port.name}"
                    involves = (scope,) if (name, port.name) in servers else ()
                    collected.add(ACCESS, scope, message, Place(switch.file, unit.line or 1), involves=involves)


def _check_end(
    intended: ExpectedFabric,
    network: Network,
    end: End,
    as_asked: bool,
    check: Check,
    told: Callable[[Switch, Port, Unit | None], Iterator[Told]],
    collected: Findings,
) -> None:
    switch = network.switches.get(end.device)
    if switch is None:
        return
    collected.look(check)
    port, scope = switch.ports.get(end.port), f"{end.device} {end.port}"
    involves = () if as_asked else (scope,)
    if port is None:
        message = "a cable ends here, but the port is not configured"
        collected.add(check, scope, message, Place(switch.file), involves=involves)
        return
    unit = next((unit for unit in port.units if unit.name == f"{port.name}.0"), None)
    off = port_override(intended, end).disabled
    for message, line in (*_state(port, unit, off), *told(switch, port, unit)):
        collected.add(check, scope, message, Place(switch.file, line or port.line or 1), involves=involves)


def _state(port: Port, unit: Unit | None, off: bool) -> Iterator[Told]:
    """Tell what is wrong with a port of whatever kind; `off` is whether the intent disables it."""
    if (port.disabled or (unit is not None and unit.disabled)) and not off:
        yield "the port is disabled", port.line
    if off and not port.disabled:
        yield "the intent disables this port, the file does not", port.line
    for other in port.units:
        if other is not unit:
            yield f"{other.name} does not belong there: a cabled port has unit 0 alone", other.line


def _link_port(switch: Switch, port: Port, unit: Unit | None) -> Iterator[Told]:
    if unit is None or not unit.inet6:
        yield "unit 0 lacks family inet6", port.line
        return
    if port.native_vlan is not None:
        yield f"native VLAN {port.native_vlan} does not belong on a fabric link", port.native_vlan_line
    if unit.addresses or unit.switching:
        yield "a fabric link has link-local addresses only and no switching", unit.line
    yield from _other_families(unit)


def _server_port(vlan: int | None, switch: Switch, port: Port, unit: Unit | None) -> Iterator[Told]:
    if port.native_vlan != vlan:
        yield f"the native VLAN is {port.native_vlan}; it must be {vlan}", port.native_vlan_line
    if unit is None or not unit.switching or unit.mode != "trunk":
        yield "unit 0 must be a trunk of family ethernet-switching", port.line
        return
    ids = {found.name: found.vlan_id for found in switch.vlans}
    for member, line in unit.vlans:
        if ids.get(member, int(member) if member.isdigit() else None) != vlan:
            yield f"VLAN {member} is not the leaf's VLAN {vlan}, or not defined", line
    if not unit.vlans:
        yield "the trunk carries no VLAN", unit.line
    if unit.inet6:
        yield "family inet6 does not belong there: the IRB routes for servers", unit.line
    yield from _other_families(unit)


def _other_families(unit: Unit) -> Iterator[Told]:
    return ((f"family {family} does not belong there", line) for family, line in unit.others)


def check_speeds(
    intended: ExpectedFabric, expected_cabling: ExpectedCabling, network: Network, collected: Findings
) -> None:
    """Compare speed and split of every cabled port with what the intent asks for such cables."""
    uplinks, hosts = f"{intended.fabric.uplinks.speed}g", f"{intended.fabric.host_ports.speed}g"
    ends = [(end, uplinks) for end in network.link_ends()]
    ends += [(end, hosts) for end in network.attachments.values()]
    native = native_speeds(intended)
    for end, speed in ends:
        switch = network.switches.get(end.device)
        if switch is None or end.device not in intended.speakers:
            continue
        collected.look(SPEEDS)
        base = end.port.partition(":")[0]
        parent = switch.ports.get(base)
        split = (parent.sub_ports if parent is not None else None) or 1
        asked = expected_cabling.splits.get(end.device, UNSPLIT).get(base, 1)
        found = (parent.speed if parent is not None else "") or native[end.device].get(base, "")
        place = Place(switch.file, parent.line if parent is not None else 1)
        if split != asked:
            message = f"{base} is {_split(split)}; the intent wants it {_split(asked)}"
            collected.add(SPEEDS, f"{end.device} {end.port}", message, place, asked, split)
        elif found != speed:
            message = f"the speed of {base} is {found or 'unknown'}; the intent asks for {speed}"
            collected.add(SPEEDS, f"{end.device} {end.port}", message, place, speed, found)


def check_ethernet(network: Network, collected: Findings) -> None:
    """Compare error correction and negotiation of both ends of links, and of server ports with each other."""
    said = {
        End(name, port.name): dict(port.ethernet)
        for name, switch in network.switches.items()
        for port in switch.ports.values()
        if port.ethernet
    }
    if not said:
        return
    for cable in network.links:
        rows = [(end, _ethernet(said, end)) for end in (cable.a, cable.b)]
        for (end, own), (far, other) in (rows, rows[::-1]):
            for text, line in own.items():
                if text not in other:
                    message = f"{end.port} has {text}, and {far} at the other end has not: the link stays down"
                    _tell(network, end, message, line, collected)
    hosts = {end: _ethernet(said, end) for end in network.attachments.values()}
    usual = Counter(tuple(sorted(found)) for found in hosts.values()).most_common(1)
    for end, found in hosts.items():
        expected = usual[0][0]
        if tuple(sorted(found)) != expected:
            shown, others = ", ".join(found) or "nothing", ", ".join(expected) or "nothing"
            message = f"{end.port} has {shown} about error correction and negotiation, most server ports {others}"
            _tell(network, end, message, next(iter(found.values()), 1), collected)


def _ethernet(said: Mapping[End, dict[str, int]], end: End) -> dict[str, int]:
    """Return what is said about a port's error correction and negotiation, with the lines; a split port's, too."""
    base = End(end.device, end.port.partition(":")[0])
    return {**said.get(base, {}), **said.get(end, {})}


def _tell(network: Network, end: End, message: str, line: int, collected: Findings) -> None:
    switch = network.switches.get(end.device)
    if switch is not None:
        collected.add(SPEEDS, f"{end.device} {end.port}", message, Place(switch.file, line or 1))


def _split(count: int) -> str:
    return f"split into {count}" if count > 1 else "unsplit"
