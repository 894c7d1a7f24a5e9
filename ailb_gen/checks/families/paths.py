"""Check paths and balance: where packets to every prefix go, and how evenly (AILB401 to AILB405, AILB409)."""

from __future__ import annotations

from functools import partial

from ailb_gen.addresses import Prefix
from ailb_gen.checks import subjects as about
from ailb_gen.checks.context import Context
from ailb_gen.checks.expected_paths import ExpectedPaths
from ailb_gen.checks.families.received_routes import devices_of_leaves
from ailb_gen.checks.kinds import Kinds
from ailb_gen.checks.layers import Layer
from ailb_gen.checks.model import Check, Findings
from ailb_gen.errors import Place
from ailb_gen.forwarding.delivery import VALLEY_FREE_HOPS, Outcome, outcome_at, outcomes, stranded
from ailb_gen.routing.fib import fib_entry, members_of, nodes_of
from ailb_gen.routing.graph import Graph
from ailb_gen.routing.rib import States

SHOWN = 8


def _check_paths(context: Context, findings: Findings) -> None:
    graph, states = context.routing.graph, context.routing.states
    leaves = devices_of_leaves(context)
    advance = context.steps.begin("paths", len(context.expected.leaves))
    kinds = Kinds(findings)
    for leaf in context.expected.leaves:
        for prefix, color in zip(leaf.prefixes, context.expected.colors, strict=True):
            if prefix in states:
                asked = _Expected(context.paths, graph, leaf.name, color.value)
                kind = (states.first(prefix), color.value, graph.owners[prefix][0] in leaves)
                # What drains leave depends on the owner.
                kinds.evaluate(
                    kind if asked.undrained else prefix, partial(_check_prefix, asked, prefix, states, leaves)
                )
                continue
            message = f"{prefix} is on no switch: it is unreachable"
            switch, subjects = context.network.switches.get(leaf.name), (about.prefix(prefix),)
            place = Place(switch.file, 1) if switch is not None else None
            findings.add(DELIVERED, leaf.name, message, place, subjects=subjects)
        advance(1)


class _Expected:
    """The positions of a switch by which the intent wants a prefix to be reached."""

    __slots__ = ("color", "graph", "owner", "paths", "undrained")

    def __init__(self, paths: ExpectedPaths, graph: Graph, owner: str, color: str) -> None:
        self.paths, self.graph, self.owner, self.color = paths, graph, owner, color
        self.undrained = paths.expected.drained.whole

    def positions(self, device: int) -> tuple[int, ...]:
        """Return the positions in the prefix's own color; none if its links are drained."""
        row, rules = self.graph.adjacencies[device], self.graph.rules[device]
        own = tuple(at for at, entry in enumerate(row) if rules[entry.own_group].color == self.color)
        name = self.graph.names[device]
        if self.undrained or name not in self.paths.kind_of:
            return own
        pinned = self.paths.pinned(name, self.owner, self.color)
        return tuple(at for at in own if (self.graph.names[row[at].peer], self.color) in pinned)

    def backs_up(self, device: int, found: tuple[int, ...]) -> bool:
        """Return whether positions are what is left when none of the prefix's own color is."""
        name = self.graph.names[device]
        if self.undrained or name not in self.paths.kind_of:
            return False
        row, rules = self.graph.adjacencies[device], self.graph.rules[device]
        taken = {(self.graph.names[row[at].peer], rules[row[at].own_group].color or "") for at in found}
        possible, sure = self.paths.backed_up(name, self.owner, self.color)
        return taken <= possible and sure <= {spine for spine, _ in taken} and bool(taken)


def _check_prefix(asked: _Expected, prefix: Prefix, states: States, leaves: set[int], findings: Findings) -> None:
    graph, state = asked.graph, states[prefix]
    findings.look(SETTLED)
    if not state.stable:
        message = f"the routes of {state.prefix} do not converge"
        findings.add(SETTLED, str(state.prefix), message, subjects=(about.prefix(state.prefix),))
    ends = outcomes(graph, state)
    for node in nodes_of(graph, state, leaves):
        rib = state.nodes.get(node)
        if rib is not None and rib.local:
            continue
        devices = members_of(graph, state, node)
        for check in (PINNED, DELIVERED, NO_VALLEY):
            findings.look(check, len(devices))
        expected = asked.positions(devices[0])
        found = fib_entry(graph, state, node)
        end = ends.get(node) or stranded(graph, devices[0])
        as_asked = found == expected if expected else asked.backs_up(devices[0], found)
        if as_asked and not end.problem and end.hops <= VALLEY_FREE_HOPS:
            continue
        for device in devices:
            right = found if as_asked else asked.positions(device)
            _add_path(graph, device, state.prefix, outcome_at(graph, end, device), found, right, findings)


def _add_path(
    graph: Graph,
    device: int,
    prefix: Prefix,
    end: Outcome,
    found: tuple[int, ...],
    expected: tuple[int, ...],
    findings: Findings,
) -> None:
    """Add findings about the path from a leaf: its end, its length, or the positions that it takes."""
    switch, row = graph.switches[device], graph.adjacencies[device]
    line = switch.groups[row[expected[0]].own_group].line if expected else switch.bgp_line
    peers = dict.fromkeys(row[at].peer for at in (*expected, *found))
    involves = [about.device(graph.names[other]) for other in (*graph.owners[prefix], *peers)]
    subjects = (about.prefix(prefix),)
    if end.problem:
        message = f"{prefix} is unreachable: {end.problem}"
        findings.at(DELIVERED, switch, message, line, involves=involves, subjects=subjects)
        return
    if end.hops > VALLEY_FREE_HOPS:
        message = f"{prefix} takes {end.hops} hops"
        findings.at(NO_VALLEY, switch, message, line, VALLEY_FREE_HOPS, end.hops, involves=involves, subjects=subjects)
    if found != expected:
        wrong, right = _ports(graph, device, found), _ports(graph, device, expected)
        message = f"{prefix} is reached over {wrong}; the uplinks of its color are {right}"
        findings.at(PINNED, switch, message, line, right, wrong, involves=involves, subjects=subjects)


def _ports(graph: Graph, device: int, found: tuple[int, ...]) -> str:
    names = [graph.adjacencies[device][at].interface for at in found]
    return ", ".join(names[:SHOWN]) + (" …" if len(names) > SHOWN else "") if names else "none"


def _check_connected(context: Context, findings: Findings) -> None:
    """Compare the links left in service with those that every prefix needs; the figures list the missing ones."""
    findings.look(CONNECTED, len(context.paths.kind_of))
    for source, owner, color in context.paths.partitions():
        message = f"the drain leaves no path to the prefix of color {color.name} of {owner}"
        findings.add(CONNECTED, source, message)
    for line in context.expected.drained.lines:
        findings.figure(CONNECTED, "drained", line)


def _check_balance(context: Context, findings: Findings) -> None:
    # Its arrays take long to import, and after most changes it does not run.
    from ailb_gen.checks.balance import check_balance  # noqa: PLC0415

    check_balance(context, findings, BALANCED)


_of_paths = partial(Check, run=_check_paths, layer=Layer.PATHS)
PINNED = _of_paths(
    "AILB401",
    "from every leaf, prefix k of every other is reached over exactly the uplinks of color k; if drained, its backups",
    "a leaf reaches a prefix over other uplinks than those of its color",
    "A queue pair on another color's uplink collides with the one that belongs there: both run at half speed.",
    "Run `ailb-gen rib` for the prefix on the leaf, and look for missing, hidden or preferred paths.",
)
DELIVERED = _of_paths(
    "AILB402",
    "every leaf reaches every prefix: no black hole, no loop",
    "a leaf does not reach a prefix",
    "One pair of GPUs that cannot communicate stops the whole job.",
    "Trace the packets with `ailb-gen path`.",
)
NO_VALLEY = _of_paths(
    "AILB403",
    "every path is leaf, spine, leaf",
    "a path is not leaf, spine, leaf",
    "A path through a third leaf takes capacity that belongs to that leaf's servers.",
    "Check the export policy of the leaf in the middle.",
)
SETTLED = Check(
    "AILB404",
    "the routes of every prefix converge",
    "the routes of a prefix do not converge",
    "Policies with circular preferences never converge.",
    "Compare the local preferences that the policies of neighboring switches set.",
    _check_paths,
    layer=Layer.TRAFFIC,
)
CONNECTED = Check(
    "AILB409",
    "what the intent takes out of service leaves every leaf a path to every prefix",
    "what the intent takes out of service leaves a leaf without a path to a prefix",
    "A drain must move traffic, not stop it.",
    "Drain less at a time, or give the drained colors a backup: the message names a pair without a path.",
    _check_connected,
    layer=Layer.DRAINS,
)
BALANCED = Check(
    "AILB405",
    "with one queue pair per color, collectives load all uplinks of a leaf, and all links down to it, evenly",
    "a collective loads links unevenly",
    "All queue pairs of a collective wait for the most loaded link.",
    "See AILB401 and AILB303: a prefix or an uplink has the wrong color.",
    _check_balance,
    layer=Layer.TRAFFIC,
)
