"""BGP at length: `show bgp neighbor`.

Counters of messages are zero; when the last message went follows from the hold time. What a device names by a number
of its own (groups, peers, interfaces) is numbered in the order of its configuration.

Source: Juniper's operational YANG model junos-rpc-bgp; replies of real devices.
"""

from __future__ import annotations

from collections.abc import Iterator

from lxml import etree

from ailb_gen.emulator.device import Device
from ailb_gen.emulator.fabric_state import BgpSession, PrefixCounts, link_local
from ailb_gen.emulator.operations.bgp import (
    FAMILY,
    RESTARTED,
    TABLE,
    asks_default,
    chosen,
    counted,
    peer_address,
    state,
    up_for,
)
from ailb_gen.emulator.operations.build import Child, argument, elapsed, element
from ailb_gen.emulator.operations.indices import unit_index
from ailb_gen.network.model import Group, Switch

HOLD_S, KEEPALIVE_S, STALE_S = 90, 30, 300
BGP_PORT, FIRST_PORT, PORTS = 179, 49152, 16384
# Defaults of [edit protocols bgp bgp-error-tolerance].
LOG_INTERVAL_S, ROUTE_LIMIT = 300, 1000


def neighbor(device: Device, rpc: etree._Element) -> etree._Element:
    """Answer `show bgp neighbor`, for one address, one color or all."""
    if not asks_default(rpc):
        return element("bgp-information")
    counts = device.fabric.prefix_counts(device.name)
    sessions = device.fabric.sessions(device.name)
    return element(
        "bgp-information",
        *(
            _neighbor(device, sessions, session, counts.get(session.interface, PrefixCounts()))
            for session in chosen(device, argument(rpc, "neighbor-address"), color=argument(rpc, "fabric-color"))
        ),
    )


def _ports(own: str, peer: str) -> tuple[int, int]:
    """Return the own and the peer's TCP port: the lower address connects, from a port that follows from both."""
    other = FIRST_PORT + sum(f"{min(own, peer)}{max(own, peer)}".encode()) % PORTS
    return (other, BGP_PORT) if own < peer else (BGP_PORT, other)


def ends(device: Device, session: BgpSession) -> tuple[str, str]:
    """Return the own and the peer's address, with their TCP ports while the session is up."""
    own = f"{link_local(device.fabric, device.name, session.interface)}%{session.interface}"
    peer = peer_address(device.fabric, session)
    if not session.established:
        return own, peer
    own_port, peer_port = _ports(own, peer)
    return f"{own}+{own_port}", f"{peer}+{peer_port}"


def _neighbor(
    device: Device, sessions: tuple[BgpSession, ...], session: BgpSession, counts: PrefixCounts
) -> etree._Element:
    switch = device.fabric.switch(device.name)
    group = switch.groups[session.group]
    own, peer = ends(device, session)
    up, seconds = session.established, up_for(device, session)
    return element(
        "bgp-peer",
        ("peer-address", peer),
        ("peer-as", session.peer_asn or 0),
        ("local-address", own),
        ("local-as", session.asn),
        ("peer-group", group.name),
        ("peer-cfg-rti", "master"),
        ("peer-fwd-rti", "master"),
        ("peer-type", "External"),
        ("peer-state", state(session)),
        ("peer-flags", "Sync AutoDiscoveredNdp" if up else "AutoDiscoveredNdp"),
        ("rsync-flags", ""),
        ("last-state", "OpenConfirm" if up else "Idle"),
        ("last-event", "RecvKeepAlive" if up else "Start"),
        ("last-error", "None"),
        _options(switch, session, group),
        ("flap-count", session.flaps),
        element("elapsed-time", text=elapsed(seconds), seconds=int(seconds)),
        ("recv-ebgp-origin-validation-state", "Reject"),
        element(
            "bgp-malformed-attributes",
            element("malformed-information", ("log-interval", LOG_INTERVAL_S), ("route-limit", ROUTE_LIMIT)),
        ),
        *(_established(device, sessions, session, counts) if up else ()),
        style="detail",
    )


def options(group: Group) -> str:
    """Return the options of a group that Junos names."""
    words = ("AddressFamily", "PeerAS", "Multipath" if group.multipath else "", "LocalAS" if group.local_as else "")
    return " ".join(word for word in (*words, "Refresh") if word)


def _options(switch: Switch, session: BgpSession, group: Group) -> etree._Element:
    return element(
        "bgp-option-information",
        ("export-policy", " ".join(group.exports) or None),
        ("import-policy", " ".join(group.imports) or None),
        ("send-community-type", ""),
        ("bgp-options", options(group)),
        ("bgp-options2", ""),
        ("bgp-options-extended", "GracefulShutdownRcv"),
        ("bgp-options-extended2", ""),
        ("address-families", FAMILY),
        ("holdtime", HOLD_S),
        ("preference", 170),
        ("gshut-recv-local-preference", 0),
        ("local-as", session.asn),
        ("local-system-as", switch.asn or 0),
        element("aigp-mode", ("nlri-type", FAMILY)) if group.aigp else None,
    )


def _established(
    device: Device, sessions: tuple[BgpSession, ...], session: BgpSession, counts: PrefixCounts
) -> Iterator[Child]:
    """Iterate over what is known of a neighbor only while its session is up."""
    switch, remote = device.fabric.switch(device.name), device.fabric.switch(session.peer)
    of_group = [one for one in sessions if one.group == session.group]
    made: tuple[Child, ...] = (
        ("peer-id", remote.router_id or "0.0.0.0"),  # noqa: S104
        ("local-id", switch.router_id or "0.0.0.0"),  # noqa: S104
        ("active-holdtime", HOLD_S),
        ("keepalive-interval", KEEPALIVE_S),
        ("group-index", session.group),
        ("peer-index", of_group.index(session)),
        ("snmp-index", sessions.index(session)),
        element("bgp-peer-iosession", ("iosession-thread-name", "bgpio-0"), ("iosession-state", "Enabled")),
        element(
            "bgp-bfd",
            ("bfd-configuration-state", "enabled" if switch.groups[session.group].bfd is not None else "disabled"),
            ("bfd-operational-state", "up" if session.bfd_up else "down"),
        ),
        ("local-interface-name", session.interface),
        ("local-interface-index", unit_index(switch, session.interface)),
        ("peer-restart-nlri-configured", FAMILY),
        ("nlri-type-peer", FAMILY),
        ("nlri-type-session", FAMILY),
        ("loop-check-display", "AS loop check: Domain Scoped"),
        ("peer-refresh-capability", 2),
        ("peer-4byte-as-capability-advertised", session.peer_asn or 0),
        element("peer-addpath-not-supported"),
        _rib(device, session, counts),
        ("peer-stale-route-time-configured", STALE_S),
        element("peer-no-restart"),
        ("peer-restart-flags-received", "Notification"),
        *((f"peer-{what}", FAMILY) for what in ("restart-nlri-negotiated", "end-of-rib-received", "end-of-rib-sent")),
        ("peer-end-of-rib-scheduled", ""),
        element("peer-no-llgr-restarter"),
    )
    yield from made
    yield from _traffic(int(up_for(device, session)))


def _rib(device: Device, session: BgpSession, counts: PrefixCounts) -> etree._Element:
    return element(
        "bgp-rib",
        ("name", TABLE),
        ("rib-bit", "20000"),
        ("bgp-rib-state", RESTARTED),
        ("send-state", "in sync"),
        *counted(counts),
        ("advertised-prefix-count", device.fabric.advertised_count(device.name, session)),
        style="detail",
    )


def _traffic(seconds: int) -> Iterator[Child]:
    """Iterate over the messages of a session that is up for some seconds: a keepalive at every interval."""
    yield element(
        "bgp-family-stat", ("nlri-type", FAMILY), ("bgp-nlri-send-time", 0), ("bgp-nlri-recv-time", 0), style="detail"
    )
    yield "last-received", seconds % KEEPALIVE_S
    yield "last-sent", seconds % KEEPALIVE_S
    yield "last-checked", seconds
    for way in ("input", "output"):
        yield from ((f"{way}-{what}", 0) for what in ("messages", "updates", "refreshes", "octets"))
    yield element("bgp-output-queue", ("number", 1), ("count", 0), ("table-name", TABLE), ("rib-adv-nlri", FAMILY))
