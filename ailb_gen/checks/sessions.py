"""The checks of BGP sessions (AILB2xx): both ends, AS numbers, what every group needs."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from typing import TYPE_CHECKING

from ailb_gen.checks.filter_checks import check_filters
from ailb_gen.checks.findings import Findings
from ailb_gen.checks.modelled import check_modelled
from ailb_gen.checks.session_checks import (
    AIGP,
    AS_LISTS,
    AS_NUMBERS,
    BFD,
    CHECKS,
    DISCOVERY,
    LLDP,
    MULTIPATH,
    REFERENCES,
    UP,
    WRITTEN,
)
from ailb_gen.checks.speakers import ALL_COLORS, LEAF
from ailb_gen.errors import Place
from ailb_gen.network.fabric import End
from ailb_gen.network.sessions import DISABLED, local_as

if TYPE_CHECKING:
    from collections.abc import Callable, Container, Iterable, Iterator

    from ailb_gen.checks.expected import ExpectedFabric
    from ailb_gen.checks.model import Result
    from ailb_gen.checks.speakers import WantedSpeaker
    from ailb_gen.network.fabric import Network
    from ailb_gen.network.model import AsList, Group, Switch
    from ailb_gen.network.sessions import Sessions

__all__ = ["CHECKS", "run"]
# Junos CLI reference, bfd-liveness-detection.
DEFAULT_MULTIPLIER = 3
AS_NUMBER = re.compile(r"\bAS [0-9]+\b")
# By device and group: the devices of every AS number there.
Neighbors = dict[tuple[str, int], dict[int, list[str]]]


def run(
    intended: ExpectedFabric, network: Network, sessions: Sessions, advance: Callable[[int], None] = lambda count: None
) -> Iterator[Result]:
    """Run all checks of sessions; `advance` is called with how many more switches were looked at."""
    collected = Findings(CHECKS)
    _check_up(intended, network, sessions, collected)
    _check_as_numbers(intended, network, collected)
    _check_as_lists(intended, network, collected)
    cabled = set(network.link_ends())
    ports: dict[str, list[str]] = defaultdict(list)
    for end in sorted({*cabled, *network.attachments.values()}):
        ports[end.device].append(end.port)
    for name, switch in network.switches.items():
        asked = intended.speakers.get(name)
        for group in switch.groups:
            if not group.discoveries:
                continue
            place = Place(switch.file, group.line or 1)
            scope = f"{name} {group.name}"
            if asked is not None:
                _check_bfd(asked, group, scope, switch.file, collected)
            _check_written(group, scope, place, collected)
            collected.look(MULTIPATH)
            if not (group.multipath and group.multiple_as):
                message = f"group {group.name} lacks multipath{' multiple-as' if group.multipath else ''}"
                collected.add(MULTIPATH, scope, message, place)
            collected.look(AIGP)
            # Without the family there is no session to carry it, which AILB201 says.
            if group.inet6 and group.aigp != intended.fabric.aigp:
                state = "on" if intended.fabric.aigp else "off"
                collected.add(AIGP, scope, f"the intent wants AIGP {state} in group {group.name}", place, state)
        _check_discovery(switch, cabled, collected)
        _check_references(switch, collected)
        check_modelled(switch, collected)
        _check_lldp(switch, ports[name], collected)
        advance(1)
    check_filters(intended, network, collected)
    yield from collected.results()


def _check_up(intended: ExpectedFabric, network: Network, sessions: Sessions, collected: Findings) -> None:
    collected.look(UP, len(sessions.up) + len(sessions.down))
    everywhere = _on_all_cables(sessions)
    out_of_service = intended.drained.ends
    for session in sessions.up:
        cable = session.cable
        if cable.a in out_of_service or cable.b in out_of_service:
            message = f"a session comes up {cable.a} - {cable.b}, which the intent takes out of service"
            collected.add(UP, f"{cable.a.device} {cable.a.port}", message)
    for cable, obstacles in sessions.down:
        drained = cable.a in out_of_service or cable.b in out_of_service
        for obstacle in obstacles:
            if drained and obstacle.message == DISABLED:
                continue
            switch = network.switches.get(obstacle.device)
            place = Place(switch.file, obstacle.line or 1) if switch is not None else None
            message = f"no session {cable.a} - {cable.b}: at {obstacle.device}, {obstacle.message}"
            involves = [f"{end.device} {end.port}" for end in (cable.a, cable.b)]
            if switch is None or AS_NUMBER.search(obstacle.message):
                # A file that is missing and a wrong AS number concern the whole switch, at either end.
                involves += [cable.a.device, cable.b.device]
            key = (obstacle.device, obstacle.message)
            alike = " ".join(key) if key in everywhere else ""
            collected.add(UP, f"{obstacle.device} {obstacle.interface}", message, place, involves=involves, alike=alike)


def _on_all_cables(sessions: Sessions) -> set[tuple[str, str]]:
    """Return the obstacles, by device and text, that all cables of the device meet."""
    cables = Counter(side.device for session in sessions.up for side in (session.a, session.b))
    cables.update(end.device for cable, _ in sessions.down for end in (cable.a, cable.b))
    met = Counter((one.device, one.message) for _, obstacles in sessions.down for one in obstacles)
    return {key for key, count in met.items() if count == cables[key[0]] > 1}


def _check_as_numbers(intended: ExpectedFabric, network: Network, collected: Findings) -> None:
    leaves: dict[int, str] = {}
    for name, switch in network.switches.items():
        asked = intended.speakers.get(name)
        if asked is None:
            continue
        collected.look(AS_NUMBERS)
        if switch.asn != asked.asn:
            message = f"the autonomous-system is {switch.asn or 'missing'}; the plan says {asked.asn}"
            place = Place(switch.file, switch.asn_line or 1)
            collected.add(AS_NUMBERS, name, message, place, asked.asn, switch.asn)
        for group in switch.groups:
            collected.look(AS_NUMBERS)
            if group.local_as is not None and group.local_as != asked.asn:
                message = f"local-as of group {group.name} is {group.local_as}; the plan says {asked.asn}"
                place = Place(switch.file, group.local_as_line or 1)
                collected.add(AS_NUMBERS, f"{name} {group.name}", message, place, asked.asn, group.local_as)
        if asked.role == "leaf" and switch.asn is not None and leaves.setdefault(switch.asn, name) != name:
            message = f"AS {switch.asn} is also that of {leaves[switch.asn]}: they drop each other's routes"
            collected.add(AS_NUMBERS, name, message, Place(switch.file, switch.asn_line or 1))


def _neighbors(network: Network) -> Neighbors:
    """Return the AS numbers of the switches that are cabled to the interfaces of every group."""
    groups: dict[End, int] = {}
    for name, switch in network.switches.items():
        for index, group in enumerate(switch.groups):
            for discovery in group.discoveries:
                for interface, _ in discovery.interfaces:
                    groups.setdefault(End(name, interface.rpartition(".")[0]), index)
    found: Neighbors = defaultdict(dict)
    for cable in network.links:
        for end, other in ((cable.a, cable.b), (cable.b, cable.a)):
            peer = network.switches.get(other.device)
            if end in groups and peer is not None:
                number = local_as(peer, peer.groups[groups[other]]) if other in groups else peer.asn
                if number is not None:
                    found[end.device, groups[end]].setdefault(number, []).append(other.device)
    return found


def _check_as_lists(intended: ExpectedFabric, network: Network, collected: Findings) -> None:
    neighbors = _neighbors(network)
    for name, switch in network.switches.items():
        for index, group in enumerate(switch.groups):
            wrong = [asn for asn in neighbors.get((name, index), {}) if group.peer_as not in (None, asn)]
            if wrong and group.discoveries:
                message = f"peer-as of group {group.name} is {group.peer_as}; its neighbor is in AS {wrong[0]}"
                place = Place(switch.file, group.peer_as_line or group.line or 1)
                collected.add(AS_LISTS, f"{name} {group.name}", message, place, wrong[0], group.peer_as)
            listed = switch.as_lists.get(group.peer_as_list or "")
            if listed is None or not group.discoveries:
                continue
            collected.look(AS_LISTS)
            for member, line in listed.bad:
                message = f"{member} in as-list {listed.name} is neither an AS number nor a range of them"
                collected.add(AS_LISTS, f"{name} {listed.name}", message, Place(switch.file, line or 1))
            known = neighbors.get((name, index), {})
            size = sum(high - low + 1 for low, high in listed.ranges)
            inside = sum(asn in listed for asn in known)
            place = Place(switch.file, listed.line or 1)
            missing = _absent(intended, name, group, listed, known)
            # The list is right when all that it lacks are neighbors of the plan: somebody else is to blame.
            missing = (name, *missing) if len(missing) == size - inside else ()
            if inside < size:
                message = (
                    f"as-list {listed.name} admits {size} AS numbers; group {group.name} has {inside} neighbors in it"
                )
                numbers = _ranges(set(known))
                collected.add(AS_LISTS, f"{name} {listed.name}", message, place, numbers, size, missing)
            for asn, devices in sorted(known.items()):
                if asn not in listed:
                    message = f"as-list {listed.name} of group {group.name} lacks its neighbor's AS {asn}"
                    others = [one for one in devices if one in intended.speakers and intended.speakers[one].asn != asn]
                    involves = others or missing[:1]
                    collected.add(AS_LISTS, f"{name} {listed.name}", message, place, asn, listed.name, involves)


def _absent(intended: ExpectedFabric, name: str, group: Group, listed: AsList, known: Iterable[int]) -> tuple[str, ...]:
    """Return the neighbors that the plan has for numbers of a group's list, and that are not there now."""
    own, there = intended.speakers.get(name), set(known)
    if own is None:
        return ()
    found: dict[int, str] = {}
    for number, spine in enumerate(intended.spines):
        colors = intended.link_colors(number)
        others = (spine,) if own.role == LEAF else intended.leaves if spine is own else ()
        for other in others if group.color is None or group.color in (*colors, ALL_COLORS) else ():
            if other.asn in listed and other.asn not in there:
                found.setdefault(other.asn, other.name)
    return tuple(found.values())


def _ranges(numbers: set[int]) -> str:
    ordered = sorted(numbers)
    if ordered and ordered[-1] - ordered[0] == len(ordered) - 1:
        return f"{ordered[0]}-{ordered[-1]}" if len(ordered) > 1 else str(ordered[0])
    return " ".join(map(str, ordered[:20]))


def _check_bfd(asked: WantedSpeaker, group: Group, scope: str, file: str, collected: Findings) -> None:
    collected.look(BFD)
    bfd = asked.settings.bfd
    expected = f"{bfd.interval_ms} ms x {bfd.multiplier}" if bfd.enabled else "none"
    found = f"{group.bfd.interval_ms} ms x {group.bfd.multiplier or DEFAULT_MULTIPLIER}" if group.bfd else "none"
    if found != expected:
        line = group.bfd.line if group.bfd is not None else group.line
        message = f"BFD of group {group.name} is {found}; the intent asks for {expected}"
        collected.add(BFD, scope, message, Place(file, line or 1), expected, found)


def _check_written(group: Group, scope: str, place: Place, collected: Findings) -> None:
    collected.look(WRITTEN)
    if group.local_as is None:
        collected.add(WRITTEN, scope, f"group {group.name} has no local-as of its own", place)
    if group.bfd is not None and group.bfd.multiplier is None:
        collected.add(WRITTEN, scope, f"BFD of group {group.name} has no multiplier of its own", place)


def _check_discovery(switch: Switch, cabled: set[End], collected: Findings) -> None:
    seen: dict[str, str] = {}
    for group in switch.groups:
        scope = f"{switch.named} {group.name}"
        for word, line in () if group.discoveries else group.forbidden:
            if word == "allow":
                message = f"group {group.name} has neighbors come up that are not planned (allow)"
                collected.add(DISCOVERY, scope, message, Place(switch.file, line or 1))
        if group.discoveries and not group.typed:
            message = f"group {group.name} does not say `type external`, which auto-discovery needs"
            collected.add(DISCOVERY, scope, message, Place(switch.file, group.line or 1), "external")
        for discovery in group.discoveries:
            for word, line in (*group.forbidden, *discovery.forbidden):
                message = f"{word} cannot stand together with auto-discovery in group {group.name}"
                collected.add(DISCOVERY, scope, message, Place(switch.file, line or 1))
            for interface, line in discovery.interfaces:
                collected.look(DISCOVERY)
                place = Place(switch.file, line or 1)
                if seen.setdefault(interface, group.name) != group.name:
                    message = f"{interface} is in group {seen[interface]}, too"
                    collected.add(DISCOVERY, f"{switch.named} {interface}", message, place)
                port, dot, unit = interface.rpartition(".")
                if not dot or unit != "0" or End(switch.named, port) not in cabled:
                    message = f"group {group.name} discovers neighbors on {interface}, where no switch is cabled"
                    collected.add(DISCOVERY, f"{switch.named} {interface}", message, place)


def _check_references(switch: Switch, collected: Findings) -> None:
    for name, line in switch.unknown_groups:
        message = f"apply-groups names group {name}, which is not defined"
        collected.add(REFERENCES, f"{switch.named} {name}", message, Place(switch.file, line or 1))
    known: dict[str, Container[str]] = {
        "policy": switch.policies,
        "community": switch.communities,
        "as-list": switch.as_lists,
        "prefix-list": switch.prefix_lists,
        "interface": frozenset(unit.name for port in switch.ports.values() for unit in port.units),
    }
    for kind, name, by, line in (*_named_by_bgp(switch), *_named_by_policies(switch), *_named_interfaces(switch)):
        collected.look(REFERENCES)
        if name not in known[kind]:
            message = f"{by} names {kind} {name}, which is not defined"
            collected.add(REFERENCES, f"{switch.named} {name}", message, Place(switch.file, line or 1))


# (kind, name, what names it, line)
Named = tuple[str, str, str, int]


def _named_by_bgp(switch: Switch) -> Iterator[Named]:
    for group in switch.groups:
        by = f"group {group.name}"
        yield from (("policy", policy, by, group.line) for policy in (*group.imports, *group.exports))
        if group.color is not None:
            yield "community", group.color, by, group.color_line
        if group.peer_as_list is not None:
            yield "as-list", group.peer_as_list, by, group.peer_as_line
    for route in switch.routes:
        for color, line in ((route.color, route.color_line), (route.backup, route.backup_line)):
            if color is not None and color != ALL_COLORS:
                yield "community", color, f"fabric-advertise route {route.prefix}", line


def _named_by_policies(switch: Switch) -> Iterator[Named]:
    for policy in switch.policies.values():
        for term in policy.terms:
            by = f"policy {policy.name}" + (f" term {term.name}" if term.name else "")
            for name in (*term.communities, *(name for _, name in term.changes)):
                yield "community", name, by, term.line
            for name in (*term.prefix_lists, *(name for name, _ in term.prefix_list_filters)):
                yield "prefix-list", name, by, term.line


def _named_interfaces(switch: Switch) -> Iterator[Named]:
    for vlan in switch.vlans:
        if vlan.irb is not None:
            yield "interface", vlan.irb, f"VLAN {vlan.name}", vlan.line
    for announced in switch.advertisements.values():
        yield "interface", announced.interface, "router-advertisement", announced.line


def _check_lldp(switch: Switch, ports: Iterable[str], collected: Findings) -> None:
    collected.look(LLDP)
    without = [port for port in ports if not _runs_lldp(switch, port)]
    if without:
        shown = f"{without[0]} and {len(without) - 1} more" if len(without) > 1 else without[0]
        collected.add(LLDP, switch.named, f"no LLDP on {shown}", Place(switch.file))


def _runs_lldp(switch: Switch, port: str) -> bool:
    names = {port, f"{port}.0"}
    if names & switch.lldp_off:
        return False
    return not {"all", *names}.isdisjoint(switch.lldp)
