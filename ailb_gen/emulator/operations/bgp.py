"""BGP in brief: `show bgp summary`, and what all answers about BGP have in common.

Source: Juniper's operational YANG model junos-rpc-bgp; replies of real devices.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from ipaddress import ip_address

from lxml import etree

from ailb_gen.emulator.device import Device
from ailb_gen.emulator.fabric_state import BgpSession, FabricState, PrefixCounts, link_local
from ailb_gen.emulator.messages import refusal
from ailb_gen.emulator.operations.build import argument, elapsed, element

TABLE, FAMILY = "inet6.0", "inet6-unicast"
# Junos counts these names the same: no instance named, or the default one.
DEFAULT_INSTANCE = ("", "master")
RESTARTED = "BGP restart is complete"
HEADING = (
    "Peer                     AS      InPkt     OutPkt    OutQ   Flaps Last Up/Dwn "
    "State|#Active/Received/Accepted/Damped..."
)


def peer_address(fabric: FabricState, session: BgpSession) -> str:
    """Return the address that Junos calls a discovered neighbor by: link-local, with the interface as its scope."""
    return f"{link_local(fabric, session.peer, session.peer_interface)}%{session.interface}"


def chosen(device: Device, neighbor: str, group: str = "", color: str = "") -> Iterator[BgpSession]:
    """Iterate over the neighbors with an address, with or without its scope, in a group, of a color; all if empty.

    Raises RefusedError for an address that is none.
    """
    if neighbor and not _is_address(neighbor.partition("%")[0]):
        raise refusal(f"invalid address: {neighbor}", element=neighbor)
    groups = device.fabric.switch(device.name).groups
    for session in device.fabric.sessions(device.name):
        address = peer_address(device.fabric, session)
        own = groups[session.group]
        if (
            neighbor in ("", address, address.partition("%")[0])
            and group in ("", own.name)
            and color in ("", own.color)
        ):
            yield session


def _is_address(text: str) -> bool:
    try:
        ip_address(text)
    except ValueError:
        return False
    return True


def up_for(device: Device, session: BgpSession) -> float:
    """Return the seconds since a session came up; or, while it is down, since the device tries."""
    return max(device.now() - max(device.started, session.since or 0.0), 0.0)


def state(session: BgpSession) -> str:
    """Return the state of a session as Junos calls it; one that is down keeps trying to connect."""
    return "Established" if session.established else "Active"


def asks_default(rpc: etree._Element) -> bool:
    """Return whether a request is about the default instance, the only one here."""
    return argument(rpc, "instance") in DEFAULT_INSTANCE and argument(rpc, "exact-instance") in DEFAULT_INSTANCE


def counted(counts: PrefixCounts) -> Iterator[tuple[str, int]]:
    """Iterate over the counts of prefixes received from a neighbor, as elements."""
    for kind in ("active", "received", "accepted"):
        yield f"{kind}-prefix-count", getattr(counts, kind)
    yield "suppressed-prefix-count", 0


def added(counts: Iterable[PrefixCounts]) -> PrefixCounts:
    """Add up the counts of several sessions."""
    rows = list(counts)
    return PrefixCounts(*(sum(row[field] for row in rows) for field in range(len(PrefixCounts._fields))))


def summary(device: Device, rpc: etree._Element) -> etree._Element:
    """Answer `show bgp summary`, for one group, one color or all."""
    if not asks_default(rpc):
        return element("bgp-information")
    groups = device.fabric.switch(device.name).groups
    requested, color = argument(rpc, "group"), argument(rpc, "fabric-color")
    peers = list(chosen(device, "", requested, color))
    counts = device.fabric.prefix_counts(device.name)
    return element(
        "bgp-information",
        ("bgp-thread-mode", "BGP I/O"),
        ("thread-state", ""),
        ("default-ebgp-advertise-mode", "accept"),
        ("default-ebgp-receive-mode", "accept"),
        ("group-count", sum(1 for group in groups if requested in ("", group.name) and color in ("", group.color))),
        ("peer-count", len(peers)),
        ("down-peer-count", sum(1 for session in peers if not session.established)),
        ("auto-discovered-peer-count", len(peers) or None),
        table(added(counts.get(session.interface, PrefixCounts()) for session in peers)) if groups else None,
        *(
            _summed_up(device, session, counts.get(session.interface, PrefixCounts()), first=session is peers[0])
            for session in peers
        ),
    )


def table(counts: PrefixCounts) -> etree._Element:
    """Make what a device counts in the table of all its neighbors."""
    return element(
        "bgp-rib",
        ("name", TABLE),
        ("total-prefix-count", counts.received),
        ("received-prefix-count", counts.received),
        ("accepted-prefix-count", counts.accepted),
        ("active-prefix-count", counts.active),
        *((f"{word}-prefix-count", 0) for word in ("suppressed", "history", "damped")),
        ("total-external-prefix-count", counts.received),
        ("active-external-prefix-count", counts.active),
        ("accepted-external-prefix-count", counts.accepted),
        ("suppressed-external-prefix-count", 0),
        *((f"{word}-internal-prefix-count", 0) for word in ("total", "active", "accepted", "suppressed")),
        ("pending-prefix-count", 0),
        ("bgp-rib-state", RESTARTED),
        style="brief",
    )


def _summed_up(device: Device, session: BgpSession, counts: PrefixCounts, first: bool) -> etree._Element:
    seconds = up_for(device, session)
    # A state that has a short name is shown by it.
    shown = {"format": "Establ"} if session.established else {}
    rib = element("bgp-rib", ("name", TABLE), *counted(counts), style="terse")
    return element(
        "bgp-peer",
        ("peer-address", peer_address(device.fabric, session)),
        ("peer-as", session.peer_asn or 0),
        ("input-messages", 0),
        ("output-messages", 0),
        ("route-queue-count", 0),
        ("flap-count", session.flaps),
        element("elapsed-time", text=elapsed(seconds), seconds=int(seconds)),
        element("peer-state", text=state(session), **shown),
        rib if session.established else None,
        style="terse",
        **({"heading": HEADING} if first else {}),
    )
