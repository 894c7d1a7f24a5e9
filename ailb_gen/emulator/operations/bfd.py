"""BFD: `show bfd session`, one beside every BGP session whose group asks for it.

Source: Juniper's operational YANG model junos-rpc-bfd; replies of real devices.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple
from zlib import crc32

from lxml import etree

from ailb_gen.emulator.device import Device
from ailb_gen.emulator.fabric_state import BgpSession
from ailb_gen.emulator.operations.bgp import chosen, peer_address, up_for
from ailb_gen.emulator.operations.build import Child, age, argument, element, flag
from ailb_gen.network.model import Group

DEFAULT_MULTIPLIER = 3
# What a session that is not up sends at, in milliseconds (RFC 5880 section 6.8.3).
SLOW_MS = 2000


class Timers(NamedTuple):
    """What one end of a session asks for: the interval of packets in both directions, and how many may be lost."""

    interval_ms: int
    multiplier: int


def bfd(device: Device, rpc: etree._Element) -> etree._Element:
    """Answer `show bfd session`, for one address, one local discriminator or all; `summary` has the numbers only."""
    groups, number = device.fabric.switch(device.name).groups, argument(rpc, "discriminator")
    asked = [
        one
        for one in chosen(device, argument(rpc, "address"))
        if groups[one.group].bfd is not None and number in ("", str(_discriminator(device.name, one.interface)))
    ]
    style = next((word for word in ("extensive", "detail", "summary") if flag(rpc, word)), "normal")
    made = [_session(device, one, style) for one in asked if style != "summary"]
    sent = sum(1000 / _interval_ms(device, one) for one in asked)
    heard = sum(1000 / _interval_ms(device, one) for one in asked if one.bfd_up)
    return element(
        "bfd-session-information",
        *made,
        ("sessions", len(asked)),
        ("clients", len(asked)),
        ("cumulative-transmission-rate", f"{sent:.1f}"),
        ("cumulative-reception-rate", f"{heard:.1f}"),
        style=style,
    )


def _timers(group: Group) -> Timers:
    found = group.bfd
    return Timers(
        (found.interval_ms if found is not None else None) or SLOW_MS,
        (found.multiplier if found is not None else None) or DEFAULT_MULTIPLIER,
    )


def _own(device: Device, session: BgpSession) -> Timers:
    return _timers(device.fabric.switch(device.name).groups[session.group])


def _peers(device: Device, session: BgpSession) -> Timers | None:
    """Return what the other end asks for, None while the session is down: it is heard only then."""
    far = (one for one in device.fabric.sessions(session.peer) if one.interface == session.peer_interface)
    found = next(far, None) if session.bfd_up else None
    return _timers(device.fabric.switch(session.peer).groups[found.group]) if found is not None else None


def _interval_ms(device: Device, session: BgpSession) -> int:
    """Return how often packets are sent: as the slower end asks, and slowly while the session is not up."""
    own, far = _own(device, session), _peers(device, session)
    return max(own.interval_ms, far.interval_ms if far is not None else SLOW_MS)


def _seconds(milliseconds: int) -> str:
    return f"{milliseconds / 1000:.3f}"


def _session(device: Device, session: BgpSession, style: str) -> etree._Element:
    own, far, interval = _own(device, session), _peers(device, session), _interval_ms(device, session)
    asked = _seconds(own.interval_ms)
    client = element(
        "bfd-client",
        ("client-name", "BGP"),
        ("client-transmission-interval", asked),
        ("client-reception-interval", asked),
    )
    return element(
        "bfd-session",
        ("session-neighbor", peer_address(device.fabric, session).partition("%")[0]),
        ("session-state", "Up" if session.bfd_up else "Down"),
        ("session-interface", session.interface),
        ("session-detection-time", _seconds(interval * far.multiplier if far is not None else 0)),
        ("session-transmission-interval", _seconds(interval)),
        ("session-adaptive-multiplier", own.multiplier),
        *((client, *_detailed(device, session)) if style != "normal" else ()),
        *(_extensive(device, session, own, far) if style == "extensive" else ()),
    )


def _detailed(device: Device, session: BgpSession) -> Iterator[Child]:
    way = "up" if session.bfd_up else "down"
    yield f"session-{way}-time", age(up_for(device, session))
    yield "local-diagnostic", "None"
    yield "remote-diagnostic", "None"
    yield "session-version", 1
    yield "remote-state", "Up" if session.bfd_up else "Down"
    yield "session-type", "Single hop BFD"


def _discriminator(device: str, interface: str) -> int:
    """Return the number by which a device knows a session: it follows from its name and the interface."""
    return crc32(f"{device} {interface}".encode()) % 2**16 + 1


def _extensive(device: Device, session: BgpSession, own: Timers, far: Timers | None) -> Iterator[Child]:
    now = _seconds(_interval_ms(device, session))
    asked, theirs = _seconds(own.interval_ms), _seconds(far.interval_ms if far is not None else 0)
    yield from (
        ("minimum-asynchronous-interval", asked),
        ("minimum-slow-interval", _seconds(SLOW_MS)),
        ("adaptive-asynchronous-transmission-interval", now),
        ("adaptive-reception-interval", now),
        ("minimum-transmission-interval", now),
        ("minimum-reception-interval", asked),
        ("detection-multiplier", own.multiplier),
        ("neighbor-minimum-transmission-interval", theirs),
        ("neighbor-minimum-reception-interval", theirs),
        ("neighbor-session-multiplier", far.multiplier if far is not None else 0),
        ("local-discriminator", _discriminator(device.name, session.interface)),
        ("remote-discriminator", _discriminator(session.peer, session.peer_interface) if far is not None else 0),
        ("echo-mode-desired", "disabled"),
        ("echo-mode-state", "inactive"),
        ("no-absorb", ", no-absorb"),
        ("no-refresh", ", no-refresh"),
        # This is the element in which devices have it.
        ("no-refresh", f"Session ID: {_discriminator(device.name, session.interface):#x}"),
    )
