"""Compare sessions, copies of routes and the kernels' next hops with the intent."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

from ailb_gen.addresses import Prefix
from ailb_gen.checks import subjects as about
from ailb_gen.checks.compare import deviations, summary
from ailb_gen.checks.context import Context
from ailb_gen.checks.expected_routes import ExpectedNextHops, ExpectedRoutes
from ailb_gen.checks.families.lab import COPIES, SESSIONS
from ailb_gen.checks.model import Check, Findings
from ailb_gen.lab.bird.model import SessionState
from ailb_gen.lab.check.expected import bgp_place
from ailb_gen.lab.check.observed import HIDDEN, Hops, Observed
from ailb_gen.lab.plan import port_of
from ailb_gen.network.fabric import End
from ailb_gen.routing.rib import Path
from ailb_gen.wording import some

COLOR = "color:"


def check_sessions(context: Context, routes: ExpectedRoutes, observed: Observed, findings: Findings) -> None:
    """Expect an established session at both ends of every link in service, with the AS numbers of the intent."""
    switches = context.expected.switches
    expected = {
        end: (switches[end.device].asn, switches[peer.device].asn)
        for end, peer in routes.ends()
        if end.device in observed.devices
    }
    findings.look(SESSIONS, sum(map(len, routes.links.values())))
    up = {end: (one.local_as, one.neighbor_as) for end, one in observed.sessions.items() if one.established}
    for deviation in deviations(expected, up):
        end, peer = deviation.subject, routes.peer(deviation.subject)
        if peer is None:
            message = "has an established session; the intent has no link in service there"
        elif end.device not in observed.devices:
            continue
        elif deviation.observed is None:
            message = _down(observed.sessions.get(end), peer)
        else:
            have, want = (f"AS {one[0]} and {one[1]}" for one in (deviation.observed, expected[end]))
            message = f"the session with {peer} is between {have}, expected {want}"
        involves = (peer.device, about.end(peer)) if peer is not None else ()
        place = bgp_place(context, end.device, end.port)
        findings.add(SESSIONS, end.device, message, place, involves=involves, part=end.port)


def _down(session: SessionState | None, peer: End) -> str:
    if session is None:
        return f"has no session with {peer}: missing in neighbor discovery or the configuration"
    return f"the session with {peer} is not established: {session.trouble}"


def check_copies(context: Context, routes: ExpectedRoutes, observed: Observed, findings: Findings) -> None:
    """Compare the paths of every switch with the copies that it must have, prefix by prefix."""
    backed_up = {color.value: bool(color.backup) for color in context.expected.colors}
    for device, rib in observed.ribs.items():
        if device not in context.expected.switches:
            continue
        wrong: dict[str, list[str]] = defaultdict(list)
        for prefix in observed.examined:
            owner, color = routes.owners.get(prefix, ("", ""))
            if owner in ("", device):
                continue
            findings.look(COPIES)
            copies = _Copies(context, routes, device, prefix, context.fabric.aigp and backed_up[color])
            paths = rib.get(prefix, ())
            for kind, message in copies.of_leaf(paths) if device in routes.leaves else copies.of_spine(paths):
                wrong[kind].append(f"{prefix} of {owner} {message}")
        for kind, messages in wrong.items():
            peer = (kind.partition("@")[2],) if "@" in kind else ()
            findings.add(COPIES, device, summary(messages), bgp_place(context, device), involves=peer)


class _Copies:
    """The expected copies of one prefix on a switch; messages of one kind are counted together."""

    def __init__(self, context: Context, routes: ExpectedRoutes, device: str, prefix: Prefix, aigp: bool) -> None:
        self.switches, self.routes, self.device, self.aigp = context.expected.switches, routes, device, aigp
        self.owner, self.color = routes.owners[prefix]
        self.links = routes.links.get(device, {})

    def of_leaf(self, paths: tuple[Path, ...]) -> Iterator[tuple[str, str]]:
        """Expect a copy from every spine that passes it on in a color that the leaf has a link of."""
        received: dict[str, set[str]] = defaultdict(set)
        for path in paths:
            peer, session = self.links.get(port_of(path.interface), (End("", ""), ""))
            asns = (self.switches[peer.device].asn, self.switches[self.owner].asn) if peer.device else ()
            received[peer.device].add(session)
            yield from self._wrong(path, peer, session, asns)
        offered: dict[str, set[str]] = defaultdict(set)
        for peer, color in self.links.values():
            offered[peer.device].add(color)
        for spine, heard in self.routes.paths.advertised_colors(self.owner, self.color).items():
            if heard <= offered[spine] and not received[spine] & heard:
                yield f"missing@{spine}", f"not received from {spine} as {' or '.join(sorted(heard))}"

    def of_spine(self, paths: tuple[Path, ...]) -> Iterator[tuple[str, str]]:
        """Expect a copy over every link to the owner in a color that the prefix may take, and none from elsewhere."""
        allowed = {self.color, *self.routes.paths.backups[self.color]}
        missing = {port for port, (peer, color) in self.links.items() if peer.device == self.owner and color in allowed}
        for path in paths:
            missing.discard(port_of(path.interface))
            peer, session = self.links.get(port_of(path.interface), (End("", ""), ""))
            if peer.device != self.owner:
                yield (
                    f"valley@{peer.device}",
                    f"received from {peer.device or port_of(path.interface)}, which must not readvertise it",
                )
            else:
                yield from self._wrong(path, peer, session, (self.switches[self.owner].asn,))
        for port in sorted(missing):
            yield f"missing@{self.owner}", f"not received from {self.links[port][0]} as {self.links[port][1]}"

    def _wrong(self, path: Path, peer: End, session: str, asns: tuple[int, ...]) -> Iterator[tuple[str, str]]:
        colors = sorted(value for value in path.route.communities if value.startswith(COLOR))
        if path.status == HIDDEN:
            yield f"hidden@{peer.device}", f"received from {peer} with {some(colors) or 'no color'} and is hidden"
        elif colors != [session]:
            found = " and ".join(colors) or "no color"
            yield f"color@{peer.device}", f"received from {peer} with {found} over a session of {session or 'no color'}"
        elif path.route.as_path != asns:
            found = " ".join(map(str, path.route.as_path))
            yield (
                f"path@{peer.device}",
                f"received from {peer} with the AS path {found}, not {' '.join(map(str, asns))}",
            )
        elif (path.route.aigp is not None) != (session == self.color and self.aigp):
            state = "with" if path.route.aigp is not None else "without"
            yield f"aigp@{peer.device}", f"received from {peer} {state} AIGP as {session}"


def check_next_hops(
    context: Context, routes: ExpectedRoutes, hops: Hops, check: Check, failure: str, findings: Findings
) -> None:
    """Compare, by switch, next hops with the intent; `failure` begins the message, empty for none."""
    for device, by_prefix in hops.items():
        if device not in context.expected.switches:
            continue
        expected = {
            prefix: routes.next_hops(device, prefix) for prefix, (owner, _) in routes.owners.items() if owner != device
        }
        links = routes.links.get(device, {})
        wrong: list[str] = []
        involves: dict[str, None] = {}
        have = {prefix: by_prefix.get(prefix, frozenset()) for prefix in expected}
        for deviation in deviations(expected, have, ExpectedNextHops.hold):
            (owner, color), prefix = routes.owners[deviation.subject], deviation.subject
            ports = some(sorted(have[prefix]))
            wrong.append(f"{prefix} ({color} of {owner}): next hops are {ports}, expected {expected[prefix]}")
            peers = (links[port][0] for port in sorted(have[prefix] ^ expected[prefix].allowed) if port in links)
            involves.update({owner: None} | {peer.device: None for peer in peers})
        findings.look(check, len(routes.owners))
        if wrong:
            place = bgp_place(context, device)
            findings.add(check, device, f"{failure}{summary(wrong)}", place, involves=involves)
