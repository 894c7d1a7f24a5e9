"""Derive the expected forwarding of a lab from the intent, by the ports of switches, with further links down."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace

from ailb_gen.addresses import Prefix
from ailb_gen.checks.context import Context
from ailb_gen.checks.expected import port_override
from ailb_gen.checks.expected_cabling import ExpectedCable
from ailb_gen.checks.expected_paths import ExpectedPaths
from ailb_gen.errors import Place
from ailb_gen.layout import NETPLAN
from ailb_gen.network.fabric import End
from ailb_gen.wording import some

Ports = frozenset[str]


@dataclass(frozen=True, slots=True)
class ExpectedNextHops:
    """The ports that packets to a prefix may leave by, and sets of ports: they must use one of each set."""

    allowed: Ports
    needed: tuple[Ports, ...]

    def hold(self, ports: Ports) -> bool:
        """Return whether some ports are as expected; without allowed ports there is no route."""
        return ports <= self.allowed and all(not one.isdisjoint(ports) for one in self.needed)

    def __str__(self) -> str:
        if not self.allowed:
            return "none: no path is left"
        every = len(self.needed) == len(self.allowed) and all(len(one) == 1 for one in self.needed)
        return ports_text(self.allowed) if every else f"one per spine of {ports_text(self.allowed)}"


def ports_text(ports: Ports) -> str:
    """Write some ports, the first few of many."""
    return some(sorted(ports)) if ports else "none"


@dataclass(frozen=True, slots=True)
class DownLinks:
    """Both ends of the links that carry nothing: those that have failed on purpose, and others, which are `dark`.

    The intent knows of the first alone; waiting for what only the others could carry would be in vain.
    """

    failed: frozenset[End] = frozenset()
    dark: frozenset[End] = frozenset()

    @property
    def all(self) -> frozenset[End]:
        """All of them."""
        return self.failed | self.dark


NO_LINKS_DOWN = DownLinks()


class ExpectedLabRoutes:
    """The links in service, and the expected next hops of every switch and prefix.

    `down` are ends of links that are down in addition to those that the intent takes out of service. `cables` are those
    in service, `links` their other ends with the color, by every switch and its port.
    """

    def __init__(self, context: Context, down: Iterable[End] = ()) -> None:
        expected = context.expected
        failed = frozenset(down)
        values = {color.name: color.value for color in expected.colors}
        missing = {leaf: dict(counts) for leaf, counts in expected.drained.missing.items()}
        self.cables: list[ExpectedCable] = []
        self.links: dict[str, dict[str, tuple[End, str]]] = defaultdict(dict)
        self.ports: dict[str, dict[tuple[str, str], set[str]]] = defaultdict(lambda: defaultdict(set))
        for cable in context.cabling.links:
            near, far, color = End(cable.a_device, cable.a_port), End(cable.b_device, cable.b_port), values[cable.color]
            if port_override(expected, near).disabled or port_override(expected, far).disabled:
                continue
            if near in failed or far in failed:
                counts = missing.setdefault(near.device, {})
                counts[far.device, cable.color] = counts.get((far.device, cable.color), 0) + 1
                continue
            self.cables.append(cable)
            for own, peer in ((near, far), (far, near)):
                self.links[own.device][own.port] = (peer, color)
                self.ports[own.device][peer.device, color].add(own.port)
        self.leaves = frozenset(leaf.name for leaf in expected.leaves)
        self.ways = ExpectedPaths(replace(expected, drained=replace(expected.drained, missing=missing)))
        self.owners: Mapping[Prefix, tuple[str, str]] = {
            prefix: (leaf.name, color.value)
            for leaf in expected.leaves
            for prefix, color in zip(leaf.prefixes, expected.colors, strict=True)
        }
        self._of_leaves: dict[tuple[str, int, str], ExpectedNextHops] = {}

    def ends(self) -> Iterator[tuple[End, End]]:
        """Yield every end of a link in service, with the other one."""
        for device, ports in self.links.items():
            yield from ((End(device, port), peer) for port, (peer, _) in ports.items())

    def peer(self, end: End) -> End | None:
        """Return the other end of a link in service."""
        return self.links.get(end.device, {}).get(end.port, (None, ""))[0]

    def spines(self, leaf: str, prefix: Prefix) -> frozenset[str]:
        """Return the spines that a leaf may send packets to a prefix over."""
        return frozenset(self.links[leaf][port][0].device for port in self.next_hops(leaf, prefix).allowed)

    def next_hops(self, switch: str, prefix: Prefix) -> ExpectedNextHops:
        """Return where a switch must send packets to the prefix of another leaf."""
        owner, color = self.owners[prefix]
        if switch not in self.leaves:
            return self._at_spine(switch, owner, color)
        key = (switch, self.ways.kind_of[owner], color)
        if key not in self._of_leaves:
            self._of_leaves[key] = self._at_leaf(switch, owner, color)
        return self._of_leaves[key]

    def _at_leaf(self, leaf: str, owner: str, color: str) -> ExpectedNextHops:
        own = self.ports[leaf]
        pinned = frozenset(port for pair in self.ways.pinned(leaf, owner, color) for port in own[pair])
        if pinned:
            return ExpectedNextHops(pinned, tuple(frozenset([port]) for port in pinned))
        possible, sure = self.ways.backed_up(leaf, owner, color)
        by_spine: dict[str, set[str]] = defaultdict(set)
        for pair in possible:
            by_spine[pair[0]].update(own[pair])
        allowed = frozenset(port for ports in by_spine.values() for port in ports)
        return ExpectedNextHops(allowed, tuple(frozenset(by_spine[spine]) for spine in sure))

    def _at_spine(self, spine: str, owner: str, color: str) -> ExpectedNextHops:
        """Return the ports to the owner: in the prefix's own color, else in any of the backups."""
        own = self.ports[spine]
        colors = self.ways.advertised_colors(owner, color).get(spine, frozenset())
        ports = frozenset(port for name in colors for port in own[owner, name])
        needed = tuple(frozenset([port]) for port in ports) if len(colors) == 1 else (ports,) if ports else ()
        return ExpectedNextHops(ports, needed)


def leaf_ports(context: Context) -> dict[End, End]:
    """Return the port of the leaf of every NIC whose cable is in service."""
    cables = ((End(cable.b_device, cable.b_port), End(cable.a_device, cable.a_port)) for cable in context.cabling.hosts)
    return {nic: port for nic, port in cables if not port_override(context.expected, port).disabled}


def bgp_place(context: Context, device: str, port: str = "") -> Place | None:
    """Return where a switch configures BGP, or the group that discovers neighbors on a port; None without a file."""
    switch = context.network.switches.get(device)
    if switch is None:
        return None
    groups = (
        group.line
        for group in switch.groups
        for discovery in group.discoveries
        for interface, _ in discovery.interfaces
        if interface == f"{port}.0"
    )
    return Place(switch.file, next(groups, switch.bgp_line) or 1)


def host_place(context: Context, server: str) -> Place | None:
    """Return the netplan file of a server; None without files."""
    host = context.network.hosts.get(server)
    return Place(f"{host.profile.folder}/{NETPLAN}") if host is not None else None
