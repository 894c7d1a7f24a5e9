"""Compare BFD sessions with the intent, and find groups whose links a switch would not use together."""

from __future__ import annotations

from ailb_gen.checks.context import Context
from ailb_gen.checks.families.lab import BFD, MULTIPATH
from ailb_gen.checks.model import Findings
from ailb_gen.errors import Place
from ailb_gen.lab.check.asked import AskedRoutes
from ailb_gen.lab.check.measured import Measured, SeenBfd
from ailb_gen.lab.check.routes import bgp_place
from ailb_gen.network.fabric import End
from ailb_gen.network.sessions import discovered


def judge_bfd(context: Context, asked: AskedRoutes, seen: Measured, findings: Findings) -> None:
    """Every established session has BFD as the intent asks: up, with its interval and timeout; or none."""
    for device, ports in asked.links.items():
        for port, (peer, _) in ports.items():
            end = End(device, port)
            session = seen.sessions.get(end)
            if device not in seen.devices or session is None or not session.established:
                continue
            findings.look(BFD)
            want, found = wanted(context, device, peer.device), seen.bfd.get(end)
            if found != want:
                message = f"BFD with {peer} is {_text(found)}; the intent asks for {_text(want)}"
                place = _bfd_place(context, end)
                involves = (peer.device, f"{peer.device} {peer.port}")
                findings.add(BFD, device, message, place, _text(want), _text(found), involves=involves, part=port)


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
    switch = context.network.switches.get(end.device)
    number = discovered(switch).get(f"{end.port}.0") if switch is not None else None
    if switch is None or number is None or (bfd := switch.groups[number].bfd) is None:
        return bgp_place(context, end.device, end.port)
    return Place(switch.file, bfd.line)


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
                findings.at(MULTIPATH, switch, message, group.line, part=group.name)
