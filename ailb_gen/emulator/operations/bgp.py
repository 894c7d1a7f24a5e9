"""BGP: `show bgp summary`, `show bgp neighbor`, and the BFD sessions beside them.

Source: Juniper's operational YANG models (junos-rpc-bgp, junos-rpc-bfd).
"""

from __future__ import annotations

from collections.abc import Iterator

from lxml import etree

from ailb_gen.emulator.device import Device
from ailb_gen.emulator.fabric_state import BgpSession, FabricState, PrefixCounts, link_local
from ailb_gen.emulator.operations.build import Child, argument, elapsed, element, flag
from ailb_gen.network.model import Group, Switch

TABLE, FAMILY = "inet6.0", "inet6-unicast"
# Junos counts these names the same: no instance named, or the default one.
DEFAULT_INSTANCE = ("", "master")
HOLD_S, KEEPALIVE_S = 90, 30
BGP_PORT, FIRST_PORT, PORTS = 179, 49152, 16384
DEFAULT_MULTIPLIER = 3


def peer_address(fabric: FabricState, session: BgpSession) -> str:
    """Return the address that Junos calls a discovered neighbor by: link-local, with the interface as its scope."""
    return f"{link_local(fabric, session.peer, session.peer_interface)}%{session.interface}"


def chosen(device: Device, neighbor: str) -> Iterator[BgpSession]:
    """Iterate over the neighbors with an address, with or without its scope; over all without one."""
    for session in device.fabric.sessions(device.name):
        address = peer_address(device.fabric, session)
        if neighbor in ("", address, address.partition("%")[0]):
            yield session


def up_for(device: Device, session: BgpSession) -> float:
    """Return the seconds since a session came up; or, while it is down, since the device tries."""
    return max(device.now() - max(device.started, session.since or 0.0), 0.0)


def summary(device: Device, rpc: etree._Element) -> etree._Element:
    """Answer `show bgp summary`, for one group or all."""
    if not _asks_default(rpc):
        return element("bgp-information")
    groups = device.fabric.switch(device.name).groups
    requested = argument(rpc, "group")
    peers = [
        session for session in device.fabric.sessions(device.name) if requested in ("", groups[session.group].name)
    ]
    counts = device.fabric.prefix_counts(device.name)
    total = [sum(counts.get(session.interface, PrefixCounts())[field] for session in peers) for field in range(3)]
    return element(
        "bgp-information",
        ("group-count", sum(1 for group in groups if requested in ("", group.name))),
        ("peer-count", len(peers)),
        ("down-peer-count", sum(1 for session in peers if not session.established)),
        ("auto-discovered-peer-count", len(peers) or None),
        _table(PrefixCounts(*total)) if groups else None,
        *(_summed_up(device, session, counts.get(session.interface, PrefixCounts())) for session in peers),
    )


def _asks_default(rpc: etree._Element) -> bool:
    return argument(rpc, "instance") in DEFAULT_INSTANCE and argument(rpc, "exact-instance") in DEFAULT_INSTANCE


def _table(counts: PrefixCounts) -> etree._Element:
    nothing = ("suppressed", "history", "damped", "pending")
    return element(
        "bgp-rib",
        ("name", TABLE),
        ("total-prefix-count", counts.received),
        ("received-prefix-count", counts.received),
        ("accepted-prefix-count", counts.accepted),
        ("active-prefix-count", counts.active),
        *((f"{word}-prefix-count", 0) for word in nothing),
        ("total-external-prefix-count", counts.received),
        ("active-external-prefix-count", counts.active),
        ("accepted-external-prefix-count", counts.accepted),
        ("suppressed-external-prefix-count", 0),
        *((f"{word}-internal-prefix-count", 0) for word in ("total", "active", "accepted", "suppressed")),
        ("bgp-rib-state", "BGP restart is complete"),
        style="brief",
    )


def _counted(counts: PrefixCounts) -> Iterator[tuple[str, int]]:
    for kind in ("active", "received", "accepted"):
        yield f"{kind}-prefix-count", getattr(counts, kind)
    yield "suppressed-prefix-count", 0


def _state(session: BgpSession) -> str:
    return "Established" if session.established else "Active"


def _summed_up(device: Device, session: BgpSession, counts: PrefixCounts) -> etree._Element:
    seconds = up_for(device, session)
    made: list[Child] = [
        ("peer-address", peer_address(device.fabric, session)),
        ("peer-as", session.peer_asn or 0),
        ("input-messages", 0),
        ("output-messages", 0),
        ("route-queue-count", 0),
        ("flap-count", session.flaps),
        element("elapsed-time", text=elapsed(seconds), seconds=int(seconds)),
        element("peer-state", text=_state(session), format="Establ" if session.established else _state(session)),
    ]
    if session.established:
        made.append(element("bgp-rib", ("name", TABLE), *_counted(counts), style="display"))
    return element("bgp-peer", *made, style="terse")


def neighbor(device: Device, rpc: etree._Element) -> etree._Element:
    """Answer `show bgp neighbor`, for one address or all."""
    switch = device.fabric.switch(device.name)
    if not _asks_default(rpc):
        return element("bgp-information")
    counts = device.fabric.prefix_counts(device.name)
    return element(
        "bgp-information",
        *(
            _neighbor(device, switch, session, counts.get(session.interface, PrefixCounts()))
            for session in chosen(device, argument(rpc, "neighbor-address"))
        ),
    )


def _ports(own: str, peer: str) -> tuple[int, int]:
    """Return the own and the peer's TCP port: the lower address connects, from a port that follows from both."""
    other = FIRST_PORT + sum(f"{min(own, peer)}{max(own, peer)}".encode()) % PORTS
    return (other, BGP_PORT) if own < peer else (BGP_PORT, other)


def _neighbor(device: Device, switch: Switch, session: BgpSession, counts: PrefixCounts) -> etree._Element:
    group = switch.groups[session.group]
    own = f"{link_local(device.fabric, device.name, session.interface)}%{session.interface}"
    peer = peer_address(device.fabric, session)
    own_port, peer_port = (f"+{port}" if session.established else "" for port in _ports(own, peer))
    up = session.established
    remote = device.fabric.switch(session.peer)
    made: list[Child] = [
        ("peer-address", peer + peer_port),
        ("peer-as", session.peer_asn or 0),
        ("local-address", own + own_port),
        ("local-as", session.asn),
        ("peer-group", group.name),
        ("peer-cfg-rti", "master"),
        ("peer-fwd-rti", "master"),
        ("peer-type", "External"),
        ("peer-state", _state(session)),
        ("peer-flags", "Sync AutoDiscoveredNdp" if up else "AutoDiscoveredNdp"),
        ("last-state", "OpenConfirm" if up else "Connect"),
        ("last-event", "RecvKeepAlive" if up else "ConnectRetry"),
        ("last-error", "None"),
        _options(switch, session, group),
        ("flap-count", session.flaps),
        ("peer-id", (remote.router_id if up else None) or "0.0.0.0"),  # noqa: S104
        ("local-id", switch.router_id or "0.0.0.0"),  # noqa: S104
        ("active-holdtime", HOLD_S if up else 0),
        ("keepalive-interval", KEEPALIVE_S if up else 0),
        ("group-index", session.group),
        ("peer-index", 0),
        _bfd_of(group, session),
        ("local-interface-name", session.interface),
    ]
    if up:
        made += _established(device, session, counts)
    return element("bgp-peer", *made, style="detail")


def _options(switch: Switch, session: BgpSession, group: Group) -> etree._Element:
    words = ("AddressFamily", "Multipath" if group.multipath else "", "LocalAS" if group.local_as else "")
    return element(
        "bgp-option-information",
        ("export-policy", " ".join(group.exports) or None),
        ("import-policy", " ".join(group.imports) or None),
        ("bgp-options", " ".join(word for word in (*words, "PeerAS", "Refresh") if word)),
        ("bgp-options2", ""),
        ("bgp-options-extended", ""),
        ("address-families", FAMILY),
        ("holdtime", HOLD_S),
        ("preference", 170),
        ("local-as", session.asn),
        ("local-system-as", switch.asn or 0),
        element("aigp-mode", ("nlri-type", FAMILY)) if group.aigp else None,
    )


def _bfd_of(group: Group, session: BgpSession) -> etree._Element:
    on = group.bfd is not None
    return element(
        "bgp-bfd",
        ("bfd-configuration-state", "enabled" if on else "disabled"),
        ("bfd-operational-state", "up" if session.bfd_up else "down"),
    )


def _established(device: Device, session: BgpSession, counts: PrefixCounts) -> list[Child]:
    rib = element(
        "bgp-rib",
        ("name", TABLE),
        ("rib-bit", "20000"),
        ("bgp-rib-state", "BGP restart is complete"),
        ("send-state", "in sync"),
        *_counted(counts),
        ("advertised-prefix-count", device.fabric.advertised_count(device.name, session)),
        style="detail",
    )
    traffic = ("messages", "updates", "refreshes", "octets")
    queue = element("bgp-output-queue", ("number", 1), ("count", 0), ("table-name", TABLE), ("rib-adv-nlri", FAMILY))
    return [
        ("nlri-type-peer", FAMILY),
        ("nlri-type-session", FAMILY),
        ("peer-refresh-capability", 2),
        ("peer-4byte-as-capability-advertised", session.peer_asn or 0),
        element("peer-addpath-not-supported"),
        rib,
        *((f"{way}-{what}", 0) for way in ("input", "output") for what in traffic),
        queue,
    ]


def bfd(device: Device, rpc: etree._Element) -> etree._Element:
    """Answer `show bfd session`: one session beside every BGP session whose group asks for it."""
    groups = device.fabric.switch(device.name).groups
    made = [
        _bfd_session(device.fabric, session, groups[session.group], flag(rpc, "detail", "extensive"))
        for session in device.fabric.sessions(device.name)
        if groups[session.group].bfd is not None
    ]
    ups = sum(1 for session in made if session.findtext("session-state") == "Up")
    clients = (("sessions", len(made)), ("clients", len(made)))
    return element("bfd-session-information", *made, *clients, ("up-sessions", ups))


def _bfd_session(fabric: FabricState, session: BgpSession, group: Group, detailed: bool) -> etree._Element:
    interval = (group.bfd.interval_ms if group.bfd is not None else None) or 0
    multiplier = (group.bfd.multiplier if group.bfd is not None else None) or DEFAULT_MULTIPLIER
    seconds = f"{interval / 1000:.3f}"
    return element(
        "bfd-session",
        ("session-neighbor", peer_address(fabric, session).partition("%")[0]),
        ("session-state", "Up" if session.bfd_up else "Down"),
        ("session-interface", session.interface),
        ("session-detection-time", f"{interval * multiplier / 1000:.3f}"),
        ("session-transmission-interval", seconds),
        ("session-adaptive-multiplier", multiplier),
        element("bfd-client", ("client-name", "BGP"), ("client-transmission-interval", seconds)) if detailed else None,
    )
