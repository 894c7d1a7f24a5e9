"""Check BGP groups that discover neighbors, and LLDP (AILB204 to AILB207, AILB210, AILB211, AILB213)."""

from __future__ import annotations

from collections.abc import Iterator, Set

from ailb_gen.checks import subjects as about
from ailb_gen.checks.context import Context
from ailb_gen.checks.layers import Layer
from ailb_gen.checks.locate import OR
from ailb_gen.checks.model import Check, Findings, Severity
from ailb_gen.network.fabric import End
from ailb_gen.network.model import Group, Neighbor, Switch
from ailb_gen.network.sessions import distinct

# Junos CLI reference, bfd-liveness-detection.
DEFAULT_MULTIPLIER = 3
TOP = "protocols bgp"
ABOVE = f"{TOP} group"


def _groups(context: Context) -> Iterator[tuple[Switch, Group]]:
    """Iterate over the groups that have neighbors, by their settings other than colors."""
    for switch in context.network.switches.values():
        yield from ((switch, group) for group in distinct(switch.groups) if group.has_sessions)


def _check_bfd(context: Context, findings: Findings) -> None:
    for switch, group in _groups(context):
        asked = context.expected.switches.get(switch.named)
        if asked is None:
            continue
        findings.look(BFD)
        bfd, own = asked.settings.bfd, group.bfd
        expected = f"{bfd.interval_ms} ms x {bfd.multiplier}" if bfd.enabled else "none"
        found = f"{own.interval_ms} ms x {own.multiplier or DEFAULT_MULTIPLIER}" if own is not None else "none"
        if found != expected:
            message = f"BFD of group {group.name} is {found}; the intent specifies {expected}"
            line = own.line if own is not None else group.line
            bfd_below = "bfd-liveness-detection"
            if own is not None and bfd.enabled:
                bfd_below += " multiplier" if own.interval_ms == bfd.interval_ms else " minimum-interval"
            statement = f"protocols bgp {bfd_below}{OR}{ABOVE} {group.name} {bfd_below}"
            findings.at(BFD, switch, message, line, expected, found, part=group.name, statement=statement)


def _check_multipath(context: Context, findings: Findings) -> None:
    for switch, group in _groups(context):
        findings.look(MULTIPATH)
        if not (group.multipath and group.multiple_as):
            message = f"group {group.name} lacks multipath{' multiple-as' if group.multipath else ''}"
            statement = OR.join(f"{above} multipath disable" for above in (TOP, f"{ABOVE} {group.name}"))
            statement += f"{OR}{ABOVE} {group.name} multipath multiple-as"
            findings.at(MULTIPATH, switch, message, group.line, part=group.name, statement=statement)


def _check_aigp(context: Context, findings: Findings) -> None:
    state = "on" if context.fabric.aigp else "off"
    for switch, group in _groups(context):
        findings.look(AIGP)
        # Without the family there is no session to carry it, which AILB201 says.
        if group.inet6 and group.aigp != context.fabric.aigp:
            message = f"the intent has AIGP {state} in group {group.name}"
            aigp = "family inet6 unicast aigp"
            choices = (f"protocols bgp {aigp}", f"{ABOVE} {group.name} {aigp}")
            statement = OR.join((*(f"{choice} disable" for choice in choices), *choices))
            findings.at(AIGP, switch, message, group.line, state, part=group.name, statement=statement)


def _check_shutdown(context: Context, findings: Findings) -> None:
    for switch, group in _groups(context):
        findings.look(SHUTDOWN)
        lowest = group.shutdown_preference
        if switch.named not in context.expected.drained.in_shutdown:
            if group.shutdown_sender:
                _add_shutdown(switch, group, "is a sender of a graceful shutdown", "sender", findings)
        elif not group.shutdown_sender:
            message = f"group {group.name} is no sender of a graceful shutdown"
            statement = f"{TOP} graceful-shutdown sender"
            findings.at(SHUTDOWN, switch, message, group.line, part=group.name, statement=statement)
        if lowest is None:
            _add_shutdown(switch, group, "ignores graceful shutdowns", "receiver disable", findings)
        elif lowest != 0:
            what = f"gives routes of a graceful shutdown local preference {lowest}, not 0"
            _add_shutdown(switch, group, what, "receiver local-preference", findings)


def _add_shutdown(switch: Switch, group: Group, what: str, below: str, findings: Findings) -> None:
    """Find a statement of `graceful-shutdown`; of neighbors that are configured alike all have it, or their group."""
    own = [f"{ABOVE} {group.name} neighbor {neighbor.name}" for neighbor in group.neighbors[:1]]
    statement = OR.join(f"{above} graceful-shutdown {below}" for above in (*own, f"{ABOVE} {group.name}", TOP))
    findings.at(SHUTDOWN, switch, f"group {group.name} {what}", group.line, part=group.name, statement=statement)


def _check_discovery(context: Context, findings: Findings) -> None:
    # The address of a peer is the other one of the /127.
    peers = {(device, value ^ 1) for (device, _), value in context.cabling.addresses.items()}
    colors = {end: cable.color for cable in context.network.links for end in (cable.a, cable.b)}
    for switch in context.network.switches.values():
        of_color = {
            interface: number
            for number, group in reversed(tuple(enumerate(switch.groups)))
            for interface, _ in group.interfaces
            if group.color == colors.get(End(switch.named, interface.rpartition(".")[0]))
        }
        for group in distinct(switch.groups):
            _check_settings(switch, group, findings)
        seen: dict[str, int] = {}
        for number, group in enumerate(switch.groups):
            for interface, line in group.interfaces:
                findings.look(DISCOVERY)
                # Of two groups the one of the cable's color is right.
                other = seen.setdefault(interface, of_color.get(interface, number))
                if other != number:
                    message = f"{interface} is in group {switch.groups[other].name}, too"
                    findings.at(DISCOVERY, switch, message, line, part=interface)
                port, _, unit = interface.rpartition(".")
                if unit != "0" or port not in context.link_ports.get(switch.named, ()):
                    _add_uncabled(switch, group, interface, line, findings)
            if context.fabric.bgp.neighbors == "static":
                _check_static(switch, group, peers, findings)
            else:
                _check_discovered(switch, group, findings)


def _check_settings(switch: Switch, group: Group, findings: Findings) -> None:
    """Find settings of a group that its neighbors cannot have."""
    subjects = (about.group(switch.named, group.name),)
    for word, line in () if group.discoveries else group.forbidden:
        if word == "allow":
            message = f"group {group.name} accepts unplanned neighbors (allow)"
            findings.at(DISCOVERY, switch, message, line, part=group.name, subjects=subjects)
    if group.has_sessions and not group.typed:
        needs = "auto-discovery" if group.discoveries else "a session with a color"
        message = f"group {group.name} lacks `type external`, which {needs} needs"
        statement = f"{ABOVE} {group.name} type"
        findings.at(DISCOVERY, switch, message, group.line, "external", part=group.name, statement=statement)
    for discovery in group.discoveries:
        for word, line in (*group.forbidden, *discovery.forbidden):
            message = f"{word} cannot be combined with auto-discovery in group {group.name}"
            findings.at(DISCOVERY, switch, message, line, part=group.name, subjects=subjects)


def _add_uncabled(switch: Switch, group: Group, interface: str, line: int, findings: Findings) -> None:
    message = f"group {group.name} discovers neighbors on {interface}, where no switch is cabled"
    own = (one for one in group.discoveries if interface in dict(one.interfaces))
    below = [f"dynamic-neighbor {one.name} peer-auto-discovery interface {interface}" for one in own]
    neighbor = group.neighbor(interface)
    if neighbor is not None:
        message = f"group {group.name} has neighbor {neighbor.name} on {interface}, where no switch is cabled"
        below = [f"neighbor {neighbor.name}"]
    of_port = (about.port(switch.named, interface),)
    for statement in (f"{ABOVE} {group.name} {words}" for words in below):
        findings.at(
            DISCOVERY,
            switch,
            message,
            line,
            part=interface,
            statement=statement,
            instead=True,
            subjects=of_port,
        )


def _check_static(switch: Switch, group: Group, peers: Set[tuple[str, int]], findings: Findings) -> None:
    """Find neighbors that are discovered where the intent has static ones, and static ones on no interface.

    Where the address is that of a peer, the interface lacks its own (AILB102) or IPv6 (AILB108).
    """
    for discovery in group.discoveries:
        message = f"group {group.name} discovers neighbors; the intent has static ones"
        statement = f"{ABOVE} {group.name} dynamic-neighbor {discovery.name}"
        findings.at(DISCOVERY, switch, message, discovery.line, part=group.name, statement=statement, instead=True)
    for neighbor in group.neighbors:
        findings.look(DISCOVERY)
        if not neighbor.interface and (switch.named, neighbor.address) not in peers:
            _add_misplaced(switch, group, neighbor, "is on no interface of the switch", findings)


def _check_discovered(switch: Switch, group: Group, findings: Findings) -> None:
    """Find static neighbors where the intent discovers neighbors."""
    for neighbor in group.neighbors:
        findings.look(DISCOVERY)
        _add_misplaced(switch, group, neighbor, "is static; the intent discovers neighbors", findings)


def _add_misplaced(switch: Switch, group: Group, neighbor: Neighbor, why: str, findings: Findings) -> None:
    message = f"neighbor {neighbor.name} of group {group.name} {why}"
    statement = f"{ABOVE} {group.name} neighbor {neighbor.name}"
    part = neighbor.interface or neighbor.name
    findings.at(DISCOVERY, switch, message, neighbor.line, part=part, statement=statement, instead=True)


def _check_lldp(context: Context, findings: Findings) -> None:
    for name, switch in context.network.switches.items():
        findings.look(LLDP)
        without = [port for port in sorted(context.cabled_ports(name)) if not switch.runs_lldp(port)]
        if without:
            shown = f"{without[0]} and {len(without) - 1} more" if len(without) > 1 else without[0]
            choices = ("all disable", f"{without[0]} disable", f"{without[0]}.0 disable", "all")
            statement = OR.join(("protocols lldp disable", *(f"protocols lldp interface {one}" for one in choices)))
            findings.at(LLDP, switch, f"no LLDP on {shown}", statement=statement)


def _check_written(context: Context, findings: Findings) -> None:
    for switch, group in _groups(context):
        findings.look(WRITTEN)
        if group.local_as is None:
            message, statement = f"group {group.name} has no local-as of its own", f"{ABOVE} {group.name} local-as"
            findings.at(WRITTEN, switch, message, group.line, part=group.name, statement=statement)
        if group.bfd is not None and group.bfd.multiplier is None:
            message = f"BFD of group {group.name} has no multiplier of its own"
            statement = f"{ABOVE} {group.name} bfd-liveness-detection multiplier"
            findings.at(WRITTEN, switch, message, group.line, part=group.name, statement=statement)


BFD = Check(
    "AILB204",
    "every group runs BFD with the interval and multiplier that the intent specifies, or none if it specifies none",
    "BFD of a group differs from the intent",
    "Without BFD a link that fails silently is noticed after the hold time: seconds of lost packets.",
    "Generate the file again, or correct the statement; if the file is right, change the intent's `bfd:`.",
    _check_bfd,
)
MULTIPATH = Check(
    "AILB205",
    "every group has multipath multiple-as",
    "a group lacks multipath multiple-as",
    "Backups of a prefix come from spines in different AS numbers: without it all its traffic takes one of them.",
    "Add `multipath multiple-as` to the group.",
    _check_multipath,
    layer=Layer.ROUTE_SETTINGS,
)
AIGP = Check(
    "AILB206",
    "AIGP is on at both ends of every session, or off everywhere if the intent says so",
    "AIGP of a group differs from the intent",
    "Junos neither sends nor accepts AIGP by default: nothing would prefer a prefix's own color over its backups.",
    "Add `family inet6 unicast aigp` to the group.",
    _check_aigp,
    layer=Layer.ROUTE_SETTINGS,
)
SHUTDOWN = Check(
    "AILB213",
    "exactly the spines in `graceful_shutdown` are its senders; every group gives marked routes local preference 0",
    "graceful shutdown of a group differs from the intent",
    "A spine that is no sender keeps its traffic until its ports are down; a receiver that is disabled sends it more.",
    "Generate the file again, or correct `graceful-shutdown` of BGP; if the file is right, change the intent.",
    _check_shutdown,
    layer=Layer.ROUTE_SETTINGS,
)
DISCOVERY = Check(
    "AILB207",
    "neighbors are discovered or static as the intent says, in external groups, each once, on cabled ports only",
    "auto-discovery or a static neighbor is where it must not be, or beside authentication, allow or multihop",
    "The commit fails, or an unplanned neighbor comes up as part of the fabric.",
    "Add the type, or delete the other statement, the neighbor, or the interface from the group.",
    _check_discovery,
    layer=Layer.DEFINITIONS,
)
LLDP = Check(
    "AILB210",
    "LLDP runs on every cabled port",
    "a cabled port does not run LLDP",
    "Without LLDP the cabling cannot be compared with the plan remotely.",
    "Add `protocols lldp interface all`, and delete `disable` from `protocols lldp`.",
    _check_lldp,
)
WRITTEN = Check(
    "AILB211",
    "local-as and the BFD multiplier of every group are set explicitly, not left to the default of the release",
    "a value is left to the default of the release",
    "A default may change with the release, and then differs from the intent.",
    "Generate the file again.",
    _check_written,
    Severity.NOTE,
)
