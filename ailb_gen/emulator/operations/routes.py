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
from ailb_gen.emulator.operations.bgp import TABLE, chosen, peer_address, up_for
from ailb_gen.emulator.operations.build import Child, age, argument, element, flag
from ailb_gen.routing.rib import Path
from ailb_gen.routing.route import BGP, Route
from ailb_gen.routing.speaker import direct_prefixes

# The rows of a table about one neighbor, by prefix.
Row = tuple[Prefix, etree._Element]
Rows = Callable[[Device, etree._Element, BgpSession], Iterator[Row]]

PREFERENCE = {"direct": 0, "local": 0, "bgp": 170}
NAMES = {"direct": "Direct", "local": "Local", "bgp": "BGP"}
TABLES = ("", TABLE)
DETAILED = ("detail", "extensive")


def route_information(device: Device, rpc: etree._Element) -> etree._Element:
    """Answer `show route` in all its forms."""
    if argument(rpc, "table") not in TABLES or _is_ipv4(argument(rpc, "destination")):
        return element("route-information")
    if rpc.find("advertising-protocol-name") is not None:
        return _exchanged(device, rpc, advertised)
    if rpc.find("receive-protocol-name") is not None:
        return _exchanged(device, rpc, received)
    return shown(device, rpc)


def _is_ipv4(text: str) -> bool:
    """Return whether a destination is one of inet.0, where no route is."""
    try:
        ip_network(text, strict=False)
    except ValueError:
        return False
    return ":" not in text


def _requested(rpc: etree._Element) -> Prefix | None:
    """Return the requested destination. Raises RefusedError for text that is none."""
    text = argument(rpc, "destination")
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


def _communities(route: Route) -> etree._Element | None:
    if not route.communities:
        return None
    # RFC 1997 communities are two numbers; all others name their type first.
    kinds = {True: "community", False: "extended-community"}
    rows = [(kinds[value.partition(":")[0].isdigit()], value) for value in sorted(route.communities)]
    return element("communities", *rows)


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
    requested = _requested(rpc)
    if session is None:
        return element("route-information")
    made = [row for prefix, row in rows(device, rpc, session) if _matches(rpc, prefix, requested)]
    return element("route-information", element("route-table", ("table-name", TABLE), *made))


def advertised(device: Device, rpc: etree._Element, session: BgpSession) -> Iterator[Row]:
    """Iterate over the routes advertised to a neighbor, as they are sent.

    The table has no numbers of destinations: they would take the routes of the whole fabric.
    """
    detailed = flag(rpc, *DETAILED)
    group = device.fabric.switch(device.name).groups[session.group].name if detailed else None
    for prefix, route in device.fabric.advertised(device.name, session).items():
        path = f"[{session.asn}] {as_path(route)}" if detailed else as_path(route)
        yield prefix, _rt(prefix, [_exchanged_entry(route, detailed, "*", "Self", path, group)], detailed)


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
        _communities(route) if detailed else None,
        ("bgp-aigp", route.aigp if detailed else None),
        ("hidden-reason", hidden),
    )


def _shows(rpc: etree._Element, path: Path) -> bool:
    """Junos hides hidden routes, and with `hidden` everything else."""
    hidden = path.status == "hidden"
    return flag(rpc, "all") or hidden == flag(rpc, "hidden")


def shown(device: Device, rpc: etree._Element) -> etree._Element:
    """Answer `show route` for a prefix or all, of one protocol or all."""
    requested, protocol = _requested(rpc), argument(rpc, "protocol")
    entries: dict[Prefix, list[etree._Element]] = {}
    own = [row for row in _own_routes(device) if protocol in ("", row[1]) and not flag(rpc, "hidden")]
    for prefix, _, row in own:
        if _covers(rpc, prefix, requested):
            entries.setdefault(prefix, []).append(row)
    if protocol in ("", BGP):
        for prefix in device.fabric.prefixes(device.name):
            rows = _learned_routes(device, rpc, prefix) if _covers(rpc, prefix, requested) else []
            if rows:
                entries.setdefault(prefix, []).extend(rows)
    entries = _longest(rpc, entries, requested)
    if not entries:
        return element("route-information")
    made = [_rt(prefix, rows, flag(rpc, *DETAILED)) for prefix, rows in sorted(entries.items())]
    numbers = _numbers(device)
    return element("route-information", element("route-table", ("table-name", TABLE), *numbers, *made))


def _numbers(device: Device) -> list[Child]:
    """Count the whole table, not only the part that is shown."""
    own = [prefix for prefix, _, _ in _own_routes(device)]
    learned = device.fabric.route_totals(device.name)
    return [
        ("destination-count", len(set(own)) + learned.destinations),
        ("total-route-count", len(own) + learned.paths),
        ("active-route-count", len(set(own)) + learned.active),
        ("holddown-route-count", 0),
        ("hidden-route-count", learned.hidden),
    ]


def table_summary(device: Device, rpc: etree._Element) -> etree._Element:
    """Answer `show route summary`: the one table, and how many routes each protocol has in it."""
    kinds = [kind for _, kind, _ in _own_routes(device)]
    learned = device.fabric.route_totals(device.name)
    rows = [
        *((NAMES[kind], kinds.count(kind), kinds.count(kind)) for kind in ("direct", "local")),
        (NAMES[BGP], learned.paths, learned.active),
    ]
    protocols = [
        element("protocols", ("protocol-name", name), ("protocol-route-count", many), ("active-route-count", active))
        for name, many, active in rows
        if many
    ]
    table = element("route-table", ("table-name", TABLE), *_numbers(device), *protocols)
    groups = device.fabric.switch(device.name).groups
    number = groups[0].local_as if groups else None
    return element("route-summary-information", ("as-number", number or None), table)


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


def _rt(prefix: Prefix, rows: Iterable[etree._Element], detailed: bool) -> etree._Element:
    rows = list(rows)
    counts: list[Child] = []
    if detailed:
        many = f"{len(rows)} entries" if len(rows) > 1 else "1 entry"
        counts = [element("rt-entry-count", text=len(rows), format=many), ("rt-announced-count", 1)]
    return element("rt", *_destination(prefix, detailed), *counts, *rows, style="detail" if detailed else "brief")


def _own_routes(device: Device) -> Iterator[tuple[Prefix, str, etree._Element]]:
    """Iterate over (prefix, protocol, entry) of the direct and local routes."""
    up = device.now() - device.started
    switch = device.fabric.switch(device.name)
    direct = direct_prefixes(switch)
    for port in switch.ports.values():
        for unit in port.units:
            for address in unit.addresses:
                if address.prefix not in direct:
                    continue
                if address.prefix.length < BITS:
                    yield Prefix(address.value, BITS), "local", _own("local", unit.name, up)
                yield address.prefix, "direct", _own("direct", unit.name, up)


def _learned_routes(device: Device, rpc: etree._Element, prefix: Prefix) -> list[etree._Element]:
    """Make the entries of a prefix learned by BGP; the active one of a multipath has the next hops of all."""
    seconds = {session.interface: up_for(device, session) for session in device.fabric.sessions(device.name)}
    hops = [hop.interface for hop in device.fabric.next_hops(device.name, prefix)]
    made = []
    for path in device.fabric.paths(device.name, prefix):
        if path.peer and _shows(rpc, path):
            used = hops if path.status == "active" else [path.interface]
            made.append(_learned(rpc, device, path, used, seconds.get(path.interface, 0.0)))
    return made


def _own(kind: str, interface: str, up: float) -> etree._Element:
    hop = element("nh", ("nh-local-interface", interface))
    if kind == "direct":
        hop = element("nh", element("selected-next-hop"), ("via", interface))
    return element(
        "rt-entry",
        ("active-tag", "*"),
        element("current-active"),
        element("last-active"),
        ("protocol-name", NAMES[kind]),
        ("preference", PREFERENCE[kind]),
        ("nh-type", "Local" if kind == "local" else None),
        element("age", text=age(up), seconds=int(up)),
        hop,
    )


def _learned(rpc: etree._Element, device: Device, path: Path, used: list[str], seconds: float) -> etree._Element:
    route, active = path.route, path.status == "active"
    detailed = flag(rpc, *DETAILED)
    source = _far(device, path.interface)
    reasons = {"inactive": path.reason, "multipath": "Not Best in its group - Active preferred"}
    more: list[Child] = [
        _communities(route),
        ("rt-aigp", route.aigp),
        ("peer-as", route.as_path[0]),
        ("gateway", source),
        ("inactive-reason", reasons.get(path.status)),
    ]
    return element(
        "rt-entry",
        ("active-tag", "*" if active else " "),
        *((element("current-active"), element("last-active")) if active else ()),
        ("protocol-name", "BGP"),
        ("preference", PREFERENCE[BGP]),
        element("age", text=age(seconds), seconds=int(seconds)),
        ("metric", route.med),
        ("local-preference", route.local_preference),
        ("learned-from", source),
        ("as-path", as_path(route)),
        ("validation-state", "unverified"),
        *(more if detailed else ()),
        *(_hop(device, interface, interface == path.interface) for interface in used),
        ("hidden-reason", path.reason if path.status == "hidden" else None),
    )


def _far(device: Device, interface: str) -> str:
    far = device.fabric.neighbor(device.name, interface.rpartition(".")[0])
    return link_local(device.fabric, far.device, f"{far.port}.0") if far is not None else ""


def _hop(device: Device, interface: str, chosen_one: bool) -> etree._Element:
    selected = element("selected-next-hop") if chosen_one else None
    return element("nh", selected, ("to", _far(device, interface)), ("via", interface))
