"""Questions: what Batfish says of a snapshot, in the columns that the program reads.

Recorded are the words for export policies, VLANs, l3-interfaces, prefix-lists and communities in `from`; the others
are from Batfish's sources, but for the one of communities in `then`, which is a guess. Of the warnings all but the
first are from its sources, too.
"""

from __future__ import annotations

import re
from ipaddress import IPv4Network
from typing import TYPE_CHECKING, Any, NamedTuple

from tests.batfish.fake.snapshot import DELIVERED, LOOP, Flow, Snapshot, all_flows, networks, target, walks
from tests.batfish.fake.text import GROUP, TERM, Line, PlainError, match

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from tests.batfish.fake.model import Device, Port

Row = dict[str, Any]
COLUMNS: dict[str, tuple[str, ...]] = {
    "fileParseStatus": ("File_Name", "Status", "File_Format", "Nodes"),
    "parseWarning": ("Filename", "Line", "Text", "Comment"),
    "initIssues": ("Nodes", "Source_Lines", "Type", "Details", "Line_Text"),
    "undefinedReferences": ("File_Name", "Struct_Type", "Ref_Name", "Context", "Lines"),
    "unusedStructures": ("Structure_Type", "Structure_Name", "Source_Lines"),
    "interfaceProperties": ("Interface", "Active", "MTU"),
    "switchedVlanProperties": ("Node", "VLAN_ID", "Interfaces"),
    "bgpSessionStatus": ("Node", "Remote_Node", "Remote_IP", "Established_Status"),
    "bgpSessionCompatibility": ("Node", "Remote_IP", "Configured_Status"),
    "ipOwners": ("Node", "Interface", "IP"),
    "routes": ("Node", "Network", "Next_Hop"),
    "bgpRib": ("Node", "Network", "Status", "AS_Path", "Received_From_IP"),
    "detectLoops": ("Flow",),
    "multipathConsistency": ("Flow",),
    "differentialReachability": ("Flow",),
}
COMMENT = "This syntax is unrecognized"
# The first words of the statements that define a structure, and its type.
DEFINED = {
    "policy-options policy-statement *": "policy-statement",
    "policy-options prefix-list *": "prefix-list",
    "policy-options community *": "community",
    "vlans *": "vlan",
    GROUP: "bgp group",
}
# The statements that name a structure with their last word, its type, and Batfish's words for the statement.
NAMED = {
    "routing-options forwarding-table export *": ("policy-statement", "forwarding-table export policy-statement"),
    f"{GROUP} import *": ("policy-statement", "bgp import policy-statement"),
    f"{GROUP} export *": ("policy-statement", "bgp export policy-statement"),
    f"{GROUP} neighbor * import *": ("policy-statement", "bgp import policy-statement"),
    f"{GROUP} neighbor * export *": ("policy-statement", "bgp export policy-statement"),
    "interfaces * unit * family ethernet-switching vlan members *": ("vlan", "interface vlan"),
    "vlans * l3-interface *": ("interface", "vlan l3-interface"),
    f"{TERM} from prefix-list *": ("prefix-list", "policy-statement prefix-list"),
    f"{TERM} from prefix-list-filter * exact|orlonger|longer": ("prefix-list", "policy-statement prefix-list-filter"),
    f"{TERM} from community *": ("community", "policy-statement from community"),
    f"{TERM} then community add|set|delete *": ("community", "policy-statement then community"),
}
STARTS = [(pattern.split(), type_) for pattern, type_ in DEFINED.items()]
WHOLE = [(pattern.split(), named) for pattern, named in NAMED.items()]


START = re.compile(r"@enter\(/(.*)/\[/(.*)/\]\)")


def answer(snapshot: Snapshot, question: str, reference: Snapshot | None = None, **parameters: Any) -> list[Row]:
    """Answer a question; `None` is a parameter that is not set. Raises PlainError for a parameter that is not known."""
    given = {name: value for name, value in parameters.items() if value is not None}
    function, known = QUESTIONS[question]
    if unknown := sorted(set(given) - set(known)):
        raise PlainError(f"{question}: {', '.join(unknown)} is not known here")
    against = () if reference is None else (reference,)
    rows = function(snapshot, *against, **{known[name]: value for name, value in given.items()})
    return [dict(zip(COLUMNS[question], values, strict=True)) for values in rows]


def matching(names: Iterable[str], intended: str | None) -> list[str]:
    """Return the names that a specifier such as `a, "b"` means; all without one."""
    wanted = None if intended is None else {one.strip().strip('"').lower() for one in intended.split(",")}
    return [name for name in names if wanted is None or name.lower() in wanted]


Values = tuple[object, ...]


def file_parse_status(snapshot: Snapshot) -> Iterator[Values]:
    for device in snapshot.devices.values():
        yield device.file, "PARTIALLY_UNRECOGNIZED" if device.unrecognized else "PASSED", device.form, [device.name]


def parse_warning(snapshot: Snapshot) -> Iterator[Values]:
    for device in snapshot.devices.values():
        yield from ((device.file, line.number, line.text, COMMENT) for line in device.unrecognized)


def init_issues(snapshot: Snapshot) -> Iterator[Values]:
    """Write one row for each warning, with all switches that have it, and one for each line."""
    nodes: dict[str, list[str]] = {}
    for name, device in snapshot.devices.items():
        for text in dict.fromkeys(_warnings(device)):
            nodes.setdefault(text, []).append(name)
    yield from ((names, None, "Convert warning (redflag)", text, None) for text, names in nodes.items())
    for device in snapshot.devices.values():
        for line in device.unrecognized:
            yield None, [f"{device.file}:[{line.number}]"], "Parse warning", COMMENT, line.text


def _warnings(device: Device) -> Iterator[str]:
    """Give Batfish's warnings; all but the first are not recorded, their texts are from its sources."""
    for port in device.ports:
        if port.mode == "access" and not device.vlans_of(port):
            yield from _no_access_vlan(port)
    for port in device.ports:
        if port.is_irb and port.name not in device.gateways:
            yield f"Deactivating {port.name} because it has no assigned vlan"
    if len({neighbor.multipath for neighbor in device.neighbors}) > 1:
        yield (
            "Currently do not support mixed eBGP multipath/non-multipath bgp groups on Juniper "
            "- FORCING NON-MULTIPATH EBGP"
        )
    if len({neighbor.multiple_as for neighbor in device.neighbors}) > 1:
        yield (
            "Currently do not support mixed multipath-multiple-as/non-multipath-multiple-as bgpgroups on Juniper "
            "- FORCING NON-MULTIPATH-MULTIPLE-AS"
        )
    if any(device.asn is not None and neighbor.local_as != device.asn for neighbor in device.neighbors):
        yield "Unimplemented: prepending both local-as and global-as for BGP routes"
    for neighbor in device.neighbors:
        if neighbor.peer_as is None:
            yield (
                f"FATAL: Error in neighbor {neighbor.address} of group {neighbor.group}. "
                "Peer AS number must be configured for an external peer."
            )
    # It takes `color:0:1` for a wildcard, which nothing can add.
    standard = {name for name, _ in _kept(device, "policy-options community * members #:#")}
    wildcards = {name for name, _ in _kept(device, "policy-options community * members *")} - standard
    for *_, added in _kept(device, f"{TERM} then community add *"):
        if added in wildcards:
            yield f"FATAL: '{added}' community contains no non-wildcard members in an add action"


def _no_access_vlan(port: Port) -> Iterator[str]:
    if len(port.members) > 1:
        members = ", ".join(port.members)
        yield f"Cannot assign access vlan to interface {port.name}: more than one member declared [{members}]"
    else:
        vlan = port.members[0] if port.members else "default"
        yield f"Cannot assign access vlan to interface {port.name}: no vlan-id is assigned to vlan {vlan}"


def _kept(device: Device, pattern: str) -> list[tuple[str, ...]]:
    """Return the words that the lines of a pattern keep."""
    return [values for line in device.lines if (values := match(pattern.split(), line.words)) is not None]


class Reference(NamedTuple):
    """A structure that a line names."""

    type: str
    name: str
    context: str


def definitions(device: Device) -> dict[tuple[str, str], list[int]]:
    """Return the lines of every structure: a policy, prefix-list, community, VLAN or BGP group, braces included."""
    found: dict[tuple[str, str], set[int]] = {}
    for line in device.lines:
        for pattern, type_ in STARTS:
            depth = len(pattern)
            if match(pattern, line.words[:depth]) is not None:
                braces = (number for words, *pair in line.blocks if words >= depth for number in pair)
                found.setdefault((type_, line.words[depth - 1]), set()).update((line.number, *braces))
    return {structure: sorted(lines) for structure, lines in found.items()}


def references(device: Device) -> Iterator[tuple[Reference, int]]:
    """Iterate over what every line names."""
    for line in device.lines:
        for pattern, (type_, context) in WHOLE:
            if match(pattern, line.words) is not None:
                name = line.words[len(pattern) - 1 - pattern[::-1].index("*")]
                # A VLAN that is named by its number is no reference.
                if not (type_ == "vlan" and name.isdigit()):
                    yield Reference(type_, name, context), line.number


def undefined(device: Device) -> dict[Reference, list[int]]:
    """Return the structures that are named and not defined, and the lines that name them."""
    known = set(definitions(device)) | {("interface", port.name) for port in device.ports}
    found: dict[Reference, list[int]] = {}
    for reference, line in references(device):
        if (reference.type, reference.name) not in known:
            found.setdefault(reference, []).append(line)
    return found


def unused(device: Device) -> dict[tuple[str, str], list[int]]:
    """Return the structures that nothing names; a BGP group is used if it has neighbors."""
    used = {(reference.type, reference.name) for reference, _ in references(device)}
    used |= {("bgp group", name) for name in map(_group_with_neighbor, device.lines) if name is not None}
    return {structure: lines for structure, lines in definitions(device).items() if structure not in used}


def _group_with_neighbor(line: Line) -> str | None:
    found = match(f"{GROUP} neighbor *".split(), line.words[:6])
    return found[0] if found else None


def undefined_references(snapshot: Snapshot) -> Iterator[Values]:
    for device in snapshot.devices.values():
        for (type_, name, context), lines in undefined(device).items():
            yield device.file, type_, name, context, f"{device.file}:{lines}"


def unused_structures(snapshot: Snapshot) -> Iterator[Values]:
    for device in snapshot.devices.values():
        for (type_, name), lines in unused(device).items():
            yield type_, name, f"{device.file}:{lines}"


def interface_properties(snapshot: Snapshot, properties: str | None = None) -> Iterator[Values]:
    """The properties that were recorded and are not read are taken for known; every row has all that are read."""
    for name, device in snapshot.devices.items():
        for port in device.ports:
            yield f"{name}[{port.name}]", snapshot.links.is_active(name, port), port.mtu


def switched_vlan_properties(snapshot: Snapshot) -> Iterator[Values]:
    for name, device in snapshot.devices.items():
        carried: dict[int, list[str]] = {}
        for port in device.ports:
            gateway = device.vlans.get(device.gateways.get(port.name, ""))
            numbers = device.vlans_of(port) if not port.is_irb else () if gateway is None else (gateway,)
            for vlan in numbers:
                carried.setdefault(vlan, []).append(f"{name}[{port.name}]")
        yield from ((name, vlan, sorted(ports)) for vlan, ports in sorted(carried.items()))


def bgp_session_status(snapshot: Snapshot) -> Iterator[Values]:
    for session in snapshot.sessions:
        remote, own = session.remote or session.match, session.neighbor
        yield own.node, remote.node if remote else None, str(own.address), session.status


def bgp_session_compatibility(snapshot: Snapshot) -> Iterator[Values]:
    for session in snapshot.sessions:
        yield session.neighbor.node, str(session.neighbor.address), session.configured


def ip_owners(snapshot: Snapshot, duplicates_only: bool = False) -> Iterator[Values]:
    """Of duplicates the addresses that several switches have, also on interfaces that are down."""
    owned = [
        (name, port.name, str(address.ip))
        for name, device in snapshot.devices.items()
        for port in device.ports
        for address in port.addresses
    ]
    nodes: dict[str, set[str]] = {}
    for name, _, address in owned:
        nodes.setdefault(address, set()).add(name)
    return (row for row in owned if not duplicates_only or len(nodes[row[2]]) > 1)


def routes(snapshot: Snapshot, nodes: str | None = None, protocols: str | None = None) -> Iterator[Values]:
    if protocols != "bgp":
        raise PlainError(f"routes: protocols={protocols!r}: only those of BGP are known here")
    for name in matching(snapshot.devices, nodes):
        for prefix, found in sorted(snapshot.routes(name).items()):
            yield from ((name, str(prefix), f"ip {route.peer}") for route in found)


def bgp_rib(snapshot: Snapshot, nodes: str | None = None, status: str = "BEST") -> Iterator[Values]:
    for name in matching(snapshot.devices, nodes):
        for route, kind in snapshot.bgp_rib(name):
            if matching([kind], status):
                yield name, str(route.network), [kind], " ".join(map(str, route.as_path)), str(route.peer)


def detect_loops(snapshot: Snapshot) -> Iterator[Values]:
    return ((flow,) for flow, ends in all_flows(snapshot.tables) if LOOP in ends)


def multipath_consistency(snapshot: Snapshot) -> Iterator[Values]:
    return ((flow,) for flow, ends in all_flows(snapshot.tables) if DELIVERED in ends and len(ends) > 1)


def differential(
    snapshot: Snapshot, reference: Snapshot, headers: Mapping[str, Any], constraints: Mapping[str, Any]
) -> Iterator[Values]:
    """Give, for every start, a flow that arrives in the reference only, and one that arrives in the snapshot only.

    As of the real service, a start is an interface that is up in both, and each kind of difference at a start is
    shown by one example: what else changes there is not listed. Raises PlainError for a start that is not known.
    """
    start = START.fullmatch(constraints["startLocation"])
    if start is None:
        raise PlainError(f"differentialReachability: pathConstraints {dict(constraints)} are not known here")
    inside, both = IPv4Network(headers["dstIps"]), (snapshot, reference)
    intended = sorted({*networks(snapshot.tables), *networks(reference.tables)})
    for name, device in snapshot.devices.items():
        for port in device.ports:
            up = all(name in one.devices and port.name in one.links.active[name] for one in both)
            if not (up and re.search(start[1], name) and re.search(start[2], port.name)):
                continue
            shown: set[bool] = set()
            for network in intended:
                flow = Flow(name, port.name, target(network))
                arrives, arrived = (
                    any(walk.end == DELIVERED for walk in walks(one.tables, name, flow.address)) for one in both
                )
                if flow.address in inside and arrives != arrived and arrives not in shown:
                    shown.add(arrives)
                    yield (flow,)


# Every question, its function, and the parameters that it takes with what the function calls them.
QUESTIONS: Mapping[str, tuple[Callable[..., Iterator[Values]], Mapping[str, str]]] = {
    "fileParseStatus": (file_parse_status, {}),
    "parseWarning": (parse_warning, {}),
    "initIssues": (init_issues, {}),
    "undefinedReferences": (undefined_references, {}),
    "unusedStructures": (unused_structures, {}),
    "interfaceProperties": (interface_properties, {"properties": "properties"}),
    "switchedVlanProperties": (switched_vlan_properties, {}),
    "bgpSessionStatus": (bgp_session_status, {}),
    "bgpSessionCompatibility": (bgp_session_compatibility, {}),
    "ipOwners": (ip_owners, {"duplicatesOnly": "duplicates_only"}),
    "routes": (routes, {"nodes": "nodes", "protocols": "protocols"}),
    "bgpRib": (bgp_rib, {"nodes": "nodes", "status": "status"}),
    "detectLoops": (detect_loops, {}),
    "multipathConsistency": (multipath_consistency, {}),
    "differentialReachability": (differential, {"headers": "headers", "pathConstraints": "constraints"}),
}
