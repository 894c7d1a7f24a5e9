"""State, speed, MTU and numbers of a port, all of it from configurations, cables and links.

The numbers that a device gives to its interfaces and next hops stay while its configuration names the same ones.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from fnmatch import fnmatchcase

from lxml import etree

from ailb_gen.emulator.device import EmulatedDevice
from ailb_gen.emulator.messages import refusal
from ailb_gen.emulator.operations.build import parts
from ailb_gen.junos.interface_ranges import effective
from ailb_gen.junos.tree import Node
from ailb_gen.network.model import GIGABIT, Port, Switch, Unit, read_speed, speed_text

# Interfaces that are up by themselves.
LOGICAL = ("irb", "lo0")
MANAGEMENT = ("em", "fxp", "me", "re0:mgmt", "re1:mgmt", "vme")
# A port by its position: `et-FPC/PIC/PORT`.
PLACE = re.compile(r"[a-z]+-(\d+)/(\d+)/(\d+)", re.ASCII)
# MTU of a port without one, and the part of the header of Ethernet.
DEFAULT_MTU, HEADER = 1514, 14
# Where the numbers of interfaces, their numbers in SNMP, and those of next hops begin; those below are Junos's own.
FIRST_INTERFACE, FIRST_SNMP, FIRST_NEXT_HOP = 1000, 501, 512
# Several next hops together have a number in a range of its own.
FIRST_LIST = 1048574


def shown_ports(switch: Switch, requested: str = "") -> Iterator[Port]:
    """Iterate over the ports that a name or a pattern names; of a split port its parts."""
    for port in switch.ports.values():
        if (port.sub_ports is None or port.units) and matches(port.name, requested):
            yield port


def check_there(switch: Switch, requested: str) -> None:
    """Raise RpcRefusedError for the name of an interface that is not there; a pattern may name none."""
    if requested and not any(sign in requested for sign in "*?["):
        names = {name for port in shown_ports(switch) for name in (port.name, *(unit.name for unit in port.units))}
        if requested not in names:
            raise refusal(f"device {requested} not found", element=requested)


def data_ports(device: EmulatedDevice, requested: str) -> Iterator[Port]:
    """Iterate over the ports of the fabric that a request names. Raises RpcRefusedError for one that is not there."""
    check_there(device.switch, requested)
    for port in shown_ports(device.switch, requested):
        if not port.name.startswith((*LOGICAL, *MANAGEMENT)):
            yield port


def matches(name: str, requested: str) -> bool:
    """Return whether a name, or a pattern, names an interface; none names all."""
    return not requested or name == requested or fnmatchcase(name, requested)


def port_up(device: EmulatedDevice, port: Port) -> bool:
    """Return whether a configured port is up: logical ones always, others with carrier."""
    if port.disabled:
        return False
    return port.name in LOGICAL or device.fabric.link_up(device.name, port.name)


def unit_up(device: EmulatedDevice, port: Port, unit: Unit) -> bool:
    """Return whether a logical interface is up; an IRB needs a VLAN with a member port that is."""
    if unit.disabled or not port_up(device, port):
        return False
    if port.name != "irb":
        return True
    switch = device.switch
    names = {text for vlan in switch.vlans if vlan.irb == unit.name for text in (vlan.name, str(vlan.vlan_id))}
    return any(
        name in names and port_up(device, other)
        for other in switch.ports.values()
        for member in other.units
        for name, _ in member.vlans
    )


def speed_bps(device: EmulatedDevice, port: Port) -> int:
    """Return the speed of a port: as configured, for a part on the split port, else of its cable, else of the model."""
    if port.name.startswith(MANAGEMENT):
        return GIGABIT
    whole, _, part = port.name.partition(":")
    parent = device.switch.ports.get(whole)
    configured = port.speed_bps or (parent.speed_bps if parent is not None else None)
    return (
        configured
        or _chassis_bps(device, whole)
        or device.fabric.cable_bps(device.name, port.name)
        or device.native_bps // (parent.sub_ports if part and parent is not None and parent.sub_ports else 1)
    )


def _chassis_bps(device: EmulatedDevice, name: str) -> int | None:
    """Return the speed of a port under `chassis`, where other models than this one have it."""
    found = PLACE.fullmatch(name)
    if found is None:
        return None
    fpc, pic, number = found.groups()
    node = effective(device.committed()).get("chassis", "fpc", fpc, "pic", pic, "port", number)
    return read_speed(node.value("channel-speed") or node.value("speed")) if node is not None else None


def speed_of(device: EmulatedDevice, port: Port) -> str:
    """Return the speed of a port as Junos writes it: `400Gbps`, `1000mbps`."""
    text = speed_text(speed_bps(device, port))
    return "1000mbps" if text == "1g" else text.replace("g", "Gbps").replace("m", "mbps")


def port_mtu(port: Port) -> int:
    """Return the MTU of a port with the Ethernet header."""
    return port.mtu or DEFAULT_MTU


def unit_mtu(port: Port, unit: Unit, family: str, node: Node) -> int | str:
    """Return the MTU of a family: of IP without the header of Ethernet, of Ethernet switching with it.

    `node` is the unit in the configuration.
    """
    if port.name == "lo0":
        return "Unlimited"
    if family == "eth-switch":
        return port_mtu(port)
    if family == "inet6":
        return unit.inet6_mtu or port_mtu(port) - HEADER
    text = node.value("family", family, "mtu") or ""
    return int(text) if text.isdecimal() else port_mtu(port) - HEADER


def head(device: EmulatedDevice, port: Port, index: int) -> list[etree._Element]:
    """Make the elements that begin a physical interface at length; `index` is its position among all interfaces."""
    return parts(
        "port-head",
        port=port,
        enabled="Disabled" if port.disabled else "Enabled",
        up=port_up(device, port),
        admin_up=not port.disabled,
        index=FIRST_INTERFACE + index,
        snmp_index=FIRST_SNMP + index,
    )


def positions(switch: Switch) -> dict[str, int]:
    """Return the position, from 0, of every port and logical interface among all of a switch."""
    names = [name for port in switch.ports.values() for name in (port.name, *(unit.name for unit in port.units))]
    return {name: at for at, name in enumerate(names)}


def unit_index(switch: Switch, interface: str) -> int:
    """Return the number of a logical interface, 0 for one that is not configured."""
    at = positions(switch).get(interface)
    return FIRST_INTERFACE + at if at is not None else 0


def next_hop_index(switch: Switch, interface: str) -> int:
    """Return the number of the next hop over a logical interface, 0 for one that is not configured."""
    port = interface.rpartition(".")[0]
    return FIRST_NEXT_HOP + list(switch.ports).index(port) if port in switch.ports else 0
