"""BFD: `show bfd session`, one beside every BGP session whose group asks for it.

Source: Juniper's operational YANG model junos-rpc-bfd; replies of real devices.
"""

from __future__ import annotations

from typing import NamedTuple
from zlib import crc32

from lxml import etree

from ailb_gen.emulator.device import EmulatedDevice
from ailb_gen.emulator.fabric_state import BgpSession
from ailb_gen.emulator.operations.bgp import chosen, peer_address, up_for
from ailb_gen.emulator.operations.build import age, argument, element, fill, flag, parts
from ailb_gen.network.model import Group

DEFAULT_MULTIPLIER = 3
# The interval of a session that is not up, in milliseconds (RFC 5880 section 6.8.3).
SLOW_MS = 2000


class SessionTimers(NamedTuple):
    """The request of one end of a session: the interval of packets in both directions, and how many may be lost."""

    interval_ms: int = 0
    multiplier: int = 0


def bfd(device: EmulatedDevice, rpc: etree._Element) -> etree._Element:
    """Answer `show bfd session`, for one address, one local discriminator or all; `summary` has the numbers only."""
    groups, number = device.switch.groups, argument(rpc, "discriminator")
    shown = [
        session
        for session in chosen(device, argument(rpc, "address"))
        if groups[session.group].bfd is not None and number in ("", str(discriminator(device.name, session.interface)))
    ]
    style = next((word for word in ("extensive", "detail", "summary") if flag(rpc, word)), "normal")
    return fill(
        "bfd-session-information",
        style=style,
        rows=[_session(device, session, style) for session in shown if style != "summary"],
        count=len(shown),
        sent=sum(1000 / _interval_ms(device, session) for session in shown),
        received=sum(1000 / _interval_ms(device, session) for session in shown if session.bfd_up),
    )


def _timers(group: Group) -> SessionTimers:
    found = group.bfd
    return SessionTimers(
        (found.interval_ms if found is not None else None) or SLOW_MS,
        (found.multiplier if found is not None else None) or DEFAULT_MULTIPLIER,
    )


def _own(device: EmulatedDevice, session: BgpSession) -> SessionTimers:
    return _timers(device.switch.groups[session.group])


def _peers(device: EmulatedDevice, session: BgpSession) -> SessionTimers | None:
    """Return the timers of the other end, None while the session is down: they arrive only then."""
    far = (one for one in device.fabric.sessions(session.peer) if one.interface == session.peer_interface)
    found = next(far, None) if session.bfd_up else None
    return _timers(device.fabric.switch(session.peer).groups[found.group]) if found is not None else None


def _interval_ms(device: EmulatedDevice, session: BgpSession) -> int:
    """Return how often packets are sent: as the slower end asks, and slowly while the session is not up."""
    own, peer = _own(device, session), _peers(device, session)
    return max(own.interval_ms, peer.interval_ms if peer is not None else SLOW_MS)


def _session(device: EmulatedDevice, session: BgpSession, style: str) -> etree._Element:
    own, peer, interval = _own(device, session), _peers(device, session), _interval_ms(device, session)
    state = "Up" if session.bfd_up else "Down"
    local = discriminator(device.name, session.interface)
    remote = discriminator(session.peer, session.peer_interface) if peer is not None else 0
    peer = peer or SessionTimers()
    time = element(f"session-{state.lower()}-time", text=age(up_for(device, session)))
    detail = parts("bfd-session-detail", own=own, state=state, time=time)
    extensive = parts("bfd-session-extensive", own=own, peer=peer, interval=interval, local=local, remote=remote)
    return fill(
        "bfd-session",
        address=peer_address(device.fabric, session).partition("%")[0],
        session=session,
        state=state,
        detection=interval * peer.multiplier,
        interval=interval,
        own=own,
        detail=detail if style != "normal" else (),
        extensive=extensive if style == "extensive" else (),
    )


def discriminator(device: str, interface: str) -> int:
    """Return the number by which a device knows a session: it follows from its name and the interface."""
    return crc32(f"{device} {interface}".encode()) % 2**16 + 1
