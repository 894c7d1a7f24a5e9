"""Compare BFD sessions with the intent, and find groups whose links a switch would not use together."""

from __future__ import annotations

from ailb_gen.checks import subjects as about
from ailb_gen.checks.context import Context
from ailb_gen.checks.families.lab import BFD, MULTIPATH
from ailb_gen.checks.model import Findings
from ailb_gen.errors import Place
from ailb_gen.lab.check.asked import AskedRoutes
from ailb_gen.lab.check.measured import Measured, SeenBfd
from ailb_gen.lab.check.routes import bgp_place
from ailb_gen.network.fabric import End
from ailb_gen.network.model import Group
from ailb_gen.network.sessions import discovered

# Without `multiplier`.
JUNOS_MULTIPLIER = 3


def judge_bfd(context: Context, asked: AskedRoutes, seen: Measured, findings: Findings) -> None:
    """Every established session has BFD as the intent asks: up, with its interval and timeout; or none.

    Where both ends differ, it is the end whose file says something else.
    """
    wrong: dict[End, tuple[End, SeenBfd | None]] = {}
    for device, ports in asked.links.items():
        for port, (peer, _) in ports.items():
            end = End(device, port)
            session = seen.sessions.get(end)
            if device not in seen.devices or session is None or not session.established:
                continue
            findings.look(BFD)
            want = wanted(context, device, peer.device)
            if seen.bfd.get(end) != want:
                wrong[end] = peer, want
    for end, (peer, want) in wrong.items():
        if peer in wrong and _as_asked(context, end) and not _as_asked(context, peer):
            continue
        found = _text(seen.bfd.get(end))
        message = f"BFD with {peer} is {found}; the intent asks for {_text(want)}"
        involves = (peer.device, about.end(peer))
        findings.add(
            BFD, end.device, message, _bfd_place(context, end), _text(want), found, involves=involves, part=end.port
        )


def _as_asked(context: Context, end: End) -> bool:
    """Return whether the file of a switch configures BFD on a port as the intent asks."""
    asked, group = context.expected.switches[end.device].settings.bfd, _group(context, end)
    if group is None or group.bfd is None:
        return not asked.enabled
    multiplier = JUNOS_MULTIPLIER if group.bfd.multiplier is None else group.bfd.multiplier
    return asked.enabled and (group.bfd.interval_ms, multiplier) == (asked.interval_ms, asked.multiplier)


def _group(context: Context, end: End) -> Group | None:
    """Return the group that discovers neighbors on a port."""
    switch = context.network.switches.get(end.device)
    number = discovered(switch).get(f"{end.port}.0") if switch is not None else None
    return switch.groups[number] if switch is not None and number is not None else None


def wanted(context: Context, device: str, peer: str) -> SeenBfd | None:
    """Return the BFD session of a link; RFC 5880, 6.8.2 to 6.8.4: the slower end decides, and the far end's number."""
    own, far = (context.expected.switches[name].settings.bfd for name in (device, peer))
    if not (own.enabled and far.enabled):
        return None
    interval = max(own.interval_ms, far.interval_ms)
    return SeenBfd(True, interval, interval * far.multiplier)


def _text(found: SeenBfd | None) -> str:
    if found is None:
        return "none"
    times = f"every {found.interval_ms} ms, lost after {found.timeout_ms} ms"
    return times if found.up else f"down ({times})"


def _bfd_place(context: Context, end: End) -> Place | None:
    group = _group(context, end)
    if group is None or group.bfd is None:
        return bgp_place(context, end.device, end.port)
    return Place(context.network.switches[end.device].file, group.bfd.line)


def judge_multipath(context: Context, asked: AskedRoutes, findings: Findings) -> None:
    """Every group with links of the fabric has multipath."""
    for device, ports in asked.links.items():
        switch = context.network.switches.get(device)
        if switch is None:
            continue
        findings.look(MULTIPATH)
        found = discovered(switch)
        for number in sorted({found[name] for port in ports if (name := f"{port}.0") in found}):
            group = switch.groups[number]
            if not group.multipath:
                message = f"group {group.name} lacks multipath: its links share no load"
                subjects = [about.group(switch.named, group.name)]
                findings.at(MULTIPATH, switch, message, group.line, part=group.name, subjects=subjects)
