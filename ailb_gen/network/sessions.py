"""BGP sessions that would come up between neighbors, discovered or static, and why others would not.

Sessions and their sides are named tuples: every cable makes some, and a frozen dataclass takes three times as long.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from ailb_gen.addresses import address_text
from ailb_gen.network.fabric import Cable, End, Network
from ailb_gen.network.model import Group, Neighbor, Switch

# The one obstacle that the intent may ask for.
DISABLED = "the interface is disabled"


@dataclass(frozen=True, slots=True)
class Obstacle:
    """Why no session comes up: what is missing at which device, and the line to look at (0: nothing is there).

    `statement` is the one that is missing or wrong, from the top; of several with ` | ` between them the first that is
    there, else the last.
    """

    device: str
    interface: str
    message: str
    line: int = 0
    statement: str = field(default="", compare=False)


class Side(NamedTuple):
    """One side of a session: the device, the index of its group, its logical interface, its AS number there.

    `neighbor` is None where the peer is discovered.
    """

    device: str
    group: int
    interface: str
    asn: int
    neighbor: Neighbor | None = None


# One side of a session, or what it lacks.
Ready = Side | tuple[Obstacle, ...]
# What keeps a group from having sessions: message, line, statement.
Misfits = tuple[tuple[str, int, str], ...]


class Session(NamedTuple):
    """A session over one cable; it is established when there are no obstacles."""

    cable: Cable
    a: Side
    b: Side


@dataclass(frozen=True, slots=True)
class Sessions:
    """All sessions that come up, and for every other cable between switches the obstacles."""

    up: tuple[Session, ...]
    down: tuple[tuple[Cable, tuple[Obstacle, ...]], ...]


def local_as(switch: Switch, group: Group) -> int | None:
    """Return the AS number that a switch has in a group: its `local-as`, else that of routing-options."""
    return group.local_as if group.local_as is not None else switch.asn


def distinct(groups: Iterable[Group]) -> tuple[Group, ...]:
    """Return groups without those that differ from one before in the color of their static neighbors alone."""
    found: dict[Group, Group] = {}
    for group in groups:
        found.setdefault(replace(group, color=None, neighbors=()) if group.neighbors else group, group)
    return tuple(found.values())


def group_keys(switch: Switch) -> tuple[str, ...]:
    """Return a name for every group that no other has: its own, with a number from the second of a name on."""
    counts: Counter[str] = Counter()
    keys = []
    for group in switch.groups:
        counts[group.name] += 1
        keys.append(group.name if counts[group.name] == 1 else f"{group.name} {counts[group.name]}")
    return tuple(keys)


def session_groups(switch: Switch) -> dict[str, int]:
    """Map the interfaces on which a switch has peers, discovered or static, to the index of the first such group."""
    found: dict[str, int] = {}
    for index, group in enumerate(switch.groups):
        for discovery in group.discoveries:
            if discovery.ipv6_nd:
                for interface, _ in discovery.interfaces:
                    found.setdefault(interface, index)
        for neighbor in group.neighbors:
            if neighbor.interface:
                found.setdefault(neighbor.interface, index)
    return found


def sessions(network: Network) -> Sessions:
    """Try a session over every cable between two switches; the unit is 0 on both ends."""
    up: list[Session] = []
    down: list[tuple[Cable, tuple[Obstacle, ...]]] = []
    for cable, a, b in sides(network):
        if isinstance(a, Side) and isinstance(b, Side):
            obstacles = (*refused(network.switches, a, b), *refused(network.switches, b, a))
            if not obstacles:
                up.append(Session(cable, a, b))
                continue
        else:
            obstacles = tuple(obstacle for one in (a, b) if not isinstance(one, Side) for obstacle in one)
        down.append((cable, obstacles))
    return Sessions(tuple(up), tuple(down))


def sides(network: Network) -> Iterator[tuple[Cable, Ready, Ready]]:
    """Yield both sides of every cable between two switches, each for itself: what it is, or what it lacks."""
    tables = {name: session_groups(switch) for name, switch in network.switches.items()}
    misfits = {name: tuple(tuple(unfit(group)) for group in switch.groups) for name, switch in network.switches.items()}
    for cable in network.links:
        a = _side(network.switches, tables, misfits, cable.a)
        yield cable, a, _side(network.switches, tables, misfits, cable.b)


def _side(
    switches: Mapping[str, Switch],
    tables: Mapping[str, Mapping[str, int]],
    misfits: Mapping[str, tuple[Misfits, ...]],
    end: End,
) -> Ready:
    """Return one side of a session if everything that it needs at this end is there, else what is missing."""
    switch = switches.get(end.device)
    if switch is None:
        return (Obstacle(end.device, end.port, "there is no usable file of this device"),)
    interface, table = f"{end.port}.0", tables[end.device]
    obstacles = _missing(switch, end, interface, table, misfits[end.device])
    if obstacles:
        return tuple(obstacles)
    index = table[interface]
    group = switch.groups[index]
    asn = local_as(switch, group)
    if asn is None:
        message = "neither local-as nor autonomous-system gives an AS number"
        return (Obstacle(end.device, interface, message, group.line),)
    return Side(end.device, index, interface, asn, group.neighbor(interface))


def _missing(
    switch: Switch, end: End, interface: str, table: Mapping[str, int], misfits: tuple[Misfits, ...]
) -> list[Obstacle]:
    """Return what is missing at one end; texts are made for that alone, as most ends lack nothing."""
    port = switch.ports.get(end.port)
    if port is None:
        return [Obstacle(end.device, interface, "the port is not configured", 0, f"interfaces {end.port}")]
    found: list[tuple[str, int, str]] = []
    unit = next((one for one in port.units if one.name == interface), None)
    if port.disabled or (unit is not None and unit.disabled):
        base, own = f"interfaces {end.port.partition(':')[0]}", f"interfaces {end.port}"
        found.append((DISABLED, port.line, f"{base} disable | {own} disable | {own} unit 0 disable"))
    if unit is None or not unit.inet6:
        statement = f"interfaces {end.port} unit 0 family inet6"
        found.append(("unit 0 has no family inet6", port.line, statement))
    index = table.get(interface)
    # Neighbor discovery learns the peer from its router advertisements.
    if interface not in switch.advertisements and not _is_static(switch, index, interface):
        statement = f"protocols router-advertisement interface {interface}"
        found.append(("no router advertisements here: the neighbor cannot discover this switch", 0, statement))
    if index is not None:
        found += misfits[index]
    else:
        message = "no BGP group discovers neighbors here (peer-auto-discovery with ipv6-nd)"
        if _is_static(switch, index, interface):
            message = "no BGP group has a neighbor here"
        found.append((message, switch.bgp_line, neighbor_of(switch, interface)))
    return [Obstacle(end.device, interface, *one) for one in found]


def _is_static(switch: Switch, index: int | None, interface: str) -> bool:
    """Return whether the group of an interface has a static neighbor there; without one, whether any group has some."""
    if index is None:
        return any(group.neighbors for group in switch.groups)
    return switch.groups[index].neighbor(interface) is not None


def neighbor_of(switch: Switch, interface: str) -> str:
    """Return the statement without which no group of a switch has neighbors on an interface."""
    static = next((group for group in switch.groups if group.neighbors), None)
    if static is not None:
        port, _, unit = interface.rpartition(".")
        own = f"interfaces {port} unit {unit} family inet6 address *"
        return f"{own} | protocols bgp group * | protocols bgp group {static.name} neighbor *"
    for group in switch.groups:
        for discovery in group.discoveries:
            if any(name == interface for name, _ in discovery.interfaces):
                above = f"protocols bgp group {group.name} dynamic-neighbor {discovery.name}"
                return f"{above} peer-auto-discovery family inet6 ipv6-nd"
    for group in switch.groups:
        for discovery in group.discoveries:
            if not discovery.interfaces:
                above = f"protocols bgp group {group.name} dynamic-neighbor {discovery.name} peer-auto-discovery"
                return f"{above} interface {interface}"
    bare = next((group for group in switch.groups if not group.discoveries), None)
    return f"protocols bgp group {bare.name} dynamic-neighbor *" if bare is not None else "protocols bgp group *"


def unfit(group: Group) -> Iterator[tuple[str, int, str]]:
    """Iterate over what keeps a group from having sessions between neighbors: message, line, statement."""

    def own(below: str) -> str:
        return f"protocols bgp group {group.name} {below} | protocols bgp {below}"

    beside = "auto-discovery" if group.discoveries else "static neighbors"

    if group.disabled:
        yield f"group {group.name} is disabled", group.line, own("disable")
    if not group.external:
        what = "auto-discovery" if group.discoveries else "a fabric color"
        message = f"group {group.name} is not external: {what} is for single-hop EBGP"
        yield message, group.line, own("type")
    if not group.inet6:
        statement = f"protocols bgp group {group.name} family inet6 unicast"
        yield f"group {group.name} has no family inet6 unicast", group.line, statement
    for word, line in (*group.forbidden, *(pair for discovery in group.discoveries for pair in discovery.forbidden)):
        yield f"{word} in group {group.name} cannot be combined with {beside}", line, ""


def refused(switches: Mapping[str, Switch], side: Side, peer: Side) -> Iterator[Obstacle]:
    """Iterate over the reasons why one side refuses the other as its peer."""
    switch = switches[side.device]
    group = switch.groups[side.group]
    if side.asn == peer.asn:
        message = f"both ends are in AS {peer.asn}: no external session"
        below = f"protocols bgp group {group.name} local-as | protocols bgp local-as"
        line = group.local_as_line or switch.asn_line
        statement = f"{below} | routing-options autonomous-system"
        yield Obstacle(side.device, side.interface, message, line, statement)
    elif side.neighbor is not None:
        yield from _mistaken(switches, side, side.neighbor, peer, f"protocols bgp group {group.name} neighbor")
    elif group.peer_as is not None and group.peer_as == peer.asn:
        return
    elif group.peer_as_list is None:
        who = "no neighbor is" if group.peer_as is None else f"{peer.device} in AS {peer.asn} is not"
        message = f"group {group.name} has no peer-as-list: {who} accepted"
        line, statement = group.peer_as_line or group.line, f"protocols bgp group {group.name} peer-as-list"
        yield Obstacle(side.device, side.interface, message, line, statement)
    elif group.peer_as_list not in switch.as_lists:
        message = f"as-list {group.peer_as_list} of group {group.name} is not defined"
        yield Obstacle(side.device, side.interface, message, group.peer_as_line)
    elif peer.asn not in switch.as_lists[group.peer_as_list]:
        message = f"{peer.device} is in AS {peer.asn}, which as-list {group.peer_as_list} does not have"
        listed = switch.as_lists[group.peer_as_list]
        statement = f"policy-options as-list {listed.name} members"
        yield Obstacle(side.device, side.interface, message, listed.line, statement)


def _mistaken(
    switches: Mapping[str, Switch], side: Side, neighbor: Neighbor, peer: Side, above: str
) -> Iterator[Obstacle]:
    """Iterate over the reasons why a static neighbor is not the peer; its address is known with its file."""
    statement = f"{above} {neighbor.name}"
    if neighbor.peer_as != peer.asn:
        found = "no peer-as" if neighbor.peer_as is None else f"peer-as {neighbor.peer_as}"
        message = f"neighbor {neighbor.name} has {found}; {peer.device} is in AS {peer.asn}"
        line = neighbor.peer_as_line or neighbor.line
        yield Obstacle(side.device, side.interface, message, line, f"{statement} peer-as")
    if peer.device not in switches:
        return
    if peer.neighbor is None:
        message = f"{peer.device} discovers neighbors on {peer.interface}: both ends must be static"
        yield Obstacle(side.device, side.interface, message, neighbor.line, statement)
        return
    if peer.neighbor.own != neighbor.address:
        own = address_text(peer.neighbor.own)
        message = f"neighbor {neighbor.name} is not {peer.device}, whose address on {peer.interface} is {own}"
        yield Obstacle(side.device, side.interface, message, neighbor.line, statement)
