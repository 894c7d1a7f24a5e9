"""Check colors: communities, ends of links, what leaves advertise (AILB301 to AILB305)."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping

from ailb_gen.checks import subjects as about
from ailb_gen.checks.context import Context
from ailb_gen.checks.expected import ExpectedFabric
from ailb_gen.checks.expected_switches import ExpectedSwitch
from ailb_gen.checks.layers import Layer
from ailb_gen.checks.locate import OR
from ailb_gen.checks.model import Check, Findings
from ailb_gen.network.fabric import End
from ailb_gen.network.model import FabricRoute, Group, Switch
from ailb_gen.network.policy import Community
from ailb_gen.network.sessions import neighbor_of, session_groups
from ailb_gen.routing.policy import members
from ailb_gen.routing.speaker import color_value, direct_prefixes

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
