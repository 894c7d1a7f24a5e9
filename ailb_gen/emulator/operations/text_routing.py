"""Replies about BGP and routes as the command line shows them.

The layout is that of Junos; what is read is the XML reply alone.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lxml import etree

RIB = ("active", "received", "accepted", "suppressed")


def of(node: etree._Element, name: str) -> str:
    """Return the text of a child, empty without one."""
    return (node.findtext(name) or "").strip()


def bgp_summary(reply: etree._Element) -> Iterator[str]:
    """Show `show bgp summary`."""
    if reply.find("group-count") is None:
        return
    yield "Threading mode: BGP I/O"
    yield "Default eBGP mode: advertise - accept, receive - accept"
    down = of(reply, "down-peer-count")
    yield f"Groups: {of(reply, 'group-count')} Peers: {of(reply, 'peer-count')} Down peers: {down}"
    if reply.find("auto-discovered-peer-count") is not None:
        yield f"Auto-discovered peers: {of(reply, 'auto-discovered-peer-count')}"
    yield "Table          Tot Paths  Act Paths Suppressed    History Damp State    Pending"
    for rib in reply.findall("bgp-rib"):
        yield f"{of(rib, 'name'):<21}"
        names = ("total", "active", "suppressed", "history", "damped", "pending")
        yield f"{of(rib, f'{names[0]}-prefix-count'):>24}" + "".join(
            f"{of(rib, f'{name}-prefix-count'):>11}" for name in names[1:]
        )
    yield (
        "Peer                     AS      InPkt     OutPkt    OutQ   Flaps Last Up/Dwn "
        "State|#Active/Received/Accepted/Damped..."
    )
    for peer in reply.findall("bgp-peer"):
        state = "Establ" if of(peer, "peer-state") == "Established" else of(peer, "peer-state")
        yield (
            f"{of(peer, 'peer-address'):<15}{of(peer, 'peer-as'):>12}{of(peer, 'input-messages'):>11}"
            f"{of(peer, 'output-messages'):>11}{of(peer, 'route-queue-count'):>8}{of(peer, 'flap-count'):>8}"
            f"{of(peer, 'elapsed-time'):>12} {state}"
        )
        for rib in peer.findall("bgp-rib"):
            yield f"  {of(rib, 'name')}: {'/'.join(of(rib, f'{name}-prefix-count') for name in RIB)}"


def bgp_neighbor(reply: etree._Element) -> Iterator[str]:
    """Show `show bgp neighbor`."""
    for peer in reply.findall("bgp-peer"):
        options = peer.find("bgp-option-information")
        local = f"Local: {of(peer, 'local-address')} AS {of(peer, 'local-as')}"
        yield f"Peer: {of(peer, 'peer-address')} AS {of(peer, 'peer-as')} {local}"
        yield f"  Group: {of(peer, 'peer-group'):<21} Routing-Instance: {of(peer, 'peer-cfg-rti')}"
        yield f"  Forwarding routing-instance: {of(peer, 'peer-fwd-rti')}"
        flags = of(peer, "peer-flags")
        yield f"  Type: {of(peer, 'peer-type')}    State: {of(peer, 'peer-state')}    Flags: <{flags}>"
        yield f"  Last State: {of(peer, 'last-state')}   Last Event: {of(peer, 'last-event')}"
        yield f"  Last Error: {of(peer, 'last-error')}"
        if options is not None:
            for name, tag in (("Export", "export-policy"), ("Import", "import-policy")):
                if of(options, tag):
                    yield f"  {name}: [ {of(options, tag)} ]"
            yield f"  Options: <{of(options, 'bgp-options')}>"
            yield f"  Address families configured: {of(options, 'address-families')}"
            yield f"  Holdtime: {of(options, 'holdtime')} Preference: {of(options, 'preference')}"
            yield f"  Local AS: {of(options, 'local-as')} Local System AS: {of(options, 'local-system-as')}"
        yield f"  Number of flaps: {of(peer, 'flap-count')}"
        ids = f"  Peer ID: {of(peer, 'peer-id'):<15} Local ID: {of(peer, 'local-id'):<17}"
        yield f"{ids} Active Holdtime: {of(peer, 'active-holdtime')}"
        bfd = of(peer, "bgp-bfd/bfd-configuration-state"), of(peer, "bgp-bfd/bfd-operational-state")
        yield f"  BFD: {', '.join(bfd)}"
        yield f"  Local Interface: {of(peer, 'local-interface-name')}"
        for rib in peer.findall("bgp-rib"):
            yield f"  Table {of(rib, 'name')} Bit: {of(rib, 'rib-bit')}"
            yield f"    RIB State: {of(rib, 'bgp-rib-state')}"
            yield f"    Send state: {of(rib, 'send-state')}"
            yield f"    Active prefixes:              {of(rib, 'active-prefix-count')}"
            yield f"    Received prefixes:            {of(rib, 'received-prefix-count')}"
            yield f"    Accepted prefixes:            {of(rib, 'accepted-prefix-count')}"
            yield f"    Suppressed due to damping:    {of(rib, 'suppressed-prefix-count')}"
            yield f"    Advertised prefixes:          {of(rib, 'advertised-prefix-count')}"
        yield ""


def routes(reply: etree._Element) -> Iterator[str]:
    """Show `show route` in any of its forms."""
    for table in reply.findall("route-table"):
        yield ""
        yield from _header(table)
        exchanged = table.find("destination-count") is None
        if exchanged and table.find("rt/rt-prefix-length") is None:
            yield "  Prefix                  Nexthop              MED     Lclpref    AS path"
        elif not exchanged:
            yield from ("+ = Active Route, - = Last Active, * = Both", "")
        for rt in table.findall("rt"):
            if exchanged:
                yield from _exchanged(rt)
            else:
                yield from _detailed(rt) if rt.find("rt-prefix-length") is not None else _brief(rt)


def _header(table: etree._Element) -> Iterator[str]:
    name = of(table, "table-name")
    if table.find("destination-count") is None:
        yield f"{name}:"
        return
    states = ", ".join(f"{of(table, f'{state}-route-count')} {state}" for state in ("active", "holddown", "hidden"))
    counts = f"{of(table, 'destination-count')} destinations, {of(table, 'total-route-count')} routes"
    yield f"{name}: {counts} ({states})"


def _exchanged(rt: etree._Element) -> Iterator[str]:
    for entry in rt.findall("rt-entry"):
        tag = entry.findtext("active-tag") or " "
        hop = of(entry, "nh/to")
        if rt.find("rt-prefix-length") is None:
            prefix = of(rt, "rt-destination")
            rest = f"{hop:<20} {of(entry, 'med'):<7} {'':<10} {of(entry, 'as-path')}"
            if len(prefix) > 23:
                yield f"  {prefix}"
                prefix = ""
            yield f"{tag} {prefix:<23} {rest}"
            continue
        yield f"{tag} {of(rt, 'rt-destination')}/{of(rt, 'rt-prefix-length')} (1 entry, 1 announced)"
        if of(entry, "bgp-group-name"):
            yield f" BGP group {of(entry, 'bgp-group-name')} type External"
        rows = (
            ("Nexthop", hop),
            ("MED", of(entry, "med")),
            ("AS path", of(entry, "as-path")),
            ("Communities", _communities(entry)),
            ("AIGP", of(entry, "bgp-aigp")),
            ("Hidden reason", of(entry, "hidden-reason")),
        )
        yield from (f"     {name}: {text}" for name, text in rows if text)


def _communities(entry: etree._Element) -> str:
    found = entry.find("communities")
    return " ".join((child.text or "") for child in found) if found is not None else ""


def _hops(entry: etree._Element, mark: str) -> Iterator[str]:
    for hop in entry.findall("nh"):
        chosen = ">" if hop.find("selected-next-hop") is not None else " "
        if of(hop, "nh-local-interface"):
            yield f"{mark}   Local via {of(hop, 'nh-local-interface')}"
        else:
            to = f"to {of(hop, 'to')} " if of(hop, "to") else ""
            yield f"{mark}{chosen}  {to}via {of(hop, 'via')}"


def _brief(rt: etree._Element) -> Iterator[str]:
    destination = of(rt, "rt-destination")
    indent = " " * 19
    if len(destination) > 18:
        yield destination
        destination = ""
    for entry in rt.findall("rt-entry"):
        tag = entry.findtext("active-tag") or " "
        what = f"[{of(entry, 'protocol-name')}/{of(entry, 'preference')}] {of(entry, 'age')}"
        local = f", localpref {of(entry, 'local-preference')}" if of(entry, "local-preference") else ""
        source = f", from {of(entry, 'learned-from')}" if len(entry.findall("nh")) > 1 else ""
        yield f"{destination:<19}{tag}{what}{local}{source}"
        if of(entry, "as-path"):
            yield f"{indent}   AS path: {of(entry, 'as-path')}, validation-state: unverified"
        yield from _hops(entry, f"{indent} ")
        destination = ""


def _detailed(rt: etree._Element) -> Iterator[str]:
    count = rt.find("rt-entry-count")
    entries = next((str(value) for value in count.attrib.values()), "") if count is not None else ""
    yield f"{of(rt, 'rt-destination')}/{of(rt, 'rt-prefix-length')} ({entries}, 1 announced)"
    for entry in rt.findall("rt-entry"):
        tag = entry.findtext("active-tag") or " "
        yield f"        {tag}{of(entry, 'protocol-name'):<6} Preference: {of(entry, 'preference')}"
        yield from _hops(entry, " " * 16)
        rows = (
            ("Source", of(entry, "gateway")),
            ("Inactive reason", of(entry, "inactive-reason")),
            ("Peer AS", of(entry, "peer-as")),
            ("Age", of(entry, "age")),
            ("AIGP", of(entry, "rt-aigp")),
            ("AS path", of(entry, "as-path")),
            ("Communities", _communities(entry)),
            ("Localpref", of(entry, "local-preference")),
            ("Hidden reason", of(entry, "hidden-reason")),
        )
        yield from (f"                {name}: {text}" for name, text in rows if text)
    yield ""


def bfd(reply: etree._Element) -> Iterator[str]:
    """Show `show bfd session`."""
    yield "                                                  Detect   Transmit"
    yield "Address                  State     Interface      Time     Interval  Multiplier"
    for session in reply.findall("bfd-session"):
        times = f"{of(session, 'session-detection-time'):<8} {of(session, 'session-transmission-interval'):<9}"
        where = f"{of(session, 'session-state'):<9} {of(session, 'session-interface'):<14}"
        multiplier = of(session, "session-adaptive-multiplier")
        yield f"{of(session, 'session-neighbor'):<24} {where} {times} {multiplier}"
    yield ""
    yield f"{of(reply, 'sessions')} sessions, {of(reply, 'clients')} clients"
