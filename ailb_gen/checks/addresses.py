"""The checks of addresses and VLANs (AILB1xx)."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

from ailb_gen.addresses import Prefix, address_text
from ailb_gen.checks.model import Check, Severity
from ailb_gen.checks.plan import native_speeds
from ailb_gen.checks.tally import Tally
from ailb_gen.errors import Place
from ailb_gen.network.fabric import End

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ailb_gen.checks.model import Result
    from ailb_gen.checks.plan import Plan, WantedSpeaker
    from ailb_gen.intent.models import Device
    from ailb_gen.network.fabric import Network
    from ailb_gen.network.model import Port, Switch, Unit

AGAIN = "Correct the intent and generate again; a line edited by hand is lost with the next generate."
UNIQUE = Check(
    "AILB101",
    Severity.ERROR,
    "no address and no prefix is on two interfaces, and every address is one",
    "Two leaves with one prefix split its traffic: half of the packets arrive at a leaf that has no such host.",
    AGAIN,
)
PLANNED = Check(
    "AILB102",
    Severity.ERROR,
    "the IRB of every leaf has exactly the prefixes and gateways of the address plan, inside the pool",
    "Servers form addresses of what the leaf announces; a prefix off by one is another leaf's or nobody's.",
    AGAIN,
)
ANNOUNCED = Check(
    "AILB103",
    Severity.ERROR,
    "router advertisements announce every prefix of the IRB, on-link and autonomous, and no other",
    "Without its announcement no server forms an address in the prefix: one queue pair of each connection fails.",
    "Add or correct `protocols router-advertisement interface irb.N prefix`.",
)
TIMERS = Check(
    "AILB104",
    Severity.ERROR,
    "router advertisements come at the intervals, and with the lifetime, that the intent asks for",
    "Advertisements that are too rare delay discovery; a wrong lifetime changes the hosts' default routes.",
    "Change the intent's `ra:` and generate again.",
)
VLANS = Check(
    "AILB105",
    Severity.ERROR,
    "every leaf has one VLAN with the id of the plan, unique as the intent asks, routed by the IRB of that number",
    "A VLAN with another IRB, or another id, cuts its servers off from their gateway.",
    AGAIN,
)
ACCESS = Check(
    "AILB106",
    Severity.ERROR,
    "every server port is a trunk with the leaf's VLAN, alone and native",
    "Servers send untagged: with another native VLAN their packets end in nobody's VLAN, or another rail's.",
    "Set native-vlan-id and vlan members to the leaf's VLAN.",
)
ROUTER_IDS = Check(
    "AILB107",
    Severity.ERROR,
    "every switch has the router-id of the plan, which is unique and the address of lo0",
    "Two switches with one router-id refuse each other's routes, or break ties differently every time.",
    AGAIN,
)
FABRIC_PORTS = Check(
    "AILB108",
    Severity.ERROR,
    "every cabled port is enabled and has what its cable needs: IPv6 on links, switching towards servers",
    "A port that is disabled, or of the wrong family, is a cable for nothing.",
    "Configure unit 0 of the port, or take away `disable`.",
)
SPEEDS = Check(
    "AILB109",
    Severity.ERROR,
    "ports are split and clocked as the speed of their cable asks, alike on both ends",
    "A link whose ends have different speeds stays down.",
    "Correct `speed` and `number-of-sub-ports` of the port.",
)
CHECKS = (UNIQUE, PLANNED, ANNOUNCED, TIMERS, VLANS, ACCESS, ROUTER_IDS, FABRIC_PORTS, SPEEDS)


def run(wanted: Plan, network: Network) -> Iterator[Result]:
    """Run all checks of addresses and VLANs."""
    tally = Tally(CHECKS)
    _check_unique(network, tally)
    vlans: dict[tuple[int, int | None], list[str]] = defaultdict(list)
    links: dict[str, set[str]] = defaultdict(set)
    for end in (end for cable in network.links for end in (cable.a, cable.b)):
        links[end.device].add(f"{end.port}.0")
    for name, switch in network.switches.items():
        asked = wanted.speakers.get(name)
        if asked is None:
            continue
        _check_router_id(switch, asked, tally)
        _check_timers(switch, asked, links[name], tally)
        if asked.role == "leaf":
            _check_plan(switch, asked, tally)
            _check_announced(switch, tally)
            _check_vlan(switch, asked, tally)
            stripe = asked.stripe if wanted.fabric.vlans.unique == "stripe" else 0
            for vlan in switch.vlans:
                vlans[stripe, vlan.vlan_id].append(name)
    for (_, vlan_id), names in vlans.items():
        if len(names) > 1 and vlan_id is not None:
            message = f"VLAN {vlan_id} is also that of {', '.join(sorted(set(names)))}"
            tally.add(VLANS, names[-1], message, Place(network.switches[names[-1]].file))
    _check_router_ids_unique(network, tally)
    _check_ports(wanted, network, tally)
    _check_speeds(wanted, network, tally)
    yield from tally.results()


def _units(switch: Switch) -> Iterator[Unit]:
    return (unit for port in switch.ports.values() for unit in port.units)


def _check_unique(network: Network, tally: Tally) -> None:
    holders: dict[int, str] = {}
    owners: dict[Prefix, str] = {}
    for name, switch in network.switches.items():
        for unit in _units(switch):
            for text, line in unit.bad_addresses:
                tally.add(
                    UNIQUE, f"{name} {unit.name}", f"{text} is no IPv6 address with length", Place(switch.file, line)
                )
            for address in unit.addresses:
                tally.look(UNIQUE)
                here, place = f"{name} {unit.name}", Place(switch.file, address.line or 1)
                other = holders.setdefault(address.value, here)
                if other != here:
                    tally.add(UNIQUE, here, f"{address_text(address.value)} is also an address of {other}", place)
                elif owners.setdefault(address.prefix, here) != here:
                    tally.add(UNIQUE, here, f"{address.prefix} is also on {owners[address.prefix]}", place)
        for text, line in switch.bad_routes:
            tally.add(UNIQUE, name, f"fabric-advertise route {text} is no IPv6 prefix", Place(switch.file, line))


def _irb(switch: Switch, asked: WantedSpeaker) -> Unit | None:
    return switch.unit(f"irb.{asked.vlan}")


def _check_plan(switch: Switch, asked: WantedSpeaker, tally: Tally) -> None:
    unit = _irb(switch, asked)
    if unit is None:
        tally.add(PLANNED, asked.name, f"there is no irb.{asked.vlan}", Place(switch.file), f"irb.{asked.vlan}")
        return
    expected = dict(zip(asked.gateways, asked.prefixes, strict=True))
    for address in unit.addresses:
        tally.look(PLANNED)
        text = f"{address_text(address.value)}/{address.prefix.length}"
        prefix = expected.pop(address.value, None)
        if prefix != address.prefix:
            found = f"{text} on {unit.name} is not in the address plan of {asked.name}"
            tally.add(PLANNED, f"{asked.name} {unit.name}", found, Place(switch.file, address.line or 1))
    for gateway, prefix in expected.items():
        text = f"{address_text(gateway)}/{prefix.length}"
        message = f"{unit.name} lacks the gateway {text}"
        tally.add(PLANNED, f"{asked.name} {unit.name}", message, Place(switch.file, unit.line or 1), text)
    for other in switch.ports["irb"].units:
        if other.name != unit.name and other.addresses:
            message = f"{other.name} has addresses; the leaf's only IRB is {unit.name}"
            tally.add(PLANNED, f"{asked.name} {other.name}", message, Place(switch.file, other.line or 1))


def _check_announced(switch: Switch, tally: Tally) -> None:
    units = [unit for unit in _units(switch) if unit.addresses and unit.name.startswith("irb.")]
    for unit in units:
        scope = f"{switch.named} {unit.name}"
        announced = switch.advertisements.get(unit.name)
        if announced is None:
            message = f"no router advertisements on {unit.name}: servers form no addresses"
            tally.add(ANNOUNCED, scope, message, Place(switch.file, unit.line or 1))
            continue
        prefixes = {entry.prefix: entry for entry in announced.prefixes}
        for address in unit.addresses:
            tally.look(ANNOUNCED)
            entry = prefixes.pop(address.prefix, None)
            if entry is None:
                message = f"{address.prefix} is on {unit.name} and not announced"
                tally.add(ANNOUNCED, scope, message, Place(switch.file, announced.line or 1), address.prefix)
            elif not (entry.on_link and entry.autonomous):
                flag = "no-on-link" if not entry.on_link else "no-autonomous"
                message = f"{address.prefix} is announced with {flag}: servers form no address in it"
                tally.add(ANNOUNCED, scope, message, Place(switch.file, entry.line or 1))
        for entry in prefixes.values():
            message = f"{entry.prefix} is announced, but {unit.name} has no address in it: Junos refuses to commit"
            tally.add(ANNOUNCED, scope, message, Place(switch.file, entry.line or 1))
        for text, line in announced.bad_prefixes:
            tally.add(ANNOUNCED, scope, f"{text} is no IPv6 prefix", Place(switch.file, line))


def _check_timers(switch: Switch, asked: WantedSpeaker, links: set[str], tally: Tally) -> None:
    ra = asked.settings.ra
    for name, announced in switch.advertisements.items():
        if name not in links and not name.startswith("irb."):
            continue
        tally.look(TIMERS)
        rows = [
            ("max-advertisement-interval", ra.max_interval_s, announced.max_interval),
            ("min-advertisement-interval", ra.min_interval_s, announced.min_interval),
        ]
        if name.startswith("irb."):
            rows.append(("default-lifetime", ra.router_lifetime_s, announced.lifetime))
        for what, expected, found in rows:
            if found != expected:
                shown = "not set" if found is None else found
                message = f"{what} is {shown}; the intent asks for {expected}"
                place = Place(switch.file, announced.line or 1)
                tally.add(TIMERS, f"{switch.named} {name}", message, place, expected, shown)


def _check_vlan(switch: Switch, asked: WantedSpeaker, tally: Tally) -> None:
    tally.look(VLANS)
    found = [vlan for vlan in switch.vlans if vlan.vlan_id == asked.vlan]
    if not found:
        message = f"there is no VLAN {asked.vlan}"
        tally.add(VLANS, asked.name, message, Place(switch.file), asked.vlan)
    for vlan in switch.vlans:
        place = Place(switch.file, vlan.line or 1)
        if vlan.vlan_id != asked.vlan:
            message = f"VLAN {vlan.name} has id {vlan.vlan_id}; the leaf's VLAN is {asked.vlan}"
            tally.add(VLANS, asked.name, message, place, asked.vlan, vlan.vlan_id)
        elif vlan.irb != f"irb.{asked.vlan}":
            message = f"VLAN {vlan.name} is routed by {vlan.irb or 'nothing'}; it must be irb.{asked.vlan}"
            tally.add(VLANS, asked.name, message, place, f"irb.{asked.vlan}", vlan.irb)


def _check_router_id(switch: Switch, asked: WantedSpeaker, tally: Tally) -> None:
    tally.look(ROUTER_IDS)
    place = Place(switch.file, switch.router_id_line or 1)
    if switch.router_id != asked.router_id:
        message = f"the router-id is {switch.router_id or 'missing'}; the plan says {asked.router_id}"
        tally.add(ROUTER_IDS, asked.name, message, place, asked.router_id, switch.router_id)
    loopback = switch.unit("lo0.0")
    addresses = [text for text, _ in loopback.inet_addresses] if loopback is not None else []
    if f"{switch.router_id}/32" not in addresses:
        message = f"the router-id {switch.router_id} is no address of lo0.0"
        tally.add(ROUTER_IDS, asked.name, message, place, f"{switch.router_id}/32", ", ".join(addresses))


def _check_router_ids_unique(network: Network, tally: Tally) -> None:
    holders: dict[str, str] = {}
    for name, switch in network.switches.items():
        if switch.router_id is not None and holders.setdefault(switch.router_id, name) != name:
            message = f"{switch.router_id} is also the router-id of {holders[switch.router_id]}"
            tally.add(ROUTER_IDS, name, message, Place(switch.file, switch.router_id_line or 1))


def _check_ports(wanted: Plan, network: Network, tally: Tally) -> None:
    vlan_of = {leaf.name: leaf.vlan for leaf in wanted.leaves}
    off = _disabled(wanted)
    for end in (end for cable in network.links for end in (cable.a, cable.b)):
        switch = network.switches.get(end.device)
        if switch is not None:
            tally.look(FABRIC_PORTS)
            for message, line in _link_port(switch, end.port, end in off):
                tally.add(FABRIC_PORTS, f"{end.device} {end.port}", message, Place(switch.file, line or 1))
    for end in network.attachments.values():
        switch = network.switches.get(end.device)
        if switch is None or end.port not in switch.ports:
            continue
        tally.look(ACCESS)
        for message, line in _server_port(switch, end.port, vlan_of.get(end.device), end in off):
            tally.add(ACCESS, f"{end.device} {end.port}", message, Place(switch.file, line or 1))


def _disabled(wanted: Plan) -> frozenset[End]:
    """Return the ports that the intent itself disables."""
    over = wanted.fabric.overrides
    said: list[tuple[str, Device]] = [*over.leaves.items(), *over.spines.items()]
    said += [(spine.name, listed) for spine, listed in zip(wanted.spines, wanted.fabric.spines, strict=True)]
    return frozenset(End(name, port) for name, device in said for port, own in device.ports.items() if own.disabled)


def _link_port(switch: Switch, name: str, off: bool) -> Iterator[tuple[str, int]]:
    port, unit = switch.ports.get(name), switch.unit(f"{name}.0")
    if port is None:
        yield "a cable ends here, but the port is not configured", 0
        return
    if (port.disabled or (unit is not None and unit.disabled)) and not off:
        yield "the port is disabled", port.line
    if off and not port.disabled:
        yield "the intent disables this port, the file does not", port.line
    if unit is None or not unit.inet6:
        yield "unit 0 lacks family inet6", port.line
    elif unit.addresses or unit.switching:
        yield "a fabric link has link-local addresses only and no switching", unit.line


def _server_port(switch: Switch, name: str, vlan: int | None, off: bool) -> Iterator[tuple[str, int]]:
    port, unit = switch.ports[name], switch.unit(f"{name}.0")
    if (port.disabled or (unit is not None and unit.disabled)) and not off:
        yield "the port is disabled", port.line
    if off and not port.disabled:
        yield "the intent disables this port, the file does not", port.line
    if port.native_vlan != vlan:
        yield f"the native VLAN is {port.native_vlan}; it must be {vlan}", port.native_vlan_line or port.line
    if unit is None or not unit.switching or unit.mode != "trunk":
        yield "unit 0 must be a trunk of family ethernet-switching", port.line
        return
    ids = {found.name: found.vlan_id for found in switch.vlans}
    for member, line in unit.vlans:
        if ids.get(member, int(member) if member.isdigit() else None) != vlan:
            yield f"VLAN {member} is not the leaf's VLAN {vlan}, or not defined", line
    if not unit.vlans:
        yield "the trunk carries no VLAN", unit.line


def _check_speeds(wanted: Plan, network: Network, tally: Tally) -> None:
    """Compare speed and split of every cabled port with what the intent asks for such cables."""
    uplinks, hosts = f"{wanted.fabric.uplinks.speed}g", f"{wanted.fabric.host_ports.speed}g"
    ends = [(end, uplinks) for cable in network.links for end in (cable.a, cable.b)]
    ends += [(end, hosts) for end in network.attachments.values()]
    native = native_speeds(wanted)
    for end, speed in ends:
        switch = network.switches.get(end.device)
        if switch is None or end.device not in wanted.speakers:
            continue
        tally.look(SPEEDS)
        base, colon, channel = end.port.partition(":")
        parent = switch.ports.get(base)
        message = _split(base, channel, parent) if colon else ""
        found = (parent.speed if parent is not None else "") or native[end.device].get(base, "")
        if not message and found != speed:
            message = f"the speed of {base} is {found or 'unknown'}; the intent asks for {speed}"
        if message:
            place = Place(switch.file, parent.line if parent is not None else 1)
            tally.add(SPEEDS, f"{end.device} {end.port}", message, place, speed, found)


def _split(base: str, channel: str, parent: Port | None) -> str:
    if parent is None or parent.sub_ports is None:
        return f"{base} is not split (number-of-sub-ports), so there is no {base}:{channel}"
    if not channel.isdigit() or int(channel) >= parent.sub_ports:
        return f"{base} has {parent.sub_ports} sub-ports, counted from 0; there is no {base}:{channel}"
    return ""
