"""Layouts of replies on the command line, by RPC, or by RPC and argument (`ping+rapid`).

A reply without a layout is shown as names and values.

The layouts are those of Junos and stand in `layouts.txt`; functions show what depends on the length of a word.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from lxml import etree

from ailb_gen.emulator.operations.layout import lines, read_layouts, text_of

# Layouts that show more than one style.
SHOWN_AS = {"brief": "interfaces-normal"}


def _styled(reply: etree._Element) -> str:
    """Return the style of a reply."""
    return next((str(value) for value in reply.attrib.values()), "normal")


def _instances(reply: etree._Element) -> Iterator[str]:
    """Show `show route instance` in the length that the style of the reply names."""
    return lines(reply, LAYOUTS[f"instances-{_styled(reply)}"])


def _terse(reply: etree._Element) -> Iterator[str]:
    yield "Interface               Admin Link Proto    Local                 Remote"
    for row in reply.iter("physical-interface", "logical-interface"):
        [front] = lines(row, ["{name:<23} {admin-status:<5} {oper-status:<4}"])
        for family in row.iterfind("address-family"):
            kind = text_of(family, "address-family-name")
            for text in [_ends(entry) for entry in family.iterfind("interface-address")] or [""]:
                yield f"{front} {kind:<8} {text}".rstrip()
                front, kind = " " * 34, ""
        if row.find("address-family") is None:
            yield front.rstrip()


def _ends(entry: etree._Element) -> str:
    """Show an address, and the remote end of one that has no network."""
    local, remote = text_of(entry, "ifa-local"), entry.find("ifa-destination")
    return local if remote is None else f"{local:<20}--> {remote.text or ''}"


def _marks(reply: etree._Element) -> Iterator[str]:
    """Show a sign for every probe: whether it was answered."""
    answered = len(reply.findall("probe-result"))
    sent = int(text_of(reply, "probe-results-summary/probes-sent") or 0)
    yield "!" * answered + "." * (sent - answered)


def _fpcs(reply: etree._Element) -> Iterator[str]:
    """Show `show chassis fpc` in the length that the style of the reply names."""
    return lines(reply, LAYOUTS[f"fpc-{_styled(reply)}"])


def _up(reply: etree._Element) -> Iterator[str]:
    """Show what uptime(1) does."""
    found = reply.find("uptime-information")
    if found is not None:
        numbers = [text_of(found, f"load-average-{minutes}") for minutes in (1, 5, 15)]
        row = "{date-time:>7}  up {up-time}, {active-user-count@format}, load averages: "
        yield from lines(found, [f"{row}{', '.join(numbers)}"])


def _unit(unit: etree._Element) -> Iterator[str]:
    yield from lines(unit, LAYOUTS["interfaces-unit"])


def _traffic(row: etree._Element) -> Iterator[str]:
    """Show the counters of a port, or of a logical interface, in the length that they have."""
    found = row.find("traffic-statistics")
    if found is not None:
        kind = {"input-bytes": "long", "input-bps": "rates"}.get(str(found[0].tag), "packets")
        level = "unit-" if row.tag == "logical-interface" else ""
        yield from lines(found, LAYOUTS[f"interfaces-{level}traffic-{kind}"])


def _interfaces(reply: etree._Element) -> Iterator[str]:
    """Show `show interfaces` in the length that the style of the reply names."""
    style = _styled(reply)
    return _terse(reply) if style == "terse" else lines(reply, LAYOUTS[SHOWN_AS.get(style, f"interfaces-{style}")])


def _bgp_tables(reply: etree._Element) -> Iterator[str]:
    """Show what all neighbors together have sent, by table."""
    return lines(reply, LAYOUTS["bgp-tables"])


def _bgp_policies(options: etree._Element) -> Iterator[str]:
    """Show the policies of a neighbor or group, on one line; nothing without any."""
    names = (("Export", "export-policy"), ("Import", "import-policy"))
    shown = [f"{title}: [ {text_of(options, path)} ]" for title, path in names if options.find(path) is not None]
    if shown:
        yield f"  {' '.join(shown)}"


def _bgp_groups(reply: etree._Element) -> Iterator[str]:
    """Show `show bgp group` in the length that the style of the reply names."""
    numbers = reply.find("bgp-information")
    if numbers is None:
        return
    style = _styled(numbers)
    if style == "summary":
        yield "Group        Type       Peers     Established    Active/Received/Accepted/Damped"
    for one in reply.iterfind("bgp-group"):
        yield from (lines(one, LAYOUTS["bgp-group"]) if style != "summary" else ())
        yield from lines(one, LAYOUTS[f"bgp-group-{style}"])
    if style == "summary":
        yield ""
    yield from lines(numbers, LAYOUTS["bgp-groups-numbers"])
    yield from lines(numbers, LAYOUTS[f"bgp-groups-{style}"])


def _bfd_heading(reply: etree._Element) -> Iterator[str]:
    if _styled(reply) != "summary":
        yield "                                                  Detect   Transmit"
        yield "Address                  State     Interface      Time     Interval  Multiplier"


def _bfd_session(session: etree._Element) -> Iterator[str]:
    """Show a BFD session; an address that is longer than its column has a line of its own."""
    address = text_of(session, "session-neighbor")
    if len(address) > 24:
        yield address
        address = ""
    yield from lines(
        session,
        [
            f"{address:<24} {{session-state:<9}} {{session-interface:<14}} {{session-detection-time:>5}}"
            "{session-transmission-interval:>10}{session-adaptive-multiplier:>9}"
        ],
    )


def _exchanged(rt: etree._Element) -> Iterator[str]:
    """Show a route that is advertised to a neighbor, or received from it; a long prefix has a line of its own."""
    for entry in rt.iterfind("rt-entry"):
        prefix = text_of(rt, "rt-destination")
        if len(prefix) > 23:
            yield f"  {prefix}"
            prefix = ""
        [front, rest] = lines(entry, LAYOUTS["exchanged-brief"])
        yield f"{front} {prefix:<23} {rest}"


def _brief(rt: etree._Element) -> Iterator[str]:
    """Show the entries of a prefix, which stands in front of the first; a long one has a line of its own."""
    prefix = text_of(rt, "rt-destination")
    if len(prefix) > 18:
        yield prefix
        prefix = ""
    for entry in rt.iterfind("rt-entry"):
        [front, *below] = lines(entry, LAYOUTS["route-brief"])
        yield f"{prefix:<19}{front}"
        yield from below
        prefix = ""


def _terse_route(rt: etree._Element) -> Iterator[str]:
    """Show the entries of a prefix in columns; a long prefix, and what origin validation says, have their own lines."""
    prefix = text_of(rt, "rt-destination")
    for entry in rt.iterfind("rt-entry"):
        front, validated = f"{text_of(entry, 'active-tag'):<1} ? {prefix:<18}", text_of(entry, "validation-state")
        if len(prefix) > 18:
            yield front
            front = " " * 22
        [columns] = lines(entry, ["{protocol-name:.1} {preference:>3} {local-preference:>10} {med:>10} "])
        path = text_of(entry, "as-path")
        hops = [_terse_hop(hop) for hop in entry.iterfind("nh")]
        rows = [f"  {validated:<49}{hop}" if hop is hops[0] else f"{'':51}{hop}" for hop in hops]
        if not validated:
            rows = [f"{front} {columns}{hops[0]:<16} {path}".rstrip(), *rows[1:]]
        else:
            yield f"{front} {columns}{'':16} {path}".rstrip()
        yield from rows
        prefix = ""


def _terse_hop(hop: etree._Element) -> str:
    mark = " " if hop.find("selected-next-hop") is None else ">"
    return f"{mark}{text_of(hop, 'to') or text_of(hop, 'via') or 'Local'}"


TERSE = "A V Destination        P Prf   Metric 1   Metric 2  Next hop        AS path"
EXCHANGED = ("  Prefix                  Nexthop              MED     Lclpref    AS path",)
ROUTES = ("+ = Active Route, - = Last Active, * = Both", "")


def _routes(table: etree._Element) -> Iterator[str]:
    """Show the routes of a table in any of the forms of `show route`."""
    first = table.find("rt")
    # Of what is exchanged with a neighbor no style is named.
    exchanged = first is None or not first.attrib
    detailed = table.find("rt/rt-prefix-length") is not None
    if not detailed:
        yield from EXCHANGED if exchanged else ROUTES
    if first is not None and _styled(first) == "terse":
        yield TERSE
        for rt in table.iterfind("rt"):
            yield from _terse_route(rt)
        return
    kind = ("exchanged" if exchanged else "route") + ("-detail" if detailed else "")
    yield from lines(table, LAYOUTS[kind])


def _forwarded(entry: etree._Element) -> Iterator[str]:
    """Show an entry of the forwarding table; a long destination or next hop has a line of its own."""
    [front] = lines(entry, ["{rt-destination:<18} {destination-type:<4} {route-reference-count:>5}"])
    for hop in entry.iterfind("nh"):
        to = text_of(hop, "to")
        if len(to) > 18:
            yield f"{front} {to}"
            front, to = " " * 29, ""
        [rest] = lines(hop, ["{nh-type:<4} {nh-index:>8} {nh-reference-count:>5}[[ {via}]]"])
        yield f"{front} {to:<18} {rest}"
        front = " " * 29


def _hop(hop: etree._Element) -> Iterator[str]:
    times = [
        next(lines(probe, ["{rtt!ms} ms" if probe.find("probe-success") is not None else "*"]))
        for probe in hop.iterfind("probe-result")
    ]
    name = "[[{probe-result[1]/ip-address}  ]]"
    if hop.find("probe-result/host-name") is not None:
        name = "{probe-result[1]/host-name} ({probe-result[1]/ip-address})  "
    yield from lines(hop, [f"{{ttl-value:>2}}  {name}{'  '.join(times)}"])


LAYOUTS = read_layouts(
    Path(__file__).with_name("layouts.txt").read_text(encoding="utf-8"),
    {
        "bfd-heading": _bfd_heading,
        "bfd-session": _bfd_session,
        "bgp-groups": _bgp_groups,
        "bgp-policies": _bgp_policies,
        "bgp-tables": _bgp_tables,
        "instances": _instances,
        "interfaces": _interfaces,
        "traffic": _traffic,
        "unit": _unit,
        "fpcs": _fpcs,
        "marks": _marks,
        "up": _up,
        "forwarded": _forwarded,
        "exchanged": _exchanged,
        "brief": _brief,
        "routes": _routes,
        "hop": _hop,
    },
)
