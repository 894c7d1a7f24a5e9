"""Routes of inet6.0: `show route`, also of what is advertised to and received from a BGP neighbor.

Source: Juniper's operational YANG model junos-rpc-route.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from ipaddress import ip_network

from lxml import etree

from ailb_gen.addresses import BITS, Prefix, address_text, interface_value
from ailb_gen.emulator.device import Device
from ailb_gen.emulator.fabric_state import BgpSession, link_local
from ailb_gen.emulator.messages import refusal
from ailb_gen.emulator.operations import route_detail
from ailb_gen.emulator.operations.bgp import TABLE, chosen, peer_address, up_for
from ailb_gen.emulator.operations.build import Child, age, argument, element, flag
from ailb_gen.emulator.operations.route_detail import communities
from ailb_gen.routing.rib import Path
from ailb_gen.routing.route import BGP, Route
from ailb_gen.routing.speaker import direct_prefixes

# The rows of a table about one neighbor, by prefix.
Row = tuple[Prefix, etree._Element]
Rows = Callable[[Device, etree._Element, BgpSession], Iterator[Row]]

PREFERENCE = {"direct": 0, "local": 0, "bgp": 170}
NAMES = {"direct": "Direct", "local": "Local", "bgp": "BGP"}
TABLES = ("", TABLE)
# What may be asked for; a fabric has routes of those in NAMES.
PROTOCOLS = {
    *("access", "access-internal", "aggregate", "anchor", "arp", "evpn", "flow", "isis", "kernel", "l2circuit"),
    *("l2vpn", "ldp", "mpls", "msdp", "ospf", "ospf2", "ospf3", "pim", "rip", "ripng", "rsvp", "static", "tunnel"),
    *NAMES,
}
DETAILED = ("detail", "extensive")


def route_information(device: Device, rpc: etree._Element) -> etree._Element:
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
    """Return the requested destination. Raises RefusedError for text that is none."""
    text = argument(rpc, "destination")
    if not text and flag(rpc, "exact"):
        raise refusal("syntax error, exact takes a prefix in front", element="exact")
    if not text:
        return None
    found = interface_value(text if "/" in text else f"{text}/{BITS}")
    if found is None:
        raise refusal(f"syntax error: {text} is no IPv6 address or prefix", element=text)
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


def _exchanged(device: Device, rpc: etree._Element, rows: Rows) -> etree._Element:
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
    return element("route-information", element("route-table", ("table-name", TABLE), *table_numbers(device), *made))


def advertised(device: Device, rpc: etree._Element, session: BgpSession) -> Iterator[Row]:
    """Iterate over the routes advertised to a neighbor, as they are sent; no hidden one is."""
    detailed = flag(rpc, *DETAILED)
    group = device.fabric.switch(device.name).groups[session.group].name if detailed else None
    if flag(rpc, "hidden"):
        return
    for prefix, route in device.fabric.advertised(device.name, session).items():
        path = f"[{session.asn}] {as_path(route)}" if detailed else as_path(route)
        yield (
            prefix,
            element("rt", *_destination(prefix, detailed), _exchanged_entry(route, detailed, "*", "Self", path, group)),
        )


def received(device: Device, rpc: etree._Element, session: BgpSession) -> Iterator[Row]:
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
    return element(
        "rt-entry",
        ("active-tag", tag),
        ("protocol-name", None if detailed else "BGP"),
        ("bgp-group-name", group),
        element("nh", ("to", next_hop)),
        ("med", route.med),
        ("as-path", path),
        communities(route) if detailed else None,
        ("bgp-aigp", route.aigp if detailed else None),
        ("hidden-reason", hidden),
    )


def _shows(rpc: etree._Element, path: Path) -> bool:
    """Junos hides hidden routes, and with `hidden` everything else."""
    hidden = path.status == "hidden"
    return flag(rpc, "all") or hidden == flag(rpc, "hidden")


def shown(device: Device, rpc: etree._Element) -> etree._Element:
    """Answer `show route` for a prefix or all, of one protocol or all. Raises RefusedError."""
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
    numbers = table_numbers(device)
    return element("route-information", element("route-table", ("table-name", TABLE), *numbers, *made))


def _of_state(rpc: etree._Element, entries: dict[Prefix, list[etree._Element]]) -> dict[Prefix, list[etree._Element]]:
    """Return the entries that are in use, or those that are not, if one of both is asked for."""
    wanted = next((name for name in ("active-path", "inactive-path") if flag(rpc, name)), "")
    if not wanted:
        return entries
    kept = {
        prefix: [row for row in rows if (row.find("current-active") is not None) == (wanted == "active-path")]
        for prefix, rows in entries.items()
    }
    return {prefix: rows for prefix, rows in kept.items() if rows}


def table_numbers(device: Device) -> list[Child]:
    """Count the whole table, not only the part that is shown."""
    own = [prefix for prefix, _, _ in own_prefixes(device)]
    learned = device.fabric.route_totals(device.name)
    return [
        ("destination-count", len(set(own)) + learned.destinations),
        ("total-route-count", len(own) + learned.paths),
        ("active-route-count", len(set(own)) + learned.active),
        ("holddown-route-count", 0),
        ("hidden-route-count", learned.hidden),
    ]


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


def _rt(rpc: etree._Element, prefix: Prefix, rows: Iterable[etree._Element]) -> etree._Element:
    """Make a prefix with its entries; in its long form with how many there are, and how many are announced."""
    rows, detailed = list(rows), flag(rpc, *DETAILED)
    if not detailed:
        return element("rt", *_destination(prefix, detailed), *rows, style="terse" if flag(rpc, "terse") else "brief")
    many = f"{len(rows)} entries" if len(rows) > 1 else "1 entry"
    active = [row for row in rows if row.find("current-active") is not None]
    return element(
        "rt",
        *_destination(prefix, detailed),
        element("rt-entry-count", text=len(rows), format=many),
        ("rt-announced-count", len(active)),
        ("rt-state", ""),
        _in_kernel(prefix, active[0]) if flag(rpc, "extensive") and active else None,
        *rows,
        style="detail",
    )


def _in_kernel(prefix: Prefix, entry: etree._Element) -> etree._Element | None:
    """Make what a protocol has told the kernel of a prefix, None for one of its own interfaces."""
    hops = [hop.findtext("to") for hop in entry.iterfind("nh") if hop.find("to") is not None]
    return element("tsi", text=f"KRT in-kernel {prefix} -> {{{', '.join(map(str, hops))}}}", indent=8) if hops else None


def own_prefixes(device: Device) -> Iterator[tuple[Prefix, str, str]]:
    """Iterate over (prefix, protocol, interface) of the direct and local routes."""
    switch = device.fabric.switch(device.name)
    direct = direct_prefixes(switch)
    for port in switch.ports.values():
        for unit in port.units:
            for address in unit.addresses:
                if address.prefix not in direct:
                    continue
                if address.prefix.length < BITS:
                    yield Prefix(address.value, BITS), "local", unit.name
                yield address.prefix, "direct", unit.name


def _own_routes(device: Device, rpc: etree._Element) -> Iterator[tuple[Prefix, str, etree._Element]]:
    """Iterate over (prefix, protocol, entry) of the direct and local routes."""
    up, switch = device.now() - device.started, device.fabric.switch(device.name)
    for prefix, kind, interface in own_prefixes(device):
        rest = route_detail.own(switch, kind, interface, up) if flag(rpc, *DETAILED) else _own(kind, interface, up)
        yield prefix, kind, _entry(NAMES[kind], PREFERENCE[kind], True, *rest)


def _entry(protocol: str, preference: int, active: bool, *rest: Child) -> etree._Element:
    return element(
        "rt-entry",
        ("active-tag", "*" if active else " "),
        *((element("current-active"), element("last-active")) if active else ()),
        ("protocol-name", protocol),
        ("preference", preference),
        *rest,
    )


def _own(kind: str, interface: str, up: float) -> Iterator[Child]:
    yield element("age", text=age(up), seconds=int(up))
    if kind == "local":
        yield "nh-type", "Local"
        yield element("nh", ("nh-local-interface", interface))
    else:
        yield element("nh", element("selected-next-hop"), ("via", interface))


def _learned_routes(device: Device, rpc: etree._Element, prefix: Prefix) -> list[etree._Element]:
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
    rpc: etree._Element, device: Device, path: Path, session: BgpSession | None, used: list[str]
) -> etree._Element:
    seconds = up_for(device, session) if session is not None else 0.0
    source, active = _far(device, path.interface), path.status == "active"
    if flag(rpc, *DETAILED):
        hops = [route_detail.hop(_far(device, one), one, one == path.interface) for one in used]
        rest = route_detail.learned(device, path, session, source, hops, seconds)
        return _entry(NAMES[BGP], PREFERENCE[BGP], active, *rest)
    return _entry(
        NAMES[BGP],
        PREFERENCE[BGP],
        active,
        element("age", text=age(seconds), seconds=int(seconds)),
        ("med", path.route.med),
        ("local-preference", path.route.local_preference),
        # Junos names the neighbor where the next hops do not.
        ("learned-from", source if len(used) > 1 else None),
        ("as-path", as_path(path.route)),
        ("validation-state", "unverified"),
        *(_hop(device, interface, interface == path.interface) for interface in used),
        ("hidden-reason", path.reason if path.status == "hidden" else None),
    )


def _far(device: Device, interface: str) -> str:
    far = device.fabric.neighbor(device.name, interface.rpartition(".")[0])
    return link_local(device.fabric, far.device, f"{far.port}.0") if far is not None else ""


def _hop(device: Device, interface: str, chosen_one: bool) -> etree._Element:
    selected = element("selected-next-hop") if chosen_one else None
    return element("nh", selected, ("to", _far(device, interface)), ("via", interface))
