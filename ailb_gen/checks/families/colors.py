"""Check colors: communities, ends of links, what leaves advertise, routes in every leaf (AILB301 to 305, 309, 310)."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping

from ailb_gen.addresses import Prefix
from ailb_gen.checks import subjects as about
from ailb_gen.checks.context import Context
from ailb_gen.checks.expected import ExpectedFabric
from ailb_gen.checks.expected_switches import ExpectedColor, ExpectedSwitch
from ailb_gen.checks.layers import Layer
from ailb_gen.checks.locate import OR
from ailb_gen.checks.model import Check, Findings
from ailb_gen.network.fabric import End
from ailb_gen.network.model import FabricRoute, Group, Switch
from ailb_gen.network.policy import Community
from ailb_gen.network.sessions import neighbor_of, session_groups
from ailb_gen.routing.fib import members_of, nodes_of
from ailb_gen.routing.graph import Graph
from ailb_gen.routing.policy import members
from ailb_gen.routing.solve import EMPTY, Candidate
from ailb_gen.routing.speaker import color_value, direct_prefixes
from ailb_gen.wording import some

ROUTE = "protocols bgp fabric-advertise route"
# One end of a link, the other, the color that it has as a value, and the one that it must have.
WrongEnd = tuple["End", "End", str | None, str | None]


def _check_defined(context: Context, findings: Findings) -> None:
    for switch in context.network.switches.values():
        for color in context.expected.colors:
            findings.look(DEFINED)
            community = switch.communities.get(color.name)
            found = " ".join(community.members) if community is not None else ""
            if found != color.value:
                line = community.line if community is not None else 1
                message = f"community {color.name} is {found or 'not defined'}; it must be {color.value}"
                statement = f"policy-options community {color.name} members"
                findings.at(DEFINED, switch, message, line, color.value, found, statement=statement)
        _check_single(switch, {color.name: color.value for color in context.expected.colors}, findings)


def _check_single(switch: Switch, colors: Mapping[str, str], findings: Findings) -> None:
    """Find communities that have the value of another one; of those of `colors` the value is compared already."""
    holders: dict[str, Community] = {}
    for community in switch.communities.values():
        for value in members(community):
            right, wrong = holders.setdefault(value, community), community
            if colors.get(community.name) == value:
                right, wrong = wrong, right
            if value.startswith("color:") and right is not wrong and wrong.name not in colors:
                message = f"{value} is also the value of community {right.name}"
                subjects = (about.community(switch.named, wrong.name),)
                findings.at(DEFINED, switch, message, wrong.line, part=wrong.name, subjects=subjects)


def _check_advertised(context: Context, findings: Findings) -> None:
    for switch, expected in context.switches:
        _check_routes(context.expected, expected, switch, findings)


def _check_routes(fabric: ExpectedFabric, expected: ExpectedSwitch, switch: Switch, findings: Findings) -> None:
    """Compare the advertised prefixes of a switch with its own; a spine has none, and must advertise none."""
    direct = direct_prefixes(switch)
    found = {route.prefix: route for route in switch.routes}
    for prefix, color in zip(expected.prefixes, fabric.colors if expected.prefixes else (), strict=True):
        findings.look(ADVERTISED)
        findings.look(BACKED_UP)
        route = found.pop(prefix, None)
        if route is None:
            message = f"{prefix} is not advertised; it must be, with color {color.name}"
            same_cause = "" if switch.routes else f"{switch.named} advertises nothing"
            statement = f"{ROUTE} {prefix}"
            findings.at(
                ADVERTISED, switch, message, switch.bgp_line, color.name, same_cause=same_cause, statement=statement
            )
            continue
        if route.color != color.name:
            message = f"{prefix} is advertised with color {route.color or 'none'}; it must be {color.name}"
            line = route.color_line or route.line
            found_color, statement = route.color or "none", f"{ROUTE} {prefix} color"
            findings.at(ADVERTISED, switch, message, line, color.name, found_color, statement=statement)
        if prefix not in direct:
            message = f"{prefix} is on no enabled interface: Junos silently does not advertise it"
            subjects, involves = (about.prefix(prefix),), (about.device(switch.named),)
            findings.at(ADVERTISED, switch, message, route.line, involves=involves, subjects=subjects)
        _check_backup(switch, route, color.backup or "none", findings)
    for prefix, route in found.items():
        message = f"{prefix} is advertised, but not in the address plan of {switch.named}"
        statement = f"{ROUTE} {prefix}"
        findings.at(ADVERTISED, switch, message, route.line, "", prefix, statement=statement, instead=True)
    for name, count in Counter(route.color for route in switch.routes if route.color is not None).items():
        if count > 1 and expected.prefixes:
            message = f"{count} prefixes have color {name}; each color takes one"
            involves, subjects = (about.device(switch.named),), (about.color(switch.named, name),)
            findings.at(ADVERTISED, switch, message, switch.bgp_line, 1, count, involves=involves, subjects=subjects)


def _check_backup(switch: Switch, route: FabricRoute, expected: str, findings: Findings) -> None:
    found = route.backup or "none"
    if found != expected:
        message = f"{route.prefix} has backup color {found}; the intent specifies {expected}"
        line, statement = route.backup_line or route.line, f"{ROUTE} {route.prefix} backup-color"
        findings.at(BACKED_UP, switch, message, line, expected, found, statement=statement)


def _check_links(context: Context, findings: Findings) -> None:
    """Compare the colors at both ends of every link with the cable's, and count them per leaf."""
    network, expected = context.network, context.expected
    tables = {name: session_groups(switch) for name, switch in network.switches.items()}
    value = {color.name: color.value for color in expected.colors}
    uplinks: dict[str, Counter[str]] = defaultdict(Counter)
    # By device and group; a group whose static neighbors differ is one here.
    colored: Counter[tuple[str, str | None]] = Counter()
    wrong: dict[tuple[str, int | None], list[WrongEnd]] = defaultdict(list)
    for cable in network.links:
        asked = value.get(cable.color)
        for end, other in ((cable.a, cable.b), (cable.b, cable.a)):
            switch = network.switches.get(end.device)
            if switch is None:
                continue
            findings.look(SAME_ENDS)
            index = tables[end.device].get(f"{end.port}.0")
            found = color_value(switch, switch.groups[index].color) if index is not None else None
            uplinks[end.device][found or "none"] += 1
            if found is None or (asked is not None and found != asked):
                wrong[end.device, index].append((end, other, found, asked))
            colored[end.device, switch.groups[index].name if index is not None else None] += 1
    every = Counter(end.device for cable in network.links for end in (cable.a, cable.b))
    for (name, index), ends in wrong.items():
        switch = network.switches[name]
        total = colored[name, switch.groups[index].name] if index is not None else every[name]
        _add_ends(expected, switch, index, ends, len(ends) == total, findings)
    each = len(context.fabric.spines) * context.fabric.links_per_spine // len(expected.colors)
    for switch, _ in context.leaves:
        for color in expected.colors:
            findings.look(EVEN)
            count = uplinks[switch.named][color.value]
            if count != each:
                message = f"{count} uplinks of color {color.name}; every color has {each}"
                subjects = (about.color(switch.named, color.name),)
                findings.at(EVEN, switch, message, switch.bgp_line, each, count, subjects=subjects)


def _add_ends(
    expected_fabric: ExpectedFabric,
    switch: Switch,
    index: int | None,
    ends: list[WrongEnd],
    all_of_them: bool,
    findings: Findings,
) -> None:
    """Add the ends of one group with a wrong color: at the group if `all_of_them` have, else at the interface.

    At the interface, too, where the group admits other neighbors than these: the interfaces belong to another group.
    """
    group = switch.groups[index] if index is not None else None
    listed = switch.as_lists.get(group.peer_as_list or "") if group is not None else None
    peers = [expected_fabric.switches.get(other.device) for _, other, _, _ in ends]
    if listed is not None and all(peer is not None and peer.asn not in listed for peer in peers):
        all_of_them = False
    lines = dict(group.interfaces) if group is not None else {}
    where = f"group {group.name}" if group is not None else "no group"
    for end, other, found, expected in ends:
        line = (group.color_line or group.line) if group is not None else switch.bgp_line
        if not all_of_them:
            line = lines.get(f"{end.port}.0") or line
        has = found or "uncolored"
        message = f"the link to {other} is {has} ({where}); it must be {expected}"
        involves = (about.community(end.device, group.color),) if group is not None and group.color else ()
        subjects = (about.end(end), about.end(other))
        same_cause = f"{end.device} {where} {found}" if all_of_them else ""
        statement = _to_blame(switch, group, f"{end.port}.0", (found, expected), all_of_them)
        findings.at(
            SAME_ENDS,
            switch,
            message,
            line,
            expected,
            has,
            involves=involves,
            same_cause=same_cause,
            part=end.port,
            statement=statement,
            subjects=subjects,
        )


def _to_blame(
    switch: Switch, group: Group | None, interface: str, colors: tuple[str | None, str | None], whole: bool
) -> str:
    """Return the statement that gives a link a wrong color, or none; `colors` are the one it has and the expected one.

    `whole`: all links of the group are wrong.
    """
    found, expected = colors
    if group is not None and group.color in switch.communities and found is None:
        return f"policy-options community {group.color} members"
    above = f"protocols bgp group {group.name}" if group is not None else ""
    static = group.neighbor(interface) if group is not None else None
    if static is not None:
        own = f"{above} neighbor {static.name} fabric-color"
        return f"{own}{OR}{above} fabric-color" if whole else own
    discovery = _discovery(switch, interface, expected)
    if group is not None and found is not None and not whole:
        return " ".join((*discovery.split()[:6], "peer-auto-discovery", "interface", interface))
    return f"{above} fabric-color" if group is not None else discovery


def _discovery(switch: Switch, interface: str, color: str | None) -> str:
    """Return the statement without which no group of a switch discovers neighbors on an interface.

    Where groups discover on other interfaces, it belongs to the one of the color.
    """
    groups = [group for group in switch.groups if group.discoveries and color_value(switch, group.color) == color]
    everywhere = all(discovery.interfaces for group in switch.groups for discovery in group.discoveries)
    if len(groups) != 1 or not everywhere or any(interface in dict(group.interfaces) for group in switch.groups):
        return neighbor_of(switch, interface)
    above = f"protocols bgp group {groups[0].name} dynamic-neighbor {groups[0].discoveries[0].name}"
    return f"{above} peer-auto-discovery interface {interface}"


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
    for prefix in routing.prefixes:
        state = routing.states[prefix]
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


def _check_colored(context: Context, findings: Findings) -> None:
    leaves = devices_of_leaves(context)
    for leaf in context.expected.leaves:
        for prefix, color in zip(leaf.prefixes, context.expected.colors, strict=True):
            if prefix in context.routing.states:
                _check_copies(context, leaf.name, prefix, color, leaves, findings)


def _check_copies(
    context: Context, owner: str, prefix: Prefix, color: ExpectedColor, leaves: set[int], findings: Findings
) -> None:
    graph, state = context.routing.graph, context.routing.states[prefix]
    # The origin puts AIGP on what has a backup to be preferred to.
    aigp = context.fabric.aigp and color.backup != ""
    heard = context.paths.advertised_colors(owner, color.value)
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


AGAIN = "Correct the intent and generate again."
DEFINED = Check(
    "AILB301",
    "every color of the intent is one community with the same value on every switch, and no two share a value",
    "a color's community is missing, has the wrong value, or shares its value with another",
    "A color with another value on one switch hides its routes there, or sends them to another spine.",
    "Define the community of the color by its number in the intent: color:0:1 for the first.",
    _check_defined,
    layer=Layer.DEFINITIONS,
)
SAME_ENDS = Check(
    "AILB302",
    "both ends of every link have the color of the cabling",
    "one end of a link has another color than in the cabling",
    "Junos hides routes whose color differs from the session's: the link carries nothing.",
    "Name the interface in the group of its color, which must exist; correct `fabric-color` of a static neighbor.",
    _check_links,
    layer=Layer.USES,
)
EVEN = Check(
    "AILB303",
    "every uplink has a color, and every color has the same number of uplinks on each leaf",
    "a leaf has too few or too many uplinks of a color",
    "A color with fewer uplinks is the bottleneck that all queue pairs wait for.",
    AGAIN,
    _check_links,
    layer=Layer.ROUTES,
)
ADVERTISED = Check(
    "AILB304",
    "every prefix of a leaf, and no other, is advertised exactly once, with its color, and is on the IRB",
    "a leaf's prefix is not advertised or has the wrong color, or an unexpected prefix is advertised",
    "Junos gives no commit error for a prefix that does not exist: it is silently not advertised.",
    "Correct `protocols bgp fabric-advertise route`.",
    _check_advertised,
    layer=Layer.ORIGINS,
)
BACKED_UP = Check(
    "AILB305",
    "every advertised prefix has the backup color that the intent specifies",
    "an advertised prefix has another backup color than the intent specifies",
    "Without a backup the prefix is unreachable when one link of its color fails.",
    "Correct `backup-color` of the route.",
    _check_advertised,
    layer=Layer.ROUTE_SETTINGS,
)
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
