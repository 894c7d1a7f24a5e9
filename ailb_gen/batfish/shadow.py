"""The IPv4 shadow of a fabric: what its files do, in statements that Batfish models.

Batfish parses IPv6 but does not model it. The shadow has the same switches, ports and cables, an IPv4 prefix for
every IPv6 one, and static neighbors where the files discover them. It is made of the files alone: a wrong color or
AS number in a file is wrong in the shadow.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from ipaddress import IPv4Address

from ailb_gen.batfish.communities import communities
from ailb_gen.batfish.numbering import Numbering, number
from ailb_gen.batfish.policies import OURS, Gap, Ranges, Translator, plain_name
from ailb_gen.network.fabric import Network
from ailb_gen.network.model import Port, Switch
from ailb_gen.network.sessions import Ready, Side, group_keys, refused, sides
from ailb_gen.routing.graph import router_id_value

# A port that keeps the VLAN of an IRB up. Which ports are in which VLAN is judged on the real files.
STAND_IN = "et-9/9/{}"
PER_PACKET = f"{OURS}LB"


@dataclass(frozen=True, slots=True)
class ShadowNeighbor:
    """A static neighbor in place of a discovered or an IPv6 one; `asn` is the AS number that it must have."""

    group: int
    address: IPv4Address
    own: IPv4Address
    asn: int
    own_asn: int


@dataclass(frozen=True, slots=True)
class ShadowSwitch:
    """A switch of the shadow: its `set` commands, and the parts of its file that they do not show.

    `mixes_multipath` is whether its groups differ in multipath: Batfish then uses it for none of them, and warns.
    """

    name: str
    lines: tuple[str, ...]
    gaps: tuple[Gap, ...]
    mixes_multipath: bool = False


@dataclass(frozen=True, slots=True)
class Shadow:
    """The shadow of a fabric."""

    switches: tuple[ShadowSwitch, ...]
    numbering: Numbering

    @property
    def narrowed(self) -> frozenset[str]:
        """The switches on which Batfish has fewer next hops than their groups allow."""
        return frozenset(switch.name for switch in self.switches if switch.mixes_multipath)


def shadow(network: Network) -> Shadow:
    """Translate a fabric's files. Raises UsageError for a fabric that the IPv4 pools cannot hold."""
    numbering, values = number(network), communities(network)
    neighbors: dict[str, list[ShadowNeighbor]] = {}
    for (cable, a, b), (_, first, second) in zip(sides(network), numbering.links, strict=True):
        for end, own, peer, addresses in ((cable.a, a, b, (first, second)), (cable.b, b, a, (second, first))):
            found = _neighbor(network.switches, own, peer, addresses)
            if found is not None:
                neighbors.setdefault(end.device, []).append(found)
    ports = _link_addresses(numbering)
    held: dict[object, Ranges] = {}
    return Shadow(
        tuple(
            _switch(ports.get(name, {}), found, Translator(switch, numbering, values, _names(switch, found), held))
            for name, switch in network.switches.items()
            for found in [neighbors.get(name, [])]
        ),
        numbering,
    )


def _neighbor(
    switches: Mapping[str, Switch], own: Ready, peer: Ready, addresses: tuple[IPv4Address, IPv4Address]
) -> ShadowNeighbor | None:
    """Return the neighbor that one side configures; None when it would discover none.

    A peer that the side would refuse gets an AS number that it would have, so that the session fails here as there.
    """
    if not isinstance(own, Side):
        return None
    switch = switches[own.device]
    group = switch.groups[own.group]
    admitted = isinstance(peer, Side) and not any(refused(switches, own, peer))
    if isinstance(peer, Side) and (admitted or peer.asn == own.asn or own.neighbor is not None):
        # A static neighbor with another address or AS number is never the peer: the other side's is without an answer.
        asn = peer.asn if admitted else None
    else:
        listed = switch.as_lists.get(group.peer_as_list or "")
        asn = group.peer_as or (listed.ranges[0][0] if listed is not None and listed.ranges else None)
    if asn is None:
        return None
    return ShadowNeighbor(own.group, addresses[1], addresses[0], asn, own.asn)


def _link_addresses(numbering: Numbering) -> dict[str, dict[str, list[IPv4Address]]]:
    """Return the addresses of every switch's ports towards other switches."""
    found: dict[str, dict[str, list[IPv4Address]]] = {}
    for address, (end, _) in numbering.ends.items():
        found.setdefault(end.device, {}).setdefault(end.port, []).append(address)
    return found


def _names(switch: Switch, neighbors: list[ShadowNeighbor]) -> dict[str, str]:
    """Return the policies of the groups that have neighbors, and their names in the shadow."""
    used = [switch.groups[index] for index in sorted({neighbor.group for neighbor in neighbors})]
    own = [name for group in used for name in (*group.imports, *group.exports) if name in switch.policies]
    return {name: plain_name(name, at) for at, name in enumerate(dict.fromkeys(own), 1)}


def _switch(
    ports: Mapping[str, list[IPv4Address]], neighbors: list[ShadowNeighbor], translator: Translator
) -> ShadowSwitch:
    switch, own = translator.switch, translator.own()
    lines = [
        *_identity(switch),
        *_interfaces(switch, ports, translator.numbering),
        *_bgp(switch, neighbors, translator, frozenset(name for name, lines in own.items() if lines)),
        *(line for lines in own.values() for line in lines),
        *translator.definitions(),
    ]
    used = {switch.groups[neighbor.group] for neighbor in neighbors}
    kinds = {(group.multipath, group.multipath and group.multiple_as) for group in used}
    return ShadowSwitch(switch.named, tuple(f"set {line}" for line in lines), tuple(translator.gaps), len(kinds) > 1)


def _identity(switch: Switch) -> Iterator[str]:
    yield f"system host-name {switch.named}"
    # One that is no address a device refuses; AILB107 tells.
    if router_id_value(switch) is not None:
        yield f"routing-options router-id {switch.router_id}"
    if switch.asn is not None:
        yield f"routing-options autonomous-system {switch.asn}"
    if switch.balancing.per_packet:
        yield f"policy-options policy-statement {PER_PACKET} then load-balance per-packet"
        yield f"routing-options forwarding-table export {PER_PACKET}"


def _interfaces(switch: Switch, links: Mapping[str, list[IPv4Address]], numbering: Numbering) -> Iterator[str]:
    stand_ins = 0
    for port in switch.ports.values():
        if port.disabled:
            continue
        if port.name in links:
            yield from _link(port, links[port.name])
        for unit in port.units:
            vlans = [vlan.vlan_id for vlan in switch.vlans if vlan.irb == unit.name and vlan.vlan_id is not None]
            # An IRB without a VLAN is down.
            if unit.disabled or not unit.addresses or (port.name == "irb" and not vlans):
                continue
            number = unit.name.rpartition(".")[2]
            for address in unit.addresses:
                yield f"interfaces {port.name} unit {number} family inet address {numbering.interface(address)}"
            for vlan_id in vlans:
                yield from _vlan(vlan_id, unit.name, STAND_IN.format(stand_ins))
                stand_ins += 1


def _link(port: Port, addresses: list[IPv4Address]) -> Iterator[str]:
    """Yield the statements of a port towards another switch; without family inet6 on its unit 0 it carries nothing."""
    if port.mtu is not None:
        yield f"interfaces {port.name} mtu {port.mtu}"
    unit = next((unit for unit in port.units if unit.name == f"{port.name}.0"), None)
    if unit is not None and unit.inet6 and not unit.disabled:
        yield from (f"interfaces {port.name} unit 0 family inet address {address}/31" for address in addresses)


def _vlan(vlan_id: int, irb: str, port: str) -> Iterator[str]:
    name = f"vn{vlan_id}"
    yield f"vlans {name} vlan-id {vlan_id}"
    yield f"vlans {name} l3-interface {irb}"
    yield f"interfaces {port} unit 0 family ethernet-switching interface-mode access"
    yield f"interfaces {port} unit 0 family ethernet-switching vlan members {name}"


def _bgp(
    switch: Switch, neighbors: list[ShadowNeighbor], translator: Translator, defined: frozenset[str]
) -> Iterator[str]:
    """Yield the groups that have neighbors, with their policies: the shadow's, and those that are defined in it."""
    for index, (group, key) in enumerate(zip(switch.groups, group_keys(switch), strict=True)):
        here = [neighbor for neighbor in neighbors if neighbor.group == index]
        if not here:
            continue
        name = plain_name(key, index)
        imports, exports = f"{OURS}IN-{name}", f"{OURS}OUT-{name}"
        yield from translator.incoming(imports, group)
        going_out = list(translator.outgoing(exports, group))
        yield from going_out
        head = f"protocols bgp group {name}"
        yield f"{head} type external"
        yield f"{head} family inet unicast"
        if group.multipath:
            yield f"{head} multipath{' multiple-as' if group.multiple_as else ''}"
        own_exports = (exports,) if going_out else ()
        for word, own, names in (("import", (imports,), group.imports), ("export", own_exports, group.exports)):
            chain = [*own, *(translator.names[policy] for policy in names if policy in defined)]
            yield from (f"{head} {word} {policy}" for policy in chain)
        if here[0].own_asn != switch.asn:
            yield f"{head} local-as {here[0].own_asn}"
        for neighbor in here:
            yield f"{head} neighbor {neighbor.address} peer-as {neighbor.asn}"
            yield f"{head} neighbor {neighbor.address} local-address {neighbor.own}"
