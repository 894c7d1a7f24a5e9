"""BGP groups: `show bgp group`, in brief, at length and summed up.

Source: Juniper's operational YANG model junos-rpc-bgp; Junos CLI Reference, "show bgp group"; replies of real devices.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from lxml import etree

from ailb_gen.emulator.device import Device
from ailb_gen.emulator.fabric_state import BgpSession, PrefixCounts
from ailb_gen.emulator.operations.bgp import TABLE, added, asks_default, counted, table
from ailb_gen.emulator.operations.bgp_neighbor import ends, options
from ailb_gen.emulator.operations.build import Child, argument, element, flag
from ailb_gen.network.model import Group


def group(device: Device, rpc: etree._Element) -> etree._Element:
    """Answer `show bgp group`, for one group or all; the numbers below are those of all that are shown."""
    if not asks_default(rpc):
        return element("bgp-group-information")
    style = "detail" if flag(rpc, "detail") else "summary" if flag(rpc, "summary") else "brief"
    counts = device.fabric.prefix_counts(device.name)
    shown = [
        (number, one, [session for session in device.fabric.sessions(device.name) if session.group == number])
        for number, one in enumerate(device.fabric.switch(device.name).groups)
        if argument(rpc, "group-name") in ("", one.name)
    ]
    made = [_group(device, number, one, peers, counts, style) for number, one, peers in shown]
    peers = [session for _, _, of_group in shown for session in of_group]
    return element("bgp-group-information", *made, _together(len(made), peers, counts, style))


def _sum(sessions: Sequence[BgpSession], counts: Mapping[str, PrefixCounts]) -> PrefixCounts:
    return added(counts.get(session.interface, PrefixCounts()) for session in sessions)


def _group(
    device: Device,
    number: int,
    one: Group,
    peers: list[BgpSession],
    counts: Mapping[str, PrefixCounts],
    style: str,
) -> etree._Element:
    up = [session for session in peers if session.established]
    switch = device.fabric.switch(device.name)
    advertised = sum(device.fabric.advertised_count(device.name, session) for session in up)
    rib: list[Child] = [("name", TABLE), *counted(_sum(up, counts))]
    rib += [("advertised-prefix-count", advertised)] if style == "detail" else []
    numbers: list[Child] = [
        ("peer-count", len(peers)),
        ("established-count", len(up)),
        *(("peer-address", ends(device, session)[1]) for session in peers if style != "summary"),
        element("route-queue", ("timer", "unset"), ("state", "empty")) if style == "detail" and up else None,
        element("bgp-rib", *rib, style=style) if up else None,
    ]
    if style == "summary":
        return element("bgp-group", ("type", "External"), ("name", one.name), *numbers, style=style)
    return element(
        "bgp-group",
        ("type", "External"),
        ("local-as", one.local_as or switch.asn or 0),
        ("name", one.name),
        ("group-index", number),
        ("group-flags", "Export Eval" if one.exports else ""),
        element(
            "bgp-option-information",
            ("export-policy", " ".join(one.exports) or None),
            ("import-policy", " ".join(one.imports) or None),
            ("bgp-options", options(one)),
            ("bgp-options-extended", "GracefulShutdownRcv"),
            ("holdtime", 0),
            ("gshut-recv-local-preference", 0),
        ),
        *numbers,
        style=style,
    )


def _together(
    groups: int, peers: Sequence[BgpSession], counts: Mapping[str, PrefixCounts], style: str
) -> etree._Element:
    return element(
        "bgp-information",
        ("group-count", groups),
        ("peer-count", len(peers)),
        ("external-peer-count", len(peers)),
        ("internal-peer-count", 0),
        ("down-peer-count", sum(1 for session in peers if not session.established)),
        ("flap-count", sum(session.flaps for session in peers)),
        table(_sum(peers, counts)) if groups else None,
        style=style,
    )
