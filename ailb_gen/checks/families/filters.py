"""Check that firewall filters let pass what the fabric needs, wherever its packets go (AILB212)."""

from __future__ import annotations

from collections.abc import Iterator

from ailb_gen.checks import subjects as about
from ailb_gen.checks.context import Context
from ailb_gen.checks.expected_switches import LEAF, ExpectedSwitch
from ailb_gen.checks.model import Check, Findings
from ailb_gen.forwarding.filters import Packet, discovery_packets, rdma_packets, session_packets, stopped
from ailb_gen.network.filters import Attachment
from ailb_gen.network.model import Switch

# IPv4 carries no traffic of the fabric.
OTHER_FAMILIES = frozenset({"inet", "mpls", "iso", "vpls", "ccc"})


def _check_filters(context: Context, findings: Findings) -> None:
    """Send packets through the filters of every switch of the intent."""
    for switch, expected in context.switches:
        for attachment in switch.filters.attached:
            if attachment.family not in OTHER_FAMILIES:
                findings.look(FILTERS)
                _check_attachment(switch, attachment, _packets(context, expected, attachment), findings)


def _packets(context: Context, expected: ExpectedSwitch, attachment: Attachment) -> Iterator[Packet]:
    """Yield the packets that must pass where a filter is attached."""
    roce = expected.roce
    dscps = dict.fromkeys((roce.dscp, roce.cnp_dscp)) if roce is not None else (0,)
    name = attachment.name
    port = name.removesuffix(".0") if name.endswith(".0") else ""
    on_link = port in context.link_ports.get(expected.name, ())
    processor = attachment.kind == "forwarding" or name == "lo0.0" or on_link
    on_server = port in context.server_ports.get(expected.name, ())
    hosts = name.startswith("irb.") or on_server or attachment.kind == "vlan"
    if processor:
        yield from session_packets(expected.settings.bfd.enabled)
    if processor or hosts:
        yield from discovery_packets(links_only=expected.role != LEAF or on_link)
    if (processor and name != "lo0.0") or hosts:
        yield from rdma_packets(context.expected.pool, dscps)


def _check_attachment(switch: Switch, attachment: Attachment, packets: Iterator[Packet], findings: Findings) -> None:
    filters, on = switch.filters, attachment.name
    where = f"{on} ({attachment.direction})"
    subjects = [(about.vlan if attachment.kind == "vlan" else about.port)(switch.named, on)]
    chain = []
    for name in attachment.filters:
        found = filters.defined.get((attachment.family, name)) or filters.defined.get(("any", name))
        if found is None:
            message = f"filter {name} on {where} is not defined: Junos refuses to commit"
            findings.at(FILTERS, switch, message, attachment.line, part=on, subjects=subjects)
            return
        chain.append(found)
    for packet in packets if chain else ():
        stop = stopped(tuple(chain), packet, filters)
        if stop is not None:
            # A term stops several kinds of packets: it is one thing that is wrong.
            same_cause = f"{switch.named} {on} {attachment.direction} {stop.line}"
            findings.at(
                FILTERS,
                switch,
                f"on {where}: {stop.reason}",
                stop.line,
                same_cause=same_cause,
                part=on,
                subjects=subjects,
            )


FILTERS = Check(
    "AILB212",
    "every filter on lo0, a cabled port, an IRB, a VLAN or all forwarding lets BGP, BFD, discovery and RoCEv2 pass",
    "a filter stops packets that the fabric needs",
    "Without BGP or neighbor discovery there is no session, without BFD sessions flap, without UDP 4791 there is no "
    "RDMA.",
    "Accept these packets in a term before the one that the message names, or remove the filter from the interface.",
    _check_filters,
)
