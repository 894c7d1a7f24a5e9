"""The checks of paths and balance (AILB4xx): the steady state, walked and loaded."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ailb_gen.checks.colors import members_of
from ailb_gen.checks.findings import Findings
from ailb_gen.checks.load_balancing import DLB, GLB, TABLES, check_load_balancing
from ailb_gen.checks.model import Check, Finding, Result, Severity, by_place
from ailb_gen.checks.shares import Shares
from ailb_gen.checks.steps import NO_STEPS
from ailb_gen.checks.ways import Ways
from ailb_gen.errors import Place
from ailb_gen.forwarding.delivery import VALLEY_FREE_HOPS, Outcome, outcome_at, outcomes, positions, stranded
from ailb_gen.forwarding.ecmp import monte_carlo
from ailb_gen.forwarding.loads import Links, by_device, loads
from ailb_gen.forwarding.patterns import all_to_all, permutation, rails, ring

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from ailb_gen.addresses import Prefix
    from ailb_gen.checks.expected import ExpectedFabric
    from ailb_gen.checks.steps import Steps
    from ailb_gen.forwarding.loads import Volumes
    from ailb_gen.network.fabric import Network
    from ailb_gen.routing.graph import Graph
    from ailb_gen.routing.rib import Routing
    from ailb_gen.routing.solve import State

PINNED = Check(
    "AILB401",
    Severity.ERROR,
    "from every leaf, prefix k of every other is reached over exactly the uplinks of color k; if drained, its backups",
    "a leaf reaches a prefix over other uplinks than those of its color",
    "A queue pair on another color's uplink collides with the one that belongs there: both run at half speed.",
    "Look at the prefix with `ailb-gen rib` on the leaf: what is missing, hidden, or preferred.",
)
DELIVERED = Check(
    "AILB402",
    Severity.ERROR,
    "every leaf reaches every prefix: no black hole, no loop",
    "a leaf does not reach a prefix",
    "Packets that do not arrive time out; one pair of GPUs that cannot talk stops the whole job.",
    "Follow it with `ailb-gen path`.",
)
NO_VALLEY = Check(
    "AILB403",
    Severity.ERROR,
    "every path goes up to one spine and down again",
    "a path does not just go up to a spine and down again",
    "A path through a third leaf takes capacity that belongs to that leaf's servers.",
    "Look at the export policy of the leaf in the middle.",
)
SETTLED = Check(
    "AILB404",
    Severity.ERROR,
    "the routes of every prefix come to rest",
    "the routes of a prefix never come to rest",
    "Policies that prefer each other's routes in a circle change the FIB for ever.",
    "Compare the local preferences that the policies of neighboring switches set.",
)
BALANCED = Check(
    "AILB405",
    Severity.ERROR,
    "with one queue pair per color, collectives load all uplinks of a leaf, and all links down to it, evenly",
    "a collective loads links unevenly",
    "All queue pairs of a collective wait for the most loaded link.",
    "See AILB401 and AILB303: some prefix or uplink is not where its color says.",
)
CONNECTED = Check(
    "AILB409",
    Severity.ERROR,
    "what the intent takes out of service leaves every leaf a path to every prefix",
    "what the intent takes out of service leaves a leaf without a path to a prefix",
    "A drain is to move traffic, not to stop it.",
    "Drain less at a time, or back up the colors that are drained: the message names a pair that is cut off.",
)
CHECKS = (PINNED, DELIVERED, NO_VALLEY, SETTLED, BALANCED, TABLES, DLB, GLB, CONNECTED)
# Fluid loads are sums of fractions; what differs by less is the same.
EXACT = 1e-6
PATTERNS = (("ring all-reduce", ring), ("all-to-all", all_to_all), ("permutation", permutation))


def run(
    intended: ExpectedFabric, network: Network, routing: Routing, seed: int, steps: Steps = NO_STEPS
) -> Iterator[Result]:
    """Run all checks of paths; `seed` fixes the Monte-Carlo run of ECMP hashing that balance is compared with."""
    advance = steps.begin("paths", len(intended.leaves))
    collected = Findings([check for check in CHECKS if check not in (BALANCED, CONNECTED)])
    ways = Ways(intended)
    leaves = {routing.graph.index[leaf.name] for leaf in intended.leaves if leaf.name in routing.graph.index}
    for leaf in intended.leaves:
        for prefix, color in zip(leaf.prefixes, intended.colors, strict=True):
            state = routing.states.get(prefix)
            if state is None:
                switch = network.switches.get(leaf.name)
                place = Place(switch.file) if switch is not None else None
                collected.add(DELIVERED, leaf.name, f"{prefix} is on no switch: it cannot be reached", place)
                continue
            _check_prefix(_Asked(ways, routing.graph, leaf.name, color.value), state, leaves, collected)
        advance(1)
    check_load_balancing(intended, network, collected)
    results = {result.check: result for result in collected.results()}
    advance = steps.begin("balance", 2 * len(PATTERNS))
    results[BALANCED] = _balance(intended, network, routing, (Shares(intended, ways), seed), advance)
    results[CONNECTED] = _connected(ways)
    yield from (results[check] for check in CHECKS)


class _Asked:
    """Over which positions of a switch the intent wants a prefix to be reached."""

    __slots__ = ("color", "graph", "owner", "ways", "whole")

    def __init__(self, ways: Ways, graph: Graph, owner: str, color: str) -> None:
        self.ways, self.graph, self.owner, self.color = ways, graph, owner, color
        self.whole = not ways.intended.drained.missing

    def positions(self, device: int) -> tuple[int, ...]:
        """Return the positions in the prefix's own color; none if its links are drained."""
        row, rules = self.graph.adjacencies[device], self.graph.rules[device]
        own = tuple(at for at, entry in enumerate(row) if rules[entry.own_group].color == self.color)
        name = self.graph.names[device]
        if self.whole or name not in self.ways.kind_of:
            return own
        pinned = self.ways.pinned(name, self.owner, self.color)
        return tuple(at for at in own if (self.graph.names[row[at].peer], self.color) in pinned)

    def backs_up(self, device: int, found: tuple[int, ...]) -> bool:
        """Tell whether positions are what is left when none of the prefix's own color is."""
        name = self.graph.names[device]
        if self.whole or name not in self.ways.kind_of:
            return False
        row, rules = self.graph.adjacencies[device], self.graph.rules[device]
        taken = {(self.graph.names[row[at].peer], rules[row[at].own_group].color or "") for at in found}
        possible, sure = self.ways.backed_up(name, self.owner, self.color)
        return taken <= possible and sure <= {spine for spine, _ in taken} and bool(taken)


def _check_prefix(asked: _Asked, state: State, leaves: set[int], collected: Findings) -> None:
    """Check where packets to a prefix go from every leaf."""
    graph = asked.graph
    collected.look(SETTLED)
    if not state.stable:
        collected.add(SETTLED, str(state.prefix), f"the routes of {state.prefix} never come to rest")
    ends = outcomes(graph, state)
    singles = {len(graph.classes) + device for device in state.singles & leaves}
    groups = {number for number, found in enumerate(graph.classes) if found.members & leaves - state.singles}
    for node in sorted(singles | groups):
        rib = state.nodes.get(node)
        if rib is not None and rib.local:
            continue
        devices = members_of(graph, state, node)
        for check in (PINNED, DELIVERED, NO_VALLEY):
            collected.look(check, len(devices))
        expected = asked.positions(devices[0])
        found = positions(graph, state, node)
        end = ends.get(node) or stranded(graph, devices[0])
        as_asked = found == expected if expected else asked.backs_up(devices[0], found)
        if as_asked and not end.problem and end.hops <= VALLEY_FREE_HOPS:
            continue
        for device in devices:
            way = (outcome_at(graph, end, device), found, found if as_asked else asked.positions(device))
            _report(graph, device, state.prefix, way, collected)


def _report(
    graph: Graph,
    device: int,
    prefix: Prefix,
    way: tuple[Outcome, tuple[int, ...], tuple[int, ...]],
    collected: Findings,
) -> None:
    """Say what is wrong with the way from a leaf: where it ends, the ways that it takes, and those of the color."""
    end, found, expected = way
    switch = graph.switches[device]
    place = Place(switch.file, _line(graph, device, expected) or 1)
    peers = dict.fromkeys(graph.adjacencies[device][at].peer for at in (*expected, *found))
    involves = [graph.names[other] for other in (*graph.owners[prefix], *peers)]
    if end.problem:
        collected.add(DELIVERED, switch.named, f"{prefix} is not reached: {end.problem}", place, involves=involves)
        return
    if end.hops > VALLEY_FREE_HOPS:
        message = f"{prefix} takes {end.hops} hops"
        collected.add(NO_VALLEY, switch.named, message, place, VALLEY_FREE_HOPS, end.hops, involves)
    if found != expected:
        wrong, right = _ports(graph, device, found), _ports(graph, device, expected)
        message = f"{prefix} is reached over {wrong}; the uplinks of its color are {right}"
        collected.add(PINNED, switch.named, message, place, right, wrong, involves)


def _connected(ways: Ways) -> Result:
    """Compare what is left in service with what every prefix needs; the figures say what is missing."""
    findings = [
        Finding(CONNECTED.id, source, f"the drain leaves no path to the prefix of color {color.name} of {owner}")
        for source, owner, color in ways.cut()
    ]
    figures = tuple(("drained", line) for line in ways.intended.drained.lines)
    return Result(CONNECTED, by_place(findings), len(ways.kind_of), figures)


def _line(graph: Graph, device: int, ways: tuple[int, ...]) -> int:
    """Return the line of the group of the first way, where there is one."""
    switch = graph.switches[device]
    return switch.groups[graph.adjacencies[device][ways[0]].own_group].line if ways else switch.bgp_line


def _ports(graph: Graph, device: int, ways: tuple[int, ...]) -> str:
    row = graph.adjacencies[device]
    return ", ".join(row[at].interface for at in ways[:8]) + (" …" if len(ways) > 8 else "") if ways else "none"


def _balance(
    intended: ExpectedFabric,
    network: Network,
    routing: Routing,
    how: tuple[Shares, int],
    advance: Callable[[int], None],
) -> Result:
    """Compare loads with the even share; the seed fixes the hashing that they are compared with."""
    shares, seed = how
    graph = routing.graph
    links = Links(routing)
    rows = rails(network, graph.index)
    colored = {
        graph.index[leaf.name]: tuple(prefix for prefix in leaf.prefixes if prefix in routing.states)
        for leaf in intended.leaves
        if leaf.name in graph.index
    }
    colored = {device: prefixes for device, prefixes in colored.items() if prefixes}
    findings: list[Finding] = []
    figures: list[tuple[str, str]] = []
    for name, pattern in PATTERNS:
        matrix = pattern(rows, len(graph.names))
        if not matrix.any():
            figures.append((name, "nothing crosses a spine"))
            continue
        load, lost = loads(links, routing.states, colored, matrix)
        advance(1)
        worst = _worst(links, colored, load)
        findings += _uneven(routing, name, worst, _Share(shares, graph, matrix))
        hashed = monte_carlo(links, matrix, len(intended.colors), seed)
        advance(1)
        ours = f"busiest link over the mean: up {_top(worst, 0)}, down {_top(worst, 1)}"
        share = f"; {lost / matrix.sum():.1%} lost" if lost > EXACT * matrix.sum() else ""
        peer = f"; ECMP hashing {hashed.up:.2f}, {hashed.down:.2f} ({hashed.draws} draws)" if hashed else ""
        figures.append((name, f"{ours}{share}{peer}"))
    return Result(BALANCED, by_place(findings), len(colored) * len(PATTERNS), tuple(figures))


# The highest and the mean load of the links of a device: out of it, and into it.
Worst = dict[int, tuple[tuple[float, float], tuple[float, float]]]


def _worst(links: Links, leaves: Mapping[int, tuple[Prefix, ...]], load: Volumes) -> Worst:
    found = {}
    for device, (out, into) in by_device(links, leaves, load).items():
        found[device] = (_highest(out), _highest(into))
    return found


def _highest(load: Volumes) -> tuple[float, float]:
    return (float(np.max(load)), float(np.mean(load))) if len(load) else (0.0, 0.0)


def _ratio(highest: float, mean: float) -> float:
    return highest / mean if mean else 1.0


def _top(worst: Worst, tier: int) -> str:
    return f"{max((_ratio(*pair[tier]) for pair in worst.values()), default=1.0):.3f}"


class _Share:
    """The highest load that a link of a leaf may have under a matrix of volumes."""

    __slots__ = ("graph", "matrix", "shares")

    def __init__(self, shares: Shares, graph: Graph, matrix: Volumes) -> None:
        self.shares, self.graph, self.matrix = shares, graph, matrix

    def of(self, device: int, tier: int, mean: float) -> float:
        """Return it for the links out of a device (0) or into it (1); where nothing is drained it is their mean."""
        if self.shares.whole:
            return mean
        names, row = self.graph.names, self.matrix[device] if tier == 0 else self.matrix[:, device]
        volumes = {names[other]: float(row[other]) for other in np.flatnonzero(row)}
        return self.shares.of(names[device], volumes, tier == 0)


def _uneven(routing: Routing, pattern: str, worst: Worst, share: _Share) -> Iterator[Finding]:
    for device, pair in worst.items():
        switch = routing.graph.switches[device]
        place = Place(switch.file, switch.bgp_line or 1)
        for tier, (what, (highest, mean)) in enumerate(zip(("its uplinks", "the links down to it"), pair, strict=True)):
            even = share.of(device, tier, mean)
            if highest > even * (1 + EXACT) and mean:
                value, expected = highest / mean, even / mean
                message = f"{pattern} loads {what} unevenly: max/mean {value:.3f}"
                yield Finding(BALANCED.id, switch.named, message, place, f"{expected:.3f}", f"{value:.3f}")
