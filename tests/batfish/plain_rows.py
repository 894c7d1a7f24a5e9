"""The answers of the plain interpreter as Batfish writes them: a function per question, columns and values alike."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from tests.batfish.plain_names import undefined, unused
from tests.batfish.plain_text import PlainError
from tests.batfish.plain_walk import Flow, paths

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping
    from ipaddress import IPv4Address

    from tests.batfish.plain import Interface, Snapshot
    from tests.batfish.plain_links import Session
    from tests.batfish.plain_model import Device, Neighbor, Port
    from tests.batfish.plain_routes import Route

Row = dict[str, Any]
VRF = "default"
BGP_PREFERENCE = 170
SESSION = (
    *("Node", "VRF", "Session_VRF", "Local_AS", "Local_Interface", "Local_IP", "Remote_AS", "Remote_Node"),
    *("Remote_Interface", "Remote_IP", "Address_Families", "Session_Type"),
)
COLUMNS: dict[str, tuple[str, ...]] = {
    "fileParseStatus": ("File_Name", "Status", "File_Format", "Nodes"),
    "parseWarning": ("Filename", "Line", "Text", "Parser_Context", "Comment"),
    "initIssues": ("Nodes", "Source_Lines", "Type", "Details", "Line_Text", "Parser_Context"),
    "undefinedReferences": ("File_Name", "Struct_Type", "Ref_Name", "Context", "Lines"),
    "unusedStructures": ("Structure_Type", "Structure_Name", "Source_Lines"),
    "viConversionStatus": ("Node", "Status"),
    "interfaceProperties": ("Interface", "Access_VLAN", "Active", "All_Prefixes", "Description", "MTU"),
    "switchedVlanProperties": ("Node", "VLAN_ID", "Interfaces", "VXLAN_VNI"),
    "bgpSessionStatus": (*SESSION, "Established_Status"),
    "bgpSessionCompatibility": (*SESSION, "Configured_Status"),
    "ipOwners": ("Node", "VRF", "Interface", "IP", "Mask", "Active"),
    "routes": ("Node", "VRF", "Network", "Next_Hop", "Protocol", "Metric", "Admin_Distance", "Tag"),
    "detectLoops": ("Flow", "Traces", "TraceCount"),
    "multipathConsistency": ("Flow", "Traces", "TraceCount"),
    "bgpRib": (
        *("Node", "VRF", "Network", "Status", "Next_Hop", "Protocol", "AS_Path", "Metric", "Local_Pref"),
        *("Communities", "Origin_Protocol", "Origin_Type", "Originator_Id", "Received_From_IP", "Received_Path_Id"),
        *("Cluster_List", "Tunnel_Encapsulation_Attribute", "Weight", "Tag"),
    ),
}


def ask(snapshot: Snapshot, question: str, **parameters: Any) -> list[Row]:
    """Answer a question; `None` is a parameter that is not set. Raises PlainError for what is not known."""
    given = {name: value for name, value in parameters.items() if value is not None}
    function, known = QUESTIONS[question]
    if unknown := sorted(set(given) - set(known)):
        raise PlainError(f"{question}: {', '.join(unknown)} is not known here")
    return list(function(snapshot, **{_snake(name): value for name, value in given.items()}))


def _snake(name: str) -> str:
    return re.sub(r"[A-Z]", lambda found: f"_{found[0].lower()}", name)


def matching(names: Iterable[str], intended: str | None) -> list[str]:
    """Return the names that a specifier means: `a`, `"a", b` or `/REGEX/`; all without one."""
    if intended is None:
        return list(names)
    if intended.startswith("/") and intended.endswith("/"):
        return [name for name in names if re.search(intended[1:-1], name)]
    return [name for name in names if name in {one.strip().strip('"').lower() for one in intended.split(",")}]


def file_parse_status(snapshot: Snapshot) -> Iterator[Row]:
    for name, device in snapshot.devices.items():
        yield {"File_Name": device.file, "Status": "PASSED", "File_Format": "FLAT_JUNIPER", "Nodes": [name]}


def parse_warning(_: Snapshot) -> Iterator[Row]:
    # What Batfish does not recognize is no statement of a shadow: `read` has refused it.
    return iter(())


def init_issues(snapshot: Snapshot) -> Iterator[Row]:
    return issues({name: list(warnings(device)) for name, device in snapshot.devices.items()})


def issues(texts: Mapping[str, list[str]]) -> Iterator[Row]:
    """Write the warnings of all switches: one row for each, with all switches that have it."""
    nodes: dict[str, list[str]] = {}
    for name, found in texts.items():
        for text in dict.fromkeys(found):
            nodes.setdefault(text, []).append(name)
    for text, names in nodes.items():
        row = dict.fromkeys(COLUMNS["initIssues"])
        yield {**row, "Nodes": names, "Type": "Convert warning (redflag)", "Details": text}


def warnings(device: Device) -> Iterator[str]:
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


def _no_access_vlan(port: Port) -> Iterator[str]:
    if len(port.members) > 1:
        members = ", ".join(port.members)
        yield f"Cannot assign access vlan to interface {port.name}: more than one member declared [{members}]"
    else:
        vlan = port.members[0] if port.members else "default"
        yield f"Cannot assign access vlan to interface {port.name}: no vlan-id is assigned to vlan {vlan}"


def undefined_references(snapshot: Snapshot) -> Iterator[Row]:
    for device in snapshot.devices.values():
        for (type_, name, context), lines in undefined(device).items():
            values = (device.file, type_, name, context, f"{device.file}:{lines}")
            yield dict(zip(COLUMNS["undefinedReferences"], values, strict=True))


def unused_structures(snapshot: Snapshot) -> Iterator[Row]:
    for device in snapshot.devices.values():
        for (type_, name), lines in unused(device).items():
            values = (type_, name, f"{device.file}:{lines}")
            yield dict(zip(COLUMNS["unusedStructures"], values, strict=True))


def vi_conversion_status(snapshot: Snapshot) -> Iterator[Row]:
    for name, device in snapshot.devices.items():
        yield {"Node": name, "Status": "WARNINGS" if any(warnings(device)) else "PASSED"}


def interface_properties(
    snapshot: Snapshot, nodes: str | None = None, interfaces: str | None = None, properties: str | None = None
) -> Iterator[Row]:
    intended = COLUMNS["interfaceProperties"][1:]
    chosen = [name.strip() for name in properties.split(",")] if properties else list(intended)
    if unknown := set(chosen) - set(intended):
        raise PlainError(f"interfaceProperties: {', '.join(sorted(unknown))} is not known here")
    names = matching(snapshot.devices, nodes)
    for one in snapshot.interfaces():
        if one.node in names and matching([one.port.name], interfaces):
            row = _interface(one)
            yield {"Interface": row["Interface"], **{name: row[name] for name in intended if name in chosen}}


def _interface(one: Interface) -> Row:
    return {
        "Interface": f"{one.node}[{one.port.name}]",
        "Access_VLAN": one.access_vlan,
        "Active": one.active,
        "All_Prefixes": [str(address) for address in sorted(one.port.addresses)],
        "Description": one.port.description,
        "MTU": one.port.mtu,
    }


def switched_vlan_properties(snapshot: Snapshot, nodes: str | None = None) -> Iterator[Row]:
    for name in matching(snapshot.devices, nodes):
        device = snapshot.devices[name]
        carried: dict[int, list[str]] = {}
        for port in device.ports:
            for vlan in _vlans(device, port):
                carried.setdefault(vlan, []).append(f"{name}[{port.name}]")
        for vlan, ports in sorted(carried.items()):
            yield {"Node": name, "VLAN_ID": vlan, "Interfaces": sorted(ports), "VXLAN_VNI": None}


def _vlans(device: Device, port: Port) -> list[int]:
    if not port.is_irb:
        return sorted(device.vlans_of(port))
    vlan = device.vlans.get(device.gateways.get(port.name, ""))
    return [] if vlan is None else [vlan]


def bgp_session_status(
    snapshot: Snapshot, nodes: str | None = None, remote_nodes: str | None = None, status: str | None = None
) -> Iterator[Row]:
    for one in snapshot.sessions():
        row = _session(one, one.remote or one.match, one.local, "Established_Status")
        row["Address_Families"] = ["IPV4_UNICAST"] if one.remote else []
        row["Established_Status"] = one.status
        if _wanted(row, nodes, remote_nodes) and matching([one.status.lower()], status):
            yield row


def bgp_session_compatibility(
    snapshot: Snapshot, nodes: str | None = None, remote_nodes: str | None = None, status: str | None = None
) -> Iterator[Row]:
    for one in snapshot.sessions():
        row = _session(one, one.match, one.neighbor.local_address, "Configured_Status")
        row["Address_Families"] = ["IPV4_UNICAST"] if one.match else []
        row["Configured_Status"] = one.configured
        if _wanted(row, nodes, remote_nodes) and matching([one.configured.lower()], status):
            yield row


def _wanted(row: Row, nodes: str | None, remote_nodes: str | None) -> bool:
    pairs = ((row["Node"], nodes), (row["Remote_Node"], remote_nodes))
    return all(names is None or (node is not None and bool(matching([node], names))) for node, names in pairs)


def _session(one: Session, remote: Neighbor | None, local: IPv4Address | None, last: str) -> Row:
    row: Row = dict.fromkeys((*SESSION, last))
    return {
        **row,
        "Node": one.neighbor.node,
        "VRF": VRF,
        "Local_AS": one.neighbor.local_as,
        "Local_IP": None if local is None else str(local),
        "Remote_AS": "" if one.neighbor.peer_as is None else str(one.neighbor.peer_as),
        "Remote_Node": remote.node if remote else None,
        "Remote_IP": str(one.neighbor.address),
        "Session_Type": "EBGP_SINGLEHOP",
    }


def ip_owners(snapshot: Snapshot, duplicates_only: bool = False) -> Iterator[Row]:
    every = [(one, address) for one in snapshot.interfaces() for address in one.port.addresses]
    for one, address in snapshot.duplicates() if duplicates_only else every:
        values = (one.node, VRF, one.port.name, str(address.ip), address.network.prefixlen, one.active)
        yield dict(zip(COLUMNS["ipOwners"], values, strict=True))


def routes(
    snapshot: Snapshot, protocols: str | None = None, nodes: str | None = None, network: str | None = None
) -> Iterator[Row]:
    if protocols not in ("bgp", "ebgp"):
        raise PlainError(f"routes: protocols={protocols!r}: only those of BGP are known here")
    for name in matching(snapshot.devices, nodes):
        for prefix, found in sorted(snapshot.routes(name).items()):
            if network in (None, str(prefix)):
                for route in found:
                    values = (name, VRF, str(prefix), f"ip {route.peer}", "bgp", route.metric, BGP_PREFERENCE, None)
                    yield dict(zip(COLUMNS["routes"], values, strict=True))


def bgp_rib(
    snapshot: Snapshot, nodes: str | None = None, network: str | None = None, status: str = "BEST"
) -> Iterator[Row]:
    for name in matching(snapshot.devices, nodes):
        for route, kind in snapshot.bgp_rib(name):
            if network in (None, str(route.network)) and matching([kind.lower()], status):
                yield _bgp_row(name, route, kind)


def _bgp_row(name: str, route: Route, kind: str) -> Row:
    row: Row = dict.fromkeys(COLUMNS["bgpRib"])
    return {
        **row,
        "Node": name,
        "VRF": VRF,
        "Network": str(route.network),
        "Status": [kind],
        "Next_Hop": f"ip {route.peer}",
        "Protocol": "bgp",
        "AS_Path": " ".join(map(str, route.as_path)),
        "Metric": route.metric,
        "Local_Pref": route.local_preference,
        "Communities": sorted(route.communities, key=lambda text: tuple(map(int, text.split(":")))),
        "Origin_Protocol": "bgp",
        "Origin_Type": "igp",
        "Originator_Id": str(route.peer_id),
        "Received_From_IP": str(route.peer),
        "Weight": 0,
    }


def detect_loops(snapshot: Snapshot) -> Iterator[Row]:
    return (_flow(snapshot, flow) for flow in snapshot.loops())


def multipath_consistency(snapshot: Snapshot) -> Iterator[Row]:
    return (_flow(snapshot, flow) for flow in snapshot.inconsistent())


def _flow(snapshot: Snapshot, flow: Flow) -> Row:
    """No such row is recorded. The flow and its paths are left whole; the flow's text is pybatfish's."""
    found = list(paths(snapshot.tables, flow.node, flow.address))
    return {"Flow": flow, "Traces": found, "TraceCount": len(found)}


# Every question, its function, and the parameters that it takes.
QUESTIONS: Mapping[str, tuple[Callable[..., Iterator[Row]], tuple[str, ...]]] = {
    "fileParseStatus": (file_parse_status, ()),
    "parseWarning": (parse_warning, ()),
    "initIssues": (init_issues, ()),
    "undefinedReferences": (undefined_references, ()),
    "unusedStructures": (unused_structures, ()),
    "viConversionStatus": (vi_conversion_status, ()),
    "interfaceProperties": (interface_properties, ("nodes", "interfaces", "properties")),
    "switchedVlanProperties": (switched_vlan_properties, ("nodes",)),
    "bgpSessionStatus": (bgp_session_status, ("nodes", "remoteNodes", "status")),
    "bgpSessionCompatibility": (bgp_session_compatibility, ("nodes", "remoteNodes", "status")),
    "ipOwners": (ip_owners, ("duplicatesOnly",)),
    "routes": (routes, ("nodes", "network", "protocols")),
    "detectLoops": (detect_loops, ()),
    "multipathConsistency": (multipath_consistency, ()),
    "bgpRib": (bgp_rib, ("nodes", "network", "status")),
}
