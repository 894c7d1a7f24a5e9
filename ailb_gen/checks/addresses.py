"""The checks of addresses and VLANs (AILB1xx)."""

from __future__ import annotations

from collections import defaultdict
from ipaddress import IPv4Address
from typing import TYPE_CHECKING

from ailb_gen.addresses import BITS, Prefix, address_text
from ailb_gen.checks.address_checks import (
    CHECKS,
    OPERATED,
    PLANNED,
    REACHABLE,
    ROUTER_IDS,
    UNIQUE,
    VLANS,
)
from ailb_gen.checks.advertisements import check_announced, check_timers
from ailb_gen.checks.findings import Findings
from ailb_gen.checks.ports import check_ethernet, check_ports, check_speeds
from ailb_gen.checks.speakers import LEAF, management_interface
from ailb_gen.errors import Place
from ailb_gen.network.switch import OPERATING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ailb_gen.checks.expected import ExpectedFabric
    from ailb_gen.checks.expected_cabling import ExpectedCabling
    from ailb_gen.checks.model import Result
    from ailb_gen.checks.speakers import WantedSpeaker
    from ailb_gen.network.fabric import Network
    from ailb_gen.network.model import Switch, Unit

__all__ = ["CHECKS", "run"]


def run(intended: ExpectedFabric, expected_cabling: ExpectedCabling, network: Network) -> Iterator[Result]:
    """Run all checks of addresses and VLANs."""
    collected = Findings(CHECKS)
    _check_unique(intended, network, collected)
    links: dict[str, set[str]] = defaultdict(set)
    for end in network.link_ends():
        links[end.device].add(f"{end.port}.0")
    for name, switch in network.switches.items():
        asked = intended.speakers.get(name)
        if asked is None:
            continue
        _check_router_id(switch, asked, collected)
        _check_reachable(intended, switch, asked, collected)
        _check_outside(intended, switch, asked, collected)
        check_timers(switch, asked, links[name], collected)
        if asked.role == LEAF:
            _check_plan(switch, asked, collected)
            check_announced(switch, collected)
            _check_vlan(switch, asked, collected)
    _check_vlans_unique(intended, network, collected)
    _check_router_ids_unique(network, collected)
    check_ports(intended, expected_cabling, network, collected)
    check_speeds(intended, expected_cabling, network, collected)
    check_ethernet(network, collected)
    yield from collected.results()


def _units(switch: Switch) -> Iterator[Unit]:
    return (unit for port in switch.ports.values() for unit in port.units)


def _check_unique(intended: ExpectedFabric, network: Network, collected: Findings) -> None:
    holders: dict[int, str] = {}
    owners: dict[Prefix, str] = {}
    inet: dict[str, str] = {}
    held: list[tuple[Prefix, str, Place]] = []
    for name, switch in network.switches.items():
        asked = intended.speakers.get(name)
        # Management ports share a network that the fabric never sees.
        apart = management_interface(intended, asked) if asked is not None else ""
        for unit in _units(switch):
            for text, line in unit.bad_addresses:
                collected.add(
                    UNIQUE, f"{name} {unit.name}", f"{text} is no IPv6 address with length", Place(switch.file, line)
                )
            _check_inet(f"{name} {unit.name}", unit, switch.file, inet, collected)
            for address in unit.addresses:
                collected.look(UNIQUE)
                here, place = f"{name} {unit.name}", Place(switch.file, address.line or 1)
                other = holders.setdefault(address.value, here)
                if other != here:
                    collected.add(UNIQUE, here, f"{address_text(address.value)} is also an address of {other}", place)
                elif unit.name.partition(".")[0] == apart:
                    continue
                elif owners.setdefault(address.prefix, here) != here:
                    collected.add(UNIQUE, here, f"{address.prefix} is also on {owners[address.prefix]}", place)
                else:
                    held.append((address.prefix, here, place))
        for text, line in switch.bad_routes:
            collected.add(UNIQUE, name, f"fabric-advertise route {text} is no IPv6 prefix", Place(switch.file, line))
    _check_nested(held, collected)


def _check_inet(here: str, unit: Unit, file: str, holders: dict[str, str], collected: Findings) -> None:
    """Find IPv4 addresses, those of loopbacks and management, that another interface has."""
    for text, line in unit.inet_addresses:
        address = text.partition("/")[0]
        other = holders.setdefault(address, here)
        if other != here:
            collected.add(UNIQUE, here, f"{address} is also an address of {other}", Place(file, line or 1))


def _check_nested(held: list[tuple[Prefix, str, Place]], collected: Findings) -> None:
    """Find prefixes inside others: the longer one takes the traffic of its addresses (longest match)."""
    around: list[tuple[Prefix, str, Place]] = []
    for prefix, here, place in sorted(held):
        while around and not around[-1][0].contains(prefix):
            around.pop()
        if around and around[-1][0] != prefix:
            outer, there, _ = around[-1]
            message = f"{prefix} is more specific than {outer} of {there}: it takes the traffic of its addresses"
            collected.add(UNIQUE, here, message, place)
        around.append((prefix, here, place))


def _check_outside(intended: ExpectedFabric, switch: Switch, asked: WantedSpeaker, collected: Findings) -> None:
    """Find addresses of the pool on interfaces other than the leaf's IRB, which is compared with the plan."""
    irbs = {f"irb.{asked.vlan}"} if asked.role == LEAF else set()
    planned = asked.loopback
    for unit in _units(switch):
        if unit.name in irbs:
            continue
        for address in unit.addresses:
            text = f"{address_text(address.value)}/{address.prefix.length}"
            touched = intended.pool.contains(address.prefix) or address.prefix.contains(intended.pool)
            if touched and text != f"{planned}/{BITS}":
                message = f"{text} on {unit.name} is in the fabric's pool, and the plan has it nowhere"
                collected.add(PLANNED, f"{asked.name} {unit.name}", message, Place(switch.file, address.line or 1))


def _irb(switch: Switch, asked: WantedSpeaker) -> Unit | None:
    return switch.unit(f"irb.{asked.vlan}")


def _check_plan(switch: Switch, asked: WantedSpeaker, collected: Findings) -> None:
    unit = _irb(switch, asked)
    if unit is None:
        collected.add(PLANNED, asked.name, f"there is no irb.{asked.vlan}", Place(switch.file), f"irb.{asked.vlan}")
        return
    scope = f"{asked.name} {unit.name}"
    if unit.disabled or switch.ports["irb"].disabled:
        collected.add(PLANNED, scope, f"{unit.name} is disabled", Place(switch.file, unit.line or 1))
    alike = "" if unit.inet6 else f"{scope} without inet6"
    if not unit.inet6:
        place = Place(switch.file, unit.line or 1)
        collected.add(PLANNED, scope, f"{unit.name} lacks family inet6", place, alike=alike)
    for family, line in unit.others:
        message = f"family {family} on {unit.name}: the fabric is IPv6 alone"
        collected.add(PLANNED, scope, message, Place(switch.file, line or 1), "", family)
    expected = dict(zip(asked.gateways, asked.prefixes, strict=True))
    for address in unit.addresses:
        collected.look(PLANNED)
        text = f"{address_text(address.value)}/{address.prefix.length}"
        prefix = expected.pop(address.value, None)
        if prefix != address.prefix:
            message = f"{text} on {unit.name} is not in the address plan of {asked.name}"
            collected.add(PLANNED, scope, message, Place(switch.file, address.line or 1), "", text)
    for gateway, prefix in expected.items():
        text = f"{address_text(gateway)}/{prefix.length}"
        message = f"{unit.name} lacks the gateway {text}"
        collected.add(PLANNED, scope, message, Place(switch.file, unit.line or 1), text, alike=alike)
    for other in switch.ports["irb"].units:
        if other.name != unit.name and other.addresses:
            message = f"{other.name} has addresses; the leaf's only IRB is {unit.name}"
            collected.add(PLANNED, f"{asked.name} {other.name}", message, Place(switch.file, other.line or 1))


def _check_vlan(switch: Switch, asked: WantedSpeaker, collected: Findings) -> None:
    collected.look(VLANS)
    found = [vlan for vlan in switch.vlans if vlan.vlan_id == asked.vlan]
    if not found:
        message = f"there is no VLAN {asked.vlan}"
        collected.add(VLANS, asked.name, message, Place(switch.file), asked.vlan)
    for vlan in switch.vlans:
        place = Place(switch.file, vlan.line or 1)
        if vlan.vlan_id != asked.vlan:
            message = f"VLAN {vlan.name} has id {vlan.vlan_id}; the leaf's VLAN is {asked.vlan}"
            collected.add(VLANS, asked.name, message, place, "", f"VLAN {vlan.vlan_id}")
        elif vlan.irb != f"irb.{asked.vlan}":
            message = f"VLAN {vlan.name} is routed by {vlan.irb or 'nothing'}; it must be irb.{asked.vlan}"
            collected.add(VLANS, asked.name, message, place, f"irb.{asked.vlan}", vlan.irb)


def _check_vlans_unique(intended: ExpectedFabric, network: Network, collected: Findings) -> None:
    """Find VLANs that two leaves share, of one stripe or of all as the intent asks."""
    holders: dict[tuple[int, int | None], list[tuple[str, Place]]] = defaultdict(list)
    for leaf in intended.leaves:
        if leaf.name in network.switches:
            stripe = leaf.stripe if intended.fabric.vlans.unique == "stripe" else 0
            switch = network.switches[leaf.name]
            for vlan in switch.vlans:
                holders[stripe, vlan.vlan_id].append((leaf.name, Place(switch.file, vlan.line or 1)))
    for (_, vlan_id), rows in holders.items():
        (first, _), *others = rows
        for name, place in others:
            if vlan_id is not None:
                collected.add(VLANS, name, f"VLAN {vlan_id} is also that of {first}", place)


def _check_router_id(switch: Switch, asked: WantedSpeaker, collected: Findings) -> None:
    collected.look(ROUTER_IDS)
    place = Place(switch.file, switch.router_id_line or 1)
    if switch.router_id != asked.router_id:
        message = f"the router-id is {switch.router_id or 'missing'}; the plan says {asked.router_id}"
        collected.add(ROUTER_IDS, asked.name, message, place, asked.router_id, switch.router_id)
    loopback = switch.unit("lo0.0")
    addresses = [text for text, _ in loopback.inet_addresses] if loopback is not None else []
    if loopback is not None and (loopback.disabled or switch.ports["lo0"].disabled):
        message = "lo0.0 is disabled: the router-id is no address of a running interface"
        collected.add(ROUTER_IDS, asked.name, message, Place(switch.file, loopback.line or 1))
    if f"{switch.router_id}/32" not in addresses:
        message = f"the router-id {switch.router_id} is no address of lo0.0"
        collected.add(ROUTER_IDS, asked.name, message, place, f"{switch.router_id}/32", ", ".join(addresses))


def _check_reachable(intended: ExpectedFabric, switch: Switch, asked: WantedSpeaker, collected: Findings) -> None:
    """Compare how the switch itself is reached, by loopback and management port."""
    collected.look(OPERATED)
    for text in OPERATING:
        if text not in switch.operating:
            # Where nothing of it is left, the whole block is missing.
            block = " ".join(text.split()[:2])
            alike = "" if any(other.startswith(block) for other in switch.operating) else f"{asked.name} {block}"
            collected.add(OPERATED, asked.name, f"{text} is missing", Place(switch.file), text, alike=alike)
    port = management_interface(intended, asked)
    rows = [("lo0.0", f"{asked.loopback}/{BITS}" if asked.loopback else ""), (f"{port}.0", asked.management)]
    for name, address in rows:
        if not address:
            continue
        collected.look(REACHABLE)
        unit = switch.unit(name)
        off = unit is None or unit.disabled or switch.ports[name.rpartition(".")[0]].disabled
        if unit is None or off or address not in _texts(unit):
            line = unit.line if unit is not None else 1
            found = ", ".join(_texts(unit)) if unit is not None else ""
            message = f"{name} is not there, disabled, or lacks the address {address}"
            collected.add(REACHABLE, f"{asked.name} {name}", message, Place(switch.file, line or 1), address, found)
    gateway = intended.fabric.management.gateway
    expected = str(IPv4Address(gateway)) if gateway is not None and asked.management else ""
    if expected and expected != switch.management_gateway:
        message = f"the gateway of mgmt_junos is {switch.management_gateway or 'missing'}; it must be {expected}"
        place = Place(switch.file, switch.management_line or 1)
        collected.add(REACHABLE, asked.name, message, place, expected, switch.management_gateway)


def _texts(unit: Unit) -> list[str]:
    """Return all addresses of a unit as text."""
    own = [f"{address_text(address.value)}/{address.prefix.length}" for address in unit.addresses]
    return [*(text for text, _ in unit.inet_addresses), *own]


def _check_router_ids_unique(network: Network, collected: Findings) -> None:
    holders: dict[str, str] = {}
    for name, switch in network.switches.items():
        if switch.router_id is not None and holders.setdefault(switch.router_id, name) != name:
            message = f"{switch.router_id} is also the router-id of {holders[switch.router_id]}"
            collected.add(ROUTER_IDS, name, message, Place(switch.file, switch.router_id_line or 1))
