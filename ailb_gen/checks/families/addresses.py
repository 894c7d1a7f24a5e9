"""Check addresses, VLANs and router-ids (AILB1xx)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from ailb_gen.addresses import BITS, Prefix, address_text
from ailb_gen.checks import subjects as about
from ailb_gen.checks.context import Context
from ailb_gen.checks.expected_switches import LEAF, ExpectedSwitch, management_interface
from ailb_gen.checks.layers import Layer
from ailb_gen.checks.locate import ANY, OR
from ailb_gen.checks.model import Check, Findings
from ailb_gen.errors import Place
from ailb_gen.network.fabric import End
from ailb_gen.network.model import Address, Switch, Unit, vlan_interfaces

# The length of the prefix of a link (RFC 6164).
LINK_LENGTH = 127
IRB = "interfaces irb unit {}"
# A prefix, the interface that has it, and where.
Held = tuple[Prefix, str, Place]


def _units(switch: Switch) -> Iterator[Unit]:
    return (unit for port in switch.ports.values() for unit in port.units)


def _text(address: Address) -> str:
    return f"{address_text(address.value)}/{address.prefix.length}"


def _check_unique(context: Context, findings: Findings) -> None:
    holders: dict[int, str] = {}
    owners: dict[Prefix, str] = {}
    inet: dict[str, str] = {}
    held: list[Held] = []
    expected = context.expected
    far = {end: other for cable in context.network.links for end, other in ((cable.a, cable.b), (cable.b, cable.a))}
    rows = [(switch, expected.switches.get(name)) for name, switch in context.network.switches.items()]
    # Whose loopback is not that of the plan has what is another's, not the other way around.
    strange = {switch.named for switch, own in rows if own is not None and not _has_own_loopback(switch, own)}
    for switch, own in sorted(rows, key=lambda row: row[0].named in strange):
        name = switch.named
        # Management ports share a network that is no part of the fabric.
        management = management_interface(expected, own) if own is not None else ""
        for unit in _units(switch):
            for text, line in unit.bad_addresses:
                port, _, number = unit.name.rpartition(".")
                statement = f"interfaces {port} unit {number} family inet6 address {text}"
                message = f"{text} is not an IPv6 address with a length"
                findings.at(UNIQUE, switch, message, line, part=unit.name, statement=statement, instead=True)
            _check_inet(switch, unit, inet, findings)
            for address in unit.addresses:
                findings.look(UNIQUE)
                here, message = f"{name} {unit.name}", ""
                if (other := holders.setdefault(address.value, here)) != here:
                    message = f"{address_text(address.value)} is also an address of {other}"
                elif unit.name.partition(".")[0] == management:
                    continue
                elif (other := owners.setdefault(address.prefix, here)) not in (here, _far(far, name, unit)):
                    message = f"{address.prefix} is also on {other}"
                if message:
                    subjects = (about.prefix(address.prefix), about.port(name, unit.name))
                    findings.at(UNIQUE, switch, message, address.line, part=unit.name, subjects=subjects)
                else:
                    held.append((address.prefix, here, Place(switch.file, address.line or 1)))
        for text, line in switch.bad_routes:
            message = f"fabric-advertise route {text} is not an IPv6 prefix"
            findings.at(UNIQUE, switch, message, line, subjects=about.prefixes(text))
    _check_nested(held, strange, findings)


def _far(far: Mapping[End, End], device: str, unit: Unit) -> str:
    """Return the logical interface at the other end of a cable, which has the same prefix; empty without one."""
    end = far.get(End(device, unit.name.removesuffix(".0")))
    return f"{end.device} {end.port}.0" if end is not None else ""


def _check_inet(switch: Switch, unit: Unit, holders: dict[str, str], findings: Findings) -> None:
    """Find IPv4 addresses, those of loopbacks and management, that another interface has."""
    for text, line in unit.inet_addresses:
        here = f"{switch.named} {unit.name}"
        address = text.partition("/")[0]
        other = holders.setdefault(address, here)
        if other != here:
            findings.at(UNIQUE, switch, f"{address} is also an address of {other}", line, part=unit.name)


def _has_own_loopback(switch: Switch, own: ExpectedSwitch) -> bool:
    """Return whether lo0 has the addresses of the plan, and no prefix around them."""
    unit = switch.unit("lo0.0")
    if unit is None:
        return True
    inet = {text for text, _ in unit.inet_addresses}
    wide = any(address.prefix.length < BITS for address in unit.addresses)
    return (not inet or f"{own.router_id}/32" in inet) and not wide


def _check_nested(held: list[Held], strange: set[str], findings: Findings) -> None:
    """Find prefixes inside others: the longer one takes the traffic of its addresses (longest match)."""
    around: list[Held] = []
    for prefix, here, place in sorted(held):
        while around and not around[-1][0].contains(prefix):
            around.pop()
        if around and around[-1][0] != prefix:
            outer, there, wider = around[-1]
            message = f"{prefix} is more specific than {outer} of {there}: it attracts the traffic of its addresses"
            at = place
            device, _, unit = here.partition(" ")
            if there.partition(" ")[0] in strange and device not in strange:
                message = f"{outer} covers {prefix} of {here}, which attracts the traffic of its addresses"
                (device, _, unit), at = there.partition(" "), wider
            subjects = (about.prefix(prefix), about.prefix(outer), about.port(device, unit))
            findings.add(UNIQUE, device, message, at, part=unit, subjects=subjects)
        around.append((prefix, here, place))


def _check_planned(context: Context, findings: Findings) -> None:
    for switch, expected in context.switches:
        _check_pool(context.expected.pool, switch, expected, findings)
        if expected.role == LEAF:
            _check_irb(switch, expected, findings)
    _check_links(context, findings)


def _check_links(context: Context, findings: Findings) -> None:
    """Compare the addresses of links with static neighbors with the plan."""
    for (device, port), value in context.cabling.addresses.items():
        switch = context.network.switches.get(device)
        unit = switch.unit(f"{port}.0") if switch is not None else None
        if switch is None or unit is None or not unit.inet6:
            continue
        findings.look(PLANNED)
        right, above = f"{address_text(value)}/{LINK_LENGTH}", f"interfaces {port} unit 0 family inet6 address"
        for address in unit.addresses:
            if (text := _text(address)) != right:
                message = f"{text} on {unit.name} is not the address of this link, which is {right}"
                statement = f"{above} {text}"
                findings.at(
                    PLANNED,
                    switch,
                    message,
                    address.line,
                    right,
                    text,
                    part=unit.name,
                    statement=statement,
                    instead=True,
                )
        if not unit.addresses:
            message, statement = f"{unit.name} lacks the address {right}", f"{above} {right}"
            findings.at(PLANNED, switch, message, unit.line, right, part=unit.name, statement=statement)


def _check_pool(pool: Prefix, switch: Switch, expected: ExpectedSwitch, findings: Findings) -> None:
    """Find addresses of the pool on interfaces other than the leaf's IRB, which is compared with the plan."""
    irb = f"irb.{expected.vlan}" if expected.role == LEAF else ""
    for unit in _units(switch):
        for address in unit.addresses if unit.name != irb else ():
            text = _text(address)
            touched = pool.contains(address.prefix) or address.prefix.contains(pool)
            if touched and text != f"{expected.loopback}/{BITS}":
                message = f"{text} on {unit.name} is in the fabric's pool and not in the address plan"
                subjects = (about.prefix(address.prefix), about.port(switch.named, unit.name))
                findings.at(PLANNED, switch, message, address.line, part=unit.name, subjects=subjects)


def _check_irb(switch: Switch, expected: ExpectedSwitch, findings: Findings) -> None:
    name = f"irb.{expected.vlan}"
    unit = switch.unit(name)
    if unit is None:
        findings.at(PLANNED, switch, f"there is no {name}", expected=name, statement=IRB.format(expected.vlan))
        return
    above = IRB.format(expected.vlan)
    if unit.disabled or switch.ports["irb"].disabled:
        statement = f"interfaces irb disable{OR}{above} disable"
        findings.at(PLANNED, switch, f"{name} is disabled", unit.line, part=name, statement=statement)
    same_cause = "" if unit.inet6 else f"{switch.named} {name} without inet6"
    if not unit.inet6:
        message, statement = f"{name} lacks family inet6", f"{above} family inet6"
        findings.at(PLANNED, switch, message, unit.line, same_cause=same_cause, part=name, statement=statement)
    for family, line in unit.others:
        message = f"family {family} on {name}: the fabric is IPv6-only"
        statement = f"{above} family {family}"
        findings.at(PLANNED, switch, message, line, "", family, part=name, statement=statement, instead=True)
    missing = dict(zip(expected.gateways, expected.prefixes, strict=True))
    for address in unit.addresses:
        findings.look(PLANNED)
        if missing.pop(address.value, None) != address.prefix:
            text = _text(address)
            message = f"{text} on {name} is not in the address plan of {switch.named}"
            statement = f"{above} family inet6 address {text}"
            subjects = (about.prefix(address.prefix), *about.of_statement(switch.named, statement))
            findings.at(
                PLANNED,
                switch,
                message,
                address.line,
                "",
                text,
                part=name,
                statement=statement,
                instead=True,
                subjects=subjects,
            )
    for gateway, prefix in missing.items():
        text = f"{address_text(gateway)}/{prefix.length}"
        message, statement = f"{name} lacks the gateway {text}", f"{above} family inet6 address {text}"
        findings.at(PLANNED, switch, message, unit.line, text, same_cause=same_cause, part=name, statement=statement)
    for other in switch.ports["irb"].units:
        if other.name != name and other.addresses:
            message = f"{other.name} has addresses; the leaf's only IRB is {name}"
            statement = IRB.format(other.name.rpartition(".")[2])
            findings.at(PLANNED, switch, message, other.line, part=other.name, statement=statement, instead=True)


def _check_vlans(context: Context, findings: Findings) -> None:
    for switch, expected in context.leaves:
        _check_vlan(switch, expected.vlan, findings)
    # By stripe, or for all leaves as the intent specifies.
    holders: dict[tuple[int, int | None], str] = {}
    for switch, expected in context.leaves:
        stripe = expected.stripe if context.fabric.vlans.unique == "stripe" else 0
        for vlan in switch.vlans:
            first = holders.get((stripe, vlan.vlan_id))
            if first is None:
                holders[stripe, vlan.vlan_id] = switch.named
            elif vlan.vlan_id is not None:
                subjects = (about.vlan(switch.named, vlan.vlan_id),)
                message = f"VLAN {vlan.vlan_id} is also that of {first}"
                findings.at(VLANS, switch, message, vlan.line, subjects=subjects)


def _check_vlan(switch: Switch, expected: int | None, findings: Findings) -> None:
    findings.look(VLANS)
    is_there = any(vlan.vlan_id == expected for vlan in switch.vlans)
    if not is_there:
        message, statement = f"there is no VLAN {expected}", f"vlans {ANY}"
        subjects = (about.vlan(switch.named, expected),)
        findings.at(VLANS, switch, message, expected=expected, statement=statement, subjects=subjects)
    carried = vlan_interfaces(switch)
    for vlan in switch.vlans:
        if is_there and vlan.irb is None and (vlan.vlan_id is None or vlan.vlan_id not in carried):
            # No port and no IRB is in it.
            continue
        if vlan.vlan_id != expected:
            message = f"VLAN {vlan.name} has id {vlan.vlan_id}; the leaf's VLAN is {expected}"
            statement = f"vlans {vlan.name} vlan-id"
            findings.at(
                VLANS, switch, message, vlan.line, "", f"VLAN {vlan.vlan_id}", statement=statement, instead=True
            )
        elif vlan.irb != f"irb.{expected}":
            message = f"VLAN {vlan.name} is routed by {vlan.irb or 'nothing'}; it must be irb.{expected}"
            statement = f"vlans {vlan.name} l3-interface"
            findings.at(VLANS, switch, message, vlan.line, f"irb.{expected}", vlan.irb, statement=statement)


def _check_router_ids(context: Context, findings: Findings) -> None:
    for switch, expected in context.switches:
        _check_router_id(switch, expected.router_id, findings)
    holders: dict[str, str] = {}
    for name, switch in context.network.switches.items():
        if switch.router_id is not None and holders.setdefault(switch.router_id, name) != name:
            message = f"{switch.router_id} is also the router-id of {holders[switch.router_id]}"
            findings.at(ROUTER_IDS, switch, message, switch.router_id_line)


def _check_router_id(switch: Switch, expected: str, findings: Findings) -> None:
    findings.look(ROUTER_IDS)
    found, line = switch.router_id, switch.router_id_line
    if found != expected:
        message = f"the router-id is {found or 'missing'}; the plan says {expected}"
        findings.at(ROUTER_IDS, switch, message, line, expected, found, statement="routing-options router-id")
    loopback = switch.unit("lo0.0")
    addresses = [text for text, _ in loopback.inet_addresses] if loopback is not None else []
    if loopback is not None and (loopback.disabled or switch.ports["lo0"].disabled):
        message = "lo0.0 is disabled: the router-id is not the address of a running interface"
        statement = f"interfaces lo0 disable{OR}interfaces lo0 unit 0 disable"
        findings.at(ROUTER_IDS, switch, message, loopback.line, statement=statement)
    if found is not None and f"{found}/32" not in addresses:
        message = f"the router-id {found} is not an address of lo0.0"
        statement = f"interfaces lo0 unit 0 family inet address {found}/32"
        if found != expected:
            statement = "routing-options router-id"
        elif loopback is not None and loopback.inet_addresses:
            statement = OR.join(f"interfaces lo0 unit 0 family inet address {text}" for text in addresses)
        findings.at(ROUTER_IDS, switch, message, line, f"{found}/32", ", ".join(addresses), statement=statement)


AGAIN = "Correct the intent and generate again; the next generate overwrites edits by hand."
UNIQUE = Check(
    "AILB101",
    "no address is on two interfaces, no prefix on two that no link joins or inside another, and every one is valid",
    "an address or prefix is on two interfaces, or is not valid",
    "Two leaves with one prefix split its traffic: half of the packets arrive at the leaf without the host.",
    AGAIN,
    _check_unique,
    layer=Layer.USES,
)
PLANNED = Check(
    "AILB102",
    "the IRB of every leaf is up and, like links with static neighbors, has exactly the planned addresses, and no IPv4",
    "the IRB of a leaf is down, or it or a link has other addresses than the address plan",
    "Servers form addresses from these prefixes; a wrong prefix belongs to another leaf or to none.",
    AGAIN,
    _check_planned,
    layer=Layer.DEFINITIONS,
)
VLANS = Check(
    "AILB105",
    "every leaf has one VLAN with the id of the plan, unique as the intent specifies, routed by the IRB of that number",
    "the VLAN of a leaf is missing, unexpected, or has the wrong id or IRB",
    "A VLAN with the wrong IRB or ID cuts its servers off from their gateway.",
    AGAIN,
    _check_vlans,
    layer=Layer.DEFINITIONS,
)
ROUTER_IDS = Check(
    "AILB107",
    "every switch has the router-id of the plan, which is unique and the address of lo0",
    "a router-id is wrong, used twice, or not the address of lo0",
    "Two switches with one router-id refuse each other's routes, or break ties at random.",
    AGAIN,
    _check_router_ids,
    layer=Layer.USES,
)
