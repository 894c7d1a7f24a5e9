"""The checks of colors and BGP-DPF (AILB3xx): what is advertised with which color, and what policies do to it."""

from __future__ import annotations

from collections import Counter, defaultdict
from typing import TYPE_CHECKING

from ailb_gen.addresses import Prefix
from ailb_gen.checks.findings import Findings
from ailb_gen.checks.model import Check, Severity
from ailb_gen.checks.policies import EFFECTIVE, KEPT, NO_TRANSIT, NOT_BACK, check_policies
from ailb_gen.checks.ways import Ways
from ailb_gen.errors import Place
from ailb_gen.network.sessions import discovered
from ailb_gen.routing.policy import members
from ailb_gen.routing.solve import EMPTY
from ailb_gen.routing.speaker import color_value, direct_prefixes
from ailb_gen.wording import some

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from ailb_gen.checks.expected import ExpectedFabric
    from ailb_gen.checks.model import Result
    from ailb_gen.checks.speakers import WantedColor, WantedSpeaker
    from ailb_gen.network.fabric import End, Network
    from ailb_gen.network.model import FabricRoute, Switch
    from ailb_gen.routing.graph import Graph
    from ailb_gen.routing.rib import Routing
    from ailb_gen.routing.solve import Candidate, State

AGAIN = "Correct the intent and generate again."
DEFINED = Check(
    "AILB301",
    Severity.ERROR,
    "every color of the intent is one community with the same value on every switch, and no two share a value",
    "a color's community is missing, has the wrong value, or shares its value with another",
    "A color that means another thing on one switch hides its routes there, or sends them to another spine.",
    "Define the color's community as the intent counts it: color:0:1 for the first.",
)
SAME_ENDS = Check(
    "AILB302",
    Severity.ERROR,
    "both ends of every link have the color that the cabling says",
    "one end of a link has another color than the cabling says",
    "Junos hides routes whose color differs from the session's: the link carries nothing.",
    "Move the interface to the group of its color.",
)
EVEN = Check(
    "AILB303",
    Severity.ERROR,
    "every uplink has a color, and every color has the same number of uplinks on each leaf",
    "a leaf has too few or too many uplinks of a color",
    "A color with fewer uplinks is the bottleneck that all queue pairs wait for.",
    AGAIN,
)
ADVERTISED = Check(
    "AILB304",
    Severity.ERROR,
    "every prefix of a leaf, and no other, is advertised exactly once, with its color, and is on the IRB",
    "a leaf's prefix is not advertised, or with the wrong color, or one too many is",
    "Junos gives no commit error for a prefix that does not exist: it is silently not advertised.",
    "Correct `protocols bgp fabric-advertise route`.",
)
BACKED_UP = Check(
    "AILB305",
    Severity.ERROR,
    "every advertised prefix has the backup color that the intent asks for",
    "an advertised prefix has another backup color than the intent asks for",
    "Without its backup a prefix is gone when a single link of its color fails.",
    "Correct `backup-color` of the route.",
)
HIDDEN = Check(
    "AILB309",
    Severity.ERROR,
    "no route is hidden on any switch",
    "a route is hidden",
    "A hidden route is a path that exists and is not used: less capacity, and fewer backups than planned.",
    "The message gives the reason: a color mismatch, a policy, or an AS path loop.",
)
COLORED = Check(
    "AILB310",
    Severity.ERROR,
    "every prefix reaches every leaf once over each session that its color and backups allow, AIGP on its own color",
    "a prefix does not reach a leaf over every session that it must, or with the wrong color or AIGP",
    "A copy that is missing is a backup that is missing; AIGP on a backup makes it as good as the color itself.",
    "Look at the route with `ailb-gen rib` on the leaf, the spine and the origin.",
)
CHECKS = (DEFINED, SAME_ENDS, EVEN, ADVERTISED, BACKED_UP, KEPT, NOT_BACK, NO_TRANSIT, HIDDEN, COLORED, EFFECTIVE)
# One end of a link, the other, the color that it has as a value, and the one that it must have.
WrongEnd = tuple["End", "End", str | None, str | None]
# Findings of one kind on one switch that are worth listing one by one.
SHOWN = 8
NOTHING: frozenset[str] = frozenset()


def run(
    intended: ExpectedFabric, network: Network, routing: Routing, advance: Callable[[int], None] = lambda count: None
) -> Iterator[Result]:
    """Run all checks of colors; `advance` is called with how many more leaves were looked at."""
    collected = Findings(CHECKS)
    for name, switch in network.switches.items():
        _check_defined(intended, switch, collected)
        asked = intended.speakers.get(name)
        if asked is not None:
            _check_advertised(intended, asked, switch, collected)
    _check_links(intended, network, collected)
    check_policies(intended, routing.graph, collected)
    _check_states(intended, routing, collected, advance)
    yield from collected.results()


def _check_defined(intended: ExpectedFabric, switch: Switch, collected: Findings) -> None:
    holders: dict[str, str] = {}
    for color in intended.colors:
        collected.look(DEFINED)
        community = switch.communities.get(color.name)
        found = " ".join(community.members) if community is not None else ""
        if found != color.value:
            line = community.line if community is not None else 1
            message = f"community {color.name} is {found or 'not defined'}; it must be {color.value}"
            involves = (f"{switch.named} community {color.name}",)
            collected.add(DEFINED, switch.named, message, Place(switch.file, line or 1), color.value, found, involves)
    for community in switch.communities.values():
        for value in members(community):
            if value.startswith("color:") and holders.setdefault(value, community.name) != community.name:
                message = f"{value} is also the value of community {holders[value]}"
                collected.add(
                    DEFINED, f"{switch.named} {community.name}", message, Place(switch.file, community.line or 1)
                )


def _check_advertised(intended: ExpectedFabric, asked: WantedSpeaker, switch: Switch, collected: Findings) -> None:
    direct = direct_prefixes(switch)
    found = {route.prefix: route for route in switch.routes}
    # A spine has no prefixes of its own, and must advertise none.
    colors = intended.colors if asked.prefixes else ()
    for prefix, color in zip(asked.prefixes, colors, strict=True):
        collected.look(ADVERTISED)
        collected.look(BACKED_UP)
        route = found.pop(prefix, None)
        if route is None:
            message = f"{prefix} is not advertised; it must be, with color {color.name}"
            place = Place(switch.file, switch.bgp_line or 1)
            alike = "" if switch.routes else f"{asked.name} advertises nothing"
            collected.add(ADVERTISED, asked.name, message, place, color.name, alike=alike)
            continue
        if route.color != color.name:
            message = f"{prefix} is advertised with color {route.color or 'none'}; it must be {color.name}"
            place = Place(switch.file, route.color_line or route.line or 1)
            collected.add(ADVERTISED, asked.name, message, place, color.name, route.color or "none")
        if prefix not in direct:
            message = f"{prefix} is on no interface that is enabled: Junos silently does not advertise it"
            collected.add(ADVERTISED, asked.name, message, Place(switch.file, route.line or 1), involves=(asked.name,))
        _check_backup(asked, switch, route, color.backup, collected)
    for prefix, route in found.items():
        message = f"{prefix} is advertised, but not in the address plan of {asked.name}"
        collected.add(ADVERTISED, asked.name, message, Place(switch.file, route.line or 1), "", prefix)
    for color_name, count in Counter(route.color for route in switch.routes if route.color is not None).items():
        if count > 1 and asked.prefixes:
            message = f"{count} prefixes have color {color_name}; each color takes one"
            place = Place(switch.file, switch.bgp_line or 1)
            collected.add(ADVERTISED, asked.name, message, place, 1, count, (asked.name,))


def _check_backup(asked: WantedSpeaker, switch: Switch, route: FabricRoute, backup: str, collected: Findings) -> None:
    if (route.backup or "") != backup:
        place = Place(switch.file, route.backup_line or route.line or 1)
        message = f"{route.prefix} has backup color {route.backup or 'none'}; the intent asks for {backup or 'none'}"
        collected.add(BACKED_UP, asked.name, message, place, backup or "none", route.backup or "none")


def _check_links(intended: ExpectedFabric, network: Network, collected: Findings) -> None:
    """Compare the colors at both ends of every link with the cable's, and count them per leaf."""
    tables = {name: discovered(switch) for name, switch in network.switches.items()}
    value = {color.name: color.value for color in intended.colors}
    uplinks: dict[str, Counter[str]] = defaultdict(Counter)
    # By device and group.
    colored: Counter[tuple[str, int | None]] = Counter()
    wrong: dict[tuple[str, int | None], list[WrongEnd]] = defaultdict(list)
    for cable in network.links:
        for end in (cable.a, cable.b):
            switch = network.switches.get(end.device)
            if switch is None:
                continue
            collected.look(SAME_ENDS)
            index = tables[end.device].get(f"{end.port}.0")
            group = switch.groups[index] if index is not None else None
            found = color_value(switch, group.color) if group is not None else None
            uplinks[end.device][found or "none"] += 1
            expected = value.get(cable.color)
            if found is None or (expected is not None and found != expected):
                other = cable.b if end == cable.a else cable.a
                wrong[end.device, index].append((end, other, found, expected))
            colored[end.device, index] += 1
    every = Counter(end.device for cable in network.links for end in (cable.a, cable.b))
    for (name, index), ends in wrong.items():
        total = colored[name, index] if index is not None else every[name]
        _report_ends(network.switches[name], index, ends, len(ends) == total, collected)
    each = len(intended.fabric.spines) * intended.fabric.links_per_spine // len(intended.colors)
    for leaf in intended.leaves:
        if leaf.name not in network.switches:
            continue
        for color in intended.colors:
            collected.look(EVEN)
            count = uplinks[leaf.name][color.value]
            if count != each:
                message = f"{count} uplinks of color {color.name}; every color has {each}"
                place = Place(network.switches[leaf.name].file, network.switches[leaf.name].bgp_line or 1)
                collected.add(EVEN, leaf.name, message, place, each, count)


def _report_ends(
    switch: Switch, index: int | None, ends: list[WrongEnd], all_of_them: bool, collected: Findings
) -> None:
    """Say which ends of one group have a wrong color: at the group if `all_of_them` have, else at the interface."""
    group = switch.groups[index] if index is not None else None
    lines = dict(pair for discovery in group.discoveries for pair in discovery.interfaces) if group is not None else {}
    where = f"group {group.name}" if group is not None else "no group"
    for end, other, found, expected in ends:
        line = (group.color_line or group.line) if group is not None else switch.bgp_line
        if not all_of_them:
            line = lines.get(f"{end.port}.0") or line
        message = f"the link to {other} is {found or 'uncolored'} ({where}); it must be {expected}"
        involves = (f"{end.device} community {group.color}",) if group is not None and group.color else ()
        alike = f"{end.device} {where} {found}" if all_of_them else ""
        place = Place(switch.file, line or 1)
        collected.add(SAME_ENDS, f"{end.device} {end.port}", message, place, expected, found, involves, alike)


def _check_states(
    intended: ExpectedFabric, routing: Routing, collected: Findings, advance: Callable[[int], None]
) -> None:
    """Look at the RIBs: what leaves send on, what is hidden, and which copies of each prefix reach each leaf."""
    graph = routing.graph
    leaves = {graph.index[leaf.name] for leaf in intended.leaves if leaf.name in graph.index}
    leaking: dict[int, list[object]] = defaultdict(list)
    # By device, group and reason.
    hidden: dict[tuple[int, int, str], list[object]] = defaultdict(list)
    senders: dict[tuple[int, int, str], set[int]] = defaultdict(set)
    for prefix in routing.prefixes:
        state = routing.states[prefix]
        for node, rib in state.nodes.items():
            if not rib.local and any(rib.sent):
                for device in leaves.intersection(members_of(graph, state, node)):
                    leaking[device].append(prefix)
            for candidate in rib.candidates:
                if candidate.hidden:
                    for device in members_of(graph, state, node)[:SHOWN]:
                        key = (device, candidate.group, candidate.hidden)
                        hidden[key].append(prefix)
                        peers = (graph.adjacencies[device][at].peer for at in candidate.positions)
                        senders[key].update((*peers, *graph.owners[prefix]))
    collected.look(NO_TRANSIT, len(leaves))
    collected.look(HIDDEN, len(routing.prefixes))
    for device, prefixes in leaking.items():
        switch = graph.switches[device]
        message = f"sends on what it learned from spines: {some(prefixes)}"
        place = Place(switch.file, switch.bgp_line or 1)
        collected.add(NO_TRANSIT, switch.named, message, place, involves=(switch.named,))
    for (device, group, reason), prefixes in hidden.items():
        switch = graph.switches[device]
        named = switch.groups[group]
        message = f"hidden ({reason}) in group {named.name}: {some(list(dict.fromkeys(prefixes)))}"
        involves = [graph.names[other] for other in (device, *sorted(senders[device, group, reason]))]
        place = Place(switch.file, named.line or 1)
        collected.add(HIDDEN, f"{switch.named} {named.name}", message, place, involves=involves)
    ways = Ways(intended)
    for leaf in intended.leaves:
        for prefix, color in zip(leaf.prefixes, intended.colors, strict=True):
            if prefix in routing.states:
                _check_copies(ways, routing, (leaf.name, prefix, color), leaves, collected)
        advance(1)


def members_of(graph: Graph, state: State, node: int) -> list[int]:
    """Return the devices that a node of a state stands for."""
    classes = graph.classes
    return [node - len(classes)] if node >= len(classes) else sorted(classes[node].members - state.singles)


def _check_copies(
    ways: Ways, routing: Routing, origin: tuple[str, Prefix, WantedColor], leaves: set[int], collected: Findings
) -> None:
    owner, prefix, color = origin
    graph, state = routing.graph, routing.states[prefix]
    singles = {len(graph.classes) + device for device in state.singles & leaves}
    groups = {number for number in range(len(graph.classes)) if graph.classes[number].members & leaves - state.singles}
    # The origin puts AIGP on what has a backup to be preferred to.
    aigp = ways.intended.fabric.aigp and color.backup != ""
    heard = ways.heard(owner, color.value)
    for node in sorted(singles | groups):
        rib = state.nodes.get(node, EMPTY)
        if rib.local:
            continue
        devices = members_of(graph, state, node)
        collected.look(COLORED, len(devices))
        owners = [graph.names[device] for device in graph.owners[prefix]]
        for message, group, peer in _wrong_copies(graph, devices[0], rib.candidates, (color.value, aigp), heard):
            for device in devices[:SHOWN]:
                switch = graph.switches[device]
                place = Place(switch.file, switch.groups[group].line or 1)
                collected.add(COLORED, switch.named, f"{prefix} {message}", place, involves=(*owners, peer))


def _wrong_copies(
    graph: Graph,
    device: int,
    candidates: tuple[Candidate, ...],
    sent: tuple[str, bool],
    heard: Mapping[str, frozenset[str]],
) -> Iterator[tuple[str, int, str]]:
    """Compare what came in with what must: a copy per spine, of the prefix's own color where the spine has it.

    Gives messages with the group and the spine that they are about. `sent` is the prefix's own color and whether it has
    AIGP there, `heard` in which colors each spine may pass the prefix on. A spine with several sessions to the origin
    sends on its active route only, so one copy of any backup is enough, and none is sure where this switch lacks one
    of the colors.
    """
    own, aigp = sent
    row, rules = graph.adjacencies[device], graph.rules[device]
    came: dict[int, set[str]] = defaultdict(set)
    for candidate in candidates:
        found = next(iter(candidate.route.colors), "none")
        for at in candidate.positions:
            entry = row[at]
            session = rules[entry.own_group].color
            came[entry.peer].add(found)
            if found != session:
                peer = graph.names[entry.peer]
                yield f"came from {peer} with color {found} over a session of {session}", entry.own_group, peer
        if (candidate.route.aigp is not None) != (found == own and aigp) and candidate.positions:
            spine = graph.names[row[candidate.positions[0]].peer]
            state = "with" if candidate.route.aigp is not None else "without"
            yield f"came from {spine} {state} AIGP as {found}", candidate.group, spine
    # Color and group of the sessions to every spine.
    offered: dict[int, dict[str, int]] = defaultdict(dict)
    for entry in row:
        offered[entry.peer][rules[entry.own_group].color or "none"] = entry.own_group
    for number, colors in offered.items():
        peer = graph.names[number]
        expected = heard.get(peer, NOTHING)
        if expected and expected <= colors.keys() and not came[number] & expected:
            names = sorted(expected)
            yield f"did not come from {peer} as {' or '.join(names)}", colors[names[0]], peer
