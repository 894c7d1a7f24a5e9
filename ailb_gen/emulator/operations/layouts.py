"""Layouts of replies on the command line, by RPC; a reply without a layout is shown as names and values.

The layouts are those of Junos and stand in `layouts.txt`; functions show what depends on the length of a word.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from lxml import etree

from ailb_gen.emulator.operations.layout import lines, read_layouts, text_of


def _terse(reply: etree._Element) -> Iterator[str]:
    yield "Interface               Admin Link Proto    Local                 Remote"
    for port in reply.iterfind("physical-interface"):
        yield from lines(port, ["{name:<23} {admin-status:<5} {oper-status}"])
        for unit in port.iterfind("logical-interface"):
            [front] = lines(unit, ["{name:<23} {admin-status:<5} {oper-status:<4}"])
            for family in unit.iterfind("address-family"):
                kind = text_of(family, "address-family-name")
                for text in [text_of(entry, "ifa-local") for entry in family.iterfind("interface-address")] or [""]:
                    yield f"{front} {kind:<8} {text}".rstrip()
                    front, kind = " " * 34, ""
            if unit.find("address-family") is None:
                yield front.rstrip()


def _interfaces(reply: etree._Element) -> Iterator[str]:
    """Show `show interfaces` in the length that the style of the reply names."""
    style = next((str(value) for value in reply.attrib.values()), "normal")
    return _terse(reply) if style == "terse" else lines(reply, LAYOUTS[f"interfaces-{style}"])


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


def _routes(table: etree._Element) -> Iterator[str]:
    """Show the routes of a table in any of the forms of `show route`."""
    exchanged = table.find("destination-count") is None
    detailed = table.find("rt/rt-prefix-length") is not None
    if exchanged and not detailed:
        yield "  Prefix                  Nexthop              MED     Lclpref    AS path"
    kind = ("exchanged" if exchanged else "route") + ("-detail" if detailed else "")
    yield from lines(table, LAYOUTS[kind])


def _hop(hop: etree._Element) -> Iterator[str]:
    times = [
        next(lines(probe, ["{rtt!ms} ms" if probe.find("probe-success") is not None else "*"]))
        for probe in hop.iterfind("probe-result")
    ]
    name = "[[{probe-result[1]/host-name} ({probe-result[1]/ip-address})  ]]"
    yield from lines(hop, [f"{{ttl-value:>2}}  {name}{'  '.join(times)}"])


LAYOUTS = read_layouts(
    Path(__file__).with_name("layouts.txt").read_text(encoding="utf-8"),
    {"interfaces": _interfaces, "exchanged": _exchanged, "brief": _brief, "routes": _routes, "hop": _hop},
)
