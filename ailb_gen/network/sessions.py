"""BGP sessions that would come up between auto-discovering neighbors, and why others would not."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from ailb_gen.network.fabric import Cable, End, Network
from ailb_gen.network.model import Group, Switch

# The one obstacle that the intent may ask for.
DISABLED = "the interface is disabled"


@dataclass(frozen=True, slots=True)
class Obstacle:
    """Why no session comes up: what is missing at which device, and the line to look at (0: nothing is there)."""

    device: str
    interface: str
    message: str
    line: int = 0


@dataclass(frozen=True, slots=True)
class Side:
    """One side of a session: the device, the index of its group, its logical interface, its AS number there."""

    device: str
    group: int
    interface: str
    asn: int


# One side of a session, or what it lacks.
Ready = Side | tuple[Obstacle, ...]


@dataclass(frozen=True, slots=True)
class Session:
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


def discovered(switch: Switch) -> dict[str, int]:
    """Map the interfaces on which a switch discovers peers to the index of the group; the first group has it."""
    found: dict[str, int] = {}
    for index, group in enumerate(switch.groups):
        for discovery in group.discoveries:
            if discovery.ipv6_nd:
                for interface, _ in discovery.interfaces:
                    found.setdefault(interface, index)
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
            obstacles = tuple(obstacle for one in (a, b) if isinstance(one, tuple) for obstacle in one)
        down.append((cable, obstacles))
    return Sessions(tuple(up), tuple(down))


def sides(network: Network) -> Iterator[tuple[Cable, Ready, Ready]]:
    """Yield both sides of every cable between two switches, each for itself: what it is, or what it lacks."""
    tables = {name: discovered(switch) for name, switch in network.switches.items()}
    for cable in network.links:
        yield cable, _side(network.switches, tables, cable.a), _side(network.switches, tables, cable.b)


def _side(switches: Mapping[str, Switch], tables: Mapping[str, Mapping[str, int]], end: End) -> Ready:
    """Return one side of a session if everything that it needs at this end is there, else what is missing."""
    switch = switches.get(end.device)
    if switch is None:
        return (Obstacle(end.device, end.port, "there is no usable file of this device"),)
    obstacles = tuple(_missing(switch, end, tables[end.device]))
    if obstacles:
        return obstacles
    interface = f"{end.port}.0"
    index = tables[end.device][interface]
    asn = local_as(switch, switch.groups[index])
    if asn is None:
        line = switch.groups[index].line
        return (Obstacle(end.device, interface, "neither local-as nor autonomous-system gives an AS number", line),)
    return Side(end.device, index, interface, asn)


def _missing(switch: Switch, end: End, table: Mapping[str, int]) -> Iterator[Obstacle]:
    interface = f"{end.port}.0"

    def obstacle(message: str, line: int = 0) -> Obstacle:
        return Obstacle(end.device, interface, message, line)

    port = switch.ports.get(end.port)
    unit = switch.unit(interface)
    if port is None:
        yield obstacle("the port is not configured")
        return
    if port.disabled or (unit is not None and unit.disabled):
        yield obstacle(DISABLED, port.line)
    if unit is None or not unit.inet6:
        yield obstacle("unit 0 has no family inet6", port.line)
    # Neighbor discovery learns the peer from its router advertisements.
    if interface not in switch.advertisements:
        yield obstacle("no router advertisements here: the neighbor cannot discover this switch")
    if interface not in table:
        yield obstacle("no BGP group discovers neighbors here (peer-auto-discovery with ipv6-nd)", switch.bgp_line)
        return
    yield from (obstacle(message, line) for message, line in unfit(switch.groups[table[interface]]))


def unfit(group: Group) -> Iterator[tuple[str, int]]:
    """Iterate over what keeps a group from having sessions between discovered neighbors, with the lines."""
    if group.disabled:
        yield f"group {group.name} is disabled", group.line
    if not group.external:
        yield f"group {group.name} is not external: auto-discovery is for single-hop EBGP", group.line
    if not group.inet6:
        yield f"group {group.name} has no family inet6 unicast", group.line
    for word, line in (*group.forbidden, *(pair for discovery in group.discoveries for pair in discovery.forbidden)):
        yield f"{word} in group {group.name} cannot stand together with auto-discovery", line


def refused(switches: Mapping[str, Switch], side: Side, peer: Side) -> Iterator[Obstacle]:
    """Iterate over the reasons why one side refuses the other as its peer."""
    switch = switches[side.device]
    group = switch.groups[side.group]
    if side.asn == peer.asn:
        message = f"both ends are in AS {peer.asn}: no external session"
        yield Obstacle(side.device, side.interface, message, group.local_as_line or switch.asn_line)
    elif group.peer_as is not None and group.peer_as == peer.asn:
        return
    elif group.peer_as_list is None:
        who = "no neighbor is" if group.peer_as is None else f"{peer.device} in AS {peer.asn} is not"
        message = f"group {group.name} has no peer-as-list: {who} accepted"
        yield Obstacle(side.device, side.interface, message, group.peer_as_line or group.line)
    elif group.peer_as_list not in switch.as_lists:
        message = f"as-list {group.peer_as_list} of group {group.name} is not defined"
        yield Obstacle(side.device, side.interface, message, group.peer_as_line)
    elif peer.asn not in switch.as_lists[group.peer_as_list]:
        message = f"{peer.device} is in AS {peer.asn}, which as-list {group.peer_as_list} does not hold"
        yield Obstacle(side.device, side.interface, message, switch.as_lists[group.peer_as_list].line)
