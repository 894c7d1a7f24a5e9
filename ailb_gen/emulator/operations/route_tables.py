"""The tables as a whole: `show route summary`, `show route instance` and `show route forwarding-table`.

Source: Juniper's operational YANG model junos-rpc-route; Junos CLI Reference, "show route forwarding-table"; replies of
real devices.
"""

from __future__ import annotations

from lxml import etree

from ailb_gen.addresses import BITS, Prefix
from ailb_gen.emulator.device import EmulatedDevice
from ailb_gen.emulator.operations.bgp import NO_ID, TABLE
from ailb_gen.emulator.operations.build import argument, element, fill, flag
from ailb_gen.emulator.operations.ports import FIRST_LIST, FIRST_NEXT_HOP, next_hop_index
from ailb_gen.emulator.operations.routes import NAMES, is_ipv4, next_hop, own_prefixes, requested_prefix, table_numbers
from ailb_gen.routing.route import BGP
from ailb_gen.routing.speaker import direct_prefixes

FORWARDING_FAMILIES = ("", "inet6")
FORWARDING_TABLES = ("", "default", "default.inet6", TABLE)


def table_summary(device: EmulatedDevice, rpc: etree._Element) -> etree._Element:
    """Answer `show route summary`, also of one table: there is one, with the number of routes of each protocol."""
    kinds = [kind for _, kind, _ in own_prefixes(device)]
    learned, switch = device.fabric.route_totals(device.name), device.switch
    counted = [(NAMES[kind], kinds.count(kind), kinds.count(kind)) for kind in ("direct", "local")]
    counted.append((NAMES[BGP], learned.paths, learned.active))
    rows = [fill("protocols", name=name, count=count, active=active) for name, count, active in counted if count]
    shown = argument(rpc, "table") in ("", TABLE)
    return fill(
        "route-summary-information",
        switch=switch,
        asn=switch.asn or next((group.local_as for group in switch.groups), None),
        table=fill("route-table", counts=table_numbers(device), rows=rows) if shown else None,
    )


def instances(device: EmulatedDevice, rpc: etree._Element) -> etree._Element:
    """Answer `show route instance`: the default instance only, with its tables."""
    detailed, switch = flag(rpc, "detail", "extensive"), device.switch
    counts = {str(row.tag): row.text for row in table_numbers(device)}
    units = [unit.name for port in switch.ports.values() for unit in port.units]
    core = fill(
        "instance-core",
        router_id=(switch.router_id or NO_ID) if detailed else None,
        state="Active" if detailed else None,
        interfaces=[fill("instance-interface", name=name) for name in units] if detailed else (),
        total=counts["total-route-count"] if detailed else None,
        active=counts["active-route-count"],
        hidden=counts["hidden-route-count"],
    )
    shown = [core] if argument(rpc, "instance-name") in ("", "master") else []
    return element("instance-information", *shown, style="detail" if detailed else "terse")


def forwarding_table(device: EmulatedDevice, rpc: etree._Element) -> etree._Element:
    """Answer `show route forwarding-table` for IPv6, of one destination or all."""
    text, family, table = (argument(rpc, name) for name in ("destination", "family", "table"))
    if family not in FORWARDING_FAMILIES or table not in FORWARDING_TABLES or is_ipv4(text):
        return element("forwarding-table-information")
    requested = requested_prefix(rpc)
    own = direct_prefixes(device.switch)
    shown = [prefix for prefix in {*own, *device.fabric.prefixes(device.name)} if _covers(prefix, requested)]
    if requested is not None:
        longest = max((prefix.length for prefix in shown), default=0)
        shown = [prefix for prefix in shown if prefix.length == longest]
    rows = []
    for prefix in sorted(shown):
        interfaces = [hop.interface for hop in device.fabric.next_hops(device.name, prefix)]
        if interfaces or prefix in own:
            kind = "user" if interfaces else "intf"
            rows.append(fill("forwarding-entry", prefix=prefix, kind=kind, hops=_hops(device, interfaces)))
    made = element("route-table", ("table-name", "default"), ("address-family", "Internet6"), *rows)
    return element("forwarding-table-information", made)


def _covers(prefix: Prefix, requested: Prefix | None) -> bool:
    """Return whether an entry is requested: an address by prefixes that hold it, a prefix by itself."""
    if requested is None or prefix == requested:
        return True
    return requested.length == BITS and prefix.holds(requested.value)


def _hops(device: EmulatedDevice, interfaces: list[str]) -> list[etree._Element]:
    """Make the next hops of an entry, several behind their list; without one addresses are resolved."""
    if not interfaces:
        return [fill("forwarding-hop", to="", kind="rslv", index=FIRST_NEXT_HOP - 1, via=None)]
    made = [fill("forwarding-hop", to="", kind="ulst", index=FIRST_LIST, via=None)] if len(interfaces) > 1 else []
    for interface in interfaces:
        index = next_hop_index(device.switch, interface)
        made.append(fill("forwarding-hop", to=next_hop(device, interface), kind="ucst", index=index, via=interface))
    return made
