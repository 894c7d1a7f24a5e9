"""Compare sessions, copies of routes and the kernels' next hops with the intent."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

from ailb_gen.addresses import Prefix
from ailb_gen.checks import subjects as about
from ailb_gen.checks.context import Context
from ailb_gen.checks.families.lab import COPIES, NEXT_HOPS, SESSIONS
from ailb_gen.checks.model import Check, Findings
from ailb_gen.errors import Place
from ailb_gen.lab.check.asked import Asked, AskedRoutes
from ailb_gen.lab.check.measured import HIDDEN, Hops, Measured, SeenPath, SeenSession
from ailb_gen.network.fabric import End
from ailb_gen.wording import some

COLOR = "color:"
NOTHING: frozenset[str] = frozenset()


def bgp_place(context: Context, device: str, port: str = "") -> Place | None:
    """Return where a switch configures BGP, or the group that discovers neighbors on a port; None without a file."""
    switch = context.network.switches.get(device)
    if switch is None:
        return None
    groups = (
        group.line
        for group in switch.groups
        for discovery in group.discoveries
        for interface, _ in discovery.interfaces
        if interface == f"{port}.0"
    )
    return Place(switch.file, next(groups, switch.bgp_line) or 1)


def told(messages: list[str]) -> str:
    """Write the first of some messages, and how many more there are of the kind."""
    return f"{messages[0]} (and {len(messages) - 1} more)" if len(messages) > 1 else messages[0]


def judge_sessions(context: Context, asked: AskedRoutes, seen: Measured, findings: Findings) -> None:
    """Every link in service has an established session, seen from both ends, with the AS numbers of the intent."""
    switches = context.expected.switches
    for device, ports in asked.links.items():
        for port, (peer, _) in ports.items():
            findings.look(SESSIONS)
            end = End(device, port)
            numbers = (switches[device].asn, switches[peer.device].asn)
            for message in _session(seen.sessions.get(end), peer, numbers) if device in seen.devices else ():
                place = bgp_place(context, device, port)
                involves = (peer.device, about.end(peer))
                findings.add(SESSIONS, device, message, place, involves=involves, part=port)
    for end, session in seen.sessions.items():
        if session.established and end.port not in asked.links.get(end.device, {}):
            message = "has an established session; the intent has no link in service there"
            findings.add(SESSIONS, end.device, message, bgp_place(context, end.device, end.port), part=end.port)


def _session(session: SeenSession | None, peer: End, numbers: tuple[int, int]) -> Iterator[str]:
    if session is None:
        yield f"has no session with {peer}: neighbor discovery or the configuration lacks it"
    elif not session.established:
        yield f"the session with {peer} is not established: {session.state or 'no reason is known'}"
    elif (session.own_asn, session.peer_asn) != numbers:
        found = f"AS {session.own_asn} and {session.peer_asn}"
        yield f"the session with {peer} is between {found}; the intent asks for AS {numbers[0]} and {numbers[1]}"


def judge_copies(context: Context, asked: AskedRoutes, seen: Measured, findings: Findings) -> None:
    """Compare the paths of every switch with the copies that it must have, prefix by prefix."""
    backed_up = {color.value: bool(color.backup) for color in context.expected.colors}
    aigp = context.fabric.aigp
    leaves = {leaf.name for leaf in context.expected.leaves}
    for device, rib in seen.ribs.items():
        if device not in context.expected.switches:
            continue
        wrong: dict[str, list[str]] = defaultdict(list)
        for prefix in seen.examined:
            owner, color = asked.owners.get(prefix, ("", ""))
            if owner in ("", device):
                continue
            findings.look(COPIES)
            copies = _Copies(context, asked, device, prefix, aigp and backed_up[color])
            paths = rib.get(prefix, ())
            found = copies.of_leaf(paths) if device in leaves else copies.of_spine(paths)
            for kind, message in found:
                wrong[kind].append(f"{prefix} of {owner} {message}")
        for kind, messages in wrong.items():
            peer = (kind.partition("@")[2],) if "@" in kind else ()
            findings.add(COPIES, device, told(messages), bgp_place(context, device), involves=peer)


class _Copies:
    """The expected copies of one prefix on a switch; messages of one kind are counted together."""

    def __init__(self, context: Context, asked: AskedRoutes, device: str, prefix: Prefix, aigp: bool) -> None:
        self.switches, self.asked, self.device, self.aigp = context.expected.switches, asked, device, aigp
        self.owner, self.color = asked.owners[prefix]
        self.links = asked.links.get(device, {})

    def of_leaf(self, paths: tuple[SeenPath, ...]) -> Iterator[tuple[str, str]]:
        """Expect a copy from every spine that passes it on in a color of which the leaf has a link."""
        received: dict[str, set[str]] = defaultdict(set)
        for path in paths:
            peer, session = self.links.get(path.port, (End("", ""), ""))
            asns = (self.switches[peer.device].asn, self.switches[self.owner].asn) if peer.device else ()
            received[peer.device].add(session)
            yield from self._wrong(path, peer, session, asns)
        offered: dict[str, set[str]] = defaultdict(set)
        for peer, color in self.links.values():
            offered[peer.device].add(color)
        for spine, heard in self.asked.ways.advertised_colors(self.owner, self.color).items():
            if heard <= offered[spine] and not received[spine] & heard:
                yield f"missing@{spine}", f"did not come from {spine} as {' or '.join(sorted(heard))}"

    def of_spine(self, paths: tuple[SeenPath, ...]) -> Iterator[tuple[str, str]]:
        """Expect a copy over every link to the owner in a color that the prefix may take, and none from elsewhere."""
        allowed = {self.color, *self.asked.ways.backups[self.color]}
        missing = {port for port, (peer, color) in self.links.items() if peer.device == self.owner and color in allowed}
        for path in paths:
            missing.discard(path.port)
            peer, session = self.links.get(path.port, (End("", ""), ""))
            if peer.device != self.owner:
                yield f"valley@{peer.device}", f"came from {peer.device or path.port}, which must not pass it on"
            else:
                yield from self._wrong(path, peer, session, (self.switches[self.owner].asn,))
        for port in sorted(missing):
            yield f"missing@{self.owner}", f"did not come from {self.links[port][0]} as {self.links[port][1]}"

    def _wrong(self, path: SeenPath, peer: End, session: str, asns: tuple[int, ...]) -> Iterator[tuple[str, str]]:
        """Yield what is wrong with a single copy."""
        colors = sorted(value for value in path.communities if value.startswith(COLOR))
        if path.status == HIDDEN:
            yield f"hidden@{peer.device}", f"came from {peer} with {some(colors) or 'no color'} and is hidden"
        elif colors != [session]:
            found = " and ".join(colors) or "no color"
            yield f"color@{peer.device}", f"came from {peer} with {found} over a session of {session or 'no color'}"
        elif path.as_path != asns:
            found = " ".join(map(str, path.as_path))
            yield f"path@{peer.device}", f"came from {peer} with the AS path {found}, not {' '.join(map(str, asns))}"
        elif (path.aigp is not None) != (session == self.color and self.aigp):
            state = "with" if path.aigp is not None else "without"
            yield f"aigp@{peer.device}", f"came from {peer} {state} AIGP as {session}"


def judge_next_hops(context: Context, asked: AskedRoutes, seen: Measured, findings: Findings) -> None:
    """Compare the kernels' next hops with the intent, in the steady state."""
    compare_next_hops(context, asked, seen.hops, NEXT_HOPS, "", findings)


def compare_next_hops(
    context: Context, asked: AskedRoutes, hops: Hops, check: Check, failure: str, findings: Findings
) -> None:
    """Add, by switch, where next hops are not what the intent asks; `failure` begins the message, empty for none."""
    leaves = {leaf.name for leaf in context.expected.leaves}
    for device, rows in hops.items():
        if device not in context.expected.switches:
            continue
        wrong: list[str] = []
        involves: dict[str, None] = {}
        of = asked.at_leaf if device in leaves else asked.at_spine
        for prefix, (owner, color) in asked.owners.items():
            if owner == device:
                continue
            found, want = rows.get(prefix, NOTHING), of(device, prefix)
            if not want.holds(found):
                wrong.append(f"{prefix} ({color} of {owner}) goes over {ports_text(found)}, not {asked_text(want)}")
                involves.update({owner: None} | {peer.device: None for peer in _peers(asked, device, found, want)})
        findings.look(check, len(asked.owners))
        if wrong:
            findings.add(check, device, f"{failure}{told(wrong)}", bgp_place(context, device), involves=involves)


def _peers(asked: AskedRoutes, device: str, found: frozenset[str], want: Asked) -> Iterator[End]:
    links = asked.links.get(device, {})
    return (links[port][0] for port in sorted(found ^ want.allowed) if port in links)


def asked_text(want: Asked) -> str:
    """Write what is asked for: all of the ports, or at least some of them."""
    if not want.allowed:
        return "nothing: no way is left"
    if all(len(one) == 1 for one in want.needed) and len(want.needed) == len(want.allowed):
        return ports_text(want.allowed)
    return f"one per spine of {ports_text(want.allowed)}"


def ports_text(ports: frozenset[str]) -> str:
    """Write some ports, the first few of many."""
    return some(sorted(ports)) if ports else "nothing"
