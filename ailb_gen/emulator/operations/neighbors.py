"""Neighbors by IPv6 neighbor discovery and LLDP, and VLANs.

Source: Juniper's operational YANG models (junos-rpc-ipv6, junos-rpc-lldp, junos-rpc-ethernet-switching).
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime

from lxml import etree

from ailb_gen.emulator.device import Device
from ailb_gen.emulator.fabric_state import FabricState, link_local
from ailb_gen.emulator.messages import refusal
from ailb_gen.emulator.operations.build import Child, age, argument, element
from ailb_gen.emulator.operations.indices import FIRST_SNMP, places
from ailb_gen.emulator.operations.ports import check_there, port_mtu
from ailb_gen.emulator.operations.system import host_name
from ailb_gen.network.fabric import End
from ailb_gen.network.model import RouterAdvertisement, Switch

# Junos's defaults of [edit protocols router-advertisement interface]: seconds between two advertisements at most.
MAX_INTERVAL_S, LIFETIMES = 600, 3
VALID_S, PREFERRED_S = 2592000, 604800
HOP_LIMIT = 64
# How long an entry of the neighbor cache stays reachable at most, in seconds.
REACHABLE_S = 30
PORT_ID = "protocols lldp port-id-subtype interface-name"
CAPABILITIES = "Bridge Router"
# What a switch says of itself, how often, and for how long it holds.
SYSTEM, LLDP_INTERVAL_S, LLDP_TTL_S = "Juniper Networks, Inc., Junos OS Evolved", 30, 120


def router_advertisements(device: Device, rpc: etree._Element) -> etree._Element:
    """Answer `show ipv6 router-advertisement`: what is sent, and what is received from the other end."""
    requested = argument(rpc, "interface")
    rows = device.fabric.switch(device.name).advertisements.values()
    made = [_interface(device, row) for row in rows if requested in ("", row.interface)]
    return element("ipv6-ra-information", *made)


def _interval(row: RouterAdvertisement) -> int:
    return row.max_interval or MAX_INTERVAL_S


def _interface(device: Device, row: RouterAdvertisement) -> etree._Element:
    up = int(device.now() - device.started)
    far = device.fabric.advertiser(device.name, row.interface)
    heard = device.fabric.heard(device.name, row.interface)
    return element(
        "ipv6-ra-interface",
        ("interface-name", row.interface),
        ("ipv6-ra-advertisements-sent", up // _interval(row) + 1),
        ("ipv6-ra-advertisement-sent-time", age(up % _interval(row))),
        ("ipv6-ra-solicits-received", 0),
        ("ipv6-ra-advertisements-received", up // _interval(heard) + 1 if heard is not None else 0),
        ("ipv6-ra-solicit-router-advertisement-unicast", 0),
        ("ipv6-ra-solicit-router-advertisement-preference", "DEFAULT/MEDIUM"),
        _advertisement(device.fabric, far, heard, up) if far is not None and heard is not None else None,
    )


def _advertisement(fabric: FabricState, far: End, row: RouterAdvertisement, up: int) -> etree._Element:
    lifetime = row.lifetime if row.lifetime is not None else LIFETIMES * _interval(row)
    prefixes = [
        element(
            "ipv6-ra-prefix",
            ("ipv6-ra-prefix-address", entry.prefix),
            ("ipv6-ra-prefix-valid-lifetime", entry.valid or VALID_S),
            ("ipv6-ra-prefix-preferred-lifetime", entry.preferred or PREFERRED_S),
            ("ipv6-ra-prefix-on-link", int(entry.on_link)),
            ("ipv6-ra-prefix-autonomous", int(entry.autonomous)),
        )
        for entry in row.prefixes
    ]
    return element(
        "ipv6-ra-advertisement",
        ("ipv6-source-address", link_local(fabric, far.device, f"{far.port}.0")),
        ("ipv6-ra-time-since", age(up % _interval(row))),
        ("ipv6-ra-managed-flag", 0),
        ("ipv6-ra-other-config-flag", 0),
        ("ipv6-ra-reachable-time", 0),
        ("ipv6-ra-default-lifetime", lifetime),
        ("ipv6-ra-retransmit-timer", 0),
        ("ipv6-ra-current-hop-limit", HOP_LIMIT),
        *prefixes,
    )


def discovered(device: Device, rpc: etree._Element) -> etree._Element:
    """Answer `show ipv6 neighbors`: the switches whose advertisements arrive."""
    requested = argument(rpc, "interface")
    made = []
    for name in (unit.name for port in device.fabric.switch(device.name).ports.values() for unit in port.units):
        far = device.fabric.advertiser(device.name, name)
        if far is None or requested not in ("", name):
            continue
        made.append(
            element(
                "ipv6-nd-entry",
                ("ipv6-nd-neighbor-address", link_local(device.fabric, far.device, f"{far.port}.0")),
                ("ipv6-nd-neighbor-l2-address", device.fabric.mac(far.device, far.port)),
                ("ipv6-nd-state", "reachable"),
                ("ipv6-nd-expire", REACHABLE_S - int(device.now()) % REACHABLE_S),
                ("ipv6-nd-isrouter", "yes"),
                ("ipv6-nd-issecure", "no"),
                ("ipv6-nd-interface-name", name),
            )
        )
    return element("ipv6-nd-information", *made, ("ipv6-nd-total", len(made)))


def _lldp(device: Device) -> Iterator[tuple[str, End, Switch]]:
    """Iterate over (port, other end, switch there) of the cables with LLDP at both ends; servers have none."""
    switch = device.fabric.switch(device.name)
    for port in switch.ports:
        far = device.fabric.neighbor(device.name, port)
        if far is None or not device.fabric.link_up(device.name, port):
            continue
        other = device.fabric.switch(far.device)
        if switch.runs_lldp(port) and other.runs_lldp(far.port):
            yield port, far, other


def _remote(fabric: FabricState, port: str, far: End, other: Switch) -> list[Child]:
    named = PORT_ID in other.operating
    description = other.ports[far.port].description if far.port in other.ports else ""
    return [
        ("lldp-local-port-id", port),
        ("lldp-local-parent-interface-name", "-"),
        ("lldp-remote-chassis-id-subtype", "Mac address"),
        ("lldp-remote-chassis-id", fabric.mac(far.device)),
        ("lldp-remote-port-id-subtype", "Interface name" if named else "Locally assigned"),
        ("lldp-remote-port-id", far.port if named else FIRST_SNMP + places(other)[far.port]),
        ("lldp-remote-port-description", description or None),
        ("lldp-remote-system-name", other.host_name or far.device),
    ]


def lldp(device: Device, rpc: etree._Element) -> etree._Element:
    """Answer `show lldp neighbors`."""
    made = [element("lldp-neighbor-information", *_remote(device.fabric, *row)) for row in _lldp(device)]
    return element("lldp-neighbors-information", *made, style="brief")


def lldp_interface(device: Device, rpc: etree._Element) -> etree._Element:
    """Answer `show lldp neighbors interface`: at length, for one port or all. Raises RefusedError for another port."""
    requested = argument(rpc, "interface-device") or argument(rpc, "interface-name")
    check_there(device.fabric.switch(device.name), requested)
    at = places(device.fabric.switch(device.name))
    rows = [row for row in _lldp(device) if requested in ("", row[0])]
    made = [_at_length(device, number, row, FIRST_SNMP + at[row[0]]) for number, row in enumerate(rows, 1)]
    return element("lldp-neighbors-information", *made, style="detail")


def _at_length(device: Device, number: int, row: tuple[str, End, Switch], index: int) -> etree._Element:
    """Make all that is known of a neighbor: what it says of itself, and the frame size of its port (IEEE 802.3)."""
    port, far, other = row
    _, parent, *remote = _remote(device.fabric, *row)
    age_s = int(device.now() - device.started) % LLDP_INTERVAL_S
    mark = datetime.fromtimestamp(device.now() - age_s, UTC).strftime("%a %b %e %H:%M:%S %Y")
    size = [("lldp-remote-oui-802-3", "00120f"), ("lldp-remote-subtype-mtu", 4)]
    size += [("lldp-remote-subtype-mtu-size", port_mtu(other.ports[far.port])), ("lldp-remote-index", 1)]
    return element(
        "lldp-neighbor-information",
        ("lldp-index", number),
        ("lldp-ttl", LLDP_TTL_S),
        ("lldp-timemark", mark),
        ("lldp-age", age_s),
        ("lldp-local-interface", port),
        parent,
        ("lldp-local-port-id", port if PORT_ID in device.fabric.switch(device.name).operating else index),
        ("lldp-local-port-ageout-count", 0),
        *remote,
        element("lldp-system-description", ("lldp-remote-system-description", SYSTEM)),
        ("lldp-remote-system-capabilities-supported", CAPABILITIES),
        ("lldp-remote-system-capabilities-enabled", CAPABILITIES),
        element("lldp-org-specific-tlv", *size) if far.port in other.ports else None,
    )


def lldp_local(device: Device, rpc: etree._Element) -> etree._Element:
    """Answer `show lldp local-information`."""
    return element(
        "lldp-local-info",
        ("lldp-local-chassis-id", device.fabric.mac(device.name)),
        ("lldp-local-system-name", host_name(device)),
    )


def vlans(device: Device, rpc: etree._Element) -> etree._Element:
    """Answer `show vlans`, of one VLAN or all; a port that is up has an asterisk. Raises RefusedError."""
    switch, wanted = device.fabric.switch(device.name), argument(rpc, "vlan-name")
    shown, made = [vlan for vlan in switch.vlans if wanted in ("", vlan.name)], []
    if wanted and not shown:
        raise refusal(f"vlan {wanted} does not exist", element=wanted)
    for vlan in shown:
        members: list[Child] = []
        for port in switch.ports.values():
            mark = "*" if device.fabric.link_up(device.name, port.name) else ""
            for unit in port.units:
                if any(name in (vlan.name, str(vlan.vlan_id)) for name, _ in unit.vlans):
                    name = ("l2ng-l2rtb-vlan-member-interface", f"{unit.name}{mark}")
                    members.append(element("l2ng-l2rtb-vlan-member", name))
        made.append(
            element(
                "l2ng-l2ald-vlan-instance-group",
                ("l2ng-l2rtb-name", "default-switch"),
                ("l2ng-l2rtb-vlan-name", vlan.name),
                ("l2ng-l2rtb-vlan-tag", vlan.vlan_id),
                *members,
                style="brief",
            )
        )
    return element("l2ng-l2ald-vlan-instance-information", *made, style="brief")


def mac_table(device: Device, rpc: etree._Element) -> etree._Element:
    """Answer `show ethernet-switching table`: servers are not emulated, nothing was learned."""
    return element("l2ng-l2ald-rtb-macdb")


def arp(device: Device, rpc: etree._Element) -> etree._Element:
    """Answer `show arp`: nothing here speaks IPv4."""
    return element("arp-table-information", ("arp-entry-count", 0), style="normal")
