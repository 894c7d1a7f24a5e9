"""Firewall filters: what a fabric lives on passes all that are attached where its packets go."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

from ailb_gen.checks.model import Check, Severity
from ailb_gen.checks.speakers import LEAF
from ailb_gen.errors import Place
from ailb_gen.forwarding.filters import discovery_packets, rdma_packets, session_packets, stopped

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ailb_gen.checks.expected import ExpectedFabric
    from ailb_gen.checks.findings import Findings
    from ailb_gen.checks.speakers import WantedSpeaker
    from ailb_gen.forwarding.filters import Packet
    from ailb_gen.network.fabric import Network
    from ailb_gen.network.filters import Attachment
    from ailb_gen.network.model import Switch

FILTERS = Check(
    "AILB212",
    Severity.ERROR,
    "every filter on lo0, a cabled port, an IRB, a VLAN or all forwarding lets BGP, BFD, discovery and RoCEv2 pass",
    "a filter stops packets that the fabric lives on",
    "Without BGP or neighbor discovery there is no session, without BFD sessions flap, without UDP 4791 there is no "
    "RDMA.",
    "Accept these packets in a term before the one that the message names, or take the filter off the interface.",
)
# IPv4 carries nothing of the fabric.
OTHER_FAMILIES = frozenset({"inet", "mpls", "iso", "vpls", "ccc"})


def check_filters(intended: ExpectedFabric, network: Network, collected: Findings) -> None:
    """Send packets through the filters of every switch that the intent knows."""
    links: dict[str, set[str]] = defaultdict(set)
    for end in network.link_ends():
        links[end.device].add(f"{end.port}.0")
    servers: dict[str, set[str]] = defaultdict(set)
    for end in network.attachments.values():
        servers[end.device].add(f"{end.port}.0")
    for name, switch in network.switches.items():
        asked = intended.speakers.get(name)
        if asked is None:
            continue
        for attachment in switch.filters.attached:
            if attachment.family in OTHER_FAMILIES:
                continue
            collected.look(FILTERS)
            packets = tuple(_packets(intended, asked, attachment, links[name], servers[name]))
            _check(switch, attachment, packets, collected)


def _packets(
    intended: ExpectedFabric, asked: WantedSpeaker, attachment: Attachment, links: set[str], servers: set[str]
) -> Iterable[Packet]:
    """Give the packets that must pass where a filter is attached."""
    roce = asked.settings.roce
    dscps = dict.fromkeys((roce.dscp, roce.cnp_dscp)) if roce.enabled else (0,)
    name = attachment.name
    everything = attachment.kind == "forwarding"
    processor = everything or name == "lo0.0" or name in links
    hosts = name.startswith("irb.") or name in servers or attachment.kind == "vlan"
    if processor:
        yield from session_packets(asked.settings.bfd.enabled)
    if processor or hosts:
        yield from discovery_packets(links_only=asked.role != LEAF or name in links)
    if (processor and name != "lo0.0") or hosts:
        yield from rdma_packets(intended.pool, dscps)


def _check(switch: Switch, attachment: Attachment, packets: Iterable[Packet], collected: Findings) -> None:
    filters = switch.filters
    where = f"{attachment.name} ({attachment.direction})"
    scope = f"{switch.named} {attachment.name}"
    chain = []
    for name in attachment.filters:
        found = filters.defined.get((attachment.family, name)) or filters.defined.get(("any", name))
        if found is None:
            message = f"filter {name} on {where} is not defined: Junos refuses to commit"
            collected.add(FILTERS, scope, message, Place(switch.file, attachment.line or 1))
            return
        chain.append(found)
    for packet in packets if chain else ():
        stop = stopped(tuple(chain), packet, filters)
        if stop is not None:
            # A term stops several kinds of packets: it is one thing that is wrong.
            alike = f"{scope} {attachment.direction} {stop.line}"
            collected.add(FILTERS, scope, f"on {where}: {stop.reason}", Place(switch.file, stop.line or 1), alike=alike)
