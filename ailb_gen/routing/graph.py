"""BGP adjacencies, and classes of switches that are configured and cabled alike.

Switches of one class have the same sessions with the same neighbors in the same order, and their groups do the same.
For a prefix that none of them originates they therefore hold the same routes, but for their own AS number: what is
computed for one holds for all. `solve` separates the switches that differ for a prefix or a failure.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from copy import copy
from dataclasses import dataclass, replace
from functools import cached_property
from ipaddress import AddressValueError, IPv4Address
from typing import NamedTuple

from ailb_gen.addresses import Prefix
from ailb_gen.network.fabric import Network
from ailb_gen.network.model import FabricRoute, Switch
from ailb_gen.network.sessions import Session, Sessions, sessions
from ailb_gen.routing.policy import Lists, referred
from ailb_gen.routing.speaker import Rules, direct_prefixes, lists_of, rules


class Adjacency(NamedTuple):
    """One session as one device sees it; devices and sessions are indices into Graph.

    A named tuple, because every session makes two, and a frozen dataclass takes three times as long to make.

    `looped`: the peer has an AS number here that the device itself has on some other session, so that every path
    from it is a loop.
    """

    peer: int
    peer_group: int
    own_group: int
    interface: str
    peer_interface: str
    session: int
    peer_asn: int
    own_asn: int
    looped: bool = False


@dataclass(frozen=True, slots=True)
class Bundle:
    """The sessions of a class to the members of another class that share the groups at both ends, looped or not."""

    peer_class: int
    peer_group: int
    own_group: int
    positions: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class SwitchClass:
    """Switches with equal sessions; `places` maps a peer to its (bundle, position) pairs."""

    members: frozenset[int]
    representative: int
    bundles: tuple[Bundle, ...]
    places: dict[int, tuple[tuple[int, int], ...]]
    groups: tuple[int, ...]


class Graph:
    """The control plane's graph. A position is an index into a device's adjacencies, the same within its class.

    A node is what RIBs are computed for: the number of a class of switches, or that of a switch on its own.
    """

    def __init__(self, network: Network) -> None:
        self.network = network
        self.names: tuple[str, ...] = tuple(network.switches)
        self.index = {name: number for number, name in enumerate(self.names)}
        self.switches: tuple[Switch, ...] = tuple(network.switches.values())
        self.sessions: Sessions = sessions(network)
        self.rules: tuple[tuple[Rules, ...], ...] = tuple(
            tuple(rules(switch, group) for group in switch.groups) for switch in self.switches
        )
        self.lists: tuple[Lists, ...] = tuple(lists_of(switch) for switch in self.switches)
        # Without a usable one a switch loses every tie.
        values = (router_id_value(switch) for switch in self.switches)
        self.router_ids = tuple(1 << 32 if value is None else value for value in values)
        self.adjacencies = self._adjacencies(self.sessions.up)
        self.class_of, self.classes = self._classes()

    def without(self, failed: frozenset[int]) -> Graph:
        """Return the graph with some sessions (indices) down: devices and sessions keep their numbers, classes do not.

        AS numbers that a device has on those sessions stay its own.
        """
        if not failed:
            return self
        # Before the copy, which takes it along.
        self.asn_owners  # noqa: B018
        found = copy(self)
        found.adjacencies = tuple(
            tuple(entry for entry in row if entry.session not in failed) for row in self.adjacencies
        )
        found.class_of, found.classes = found._classes()
        # Positions are others here.
        found.__dict__.pop("ends", None)
        return found

    def link_name(self, session: int) -> str:
        """Return both ends of a session's cable, as checks print them."""
        return self.sessions.up[session].cable.name

    def alone(self, device: int) -> int:
        """Return the node of a device on its own."""
        return len(self.classes) + device

    def is_alone(self, node: int) -> bool:
        """Return whether a node is a device on its own."""
        return node >= len(self.classes)

    def sessions_of(self, devices: Iterable[int]) -> frozenset[int]:
        """Return the sessions (indices) of some devices."""
        return frozenset(entry.session for device in devices for entry in self.adjacencies[device])

    def device(self, node: int) -> int:
        """Return the device of a node; for a class, the one that stands for it."""
        classes = self.classes
        return node - len(classes) if node >= len(classes) else classes[node].representative

    def class_at(self, device: int) -> SwitchClass:
        """Return the class that a device belongs to."""
        return self.classes[self.class_of[device]]

    @cached_property
    def direct(self) -> tuple[frozenset[Prefix], ...]:
        """The direct routes of every device."""
        return tuple(direct_prefixes(switch) for switch in self.switches)

    @cached_property
    def ends(self) -> dict[int, tuple[tuple[int, int], ...]]:
        """Device and position of both ends of every session (its index)."""
        found: dict[int, list[tuple[int, int]]] = defaultdict(list)
        for device, row in enumerate(self.adjacencies):
            for position, entry in enumerate(row):
                found[entry.session].append((device, position))
        return {session: tuple(both) for session, both in found.items()}

    @cached_property
    def advertised(self) -> tuple[dict[Prefix, FabricRoute], ...]:
        """The `fabric-advertise` routes of every device whose prefix it really has; Junos ignores the others."""
        return tuple(
            {route.prefix: route for route in switch.routes if route.prefix in own}
            for switch, own in zip(self.switches, self.direct, strict=True)
        )

    @cached_property
    def owners(self) -> dict[Prefix, tuple[int, ...]]:
        """The devices with a direct route to a prefix, for every prefix there is."""
        found: dict[Prefix, list[int]] = defaultdict(list)
        for device, prefixes in enumerate(self.direct):
            for prefix in prefixes:
                found[prefix].append(device)
        return {prefix: tuple(found[prefix]) for prefix in sorted(found)}

    @cached_property
    def asn_owners(self) -> dict[int, frozenset[int]]:
        """The devices that use an AS number on any session."""
        found: dict[int, set[int]] = defaultdict(set)
        for device, row in enumerate(self.adjacencies):
            for adjacency in row:
                found[adjacency.own_asn].add(device)
        return {asn: frozenset(devices) for asn, devices in found.items()}

    def _adjacencies(self, up: Iterable[Session]) -> tuple[tuple[Adjacency, ...], ...]:
        rows: list[list[Adjacency]] = [[] for _ in self.names]
        for number, session in enumerate(up):
            for own, peer in ((session.a, session.b), (session.b, session.a)):
                at, to = self.index[own.device], self.index[peer.device]
                ends = (own.interface, peer.interface)
                rows[at].append(Adjacency(to, peer.group, own.group, *ends, number, peer.asn, own.asn))
        return tuple(_marked(sorted(row, key=_order)) for row in rows)

    def _classes(self) -> tuple[tuple[int, ...], tuple[SwitchClass, ...]]:
        signatures: dict[object, list[int]] = defaultdict(list)
        for device, row in enumerate(self.adjacencies):
            sessions_of = tuple((entry.peer, entry.peer_group, entry.own_group, entry.looped) for entry in row)
            groups = sorted({entry.own_group for entry in row})
            transit = tuple(_transit(self.rules[device][group]) for group in groups)
            balancing = self.switches[device].balancing
            used = [policy for rule in transit for policy in (*rule.imports, *rule.exports)]
            named = referred(used, self.lists[device])
            limits = (balancing.per_packet, balancing.maximum_ecmp)
            signatures[sessions_of, transit, limits, named].append(device)
        class_of = [0] * len(self.names)
        for number, devices in enumerate(signatures.values()):
            for device in devices:
                class_of[device] = number
        return tuple(class_of), tuple(self._class(devices, class_of) for devices in signatures.values())

    def _class(self, devices: list[int], class_of: list[int]) -> SwitchClass:
        bundles: dict[tuple[int, int, int, bool], list[int]] = defaultdict(list)
        row = self.adjacencies[devices[0]]
        for position, entry in enumerate(row):
            bundles[class_of[entry.peer], entry.peer_group, entry.own_group, entry.looped].append(position)
        found = tuple(Bundle(*key[:3], tuple(positions)) for key, positions in bundles.items())
        places: dict[int, list[tuple[int, int]]] = defaultdict(list)
        for number, bundle in enumerate(found):
            for position in bundle.positions:
                places[row[position].peer].append((number, position))
        groups = tuple(sorted({entry.own_group for entry in row}))
        fixed = {peer: tuple(pairs) for peer, pairs in places.items()}
        return SwitchClass(frozenset(devices), devices[0], found, fixed, groups)


def _marked(row: list[Adjacency]) -> tuple[Adjacency, ...]:
    own = {entry.own_asn for entry in row}
    return tuple(entry._replace(looped=True) if entry.peer_asn in own else entry for entry in row)


def _order(entry: Adjacency) -> tuple[int, int]:
    """Order by peer, and parallel links by the number of their cable: so ties between them are broken.

    Junos takes the lowest address of the peer, which no file has.
    """
    return entry.peer, entry.session


def _transit(rule: Rules) -> Rules:
    """Leave out what only concerns a switch's own direct routes, such as the term for its loopback."""
    exports = (
        replace(policy, terms=tuple(term for term in policy.terms if not term.protocols or "bgp" in term.protocols))
        for policy in rule.exports
    )
    return replace(rule, exports=tuple(exports))


def router_id_value(switch: Switch) -> int | None:
    """Return the router-id as a number; None without a usable one."""
    try:
        return int(IPv4Address(switch.router_id or ""))
    except AddressValueError:
        return None
