"""Operational commands of an emulated device: by rpc and by show command."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from xml.sax.saxutils import escape

from lxml import etree

from ailb_gen.emulator.device import Device
from ailb_gen.emulator.messages import refusal
from ailb_gen.emulator.operations import (
    bfd,
    bgp,
    bgp_group,
    bgp_neighbor,
    class_of_service,
    forwarding_table,
    interfaces,
    logs,
    neighbors,
    optics,
    policies,
    processes,
    reach,
    resources,
    route_tables,
    routes,
    system,
)
from ailb_gen.emulator.operations.build import RELEASE, element
from ailb_gen.emulator.operations.commands import check_arguments, parse
from ailb_gen.emulator.operations.jsonreply import to_json
from ailb_gen.emulator.operations.layout import lines, plain
from ailb_gen.emulator.operations.layouts import LAYOUTS

# What a device of such a fabric has none of: the reply, which is empty, by the tag of the rpc.
EMPTY = {
    "get-accounting-profile-information": "accounting-profile-information",
    "get-isis-adjacency-information": "isis-adjacency-information",
    "get-isis-database-information": "isis-database-information",
    "get-lacp-interface-information": "lacp-interface-information-list",
    "get-ldp-neighbor-information": "ldp-neighbor-information",
    "get-mpls-lsp-information": "mpls-lsp-information",
    "get-ospf-interface-information": "ospf-interface-information",
    "get-ospf-neighbor-information": "ospf-neighbor-information",
    "get-ospf3-neighbor-information": "ospf3-neighbor-information",
    "get-probe-results": "probe-results",
    "get-rsvp-neighbor-information": "rsvp-neighbor-information",
    "get-snmp-v3-general-information": "snmp-v3-general-information",
    "get-stp-bridge-information": "stp-bridge",
    "get-system-core-dumps": "directory-list",
}


def _empty(tag: str, device: Device, rpc: etree._Element) -> etree._Element:
    return element(tag)


# What a device answers, by the tag of the rpc. Any other rpc is a syntax error, as on Junos: some are asked by clients
# to find out what they talk to, such as get-virtual-chassis-information and get-chassis-cluster-status.
Operation = Callable[["Device", etree._Element], etree._Element]
OPERATIONS: Mapping[str, Operation] = {
    "file-list": system.file_list,
    "file-show": system.file_show,
    "get-alarm-information": system.chassis_alarms,
    "get-arp-table-information": neighbors.arp,
    "get-bfd-session-information": bfd.bfd,
    "get-bgp-group-information": bgp_group.group,
    "get-bgp-neighbor-information": bgp_neighbor.neighbor,
    "get-bgp-summary-information": bgp.summary,
    "get-chassis-inventory": system.chassis,
    "get-commit-information": system.commits,
    "get-commit-revision-information": system.revision,
    "get-environment-information": system.environment,
    "get-ethernet-switching-table-information": neighbors.mac_table,
    "get-forwarding-table-information": forwarding_table.forwarding_table,
    "get-instance-information": route_tables.instances,
    "get-interface-information": interfaces.interfaces,
    "get-ipv6-nd-information": neighbors.discovered,
    "get-ipv6-ra-information": neighbors.router_advertisements,
    "get-lldp-interface-neighbors": neighbors.lldp_interface,
    "get-lldp-local-info": neighbors.lldp_local,
    "get-lldp-neighbors-information": neighbors.lldp,
    "get-route-engine-information": system.routing_engine,
    "get-route-information": routes.route_information,
    "get-software-information": system.software,
    "get-system-alarm-information": system.system_alarms,
    "get-system-information": system.system_information,
    "get-system-nodes-information": system.nodes,
    "get-system-uptime-information": system.uptime,
    "get-temperature-threshold-information": system.temperature_thresholds,
    "get-vlan-information": neighbors.vlans,
    "clear-interfaces-statistics": interfaces.clear_statistics,
    "get-cos-classifier-information": class_of_service.classifiers,
    "get-cos-forwarding-class-information": class_of_service.classes,
    "get-cos-information": class_of_service.everything,
    "get-cos-interface-map-information": class_of_service.bindings,
    "get-cos-scheduler-map-information": class_of_service.scheduler_maps,
    "get-firewall-information": policies.firewall,
    "get-interface-optics-diagnostics-information": optics.optics,
    "get-interface-queue-information": class_of_service.queues,
    "get-krt-state": processes.krt_state,
    "get-log": logs.log,
    "get-pic-detail": resources.pic_detail,
    "get-system-process-information": processes.processes,
    "clear-bgp-neighbor": processes.clear_sessions,
    "monitor.interface.traffic": processes.traffic,
    "restart.process": processes.restart,
    "show.ddos-protection.statistics": processes.ddos,
    "show.krt.queue": processes.krt_queue,
    "show.policy": policies.policies,
    "get-checksum-information": resources.checksum,
    "get-directory-usage-information": resources.directory_usage,
    "get-fpc-information": resources.fpcs,
    "get-pic-information": resources.pics,
    "get-power-usage-information": resources.power_usage,
    "get-power-usage-information-detail": resources.power_usage,
    "get-ntp-associations-information": resources.ntp_associations,
    "get-route-summary-information": route_tables.table_summary,
    "get-system-memory-information": resources.memory,
    "get-system-storage": resources.storage,
    "get-system-users-information": resources.users,
    "get-xntpd-peers-information": resources.ntp_associations,
    "ping": reach.ping,
    "traceroute": reach.traceroute,
    **{rpc: partial(_empty, tag) for rpc, tag in EMPTY.items()},
}


# The module of Junos that a reply is from, by the tag of the reply; those of the management daemon have none.
ROUTING, CHASSIS, PROBES, SWITCHING = "junos-routing", "junos-chassis", "junos-probe-tests", "junos-l2al"
MODULES = {
    "alarm-information": "junos-alarm",
    "arp-table-information": "junos-arp",
    "bfd-session-information": "junos-bfd",
    "bgp-group-information": ROUTING,
    "bgp-information": ROUTING,
    "chassis-inventory": CHASSIS,
    "environment-information": CHASSIS,
    "fpc-information": CHASSIS,
    "instance-information": ROUTING,
    "interface-information": "junos-interface",
    "l2ng-l2ald-rtb-macdb": SWITCHING,
    "l2ng-l2ald-vlan-instance-information": SWITCHING,
    "ping-results": PROBES,
    "power-usage-information": CHASSIS,
    "route-engine-information": CHASSIS,
    "route-information": ROUTING,
    "route-summary-information": ROUTING,
    "temperature-threshold-information": CHASSIS,
    "traceroute-results": PROBES,
}
FORMS = ("text", "ascii", "xml", "json")


def reply_of(device: Device, rpc: etree._Element) -> etree._Element:
    """Carry out an operation; return the reply. Raises RefusedError like the operation, and for other arguments."""
    check_arguments(rpc)
    return OPERATIONS[str(rpc.tag)](device, rpc)


def run(device: Device, rpc: etree._Element, form: str) -> str:
    """Carry out an operation; return the reply in a form: `xml`, `json`, or `text`, which Junos also calls `ascii`.

    Raises RefusedError like the operation, and for another form.
    """
    _check_form(form)
    reply = reply_of(device, rpc)
    if form == "json":
        return escape(to_json(declared(reply)))
    return etree.tostring(_broken(declared(reply)) if form == "xml" else as_text(rpc, reply), encoding="unicode")


def declared(reply: etree._Element) -> etree._Element:
    """Declare the default namespace of a reply, which Junos has for each module."""
    for node in (reply, *reply.iterfind("multi-routing-engine-item/*")):
        module = MODULES.get(str(node.tag))
        if module is not None:
            node.set("xmlns", f"{RELEASE}/{module}")
    return reply


def _broken(reply: etree._Element) -> etree._Element:
    """Put a newline in front of every tag, as Junos does: some clients read the text of elements with children."""
    for node in reply.iter():
        if len(node):
            node.text = node.text or "\n"
            for child in node:
                child.tail = "\n"
    return reply


def as_text(rpc: etree._Element, reply: etree._Element) -> etree._Element:
    """Return a reply as `<output>`, with what the command line shows."""
    if reply.tag == "output":
        return reply
    options = (f"{rpc.tag}+{child.tag}" for child in rpc)
    name = next((option for option in options if option in LAYOUTS), str(rpc.tag))
    shown = lines(reply, LAYOUTS.get(name, [plain]))
    return element("output", text="\n" + "".join(f"{line}\n" for line in shown))


def rpc_of(text: str) -> etree._Element:
    """Return the rpc of a command without pipes. Raises RefusedError for one that is not known."""
    return parse(text)[1]


def check_named(rpc: etree._Element) -> None:
    """Refuse a request by the name that this emulator has for a command without an RPC. Raises RefusedError."""
    if "." in str(rpc.tag):
        raise refusal("xml rpc equivalent of this command is not available.")


def _check_form(form: str) -> None:
    if form not in FORMS:
        raise refusal(f"there is no output in the form {form!r}, only {', '.join(FORMS)}", "invalid-value")
