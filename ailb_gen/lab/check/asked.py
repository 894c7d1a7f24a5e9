"""Expected routes in a lab, by the ports of switches, with further links down."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from ailb_gen.addresses import Prefix
from ailb_gen.checks.context import Context
from ailb_gen.checks.expected import port_override
from ailb_gen.checks.expected_cabling import ExpectedCable
from ailb_gen.checks.expected_paths import ExpectedPaths
from ailb_gen.network.fabric import End

Ports = frozenset[str]
NONE: Ports = frozenset()


@dataclass(frozen=True, slots=True)
class Asked:
    """The ports that packets to a prefix may leave by, and sets of ports of each of which they must use one."""

    allowed: Ports
    needed: tuple[Ports, ...]

    def holds(self, ports: Ports) -> bool:
        """Return whether some ports are what is asked for; without allowed ports there is no route."""
        return ports <= self.allowed and all(not one.isdisjoint(ports) for one in self.needed)


@dataclass(frozen=True, slots=True)
class Gone:
    """Both ends of the links that carry nothing: those that have failed on purpose, and others, which are `dark`.

    The intent knows of the first alone; waiting for what only the others could carry would be in vain.
    """

    failed: frozenset[End] = frozenset()
    dark: frozenset[End] = frozenset()

    @property
    def all(self) -> frozenset[End]:
        """All of them."""
        return self.failed | self.dark

    def with_failed(self, ends: Iterable[End]) -> Gone:
        """Return these and more that fail on purpose."""
        return Gone(self.failed.union(ends), self.dark)


NOTHING_GONE = Gone()


class AskedRoutes:
    """Which links are in service, and what follows for every switch and prefix.

    `gone` are ends of links that are down besides what the intent takes out of service. `cables` are those in
    service, `links` their other ends with the color, by every switch and its port.
    """

    def __init__(self, context: Context, gone: Iterable[End] = ()) -> None:
        expected = context.expected
        down = frozenset(gone)
        values = {color.name: color.value for color in expected.colors}
        missing = {leaf: dict(counts) for leaf, counts in expected.drained.missing.items()}
        self.cables: list[ExpectedCable] = []
        self.links: dict[str, dict[str, tuple[End, str]]] = defaultdict(dict)
        self.ports: dict[str, dict[tuple[str, str], set[str]]] = defaultdict(lambda: defaultdict(set))
        for cable in context.cabling.links:
            near, far, color = End(cable.a_device, cable.a_port), End(cable.b_device, cable.b_port), values[cable.color]
            if port_override(expected, near).disabled or port_override(expected, far).disabled:
                continue
            if near in down or far in down:
                row = missing.setdefault(near.device, {})
                row[far.device, cable.color] = row.get((far.device, cable.color), 0) + 1
                continue
            self.cables.append(cable)
            for own, peer in ((near, far), (far, near)):
                self.links[own.device][own.port] = (peer, color)
                self.ports[own.device][peer.device, color].add(own.port)
        self.ways = ExpectedPaths(replace(expected, drained=replace(expected.drained, missing=missing)))
        self.owners: Mapping[Prefix, tuple[str, str]] = {
            prefix: (leaf.name, color.value)
            for leaf in expected.leaves
            for prefix, color in zip(leaf.prefixes, expected.colors, strict=True)
        }
        self.found: dict[tuple[str, int, str], Asked] = {}

    def at_leaf(self, leaf: str, prefix: Prefix) -> Asked:
        """Return where a leaf must send packets to another's prefix."""
        owner, color = self.owners[prefix]
        key = (leaf, self.ways.kind_of[owner], color)
        if key not in self.found:
            self.found[key] = self._at_leaf(leaf, owner, color)
        return self.found[key]

    def _at_leaf(self, leaf: str, owner: str, color: str) -> Asked:
        own = self.ports[leaf]
        pinned = frozenset(port for way in self.ways.pinned(leaf, owner, color) for port in own[way])
        if pinned:
            return Asked(pinned, tuple(frozenset([port]) for port in pinned))
        possible, sure = self.ways.backed_up(leaf, owner, color)
        by_spine: dict[str, set[str]] = defaultdict(set)
        for way in possible:
            by_spine[way[0]].update(own[way])
        allowed = frozenset(port for ports in by_spine.values() for port in ports)
        return Asked(allowed, tuple(frozenset(by_spine[spine]) for spine in sure))

    def at_spine(self, spine: str, prefix: Prefix) -> Asked:
        """Return where a spine must send packets to a leaf's prefix: in its own color, else in any of the backups."""
        owner, color = self.owners[prefix]
        own = self.ports[spine]
        heard = self.ways.advertised_colors(owner, color).get(spine, NONE)
        ports = frozenset(port for name in heard for port in own[owner, name])
        needed = tuple(frozenset([port]) for port in ports) if len(heard) == 1 else (ports,) if ports else ()
        return Asked(ports, needed)
