"""Neighbors by IPv6 neighbor discovery and LLDP, and VLANs.

Source: Juniper's operational YANG models (junos-rpc-ipv6, junos-rpc-lldp, junos-rpc-ethernet-switching).
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime

from lxml import etree

from ailb_gen.emulator.device import EmulatedDevice
from ailb_gen.emulator.fabric_state import end_address
from ailb_gen.emulator.operations.build import argument, check_found, element, fill, flag, parts
from ailb_gen.emulator.operations.ports import FIRST_SNMP, check_there, port_mtu, positions
from ailb_gen.network.fabric import End
from ailb_gen.network.model import RouterAdvertisement, Switch, Vlan

# Junos's defaults of [edit protocols router-advertisement interface]: seconds between two advertisements at most.
MAX_INTERVAL_S, LIFETIMES = 600, 3
VALID_S, PREFERRED_S = 2592000, 604800
# How long an entry of the neighbor cache stays reachable at most, in seconds.
REACHABLE_S = 30
PORT_ID = "protocols lldp port-id-subtype interface-name"
LLDP_INTERVAL_S = 30


def router_advertisements(device: EmulatedDevice, rpc: etree._Element) -> etree._Element:
    """Answer `show ipv6 router-advertisement`: those sent, and those received from the other end."""
    requested = argument(rpc, "interface")
    rows = device.switch.advertisements.values()
    return element(
        "ipv6-ra-information", *(_interface(device, row) for row in rows if requested in ("", row.interface))
    )


def _interval(row: RouterAdvertisement) -> int:
    return row.max_interval or MAX_INTERVAL_S


def _interface(device: EmulatedDevice, own: RouterAdvertisement) -> etree._Element:
    up, far = int(device.up_s), device.fabric.advertiser(device.name, own.interface)
    received = device.fabric.advertisement(device.name, own.interface)
    return fill(
        "ipv6-ra-interface",
        own=own,
        sent=up // _interval(own) + 1,
        since_sent=up % _interval(own),
        received=up // _interval(received) + 1 if received is not None else 0,
        advertisement=_advertisement(device, far, received, up) if far is not None and received is not None else None,
    )


def _advertisement(device: EmulatedDevice, far: End, sent: RouterAdvertisement, up: int) -> etree._Element:
    return fill(
        "ipv6-ra-advertisement",
        address=end_address(device.fabric, far),
        since=up % _interval(sent),
        lifetime=sent.lifetime if sent.lifetime is not None else LIFETIMES * _interval(sent),
        prefixes=[
            fill("ipv6-ra-prefix", prefix=one, valid=one.valid or VALID_S, preferred=one.preferred or PREFERRED_S)
            for one in sent.prefixes
        ],
    )


def discovered(device: EmulatedDevice, rpc: etree._Element) -> etree._Element:
    """Answer `show ipv6 neighbors`: the switches whose advertisements arrive."""
    requested, rows = argument(rpc, "interface"), []
    for name in (unit.name for port in device.switch.ports.values() for unit in port.units):
        far = device.fabric.advertiser(device.name, name)
        if far is not None and requested in ("", name):
            address, mac = end_address(device.fabric, far), device.fabric.mac(far.device, far.port)
            expire = REACHABLE_S - int(device.now()) % REACHABLE_S
            rows.append(fill("ipv6-nd-entry", address=address, mac=mac, expire=expire, interface=name))
    return fill("ipv6-nd-information", rows=rows, count=len(rows))


def _lldp(device: EmulatedDevice) -> Iterator[tuple[str, End, Switch]]:
    """Iterate over (port, other end, switch there) of the cables with LLDP at both ends; servers have none."""
    switch = device.switch
    for port in switch.ports:
        far = device.fabric.neighbor(device.name, port)
        if far is None or not device.fabric.link_up(device.name, port):
            continue
        other = device.fabric.switch(far.device)
        if switch.runs_lldp(port) and other.runs_lldp(far.port):
            yield port, far, other


def _remote(device: EmulatedDevice, far: End, other: Switch) -> list[etree._Element]:
    named = PORT_ID in other.operating
    description = other.ports[far.port].description if far.port in other.ports else ""
    return parts(
        "lldp-remote",
        mac=device.fabric.mac(far.device),
        kind="Interface name" if named else "Locally assigned",
        port=far.port if named else FIRST_SNMP + positions(other)[far.port],
        description=description or None,
        name=other.host_name or far.device,
    )


def lldp(device: EmulatedDevice, rpc: etree._Element) -> etree._Element:
    """Answer `show lldp neighbors`."""
    rows = [
        fill("lldp-neighbor-information", port=port, remote=_remote(device, far, other))
        for port, far, other in _lldp(device)
    ]
    return element("lldp-neighbors-information", *rows, style="brief")


def lldp_interface(device: EmulatedDevice, rpc: etree._Element) -> etree._Element:
    """Answer `show lldp neighbors interface`: at length, for one port or all.

    Raises RpcRefusedError for another port.
    """
    switch, requested = device.switch, argument(rpc, "interface-device")
    requested = requested or argument(rpc, "interface-name")
    check_there(switch, requested)
    age_s = int(device.up_s) % LLDP_INTERVAL_S
    mark = datetime.fromtimestamp(device.now() - age_s, UTC).strftime("%a %b %e %H:%M:%S %Y")
    at, named = positions(switch), PORT_ID in switch.operating
    rows = [
        fill(
            "lldp-neighbor-detail",
            index=number,
            mark=mark,
            age=age_s,
            port=port,
            port_id=port if named else FIRST_SNMP + at[port],
            remote=_remote(device, far, other),
            frames=fill("lldp-org-specific-tlv", mtu=port_mtu(other.ports[far.port]))
            if far.port in other.ports
            else None,
        )
        for number, (port, far, other) in enumerate((row for row in _lldp(device) if requested in ("", row[0])), 1)
    ]
    return element("lldp-neighbors-information", *rows, style="detail")


def lldp_local(device: EmulatedDevice, rpc: etree._Element) -> etree._Element:
    """Answer `show lldp local-information`."""
    return fill("lldp-local-info", mac=device.fabric.mac(device.name), name=device.host_name)


def vlans(device: EmulatedDevice, rpc: etree._Element) -> etree._Element:
    """Answer `show vlans`, of one VLAN or all; a port that is up has an asterisk. Raises RpcRefusedError."""
    requested, style = argument(rpc, "vlan-name"), "brief"
    style = next((length for length in ("detail", "extensive") if flag(rpc, length)), style)
    shown = [vlan for vlan in device.switch.vlans if requested in ("", vlan.name)]
    check_found(shown, "vlan", requested)
    return element("l2ng-l2ald-vlan-instance-information", *(_vlan(device, vlan, style) for vlan in shown), style=style)


def _vlan(device: EmulatedDevice, vlan: Vlan, style: str) -> etree._Element:
    """Make a VLAN with its members, in the long forms with their tags: a trunk sends its native VLAN untagged."""
    members, tags, long = [], [], style != "brief"
    for port in device.switch.ports.values():
        mark = "*" if device.fabric.link_up(device.name, port.name) else ""
        for unit in port.units:
            if any(name in (vlan.name, str(vlan.vlan_id)) for name, _ in unit.vlans):
                mode = unit.mode or "access"
                tags.append("tagged" if mode == "trunk" and port.native_vlan != vlan.vlan_id else "untagged")
                known = {"tagness": tags[-1], "mode": mode} if long else {"tagness": None, "mode": None}
                members.append(fill("l2ng-l2rtb-vlan-member", name=unit.name, mark=mark, **known))
    if not long:
        return fill("l2ng-l2ald-vlan-instance-group", vlan=vlan, members=members)
    tagged, untagged = tags.count("tagged"), tags.count("untagged")
    return fill("vlan-long", style=style, vlan=vlan, members=members, tagged=tagged, untagged=untagged)
