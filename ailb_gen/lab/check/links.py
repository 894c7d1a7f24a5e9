"""Compare MTUs and BFD of links with the intent, and find groups whose links a switch would not use together."""

from __future__ import annotations

from collections.abc import Iterator

from ailb_gen.checks import subjects as about
from ailb_gen.checks.compare import deviations
from ailb_gen.checks.context import Context
from ailb_gen.checks.expected_routes import ExpectedRoutes
from ailb_gen.checks.families.lab import BFD, MTUS, MULTIPATH
from ailb_gen.checks.model import Findings
from ailb_gen.errors import Place
from ailb_gen.lab.bird.model import BfdState
from ailb_gen.lab.check.expected import bgp_place, host_place, leaf_ports
from ailb_gen.lab.check.observed import Observed
from ailb_gen.lab.links import ETHERNET_HEADER
from ailb_gen.network.fabric import End
from ailb_gen.network.model import Group
from ailb_gen.network.sessions import session_groups

# Without `multiplier`.
JUNOS_MULTIPLIER = 3


def check_bfd(context: Context, routes: ExpectedRoutes, observed: Observed, findings: Findings) -> None:
    """Expect BFD of every established session as in the intent: up, with its interval and timeout; or none.

    Where both ends differ, it is the end whose file says something else.
    """
    expected = {
        end: _text(expected_bfd(context, end.device, peer.device))
        for end, peer in routes.ends()
        if end.device in observed.devices and end in observed.sessions and observed.sessions[end].established
    }
    findings.look(BFD, len(expected))
    have = {end: _text(_observed_bfd(context, observed, end, routes)) for end in expected}
    wrong = {one.subject: routes.peer(one.subject) for one in deviations(expected, have)}
    for end, peer in wrong.items():
        if peer is None or (peer in wrong and _as_intended(context, end) and not _as_intended(context, peer)):
            continue
        message = f"BFD with {peer} is {have[end]}, expected {expected[end]}"
        place, involves = _bfd_place(context, end), (peer.device, about.end(peer))
        texts = (expected[end], have[end])
        findings.add(BFD, end.device, message, place, *texts, involves=involves, part=end.port)


def _observed_bfd(context: Context, observed: Observed, end: End, routes: ExpectedRoutes) -> BfdState | None:
    """Return the BFD session of a link; none for one that never comes up because the peer has no BFD by the intent."""
    found, peer = observed.bfd.get(end), routes.peer(end)
    if found is None or found.up or peer is None:
        return found
    own, far = (context.expected.switches[name].settings.bfd for name in (end.device, peer.device))
    return None if own.enabled and not far.enabled else found


def _as_intended(context: Context, end: End) -> bool:
    """Return whether the file of a switch configures BFD on a port as the intent does."""
    expected, group = context.expected.switches[end.device].settings.bfd, _group(context, end)
    if group is None or group.bfd is None:
        return not expected.enabled
    multiplier = JUNOS_MULTIPLIER if group.bfd.multiplier is None else group.bfd.multiplier
    return expected.enabled and (group.bfd.interval_ms, multiplier) == (expected.interval_ms, expected.multiplier)


def _group(context: Context, end: End) -> Group | None:
    switch = context.network.switches.get(end.device)
    number = session_groups(switch).get(f"{end.port}.0") if switch is not None else None
    return switch.groups[number] if switch is not None and number is not None else None


def expected_bfd(context: Context, device: str, peer: str) -> BfdState | None:
    """Return the BFD session of a link; RFC 5880, 6.8.2 to 6.8.4: the slower end decides, and the far end's number."""
    own, far = (context.expected.switches[name].settings.bfd for name in (device, peer))
    if not (own.enabled and far.enabled):
        return None
    interval = max(own.interval_ms, far.interval_ms)
    return BfdState(True, interval, interval * far.multiplier)


def _text(bfd: BfdState | None) -> str:
    if bfd is None:
        return "none"
    times = f"every {bfd.interval_ms} ms, lost after {bfd.timeout_ms} ms"
    return times if bfd.up else f"down ({times})"


def _bfd_place(context: Context, end: End) -> Place | None:
    group = _group(context, end)
    if group is None or group.bfd is None:
        return bgp_place(context, end.device, end.port)
    return Place(context.network.switches[end.device].file, group.bfd.line)


def check_multipath(context: Context, routes: ExpectedRoutes, findings: Findings) -> None:
    """Every group with links of the fabric has multipath."""
    for device, ports in routes.links.items():
        switch = context.network.switches.get(device)
        if switch is None:
            continue
        findings.look(MULTIPATH)
        table = session_groups(switch)
        for number in sorted({table[name] for port in ports if (name := f"{port}.0") in table}):
            group = switch.groups[number]
            if not group.multipath:
                message = f"group {group.name} lacks multipath: its links do not share the load"
                subjects = [about.group(switch.named, group.name)]
                findings.at(MULTIPATH, switch, message, group.line, part=group.name, subjects=subjects)


def check_mtus(context: Context, routes: ExpectedRoutes, observed: Observed, findings: Findings) -> None:
    """Compare the MTU of every port, IRB and NIC with the intent, and show that of the other end of the link.

    Where both ends should have the same and differ, one of them is not as expected.
    """
    expected = {
        end: mtu
        for end, mtu in _expected_mtus(context, routes)
        if end.device in observed.devices and end in observed.mtus
    }
    findings.look(MTUS, len(expected))
    for one in deviations(expected, {end: observed.mtus[end] for end in expected}):
        end, want, have = one.subject, expected[one.subject], observed.mtus[one.subject]
        message = f"the MTU of {end.port} is {have} bytes without Ethernet headers, not {want}"
        far = routes.peer(end)
        other = observed.mtus.get(far) if far is not None else None
        if other is not None and other != have:
            message += f"; {far} sends up to {other}" if other > have else f"; {far} takes {other}"
        place, own = _mtu_place(context, end), about.nic if end.device in context.network.hosts else about.port
        subjects = [own(end.device, end.port)]
        findings.add(MTUS, end.device, message, place, want, have, part=end.port, subjects=subjects)


def _expected_mtus(context: Context, routes: ExpectedRoutes) -> Iterator[tuple[End, int]]:
    yield from ((end, _of_port(context, end)) for end, _ in routes.ends())
    for nic, port in leaf_ports(context).items():
        leaf = context.expected.switches[port.device]
        yield nic, context.hosts[nic.device].mtu
        yield port, leaf.mtu_of(port.port) - ETHERNET_HEADER
        yield End(leaf.name, f"irb.{leaf.vlan}"), leaf.settings.mtu.irb


def _of_port(context: Context, end: End) -> int:
    """Return the MTU of a port; a smaller one of `family inet6` counts if it lets the servers' packets through."""
    expected, switch = context.expected.switches[end.device], context.network.switches.get(end.device)
    most, least = expected.mtu_of(end.port) - ETHERNET_HEADER, expected.settings.mtu.irb
    unit = switch.unit(f"{end.port}.0") if switch is not None else None
    own = unit.inet6_mtu if unit is not None else None
    return own if own is not None and least <= own <= most else most


def _mtu_place(context: Context, end: End) -> Place | None:
    switch = context.network.switches.get(end.device)
    if switch is None:
        return host_place(context, end.device)
    port = switch.ports.get(end.port) or switch.ports.get(end.port.partition(".")[0])
    return Place(switch.file, ((port.mtu_line or port.line) if port is not None else 0) or 1)
