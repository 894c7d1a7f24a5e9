"""The entries of `show route detail` and `extensive`: next hops by number, state, task and path attributes.

Next hops are numbered as in the forwarding table. What only the memory of a device knows is the same for all: address 0
and one reference.

Source: Juniper's operational YANG model junos-rpc-route; replies of real devices.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from lxml import etree

from ailb_gen.emulator.device import Device
from ailb_gen.emulator.fabric_state import BgpSession
from ailb_gen.emulator.operations.build import Child, elapsed, element
from ailb_gen.emulator.operations.indices import FIRST_LIST, next_hop_index
from ailb_gen.network.model import Switch
from ailb_gen.routing.rib import Path
from ailb_gen.routing.route import Route

# Columns by which the command line indents next hops.
INDENT = 16
STATES = {"active": "Active Ext", "hidden": "Hidden Ext"}
FLAGS = {"active": "Accepted", "multipath": "Accepted MultipathContrib", "hidden": None}


def next_hop(switch: Switch, kind: str, interfaces: Sequence[str]) -> etree._Element:
    """Make what several next hops have in common: their kind, and the number of one or of their list."""
    one = next_hop_index(switch, interfaces[0]) if kind == "Router" else 0
    return element(
        "nhh",
        ("nh-type", kind),
        ("nh-index", FIRST_LIST if len(interfaces) > 1 else one),
        ("nh-address", "0x0"),
        ("nh-reference-count", 1),
        *((("nh-session-id", 0), ("nh-kernel-id", 0)) if kind == "Router" else ()),
        indent=INDENT,
    )


def hop(to: str, interface: str, selected: bool) -> etree._Element:
    """Make one next hop of several; a direct route has no address."""
    return element(
        "nh",
        ("nh-string", "Next hop"),
        ("to", to or None),
        ("via", interface),
        element("selected-next-hop") if selected else None,
        ("session", 0 if to else None),
        indent=INDENT,
    )


def own(switch: Switch, kind: str, interface: str, up: float) -> Iterator[Child]:
    """Iterate over what an entry of a direct or local route has behind its preference."""
    local = kind == "local"
    yield next_hop(switch, "Local" if local else "Interface", [interface])
    yield element("nh", ("nh-local-interface", interface), indent=INDENT) if local else hop("", interface, True)
    yield "rt-entry-state", "Active NoReadvrt Int" if local else "Active Int"
    yield "local-as", switch.asn
    yield from _since(up)
    yield "task-name", "IF"
    yield from _path("I")


def learned(
    device: Device, path: Path, session: BgpSession | None, source: str, used: Sequence[etree._Element], seconds: float
) -> Iterator[Child]:
    """Iterate over what an entry of a route learned by BGP has behind its preference; `used` are its next hops."""
    switch, route, active = device.fabric.switch(device.name), path.route, path.status == "active"
    asn = route.as_path[0]
    yield "preference2", -(route.local_preference or 0) - 1
    yield next_hop(switch, "Router", [text for one in used if (text := one.findtext("via"))])
    yield "gateway", source
    yield from used
    yield "rt-entry-state", STATES.get(path.status, "NotBest Ext")
    yield "inactive-reason", _reason(path)
    yield "local-as", session.asn if session is not None else None
    yield "peer-as", asn
    yield from _since(seconds)
    yield "metric", route.med
    yield "task-name", f"BGP_{asn}.{source}"
    yield from (("announce-bits", 1), ("announce-tasks", "0-KRT")) if active else ()
    yield from _path(" ".join([*map(str, route.as_path), "I"]))
    yield communities(route)
    yield "bgp-rt-flag", FLAGS.get(path.status, "Accepted")
    yield "rt-aigp", route.aigp
    yield "local-preference", route.local_preference
    yield "peer-id", (device.fabric.switch(session.peer).router_id if session is not None else None) or "0.0.0.0"  # noqa: S104
    yield "thread-name", "junos-main"
    yield "hidden-reason", path.reason if path.status == "hidden" else None


def _reason(path: Path) -> str | None:
    return {"inactive": path.reason, "multipath": "Not Best in its group - Active preferred"}.get(path.status)


def _since(seconds: float) -> Iterator[Child]:
    yield element("age", text=elapsed(seconds), seconds=int(seconds))
    yield "validation-state", "unverified"


def _path(text: str) -> Iterator[Child]:
    yield "as-path", f"AS path: {text}"
    effective = element("attr-as-path-effective", ("aspath-effective-string", "AS path:"), ("attr-value", text))
    yield element("bgp-path-attributes", effective)


def communities(route: Route) -> etree._Element | None:
    """Make the communities of a route, None without any."""
    if not route.communities:
        return None
    # RFC 1997 communities are two numbers; all others name their type first.
    kinds = {True: "community", False: "extended-community"}
    rows = [(kinds[value.partition(":")[0].isdigit()], value) for value in sorted(route.communities)]
    return element("communities", *rows)
