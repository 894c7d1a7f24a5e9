"""Check how switches themselves are reached: loopback, management port, SSH, logging (AILB110, AILB111)."""

from __future__ import annotations

from ipaddress import IPv4Address

from ailb_gen.addresses import BITS, address_text
from ailb_gen.checks.context import Context
from ailb_gen.checks.expected_switches import management_interface
from ailb_gen.checks.families.addresses import AGAIN
from ailb_gen.checks.model import Check, Findings
from ailb_gen.network.model import Unit
from ailb_gen.network.switch import OPERATING


def _check_operated(context: Context, findings: Findings) -> None:
    for switch, _ in context.switches:
        findings.look(OPERATED)
        for text in OPERATING:
            if text not in switch.operating:
                # Where nothing of it is left, the whole block is missing.
                block = " ".join(text.split()[:2])
                alike = "" if any(other.startswith(block) for other in switch.operating) else f"{switch.named} {block}"
                findings.at(OPERATED, switch, f"{text} is missing", expected=text, alike=alike)


def _check_reachable(context: Context, findings: Findings) -> None:
    for switch, expected in context.switches:
        port = management_interface(context.expected, expected)
        loopback = f"{expected.loopback}/{BITS}" if expected.loopback else ""
        for name, address in (("lo0.0", loopback), (f"{port}.0", expected.management)):
            if not address:
                continue
            findings.look(REACHABLE)
            unit = switch.unit(name)
            found = _addresses(unit) if unit is not None else []
            off = unit is not None and (unit.disabled or switch.ports[name.rpartition(".")[0]].disabled)
            if off or address not in found:
                message = f"{name} is not there, disabled, or lacks the address {address}"
                line = unit.line if unit is not None else 1
                findings.at(REACHABLE, switch, message, line, address, ", ".join(found), part=name)
        given = context.fabric.management.gateway
        gateway = str(IPv4Address(given)) if given is not None and expected.management else ""
        if gateway and gateway != switch.management_gateway:
            message = f"the gateway of mgmt_junos is {switch.management_gateway or 'missing'}; it must be {gateway}"
            findings.at(REACHABLE, switch, message, switch.management_line, gateway, switch.management_gateway)


def _addresses(unit: Unit) -> list[str]:
    own = [f"{address_text(address.value)}/{address.prefix.length}" for address in unit.addresses]
    return [*(text for text, _ in unit.inet_addresses), *own]


REACHABLE = Check(
    "AILB110",
    "lo0 and the management port have the addresses, and management the gateway, that the intent asks for",
    "lo0 or management differs from the intent",
    "Without its own address a switch cannot be reached; with that of another switch it answers in its place.",
    AGAIN,
    _check_reachable,
)
OPERATED = Check(
    "AILB111",
    "SSH and NETCONF over SSH are on, BGP logs its sessions, and LLDP sends the names of ports",
    "SSH, NETCONF over SSH, logging of BGP sessions, or LLDP port names are missing",
    "Without SSH and NETCONF the next push cannot reach the switch; without the others a failed link is hard to find.",
    "Put the statement back, or accept another way with a waiver.",
    _check_operated,
)
