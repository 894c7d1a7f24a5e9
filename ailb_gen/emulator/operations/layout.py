"""Show a reply as the command line does, by a layout: lines with fields, some once for every element of a kind.

The layouts stand in `layouts.txt`, by RPC, or by RPC and argument (`ping+rapid`); functions show the parts that
depend on the length of a word. A reply without a layout is shown as names and values.

A field `{path}` is the text of the elements at a path of lxml's ElementPath, `{path@name}` an attribute of Junos, or
the text without it, `{path:<20}` in a column, `{path!name}` converted. Text between `[[` and `]]` is left out when
its field is empty.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import NamedTuple

from lxml import etree

from ailb_gen.emulator.operations.build import JUNOS

FIELD = re.compile(r"\{([^{}:!@]+)(?:@([a-z]+))?(?:!([a-z]+))?(?::([^{}]*))?\}")
OPTIONAL = re.compile(r"\[\[(.*?)\]\]")


class Each(NamedTuple):
    """Rows that are shown for every element at a path; `//name` is every element of that name, the reply too."""

    path: str
    rows: Layout


Show = Callable[["etree._Element"], Iterator[str]]
Layout = list[str | Each | Show]


def read_layouts(text: str, functions: Mapping[str, Show]) -> dict[str, Layout]:
    """Read layouts by rpc: `= RPC ...` begins one, `|` a line, which a backslash at its end continues.

    `@PATH` begins rows for every element at a path, indented below it or one `|` after it; `>NAME` stands for another
    layout, in whose name `*` is the style of the element; `!NAME` calls a function.
    """
    layouts: dict[str, Layout] = {}
    stack: list[Layout] = [[]]
    for row in re.sub(r"\\\n *\|", "", text).splitlines():
        body = row.lstrip(" ")
        del stack[(len(row) - len(body)) // 2 + 1 :]
        if body[0] == "=":
            stack = [[]]
            layouts |= dict.fromkeys(body[1:].split(), stack[0])
        elif body[0] == "@":
            path, bar, line = body[1:].partition(" |")
            inner: Layout = [line] if bar else []
            stack[-1].append(Each(path, inner))
            stack.append(inner)
        elif body[0] == ">":
            stack[-1].append(partial(_other, layouts, body[1:]))
        else:
            stack[-1].append(body[1:] if body[0] == "|" else functions[body[1:]])
    return layouts


def _other(layouts: Mapping[str, Layout], name: str, node: etree._Element) -> Iterator[str]:
    return lines(node, layouts[name.replace("*", style_of(node))])


def style_of(node: etree._Element) -> str:
    """Return the style of a reply, or of a part of it."""
    return str(node.get(f"{{{JUNOS}}}style", "normal"))


def text_of(node: etree._Element, path: str) -> str:
    """Return the texts of the elements at a path, empty without one."""
    return " ".join((found.text or "").strip() for found in node.iterfind(path))


def lines(node: etree._Element, layout: Layout) -> Iterator[str]:
    """Iterate over the lines of a reply, or a part of it, in a layout."""
    for row in layout:
        if isinstance(row, str):
            optional = OPTIONAL.sub(lambda found: found[1] if _fields(node, found[1]) else "", row)
            yield FIELD.sub(lambda found: _field(node, found), optional)
        elif isinstance(row, Each):
            for found in node.iter(row.path[2:]) if row.path[:2] == "//" else node.iterfind(row.path):
                yield from lines(found, row.rows)
        else:
            yield from row(node)


def _fields(node: etree._Element, text: str) -> str:
    return "".join(_field(node, found) for found in FIELD.finditer(text))


def _field(node: etree._Element, found: re.Match[str]) -> str:
    path, attribute, conversion, column = found.groups()
    if attribute:
        element = node.find(path)
        text = str(element.get(f"{{{JUNOS}}}{attribute}") or element.text or "") if element is not None else ""
    elif conversion in OF_ELEMENTS:
        text = OF_ELEMENTS[conversion](node.find(path))
    else:
        text = CONVERSIONS.get(conversion, str)(text_of(node, path))
    return format(text, column or "")


def _flags(element: etree._Element | None, internal: str = "") -> str:
    """Return flags, which are elements without text, as words; those that have no name are a number."""
    rows = () if element is None else element.iterchildren("*")
    return " ".join(f"{internal}{row.text}" if row.text else FLAGS[str(row.tag)] for row in rows) or "None"


FLAGS = {
    "iff-device-down": "Device-Down", "iff-down": "Down", "iff-hardware-down": "Hardware-Down",
    "iff-snmp-traps": "SNMP-Traps", "iff-up": "Up", "ifdf-down": "Down", "ifdf-loopback": "Loopback",
    "ifdf-present": "Present", "ifdf-running": "Running", "ifmf-none": "None", "ifaf-current-default": "Is-Default",
    "ifaf-current-preferred": "Is-Preferred", "ifaf-current-primary": "Is-Primary", "ifff-is-primary": "Is-Primary",
    "ifff-sendbcast-pkt-to-re": "Sendbcast-pkt-to-re",
}  # fmt: skip
OF_ELEMENTS: dict[str | None, Callable[[etree._Element | None], str]] = {
    "flags": _flags,
    "internal": lambda element: _flags(element, "Internal: "),
    "mark": lambda element: " " if element is None else ">",
    "selected": lambda element: "" if element is None else ", selected",
}
CONVERSIONS: dict[str | None, Callable[[str], str]] = {
    "enabled": lambda text: "Enabled" if text == "up" else "Administratively down",
    "ms": lambda text: f"{int(text) / 1000:.3f}",
    "title": str.title,
}


def plain(reply: etree._Element, indent: str = "") -> Iterator[str]:
    """Show a reply without a layout: a name and a value a line, indented as they are nested."""
    for child in reply.iterchildren("*"):
        name = str(child.tag).replace("-", " ").capitalize()
        text = (child.text or "").strip()
        yield f"{indent}{name}: {text}" if text else f"{indent}{name}"
        yield from plain(child, f"{indent}  ")
    if not len(reply) and not indent:
        yield from (reply.text or "").strip("\n").splitlines()


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


def _traffic(row: etree._Element) -> Iterator[str]:
    """Show the counters of a port, or of a logical interface, in the length that they have."""
    found = row.find("traffic-statistics")
    if found is not None:
        kind = {"input-bytes": "long", "input-bps": "rates"}.get(str(found[0].tag), "packets")
        level = "unit-" if row.tag == "logical-interface" else ""
        yield from lines(found, LAYOUTS[f"interfaces-{level}traffic-{kind}"])


def _bgp_policies(options: etree._Element) -> Iterator[str]:
    names = (("Export", "export-policy"), ("Import", "import-policy"))
    shown = [f"{title}: [ {text_of(options, path)} ]" for title, path in names if options.find(path) is not None]
    if shown:
        yield f"  {' '.join(shown)}"


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
    """Show the entries of a prefix in columns; a long prefix and origin validation have their own lines."""
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
    # Routes exchanged with a neighbor name no style.
    exchanged = first is None or not first.attrib
    detailed = table.find("rt/rt-prefix-length") is not None
    if not detailed:
        yield from EXCHANGED if exchanged else ROUTES
    if first is not None and style_of(first) == "terse":
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
        "bfd-session": _bfd_session,
        "bgp-policies": _bgp_policies,
        "terse": _terse,
        "traffic": _traffic,
        "marks": _marks,
        "forwarded": _forwarded,
        "exchanged": _exchanged,
        "brief": _brief,
        "routes": _routes,
        "hop": _hop,
    },
)
