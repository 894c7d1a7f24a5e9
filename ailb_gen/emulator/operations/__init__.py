"""Operational commands of an emulated device: by rpc and by show command."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ailb_gen.emulator.operations import bgp, interfaces, neighbors, routes, system
from ailb_gen.emulator.operations.build import element
from ailb_gen.emulator.operations.commands import parse
from ailb_gen.emulator.subject import RpcFault

if TYPE_CHECKING:
    from collections.abc import Mapping

    from lxml import etree

    from ailb_gen.emulator.subject import Operation, Subject

# What a device answers, by the tag of the rpc. Any other rpc is a syntax error, as on Junos: some are asked by clients
# to find out what they talk to, such as get-virtual-chassis-information and get-chassis-cluster-status.
OPERATIONS: Mapping[str, Operation] = {
    "file-list": system.file_list,
    "file-show": system.file_show,
    "get-alarm-information": system.chassis_alarms,
    "get-arp-table-information": neighbors.arp,
    "get-bfd-session-information": bgp.bfd,
    "get-bgp-neighbor-information": bgp.neighbor,
    "get-bgp-summary-information": bgp.summary,
    "get-chassis-inventory": system.chassis,
    "get-commit-information": system.commits,
    "get-commit-revision-information": system.revision,
    "get-environment-information": system.environment,
    "get-ethernet-switching-table-information": neighbors.mac_table,
    "get-instance-information": system.instances,
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
}


def command(subject: Subject, text: str, format: str = "text") -> etree._Element:
    """Run a show command: the reply of its rpc, or `<output>` with the text that the command line shows.

    `format` is `text` (Junos also calls it `ascii`) or `xml`. Of pipes only `| display xml` and `| display xml rpc`
    count; Junos ignores all others over NETCONF. Raises RpcFault like the operation, for a command that is not known,
    and for another format.
    """
    if format not in ("text", "ascii", "xml"):
        raise RpcFault(f"this emulator does not answer commands in the format {format}", "operation-not-supported")
    words, *pipes = (" ".join(part.split()) for part in text.split("|"))
    found, rpc = parse(words)
    if "display xml rpc" in pipes:
        return element("rpc", rpc)
    reply = OPERATIONS[found.rpc](subject, rpc)
    if format == "xml" or "display xml" in pipes:
        return reply
    return element("output", text="\n" + "".join(f"{line}\n" for line in found.show(reply)))
