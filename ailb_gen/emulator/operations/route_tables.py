"""The routing tables as a whole: `show route summary` and `show route instance`.

Source: Juniper's operational YANG model junos-rpc-route; replies of real devices.
"""

from __future__ import annotations

from lxml import etree

from ailb_gen.emulator.device import Device
from ailb_gen.emulator.operations.bgp import TABLE
from ailb_gen.emulator.operations.build import Child, argument, element, flag
from ailb_gen.emulator.operations.routes import NAMES, own_prefixes, table_numbers
from ailb_gen.routing.route import BGP


def table_summary(device: Device, rpc: etree._Element) -> etree._Element:
    """Answer `show route summary`, also of one table: there is one, and how many routes each protocol has in it."""
    kinds = [kind for _, kind, _ in own_prefixes(device)]
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
    wanted = argument(rpc, "table") in ("", TABLE)
    table = element("route-table", ("table-name", TABLE), *table_numbers(device), *protocols) if wanted else None
    switch = device.fabric.switch(device.name)
    number = switch.asn or next((group.local_as for group in switch.groups), None)
    return element("route-summary-information", ("as-number", number), ("router-id", switch.router_id), table)


def instances(device: Device, rpc: etree._Element) -> etree._Element:
    """Answer `show route instance`: the default instance only, with its tables."""
    names = ("active-route-count", "holddown-route-count", "hidden-route-count")
    numbers = dict(pair for pair in table_numbers(device) if isinstance(pair, tuple))
    counts: list[Child] = [(f"irib-{name.split('-')[0]}-count", numbers[name]) for name in names]
    detailed = flag(rpc, "detail", "extensive")
    total: list[Child] = [("irib-route-count", numbers["total-route-count"])] if detailed else []
    rib = element("instance-rib", ("irib-name", TABLE), *total, *counts)
    switch = device.fabric.switch(device.name)
    more: list[Child] = [("router-id", switch.router_id or "0.0.0.0")] if detailed else []  # noqa: S104
    more += [("instance-type", "forwarding")]
    if detailed:
        units = [unit.name for port in switch.ports.values() for unit in port.units]
        more += [
            ("instance-state", "Active"),
            *(element("instance-interface", ("interface-name", name)) for name in units),
        ]
    core = element("instance-core", ("instance-name", "master"), *more, rib)
    wanted = argument(rpc, "instance-name") in ("", "master")
    return element("instance-information", *([core] if wanted else []), style="detail" if detailed else "terse")
