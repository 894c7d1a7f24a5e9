"""The control plane a second time, small and obvious: speakers that send each other messages, one after the other.

It shares nothing with `ailb_gen.routing` or `ailb_gen.network.sessions` but the data that was read from the files.
"""

from __future__ import annotations

import random
from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from ipaddress import AddressValueError, IPv4Address

from ailb_gen.addresses import Prefix
from ailb_gen.network.fabric import Cable, End, Network
from ailb_gen.network.model import Group, Switch
from tests.routing.naive_policy import Route, one_value, policies

MESSAGES_PER_SESSION = 400


@dataclass(eq=False)
class Peering:
    """One end of a session, with what came in over it and what was last sent over it."""

    switch: Switch
    port: str
    group: Group
    asn: int
    far: Peering = field(init=False)
    received: Route | None = None
    sent: Route | None = None

    def color(self) -> str | None:
        return one_value(self.switch, self.group.color)


@dataclass(frozen=True)
class Seen:
    """What an operator sees of one path: over which interface, how it fared, why, with which attributes."""

    peer: str
    group: str
    status: str
    reason: str
    route: Route


Message = tuple[Peering, Route | None]


class NoRestError(Exception):
    """The speakers go on sending each other messages."""


class Fabric:
    """All speakers and one prefix at a time."""

    def __init__(self, network: Network, failed: frozenset[Cable] = frozenset()) -> None:
        self.switches = network.switches
        self.peerings: dict[str, list[Peering]] = {name: [] for name in network.switches}
        self.own_asns: dict[str, set[int]] = {name: set() for name in network.switches}
        self.up = [cable for cable in network.links if self._connect(cable, cable not in failed)]

    def _connect(self, cable: Cable, works: bool) -> bool:
        a, b = peering(self.switches, cable.a), peering(self.switches, cable.b)
        if a is None or b is None or a.asn == b.asn or not (welcomes(a, b.asn) and welcomes(b, a.asn)):
            return False
        a.far, b.far = b, a
        self.own_asns[cable.a.device].add(a.asn)
        self.own_asns[cable.b.device].add(b.asn)
        if works:
            self.peerings[cable.a.device].append(a)
            self.peerings[cable.b.device].append(b)
        return True

    def run(self, prefix: Prefix, order: random.Random | None = None) -> dict[str, dict[str, Seen]]:
        """Let the speakers talk about a prefix until none has anything to send. Raises NoRestError if they never stop.

        Messages are delivered in the order of sending, with `order` at random.
        """
        everything = [end for ends in self.peerings.values() for end in ends]
        for end in everything:
            end.received = end.sent = None
        queue: deque[Message] = deque()
        for switch in self.switches.values():
            self._speak(switch, prefix, queue)
        for _ in range(MESSAGES_PER_SESSION * len(everything) + 1):
            if not queue:
                return {name: dict(self._seen(switch, prefix)) for name, switch in self.switches.items()}
            end, route = take(queue, order)
            end.received = route
            self._speak(end.switch, prefix, queue)
        raise NoRestError

    def next_hops(self, device: str, prefix: Prefix, seen: dict[str, Seen]) -> set[str]:
        """Return the interfaces that packets for the prefix leave by, if they fit into the hardware's limit."""
        per_packet = self.switches[device].balancing.per_packet
        wanted = ("active", "multipath") if per_packet else ("active",)
        return {interface for interface, path in seen.items() if path.status in wanted}

    def _speak(self, switch: Switch, prefix: Prefix, queue: deque[Message]) -> None:
        """Send every peer what it should now hear, if that is not what it was sent last."""
        best = self._decide(switch, prefix)[0]
        for end in self.peerings[switch.named]:
            if has(switch, prefix):
                route = advertise(end, prefix) or export(end, prefix, Route(protocol="direct"))
            else:
                route = export(end, prefix, best[1]) if best is not None else None
            if route != end.sent:
                end.sent = route
                # The sender's own AS number is what the peer knows it by.
                queue.append((end.far, replace(route, path=(end.asn, *route.path)) if route else None))

    def _decide(
        self, switch: Switch, prefix: Prefix
    ) -> tuple[tuple[Peering, Route] | None, list[Peering], list[tuple[Peering, Route, str]]]:
        """Return the best path, those that share the load with it, and all with the reason why one is hidden."""
        known = [(end, *accept(self, end, prefix, end.received)) for end in self.peerings[switch.named] if end.received]
        good = [(end, route) for end, route, hidden in known if not hidden]
        if not good or has(switch, prefix):
            return None, [], known
        strongest = min(strength(route) for _, route in good)
        equal = [(end, route) for end, route in good if strength(route) == strongest]
        equal = [(end, route) for end, route in equal if not beaten_by_med(route, [other for _, other in equal])]
        best = min(equal, key=lambda path: tie_break(self, path[0]))
        shared = [end for end, _ in equal if shares(best[0], end)]
        return best, shared, known

    def _seen(self, switch: Switch, prefix: Prefix) -> list[tuple[str, Seen]]:
        best, shared, known = self._decide(switch, prefix)
        found = []
        if has(switch, prefix):
            found.append(("", Seen("", "", "active", "", Route(protocol="direct"))))
        for end, route, hidden in known:
            status, reason = "inactive", ""
            if hidden:
                status, reason = "hidden", hidden
            elif best is not None and end is best[0]:
                status = "active"
            elif end in shared:
                status = "multipath"
            else:
                rivals = [rival for _, rival, why in known if not why]
                reason = lost(route, best[1], rivals) if best is not None else "Route Preference"
            seen = Seen(end.far.switch.named, end.group.name, status, reason, route)
            found.append((f"{end.port}.0", seen))
        return found


def solutions(fabric: Fabric, prefix: Prefix) -> dict[str, dict[str, Seen]] | None:
    """Return what the speakers agree on; None when they never agree, or on something else in another order.

    Some policies admit no stable routes or several (RFC 4264): there is nothing to compare then.
    """
    try:
        found = fabric.run(prefix)
        others = [fabric.run(prefix, random.Random(seed)) for seed in range(3)]
    except NoRestError:
        return None
    return found if all(other == found for other in others) else None


def peering(switches: Mapping[str, Switch], end: End) -> Peering | None:
    """Return one end of a session if the switch looks for neighbors at this port and can find one."""
    switch = switches.get(end.device)
    port = switch.ports.get(end.port) if switch is not None else None
    if switch is None or port is None or port.disabled:
        return None
    name = f"{end.port}.0"
    if not any(unit.name == name and unit.inet6 and not unit.disabled for unit in port.units):
        return None
    if name not in switch.advertisements:
        return None
    for group in switch.groups:
        for discovery in group.discoveries:
            if discovery.ipv6_nd and name in [interface for interface, _ in discovery.interfaces]:
                asn = group.local_as or switch.asn
                forbidden = any([group.forbidden, *(each.forbidden for each in group.discoveries)])
                usable = group.external and group.inet6 and not forbidden
                return Peering(switch, end.port, group, asn) if usable and asn else None
    return None


def welcomes(end: Peering, asn: int) -> bool:
    listed = end.switch.as_lists.get(end.group.peer_as_list or "")
    return asn == end.group.peer_as or (listed is not None and any(low <= asn <= high for low, high in listed.ranges))


def take(queue: deque[Message], order: random.Random | None) -> Message:
    """Take the oldest message, or the newest to a peer chosen at random: what it replaces was then never sent."""
    if order is None:
        return queue.popleft()
    chosen = order.choice(queue)[0]
    messages = [message for message in queue if message[0] is chosen]
    for message in messages:
        queue.remove(message)
    return messages[-1]


def has(switch: Switch, prefix: Prefix) -> bool:
    """Return whether the switch has an address in the prefix: a direct route, which beats all that BGP says."""
    ports = [port for port in switch.ports.values() if not port.disabled]
    units = [unit for port in ports for unit in port.units if not unit.disabled]
    bridged = [vlan.irb for vlan in switch.vlans if vlan.vlan_id is not None]
    return any(
        address.prefix == prefix
        for unit in units
        if not unit.name.startswith("irb.") or unit.name in bridged
        for address in unit.addresses
    )


def colors(route: Route) -> set[str]:
    return {value for value in route.communities if value.startswith("color:")}


def advertise(end: Peering, prefix: Prefix) -> Route | None:
    """Return what `fabric-advertise` says to a peer about a prefix that is here."""
    route = next((route for route in end.switch.routes if route.prefix == prefix), None)
    if route is None:
        return None
    if route.color is None:
        return leaving(end, Route())
    color = end.color()
    if color is None:
        return None
    colored = Route(communities=frozenset([color]))
    if route.color == "all-colors" or one_value(end.switch, route.color) == color:
        return leaving(end, replace(colored, aigp=0) if route.backup and end.group.aigp else colored)
    if route.backup == "all-colors" or one_value(end.switch, route.backup) == color:
        return leaving(end, colored)
    return None


def leaving(end: Peering, route: Route) -> Route:
    """Mark what a speaker says that is about to be shut down."""
    return replace(route, communities=route.communities | {"65535:0"}) if end.group.shutdown_sender else route


def export(end: Peering, prefix: Prefix, route: Route) -> Route | None:
    """Return what the export policies let out over a session, None if nothing."""
    if route.path and route.path[0] == end.far.asn:
        return None
    # RFC 1997: not outside the AS, to no peer at all, not even within a confederation; every peer here is outside.
    if any(f"65535:{number}" in route.communities for number in (65281, 65282, 65283)):
        return None
    # What was said of preferences here, or by a neighbor's MED, ends at the AS's border.
    route = replace(route, med=None)
    accepted, route = policies(end.switch, end.group.exports, prefix, route, default=route.protocol == "bgp")
    color = end.color()
    if not accepted or (color and colors(route) and color not in colors(route)):
        return None
    sent = replace(route, protocol="bgp", preference=100, aigp=route.aigp if end.group.aigp else None)
    return leaving(end, sent)


def accept(fabric: Fabric, end: Peering, prefix: Prefix, route: Route) -> tuple[Route, str]:
    """Return what a route becomes on import, and the kind of reason why it is hidden, empty if it is not."""
    if not end.group.aigp:
        route = replace(route, aigp=None)
    if fabric.own_asns[end.switch.named] & set(route.path):
        return route, "AS path loop"
    color = end.color()
    if color and colors(route) and color not in colors(route):
        return route, "color mismatch"
    accepted, route = policies(end.switch, end.group.imports, prefix, route, default=True)
    if not accepted:
        return route, "rejected by"
    # RFC 8326: who leaves marks what it hears, too; what is marked is the last choice, unless the receiver ignores it.
    route = leaving(end, route)
    lowest = end.group.shutdown_preference
    return (route if lowest is None or "65535:0" not in route.communities else replace(route, preference=lowest)), ""


def strength(route: Route) -> tuple[int, float, int]:
    """Return what orders paths, smallest first; any AIGP is better than none."""
    return -route.preference, float("inf") if route.aigp is None else route.aigp, len(route.path)


def beaten_by_med(route: Route, others: list[Route]) -> bool:
    return any(other.path[0] == route.path[0] and (other.med or 0) < (route.med or 0) for other in others)


def tie_break(fabric: Fabric, end: Peering) -> tuple[object, ...]:
    """Lowest router-id, then the order of names; sessions with one peer by the order of the cables."""
    peer, names = end.far.switch, list(fabric.switches)
    try:
        router_id = int(IPv4Address(peer.router_id or ""))
    except AddressValueError:
        router_id = 1 << 32
    return router_id, names.index(peer.named), fabric.peerings[end.switch.named].index(end)


def shares(best: Peering, other: Peering) -> bool:
    """Return whether an equally good path is used beside the best one."""
    one_as = best.far.asn == other.far.asn
    return other is best or (best.group.multipath and other.group.multipath and (one_as or best.group.multiple_as))


def lost(route: Route, best: Route, rivals: list[Route]) -> str:
    if route.preference != best.preference:
        return "Local Preference"
    if route.aigp != best.aigp:
        return "AIGP"
    if len(route.path) != len(best.path):
        return "AS path"
    if beaten_by_med(route, [rival for rival in rivals if strength(rival) == strength(route)]):
        return "Route Metric or MED comparison"
    return "Not Best in its group - Router ID"
