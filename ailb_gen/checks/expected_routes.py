"""Compute the expected next hops of every switch and prefix by the intent alone, with links down."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace

from ailb_gen.addresses import Prefix
from ailb_gen.checks.expected import ExpectedFabric, port_override
from ailb_gen.checks.expected_cabling import ExpectedCable, ExpectedCabling
from ailb_gen.checks.expected_paths import ExpectedPaths
from ailb_gen.network.fabric import End
from ailb_gen.wording import some

Ports = frozenset[str]


@dataclass(frozen=True, slots=True)
class ExpectedNextHops:
    """The ports that packets to a prefix may leave by, and those that they must.

    `needed` has for every neighbor that surely sends a route the ports by color: which color it sends may be open, but
    all ports of that color are used.
    """

    allowed: Ports
    needed: tuple[tuple[Ports, ...], ...]

    def hold(self, ports: Ports) -> bool:
        """Return whether some ports are as expected; without allowed ports there is no route."""
        return ports <= self.allowed and all(any(one <= ports for one in colors) for colors in self.needed)

    def __str__(self) -> str:
        if not self.allowed:
            return "none: no path is left"
        return f"{'' if self.exact else 'one per spine of '}{some(sorted(self.allowed))}"

    @property
    def exact(self) -> bool:
        """Whether all allowed ports are needed."""
        return self.allowed == frozenset().union(*(colors[0] for colors in self.needed if len(colors) == 1))

    @property
    def fewest(self) -> int:
        """The least number of ports."""
        return sum(min(map(len, colors)) for colors in self.needed)


class ExpectedRoutes:
    """The links in service, and the expected next hops of every switch and prefix.

    `down` are ends of links that are down in addition to those that the intent takes out of service. `cables` are those
    in service, `links` their other ends with the color, by every switch and its port, `ports` a switch's ports by
    neighbor and color. `owners` has the leaf and the color of every prefix. Colors are given by value.
    """

    def __init__(self, expected: ExpectedFabric, cabling: ExpectedCabling, down: Iterable[End] = ()) -> None:
        self.expected, self.cabling, self.down = expected, cabling, frozenset(down)
        values = {color.name: color.value for color in expected.colors}
        missing = {leaf: dict(counts) for leaf, counts in expected.drained.missing.items()}
        self.cables: list[ExpectedCable] = []
        self.links: dict[str, dict[str, tuple[End, str]]] = defaultdict(dict)
        self.ports: dict[str, dict[tuple[str, str], frozenset[str]]] = defaultdict(lambda: defaultdict(frozenset))
        for cable in cabling.links:
            near, far, color = End(cable.a_device, cable.a_port), End(cable.b_device, cable.b_port), values[cable.color]
            if port_override(expected, near).disabled or port_override(expected, far).disabled:
                continue
            if near in self.down or far in self.down:
                counts = missing.setdefault(near.device, {})
                counts[far.device, cable.color] = counts.get((far.device, cable.color), 0) + 1
                continue
            self.cables.append(cable)
            for own, peer in ((near, far), (far, near)):
                self.links[own.device][own.port] = (peer, color)
                self.ports[own.device][peer.device, color] |= {own.port}
        self.leaves = tuple(leaf.name for leaf in expected.leaves)
        self.paths = ExpectedPaths(replace(expected, drained=replace(expected.drained, missing=missing)))
        self.owners: Mapping[Prefix, tuple[str, str]] = {
            prefix: (leaf.name, color.value)
            for leaf in expected.leaves
            for prefix, color in zip(leaf.prefixes, expected.colors, strict=True)
        }
        self._of_leaves: dict[tuple[str, int, str], ExpectedNextHops] = {}

    def without(self, down: Iterable[End]) -> ExpectedRoutes:
        """Return the routes with more links down, named by one of their ends."""
        return ExpectedRoutes(self.expected, self.cabling, self.down.union(down))

    def ends(self) -> Iterator[tuple[End, End]]:
        """Yield every end of a link in service, with the other one."""
        for device, ports in self.links.items():
            yield from ((End(device, port), peer) for port, (peer, _) in ports.items())

    @property
    def connected_spines(self) -> tuple[str, ...]:
        """The spines that any link in service leads to."""
        return tuple(dict.fromkeys(cable.b_device for cable in self.cables))

    def remote_prefixes(self) -> Iterator[tuple[str, Prefix]]:
        """Yield every leaf with every prefix of another."""
        for leaf in self.leaves:
            yield from ((leaf, prefix) for prefix, (owner, _) in self.owners.items() if owner != leaf)

    def peer(self, end: End) -> End | None:
        """Return the other end of a link in service."""
        return self.links.get(end.device, {}).get(end.port, (None, ""))[0]

    def spines(self, leaf: str, prefix: Prefix) -> frozenset[str]:
        """Return the spines that a leaf may send packets to a prefix over."""
        return frozenset(self.links[leaf][port][0].device for port in self.next_hops(leaf, prefix).allowed)

    def next_hops(self, switch: str, prefix: Prefix) -> ExpectedNextHops:
        """Return where a switch must send packets to the prefix of another leaf."""
        owner, color = self.owners[prefix]
        if switch not in self.paths.kind_of:
            return self._at_spine(switch, owner, color)
        key = (switch, self.paths.kind_of[owner], color)
        if key not in self._of_leaves:
            self._of_leaves[key] = self._at_leaf(switch, owner, color)
        return self._of_leaves[key]

    def advertised(self, spine: str) -> Iterator[tuple[Prefix, str]]:
        """Yield every prefix that its own leaf advertises to a spine, and that leaf."""
        for prefix, (owner, color) in self.owners.items():
            if spine in self.paths.advertised_colors(owner, color):
                yield prefix, owner

    def _at_leaf(self, leaf: str, owner: str, color: str) -> ExpectedNextHops:
        own = self.ports[leaf]
        pinned = frozenset(port for pair in self.paths.pinned(leaf, owner, color) for port in own[pair])
        if pinned:
            return ExpectedNextHops(pinned, ((pinned,),))
        possible, sure = self.paths.backed_up(leaf, owner, color)
        allowed = frozenset(port for pair in possible for port in own[pair])
        needed = (tuple(own[pair] for pair in possible if pair[0] == spine) for spine in sure)
        return ExpectedNextHops(allowed, tuple(needed))

    def _at_spine(self, spine: str, owner: str, color: str) -> ExpectedNextHops:
        """Return the ports to the owner: in the prefix's own color, else in any of the backups."""
        colors = self.paths.advertised_colors(owner, color).get(spine, ())
        ports = tuple(self.ports[spine][owner, name] for name in colors)
        return ExpectedNextHops(frozenset().union(*ports), (ports,) if ports else ())
