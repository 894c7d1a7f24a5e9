"""The forwarding table: `show route forwarding-table`, with every next hop that packets are spread over.

Source: Juniper's Junos CLI Reference, "show route forwarding-table".
"""

from __future__ import annotations

from lxml import etree

from ailb_gen.addresses import BITS, Prefix
from ailb_gen.emulator.device import Device
from ailb_gen.emulator.fabric_state import link_local
from ailb_gen.emulator.operations.build import argument, element
from ailb_gen.emulator.operations.indices import FIRST_LIST, FIRST_NEXT_HOP
from ailb_gen.emulator.operations.routes import is_ipv4, requested_prefix
from ailb_gen.routing.speaker import direct_prefixes

FAMILIES = ("", "inet6")
TABLES = ("", "default", "default.inet6", "inet6.0")


def forwarding_table(device: Device, rpc: etree._Element) -> etree._Element:
    """Answer `show route forwarding-table` for IPv6, of one destination or all."""
    text = argument(rpc, "destination")
    if argument(rpc, "family") not in FAMILIES or argument(rpc, "table") not in TABLES or is_ipv4(text):
        return element("forwarding-table-information")
    requested = requested_prefix(rpc)
    own = direct_prefixes(device.fabric.switch(device.name))
    found = [prefix for prefix in {*own, *device.fabric.prefixes(device.name)} if _covers(prefix, requested)]
    if requested is not None:
        longest = max((prefix.length for prefix in found), default=0)
        found = [prefix for prefix in found if prefix.length == longest]
    indices = {name: FIRST_NEXT_HOP + at for at, name in enumerate(device.fabric.switch(device.name).ports)}
    rows = [
        _entry(device, prefix, hops, indices)
        for prefix in sorted(found)
        if (hops := _interfaces(device, prefix)) or prefix in own
    ]
    table = element("route-table", ("table-name", "default"), ("address-family", "Internet6"), *rows)
    return element("forwarding-table-information", table)


def _covers(prefix: Prefix, requested: Prefix | None) -> bool:
    """Return whether an entry is requested: an address by prefixes that hold it, a prefix by itself."""
    if requested is None or prefix == requested:
        return True
    return requested.length == BITS and prefix.holds(requested.value)


def _interfaces(device: Device, prefix: Prefix) -> tuple[str, ...]:
    return tuple(hop.interface for hop in device.fabric.next_hops(device.name, prefix))


def _entry(device: Device, prefix: Prefix, hops: tuple[str, ...], indices: dict[str, int]) -> etree._Element:
    nexts = [_next_hop(device, interface, indices[interface.rpartition(".")[0]]) for interface in hops]
    if len(nexts) > 1:
        nexts.insert(0, _hop("ulst", FIRST_LIST))
    return element(
        "rt-entry",
        ("rt-destination", prefix),
        ("destination-type", "user" if hops else "intf"),
        ("route-reference-count", 0),
        *(nexts or [_hop("rslv", FIRST_NEXT_HOP - 1)]),
        style="brief",
    )


def _next_hop(device: Device, interface: str, index: int) -> etree._Element:
    far = device.fabric.neighbor(device.name, interface.rpartition(".")[0])
    to = link_local(device.fabric, far.device, f"{far.port}.0") if far is not None else ""
    return _hop("ucst", index, to, interface)


def _hop(kind: str, index: int, to: str = "", via: str = "") -> etree._Element:
    return element(
        "nh", ("to", to), ("nh-type", kind), ("nh-index", index), ("nh-reference-count", 1), ("via", via or None)
    )
