"""Next hops of every switch and prefix: as Batfish computes them from the shadow, as we do, and as the intent asks."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

from ailb_gen.addresses import Prefix
from ailb_gen.batfish.model import Row
from ailb_gen.batfish.numbering import Numbering
from ailb_gen.batfish.places import network_of, shadow_nodes
from ailb_gen.checks.expected import ExpectedFabric, port_override
from ailb_gen.checks.expected_cabling import ExpectedCable, ExpectedCabling
from ailb_gen.checks.families.failures import allowed_colors
from ailb_gen.network.fabric import End, Network
from ailb_gen.routing.fib import held
from ailb_gen.routing.graph import Graph
from ailb_gen.routing.solve import State

# A switch and a prefix of another one, to the switch's own ports that packets leave by.
Hops = dict[tuple[str, "Prefix"], frozenset[str]]
SHOWN = 8


def batfish_hops(network: Network, numbering: Numbering, rows: Iterable[Row]) -> Hops:
    """Read the rows of `routes`: BGP routes with next hops such as `ip 10.128.0.1`."""
    names = shadow_nodes(network.switches)
    found: dict[tuple[str, Prefix], set[str]] = {}
    for row in rows:
        name = names.get(str(row["Node"]))
        prefix = numbering.meanings.get(network_of(row["Network"]))
        if name is not None and prefix is not None:
            found.setdefault((name, prefix), set()).add(_port(numbering, name, str(row["Next_Hop"])))
    return {key: frozenset(ports) for key, ports in found.items()}


def _port(numbering: Numbering, name: str, next_hop: str) -> str:
    """Return a switch's own port to a next hop; what is not the other end of a cable of its own stays as it is."""
    ends = numbering.ends_at(next_hop.removeprefix("ip "))
    if ends is None or ends[1].device != name:
        return f"({next_hop})"
    return ends[1].port


def own_hops(graph: Graph, states: Mapping[Prefix, State]) -> Hops:
    """Return what this program computes: the best paths of every switch that has no direct route to the prefix."""
    found: Hops = {}
    for prefix, state in states.items():
        for device, name in enumerate(graph.names):
            rib = held(graph, state, device)
            if rib.selection.best:
                row = graph.adjacencies[device]
                found[name, prefix] = frozenset(row[at].interface.rpartition(".")[0] for at in rib.selection.best)
    return found


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

    def sides(self) -> frozenset[tuple[End, End]]:
        """Return every cable from the view of each of its ends: its own end and the other one."""
        pairs = [(End(cable.a_device, cable.a_port), End(cable.b_device, cable.b_port)) for cable in self.cables]
        return frozenset([*pairs, *((b, a) for a, b in pairs)])

    @cached_property
    def ways(self) -> Mapping[str, Mapping[tuple[str, str], frozenset[str]]]:
        """The ports of every leaf by spine and color."""
        found: dict[str, dict[tuple[str, str], frozenset[str]]] = {leaf: {} for leaf in self.uplinks}
        for cable in self.cables:
            row = found.setdefault(cable.a_device, {})
            way = (cable.b_device, cable.color)
            row[way] = row.get(way, frozenset()) | {cable.a_port}
        return found

    def pinned(self) -> Iterator[tuple[str, Prefix, frozenset[str]]]:
        """Yield, for every leaf and every prefix of another, the ports that packets must leave by.

        They lead, in the prefix's color, to spines that its owner has in that color, too. There are none where such
        links are out of service.
        """
        for leaf in self.uplinks:
            ways = self.ways[leaf]
            for prefix, (owner, color) in self.owners.items():
                if owner != leaf:
                    there = self.ways.get(owner, {})
                    yield (
                        leaf,
                        prefix,
                        frozenset(
                            port for way, ports in ways.items() if way[1] == color and way in there for port in ports
                        ),
                    )

    def backups(self, leaf: str, prefix: Prefix) -> frozenset[str]:
        """Return the ports by which a leaf may reach a prefix for which no link of its color is in service.

        A spine sends its active route alone: one in the prefix's own color where it has that, which is no use here.
        """
        owner, color = self.owners[prefix]
        there = self.ways.get(owner, {})
        own = {spine for spine, name in there if name == color}
        return frozenset(
            port
            for way, ports in self.ways[leaf].items()
            if way[0] not in own and way[1] in self.allowed[prefix] and way in there
            for port in ports
        )

    def heard(self, spine: str) -> Iterator[tuple[Prefix, str]]:
        """Yield every prefix that its own leaf sends to a spine, and that leaf."""
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
        ways: dict[str, set[tuple[str, str]]] = {leaf: set(), owner: set()}
        for cable in self.cables:
            gone = cable.b_device == spine or End(cable.a_device, cable.a_port) in ends
            if cable.a_device in ways and not gone and cable.color in self.allowed[prefix]:
                ways[cable.a_device].add((cable.b_device, cable.color))
        for through in {name for name, _ in ways[owner]}:
            received = {color for name, color in ways[owner] if name == through}
            sent = {own} if own in received else received
            if all((through, color) in ways[leaf] for color in sent):
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
            colors = {name: self.allowed[prefix] & found.keys() for name, found in left.get(owner, {}).items()}
            heard = {name: found for name, found in colors.items() if found}
            for spine_name, found in heard.items():
                links = left[owner][spine_name]
                yield spine_name, prefix, links[color] or min(links[name] for name in found)
            for leaf, here in left.items():
                if leaf != owner:
                    both = [(here[name], found) for name, found in heard.items() if name in here]
                    pinned = sum(links[color] for links, found in both if color in found)
                    yield leaf, prefix, pinned or sum(min(links[name] for name in found) for links, found in both)


def expected_routes(expected: ExpectedFabric, cables: ExpectedCabling) -> ExpectedRoutes:
    """Compute what the intent asks of routes."""
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
    uplinks = {leaf: {color: frozenset(found) for color, found in by.items()} for leaf, by in ports.items()}
    return ExpectedRoutes(uplinks, owners, alive, allowed)


def ports_text(ports: frozenset[str]) -> str:
    """Write some ports, the first few of many."""
    names = sorted(ports)
    return ", ".join(names[:SHOWN]) + (" …" if len(names) > SHOWN else "") if names else "none"
