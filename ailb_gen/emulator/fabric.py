"""The fabric that emulated devices stand in: their committed configurations, the cables, and what follows from both."""

from __future__ import annotations

import time
from collections import Counter, defaultdict
from dataclasses import dataclass
from threading import RLock
from typing import TYPE_CHECKING, NamedTuple

from ailb_gen.emulator.ribs import LazyRouting, never_exported, own_routes, transit_routes
from ailb_gen.errors import UsageError
from ailb_gen.junos.interface_ranges import effective
from ailb_gen.layout import CABLING, TOPOLOGY, switch_file
from ailb_gen.network.fabric import Cable, End, Network
from ailb_gen.network.links import cables
from ailb_gen.network.read import read_network
from ailb_gen.network.sessions import Side, refused, sides
from ailb_gen.network.switch import switch
from ailb_gen.network.topology import Topology, read_cabling, read_topology
from ailb_gen.routing.speaker import direct_prefixes, lists_of, rules
from ailb_gen.textio import read_text

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from pathlib import Path

    from ailb_gen.addresses import Prefix
    from ailb_gen.junos.tree import Node
    from ailb_gen.network.model import Switch
    from ailb_gen.network.sessions import Ready
    from ailb_gen.routing.route import Route


@dataclass(frozen=True, slots=True)
class Peering:
    """A neighbor that a device has discovered on an interface, and the BGP session with it.

    `peer_asn` is None as long as nothing tells it: without a `peer-as` that takes the neighbor's OPEN message. `since`
    is when the session last came up because the neighbor came back; None if both ends are there from the beginning.
    """

    interface: str
    group: int
    asn: int
    peer: str
    peer_interface: str
    peer_asn: int | None
    established: bool
    since: float | None = None


class Outgoing(NamedTuple):
    """What a device sends over the sessions of a group.

    `routing` is what routes of others were taken from; None where only own ones are sent. `from_as` counts routes by
    the first AS of their path.
    """

    routing: LazyRouting | None
    routes: dict[Prefix, Route]
    from_as: Counter[tuple[int, ...]]


class EmulatedFabric:
    """All devices of a fabric. Methods may be called from several threads.

    Cables never change: a commit moves none. What follows from the configurations is computed when it is asked for:
    sessions from a device's own and its neighbors' configurations, routes from all of them. `lag_s` is the number of
    seconds for which routes may be behind the configurations: 0 computes them anew after every change, which takes
    seconds for hundreds of devices. Sessions, and what `advertised` tells of own routes, are never behind.
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
        self._servers = {cable.a: cable.b for cable in attachments}
        self._switches: dict[str, Switch] = {}
        self._direct: dict[str, frozenset[Prefix]] = {}
        self._down: set[End] = set()
        self._since: dict[End | str, float] = {}
        self._known: set[str] = set()
        self._generation = 0
        self._lock = RLock()
        self._peerings: dict[str, tuple[Peering, ...]] = {}
        self._prefixes: frozenset[Prefix] | None = None
        self._routing: tuple[int, float, LazyRouting] | None = None
        self._rejected: dict[object, dict[Prefix, bool]] = {}
        self._sent: dict[tuple[str, int], Outgoing] = {}

    @classmethod
    def read(cls, root: Path, lag_s: float = 0.0, clock: Callable[[], float] = time.time) -> EmulatedFabric:
        """Take the cables of an artifact directory: from cabling.csv, topology.json, else from descriptions.

        Raises UsageError when a file cannot be read, or when two cables share a port.
        """
        topology, cabling = _read(root, TOPOLOGY, read_topology), _read(root, CABLING, read_cabling)
        faults = [*topology.faults, *cabling.faults]
        links, attachments, roles = topology.links, topology.attachments, topology.roles
        if cabling.links or topology.links:
            found = cables({}, {}, topology, cabling)
            links, attachments, faults = found.links, found.attachments, [*faults, *found.faults]
        elif not faults:
            network = read_network(root, lambda written, tree: None).network
            links, roles = network.links, network.roles
            faults = [fault for fault in network.faults if fault.scope not in (TOPOLOGY, CABLING)]
            attachments = tuple(Cable(near, End(*far)) for far, near in network.attachments.items())
        if faults:
            raise UsageError("\n".join(f"{fault.place or root}: {fault.message}" for fault in faults))
        return cls(links, attachments, roles, lag_s, clock)

    @property
    def generation(self) -> int:
        """How many changes there were; equal numbers mean that nothing changed in between."""
        return self._generation

    def committed(self, name: str, tree: Node | None) -> None:
        """Take over what is active on a device; None: the device is away, its links are down.

        Raises UsageError when groups apply each other in a circle; then nothing has changed.
        """
        found = switch(name, switch_file(name), effective(tree)) if tree is not None else None
        with self._lock:
            if found is None:
                self._switches.pop(name, None)
                self._direct.pop(name, None)
            else:
                if name in self._known and name not in self._switches:
                    self._since[name] = self._clock()
                self._known.add(name)
                self._switches[name] = found
                self._direct[name] = direct_prefixes(found)
            self._changed(name)

    def keep_down(self, device: str, interface: str) -> None:
        """Keep the BGP session on a logical interface from coming up, whatever is configured."""
        with self._lock:
            self._down.update(self._ends(device, interface))
            self._changed(device)

    def restore(self, device: str, interface: str) -> None:
        """Let the BGP session on a logical interface come up again."""
        with self._lock:
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
        self._sent.clear()
        self._peerings.pop(name, None)
        for cable in self._cables.get(name, ()):
            self._peerings.pop(cable.a.device if cable.b.device == name else cable.b.device, None)

    def switch(self, name: str) -> Switch | None:
        """Return what a device's configuration says; None while it is away."""
        return self._switches.get(name)

    def neighbor(self, device: str, port: str) -> End | None:
        """Return the port of a switch at the other end of a port's cable."""
        return self._far.get(End(device, port))

    def server(self, device: str, port: str) -> End | None:
        """Return the NIC at the other end of a port's cable."""
        return self._servers.get(End(device, port))

    def link_up(self, device: str, port: str) -> bool:
        """Tell whether a port has carrier: a cable, neither end disabled, and a device at the other end.

        Ports without a cable have none; logical ones such as `irb` and `lo0` are not asked about here.
        """
        own = self._switches.get(device)
        if own is None or ((found := own.ports.get(port)) is not None and found.disabled):
            return False
        far = self._far.get(End(device, port))
        if far is None:
            return End(device, port) in self._servers
        other = self._switches.get(far.device)
        return other is not None and not ((there := other.ports.get(far.port)) is not None and there.disabled)

    def hears(self, device: str, interface: str) -> End | None:
        """Return the port whose router advertisements arrive on a logical interface; None if none do."""
        port = interface.rpartition(".")[0]
        far = self._far.get(End(device, port))
        own = self._switches.get(device)
        if own is None or far is None or not self.link_up(device, port):
            return None
        other, there = self._switches[far.device], f"{far.port}.0"
        here, unit = own.unit(interface), other.unit(there)
        ready = here is not None and here.inet6 and not here.disabled
        sends = unit is not None and unit.inet6 and not unit.disabled and there in other.advertisements
        return far if ready and sends else None

    def peerings(self, name: str) -> tuple[Peering, ...]:
        """Return the neighbors that a device has discovered, in the order of its cables; none while it is away."""
        with self._lock:
            found = self._peerings.get(name)
            if found is None:
                found = self._peerings[name] = tuple(self._discovered(name))
            return found

    def _discovered(self, name: str) -> Iterable[Peering]:
        own = self._switches.get(name)
        if own is None:
            return
        near = {name, *(end.device for cable in self._cables[name] for end in (cable.a, cable.b))}
        around = {device: self._switches[device] for device in near if device in self._switches}
        for cable, a, b in sides(Network(around, {}, {}, tuple(self._cables[name]), {}, ())):
            here, side, other = (cable.a, a, b) if cable.a.device == name else (cable.b, b, a)
            if isinstance(side, Side) and self.hears(name, side.interface) is not None:
                yield self._peering(here, side, other)

    def _peering(self, here: End, side: Side, other: Ready) -> Peering:
        far = self._far[here]
        up = isinstance(other, Side) and here not in self._down
        if up and isinstance(other, Side):
            both = (*refused(self._switches, side, other), *refused(self._switches, other, side))
            up = not both
        expected = self._switches[side.device].groups[side.group].peer_as
        known = other.asn if up and isinstance(other, Side) else expected
        since = max((self._since[key] for key in (far.device, here) if key in self._since), default=None)
        return Peering(side.interface, side.group, side.asn, far.device, f"{far.port}.0", known, up, since)

    def routing(self) -> LazyRouting:
        """Return the routes of the whole fabric, at most `lag_s` behind the configurations."""
        with self._lock:
            now = self._clock()
            kept = self._routing
            if kept is None or (kept[0] != self._generation and now - kept[1] >= self._lag_s):
                links = tuple(cable for cable in self._links if cable.a not in self._down)
                network = Network(dict(sorted(self._switches.items())), {}, self._roles, links, {}, ())
                kept = self._routing = (self._generation, now, LazyRouting(network))
            return kept[2]

    def advertised(self, name: str, peering: Peering) -> dict[Prefix, Route]:
        """Return what a device sends to a neighbor, ordered by prefix; its own AS is not in the paths yet.

        Routes of others are looked up only where the export policy could let them pass.
        """
        found = self._outgoing(name, peering).routes
        # Junos sends nothing to a peer in the AS that the route came from.
        return {prefix: route for prefix, route in found.items() if route.as_path[:1] != (peering.peer_asn,)}

    def advertised_count(self, name: str, peering: Peering) -> int:
        """Return how many routes `advertised` holds."""
        found = self._outgoing(name, peering)
        return len(found.routes) - found.from_as[(peering.peer_asn or 0,)]

    def _outgoing(self, name: str, peering: Peering) -> Outgoing:
        """Return what a device sends over the sessions of a group, whoever is at the other end."""
        with self._lock:
            own = self._switches.get(name)
            if own is None or not peering.established:
                return Outgoing(None, {}, Counter())
            kept = self._sent.get((name, peering.group))
            if kept is None or (kept.routing is not None and kept.routing is not self.routing()):
                transit = self._transit(own, peering.group) - self._direct[name]
                routing = self.routing() if transit else None
                found = own_routes(own, peering.group)
                if routing is not None:
                    found.update(transit_routes(routing, name, peering.group, transit))
                routes = {prefix: found[prefix] for prefix in sorted(found)}
                kept = Outgoing(routing, routes, Counter(route.as_path[:1] for route in routes.values()))
                self._sent[name, peering.group] = kept
            return kept

    def _transit(self, own: Switch, group: int) -> frozenset[Prefix]:
        """Return the prefixes of the fabric that could pass the export policy of a group."""
        if self._prefixes is None:
            self._prefixes = frozenset().union(*self._direct.values())
        rule, lists = rules(own, own.groups[group]), lists_of(own)
        # Leaves have the same policies: whoever asks next finds the verdicts ready.
        key = rule.exports, frozenset(own.prefix_lists.values())
        rejected = self._rejected.setdefault(key, {})
        for prefix in self._prefixes - rejected.keys():
            rejected[prefix] = never_exported(rule.exports, lists, prefix)
        return frozenset(prefix for prefix in self._prefixes if not rejected[prefix])


def _read(root: Path, file: str, parse: Callable[[str], Topology]) -> Topology:
    """Read one of the cabling files; nothing if there is none."""
    if not (root / file).exists():
        return Topology()
    return parse(read_text(root / file, file))
