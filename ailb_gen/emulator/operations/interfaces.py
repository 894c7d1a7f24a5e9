"""Interfaces: `show interfaces` in all its lengths, their addresses and optics, and `clear interfaces statistics`.

Values that no configuration, cable or link gives are constant: no error, alarm or rate, nothing negotiated;
temperatures, voltages, currents and powers of optics; light comes in where there is a carrier. Counters are those of
the fabric.
Source: Juniper's operational YANG model junos-rpc-interfaces; replies of vQFX, vMX and a port of 100 Gbit/s in the
tests of batfish and genieparser, and of 10 Gbit/s in those of NAPALM.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from ipaddress import ip_interface

from lxml import etree

from ailb_gen.addresses import address_text
from ailb_gen.emulator.device import EmulatedDevice
from ailb_gen.emulator.fabric_state import link_local
from ailb_gen.emulator.operations.bgp import DEFAULT_INSTANCE
from ailb_gen.emulator.operations.build import Child, argument, date, elapsed, element, fill, flag, parts, status
from ailb_gen.emulator.operations.class_of_service import configured, forwarding_classes
from ailb_gen.emulator.operations.ports import (
    FIRST_INTERFACE,
    FIRST_SNMP,
    LOGICAL,
    MANAGEMENT,
    check_there,
    data_ports,
    head,
    matches,
    port_mtu,
    port_up,
    positions,
    shown_ports,
    speed_of,
    unit_mtu,
    unit_up,
)
from ailb_gen.junos.interface_ranges import effective
from ailb_gen.junos.tree import Node
from ailb_gen.network.management import is_interface_address
from ailb_gen.network.model import Port, Unit

LONG = ("detail", "extensive")
MRU_OVER_MTU = 8
LANES = 8
# What OpenConfig calls the values of a lane.
LIGHT = {
    "input-power/instant": "laser-rx-optical-power-dbm",
    "output-power/instant": "laser-output-power-dbm",
    "laser-bias-current/instant": "laser-bias-current",
}
# Entries that the neighbor cache of a logical interface holds.
CACHE = 75000


@dataclass(frozen=True, slots=True)
class InterfaceQuery:
    """A request about a device, and the data that every answer needs.

    `at` is the position of every interface, `tree` the configuration with groups applied.
    """

    device: EmulatedDevice
    rpc: etree._Element
    at: dict[str, int]
    tree: Node

    def unit(self, port: Port, unit: Unit) -> Node:
        """Return a logical interface in the configuration."""
        return self.tree.get("interfaces", port.name, "unit", unit.name.rpartition(".")[2]) or Node("")

    def has(self, *names: str) -> bool:
        """Return whether the request has one of some words."""
        return flag(self.rpc, *names)

    def generation(self, name: str) -> int | None:
        """Return the generation of an interface, which only the long forms have."""
        return self.at[name] + 1 if self.has(*LONG) else None


def interfaces(device: EmulatedDevice, rpc: etree._Element) -> etree._Element:
    """Answer `show interfaces`; a name may be a pattern, a physical or a logical interface.

    Raises RpcRefusedError for a name that is not there.
    """
    switch = device.switch
    # Only the default instance has interfaces here.
    if argument(rpc, "routing-instance") not in (*DEFAULT_INSTANCE, "default", "all"):
        return element("interface-information")
    query = InterfaceQuery(device, rpc, positions(switch), effective(device.committed()))
    requested = argument(rpc, "interface-name")
    check_there(switch, requested)
    terse, descriptions = flag(rpc, "terse"), flag(rpc, "descriptions")
    made = []
    for port in shown_ports(switch):
        whole = matches(port.name, requested)
        units = [unit for unit in port.units if whole or matches(unit.name, requested)]
        if descriptions:
            made += [*_described(query, port, units, whole)]
            continue
        rows = [(_terse_unit if terse else _unit)(query, port, unit) for unit in units]
        if whole and terse:
            rows = [element("physical-interface", *_port_state(query, port), *rows)]
        elif whole:
            rows = [_full(query, port, rows)]
        made += rows
    style = "terse" if terse else "description" if descriptions else "brief" if flag(rpc, "brief") else "normal"
    return element("interface-information", *made, style=style)


def clear_statistics(device: EmulatedDevice, rpc: etree._Element) -> etree._Element:
    """Answer `clear interfaces statistics`: counters begin at zero again, of one interface or all."""
    requested = argument(rpc, "interface-name")
    if requested != "all":
        check_there(device.switch, requested)
    for port in shown_ports(device.switch):
        for name in (port.name, *(unit.name for unit in port.units)):
            if requested in ("", "all") or matches(port.name, requested) or matches(name, requested):
                device.clear_counters(name)
    return element("output", text="\n")


def optics(device: EmulatedDevice, rpc: etree._Element) -> etree._Element:
    """Answer `show interfaces diagnostics optics`."""
    made = []
    for port in data_ports(device, argument(rpc, "interface-name")):
        rows = fill("optics-diagnostics", lanes=_lanes(port_up(device, port)))
        made.append(element("physical-interface", ("name", port.name), rows))
    return element("interface-information", *made)


def _lanes(up: bool) -> list[etree._Element]:
    """Make the lanes of a transceiver: light comes in where there is a carrier."""
    received = ("0.7586", "-1.20", "off") if up else ("0.0001", "-40.00", "on")
    light = dict(zip(("received", "received_dbm", "alarm"), received, strict=True))
    return [fill("optics-diagnostics-lane-values", lane=lane, **light) for lane in range(LANES)]


@cache
def lane_values(up: bool) -> tuple[dict[str, float], ...]:
    """Return the light in and out of every lane in dBm and its bias current in mA, by their paths in OpenConfig."""
    return tuple({path: float(lane.findtext(tag) or "nan") for path, tag in LIGHT.items()} for lane in _lanes(up))


@cache
def module_voltage() -> float:
    """Return the supply voltage of a transceiver in V."""
    return float(fill("optics-diagnostics", lanes=_lanes(True)).findtext("module-voltage") or "nan")


def _port_state(query: InterfaceQuery, port: Port) -> tuple[Child, ...]:
    up = port_up(query.device, port)
    return ("name", port.name), ("admin-status", status(not port.disabled)), ("oper-status", status(up))


def _unit_state(query: InterfaceQuery, port: Port, unit: Unit) -> tuple[Child, ...]:
    up = unit_up(query.device, port, unit)
    return ("name", unit.name), ("admin-status", status(not unit.disabled)), ("oper-status", status(up))


def _described(query: InterfaceQuery, port: Port, units: list[Unit], whole: bool) -> Iterator[etree._Element]:
    if port.description and whole:
        yield element("physical-interface", *_port_state(query, port), ("description", port.description))
    for unit in units:
        text = query.unit(port, unit).value("description")
        if text:
            yield element("logical-interface", *_unit_state(query, port, unit), ("description", text))


def _terse_unit(query: InterfaceQuery, port: Port, unit: Unit) -> etree._Element:
    state, rows = _unit_state(query, port, unit), _terse_families(query.device, port, unit)
    return fill("unit-terse", state=state, families=rows)


def _full(query: InterfaceQuery, port: Port, units: list[etree._Element]) -> etree._Element:
    logical = port.name.startswith((*LOGICAL, *MANAGEMENT))
    return fill(
        "physical-interface",
        head=head(query.device, port, query.at[port.name]),
        generation=query.generation(port.name),
        description=port.description or None,
        body=(_logical_port if logical else _ethernet_port)(query, port),
        units=units,
    )


def _logical_port(query: InterfaceQuery, port: Port) -> list[etree._Element]:
    """Make the body of a port without a cable of the fabric: an IRB, the loopback, a management port."""
    loopback = port.name == "lo0"
    return parts(
        "logical-port",
        kind="Loopback" if loopback else "Ethernet",
        level=None if loopback else "Ethernet",
        mtu="Unlimited" if loopback else port_mtu(port),
        speed=speed_of(query.device, port) if port.name not in LOGICAL else None,
        flags=_flags(query, port),
        link=None if loopback else "Full-Duplex",
        mac=() if loopback else _mac(query, port, "MAC "),
        since=_since(query, port),
        traffic=_traffic(query, port),
    )


def _ethernet_port(query: InterfaceQuery, port: Port) -> list[etree._Element]:
    media, long = query.has("extensive", "media"), query.has(*LONG)
    more = parts(
        "ethernet-port-more",
        hold=0 if long else None,
        mac=_mac(query, port),
        since=_since(query, port),
        traffic=_traffic(query, port),
        queues=_queues(query.device, port) if long else None,
        frames=fill("ethernet-mac-statistics", counts=query.device.counters(port.name)) if media else None,
    )
    return parts(
        "ethernet-port",
        mtu=port_mtu(port),
        mru=port_mtu(port) + MRU_OVER_MTU,
        speed=speed_of(query.device, port),
        flags=_flags(query, port),
        more=() if query.has("brief") else more,
    )


def _flags(query: InterfaceQuery, port: Port) -> list[etree._Element]:
    up = port_up(query.device, port)
    cause = "iff-down" if port.disabled else None if up else "iff-hardware-down"
    return parts(
        "port-flags",
        loopback=element("ifdf-loopback") if port.name == "lo0" else None,
        down=None if up else element("ifdf-down"),
        cause=element(cause) if cause is not None else None,
        internal=None if port.name in LOGICAL else "0x4000",
    )


def _mac(query: InterfaceQuery, port: Port, prefix: str = "") -> list[etree._Element]:
    address = query.device.fabric.mac(query.device.name, port.name)
    return parts("port-mac", mac=address, shown=f"{prefix}{address}" if prefix else None)


def _since(query: InterfaceQuery, port: Port) -> list[etree._Element]:
    """Make when a port last came up or went down: with the device; a logical one never did."""
    device, logical = query.device, port.name in LOGICAL

    def ago(when: float) -> str:
        return f"{date(when)} ({elapsed(device.now() - when)} ago)" if when else "Never"

    return parts(
        "port-since",
        seconds=0 if logical else device.up_s,
        flapped="Never" if logical else ago(device.started),
        cleared=ago(device.cleared_at(port.name)) if query.has(*LONG, "statistics") else None,
    )


def _traffic(query: InterfaceQuery, port: Port) -> Iterator[Child]:
    """Make the counters and rates of a port: rates are not measured, no errors are counted."""
    counts, logical = query.device.counters(port.name), port.name.startswith((*LOGICAL, *MANAGEMENT))
    if query.has(*LONG):
        yield fill("traffic-long", counts=counts)
    elif not query.has("brief"):
        yield fill("traffic-packets" if logical else "traffic-rates", counts=counts)
    if query.has("statistics") and not logical:
        yield "input-error-count", 0
        yield "output-error-count", 0
    if query.has("extensive"):
        yield fill("input-error-list")
        yield fill("output-error-list", counts=counts)


def _queues(device: EmulatedDevice, port: Port) -> etree._Element:
    """Make the queues of a port and their forwarding classes."""
    classes = forwarding_classes(configured(device))
    rows = [fill("queue", queue=one, counts=device.queue_counters(port.name, one.queue)) for one in classes]
    return fill("queue-counters", queues=len({one.queue for one in classes}), rows=rows)


def _unit(query: InterfaceQuery, port: Port, unit: Unit) -> etree._Element:
    node, loopback, at = query.unit(port, unit), port.name == "lo0", query.at[unit.name]
    up = unit_up(query.device, port, unit)
    generation = query.generation(unit.name)
    traffic = fill(
        "unit-traffic-long" if query.has(*LONG) else "traffic-packets", counts=query.device.counters(unit.name)
    )
    return fill(
        "logical-interface",
        unit=unit,
        index=FIRST_INTERFACE + at,
        snmp_index=FIRST_SNMP + at,
        generation=generation,
        description=node.value("description"),
        state=None if loopback else element("iff-up" if up else "iff-down" if unit.disabled else "iff-device-down"),
        internal=None if loopback else "0x4004000",
        encapsulation="Unspecified" if loopback else "ENET2",
        traffic=None if query.has("brief") else traffic,
        families=_families(query.device, port, unit, node, generation),
    )


def addresses(device: EmulatedDevice, port: Port, unit: Unit) -> dict[str, list[str]]:
    """Return the addresses of the families of a logical interface, with their lengths."""
    texts: dict[str, list[str]] = {}
    if any(family == "inet" for family, _ in unit.others):
        texts["inet"] = [text for text, _ in unit.inet_addresses if is_interface_address(text)]
    if unit.inet6:
        texts["inet6"] = [f"{address_text(address.value)}/{address.prefix.length}" for address in unit.addresses]
        if port.name != "lo0":
            texts["inet6"].append(f"{link_local(device.fabric, device.name, unit.name)}/64")
    if unit.switching:
        texts["eth-switch"] = []
    return texts


def _terse_families(device: EmulatedDevice, port: Port, unit: Unit) -> Iterator[etree._Element]:
    for family, texts in addresses(device, port, unit).items():
        rows = []
        for text in texts:
            # An address of lo0 is a host, with a remote end that is all of IPv4, or nothing.
            host = port.name == "lo0"
            remote = element("ifa-destination", text="0/0" if family == "inet" else None, emit="emit") if host else None
            local = text.partition("/")[0] if host else text
            rows.append(element("interface-address", element("ifa-local", text=local, emit="emit"), remote))
        yield element("address-family", ("address-family-name", family), *rows)


def _families(
    device: EmulatedDevice, port: Port, unit: Unit, node: Node, generation: int | None
) -> Iterator[etree._Element]:
    """Make the families of a logical interface at length; `node` is the interface in the configuration."""
    loopback = port.name == "lo0"
    for family, texts in addresses(device, port, unit).items():
        cached = family != "eth-switch"
        yield fill(
            "address-family",
            family=family,
            mtu=unit_mtu(port, unit, family, node),
            cache=(0 if loopback else CACHE) if cached else None,
            count=0 if cached else None,
            generation=generation,
            table=0 if generation is not None else None,
            flag=element("ifff-sendbcast-pkt-to-re" if family == "inet" else "ifff-is-primary"),
            addresses=[_address(text, at == 0, loopback) for at, text in enumerate(texts)],
        )


def _address(text: str, first: bool, loopback: bool) -> etree._Element:
    network = ip_interface(text).network
    broadcast = network.broadcast_address if network.version == 4 and network.prefixlen < 31 else None
    return fill(
        "interface-address",
        current=element("ifaf-current-default" if loopback else "ifaf-current-preferred"),
        primary=element("ifaf-current-primary") if first else None,
        destination=None if loopback else _short_prefix(text),
        local=text.partition("/")[0],
        broadcast=None if loopback else broadcast,
    )


def _short_prefix(text: str) -> str:
    """Write the network of an address as Junos does: zero octets at the end of IPv4 are left out (`10.0.0/24`)."""
    network = ip_interface(text).network
    name, _, length = str(network).partition("/")
    if network.version == 6:
        return f"{name}/{length}"
    octets = name.split(".")[: max(1, -(-network.prefixlen // 8))]
    return f"{'.'.join(octets)}/{length}"
