"""The checks of RoCEv2 and MTU (AILB7xx): every switch against the intent, and both ends of every cable."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ailb_gen.checks import roce_links, roce_switches
from ailb_gen.checks.expected_devices import ExpectedSwitch, expected_hosts, expected_switches
from ailb_gen.checks.findings import Findings
from ailb_gen.checks.roce_checks import CHECKS, MTUS
from ailb_gen.errors import Place

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ailb_gen.checks.model import Result
    from ailb_gen.intent.models import Fabric
    from ailb_gen.network.fabric import Network
    from ailb_gen.network.model import Port, Switch
    from ailb_gen.network.port_qos import PortQos

__all__ = ["CHECKS", "run"]


def _cabled(network: Network) -> dict[str, dict[str, None]]:
    """Return the ports that carry RDMA by switch, each once, in order."""
    result: dict[str, dict[str, None]] = {name: {} for name in network.switches}
    ends = [*network.link_ends(), *network.attachments.values()]
    for end in ends:
        if end.device in result:
            result[end.device][end.port] = None
    return result


def _check_qos(
    network: Network, intended: dict[str, ExpectedSwitch], cabled: dict[str, dict[str, None]], collected: Findings
) -> dict[tuple[str, str], PortQos]:
    """Check the class of service of every switch; returns that of every port."""
    result = {}
    for name, switch in network.switches.items():
        groups = roce_switches.ports_by_qos(switch, cabled[name])
        for qos, ports in groups.items():
            result.update({(name, port): qos for port in ports})
        asked = intended.get(name)
        if asked is None:
            continue
        roce_switches.check_references(switch, collected)
        if asked.roce is None:
            roce_switches.check_off(switch, collected)
            continue
        roce_switches.check_buffers(switch, asked.roce, collected)
        for qos, ports in groups.items():
            rows = roce_switches.Ports(switch, tuple(ports), qos, asked.roce, len(groups) == 1)
            roce_switches.check_ports(rows, collected)
    return result


def _check_mtus(switch: Switch, intended: ExpectedSwitch, ports: dict[str, None], collected: Findings) -> None:
    _check_port_mtus(switch, intended, ports, collected)
    irb = switch.ports.get("irb")
    if irb is not None:
        _check_irb_mtus(switch, intended, irb, collected)


def _check_port_mtus(switch: Switch, intended: ExpectedSwitch, ports: dict[str, None], collected: Findings) -> None:
    for name in {**ports, **dict.fromkeys(intended.ports)}:
        port = switch.ports.get(name)
        if port is None:
            continue
        collected.look(MTUS)
        expected = intended.mtu_of(name)
        if port.mtu != expected:
            found = port.mtu if port.mtu is not None else "Junos's default"
            place = Place(switch.file, port.mtu_line or port.line or 1)
            message = f"the MTU of {name} must be {expected}, not {found}"
            collected.add(MTUS, f"{switch.named} {name}", message, place, expected, found)
        for unit in port.units:
            # Junos takes the port's without it; what an IRB may send must pass.
            if unit.inet6_mtu is not None and unit.inet6_mtu < intended.irb_mtu:
                place = Place(switch.file, unit.line or 1)
                message = f"the IPv6 MTU of {unit.name} is {unit.inet6_mtu}; packets of {intended.irb_mtu} must pass"
                collected.add(MTUS, f"{switch.named} {unit.name}", message, place, intended.irb_mtu, unit.inet6_mtu)


def _check_irb_mtus(switch: Switch, intended: ExpectedSwitch, irb: Port, collected: Findings) -> None:
    for unit in irb.units:
        collected.look(MTUS)
        place = Place(switch.file, unit.line or 1)
        if unit.inet6 and unit.inet6_mtu != intended.irb_mtu:
            found = unit.inet6_mtu if unit.inet6_mtu is not None else "Junos's default"
            message = f"the IPv6 MTU of {unit.name} must be {intended.irb_mtu}, not {found}"
            collected.add(MTUS, f"{switch.named} {unit.name}", message, place, intended.irb_mtu, found)
    if irb.mtu != intended.port_mtu:
        found = irb.mtu if irb.mtu is not None else "Junos's default"
        place = Place(switch.file, irb.mtu_line or irb.line or 1)
        collected.add(
            MTUS,
            switch.named,
            f"the MTU of irb must be {intended.port_mtu}, not {found}",
            place,
            intended.port_mtu,
            found,
        )


def run(intent: Fabric, network: Network) -> Iterator[Result]:
    """Run all checks of RoCE and MTU; yields one result per check, in the order of `CHECKS`."""
    collected = Findings(CHECKS)
    intended = expected_switches(intent)
    cabled = _cabled(network)
    qos_at = _check_qos(network, intended, cabled, collected)
    for name, switch in network.switches.items():
        if name in intended:
            _check_mtus(switch, intended[name], cabled[name], collected)
    roce_links.check_links(network, intended, qos_at, collected)
    roce_links.check_hosts(network, expected_hosts(intent), qos_at, collected)
    yield from collected.results()
