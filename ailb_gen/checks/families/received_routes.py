"""Check the routes that arrive: none hidden, and a copy of every prefix in every leaf (AILB309, AILB310)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from functools import partial

from ailb_gen.addresses import Prefix
from ailb_gen.checks import subjects as about
from ailb_gen.checks.context import Context
from ailb_gen.checks.expected_switches import ExpectedColor
from ailb_gen.checks.kinds import Kinds
from ailb_gen.checks.layers import Layer
from ailb_gen.checks.model import Check, Findings
from ailb_gen.routing.fib import members_of, nodes_of
from ailb_gen.routing.graph import Graph
from ailb_gen.routing.solve import EMPTY, Candidate, State
from ailb_gen.wording import some

# Findings of one kind on one switch that are worth listing one by one.
SHOWN = 8
NOTHING: frozenset[str] = frozenset()


def devices_of_leaves(context: Context) -> set[int]:
    """Return the numbers of the leaves that have a file."""
    index = context.routing.graph.index
    return {index[leaf.name] for leaf in context.expected.leaves if leaf.name in index}


def _check_hidden(context: Context, findings: Findings) -> None:
    routing = context.routing
    graph = routing.graph
    # By device, group and reason.
    hidden: dict[tuple[int, int, str], list[Prefix]] = defaultdict(list)
    senders: dict[tuple[int, int, str], set[int]] = defaultdict(set)
    findings.look(HIDDEN, len(routing.prefixes))
    for state in routing.states.where(_hides):
        prefix = state.prefix
        for node, rib in state.nodes.items():
            for candidate in rib.candidates:
                for device in members_of(graph, state, node)[:SHOWN] if candidate.hidden else ():
                    key = (device, candidate.group, candidate.hidden)
                    hidden[key].append(prefix)
                    peers = (graph.adjacencies[device][at].peer for at in candidate.positions)
                    senders[key].update((*peers, *graph.owners[prefix]))
    for (device, number, reason), prefixes in hidden.items():
        switch = graph.switches[device]
        group = switch.groups[number]
        message = f"hidden ({reason}) in group {group.name}: {some(list(dict.fromkeys(prefixes)))}"
        involved = (device, *sorted(senders[device, number, reason]))
        involves = [about.device(graph.names[other]) for other in involved]
        subjects = (about.group(switch.named, group.name), *map(about.prefix, dict.fromkeys(prefixes)))
        findings.at(HIDDEN, switch, message, group.line, involves=involves, part=group.name, subjects=subjects)


def _hides(state: State) -> bool:
    return any(candidate.hidden for rib in state.nodes.values() for candidate in rib.candidates)


def _check_colored(context: Context, findings: Findings) -> None:
    leaves, kinds = devices_of_leaves(context), Kinds(findings)
    states, owners = context.routing.states, context.routing.graph.owners
    for leaf in context.expected.leaves:
        for prefix, color in zip(leaf.prefixes, context.expected.colors, strict=True):
            if prefix in states:
                heard = context.paths.advertised_colors(leaf.name, color.value)
                kind = (states.first(prefix), color, owners[prefix][0] in leaves, id(heard))
                kinds.evaluate(kind, partial(_check_copies, context, prefix, color, heard, leaves))


def _check_copies(
    context: Context,
    prefix: Prefix,
    color: ExpectedColor,
    heard: Mapping[str, frozenset[str]],
    leaves: set[int],
    findings: Findings,
) -> None:
    graph, state = context.routing.graph, context.routing.states[prefix]
    # The origin puts AIGP on what has a backup to be preferred to.
    aigp = context.fabric.aigp and color.backup != ""
    for node in nodes_of(graph, state, leaves):
        rib = state.nodes.get(node, EMPTY)
        if rib.local:
            continue
        devices = members_of(graph, state, node)
        findings.look(COLORED, len(devices))
        owners = [about.device(graph.names[device]) for device in graph.owners[prefix]]
        for message, group, peer in _wrong_copies(graph, devices[0], rib.candidates, (color.value, aigp), heard):
            for device in devices[:SHOWN]:
                switch = graph.switches[device]
                line = switch.groups[group].line
                involves, subjects = (*owners, about.device(peer)), (about.prefix(prefix),)
                findings.at(COLORED, switch, f"{prefix} {message}", line, involves=involves, subjects=subjects)


def _wrong_copies(
    graph: Graph,
    device: int,
    candidates: tuple[Candidate, ...],
    sent: tuple[str, bool],
    heard: Mapping[str, frozenset[str]],
) -> Iterator[tuple[str, int, str]]:
    """Compare received copies with the expected ones: one per spine, of the prefix's own color where the spine has it.

    Yields messages with the group and the spine that they are about. `sent` is the prefix's own color and whether it
    has AIGP there, `heard` in which colors each spine may pass the prefix on. A spine with several sessions to the
    origin sends on its active route only, so one copy of any backup is enough, and none is sure where this switch
    lacks one of the colors.
    """
    own, aigp = sent
    row, rules = graph.adjacencies[device], graph.rules[device]
    received: dict[int, set[str]] = defaultdict(set)
    for candidate in candidates:
        found = min(candidate.route.colors, default="none")
        for at in candidate.positions:
            entry = row[at]
            session = rules[entry.own_group].color
            received[entry.peer].add(found)
            if found != session:
                peer = graph.names[entry.peer]
                yield f"received from {peer} with color {found} over a session of {session}", entry.own_group, peer
        if (candidate.route.aigp is not None) != (found == own and aigp) and candidate.positions:
            spine = graph.names[row[candidate.positions[0]].peer]
            state = "with" if candidate.route.aigp is not None else "without"
            yield f"received from {spine} {state} AIGP as {found}", candidate.group, spine
    # Color and group of the sessions to every spine.
    offered: dict[int, dict[str, int]] = defaultdict(dict)
    for entry in row:
        offered[entry.peer][rules[entry.own_group].color or "none"] = entry.own_group
    for number, colors in offered.items():
        peer = graph.names[number]
        expected = heard.get(peer, NOTHING)
        if expected and expected <= colors.keys() and not received[number] & expected:
            names = sorted(expected)
            yield f"not received from {peer} as {' or '.join(names)}", colors[names[0]], peer


HIDDEN = Check(
    "AILB309",
    "no route is hidden on any switch",
    "a route is hidden",
    "A hidden route is an unused path: less capacity and fewer backups than planned.",
    "The message gives the reason: a color mismatch, a policy, or an AS path loop.",
    _check_hidden,
    layer=Layer.ROUTES,
)
COLORED = Check(
    "AILB310",
    "every prefix reaches every leaf once over each session that its color and backups allow, AIGP on its own color",
    "a prefix does not reach a leaf over every session that it must, or with the wrong color or AIGP",
    "A missing copy is a missing backup; a backup with AIGP is preferred like the route of the color itself.",
    "Inspect the route with `ailb-gen rib` on the leaf, the spine and the origin.",
    _check_colored,
    layer=Layer.ROUTES,
)
