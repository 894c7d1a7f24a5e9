"""Replies about a device and its interfaces as the command line shows them.

The layout is that of Junos; what is read is the XML reply alone.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ailb_gen.emulator.operations.text_routing import of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lxml import etree


def version(reply: etree._Element) -> Iterator[str]:
    """Show `show version`."""
    found = reply if reply.tag == "software-information" else reply.find(".//software-information")
    if found is not None:
        yield f"Hostname: {of(found, 'host-name')}"
        yield f"Model: {of(found, 'product-model')}"
        yield f"Junos: {of(found, 'junos-version')}"


def information(reply: etree._Element) -> Iterator[str]:
    """Show `show system information`."""
    yield f"Model: {of(reply, 'hardware-model')}"
    yield f"Family: {of(reply, 'os-name')}"
    yield f"Junos: {of(reply, 'os-version')}"
    yield f"Hostname: {of(reply, 'host-name')}"


def uptime(reply: etree._Element) -> Iterator[str]:
    """Show `show system uptime`."""
    yield f"Current time: {of(reply, 'current-time/date-time')}"
    yield f"Time Source: {of(reply, 'time-source'):>12}"
    names = {"system-booted-time": "System booted", "protocols-started-time": "Protocols started"}
    for tag, name in {**names, "last-configured-time": "Last configured"}.items():
        found = reply.find(tag)
        if found is not None:
            by = f" by {of(found, 'user')}" if of(found, "user") else ""
            yield f"{name}: {of(found, 'date-time')} ({of(found, 'time-length')} ago){by}"


def commits(reply: etree._Element) -> Iterator[str]:
    """Show `show system commit`."""
    for entry in reply.findall("commit-history"):
        comment = f" {of(entry, 'comment')}" if of(entry, "comment") else ""
        by = f"{of(entry, 'date-time')} by {of(entry, 'user')} via {of(entry, 'client')}"
        yield f"{of(entry, 'sequence-number'):<3} {by}{comment}"
        if of(entry, "log"):
            yield f"    {of(entry, 'log')}"


def alarms(reply: etree._Element) -> Iterator[str]:
    """Show `show chassis alarms`, `show system alarms`."""
    details = reply.findall("alarm-detail")
    if not details:
        yield "No alarms currently active"
        return
    yield f"{len(details)} alarms currently active"
    yield "Alarm time               Class  Description"
    for alarm in details:
        yield f"{of(alarm, 'alarm-time'):<24} {of(alarm, 'alarm-class'):<6} {of(alarm, 'alarm-description')}"


def chassis(reply: etree._Element) -> Iterator[str]:
    """Show `show chassis hardware`."""
    yield "Hardware inventory:"
    yield "Item             Version  Part number  Serial number     Description"
    found = reply.find("chassis")
    for row in [found, *found.findall("chassis-module")] if found is not None else []:
        serial = f"{'':<13}{of(row, 'serial-number'):<17}"
        yield f"{of(row, 'name'):<16} {of(row, 'version'):<8} {serial} {of(row, 'description')}"


def _terse(reply: etree._Element) -> Iterator[str]:
    yield "Interface               Admin Link Proto    Local                 Remote"
    for port in reply.findall("physical-interface"):
        yield f"{of(port, 'name'):<23} {of(port, 'admin-status'):<5} {of(port, 'oper-status')}"
        for unit in port.findall("logical-interface"):
            front = f"{of(unit, 'name'):<23} {of(unit, 'admin-status'):<5} {of(unit, 'oper-status'):<4}"
            for family in unit.findall("address-family"):
                kind = of(family, "address-family-name")
                locals_ = [of(entry, "ifa-local") for entry in family.findall("interface-address")]
                for text in locals_ or [""]:
                    yield f"{front} {kind:<8} {text}".rstrip()
                    front, kind = " " * 34, ""
            if unit.find("address-family") is None:
                yield front.rstrip()


def interfaces(reply: etree._Element) -> Iterator[str]:
    """Show `show interfaces` in the length that the style of the reply tells."""
    style = next((str(value) for value in reply.attrib.values()), "normal")
    yield from {"terse": _terse, "description": _descriptions}.get(style, _full)(reply)


def _full(reply: etree._Element) -> Iterator[str]:
    for port in reply.findall("physical-interface"):
        enabled = "Enabled" if of(port, "admin-status") == "up" else "Administratively down"
        yield f"Physical interface: {of(port, 'name')}, {enabled}, Physical link is {of(port, 'oper-status').title()}"
        if of(port, "description"):
            yield f"  Description: {of(port, 'description')}"
        link = f"Link-level type: {of(port, 'link-level-type')}, MTU: {of(port, 'mtu')}"
        yield f"  {link}, Speed: {of(port, 'speed')}"
        if of(port, "current-physical-address"):
            yield f"  Current address: {of(port, 'current-physical-address')}"
        if of(port, "interface-flapped"):
            yield f"  Last flapped   : {of(port, 'interface-flapped')}"
        for unit in port.findall("logical-interface"):
            yield f"  Logical interface {of(unit, 'name')}"
            for family in unit.findall("address-family"):
                mtu = f", MTU: {of(family, 'mtu')}" if of(family, "mtu") else ""
                yield f"    Protocol {of(family, 'address-family-name')}{mtu}"
                for entry in family.findall("interface-address"):
                    yield f"      Local: {of(entry, 'ifa-local')}"
        yield ""


def _descriptions(reply: etree._Element) -> Iterator[str]:
    yield "Interface       Admin Link Description"
    for port in reply.findall("physical-interface"):
        state = f"{of(port, 'admin-status'):<5} {of(port, 'oper-status'):<4}"
        yield f"{of(port, 'name'):<15} {state} {of(port, 'description')}"


def router_advertisements(reply: etree._Element) -> Iterator[str]:
    """Show `show ipv6 router-advertisement`."""
    for row in reply.findall("ipv6-ra-interface"):
        yield f"Interface: {of(row, 'interface-name')}"
        sent = of(row, "ipv6-ra-advertisement-sent-time")
        yield f"  Advertisements sent: {of(row, 'ipv6-ra-advertisements-sent')}, last sent {sent} ago"
        yield f"  Solicits received: {of(row, 'ipv6-ra-solicits-received')}"
        yield f"  Advertisements received: {of(row, 'ipv6-ra-advertisements-received')}"
        yield "  Solicited router advertisement unicast: Disable"
        yield f"  IPv6 RA Preference: {of(row, 'ipv6-ra-solicit-router-advertisement-preference')}"
        for heard in row.findall("ipv6-ra-advertisement"):
            since = of(heard, "ipv6-ra-time-since")
            yield f"  Advertisement from {of(heard, 'ipv6-source-address')}, heard {since} ago"
            yield f"    Managed: {of(heard, 'ipv6-ra-managed-flag')}"
            yield f"    Other configuration: {of(heard, 'ipv6-ra-other-config-flag')}"
            yield f"    Reachable time: {of(heard, 'ipv6-ra-reachable-time')} ms"
            yield f"    Default lifetime: {of(heard, 'ipv6-ra-default-lifetime')} sec"
            yield f"    Retransmit timer: {of(heard, 'ipv6-ra-retransmit-timer')} ms"
            yield f"    Current hop limit: {of(heard, 'ipv6-ra-current-hop-limit')}"


def discovered(reply: etree._Element) -> Iterator[str]:
    """Show `show ipv6 neighbors`."""
    yield "IPv6 Address                            Linklayer Address  State       Exp   Rtr  Secure  Interface"
    for row in reply.findall("ipv6-nd-entry"):
        state = f"{of(row, 'ipv6-nd-state'):<11} {of(row, 'ipv6-nd-expire'):<5}"
        flags = f"{of(row, 'ipv6-nd-isrouter'):<4} {of(row, 'ipv6-nd-issecure'):<7}"
        addresses = f"{of(row, 'ipv6-nd-neighbor-address'):<40} {of(row, 'ipv6-nd-neighbor-l2-address'):<18}"
        yield f"{addresses} {state} {flags} {of(row, 'ipv6-nd-interface-name')}"
    yield f"Total entries: {of(reply, 'ipv6-nd-total')}"


def lldp(reply: etree._Element) -> Iterator[str]:
    """Show `show lldp neighbors`."""
    yield "Local Interface    Parent Interface    Chassis Id          Port info          System Name"
    for row in reply.findall("lldp-neighbor-information"):
        near = f"{of(row, 'lldp-local-port-id'):<18} {of(row, 'lldp-local-parent-interface-name'):<19}"
        far = f"{of(row, 'lldp-remote-chassis-id'):<19} {of(row, 'lldp-remote-port-id'):<18}"
        yield f"{near} {far} {of(row, 'lldp-remote-system-name')}"


def vlans(reply: etree._Element) -> Iterator[str]:
    """Show `show vlans`."""
    yield "Routing instance        VLAN name             Tag          Interfaces"
    for row in reply.findall("l2ng-l2ald-vlan-instance-group"):
        yield f"{of(row, 'l2ng-l2rtb-name'):<23} {of(row, 'l2ng-l2rtb-vlan-name'):<21} {of(row, 'l2ng-l2rtb-vlan-tag')}"
        for member in row.findall("l2ng-l2rtb-vlan-member/l2ng-l2rtb-vlan-member-interface"):
            yield f"{'':<59}{(member.text or '').strip()}"


def plain(reply: etree._Element, indent: str = "") -> Iterator[str]:
    """Show a reply that has no layout of its own: a name and a value a line, indented as they are nested."""
    for child in reply.iterchildren("*"):
        name = str(child.tag).replace("-", " ").capitalize()
        text = (child.text or "").strip()
        yield f"{indent}{name}: {text}" if text else f"{indent}{name}"
        yield from plain(child, f"{indent}  ")
    if not len(reply) and not indent:
        yield from (reply.text or "").strip("\n").splitlines()


def arp(reply: etree._Element) -> Iterator[str]:
    """Show `show arp`."""
    yield "MAC Address       Address         Name                      Interface               Flags"
    yield f"Total entries: {of(reply, 'arp-entry-count')}"


def mac_table(reply: etree._Element) -> Iterator[str]:
    """Show `show ethernet-switching table`."""
    yield "MAC database for instance default-switch"
    yield "Ethernet switching table : 0 entries, 0 learned"


def storage(reply: etree._Element) -> Iterator[str]:
    """Show `show system storage`."""
    yield "Filesystem              Size       Used      Avail  Capacity   Mounted on"
    for row in reply.iter("filesystem"):
        sizes = [next(iter(row.find(f"{name}-blocks").attrib.values())) for name in ("total", "used", "available")]  # type: ignore[union-attr]
        numbers = "".join(f"{size!s:>11}" for size in sizes)
        yield f"{of(row, 'filesystem-name'):<17}{numbers}{of(row, 'used-percent'):>9}%  {of(row, 'mounted-on')}"


def users(reply: etree._Element) -> Iterator[str]:
    """Show `show system users`."""
    yield "USER     TTY      FROM                              LOGIN@  IDLE WHAT"
    for row in reply.iterfind("uptime-information/user-table/user-entry"):
        front = f"{of(row, 'user'):<8} {of(row, 'tty'):<8} {of(row, 'from'):<32}"
        yield f"{front} {of(row, 'login-time'):>7} {of(row, 'idle-time'):>5} {of(row, 'command')}"


def environment(reply: etree._Element) -> Iterator[str]:
    """Show `show chassis environment`."""
    yield "Class Item                           Status     Measurement"
    for row in reply.findall("environment-item"):
        yield f"{of(row, 'class'):<5} {of(row, 'name'):<30} {of(row, 'status'):<10} {of(row, 'temperature')}".rstrip()


def ping(reply: etree._Element) -> Iterator[str]:
    """Show `ping`."""
    target = of(reply, "target-ip")
    yield f"PING {target} ({target}): {of(reply, 'packet-size')} data bytes"
    for row in reply.findall("probe-result"):
        time = f"{int(of(row, 'rtt')) / 1000:.3f} ms"
        yield (
            f"{of(row, 'response-size')} bytes from {target}: icmp_seq={of(row, 'sequence-number')} "
            f"ttl={of(row, 'time-to-live')} time={time}"
        )
    yield ""
    yield f"--- {target} ping statistics ---"
    found = reply.find("probe-results-summary")
    if found is not None:
        sent, heard = of(found, "probes-sent"), of(found, "responses-received")
        yield f"{sent} packets transmitted, {heard} packets received, {of(found, 'packet-loss')}% packet loss"
        if found.find("rtt-minimum") is not None:
            times = [int(of(found, f"rtt-{name}")) / 1000 for name in ("minimum", "average", "maximum", "stddev")]
            yield f"round-trip min/avg/max/stddev = {'/'.join(f'{time:.3f}' for time in times)} ms"


def traceroute(reply: etree._Element) -> Iterator[str]:
    """Show `traceroute`."""
    target = of(reply, "target-ip")
    yield f"traceroute to {target}, {of(reply, 'max-hop-index')} hops max, {of(reply, 'packet-size')} byte packets"
    for hop in reply.findall("hop"):
        probes = hop.findall("probe-result")
        times = "  ".join(
            f"{int(of(row, 'rtt')) / 1000:.3f} ms" if row.find("probe-success") is not None else "*" for row in probes
        )
        name = f"{of(probes[0], 'host-name')} ({of(probes[0], 'ip-address')})  " if of(probes[0], "ip-address") else ""
        yield f"{of(hop, 'ttl-value'):>2}  {name}{times}"
