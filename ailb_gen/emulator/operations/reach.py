"""`ping` and `traceroute`: whether the routes of the fabric lead to another switch. No packet is sent.

Servers are not emulated and never answer. Source: Juniper's operational YANG models (junos-rpc-ping).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from lxml import etree

from ailb_gen.addresses import BITS, address_text, interface_value
from ailb_gen.emulator.device import EmulatedDevice
from ailb_gen.emulator.fabric_state import end_address
from ailb_gen.emulator.messages import refusal
from ailb_gen.emulator.operations.bgp import DEFAULT_INSTANCE
from ailb_gen.emulator.operations.build import argument, check_found, element, fill, flag, ip_version
from ailb_gen.emulator.operations.interfaces import addresses
from ailb_gen.emulator.operations.ports import check_there, unit_mtu
from ailb_gen.junos.tree import Node
from ailb_gen.network.model import Port, Switch, Unit

PROBES, BYTES, MOST_HOPS, MOST_TTL = 5, 56, 30, 255
# Microseconds per hop.
HOP_US = 120
# Of the headers: ICMPv6, and IPv6 with it.
ICMP, HEADERS = 8, 48


class PathHop(NamedTuple):
    """A device on the path and its address; `mtu` is that of the link to it, 0 without one."""

    device: str
    address: str
    mtu: int = 0


def ping(device: EmulatedDevice, rpc: etree._Element) -> etree._Element:
    """Answer `ping`. Raises RpcRefusedError."""
    target = _target(device, rpc)
    count, size = _number(rpc, "count", PROBES), _number(rpc, "size", BYTES)
    _number(rpc, "wait", 1), _number(rpc, "interval", 1)
    path = path_to(device, target, argument(rpc, "interface"))
    if path is not None and not _arrives(rpc, path, size):
        path = None
    rtt = HOP_US * max(len(path), 1) if path is not None else None
    probe = {"now": device.now(), "target": target, "size": size + ICMP, "rtt": rtt}
    probes = [
        fill("ping-probe", index=number + 1, number=number, **probe) for number in range(count) if path is not None
    ]
    return fill(
        "ping-results",
        target=target,
        size=size,
        probes=probes,
        count=count,
        received=len(probes),
        lost=0 if path is not None else 100,
        rtt=rtt,
        spread=0 if path is not None else None,
        result=_result("ping", path is not None),
    )


def _result(name: str, arrived: bool) -> etree._Element:
    return element(f"{name}-success") if arrived else element(f"{name}-failure", text="no response")


def _arrives(rpc: etree._Element, path: list[PathHop], size: int) -> bool:
    """Return whether packets come to the end of a path: their hop limit, and their size if they may not be cut."""
    least = min((hop.mtu for hop in path if hop.mtu), default=0)
    fits = not least or size + HEADERS <= least or not flag(rpc, "do-not-fragment")
    return fits and _number(rpc, "ttl", MOST_TTL, MOST_TTL) >= len(path)


def traceroute(device: EmulatedDevice, rpc: etree._Element) -> etree._Element:
    """Answer `traceroute`; a silent target shows one hop of asterisks. Raises RpcRefusedError."""
    target = _target(device, rpc)
    most = _number(rpc, "ttl", MOST_HOPS, MOST_TTL)
    _number(rpc, "wait", 1)
    path = path_to(device, target, argument(rpc, "interface"))
    named, arrived = not flag(rpc, "no-resolve"), path is not None and len(path) <= most
    hops = [_hop(device, at, hop, named) for at, hop in enumerate((path or [])[:most], 1)]
    return fill(
        "traceroute-results",
        target=target,
        most=most,
        hops=hops if path is not None else fill("no-answer", now=device.now()),
        result=_result("traceroute", arrived),
    )


def _hop(device: EmulatedDevice, at: int, hop: PathHop, named: bool) -> etree._Element:
    probe = {"now": device.now(), "hop": hop, "name": hop.device if named else None, "rtt": HOP_US * at}
    probes = [fill("probe-result", index=index, **probe) for index in (1, 2, 3)]
    return fill("hop", ttl=at, hop=hop, name=hop.device if named else None, probes=probes)


def _target(device: EmulatedDevice, rpc: etree._Element) -> str:
    """Return the address of the target.

    Raises RpcRefusedError for a target, a source, an interface, an instance or a family that is not there.
    """
    target, own = argument(rpc, "host"), argument(rpc, "source")
    if not target:
        raise refusal("missing argument: the address of a host", tag="missing-element", element="host")
    version = ip_version(target)
    if not version:
        raise refusal(f"cannot resolve {target}: Host name lookup failure", element=target)
    for name, other in (("inet", 6), ("inet6", 4)):
        if flag(rpc, name) and version == other:
            raise refusal(f"{target} is an IPv{other} address", element=target)
    switch = device.switch
    if own and own not in set(_own(device, switch)):
        raise refusal(f"source {own} is not an address of this device", element=own)
    instance = argument(rpc, "routing-instance")
    check_found(instance in (*DEFAULT_INSTANCE, "default"), "routing instance", instance)
    check_there(switch, argument(rpc, "interface"))
    return target


def _number(rpc: etree._Element, name: str, default: int, most: int = 10000) -> int:
    text = argument(rpc, name) or str(default)
    if not text.isdecimal() or not 0 < int(text) <= most:
        raise refusal(f"invalid numeric value: '{text}'", "invalid-value", element=name)
    return int(text)


def path_to(device: EmulatedDevice, target: str, interface: str = "") -> list[PathHop] | None:
    """Return the hops to an address, None if no device has it."""
    text, _, scope = target.partition("%")
    switch = device.switch
    found = interface_value(f"{text}/{BITS}")
    if found is None or text in set(_own(device, switch)):
        return [PathHop(device.host_name, text)] if text in set(_own(device, switch)) else None
    value = found[1].value
    near = _link_local(device, switch, address_text(value), scope or interface)
    return near if near is not None else _routed(device, value)


def _units(switch: Switch) -> Iterator[tuple[Port, Unit]]:
    return ((port, unit) for port in switch.ports.values() for unit in port.units)


def _own(device: EmulatedDevice, switch: Switch) -> Iterator[str]:
    for port, unit in _units(switch):
        for texts in addresses(device, port, unit).values():
            yield from (text.partition("/")[0] for text in texts)


def _mtu(switch: Switch, interface: str) -> int:
    found = (unit_mtu(port, unit, "inet6", Node("")) for port, unit in _units(switch) if unit.name == interface)
    mtu = next(found, 0)
    return mtu if isinstance(mtu, int) else 0


def _link_local(device: EmulatedDevice, switch: Switch, text: str, scope: str) -> list[PathHop] | None:
    for _, unit in _units(switch):
        far = device.fabric.advertiser(device.name, unit.name) if scope in ("", unit.name) else None
        if far is not None and end_address(device.fabric, far) == text:
            return [PathHop(far.device, text, _mtu(switch, unit.name))]
    return None


def _routed(device: EmulatedDevice, value: int) -> list[PathHop] | None:
    """Follow the first next hop of every switch to the one that has the address."""
    path: list[PathHop] = []
    at = device.name
    for _ in range(MOST_HOPS):
        switch = device.fabric.switch(at)
        if any(address.value == value for port in switch.ports.values() for u in port.units for address in u.addresses):
            # The target answers with the requested address.
            return [*path[:-1], PathHop(at, address_text(value), path[-1].mtu if path else 0)]
        held = [prefix for prefix in device.fabric.prefixes(at) if prefix.holds(value)]
        held.sort(key=lambda prefix: -prefix.length)
        hop = next((hop for prefix in held for hop in device.fabric.next_hops(at, prefix)), None)
        far = device.fabric.neighbor(at, hop.interface.rpartition(".")[0]) if hop is not None else None
        if far is None or hop is None:
            return None
        at = far.device
        path.append(PathHop(at, end_address(device.fabric, far), _mtu(switch, hop.interface)))
    return None
