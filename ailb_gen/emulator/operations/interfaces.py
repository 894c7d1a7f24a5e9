"""Interfaces: `show interfaces` in all its lengths.

What no configuration, cable or link says is constant: no error, alarm or rate, nothing negotiated. Counters are
those of the fabric. Source: Juniper's operational YANG model junos-rpc-interfaces; replies of vQFX, vMX and a port of
100 Gbit/s in the tests of batfish and genieparser.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from lxml import etree

from ailb_gen.emulator.device import Device
from ailb_gen.emulator.fabric_state import Counters
from ailb_gen.emulator.operations.bgp import DEFAULT_INSTANCE
from ailb_gen.emulator.operations.build import Child, argument, date, elapsed, element, flag
from ailb_gen.emulator.operations.class_of_service import QUEUES, configured, forwarding_classes
from ailb_gen.emulator.operations.families import families, terse_families
from ailb_gen.emulator.operations.indices import FIRST_INTERFACE, FIRST_SNMP, places
from ailb_gen.emulator.operations.ports import (
    LOGICAL,
    MANAGEMENT,
    check_there,
    head,
    matches,
    port_mtu,
    port_up,
    shown_ports,
    speed_of,
    status,
    unit_up,
)
from ailb_gen.junos.interface_ranges import effective
from ailb_gen.junos.tree import Node
from ailb_gen.network.model import Port, Switch, Unit

INPUT_ERRORS = (
    "input-errors", "input-drops", "framing-errors", "input-runts", "input-discards", "input-l3-incompletes",
    "input-l2-channel-errors", "input-l2-mismatch-timeouts", "input-fifo-errors", "input-resource-errors",
)  # fmt: skip
OUTPUT_ERRORS = (
    "carrier-transitions", "output-errors", "output-drops", "output-collisions", "aged-packets", "output-fifo-errors",
    "hs-link-crc-errors", "mtu-errors", "output-resource-errors",
)  # fmt: skip
MAC_COUNTERS = ("bytes", "packets", "unicasts", "broadcasts", "multicasts")
MAC_ERRORS = ("crc-errors", "fifo-errors", "mac-control-frames", "mac-pause-frames")
ODD_FRAMES = (
    "input-oversized-frames", "input-jabber-frames", "input-fragment-frames", "input-vlan-tagged-frames",
    "input-code-violations",
)  # fmt: skip
WAYS = ("input", "output")
MRU_OVER_MTU = 8


@dataclass(frozen=True, slots=True)
class Asked:
    """A device, what it is asked, and what every answer needs of it.

    `at` is the place of every interface, `tree` the configuration with groups applied.
    """

    device: Device
    rpc: etree._Element
    switch: Switch
    at: dict[str, int]
    tree: Node

    def unit(self, port: Port, unit: Unit) -> Node:
        """Return a logical interface in the configuration."""
        return self.tree.get("interfaces", port.name, "unit", unit.name.rpartition(".")[2]) or Node("")

    def has(self, *names: str) -> bool:
        """Return whether the request has one of some words."""
        return flag(self.rpc, *names)

    def counters(self, name: str) -> dict[str, int]:
        """Return the counters of an interface by the names of their elements."""
        found: Counters = self.device.counters(name)
        return {key.replace("_", "-"): value for key, value in found._asdict().items()}


def interfaces(device: Device, rpc: etree._Element) -> etree._Element:
    """Answer `show interfaces`; a name may be a pattern, a physical or a logical interface.

    Raises RefusedError for a name that is not there.
    """
    switch = device.fabric.switch(device.name)
    # Only the default instance has interfaces here.
    if argument(rpc, "routing-instance") not in (*DEFAULT_INSTANCE, "default", "all"):
        return element("interface-information")
    asked = Asked(device, rpc, switch, places(switch), effective(device.committed()))
    requested = argument(rpc, "interface-name")
    check_there(switch, requested)
    terse, descriptions = flag(rpc, "terse"), flag(rpc, "descriptions")
    made = []
    for port in shown_ports(switch):
        whole = matches(port.name, requested)
        units = [unit for unit in port.units if whole or matches(unit.name, requested)]
        if descriptions:
            made += [*_described(asked, port, units, whole)]
        elif whole:
            made.append(_terse(asked, port, units) if terse else _full(asked, port, units))
        else:
            made += [(_terse_unit if terse else _unit)(asked, port, unit) for unit in units]
    style = "terse" if terse else "description" if descriptions else "brief" if flag(rpc, "brief") else "normal"
    return element("interface-information", *made, style=style)


def clear_statistics(device: Device, rpc: etree._Element) -> etree._Element:
    """Answer `clear interfaces statistics`: counters begin at zero again, of one interface or all."""
    requested = argument(rpc, "interface-name")
    if requested != "all":
        check_there(device.fabric.switch(device.name), requested)
    for port in shown_ports(device.fabric.switch(device.name)):
        for name in (port.name, *(unit.name for unit in port.units)):
            if requested in ("", "all") or matches(port.name, requested) or matches(name, requested):
                device.clear_counters(name)
    return element("output", text="\n")


def _state(name: str, enabled: bool, up: bool) -> tuple[Child, ...]:
    return ("name", name), ("admin-status", status(enabled)), ("oper-status", status(up))


def _described(asked: Asked, port: Port, units: list[Unit], whole: bool) -> Iterator[etree._Element]:
    """Make what has a description: the port, and its logical interfaces beside it."""
    if port.description and whole:
        state = _state(port.name, not port.disabled, port_up(asked.device, port))
        yield element("physical-interface", *state, ("description", port.description))
    for unit in units:
        text = asked.unit(port, unit).value("description")
        if text:
            state = _state(unit.name, not unit.disabled, unit_up(asked.device, asked.switch, port, unit))
            yield element("logical-interface", *state, ("description", text))


def _terse(asked: Asked, port: Port, units: list[Unit]) -> etree._Element:
    state = _state(port.name, not port.disabled, port_up(asked.device, port))
    return element("physical-interface", *state, *(_terse_unit(asked, port, unit) for unit in units))


def _terse_unit(asked: Asked, port: Port, unit: Unit) -> etree._Element:
    return element(
        "logical-interface",
        *_state(unit.name, not unit.disabled, unit_up(asked.device, asked.switch, port, unit)),
        element("filter-information"),
        *terse_families(asked.device, port, unit),
    )


def _full(asked: Asked, port: Port, units: list[Unit]) -> etree._Element:
    parts = _logical_port if port.name.startswith((*LOGICAL, *MANAGEMENT)) else _ethernet_port
    return element(
        "physical-interface",
        *head(asked.device, port, asked.at[port.name]),
        ("generation", asked.at[port.name] + 1) if asked.has("detail", "extensive") else None,
        ("description", port.description or None),
        *parts(asked, port),
        *(_unit(asked, port, unit) for unit in units),
    )


def _logical_port(asked: Asked, port: Port) -> Iterator[Child]:
    """Make what a port without a cable of the fabric has: an IRB, the loopback, a management port."""
    loopback = port.name == "lo0"
    yield "if-type", "Loopback" if loopback else "Ethernet"
    yield from [] if loopback else [("link-level-type", "Ethernet")]
    yield "mtu", "Unlimited" if loopback else port_mtu(port)
    if port.name not in LOGICAL:
        yield "speed", speed_of(asked.device, asked.switch, port)
    yield from _flags(asked, port, loopback)
    if not loopback:
        yield "link-type", "Full-Duplex"
    yield element("if-media-flags", element("ifmf-none"))
    if not loopback:
        yield from _mac(asked, port, "MAC ")
    yield from _since(asked, port)
    yield from _traffic(asked, port, style="brief")


def _ethernet_port(asked: Asked, port: Port) -> Iterator[Child]:
    """Make what a port of the fabric has."""
    yield "link-level-type", "Ethernet"
    yield "mtu", port_mtu(port)
    yield "mru", port_mtu(port) + MRU_OVER_MTU
    yield "source-filtering", "disabled"
    yield "speed", speed_of(asked.device, asked.switch, port)
    yield "duplex", "Full-Duplex"
    yield "bpdu-error", "none"
    yield "loopback", "disabled"
    yield "if-flow-control", "disabled"
    yield "pad-to-minimum-frame-size", "Disabled"
    yield from _flags(asked, port, False)
    yield element("if-media-flags", element("ifmf-none"))
    if asked.has("brief"):
        return
    names = ("physical-interface-cos-hw-max-queues", "physical-interface-cos-use-max-queues")
    yield element("physical-interface-cos-information", *((name, QUEUES) for name in names))
    if asked.has("detail", "extensive"):
        yield "up-hold-time", 0
        yield "down-hold-time", 0
    yield from _mac(asked, port)
    yield from _since(asked, port)
    yield from _traffic(asked, port, style="brief")
    if asked.has("detail", "extensive"):
        yield _queues(asked.device)
    for name in ("active-alarms", "active-defects"):
        yield element(name, element("interface-alarms", element("alarm-not-present")))
    names = ("bit-error-seconds", "errored-blocks-seconds")
    yield element("ethernet-pcs-statistics", *((name, 0) for name in names), style="verbose")
    yield from _mac_statistics(asked, port)
    yield "interface-transmit-statistics", "Disabled"


def _flags(asked: Asked, port: Port, loopback: bool) -> Iterator[etree._Element]:
    up = port_up(asked.device, port)
    device_flags = [element("ifdf-present"), element("ifdf-running")]
    if loopback:
        device_flags.append(element("ifdf-loopback"))
    yield element("if-device-flags", *device_flags, None if up else element("ifdf-down"))
    yield element("ifd-specific-config-flags", ("internal-flags", "0x200"))
    internal = None if port.name in LOGICAL else ("internal-flags", "0x4000")
    yield element(
        "if-config-flags",
        element("iff-down") if port.disabled else None,
        None if up or port.disabled else element("iff-hardware-down"),
        element("iff-snmp-traps"),
        internal,
    )


def _mac(asked: Asked, port: Port, prefix: str = "") -> Iterator[etree._Element]:
    address = asked.device.fabric.mac(asked.device.name, port.name)
    for name in ("current-physical-address", "hardware-physical-address"):
        yield element(name, text=address, format=f"{prefix}{address}") if prefix else element(name, text=address)


def _since(asked: Asked, port: Port) -> Iterator[etree._Element]:
    """Make when a port last came up or went down: with the device; what is logical never did."""
    device = asked.device
    seconds = device.now() - device.started
    if port.name in LOGICAL:
        yield element("interface-flapped", text="Never", seconds=0)
    else:
        yield element(
            "interface-flapped", text=f"{date(device.started)} ({elapsed(seconds)} ago)", seconds=int(seconds)
        )
    if asked.has("detail", "extensive", "statistics"):
        cleared = device.cleared_at(port.name)
        ago = f"{date(cleared)} ({elapsed(device.now() - cleared)} ago)" if cleared else "Never"
        yield element("statistics-cleared", text=ago)


def _traffic(asked: Asked, port: Port, style: str) -> Iterator[Child]:
    """Make the counters and rates of a port: rates are not measured, no errors are counted."""
    counted, logical = asked.counters(port.name), port.name.startswith((*LOGICAL, *MANAGEMENT))
    if asked.has("detail", "extensive"):
        names = [f"{way}-{what}" for what in ("bytes", "bps", "packets", "pps") for way in WAYS]
        yield element("traffic-statistics", *((name, counted.get(name, 0)) for name in names), style="verbose")
    elif not asked.has("brief"):
        names = (
            [f"{way}-packets" for way in WAYS]
            if logical
            else [f"{way}-{what}" for way in WAYS for what in ("bps", "pps")]
        )
        yield element("traffic-statistics", *((name, counted.get(name, 0)) for name in names), style=style)
    if asked.has("statistics") and not logical:
        yield "input-error-count", 0
        yield "output-error-count", 0
    if asked.has("extensive"):
        yield element("input-error-list", *((name, 0) for name in INPUT_ERRORS))
        yield element("output-error-list", *((name, 0) for name in OUTPUT_ERRORS))


def _queues(device: Device) -> etree._Element:
    """Make the queues and their forwarding classes; nothing is ever queued."""
    classes = forwarding_classes(configured(device))
    names = ("queue-counters-queued-packets", "queue-counters-trans-packets", "queue-counters-total-drop-packets")
    rows = [
        element(
            "queue", ("queue-number", one.queue), ("forwarding-class-name", one.name), *((name, 0) for name in names)
        )
        for one in classes
    ]
    summary = element(
        "interface-cos-short-summary",
        ("intf-cos-queue-type", "Egress queues"),
        ("intf-cos-num-queues-supported", QUEUES),
        ("intf-cos-num-queues-in-use", len({one.queue for one in classes})),
    )
    return element("queue-counters", summary, *rows, style="brief")


def _mac_statistics(asked: Asked, port: Port) -> Iterator[etree._Element]:
    if not asked.has("extensive", "media"):
        return
    counted = asked.counters(port.name)
    names = [f"{way}-{what}" for what in (*MAC_COUNTERS, *MAC_ERRORS) for way in WAYS]
    names += [*ODD_FRAMES, "input-total-errors", "output-total-errors"]
    yield element("ethernet-mac-statistics", *((name, counted.get(name, 0)) for name in names), style="verbose")


def _unit(asked: Asked, port: Port, unit: Unit) -> etree._Element:
    node, long = asked.unit(port, unit), asked.has("detail", "extensive")
    up = unit_up(asked.device, asked.switch, port, unit)
    loopback, at = port.name == "lo0", asked.at[unit.name]
    state = element("iff-up") if up else element("iff-down") if unit.disabled else element("iff-device-down")
    return element(
        "logical-interface",
        ("name", unit.name),
        ("local-index", FIRST_INTERFACE + at),
        ("snmp-index", FIRST_SNMP + at),
        ("generation", at + 1) if long else None,
        ("description", node.value("description")),
        element(
            "if-config-flags",
            None if loopback else state,
            element("iff-snmp-traps"),
            None if loopback else ("internal-flags", "0x4004000"),
        ),
        ("encapsulation", "Unspecified" if loopback else "ENET2"),
        element("policer-overhead"),
        *_unit_traffic(asked, unit),
        element("filter-information"),
        *families(asked.device, port, unit, node, at + 1 if long else None),
    )


def _unit_traffic(asked: Asked, unit: Unit) -> Iterator[etree._Element]:
    counted = asked.counters(unit.name)
    if asked.has("brief"):
        return
    if asked.has("detail", "extensive"):
        names = [f"{way}-{what}" for what in ("bytes", "packets") for way in WAYS]
        yield element("traffic-statistics", *((name, counted.get(name, 0)) for name in names), style="verbose")
    else:
        names = [f"{way}-packets" for way in WAYS]
        yield element("traffic-statistics", *((name, counted.get(name, 0)) for name in names), style="brief")
