"""Families of logical interfaces and their addresses, as `show interfaces` shows them."""

from __future__ import annotations

from collections.abc import Iterator
from ipaddress import ip_interface

from lxml import etree

from ailb_gen.addresses import address_text
from ailb_gen.emulator.device import Device
from ailb_gen.emulator.fabric_state import link_local
from ailb_gen.emulator.operations.build import Child, element
from ailb_gen.emulator.operations.ports import unit_mtu
from ailb_gen.junos.tree import Node
from ailb_gen.network.management import is_interface_address
from ailb_gen.network.model import Port, Unit


def terse_families(device: Device, port: Port, unit: Unit) -> Iterator[etree._Element]:
    """Make the families of a logical interface with their addresses and nothing else."""
    for family, texts in addresses(device, port, unit).items():
        rows = []
        for text in texts:
            # An address of lo0 is a host, with a remote end that is all of IPv4, or nothing.
            host = port.name == "lo0"
            remote = element("ifa-destination", text="0/0" if family == "inet" else None, emit="emit") if host else None
            local = text.partition("/")[0] if host else text
            rows.append(element("interface-address", element("ifa-local", text=local, emit="emit"), remote))
        yield element("address-family", ("address-family-name", family), *rows)


def addresses(device: Device, port: Port, unit: Unit) -> dict[str, list[str]]:
    """Return the addresses of the families of a logical interface, with their lengths."""
    found: dict[str, list[str]] = {}
    if any(family == "inet" for family, _ in unit.others):
        found["inet"] = [text for text, _ in unit.inet_addresses if is_interface_address(text)]
    if unit.inet6:
        found["inet6"] = [f"{address_text(address.value)}/{address.prefix.length}" for address in unit.addresses]
        if port.name != "lo0":
            found["inet6"].append(f"{link_local(device.fabric, device.name, unit.name)}/64")
    if unit.switching:
        found["eth-switch"] = []
    return found


def families(device: Device, port: Port, unit: Unit, node: Node, generation: int | None) -> Iterator[etree._Element]:
    """Make the families of a logical interface at length; `generation` is its number at most length, else None.

    `node` is the logical interface in the configuration.
    """
    loopback = port.name == "lo0"
    for family, texts in addresses(device, port, unit).items():
        cache: list[Child] = []
        if family != "eth-switch":
            size = 0 if loopback else 75000
            names = ("max-local-cache", "new-hold-limit", "intf-curr-cnt", "intf-unresolved-cnt", "intf-dropcnt")
            cache = list(zip(names, (size, size, 0, 0, 0), strict=True))
        flags = [element("ifff-is-primary")] if family != "inet" else [element("ifff-sendbcast-pkt-to-re")]
        yield element(
            "address-family",
            ("address-family-name", family),
            ("mtu", unit_mtu(port, unit, family, node)),
            *cache,
            *([("generation", generation), ("route-table", 0)] if generation is not None else []),
            element("address-family-flags", *flags),
            *(_address(text, first=at == 0, loopback=loopback) for at, text in enumerate(texts)),
        )


def _address(text: str, first: bool, loopback: bool) -> etree._Element:
    local, _, _ = text.partition("/")
    flags: list[Child] = [element("ifaf-current-default")] if loopback else [element("ifaf-current-preferred")]
    if first:
        flags.append(element("ifaf-current-primary"))
    network = ip_interface(text).network
    broadcast = network.broadcast_address if network.version == 4 and network.prefixlen < 31 else None
    return element(
        "interface-address",
        element("ifa-flags", *flags),
        ("ifa-destination", None if loopback else short_prefix(text)),
        ("ifa-local", local),
        ("ifa-broadcast", None if loopback else broadcast),
    )


def short_prefix(text: str) -> str:
    """Write the network of an address as Junos does: zero octets at the end of IPv4 are left out (`10.0.0/24`)."""
    network = ip_interface(text).network
    name, _, length = str(network).partition("/")
    if network.version == 6:
        return f"{name}/{length}"
    octets = name.split(".")[: max(1, -(-network.prefixlen // 8))]
    return f"{'.'.join(octets)}/{length}"
