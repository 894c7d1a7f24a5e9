"""Routes of inet6.0: `show route`, also of those advertised to and received from a BGP neighbor.

In `detail` and `extensive` next hops are numbered as in the forwarding table; values of a device's memory are
the same for all: address 0 and one reference.

Source: Juniper's operational YANG model junos-rpc-route; replies of real devices.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from ipaddress import ip_network

from lxml import etree

from ailb_gen.addresses import BITS, Prefix, address_text, interface_value
from ailb_gen.emulator.device import EmulatedDevice
from ailb_gen.emulator.fabric_state import BgpSession, end_address
from ailb_gen.emulator.messages import refusal
from ailb_gen.emulator.operations.bgp import NO_ID, TABLE, chosen, peer_address, up_for
from ailb_gen.emulator.operations.build import Child, age, argument, element, fill, flag, parts
from ailb_gen.emulator.operations.ports import FIRST_LIST, next_hop_index
from ailb_gen.network.model import Switch
from ailb_gen.routing.rib import Path
from ailb_gen.routing.route import BGP, Route
from ailb_gen.routing.speaker import direct_prefixes

# The rows of a table about one neighbor, by prefix.
Row = tuple[Prefix, etree._Element]
Rows = Callable[[EmulatedDevice, etree._Element, BgpSession], Iterator[Row]]

PREFERENCE = {"direct": 0, "local": 0, "bgp": 170}
NAMES = {"direct": "Direct", "local": "Local", "bgp": "BGP"}
TABLES = ("", TABLE)
# Protocols that a request may name; a fabric has routes of those in NAMES.
PROTOCOLS = {
    *("access", "access-internal", "aggregate", "anchor", "arp", "evpn", "flow", "isis", "kernel", "l2circuit"),
    *("l2vpn", "ldp", "mpls", "msdp", "ospf", "ospf2", "ospf3", "pim", "rip", "ripng", "rsvp", "static", "tunnel"),
    *NAMES,
}
DETAILED = ("detail", "extensive")
# State and flags of a route in the long forms, by the status of its path.
STATES = {"active": "Active Ext", "hidden": "Hidden Ext"}
FLAGS = {"active": "Accepted", "multipath": "Accepted MultipathContrib", "hidden": None}


def route_information(device: EmulatedDevice, rpc: etree._Element) -> etree._Element:
    """Answer `show route` in all its forms."""
    if argument(rpc, "table") not in TABLES or is_ipv4(argument(rpc, "destination")):
        return element("route-information")
    if rpc.find("advertising-protocol-name") is not None:
        return _exchanged(device, rpc, advertised)
    if rpc.find("receive-protocol-name") is not None:
        return _exchanged(device, rpc, received)
    return shown(device, rpc)


def is_ipv4(text: str) -> bool:
    """Return whether a destination is one of inet.0, where no route is."""
    try:
        ip_network(text, strict=False)
    except ValueError:
        return False
    return ":" not in text


def requested_prefix(rpc: etree._Element) -> Prefix | None:
    """Return the requested destination. Raises RpcRefusedError for text that is none."""
    text = argument(rpc, "destination")
    if not text and flag(rpc, "exact"):
        raise refusal("syntax error, exact takes a prefix in front", element="exact")
    if not text:
        return None
    found = interface_value(text if "/" in text else f"{text}/{BITS}")
    if found is None:
        raise refusal(f"syntax error: {text} is not an IPv6 address or prefix", element=text)
    return found[1]


def _matches(rpc: etree._Element, prefix: Prefix, requested: Prefix | None) -> bool:
    if requested is None:
        return True
    return prefix == requested if flag(rpc, "exact") else requested.contains(prefix)


def as_path(route: Route) -> str:
    """Write an AS path; every route here has origin IGP."""
    return " ".join([*map(str, route.as_path), "I"])


def _destination(prefix: Prefix, detailed: bool) -> list[Child]:
    if not detailed:
        return [("rt-destination", prefix)]
    return [("rt-destination", address_text(prefix.value)), ("rt-prefix-length", prefix.length)]


def _exchanged(device: EmulatedDevice, rpc: etree._Element, rows: Rows) -> etree._Element:
    """Answer `show route` for one neighbor; empty if its session is not established."""
    protocol = argument(rpc, "advertising-protocol-name") or argument(rpc, "receive-protocol-name")
    address = argument(rpc, "neighbor") or argument(rpc, "peer")
    if protocol != BGP or not address:
        raise refusal("missing argument: a protocol, bgp, and the address of a neighbor", tag="missing-element")
    session = next((found for found in chosen(device, address) if found.established), None)
    requested = requested_prefix(rpc)
    if session is None:
        return element("route-information")
    made = [row for prefix, row in rows(device, rpc, session) if _matches(rpc, prefix, requested)]
    return element("route-information", fill("route-table", counts=table_numbers(device), rows=made))


def advertised(device: EmulatedDevice, rpc: etree._Element, session: BgpSession) -> Iterator[Row]:
    """Iterate over the routes advertised to a neighbor, as they are sent; no hidden one is."""
    detailed = flag(rpc, *DETAILED)
    group = device.switch.groups[session.group].name if detailed else None
    if flag(rpc, "hidden"):
        return
    for prefix, route in device.fabric.advertised(device.name, session).items():
        path = f"[{session.asn}] {as_path(route)}" if detailed else as_path(route)
        entry = _exchanged_entry(route, detailed, "*", "Self", path, group)
        yield prefix, element("rt", *_destination(prefix, detailed), entry)


def received(device: EmulatedDevice, rpc: etree._Element, session: BgpSession) -> Iterator[Row]:
    """Iterate over the routes received from a neighbor; hidden ones only with `hidden` or `all`."""
    detailed = flag(rpc, *DETAILED)
    next_hop = peer_address(device.fabric, session).partition("%")[0]
    for prefix in device.fabric.prefixes(device.name):
        for path in device.fabric.paths(device.name, prefix):
            if path.interface == session.interface and _shows(rpc, path):
                tag = "*" if path.status == "active" else " "
                hidden = path.reason if path.status == "hidden" else None
                entry = _exchanged_entry(path.route, detailed, tag, next_hop, as_path(path.route), None, hidden)
                yield prefix, element("rt", *_destination(prefix, detailed), entry)


def _exchanged_entry(
    route: Route, detailed: bool, tag: str, next_hop: str, path: str, group: str | None, hidden: str | None = None
) -> etree._Element:
    return fill(
        "exchanged",
        route=route,
        tag=tag,
        protocol=None if detailed else "BGP",
        group=group,
        next_hop=next_hop,
        path=path,
        communities=_communities(route) if detailed else None,
        aigp=route.aigp if detailed else None,
        hidden=hidden,
    )


def _communities(route: Route) -> etree._Element | None:
    """Make the communities of a route, None without any."""
    if not route.communities:
        return None
    # RFC 1997 communities are two numbers; all others name their type first.
    kinds = {True: "community", False: "extended-community"}
    return element(
        "communities", *((kinds[value.partition(":")[0].isdigit()], value) for value in sorted(route.communities))
    )


def _shows(rpc: etree._Element, path: Path) -> bool:
    """Junos hides hidden routes, and with `hidden` everything else."""
    hidden = path.status == "hidden"
    return flag(rpc, "all") or hidden == flag(rpc, "hidden")


def shown(device: EmulatedDevice, rpc: etree._Element) -> etree._Element:
    """Answer `show route` for a prefix or all, of one protocol or all. Raises RpcRefusedError."""
    requested, protocol = requested_prefix(rpc), argument(rpc, "protocol")
    if protocol and protocol not in PROTOCOLS:
        raise refusal("syntax error, expecting a protocol", element=protocol)
    entries: dict[Prefix, list[etree._Element]] = {}
    own = [row for row in _own_routes(device, rpc) if protocol in ("", row[1]) and not flag(rpc, "hidden")]
    for prefix, _, row in own:
        if _covers(rpc, prefix, requested):
            entries.setdefault(prefix, []).append(row)
    if protocol in ("", BGP):
        for prefix in device.fabric.prefixes(device.name):
            rows = _learned_routes(device, rpc, prefix) if _covers(rpc, prefix, requested) else []
            if rows:
                entries.setdefault(prefix, []).extend(rows)
    entries = _of_state(rpc, _longest(rpc, entries, requested))
    if not entries:
        return element("route-information")
    made = [_rt(rpc, prefix, rows) for prefix, rows in sorted(entries.items())]
    return element("route-information", fill("route-table", counts=table_numbers(device), rows=made))


def _of_state(rpc: etree._Element, entries: dict[Prefix, list[etree._Element]]) -> dict[Prefix, list[etree._Element]]:
    """Return the entries that are in use, or those that are not, if a request names one of both."""
    requested_state = next((name for name in ("active-path", "inactive-path") if flag(rpc, name)), "")
    if not requested_state:
        return entries
    kept = {
        prefix: [row for row in rows if (row.find("current-active") is not None) == (requested_state == "active-path")]
        for prefix, rows in entries.items()
    }
    return {prefix: rows for prefix, rows in kept.items() if rows}


def table_numbers(device: EmulatedDevice) -> list[etree._Element]:
    """Count the whole table, not only the part that is shown."""
    own = [prefix for prefix, _, _ in own_prefixes(device)]
    learned = device.fabric.route_totals(device.name)
    return parts(
        "table-counts",
        destinations=len(set(own)) + learned.destinations,
        total=len(own) + learned.paths,
        active=len(set(own)) + learned.active,
        hidden=learned.hidden,
    )


def _covers(rpc: etree._Element, prefix: Prefix, requested: Prefix | None) -> bool:
    """Return whether a route is requested: an address by prefixes that hold it, a prefix by those in it."""
    if requested is not None and requested.length == BITS and not flag(rpc, "exact"):
        return prefix.holds(requested.value)
    return _matches(rpc, prefix, requested)


def _longest(
    rpc: etree._Element, entries: dict[Prefix, list[etree._Element]], requested: Prefix | None
) -> dict[Prefix, list[etree._Element]]:
    if requested is None or requested.length < BITS or flag(rpc, "exact"):
        return entries
    longest = max((prefix.length for prefix in entries), default=0)
    return {prefix: rows for prefix, rows in entries.items() if prefix.length == longest}


def _rt(rpc: etree._Element, prefix: Prefix, rows: Sequence[etree._Element]) -> etree._Element:
    """Make a prefix with its entries; in its long form with the number of entries, and of announced ones."""
    if not flag(rpc, *DETAILED):
        return element("rt", *_destination(prefix, False), *rows, style="terse" if flag(rpc, "terse") else "brief")
    active = [row for row in rows if row.find("current-active") is not None]
    return fill(
        "rt-detail",
        destination=_destination(prefix, True),
        count=len(rows),
        shown=f"{len(rows)} entries" if len(rows) > 1 else "1 entry",
        announced=len(active),
        kernel=_in_kernel(prefix, active[0]) if flag(rpc, "extensive") and active else None,
        rows=rows,
    )


def _in_kernel(prefix: Prefix, entry: etree._Element) -> etree._Element | None:
    """Make the entry of the kernel for a prefix, None for one of its own interfaces."""
    hops = [hop.findtext("to") or "" for hop in entry.iterfind("nh") if hop.find("to") is not None]
    return fill("tsi", prefix=prefix, hops=", ".join(hops)) if hops else None


def own_prefixes(device: EmulatedDevice) -> Iterator[tuple[Prefix, str, str]]:
    """Iterate over (prefix, protocol, interface) of the direct and local routes."""
    switch = device.switch
    direct = direct_prefixes(switch)
    for port in switch.ports.values():
        for unit in port.units:
            for address in unit.addresses:
                if address.prefix not in direct:
                    continue
                if address.prefix.length < BITS:
                    yield Prefix(address.value, BITS), "local", unit.name
                yield address.prefix, "direct", unit.name


def _own_routes(device: EmulatedDevice, rpc: etree._Element) -> Iterator[tuple[Prefix, str, etree._Element]]:
    """Iterate over (prefix, protocol, entry) of the direct and local routes."""
    up, switch = device.up_s, device.switch
    for prefix, kind, interface in own_prefixes(device):
        rest = _own_detail(switch, kind, interface, up) if flag(rpc, *DETAILED) else _own(kind, interface, up)
        yield prefix, kind, _entry(kind, True, rest)


def _entry(kind: str, active: bool, rest: Sequence[Child]) -> etree._Element:
    marks = [element("current-active"), element("last-active")] if active else ()
    protocol, preference = NAMES[kind], PREFERENCE[kind]
    tag = "*" if active else " "
    return fill("rt-entry", tag=tag, active=marks, protocol=protocol, preference=preference, rest=rest)


def _own(kind: str, interface: str, up: float) -> list[Child]:
    length = element("age", text=age(up), seconds=int(up))
    if kind == "local":
        return [length, ("nh-type", "Local"), element("nh", ("nh-local-interface", interface))]
    return [length, element("nh", element("selected-next-hop"), ("via", interface))]


def _own_detail(switch: Switch, kind: str, interface: str, up: float) -> list[etree._Element]:
    local = kind == "local"
    hop = element("nh", ("nh-local-interface", interface), indent=16) if local else _hop_detail("", interface, True)
    return parts(
        "own-detail",
        head=_next_hop(switch, "Local" if local else "Interface", [interface]),
        hop=hop,
        state="Active NoReadvrt Int" if local else "Active Int",
        asn=switch.asn,
        up=up,
    )


def _next_hop(switch: Switch, kind: str, interfaces: Sequence[str]) -> etree._Element:
    """Make the common part of several next hops: their kind, and the number of one or of their list."""
    routed = kind == "Router"
    index = FIRST_LIST if len(interfaces) > 1 else next_hop_index(switch, interfaces[0]) if routed else 0
    return fill("nhh", kind=kind, index=index, number=0 if routed else None)


def _hop_detail(to: str, interface: str, is_chosen: bool) -> etree._Element:
    """Make one next hop of several; a direct route has no address."""
    selected = element("selected-next-hop") if is_chosen else None
    return fill("hop-detail", to=to or None, via=interface, selected=selected, session=0 if to else None)


def _learned_routes(device: EmulatedDevice, rpc: etree._Element, prefix: Prefix) -> list[etree._Element]:
    """Make the entries of a prefix learned by BGP; the active one of a multipath has the next hops of all."""
    sessions = {session.interface: session for session in device.fabric.sessions(device.name)}
    hops = [hop.interface for hop in device.fabric.next_hops(device.name, prefix)]
    made = []
    for path in device.fabric.paths(device.name, prefix):
        if path.peer and _shows(rpc, path):
            used = hops if path.status == "active" else [path.interface]
            made.append(_learned(rpc, device, path, sessions.get(path.interface), used))
    return made


def _learned(
    rpc: etree._Element, device: EmulatedDevice, path: Path, session: BgpSession | None, used: list[str]
) -> etree._Element:
    detailed, active = flag(rpc, *DETAILED), path.status == "active"
    made = _hop_detail if detailed else _hop
    common = {
        "route": path.route,
        "source": next_hop(device, path.interface),
        "path": as_path(path.route),
        "seconds": up_for(device, session) if session is not None else 0.0,
        "hops": [made(next_hop(device, one), one, one == path.interface) for one in used],
        "hidden": path.reason if path.status == "hidden" else None,
    }
    if detailed:
        return _entry(BGP, active, _learned_detail(device, path, session, used, common))
    if len(used) == 1:
        # Junos names the neighbor where the next hops do not.
        common["source"] = None
    return _entry(BGP, active, parts("learned", **common))


def _learned_detail(
    device: EmulatedDevice, path: Path, session: BgpSession | None, used: list[str], common: dict[str, object]
) -> list[etree._Element]:
    switch, active = device.switch, path.status == "active"
    reasons = {"inactive": path.reason, "multipath": "Not Best in its group - Active preferred"}
    return parts(
        "learned-detail",
        preference=-(path.route.local_preference or 0) - 1,
        head=_next_hop(switch, "Router", used),
        state=STATES.get(path.status, "NotBest Ext"),
        reason=reasons.get(path.status),
        asn=session.asn if session is not None else None,
        peer_as=path.route.as_path[0],
        bits=1 if active else None,
        tasks="0-KRT" if active else None,
        communities=_communities(path.route),
        flags=FLAGS.get(path.status, "Accepted"),
        peer_id=(device.fabric.switch(session.peer).router_id if session is not None else None) or NO_ID,
        **common,
    )


def next_hop(device: EmulatedDevice, interface: str) -> str:
    """Return the address of the device at the other end of an interface, empty without one."""
    far = device.fabric.neighbor(device.name, interface.rpartition(".")[0])
    return end_address(device.fabric, far)


def _hop(to: str, interface: str, is_chosen: bool) -> etree._Element:
    return element("nh", element("selected-next-hop") if is_chosen else None, ("to", to), ("via", interface))
