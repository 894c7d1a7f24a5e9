"""Check the MTUs of switches, and of both ends of links (AILB709, AILB710)."""

from __future__ import annotations

from ailb_gen.checks import subjects as about
from ailb_gen.checks.context import Context
from ailb_gen.checks.expected_switches import ExpectedSwitch
from ailb_gen.checks.layers import Layer
from ailb_gen.checks.model import Check, Findings
from ailb_gen.network.fabric import End
from ailb_gen.network.model import Port, Switch, Unit

DEFAULT = "Junos's default"


def _check_mtus(context: Context, findings: Findings) -> None:
    for switch, expected in context.switches:
        for name in {*context.cabled_ports(switch.named), *expected.ports}:
            port = switch.ports.get(name)
            if port is not None:
                _check_port(switch, expected, port, findings)
        irb = switch.ports.get("irb")
        if irb is not None:
            _check_irb(switch, expected, irb, findings)


def _check_port(switch: Switch, asked: ExpectedSwitch, port: Port, findings: Findings) -> None:
    findings.look(MTUS)
    expected, least = asked.mtu_of(port.name), asked.settings.mtu.irb
    if port.mtu != expected:
        found = port.mtu if port.mtu is not None else DEFAULT
        message = f"the MTU of {port.name} must be {expected}, not {found}"
        line, statement = port.mtu_line or port.line, f"interfaces {port.name} mtu"
        findings.at(MTUS, switch, message, line, expected, found, part=port.name, statement=statement)
    for unit in port.units:
        # Junos takes the port's without it; what an IRB may send must pass.
        if unit.inet6_mtu is not None and unit.inet6_mtu < least:
            message = f"the IPv6 MTU of {unit.name} is {unit.inet6_mtu}; packets of {least} must pass"
            statement = mtu_of(unit)
            findings.at(MTUS, switch, message, unit.line, least, unit.inet6_mtu, part=unit.name, statement=statement)


def _check_irb(switch: Switch, asked: ExpectedSwitch, irb: Port, findings: Findings) -> None:
    mtu = asked.settings.mtu
    for unit in irb.units:
        findings.look(MTUS)
        if unit.inet6 and unit.inet6_mtu != mtu.irb:
            found = unit.inet6_mtu if unit.inet6_mtu is not None else DEFAULT
            message = f"the IPv6 MTU of {unit.name} must be {mtu.irb}, not {found}"
            statement = mtu_of(unit)
            findings.at(MTUS, switch, message, unit.line, mtu.irb, found, part=unit.name, statement=statement)
    if irb.mtu != mtu.port and irb.units:
        found = irb.mtu if irb.mtu is not None else DEFAULT
        message = f"the MTU of irb must be {mtu.port}, not {found}"
        line = irb.mtu_line or irb.line
        findings.at(MTUS, switch, message, line, mtu.port, found, statement="interfaces irb mtu")


def mtu_of(unit: Unit) -> str:
    """Return the statement of a unit's IPv6 MTU."""
    port, _, number = unit.name.rpartition(".")
    return f"interfaces {port} unit {number} family inet6 mtu"


def _check_links(context: Context, findings: Findings) -> None:
    for cable in context.network.links:
        own, other = _port(context, cable.a), _port(context, cable.b)
        if own is None or other is None:
            continue
        findings.look(LINK_MTUS)
        (switch, here), (_, there) = own, other
        if here.mtu != there.mtu:
            expected, found = here.mtu or DEFAULT, there.mtu or DEFAULT
            message = f"the MTU of {cable.a} is {expected}, that of {cable.b} is {found}"
            line = here.mtu_line or here.line
            subjects = (about.end(cable.a), about.end(cable.b))
            findings.at(LINK_MTUS, switch, message, line, expected, found, part=cable.a.port, subjects=subjects)


def _port(context: Context, end: End) -> tuple[Switch, Port] | None:
    switch = context.network.switches.get(end.device)
    port = switch.ports.get(end.port) if switch is not None else None
    return (switch, port) if switch is not None and port is not None else None


LINK_MTUS = Check(
    "AILB709",
    "both ends of every link between switches have the same MTU",
    "the two ends of a link have different MTUs",
    "Large packets are dropped in one direction only, which looks like a slow link.",
    "Give both ports the same mtu.",
    _check_links,
    layer=Layer.LINKS,
)
MTUS = Check(
    "AILB710",
    "every port and IRB has the MTU that the intent asks for",
    "a port or IRB has another MTU than the intent asks for",
    "The port with the smaller MTU drops packets of hosts that rely on the designed MTU.",
    "Correct the mtu statement, or the intent's `mtu:`.",
    _check_mtus,
    layer=Layer.QOS,
)
