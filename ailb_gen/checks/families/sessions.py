"""Check BGP sessions: what comes up over every cable, AS numbers and as-lists (AILB201 to AILB203)."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping

from ailb_gen.checks import subjects as about
from ailb_gen.checks.context import Context
from ailb_gen.checks.expected import ExpectedFabric
from ailb_gen.checks.expected_switches import ALL_COLORS, LEAF
from ailb_gen.checks.layers import Layer
from ailb_gen.checks.locate import OR
from ailb_gen.checks.model import Check, Findings
from ailb_gen.checks.subjects import Subject
from ailb_gen.errors import Place
from ailb_gen.network.fabric import Cable, End, Network
from ailb_gen.network.model import AsList, Group, Switch
from ailb_gen.network.sessions import DISABLED, Obstacle, Sessions, distinct, local_as, session_groups

AS_LIST = "policy-options as-list"
# Statements about AS numbers concern the whole switch.
AS_STATEMENTS = ("autonomous-system", "as-list")
# By device and group: the devices of every AS number there.
Neighbors = dict[tuple[str, int], dict[int, list[str]]]


def _check_up(context: Context, findings: Findings) -> None:
    sessions = context.routing.graph.sessions
    findings.look(UP, len(sessions.up) + len(sessions.down))
    everywhere = _on_all_cables(sessions)
    out_of_service = context.expected.drained.ends
    for session in sessions.up:
        cable = session.cable
        if cable.a in out_of_service or cable.b in out_of_service:
            message = f"a session comes up {cable.a} - {cable.b}, which the intent takes out of service"
            ends = (about.end(cable.a), about.end(cable.b))
            findings.add(UP, cable.a.device, message, part=cable.a.port, subjects=ends)
    for cable, obstacles in sessions.down:
        drained = cable.a in out_of_service or cable.b in out_of_service
        for obstacle in obstacles:
            device, reason = obstacle.device, obstacle.message
            if drained and reason == DISABLED:
                continue
            switch = context.network.switches.get(device)
            place = Place(switch.file, obstacle.line or 1) if switch is not None else None
            message = f"no session {cable.a} - {cable.b}: at {device}, {reason}"
            named = about.of_statement(device, obstacle.statement) if obstacle.statement else _lists(switch, obstacle)
            subjects = (about.end(cable.a), about.end(cable.b), *named)
            involves = []
            if switch is None or any(word in obstacle.statement for word in AS_STATEMENTS):
                # A file that is missing and a wrong AS number concern the whole switch, at either end.
                involves = [about.device(end.device) for end in (cable.a, cable.b)]
            same_cause = f"{device} {reason}" if (device, reason) in everywhere else ""
            findings.add(
                UP,
                device,
                message,
                place,
                involves=involves,
                same_cause=same_cause,
                part=obstacle.interface,
                statement=obstacle.statement,
                subjects=subjects,
            )


def _lists(switch: Switch | None, obstacle: Obstacle) -> Iterator[Subject]:
    """Yield the list of AS numbers of the group that discovers neighbors where a session does not come up."""
    for group in switch.groups if switch is not None else ():
        here = any(name == obstacle.interface for discovery in group.discoveries for name, _ in discovery.interfaces)
        if here and group.peer_as_list is not None:
            yield about.as_list(obstacle.device, group.peer_as_list)


def _on_all_cables(sessions: Sessions) -> set[tuple[str, str]]:
    """Return the obstacles, by device and text, that all cables of the device meet."""
    cables = Counter(side.device for session in sessions.up for side in (session.a, session.b))
    cables.update(end.device for cable, _ in sessions.down for end in (cable.a, cable.b))
    met = Counter((one.device, one.message) for _, obstacles in sessions.down for one in obstacles)
    return {key for key, count in met.items() if count == cables[key[0]] > 1}


def _check_as_numbers(context: Context, findings: Findings) -> None:
    leaves: dict[int, str] = {}
    for switch, expected in context.switches:
        name, asn, line = switch.named, switch.asn, switch.asn_line
        groups = distinct(switch.groups)
        findings.look(AS_NUMBERS, 1 + len(groups))
        if asn != expected.asn:
            message = f"the autonomous-system is {asn or 'missing'}; the plan says {expected.asn}"
            statement = "routing-options autonomous-system"
            findings.at(AS_NUMBERS, switch, message, line, expected.asn, asn, statement=statement)
        for group in groups:
            own = group.local_as
            if own is not None and own != expected.asn:
                message = f"local-as of group {group.name} is {own}; the plan says {expected.asn}"
                at = group.local_as_line
                statement = f"protocols bgp local-as{OR}protocols bgp group {group.name} local-as"
                findings.at(AS_NUMBERS, switch, message, at, expected.asn, own, part=group.name, statement=statement)
        if expected.role == LEAF and asn is not None and leaves.setdefault(asn, name) != name:
            message = f"AS {asn} is also that of {leaves[asn]}: they drop each other's routes"
            findings.at(AS_NUMBERS, switch, message, line)


def _neighbors(network: Network) -> Neighbors:
    """Return the AS numbers of the switches that are cabled to the interfaces of every group."""
    groups: dict[End, int] = {}
    for name, switch in network.switches.items():
        for index, group in enumerate(switch.groups):
            for interface, _ in group.interfaces:
                groups.setdefault(End(name, interface.rpartition(".")[0]), index)
    found: Neighbors = defaultdict(dict)
    for cable in network.links:
        for end, other in _directions(cable):
            peer = network.switches.get(other.device)
            if end in groups and peer is not None:
                number = local_as(peer, peer.groups[groups[other]]) if other in groups else peer.asn
                if number is not None:
                    found[end.device, groups[end]].setdefault(number, []).append(other.device)
    return found


def _directions(cable: Cable) -> tuple[tuple[End, End], tuple[End, End]]:
    """Return every end of a cable with the other one."""
    return (cable.a, cable.b), (cable.b, cable.a)


def _check_as_lists(context: Context, findings: Findings) -> None:
    neighbors = _neighbors(context.network)
    peers = {end: other for cable in context.network.links for end, other in _directions(cable)}
    groups_at = {name: session_groups(switch) for name, switch in context.network.switches.items()}
    for name, switch in context.network.switches.items():
        for index, group in enumerate(switch.groups):
            _check_peer_as(context.network, peers, groups_at, switch, group, findings)
            if not group.discoveries:
                continue
            known = neighbors.get((name, index), {})
            wrong = [asn for asn in known if group.peer_as not in (None, asn)]
            if wrong:
                message = f"peer-as of group {group.name} is {group.peer_as}; its neighbor is in AS {wrong[0]}"
                line = group.peer_as_line or group.line
                statement = f"protocols bgp peer-as{OR}protocols bgp group {group.name} peer-as"
                found = group.peer_as
                findings.at(AS_LISTS, switch, message, line, wrong[0], found, part=group.name, statement=statement)
            listed = switch.as_lists.get(group.peer_as_list or "")
            if listed is not None:
                findings.look(AS_LISTS)
                # Most lists are those of their neighbors.
                if listed.bad or _size(listed) != len(known) or not all(asn in listed for asn in known):
                    others = [neighbors.get((name, one), {}) for one in range(len(switch.groups)) if one != index]
                    statement = _to_blame(switch, group, listed, known, others)
                    _add_as_list(context.expected, switch, group, listed, known, statement, findings)


def _check_peer_as(
    network: Network,
    peers: Mapping[End, End],
    groups_at: Mapping[str, Mapping[str, int]],
    switch: Switch,
    group: Group,
    findings: Findings,
) -> None:
    """Compare the AS numbers of the static neighbors of a group with those of the switches that are cabled there.

    `peers` are the other ends of cables, `groups_at` the group of every interface, by switch.
    """
    for neighbor in group.neighbors:
        end = peers.get(End(switch.named, neighbor.interface.removesuffix(".0")))
        peer = network.switches.get(end.device) if end is not None else None
        if end is None or peer is None:
            continue
        findings.look(AS_LISTS)
        index = groups_at[end.device].get(f"{end.port}.0")
        asn = local_as(peer, peer.groups[index]) if index is not None else peer.asn
        if asn is not None and asn != neighbor.peer_as:
            found = "no peer-as" if neighbor.peer_as is None else f"peer-as {neighbor.peer_as}"
            message = f"neighbor {neighbor.name} has {found}; {end.device} is in AS {asn}"
            line = neighbor.peer_as_line or neighbor.line
            statement = f"protocols bgp group {group.name} neighbor {neighbor.name} peer-as"
            involves = (about.device(end.device),)
            findings.at(
                AS_LISTS,
                switch,
                message,
                line,
                asn,
                neighbor.peer_as,
                involves=involves,
                part=neighbor.interface,
                statement=statement,
            )


def _to_blame(
    switch: Switch, group: Group, listed: AsList, known: Collection[int], others: Iterable[Collection[int]]
) -> str:
    """Return the members of a group's list, or the reference to it.

    It is the reference where the list is that of the neighbors of one of the other groups, and another list is that of
    its own neighbors. A list named like the group's discovery is the group's: then its members are wrong.
    """
    lists = switch.as_lists.values()
    right = any(known and _size(one) == len(known) and all(asn in one for asn in known) for one in lists)
    foreign = any(found and _size(listed) == len(found) and all(asn in listed for asn in found) for found in others)
    named = any(discovery.name == listed.name for discovery in group.discoveries)
    if right and foreign and not named and not any(asn in listed for asn in known):
        return f"protocols bgp peer-as-list{OR}protocols bgp group {group.name} peer-as-list"
    return f"{AS_LIST} {listed.name} members"


def _size(listed: AsList) -> int:
    return sum(high - low + 1 for low, high in listed.ranges)


def _add_as_list(
    expected: ExpectedFabric,
    switch: Switch,
    group: Group,
    listed: AsList,
    known: dict[int, list[str]],
    statement: str,
    findings: Findings,
) -> None:
    """Add how the list of a group differs from `known`, its neighbors by AS number; `statement` is to blame."""
    name, line = listed.name, listed.line
    for member, at in listed.bad:
        message = f"{member} in as-list {name} is neither an AS number nor a range of them"
        of_member = f"{AS_LIST} {name} members {member}"
        findings.at(AS_LISTS, switch, message, at, part=name, statement=of_member)
    size = _size(listed)
    inside = sum(asn in listed for asn in known)
    absent = _absent(expected, switch.named, group, listed, known)
    # The list is right when all that it lacks are neighbors of the plan: these are the cause.
    missing = (switch.named, *absent) if len(absent) == size - inside else ()
    if inside < size:
        message = f"as-list {name} admits {size} AS numbers; group {group.name} has {inside} neighbors in it"
        involves, ranges = map(about.device, missing), _ranges(set(known))
        findings.at(AS_LISTS, switch, message, line, ranges, size, involves=involves, part=name, statement=statement)
    for asn, devices in sorted(known.items()):
        if asn not in listed:
            message = f"as-list {name} of group {group.name} lacks its neighbor's AS {asn}"
            switches = expected.switches
            wrong = [one for one in devices if one in switches and switches[one].asn != asn] or missing[:1]
            involves = map(about.device, wrong)
            findings.at(AS_LISTS, switch, message, line, asn, name, involves=involves, part=name, statement=statement)


def _absent(expected: ExpectedFabric, name: str, group: Group, listed: AsList, known: Iterable[int]) -> tuple[str, ...]:
    """Return the neighbors that the plan has for numbers of a group's list, and that are not there now."""
    own, there = expected.switches.get(name), set(known)
    if own is None:
        return ()
    found: dict[int, str] = {}
    for number, spine in enumerate(expected.spines):
        colors = expected.link_colors(number)
        others = (spine,) if own.role == LEAF else expected.leaves if spine is own else ()
        for other in others if group.color is None or group.color in (*colors, ALL_COLORS) else ():
            if other.asn in listed and other.asn not in there:
                found.setdefault(other.asn, other.name)
    return tuple(found.values())


def _ranges(numbers: set[int]) -> str:
    ordered = sorted(numbers)
    if ordered and ordered[-1] - ordered[0] == len(ordered) - 1:
        return f"{ordered[0]}-{ordered[-1]}" if len(ordered) > 1 else str(ordered[0])
    return " ".join(map(str, ordered[:20]))


UP = Check(
    "AILB201",
    "over every cable between switches that is in service a BGP session comes up",
    "a cable between switches has no BGP session, or has one though it is out of service",
    "A cable without a session carries nothing; its color is moved to the other links of the leaf.",
    "The message says what is missing at which end: RA, family inet6, the neighbor, or the AS number.",
    _check_up,
    layer=Layer.SESSIONS,
)
AS_NUMBERS = Check(
    "AILB202",
    "every switch has the AS number of the plan, the same in all groups; no two leaves share one",
    "an AS number differs from the plan, or two leaves share one",
    "Leaves in one AS drop each other's routes in the loop check; a wrong number is refused by the peers.",
    "Correct the intent and generate again.",
    _check_as_numbers,
    layer=Layer.DEFINITIONS,
)
AS_LISTS = Check(
    "AILB203",
    "the as-list of every group admits exactly its neighbors, and static ones have the AS number of their peer",
    "an as-list lacks a neighbor, or admits others, or a static neighbor has another AS number",
    "A list that is too wide lets a cable in the wrong port come up as a session of the wrong color.",
    "List the AS numbers of the group's own neighbors; correct `peer-as` of a static one.",
    _check_as_lists,
    layer=Layer.REFERENCES,
)
