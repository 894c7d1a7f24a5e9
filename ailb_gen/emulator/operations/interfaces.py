"""Interfaces: `show interfaces` in all its lengths.

Source: Juniper's operational YANG model junos-rpc-interfaces.
"""

from __future__ import annotations

from collections.abc import Iterator
from fnmatch import fnmatchcase

from lxml import etree

from ailb_gen.addresses import address_text
from ailb_gen.emulator.device import Device
from ailb_gen.emulator.fabric_state import Counters, link_local
from ailb_gen.emulator.operations.build import Child, argument, date, elapsed, element, flag
from ailb_gen.network.model import Port, Switch, Unit
from ailb_gen.network.speeds import speed_text

# Interfaces that are up by themselves.
LOGICAL = ("irb", "lo0")
DEFAULT_MTU = 1514
INPUT_ERRORS = (
    "input-errors", "input-drops", "framing-errors", "input-runts", "input-discards", "input-l3-incompletes",
    "input-l2-channel-errors", "input-l2-mismatch-timeouts", "input-fifo-errors", "input-resource-errors",
)  # fmt: skip
OUTPUT_ERRORS = (
    "carrier-transitions", "output-errors", "output-collisions", "output-drops", "aged-packets", "mtu-errors",
    "hs-link-crc-errors", "output-fifo-errors", "output-resource-errors",
)  # fmt: skip
CASTS = ("unicasts", "broadcasts", "multicasts")


def port_up(device: Device, port: Port) -> bool:
    """Return whether a configured port is up: logical ones always, others with carrier."""
    if port.disabled:
        return False
    return port.name in LOGICAL or device.fabric.link_up(device.name, port.name)


def unit_up(device: Device, switch: Switch, port: Port, unit: Unit) -> bool:
    """Return whether a logical interface is up; an IRB needs a VLAN with a member port that is."""
    if unit.disabled or not port_up(device, port):
        return False
    if port.name != "irb":
        return True
    names = {text for vlan in switch.vlans if vlan.irb == unit.name for text in (vlan.name, str(vlan.vlan_id))}
    return any(
        name in names and port_up(device, other)
        for other in switch.ports.values()
        for member in other.units
        for name, _ in member.vlans
    )


def interfaces(device: Device, rpc: etree._Element) -> etree._Element:
    """Answer `show interfaces`; a name may be a pattern, a physical or a logical interface."""
    switch = device.fabric.switch(device.name)
    # Only the default instance has interfaces here.
    if argument(rpc, "routing-instance"):
        return element("interface-information")
    terse, requested = flag(rpc, "terse"), argument(rpc, "interface-name")
    made = []
    for port in switch.ports.values():
        # What is split is no interface; its parts are.
        if port.sub_ports is not None and not port.units:
            continue
        units = [unit for unit in port.units if _matches(unit.name, requested) or _matches(port.name, requested)]
        if flag(rpc, "descriptions"):
            made += [_described(device, port)] if port.description and _matches(port.name, requested) else []
        elif _matches(port.name, requested) or units:
            made.append(_terse(device, switch, port, units) if terse else _full(device, rpc, switch, port, units))
    style = "terse" if terse else "description" if flag(rpc, "descriptions") else "normal"
    return element("interface-information", *made, style=style)


def _matches(name: str, requested: str) -> bool:
    return not requested or name == requested or fnmatchcase(name, requested)


def _status(up: bool) -> str:
    return "up" if up else "down"


def _head(name: str, enabled: bool, up: bool) -> tuple[Child, ...]:
    return ("name", name), ("admin-status", _status(enabled)), ("oper-status", _status(up))


def _described(device: Device, port: Port) -> etree._Element:
    head = _head(port.name, not port.disabled, port_up(device, port))
    return element("physical-interface", *head, ("description", port.description))


def _terse(device: Device, switch: Switch, port: Port, units: list[Unit]) -> etree._Element:
    logical = [
        element(
            "logical-interface",
            *_head(unit.name, not unit.disabled, unit_up(device, switch, port, unit)),
            *_families(device, unit, terse=True),
        )
        for unit in units
    ]
    return element("physical-interface", *_head(port.name, not port.disabled, port_up(device, port)), *logical)


def _families(device: Device, unit: Unit, terse: bool) -> Iterator[etree._Element]:
    if unit.inet_addresses:
        rows = [element("interface-address", ("ifa-local", text)) for text, _ in unit.inet_addresses]
        yield element("address-family", ("address-family-name", "inet"), *rows)
    if unit.inet6:
        texts = [f"{address_text(address.value)}/{address.prefix.length}" for address in unit.addresses]
        if unit.name.partition(".")[0] != "lo0":
            texts.append(f"{link_local(device.fabric, device.name, unit.name)}/64")
        mtu = None if terse else ("mtu", unit.inet6_mtu or DEFAULT_MTU - 14)
        rows = [element("interface-address", ("ifa-local", text)) for text in texts]
        yield element("address-family", ("address-family-name", "inet6"), mtu, *rows)
    if unit.switching:
        yield element("address-family", ("address-family-name", "eth-switch"))


def _speed(port: Port) -> str:
    """Write a speed as Junos does: `400Gbps`; nothing is negotiated on these ports."""
    if not port.speed_bps:
        return "Unspecified" if port.name in LOGICAL else "800Gbps"
    return speed_text(port.speed_bps).replace("g", "Gbps").replace("m", "mbps")


def _full(device: Device, rpc: etree._Element, switch: Switch, port: Port, units: list[Unit]) -> etree._Element:
    up, since = port_up(device, port), device.now() - device.started
    flapped = f"{date(device.started)} ({elapsed(since)} ago)"
    address = device.fabric.mac(device.name, port.name) if port.name != "lo0" else None
    flags = [element("ifdf-present"), element("ifdf-running") if up else element("ifdf-down")]
    return element(
        "physical-interface",
        ("name", port.name),
        element("admin-status", text=_status(not port.disabled), format="Enabled" if not port.disabled else "Disabled"),
        ("oper-status", _status(up)),
        ("description", port.description or None),
        ("link-level-type", "Loopback" if port.name == "lo0" else "Ethernet"),
        ("mtu", port.mtu or ("Unlimited" if port.name == "lo0" else DEFAULT_MTU)),
        ("link-mode", "Full-duplex" if port.name not in LOGICAL else None),
        ("speed", _speed(port)),
        element("if-device-flags", *flags),
        ("current-physical-address", address),
        ("hardware-physical-address", address),
        element("interface-flapped", text=flapped, seconds=int(since)) if port.name not in LOGICAL else None,
        *_traffic(rpc, device.fabric.counters(device.name, port.name)),
        *(_unit(device, rpc, switch, port, unit) for unit in units),
    )


def _named(counters: Counters) -> dict[str, int]:
    return {name.replace("_", "-"): value for name, value in counters._asdict().items()}


def _traffic(rpc: etree._Element, counters: Counters) -> Iterator[etree._Element]:
    """Make the counters that `detail`, `extensive`, `statistics` and `media` add; no errors are counted."""
    ways, counted = ("input", "output"), _named(counters)
    if flag(rpc, "detail", "extensive", "statistics"):
        names = [f"{way}-{what}" for what in ("bytes", "bps", "packets", "pps") for way in ways]
        yield element("traffic-statistics", *((name, counted.get(name, 0)) for name in names), style="verbose")
    if flag(rpc, "extensive"):
        yield element("input-error-list", *((name, 0) for name in INPUT_ERRORS))
        yield element("output-error-list", *((name, 0) for name in OUTPUT_ERRORS))
    if flag(rpc, "extensive", "media"):
        names = [f"{way}-{what}" for what in ("bytes", "packets", *CASTS) for way in ways]
        yield element("ethernet-mac-statistics", *((name, counted.get(name, 0)) for name in names), style="verbose")


def _unit(device: Device, rpc: etree._Element, switch: Switch, port: Port, unit: Unit) -> etree._Element:
    up = unit_up(device, switch, port, unit)
    state: Child = element("iff-up") if up else element("iff-down") if unit.disabled else element("iff-device-down")
    counted = _named(device.fabric.counters(device.name, unit.name))
    packets = [(name, counted[name]) for name in ("input-packets", "output-packets")]
    counters = [] if flag(rpc, "detail", "extensive") else [element("traffic-statistics", *packets)]
    return element(
        "logical-interface",
        ("name", unit.name),
        element("if-config-flags", state, element("iff-snmp-traps")),
        ("encapsulation", "ENET2"),
        *counters,
        *_families(device, unit, terse=False),
    )


LANES, BIAS_MA, LIGHT_DBM, DARK_DBM, MODULE_C = 8, 7.5, -1.2, -40.0, 42.0


def optics(device: Device, rpc: etree._Element) -> etree._Element:
    """Answer `show interfaces diagnostics optics`: light where there is a carrier."""
    switch = device.fabric.switch(device.name)
    requested = argument(rpc, "interface-name")
    made = []
    for port in switch.ports.values():
        if (
            port.name in LOGICAL
            or (port.sub_ports is not None and not port.units)
            or not _matches(port.name, requested)
        ):
            continue
        received = LIGHT_DBM if port_up(device, port) else DARK_DBM
        lanes = [
            element(
                "optics-diagnostics-lane-values",
                ("lane-index", lane),
                ("laser-bias-current", f"{BIAS_MA:.3f}"),
                ("laser-output-power", f"{10 ** (LIGHT_DBM / 10):.3f}"),
                ("laser-output-power-dbm", f"{LIGHT_DBM:.2f}"),
                ("laser-rx-optical-power", f"{10 ** (received / 10):.4f}"),
                ("laser-rx-optical-power-dbm", f"{received:.2f}"),
            )
            for lane in range(LANES)
        ]
        heat = f"{MODULE_C:.0f} degrees C / {MODULE_C * 9 / 5 + 32:.0f} degrees F"
        diagnostics = element(
            "optics-diagnostics",
            element("module-temperature", text=heat, celsius=MODULE_C),
            ("module-voltage", "3.300"),
            *lanes,
        )
        made.append(element("physical-interface", ("name", port.name), diagnostics))
    return element("interface-information", *made, style="normal")
