"""BGP: `show bgp summary`, `show bgp group` and `show bgp neighbor`.

Counters of messages are zero; when the last message went follows from the hold time. Objects that a device
names by a number of its own (groups, peers, interfaces) are numbered in the order of its configuration.

Source: Juniper's operational YANG model junos-rpc-bgp; Junos CLI Reference, "show bgp group"; replies of real devices.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from lxml import etree

from ailb_gen.addresses import address_text
from ailb_gen.emulator.device import EmulatedDevice
from ailb_gen.emulator.fabric_state import BgpSession, FabricState, PrefixCounts, link_local
from ailb_gen.emulator.messages import refusal
from ailb_gen.emulator.operations.build import argument, element, fill, flag, ip_version, parts
from ailb_gen.emulator.operations.ports import unit_index
from ailb_gen.network.model import Group, Switch

TABLE = "inet6.0"
# Junos counts these names the same: no instance named, or the default one.
DEFAULT_INSTANCE = ("", "master")
HEADING = (
    "Peer                     AS      InPkt     OutPkt    OutQ   Flaps Last Up/Dwn "
    "State|#Active/Received/Accepted/Damped..."
)
KEEPALIVE_S = 30
BGP_PORT, FIRST_PORT, PORTS = 179, 49152, 16384
# Prefix counts by the interface of the session.
Counts = Mapping[str, PrefixCounts]
NO_ID = "0.0.0.0"  # noqa: S104 - a router ID


def peer_address(fabric: FabricState, session: BgpSession) -> str:
    """Return the address that Junos calls a neighbor by: where discovered, link-local with the interface as scope."""
    if session.neighbor is not None:
        return address_text(session.neighbor.address or 0)
    return f"{link_local(fabric, session.peer, session.peer_interface)}%{session.interface}"


def chosen(
    device: EmulatedDevice, neighbor: str, group: str = "", color: str = "", discovered: bool = False
) -> Iterator[BgpSession]:
    """Iterate over the neighbors with an address, with or without its scope, in a group, of a color; all if empty.

    `discovered`: no static ones.

    Raises RpcRefusedError for an address that is none.
    """
    if neighbor and not ip_version(neighbor):
        raise refusal(f"invalid address: {neighbor}", element=neighbor)
    groups = device.switch.groups
    for session in device.fabric.sessions(device.name):
        address = peer_address(device.fabric, session)
        own = groups[session.group]
        if (
            neighbor in ("", address, address.partition("%")[0])
            and group in ("", own.name)
            and color in ("", own.color)
            and not (discovered and session.neighbor is not None)
        ):
            yield session


def up_for(device: EmulatedDevice, session: BgpSession) -> float:
    """Return the seconds since a session came up; or, while it is down, since the device tries."""
    return max(device.now() - max(device.started, session.since or 0.0), 0.0)


def state_of(session: BgpSession) -> str:
    """Return the state of a session as Junos calls it; one that is down keeps trying to connect."""
    return "Established" if session.established else "Active"


def _is_default(rpc: etree._Element) -> bool:
    """Return whether a request is about the default instance, the only one here."""
    return argument(rpc, "instance") in DEFAULT_INSTANCE and argument(rpc, "exact-instance") in DEFAULT_INSTANCE


def _group_names(switch: Switch) -> list[str]:
    """Return the names of the groups in order: one whose neighbors differ is several in the model."""
    return list(dict.fromkeys(group.name for group in switch.groups))


def _discovered(rpc: etree._Element) -> bool:
    """Return whether a request is about discovered neighbors alone, in either spelling."""
    return flag(rpc, "auto-discovered") or flag(rpc, "autodiscovered")


def _added(counts: Counts, sessions: Iterable[BgpSession]) -> PrefixCounts:
    rows = [counts.get(session.interface, PrefixCounts()) for session in sessions]
    return PrefixCounts(*(sum(row[field] for row in rows) for field in range(len(PrefixCounts._fields))))


def summary(device: EmulatedDevice, rpc: etree._Element) -> etree._Element:
    """Answer `show bgp summary`, for one group, one color or all."""
    if not _is_default(rpc):
        return element("bgp-information")
    groups = device.switch.groups
    requested, color = argument(rpc, "group"), argument(rpc, "fabric-color")
    peers = list(chosen(device, "", requested, color, _discovered(rpc)))
    counts = device.fabric.prefix_counts(device.name)
    return fill(
        "bgp-summary",
        groups=len({one.name for one in groups if requested in ("", one.name) and color in ("", one.color)}),
        peers=len(peers),
        down=sum(not session.established for session in peers),
        discovered=sum(session.neighbor is None for session in peers) or None,
        table=fill("bgp-table", counts=_added(counts, peers)) if groups else None,
        rows=[_summary(device, session, counts, first=session is peers[0]) for session in peers],
    )


def _summary(device: EmulatedDevice, session: BgpSession, counts: Counts, first: bool) -> etree._Element:
    up = session.established
    return fill(
        "bgp-peer-summary",
        session=session,
        address=peer_address(device.fabric, session),
        peer_as=session.peer_asn or 0,
        up=up_for(device, session),
        state=state_of(session),
        # A state that has a short name is shown by it.
        short="Establ" if up else None,
        heading=HEADING if first else None,
        rib=fill("bgp-counts", counts=_added(counts, [session]), advertised=None, style="terse") if up else None,
    )


def group(device: EmulatedDevice, rpc: etree._Element) -> etree._Element:
    """Answer `show bgp group`, for one group or all; the numbers below are those of all that are shown."""
    if not _is_default(rpc):
        return element("bgp-group-information")
    style = "detail" if flag(rpc, "detail") else "summary" if flag(rpc, "summary") else "brief"
    groups = device.switch.groups
    shown = [
        (
            number,
            next(one for one in groups if one.name == name),
            [session for session in device.fabric.sessions(device.name) if groups[session.group].name == name],
        )
        for number, name in enumerate(_group_names(device.switch))
        if argument(rpc, "group-name") in ("", name)
    ]
    peers = [session for _, _, of_group in shown for session in of_group]
    counts = device.fabric.prefix_counts(device.name)
    totals = fill(
        "bgp-group-totals",
        style=style,
        groups=len(shown),
        peers=len(peers),
        down=sum(not session.established for session in peers),
        flaps=sum(session.flaps for session in peers),
        table=fill("bgp-table", counts=_added(counts, peers)) if shown else None,
    )
    return element("bgp-group-information", *(_group(device, *row, counts, style) for row in shown), totals)


def _group(
    device: EmulatedDevice, number: int, group: Group, peers: list[BgpSession], counts: Counts, style: str
) -> etree._Element:
    up = [session for session in peers if session.established]
    brief, detailed = style == "summary", style == "detail"
    advertised = sum(device.fabric.advertised_count(device.name, session) for session in up) if detailed else None
    local_as = group.local_as or device.switch.asn or 0
    settings = parts(
        "bgp-group-settings", index=number, flags="Export Eval" if group.exports else "", **_policies(group)
    )
    return fill(
        "bgp-group",
        style=style,
        group=group,
        local_as=None if brief else local_as,
        settings=() if brief else settings,
        peers=len(peers),
        established=len(up),
        addresses=() if brief else [fill("peer-address", address=_ends(device, session)[1]) for session in peers],
        queue=fill("route-queue") if detailed and up else None,
        rib=fill("bgp-counts", counts=_added(counts, up), advertised=advertised, style=style) if up else None,
    )


def _policies(group: Group) -> dict[str, str | None]:
    """Return the policies of a group and the options that Junos names."""
    words = ("AddressFamily", "PeerAS", "Multipath" if group.multipath else "", "LocalAS" if group.local_as else "")
    return {
        "exports": " ".join(group.exports) or None,
        "imports": " ".join(group.imports) or None,
        "options": " ".join(word for word in (*words, "Refresh") if word),
        "receiver": "GracefulShutdownRcv" if group.shutdown_preference is not None else None,
        "lowest": str(group.shutdown_preference) if group.shutdown_preference is not None else None,
    }


def neighbor(device: EmulatedDevice, rpc: etree._Element) -> etree._Element:
    """Answer `show bgp neighbor`, for one address, one color or all."""
    if not _is_default(rpc):
        return element("bgp-information")
    color, discovered = argument(rpc, "fabric-color"), _discovered(rpc)
    shown = chosen(device, argument(rpc, "neighbor-address"), color=color, discovered=discovered)
    counts = device.fabric.prefix_counts(device.name)
    return element("bgp-information", *(_neighbor(device, session, counts) for session in shown))


def _ends(device: EmulatedDevice, session: BgpSession) -> tuple[str, str]:
    """Return the own and the peer's address, while the session is up with their TCP ports.

    The lower address connects, from a port that follows from both.
    """
    own = f"{link_local(device.fabric, device.name, session.interface)}%{session.interface}"
    if session.neighbor is not None:
        own = address_text(session.neighbor.own)
    peer = peer_address(device.fabric, session)
    if not session.established:
        return own, peer
    port = FIRST_PORT + sum(f"{min(own, peer)}{max(own, peer)}".encode()) % PORTS
    own_port, peer_port = (port, BGP_PORT) if own < peer else (BGP_PORT, port)
    return f"{own}+{own_port}", f"{peer}+{peer_port}"


def _neighbor(device: EmulatedDevice, session: BgpSession, counts: Counts) -> etree._Element:
    switch = device.switch
    group, up = switch.groups[session.group], session.established
    own, peer = _ends(device, session)
    flags = (("Sync", up), ("AutoDiscoveredNdp", session.neighbor is None))
    return fill(
        "bgp-peer",
        session=session,
        group=group,
        own=own,
        peer=peer,
        peer_as=session.peer_asn or 0,
        system_as=switch.asn or 0,
        state=state_of(session),
        flags=" ".join(flag for flag, has in flags if has),
        last_state="OpenConfirm" if up else "Idle",
        last_event="RecvKeepAlive" if up else "Start",
        up=up_for(device, session),
        aigp=fill("aigp-mode") if group.aigp else None,
        established=_established(device, session, counts) if up else (),
        **_policies(group),
    )


def _established(device: EmulatedDevice, session: BgpSession, counts: Counts) -> list[etree._Element]:
    switch, sessions, up = device.switch, device.fabric.sessions(device.name), up_for(device, session)
    name = switch.groups[session.group].name
    return parts(
        "bgp-peer-established",
        session=session,
        peer_as=session.peer_asn or 0,
        peer_id=device.fabric.switch(session.peer).router_id or NO_ID,
        local_id=switch.router_id or NO_ID,
        group_index=_group_names(switch).index(name),
        peer_index=[one for one in sessions if switch.groups[one.group].name == name].index(session),
        snmp_index=sessions.index(session),
        bfd="enabled" if switch.groups[session.group].bfd is not None else "disabled",
        interface_index=unit_index(switch, session.interface),
        counts=_added(counts, [session]),
        advertised=device.fabric.advertised_count(device.name, session),
        up=up,
        idle=int(up) % KEEPALIVE_S,
    )
