"""`ping` and `traceroute`: whether the routes of the fabric lead to another switch. No packet is sent.

Servers are not emulated and never answer. Source: Juniper's operational YANG models (junos-rpc-ping).
"""

from __future__ import annotations

from collections.abc import Iterator

from lxml import etree

from ailb_gen.addresses import BITS, address_text, interface_value
from ailb_gen.emulator.device import Device
from ailb_gen.emulator.fabric_state import link_local
from ailb_gen.emulator.messages import refusal
from ailb_gen.emulator.operations.build import Child, argument, element
from ailb_gen.emulator.operations.system import host_name
from ailb_gen.network.model import Switch

PROBES, BYTES, MOST_HOPS = 5, 56, 30
# Microseconds per hop.
HOP_US = 120


def ping(device: Device, rpc: etree._Element) -> etree._Element:
    """Answer `ping`."""
    target, count = _target(rpc), _number(rpc, "count", PROBES)
    way = path_to(device, target, argument(rpc, "interface"))
    size = _number(rpc, "size", BYTES)
    probes: list[Child] = []
    time_us = HOP_US * max(len(way), 1) if way is not None else 0
    for number in range(count) if way is not None else ():
        probes.append(
            element(
                "probe-result",
                ("probe-index", number + 1),
                element("probe-success"),
                ("sequence-number", number),
                ("ip-address", target),
                ("time-to-live", 64),
                ("response-size", size + 8),
                ("rtt", time_us),
                **_determined(device),
            )
        )
    times = [(f"rtt-{name}", time_us) for name in ("minimum", "maximum", "average")]
    return element(
        "ping-results",
        ("target-host", target),
        ("target-ip", target),
        ("packet-size", size),
        *probes,
        element(
            "probe-results-summary",
            ("probes-sent", count),
            ("responses-received", len(probes)),
            ("packet-loss", 0 if way is not None else 100),
            *(((*times, ("rtt-stddev", 0))) if way is not None else ()),
        ),
        element("ping-success") if way is not None else ("ping-failure", "no response"),
    )


def traceroute(device: Device, rpc: etree._Element) -> etree._Element:
    """Answer `traceroute`; what does not answer shows one hop of asterisks."""
    target = _target(rpc)
    way = path_to(device, target, argument(rpc, "interface"))
    hops = [_hop(device, at, address, name) for at, (name, address) in enumerate(way or (), 1)]
    if way is None:
        failed = [
            element("probe-result", ("probe-index", index), element("probe-failure"), **_determined(device))
            for index in (1, 2, 3)
        ]
        hops = [element("hop", ("ttl-value", 1), *failed)]
    return element(
        "traceroute-results",
        ("target-host", target),
        ("target-ip", target),
        ("max-hop-index", _number(rpc, "ttl", MOST_HOPS)),
        ("packet-size", 60),
        *hops,
        element("traceroute-success") if way is not None else ("traceroute-failure", "no response"),
    )


def _determined(device: Device) -> dict[str, object]:
    """Return the attribute that says when a probe was answered."""
    return {"date-determined": int(device.now())}


def _hop(device: Device, at: int, address: str, name: str) -> etree._Element:
    rows = [
        element(
            "probe-result",
            ("probe-index", index),
            ("ip-address", address),
            ("host-name", name),
            ("rtt", HOP_US * at),
            element("probe-success"),
            **_determined(device),
        )
        for index in (1, 2, 3)
    ]
    return element("hop", ("ttl-value", at), ("last-ip-address", address), ("last-host-name", name), *rows)


def _target(rpc: etree._Element) -> str:
    found = argument(rpc, "host")
    if not found:
        raise refusal("missing argument: the address of a host", tag="missing-element", element="host")
    return found


def _number(rpc: etree._Element, name: str, default: int) -> int:
    text = argument(rpc, name) or str(default)
    if not text.isdecimal() or int(text) > 10000:
        raise refusal(f"invalid numeric value: '{text}'", "invalid-value", element=name)
    return int(text)


def path_to(device: Device, target: str, interface: str = "") -> list[tuple[str, str]] | None:
    """Return the (device, address) of the hops to an address, None if no device has it."""
    text, _, scope = target.partition("%")
    switch = device.fabric.switch(device.name)
    found = interface_value(f"{text}/{BITS}")
    if found is None:
        own = {address.partition("/")[0] for address in _inet(switch)}
        return [(host_name(device), text)] if text in own else None
    value = found[1].value
    near = _link_local(device, switch, address_text(value), scope or interface)
    return near if near is not None else _routed(device, value)


def _inet(switch: Switch) -> Iterator[str]:
    for port in switch.ports.values():
        for unit in port.units:
            yield from (text for text, _ in unit.inet_addresses)


def _link_local(device: Device, switch: Switch, text: str, scope: str) -> list[tuple[str, str]] | None:
    """Find the neighbor with a link-local address."""
    for port in switch.ports.values():
        for unit in port.units:
            far = device.fabric.advertiser(device.name, unit.name) if scope in ("", unit.name) else None
            if far is not None and link_local(device.fabric, far.device, f"{far.port}.0") == text:
                return [(far.device, text)]
    return None


def _routed(device: Device, value: int) -> list[tuple[str, str]] | None:
    """Follow the first next hop of every switch to the one that has the address."""
    way: list[tuple[str, str]] = []
    at = device.name
    for _ in range(MOST_HOPS):
        switch = device.fabric.switch(at)
        if any(address.value == value for port in switch.ports.values() for u in port.units for address in u.addresses):
            # What is asked answers with the address that it is asked for.
            return [*way[:-1], (at, address_text(value))]
        held = [prefix for prefix in device.fabric.prefixes(at) if prefix.holds(value)]
        held.sort(key=lambda prefix: -prefix.length)
        hop = next((hop for prefix in held for hop in device.fabric.next_hops(at, prefix)), None)
        far = device.fabric.neighbor(at, hop.interface.rpartition(".")[0]) if hop is not None else None
        if far is None:
            return None
        at = far.device
        way.append((at, link_local(device.fabric, at, f"{far.port}.0")))
    return None
