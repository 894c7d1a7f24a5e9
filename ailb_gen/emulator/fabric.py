"""The computed fabric: the state that follows from committed configurations and cables."""

from __future__ import annotations

import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache
from hashlib import sha256
from pathlib import Path as FilePath
from typing import NamedTuple

from ailb_gen.addresses import Prefix
from ailb_gen.emulator.fabric_state import (
    BgpSession,
    PrefixCounts,
    QueueCounters,
    RouteTotals,
    TrafficCounters,
    unconfigured,
)
from ailb_gen.emulator.ribs import CountedRouting, never_exported, own_routes, transit_routes
from ailb_gen.emulator.traffic import EmulatedTraffic, LinkRate
from ailb_gen.errors import UsageError
from ailb_gen.junos.interface_ranges import effective
from ailb_gen.junos.tree import Node
from ailb_gen.layout import CABLING, TOPOLOGY, switch_file
from ailb_gen.network.fabric import Cable, End, Network
from ailb_gen.network.links import cables
from ailb_gen.network.model import RouterAdvertisement, Switch
from ailb_gen.network.read import network_of, optional
from ailb_gen.network.sessions import Ready, Side, refused, sides
from ailb_gen.network.switch import switch
from ailb_gen.network.topology import Topology, read_cabling, read_topology
from ailb_gen.routing.rib import NextHop, Path
from ailb_gen.routing.route import Route
from ailb_gen.routing.speaker import direct_prefixes, lists_of, rules

# Of the first octet of a MAC address: locally administered, not multicast.
LOCAL, FLAGS = 0x02, 0x03


class Outgoing(NamedTuple):
    """The routes that a device sends over the sessions of a group.

    `routing` has the routes that were learned from others; None where only own ones are sent. `from_as` counts routes
    by the first AS of their path.
    """

    routing: CountedRouting | None
    routes: dict[Prefix, Route]
    from_as: Counter[tuple[int, ...]]


class EmulatedFabric:
    """A `FabricState` computed from configurations and cables; to be used by one thread at a time.

    Cables never change. Sessions follow from a device's own and its neighbors' configurations, routes from all of
    them; both are computed on demand. `lag_s` is the number of seconds for which routes may be behind the
    configurations: 0 computes them anew after every change, which takes seconds for hundreds of devices. Sessions and
    the advertised own routes are never behind. Counters are zero until `send` sets rates.
    """

    def __init__(
        self,
        links: Iterable[Cable],
        attachments: Iterable[Cable] = (),
        roles: Mapping[str, str] | None = None,
        lag_s: float = 0.0,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._links = tuple(links)
        self._roles = dict(roles or {})
        self._lag_s, self._clock = lag_s, clock
        self._far: dict[End, End] = {}
        self._cables: dict[str, list[Cable]] = defaultdict(list)
        for cable in self._links:
            for here, there in ((cable.a, cable.b), (cable.b, cable.a)):
                self._far[here] = there
                self._cables[here.device].append(cable)
        attached = tuple(attachments)
        self._at_servers = {cable.a for cable in attached}
        self._speeds = {end: cable.speed_bps for cable in (*self._links, *attached) for end in (cable.a, cable.b)}
        self._switches: dict[str, Switch] = {}
        self._direct: dict[str, frozenset[Prefix]] = {}
        self._down: set[End] = set()
        self._traffic = EmulatedTraffic(self._carries, clock)
        self._since: dict[End | str, float] = {}
        self._known: set[str] = set()
        self._generation = 0
        self._sessions: dict[str, tuple[BgpSession, ...]] = {}
        self._prefixes: frozenset[Prefix] | None = None
        self._routing: tuple[int, float, CountedRouting] | None = None
        self._rejected: dict[object, dict[Prefix, bool]] = {}
        self._passing: dict[object, frozenset[Prefix]] = {}
        self._sent: dict[tuple[str, int], Outgoing] = {}

    @classmethod
    def read(cls, root: FilePath, lag_s: float = 0.0, clock: Callable[[], float] = time.time) -> EmulatedFabric:
        """Read the cables of an artifact directory: from cabling.csv, topology.json, else from descriptions.

        Raises UsageError when a file cannot be read, or when two cables share a port.
        """
        topology, cabling = (
            optional(root, file, read) if (root / file).exists() else Topology()
            for file, read in ((TOPOLOGY, read_topology), (CABLING, read_cabling))
        )
        defects = [*topology.defects, *cabling.defects]
        links, attachments, roles = topology.links, topology.attachments, topology.roles
        if cabling.links or topology.links:
            found = cables({}, {}, topology, cabling)
            links, attachments, defects = found.links, found.attachments, [*defects, *found.defects]
        elif not defects:
            network = network_of(root)
            links, roles = network.links, network.roles
            defects = [defect for defect in network.defects if defect.scope not in (TOPOLOGY, CABLING)]
            speeds = network.attachment_bps
            attachments = tuple(
                Cable(near, End(*far), speed_bps=speeds.get(near)) for far, near in network.attachments.items()
            )
        if defects:
            raise UsageError("\n".join(f"{defect.place or root}: {defect.message}" for defect in defects))
        return cls(links, attachments, roles, lag_s, clock)

    def commit(self, name: str, tree: Node) -> None:
        """Take over the active configuration of a device, as written; a device that was off is on again.

        Raises UsageError when groups apply each other in a circle; then nothing has changed.
        """
        found = switch(name, switch_file(name), effective(tree))
        if name in self._known and name not in self._switches:
            self._since[name] = self._clock()
        self._known.add(name)
        self._switches[name] = found
        self._direct[name] = direct_prefixes(found)
        self._changed(name)

    def power_off(self, name: str) -> None:
        """Take a device out of the fabric: its links and sessions are down until it commits again."""
        self._switches.pop(name, None)
        self._direct.pop(name, None)
        self._changed(name)

    def keep_down(self, device: str, interface: str) -> None:
        """Keep the BGP session on a logical interface down, even if it is configured. Raises UsageError."""
        self._down.update(self._ends(device, interface))
        self._changed(device)

    def restore(self, device: str, interface: str) -> None:
        """Let the BGP session on a logical interface come up again. Raises UsageError."""
        for end in self._ends(device, interface):
            self._down.discard(end)
            self._since[end] = self._clock()
        self._changed(device)

    def _ends(self, device: str, interface: str) -> tuple[End, End]:
        end = End(device, interface.rpartition(".")[0] or interface)
        if end not in self._far:
            raise UsageError(f"{device} has no cable to another switch on {interface}; no session could be kept down")
        return end, self._far[end]

    def _changed(self, name: str) -> None:
        self._generation += 1
        self._prefixes = None
        self._passing.clear()
        self._sent.clear()
        self._sessions.pop(name, None)
        for cable in self._cables.get(name, ()):
            self._sessions.pop(cable.a.device if cable.b.device == name else cable.b.device, None)
            self._traffic.changed(cable.a)
            self._traffic.changed(cable.b)

    def switch(self, name: str) -> Switch:
        """Return the model of a device's active configuration, which is empty while it is off."""
        return self._switches.get(name) or unconfigured(name)

    def neighbor(self, device: str, port: str) -> End | None:
        """Return the port of a switch at the other end of a cable; None for a server, or without a cable."""
        return self._far.get(End(device, port))

    def mac(self, device: str, interface: str = "") -> str:
        """Return the MAC address of a port or of a logical interface, or of the chassis: it follows from the names."""
        return mac_address(device, interface.rpartition(".")[0] or interface)

    def link_up(self, device: str, port: str) -> bool:
        """Return whether a port has carrier: a cable, neither end disabled, and a device at the other end."""
        far = self._far.get(End(device, port))
        if far is None:
            return End(device, port) in self._at_servers and self._enabled(End(device, port))
        return self._enabled(End(device, port)) and self._enabled(far)

    def _enabled(self, end: End) -> bool:
        found = self._switches.get(end.device)
        return found is not None and not (end.port in found.ports and found.ports[end.port].disabled)

    def cable_bps(self, device: str, port: str) -> int | None:
        """Return the speed of the cable on a port in bit/s; None without a cable, or where no file says it."""
        return self._speeds.get(End(device, port))

    def send(self, rates: Mapping[End, LinkRate]) -> None:
        """Let ports send at rates from now on; others keep theirs. Raises UsageError for a port without a cable."""
        for end, rate in rates.items():
            self._ends(*end)
            self._traffic.send(end, rate)

    def counters(self, device: str, interface: str) -> TrafficCounters:
        """Return the traffic of a port or of a logical interface."""
        end = End(device, interface.rpartition(".")[0] or interface)
        if (far := self._far.get(end)) is None:
            return TrafficCounters()
        out, into = self._traffic.sent(end), self._traffic.sent(far)
        return TrafficCounters(into.octets, out.octets, into.packets, out.packets, out.dropped_packets)

    def queue_counters(self, device: str, port: str, queue: int) -> QueueCounters:
        """Return the counters of a queue of a port."""
        return self._traffic.sent(End(device, port), queue)

    def _carries(self, end: End) -> bool:
        """Return whether a BGP session is up on a port."""
        unit = f"{end.port}.0"
        return any(one.interface == unit and one.established for one in self.sessions(end.device))

    def advertiser(self, device: str, interface: str) -> End | None:
        """Return the port whose router advertisements arrive on a logical interface; None if none do."""
        port = interface.rpartition(".")[0]
        far = self._far.get(End(device, port))
        if far is None or not self.link_up(device, port):
            return None
        other, there = self._switches[far.device], f"{far.port}.0"
        ends = self._switches[device].unit(interface), other.unit(there)
        ready = all(unit is not None and unit.inet6 and not unit.disabled for unit in ends)
        return far if ready and there in other.advertisements else None

    def advertisement(self, device: str, interface: str) -> RouterAdvertisement | None:
        """Return the router advertisements that `advertiser` sends, None if there is none."""
        far = self.advertiser(device, interface)
        return self._switches[far.device].advertisements[f"{far.port}.0"] if far is not None else None

    def sessions(self, name: str) -> tuple[BgpSession, ...]:
        """Return the BGP neighbors of a device, discovered or static, by its cables; none while it is off."""
        if name not in self._sessions:
            self._sessions[name] = tuple(self._neighbors(name))
        return self._sessions[name]

    def _neighbors(self, name: str) -> Iterable[BgpSession]:
        if name not in self._switches:
            return
        near = {name, *(end.device for cable in self._cables[name] for end in (cable.a, cable.b))}
        around = {device: self._switches[device] for device in near if device in self._switches}
        for cable, a, b in sides(Network(around, {}, {}, tuple(self._cables[name]), {}, ())):
            here, side, other = (cable.a, a, b) if cable.a.device == name else (cable.b, b, a)
            if isinstance(side, Side) and (side.neighbor or self.advertiser(name, side.interface)):
                yield self._session(here, side, other)

    def _session(self, here: End, side: Side, other: Ready) -> BgpSession:
        far = self._far[here]
        group, up = self._switches[side.device].groups[side.group], False
        known = side.neighbor.peer_as if side.neighbor is not None else group.peer_as
        if isinstance(other, Side) and here not in self._down:
            up = not any((*refused(self._switches, side, other), *refused(self._switches, other, side)))
            known = other.asn if up else known
        since = max((self._since[key] for key in (far.device, here) if key in self._since), default=None)
        return BgpSession(
            interface=side.interface,
            group=side.group,
            asn=side.asn,
            peer=far.device,
            peer_interface=f"{far.port}.0",
            peer_asn=known,
            established=up,
            since=since,
            flaps=0 if since is None else 1,
            bfd_up=up and group.bfd is not None,
            neighbor=side.neighbor,
        )

    def routing(self) -> CountedRouting:
        """Return the routes of the whole fabric, at most `lag_s` behind the configurations."""
        now, kept = self._clock(), self._routing
        if kept is None or (kept[0] != self._generation and now - kept[1] >= self._lag_s):
            links = tuple(cable for cable in self._links if cable.a not in self._down)
            network = Network(dict(sorted(self._switches.items())), {}, self._roles, links, {}, ())
            kept = self._routing = (self._generation, now, CountedRouting(network))
        return kept[2]

    def prefixes(self, name: str) -> Sequence[Prefix]:
        """Return the prefixes, in order, that a device may have paths to; none while it is off."""
        routing = self.routing()
        return routing.prefixes if name in routing.graph.index else ()

    def paths(self, name: str, prefix: Prefix) -> Sequence[Path]:
        """Return every path that a device has of a prefix, the best ones first, the hidden ones last."""
        routing = self.routing()
        return routing.paths(routing.graph.index[name], prefix) if name in routing.graph.index else ()

    def next_hops(self, name: str, prefix: Prefix) -> Sequence[NextHop]:
        """Return the next hops that a device forwards a prefix to; empty for a direct route or none at all."""
        routing = self.routing()
        return routing.next_hops(routing.graph.index[name], prefix) if name in routing.graph.index else ()

    def prefix_counts(self, name: str) -> dict[str, PrefixCounts]:
        """Return the prefix counts of every session of a device, by its interface; one without prefixes is missing."""
        routing = self.routing()
        return routing.counts(name) if name in routing.graph.index else {}

    def route_totals(self, name: str) -> RouteTotals:
        """Return the numbers of prefixes and paths that a device learned by BGP."""
        routing = self.routing()
        return routing.totals(name) if name in routing.graph.index else RouteTotals()

    def advertised(self, name: str, session: BgpSession) -> dict[Prefix, Route]:
        """Return the routes that a device sends over a session, ordered by prefix; its own AS is not in the paths yet.

        Routes of others are looked up only where the export policy could let them pass.
        """
        found = self._outgoing(name, session).routes
        # Junos sends nothing to a peer in the AS that the route came from.
        return {prefix: route for prefix, route in found.items() if route.as_path[:1] != (session.peer_asn,)}

    def advertised_count(self, name: str, session: BgpSession) -> int:
        """Return the number of routes of `advertised`."""
        found = self._outgoing(name, session)
        return len(found.routes) - found.from_as[(session.peer_asn or 0,)]

    def _outgoing(self, name: str, session: BgpSession) -> Outgoing:
        """Return the routes that a device sends over the sessions of a group, before its peers' AS numbers count."""
        own = self._switches.get(name)
        if own is None or not session.established:
            return Outgoing(None, {}, Counter())
        kept = self._sent.get((name, session.group))
        if kept is None or (kept.routing is not None and kept.routing is not self.routing()):
            transit = self._transit(own, session.group) - self._direct[name]
            routing = self.routing() if transit else None
            found = own_routes(own, session.group)
            if routing is not None:
                found.update(transit_routes(routing, name, session.group, transit))
            routes = {prefix: found[prefix] for prefix in sorted(found)}
            kept = Outgoing(routing, routes, Counter(route.as_path[:1] for route in routes.values()))
            self._sent[name, session.group] = kept
        return kept

    def _transit(self, own: Switch, group: int) -> frozenset[Prefix]:
        """Return the prefixes of the fabric that could pass the export policy of a group."""
        if self._prefixes is None:
            self._prefixes = frozenset().union(*self._direct.values())
        rule, lists = rules(own, own.groups[group]), lists_of(own)
        # Leaves have the same policies: the verdicts are computed once for all of them.
        key = rule.exports, frozenset(own.prefix_lists.values())
        if (known := self._passing.get(key)) is not None:
            return known
        rejected = self._rejected.setdefault(key, {})
        for prefix in self._prefixes - rejected.keys():
            rejected[prefix] = never_exported(rule.exports, lists, prefix)
        found = self._passing[key] = frozenset(prefix for prefix in self._prefixes if not rejected[prefix])
        return found


@lru_cache(maxsize=65536)
def mac_address(device: str, port: str = "") -> str:
    """Return the MAC address of a port, or of the chassis; always the same for the same names.

    46 bits come from a hash of both names: among 100,000 ports two are equal once in 14,000 fabrics.
    """
    octets = bytearray(sha256(f"{device}\0{port}".encode()).digest()[:6])
    octets[0] = octets[0] & ~FLAGS | LOCAL
    return octets.hex(":")
