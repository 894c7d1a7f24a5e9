"""Check how switches themselves are reached: loopback, management port, SSH, logging (AILB110 to AILB112)."""

from __future__ import annotations

from ipaddress import IPv4Address

from ailb_gen.addresses import BITS, address_text
from ailb_gen.checks.context import Context
from ailb_gen.checks.expected_switches import management_interface
from ailb_gen.checks.families.addresses import AGAIN
from ailb_gen.checks.model import Check, Findings, Severity
from ailb_gen.forwarding.management import obstacles, ports_off
from ailb_gen.network.model import Switch, Unit
from ailb_gen.network.switch import MANAGEMENT_ROUTE, OPERATING

# Without it Junos has no such routing instance.
INSTANCE = "system management-instance"


def _check_operated(context: Context, findings: Findings) -> None:
    for switch, _ in context.switches:
        findings.look(OPERATED)
        for text in OPERATING:
            if text not in switch.operating:
                # Where nothing of it is left, the whole block is missing.
                block = " ".join(text.split()[:2])
                same_cause = (
                    "" if any(other.startswith(block) for other in switch.operating) else f"{switch.named} {block}"
                )
                message = f"{text} is missing"
                findings.at(OPERATED, switch, message, expected=text, same_cause=same_cause, statement=text)


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
                statement = _statement(switch, name, address)
                findings.at(REACHABLE, switch, message, line, address, ", ".join(found), part=name, statement=statement)
        given = context.fabric.management.gateway
        gateway = str(IPv4Address(given)) if given is not None and expected.management else ""
        if gateway and gateway != switch.management_gateway:
            message = f"the gateway of mgmt_junos is {switch.management_gateway or 'missing'}; it must be {gateway}"
            line, found_gateway = switch.management_line, switch.management_gateway
            statement = f"{' '.join(MANAGEMENT_ROUTE)} next-hop"
            if INSTANCE not in switch.harmless:
                message, statement = f"{INSTANCE} is missing: without it mgmt_junos has no gateway {gateway}", INSTANCE
            findings.at(REACHABLE, switch, message, line, gateway, found_gateway, statement=statement)


def _statement(switch: Switch, name: str, address: str) -> str:
    """Return the statement that gives an interface its address, or that disables it."""
    port, _, number = name.rpartition(".")
    family = "inet6" if ":" in address else "inet"
    unit = switch.unit(name)
    if unit is not None and address in _addresses(unit):
        return f"interfaces {port} {f'unit {number} ' if unit.disabled else ''}disable"
    # Another interface that has the address may be this one under a wrong name.
    others = (other.name for one in switch.ports.values() for other in one.units if address in _addresses(other))
    wrong = next(others, "") if unit is None else ""
    if wrong:
        return f"interfaces {wrong.rpartition('.')[0]}"
    return f"interfaces {port} unit {number} family {family} address {address}"


def _check_pushable(context: Context, findings: Findings) -> None:
    for switch, expected in context.switches:
        findings.look(PUSHABLE)
        # Where the intent has a management address, its port is looked at above.
        off = () if expected.management else ports_off(switch)
        for stop in (*obstacles(switch), *off):
            findings.at(PUSHABLE, switch, stop.reason, stop.line, same_cause=f"{switch.named} {stop.line}")


def _addresses(unit: Unit) -> list[str]:
    own = [f"{address_text(address.value)}/{address.prefix.length}" for address in unit.addresses]
    return [*(text for text, _ in unit.inet_addresses), *own]


REACHABLE = Check(
    "AILB110",
    "lo0 and the management port have the addresses, and management the gateway, that the intent specifies",
    "lo0 or management differs from the intent",
    "Without its own address a switch cannot be reached; with that of another one it answers in its place.",
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
PUSHABLE = Check(
    "AILB112",
    "nothing blocks the next push to a switch: login filters, another port, few sessions, ephemeral instances",
    "a statement may block the next push to the switch, or hide its effective configuration",
    "The push that loads it succeeds, and the next one cannot reach the switch, or does not see what an ephemeral "
    "instance changes.",
    "Accept SSH and NETCONF in a term before the one that the message names; name another port in the inventory, and "
    "accept the finding with a waiver.",
    _check_pushable,
    Severity.WARNING,
)
