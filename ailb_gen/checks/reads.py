"""Which parts of the files check functions read: where none of them has changed, what was found before holds.

A function that is in no row of `READS` reads everything, and so does a field that is in no part.
"""

from __future__ import annotations

from collections.abc import Iterable

from ailb_gen.checks.model import Check

# Fields of models by the part of a file that they come from: all fields of a class where only the class is named.
# "Network" and "Context" are the fabric as a whole.
_PARTS = {
    "names of switches": "Switch.named Switch.file Switch.host_name",
    "descriptions": "Port.description Vlan.description Neighbor.description",
    "MTUs": "Port.mtu Unit.inet6_mtu",
    "speeds": "Port.speed_bps Port.ethernet Port.sub_ports",
    "interfaces": (
        "Switch.ports Port.name Port.units Port.disabled Unit.name Unit.disabled Unit.inet6 Unit.addresses Address "
        "Switch.vlans Vlan.name Vlan.vlan_id Vlan.irb"
    ),
    "switching": (
        "Port.native_vlan Unit.switching Unit.mode Unit.vlans Unit.others Unit.bad_addresses Unit.inet_addresses"
    ),
    "router advertisements": "Switch.advertisements",
    "settings of router advertisements": "RouterAdvertisement RaPrefix",
    "AS numbers and router ids": "Switch.asn Switch.router_id",
    "sessions": (
        "Switch.groups Switch.as_lists AsList Discovery Neighbor.name Neighbor.address Neighbor.interface Neighbor.own "
        "Neighbor.peer_as Group.name Group.external Group.color Group.local_as Group.imports Group.exports Group.inet6 "
        "Group.aigp Group.multipath Group.multiple_as Group.peer_as Group.peer_as_list Group.discoveries "
        "Group.neighbors Group.forbidden Group.typed Group.disabled Group.shutdown_sender Group.shutdown_preference"
    ),
    "BFD": "Group.bfd SessionBfd",
    "policies": "Switch.policies Switch.communities Switch.prefix_lists Policy Term RouteFilter PrefixList Community",
    "colored routes": "Switch.routes Switch.bad_routes FabricRoute",
    "ECMP": "Switch.balancing SwitchLoadBalancing.per_packet SwitchLoadBalancing.maximum_ecmp "
    "SwitchLoadBalancing.policies",
    "load balancing": "SwitchLoadBalancing.fast_reroute SwitchLoadBalancing.dlb SwitchLoadBalancing.glb",
    "class of service": (
        "Switch.cos ClassOfService Classified Classifier CongestionNotification DropMap DropProfile ForwardingClass "
        "Pause PfcPoint PortCos Scheduled Scheduler SchedulerMap UnitCos"
    ),
    "LLDP": "Switch.lldp Switch.lldp_off",
    "filters": "Switch.filters Filters Filter FilterTerm Condition Attachment",
    "management": "Switch.operating Switch.management Switch.management_gateway SwitchManagement",
    "other statements": "Switch.unmodeled Switch.harmless Switch.unknown_groups Switch.sections Unmodeled",
    "cables": ("Network.roles Network.links Network.attachments Network.attachment_bps Network.rails"),
    "lists of cables": "Context.records",
    "commit check": "Context.commit",
    "files of servers": "Network.hosts",
    # What traffic patterns take of these files.
    "servers without GPUs": "Network.without_gpus",
    "files that cannot be used": "Network.defects",
    "fabric of the files": "Context.root",
}
PART_OF = {field: part for part, text in _PARTS.items() for field in text.split()}
EVERYTHING = "everything"

_ROUTES = (
    "names of switches, interfaces, router advertisements, AS numbers and router ids, sessions, policies, "
    "colored routes, ECMP, cables"
)
_COS = "names of switches, class of service, cables"
_READS = {
    "AILB007": "names of switches, descriptions, speeds, interfaces, sessions, cables",
    "AILB008 AILB009": "lists of cables, fabric of the files, files that cannot be used",
    "AILB101": "names of switches, interfaces, switching, colored routes, cables",
    "AILB102": "interfaces, switching",
    "AILB103": "interfaces, router advertisements, settings of router advertisements",
    "AILB104": "names of switches, router advertisements, settings of router advertisements, cables",
    "AILB105": "names of switches, interfaces, switching",
    "AILB106": "names of switches, interfaces, switching, cables",
    "AILB108": "interfaces, switching, cables",
    "AILB109": "speeds, interfaces, cables",
    "AILB113": "interfaces, switching, speeds, MTUs",
    "AILB201 AILB306 AILB307 AILB308 AILB309 AILB310 AILB401 AILB402 AILB403 AILB404": _ROUTES,
    "AILB501 AILB502 AILB503 AILB504 AILB505 AILB506 AILB507": _ROUTES,
    "AILB203": "names of switches, AS numbers and router ids, sessions, cables",
    "AILB207": "names of switches, sessions, BFD, cables",
    "AILB213": "names of switches, sessions, BFD",
    "AILB208": (
        "names of switches, interfaces, router advertisements, settings of router advertisements, sessions, BFD, "
        "policies, colored routes, ECMP, other statements"
    ),
    "AILB210": "LLDP, cables",
    "AILB301": "policies",
    "AILB302 AILB303": "names of switches, sessions, policies, cables",
    "AILB304 AILB305": "interfaces, colored routes",
    "AILB311": "sessions, policies, ECMP",
    "AILB406": "policies, ECMP, load balancing",
    "AILB407": "ECMP, load balancing",
    "AILB405": f"{_ROUTES}, servers without GPUs",
    "AILB602": "cables, files of servers",
    "AILB601 AILB603 AILB604 AILB605 AILB607 AILB609 AILB610 AILB611 AILB612": "files of servers",
    "AILB615 AILB616 AILB620": "files of servers",
    "AILB606 AILB613": "names of switches, MTUs, interfaces, switching, colored routes, cables, files of servers",
    "AILB701 AILB703 AILB704 AILB705 AILB706 AILB707": _COS,
    "AILB708": f"{_COS}, files of servers",
    "AILB901 AILB902 AILB903 AILB904 AILB905 AILB906 AILB907 AILB908": "commit check",
    "AILB709": "MTUs, interfaces, cables",
    "AILB710": "names of switches, MTUs, interfaces, cables",
}
READS = {one: frozenset(text.split(", ")) for ids, text in _READS.items() for one in ids.split()}

# Checks that read all that routes follow from, and whatever else.
READ_ROUTES = frozenset(one for one, parts in READS.items() if parts >= {*_ROUTES.split(", ")})


def parts_of(fields: Iterable[str]) -> frozenset[str]:
    """Return the parts to which fields, as `Class.field`, belong; EVERYTHING for one that is in no part."""
    return frozenset(PART_OF.get(field) or PART_OF.get(field.partition(".")[0], EVERYTHING) for field in fields)


def reasons(check: Check, changed: frozenset[str]) -> tuple[str, ...]:
    """Return which of the changed parts the function of a check reads; none if its result holds."""
    reads = READS.get(check.id)
    # What is in no part may have changed, too: a comment, or a digest in the manifest.
    if reads is None or EVERYTHING in changed:
        return (EVERYTHING,)
    return tuple(sorted(reads & changed))
