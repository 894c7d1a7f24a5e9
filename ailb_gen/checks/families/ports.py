"""Check the ports of switches at which cables end: families, VLANs, speeds and splits, and MTUs."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial

from ailb_gen.checks import subjects as about
from ailb_gen.checks.context import Context
from ailb_gen.checks.expected import port_override
from ailb_gen.checks.expected_switches import ExpectedSwitch, native_speeds
from ailb_gen.checks.layers import Layer
from ailb_gen.checks.locate import OR
from ailb_gen.checks.model import Check, Findings
from ailb_gen.network.fabric import End
from ailb_gen.network.model import GIGABIT, Port, Switch, Unit, speed_text

UNSPLIT: Mapping[str, int] = {}


@dataclass(frozen=True, slots=True)
class PortDefect:
    """A defect of a port: a message, its line (0 is that of the port), the statement below the port.

    A statement that begins with `/` is below no port. `vlans` are the names and numbers of VLANs that it is about.
    """

    message: str
    line: int
    below: str
    instead: bool = False
    vlans: tuple[object, ...] = ()


Inspect = Callable[["Switch", "Port", "Unit | None"], "Iterator[PortDefect]"]

# A VLAN id.
VLAN = re.compile(r"[0-9]{1,4}")


def _check_fabric_ports(context: Context, findings: Findings) -> None:
    links = context.cabling.links
    ends = {End(cable.a_device, cable.a_port) for cable in links} | {
        End(cable.b_device, cable.b_port) for cable in links
    }
    for end in context.network.link_ends():
        inspect = partial(_link_defects, (end.device, end.port) in context.cabling.addresses)
        _check_end(context, end, end in ends, FABRIC_PORTS, inspect, findings)


def _check_access(context: Context, findings: Findings) -> None:
    network = context.network
    ends = {End(cable.a_device, cable.a_port) for cable in context.cabling.hosts}
    vlans = {leaf.name: leaf.vlan for leaf in context.expected.leaves}
    for end in network.attachments.values():
        _check_end(context, end, end in ends, ACCESS, partial(_server_defects, vlans.get(end.device)), findings)
    cabled = {*network.link_ends(), *network.attachments.values()}
    for switch, _ in context.switches:
        for port in switch.ports.values():
            for unit in port.units:
                end = End(switch.named, port.name)
                if unit.switching and end not in cabled:
                    message = f"{unit.name} switches frames, and has no cable of the fabric"
                    involves = (about.end(end),) if end in ends else ()
                    findings.at(ACCESS, switch, message, unit.line, involves=involves, part=port.name)


def _check_end(context: Context, end: End, as_asked: bool, check: Check, inspect: Inspect, findings: Findings) -> None:
    """Compare a port at which a cable ends with what the cable needs.

    Findings involve the port where the files have another kind of cable than the intent: that may be their cause.
    """
    switch = context.network.switches.get(end.device)
    if switch is None:
        return
    findings.look(check)
    port = switch.ports.get(end.port)
    involves = () if as_asked else (about.end(end),)
    if port is None:
        message = "a cable ends here, but the port is not configured"
        statement = f"interfaces {end.port}"
        findings.at(check, switch, message, involves=involves, part=end.port, statement=statement)
        return
    unit = next((unit for unit in port.units if unit.name == f"{port.name}.0"), None)
    disabled = port_override(context.expected, end).disabled
    for defect in (*_state_defects(port, unit, disabled), *inspect(switch, port, unit)):
        statement = defect.below[1:] if defect.below.startswith("/") else f"interfaces {port.name} {defect.below}"
        if defect.below == "disable":
            # What is split off a disabled port is disabled with it.
            statement = f"interfaces {port.name.partition(':')[0]} disable{OR}{statement}"
        findings.at(
            check,
            switch,
            defect.message,
            defect.line or port.line,
            involves=involves,
            part=end.port,
            statement=statement,
            instead=defect.instead,
            subjects=(about.end(end), *(about.vlan(end.device, vlan) for vlan in defect.vlans)),
        )


def _state_defects(port: Port, unit: Unit | None, disabled: bool) -> Iterator[PortDefect]:
    """Yield the defects that any cabled port may have; `disabled` is whether the intent disables it."""
    if (port.disabled or (unit is not None and unit.disabled)) and not disabled:
        below = "disable" if port.disabled else "unit 0 disable"
        yield PortDefect("the port is disabled", port.line, below)
    if disabled and not port.disabled:
        yield PortDefect("the port is disabled in the intent and not in the file", port.line, "disable")
    for other in port.units:
        if other is not unit:
            below = f"unit {other.name.rpartition('.')[2]}"
            message = f"{other.name} does not belong there: a cabled port has unit 0 alone"
            yield PortDefect(message, other.line, below, instead=True)


def _link_defects(addressed: bool, switch: Switch, port: Port, unit: Unit | None) -> Iterator[PortDefect]:
    if unit is None or not unit.inet6:
        yield PortDefect("unit 0 lacks family inet6", port.line, "unit 0 family inet6")
        return
    if port.native_vlan is not None:
        message = f"native VLAN {port.native_vlan} does not belong on a fabric link"
        yield PortDefect(message, port.native_vlan_line, "native-vlan-id", instead=True)
    if (unit.addresses and not addressed) or unit.switching:
        below = "family ethernet-switching" if unit.switching else "family inet6 address"
        message = "a fabric link has link-local addresses only and no switching"
        yield PortDefect(message, unit.line, f"unit 0 {below}")
    yield from _other_families(unit)


def _renamed(switch: Switch, ids: dict[str, int | None], vlan: int | None) -> str | None:
    """Return the name of a VLAN where no port names any that is there: then that is the wrong one."""
    members = {member for port in switch.ports.values() for unit in port.units for member, _ in unit.vlans}
    return next((name for name, number in ids.items() if number == vlan and members.isdisjoint(ids)), None)


def _server_defects(vlan: int | None, switch: Switch, port: Port, unit: Unit | None) -> Iterator[PortDefect]:
    if port.native_vlan != vlan:
        message = f"the native VLAN is {port.native_vlan}; it must be {vlan}"
        yield PortDefect(message, port.native_vlan_line, "native-vlan-id")
    switching = "unit 0 family ethernet-switching"
    if unit is None or not unit.switching or unit.mode != "trunk":
        message = "unit 0 must be a trunk of family ethernet-switching"
        yield PortDefect(message, port.line, f"{switching} interface-mode")
        return
    ids = {found.name: found.vlan_id for found in switch.vlans}
    for member, line in unit.vlans:
        if ids.get(member, int(member) if VLAN.fullmatch(member) else None) != vlan:
            renamed = _renamed(switch, ids, vlan)
            message = f"VLAN {member} is not the leaf's VLAN {vlan}, or not defined"
            below = f"/vlans {renamed}" if renamed else f"{switching} vlan members {member}"
            yield PortDefect(message, line, below, vlans=(member, vlan))
    if not unit.vlans:
        yield PortDefect("the trunk carries no VLAN", unit.line, f"{switching} vlan members")
    if unit.inet6:
        message = "family inet6 does not belong there: the IRB routes for servers"
        yield PortDefect(message, unit.line, "unit 0 family inet6", instead=True)
    yield from _other_families(unit)


def _other_families(unit: Unit) -> Iterator[PortDefect]:
    for family, line in unit.others:
        yield PortDefect(f"family {family} does not belong there", line, f"unit 0 family {family}", instead=True)


def _spare_defect(port: Port | None) -> PortDefect | None:
    """Return why a port is not spare; the first reason is the cause of others."""
    if port is None or not port.disabled:
        return PortDefect("it must be disabled", port.line if port is not None else 1, "disable")
    if port.sub_ports is not None:
        return PortDefect("it must not be split", port.line, "number-of-sub-ports")
    if port.speed_bps is not None:
        return PortDefect("it must have no speed", port.line, "speed")
    if port.units:
        below = f"unit {port.units[0].name.rpartition('.')[2]}"
        return PortDefect(f"it must have no {below}", port.units[0].line, below)
    return None


def _check_spare(context: Context, findings: Findings) -> None:
    for device, ports in context.cabling.spare.items():
        switch = context.network.switches.get(device)
        if switch is None:
            continue
        findings.look(SPARE, len(ports))
        for name in ports:
            defect = _spare_defect(switch.ports.get(name))
            if defect is not None:
                message = f"the intent leaves the port free: {defect.message}"
                statement = f"interfaces {name} {defect.below}"
                findings.at(SPARE, switch, message, defect.line, part=name, statement=statement)


def _check_channels(context: Context, findings: Findings) -> None:
    """Find channels of a split port that are to be split again."""
    for switch, _ in context.switches:
        for port in switch.ports.values():
            if ":" in port.name and port.sub_ports is not None:
                message = "number-of-sub-ports does not belong there: it is a channel of a port that is split already"
                statement, found = f"interfaces {port.name} number-of-sub-ports", port.sub_ports
                findings.at(
                    SPEEDS, switch, message, port.line, "", found, part=port.name, statement=statement, instead=True
                )


def _check_speeds(context: Context, findings: Findings) -> None:
    """Compare speed and split of every cabled port with what the intent specifies for such cables."""
    network, uplinks = context.network, context.fabric.uplinks.speed * GIGABIT
    speeds = context.host_speeds
    ends = [
        *((end, uplinks) for end in network.link_ends()),
        *((end, speeds[nic]) for nic, end in network.attachments.items() if nic in speeds),
    ]
    native = native_speeds(context.expected)
    _check_channels(context, findings)
    for end, speed in ends:
        switch = network.switches.get(end.device)
        if switch is None or end.device not in context.expected.switches:
            continue
        findings.look(SPEEDS)
        base = end.port.partition(":")[0]
        parent = switch.ports.get(base)
        split = (parent.sub_ports if parent is not None else None) or 1
        asked = context.cabling.splits.get(end.device, UNSPLIT).get(base, 1)
        found = parent.speed_bps if parent is not None else None
        if found is None:
            found = native[end.device].get(base)
        line = parent.line if parent is not None else 1
        if split != asked:
            message = f"{base} is {_split(split)}; the intent has it {_split(asked)}"
            statement = f"interfaces {base} number-of-sub-ports"
            _add_speed(findings, switch, end, message, line, statement, (asked, split))
        elif found != speed:
            expected, seen = speed_text(speed), speed_text(found)
            message = f"the speed of {base} is {seen}; the intent specifies {expected}"
            statement = f"interfaces {base} speed"
            _add_speed(findings, switch, end, message, line, statement, (expected, seen))
    _check_ethernet(context, findings)


def _add_speed(
    findings: Findings, switch: Switch, end: End, message: str, line: int, statement: str, values: tuple[object, object]
) -> None:
    """Add a finding about speed or split: the statement is that of the physical port, the subject the channel."""
    own = (about.end(end),)
    findings.at(SPEEDS, switch, message, line, *values, part=end.port, statement=statement, subjects=own)


def _check_ethernet(context: Context, findings: Findings) -> None:
    """Compare error correction and negotiation of both ends of links, and of server ports with each other."""
    switches, network = context.network.switches, context.network
    if not any(port.ethernet for switch in switches.values() for port in switch.ports.values()):
        return
    for cable in network.links:
        rows = [(end, _ethernet(switches, end)) for end in (cable.a, cable.b)]
        for (end, own), (far, other) in (rows, rows[::-1]):
            for text, line in own.items():
                if text not in other:
                    message = f"{end.port} has {text}, {far} at the other end lacks it: the link stays down"
                    subjects = tuple(about.end(one) for one in (end, far))
                    findings.at(SPEEDS, switches[end.device], message, line, part=end.port, subjects=subjects)
    hosts = {end: _ethernet(switches, end) for end in network.attachments.values()}
    usual = Counter(tuple(sorted(found)) for found in hosts.values()).most_common(1)
    for end, found in hosts.items():
        expected = usual[0][0]
        switch = switches.get(end.device)
        if tuple(sorted(found)) != expected and switch is not None:
            shown, others = ", ".join(found) or "nothing", ", ".join(expected) or "nothing"
            message = f"{end.port} has {shown} for FEC and autonegotiation, most server ports {others}"
            findings.at(SPEEDS, switch, message, next(iter(found.values()), 1), part=end.port)


def _ethernet(switches: Mapping[str, Switch], end: End) -> dict[str, int]:
    """Return the statements about a port's error correction and negotiation, with lines; a split port's, too."""
    ports = switches[end.device].ports if end.device in switches else {}
    rows = (ports[name].ethernet for name in (end.port.partition(":")[0], end.port) if name in ports)
    return {text: line for row in rows for text, line in row}


def _split(count: int) -> str:
    return f"split into {count}" if count > 1 else "unsplit"


DEFAULT = "Junos's default"


def _check_mtus(context: Context, findings: Findings) -> None:
    for switch, expected in context.switches:
        spare = context.cabling.spare.get(switch.named, ())
        for name in {*context.cabled_ports(switch.named), *expected.ports, "irb"}.difference(spare):
            port = switch.ports.get(name)
            if port is not None:
                _check_port_mtus(switch, expected, port, findings)


def _check_port_mtus(switch: Switch, asked: ExpectedSwitch, port: Port, findings: Findings) -> None:
    """Compare the MTU of a port, and on the IRB that of every unit; other units take the port's without their own."""
    irb, least = port.name == "irb", asked.settings.mtu.irb
    findings.look(MTUS, len(port.units) if irb else 1)
    rows = [
        (unit.name, "IPv6 MTU", least, unit.inet6_mtu, unit.line, mtu_of(unit)) for unit in port.units if unit.inet6
    ]
    rows = rows if irb else []
    if port.units or not irb:
        line, statement = port.mtu_line or port.line, f"interfaces {port.name} mtu"
        rows.append((port.name, "MTU", asked.mtu_of(port.name), port.mtu, line, statement))
    for name, what, expected, mtu, line, statement in rows:
        if mtu != expected:
            found = mtu if mtu is not None else DEFAULT
            message = f"the {what} of {name} must be {expected}, not {found}"
            part = "" if name == "irb" else name
            findings.at(MTUS, switch, message, line, expected, found, part=part, statement=statement)
    for unit in port.units if not irb else ():
        # What an IRB may send must pass.
        if unit.inet6_mtu is not None and unit.inet6_mtu < least:
            message = f"the IPv6 MTU of {unit.name} is {unit.inet6_mtu}; packets of {least} must pass"
            findings.at(MTUS, switch, message, unit.line, least, unit.inet6_mtu, part=unit.name, statement=mtu_of(unit))


def mtu_of(unit: Unit) -> str:
    """Return the statement of a unit's IPv6 MTU."""
    port, _, number = unit.name.rpartition(".")
    return f"interfaces {port} unit {number} family inet6 mtu"


def _check_links(context: Context, findings: Findings) -> None:
    for cable in context.network.links:
        own, other = context.port_at(cable.a), context.port_at(cable.b)
        if own is None or other is None:
            continue
        findings.look(LINK_MTUS)
        (switch, here), (_, there) = own, other
        if here.mtu != there.mtu:
            expected, found = here.mtu or DEFAULT, there.mtu or DEFAULT
            message = f"the MTU of {cable.a} is {expected}, that of {cable.b} is {found}"
            line = here.mtu_line or here.line
            subjects = (about.end(cable.a), about.end(cable.b))
            findings.at(LINK_MTUS, switch, message, line, expected, found, part=cable.a.port, subjects=subjects)


ACCESS = Check(
    "AILB106",
    "every server port is there, enabled, and a trunk with the leaf's VLAN, alone and native",
    "a server port is missing, disabled, or in the wrong VLAN or mode",
    "Servers send untagged packets: with another native VLAN they end in no VLAN, or in that of another rail.",
    "Set native-vlan-id and vlan members to the leaf's VLAN.",
    _check_access,
    layer=Layer.PORTS,
)
FABRIC_PORTS = Check(
    "AILB108",
    "every port of a link is enabled and has IPv6 on unit 0, and nothing else",
    "a port of a link is disabled, lacks IPv6 on unit 0, or has other units or families",
    "A port that is disabled, or lacks family inet6, carries nothing.",
    "Configure unit 0 of the port, or delete `disable`.",
    _check_fabric_ports,
    layer=Layer.PORTS,
)
SPARE = Check(
    "AILB113",
    "ports that the intent leaves free are out of service",
    "a port that the intent leaves free is not disabled, or is split, has a speed or a unit",
    "Whatever is plugged into a port without a purpose must not become part of the fabric.",
    "Leave only the description and `disable` at the port, or take it out of `spare_ports`.",
    _check_spare,
    layer=Layer.PORTS,
)
SPEEDS = Check(
    "AILB109",
    "ports have the channels and speed of the intent, and the same FEC and autonegotiation on both ends",
    "a port has other channels or another speed than in the intent, or other FEC or autonegotiation than its other end",
    "A link whose ends have different speeds stays down.",
    "Correct `speed` and `number-of-sub-ports` of the port, or give both ends the same `ether-options`.",
    _check_speeds,
    layer=Layer.USES,
)
LINK_MTUS = Check(
    "AILB709",
    "both ends of every link between switches have the same MTU",
    "the two ends of a link have different MTUs",
    "Large packets are dropped in one direction only, which looks like a slow link.",
    "Give both ports the same mtu.",
    _check_links,
    layer=Layer.LINKS,
)
MTUS = Check(
    "AILB710",
    "every port and IRB has the MTU that the intent specifies",
    "a port or IRB has another MTU than the intent specifies",
    "The port with the smaller MTU drops packets of hosts that rely on the designed MTU.",
    "Correct the mtu statement, or the intent's `mtu:`.",
    _check_mtus,
    layer=Layer.QOS,
)
