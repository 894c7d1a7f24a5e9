"""Next hops of every switch and prefix: Batfish's from the shadow, this program's own, and the expected ones."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

from ailb_gen.addresses import Prefix
from ailb_gen.batfish.answers import Row, parse_network, shadow_nodes
from ailb_gen.batfish.numbering import Numbering
from ailb_gen.checks.expected import ExpectedFabric, port_override
from ailb_gen.checks.expected_cabling import ExpectedCable, ExpectedCabling
from ailb_gen.checks.families.failures import allowed_colors
from ailb_gen.network.fabric import End, Network
from ailb_gen.routing.fib import held
from ailb_gen.routing.graph import Graph
from ailb_gen.routing.solve import State

# A switch and a prefix of another one, to the switch's own ports that packets leave by.
Hops = dict[tuple[str, "Prefix"], frozenset[str]]
# Of more ports than this a message names the first.
MOST_PORTS = 8


def batfish_hops(network: Network, numbering: Numbering, rows: Iterable[Row]) -> Hops:
    """Read the rows of `routes`: BGP routes with next hops such as `ip 10.128.0.1`."""
    names = shadow_nodes(network.switches)
    hops: dict[tuple[str, Prefix], set[str]] = {}
    for row in rows:
        name = names.get(str(row["Node"]))
        prefix = numbering.meanings.get(parse_network(row["Network"]))
        if name is not None and prefix is not None:
            hops.setdefault((name, prefix), set()).add(_port(numbering, name, str(row["Next_Hop"])))
    return {key: frozenset(ports) for key, ports in hops.items()}


def _port(numbering: Numbering, name: str, next_hop: str) -> str:
    """Return a switch's own port to a next hop; an address that is at the end of none of its cables stays as it is."""
    ends = numbering.ends_at(next_hop.removeprefix("ip "))
    if ends is None or ends[1].device != name:
        return f"({next_hop})"
    return ends[1].port


def own_hops(graph: Graph, states: Mapping[Prefix, State]) -> Hops:
    """Return this program's own next hops: the best paths of every switch that has no direct route to the prefix."""
    hops: Hops = {}
    for prefix, state in states.items():
        for device, name in enumerate(graph.names):
            rib = held(graph, state, device)
            if rib.selection.best:
                adjacent = graph.adjacencies[device]
                hops[name, prefix] = frozenset(adjacent[at].interface.rpartition(".")[0] for at in rib.selection.best)
    return hops


@dataclass(frozen=True)
class ExpectedRoutes:
    """Expected routes, from the intent.

    `uplinks` are a leaf's ports by color, `owners` the leaf and the color of every prefix, `cables` those that are
    not disabled, `allowed` the names of the colors over which a prefix may travel.
    """

    uplinks: Mapping[str, Mapping[str, frozenset[str]]]
    owners: Mapping[Prefix, tuple[str, str]]
    cables: tuple[ExpectedCable, ...]
    allowed: Mapping[Prefix, frozenset[str]]

    def spines(self) -> tuple[str, ...]:
        """Return the spines that any cable leads to."""
        return tuple(dict.fromkeys(cable.b_device for cable in self.cables))

    def session_ends(self) -> frozenset[tuple[End, End]]:
        """Return every cable from the view of each of its ends: its own end and the other one."""
        pairs = [(End(cable.a_device, cable.a_port), End(cable.b_device, cable.b_port)) for cable in self.cables]
        return frozenset([*pairs, *((b, a) for a, b in pairs)])

    @cached_property
    def links(self) -> Mapping[str, Mapping[tuple[str, str], frozenset[str]]]:
        """The ports of every leaf by spine and color: its links."""
        links: dict[str, dict[tuple[str, str], frozenset[str]]] = {leaf: {} for leaf in self.uplinks}
        for cable in self.cables:
            of_leaf, link = links.setdefault(cable.a_device, {}), (cable.b_device, cable.color)
            of_leaf[link] = of_leaf.get(link, frozenset()) | {cable.a_port}
        return links

    def pinned(self) -> Iterator[tuple[str, Prefix, frozenset[str]]]:
        """Yield, for every leaf and every prefix of another, the ports that packets must leave by.

        They lead, in the prefix's color, to spines that its owner has in that color, too. There are none where such
        links are out of service.
        """
        for leaf in self.uplinks:
            for prefix, (owner, color) in self.owners.items():
                if owner != leaf:
                    shared = self._shared_links(leaf, owner)
                    yield leaf, prefix, frozenset(port for port, _, name in shared if name == color)

    def backups(self, leaf: str, prefix: Prefix) -> frozenset[str]:
        """Return the ports by which a leaf may reach a prefix for which no link of its color is in service.

        A spine sends its active route alone: one in the prefix's own color where it has that, which is no use here.
        """
        owner, color = self.owners[prefix]
        own = {spine for spine, name in self.links.get(owner, {}) if name == color}
        return frozenset(
            port
            for port, spine, name in self._shared_links(leaf, owner)
            if spine not in own and name in self.allowed[prefix]
        )

    def _shared_links(self, leaf: str, owner: str) -> Iterator[tuple[str, str, str]]:
        """Yield a leaf's ports with spine and color, where another leaf has a link to that spine in that color, too."""
        there = self.links.get(owner, {})
        return ((port, *link) for link, ports in self.links[leaf].items() if link in there for port in ports)

    def advertised(self, spine: str) -> Iterator[tuple[Prefix, str]]:
        """Yield every prefix that its own leaf advertises to a spine, and that leaf."""
        colors: dict[str, set[str]] = {}
        for cable in self.cables:
            if cable.b_device == spine:
                colors.setdefault(cable.a_device, set()).add(cable.color)
        for prefix, (owner, _) in self.owners.items():
            if not self.allowed[prefix].isdisjoint(colors.get(owner, ())):
                yield prefix, owner

    def reachable(self, leaf: str, prefix: Prefix, spine: str = "", ends: frozenset[End] = frozenset()) -> bool:
        """Return whether a leaf surely reaches a prefix by links left without a spine or the cable with some ends.

        Up and down one spine in one color, over which the prefix may travel. A spine sends its active route alone: that
        of the prefix's own color where it has it, because of AIGP, else any one of the backups.
        """
        owner, own = self.owners[prefix]
        links: dict[str, set[tuple[str, str]]] = {leaf: set(), owner: set()}
        for cable in self.cables:
            gone = cable.b_device == spine or End(cable.a_device, cable.a_port) in ends
            if cable.a_device in links and not gone and cable.color in self.allowed[prefix]:
                links[cable.a_device].add((cable.b_device, cable.color))
        for through in {name for name, _ in links[owner]}:
            received = {color for name, color in links[owner] if name == through}
            sent = {own} if own in received else received
            if all((through, color) in links[leaf] for color in sent):
                return True
        return False

    def widths(self, spine: str = "", ends: frozenset[End] = frozenset()) -> Iterator[tuple[str, Prefix, int]]:
        """Yield, for every switch and every prefix of another, the fewest next hops without a spine or a cable.

        As many as links are left in the prefix's color: of a leaf to spines that the owner has, too, of a spine to the
        owner. Where there are none: a spine sends its active route alone, and the intent does not say which of several
        backups that is, so that the fewest count. A spine's own backups are of one color or of several.
        """
        left: dict[str, dict[str, Counter[str]]] = {leaf: {} for leaf in self.uplinks}
        for cable in self.cables:
            if cable.b_device != spine and End(cable.a_device, cable.a_port) not in ends:
                left.setdefault(cable.a_device, {}).setdefault(cable.b_device, Counter())[cable.color] += 1
        for prefix, (owner, color) in self.owners.items():
            colors = {name: self.allowed[prefix] & links.keys() for name, links in left.get(owner, {}).items()}
            sent = {name: names for name, names in colors.items() if names}
            for spine_name, names in sent.items():
                links = left[owner][spine_name]
                yield spine_name, prefix, links[color] or min(links[name] for name in names)
            for leaf, here in left.items():
                if leaf != owner:
                    both = [(here[name], names) for name, names in sent.items() if name in here]
                    pinned = sum(links[color] for links, names in both if color in names)
                    yield leaf, prefix, pinned or sum(min(links[name] for name in names) for links, names in both)


def expected_routes(expected: ExpectedFabric, cables: ExpectedCabling) -> ExpectedRoutes:
    """Compute the expected routes."""
    alive = tuple(
        cable
        for cable in cables.links
        if not port_override(expected, End(cable.a_device, cable.a_port)).disabled
        and not port_override(expected, End(cable.b_device, cable.b_port)).disabled
    )
    ports: dict[str, dict[str, set[str]]] = {leaf.name: {} for leaf in expected.leaves}
    for cable in alive:
        ports[cable.a_device].setdefault(cable.color, set()).add(cable.a_port)
    owners = {
        prefix: (leaf.name, color.name)
        for leaf in expected.leaves
        for prefix, color in zip(leaf.prefixes, expected.colors, strict=True)
    }
    named = {color.value: color.name for color in expected.colors}
    allowed = {
        prefix: frozenset(named[value] for value in values if value in named)
        for prefix, values in allowed_colors(expected).items()
    }
    uplinks = {leaf: {color: frozenset(names) for color, names in by_color.items()} for leaf, by_color in ports.items()}
    return ExpectedRoutes(uplinks, owners, alive, allowed)


def ports_text(ports: frozenset[str] | None) -> str:
    """Write some ports, the first few of many."""
    names = sorted(ports or ())
    return ", ".join(names[:MOST_PORTS]) + (" …" if len(names) > MOST_PORTS else "") if names else "none"
